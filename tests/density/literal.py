"""The formulas as they are printed, one loop per index: slow, and with nothing to hide a mistake behind.

Bishop, *Pattern Recognition and Machine Learning*, section 10.2 and appendix B; equations have their
numbers beside them. Rows X[n], responsibilities r[n, k]; a posterior is a dict of alpha, beta, m, W and nu.
"""

import itertools
import math

import numpy as np
from scipy import stats
from scipy.special import digamma, gammaln


def statistics(X, r):
    """(10.51) to (10.53)."""
    n_rows, d = X.shape
    k = r.shape[1]
    counts = np.zeros(k)
    means = np.zeros((k, d))
    spreads = np.zeros((k, d, d))
    for j in range(k):
        for n in range(n_rows):
            counts[j] += r[n, j]  # (10.51)
        for n in range(n_rows):
            means[j] += r[n, j] * X[n] / counts[j]  # (10.52)
        for n in range(n_rows):
            difference = X[n] - means[j]
            for a in range(d):
                for b in range(d):
                    spreads[j, a, b] += r[n, j] * difference[a] * difference[b] / counts[j]  # (10.53)
    return counts, means, spreads


def posterior(X, r, alpha0, beta0, m0, W0, nu0):
    """(10.58) to (10.63), with nu_k = nu0 + N_k as in the errata."""
    counts, means, spreads = statistics(X, r)
    k, d = means.shape
    beta = np.array([beta0 + counts[j] for j in range(k)])  # (10.60)
    m = np.array([(beta0 * m0 + counts[j] * means[j]) / beta[j] for j in range(k)])  # (10.61)
    W = np.zeros((k, d, d))
    for j in range(k):
        offset = means[j] - m0
        inverse = np.linalg.inv(W0) + counts[j] * spreads[j]
        inverse = inverse + beta0 * counts[j] / (beta0 + counts[j]) * np.outer(offset, offset)
        W[j] = np.linalg.inv(inverse)  # (10.62)
    return {
        "alpha": np.array([alpha0 + counts[j] for j in range(k)]),  # (10.58)
        "beta": beta,
        "m": m,
        "W": W,
        "nu": np.array([nu0 + counts[j] for j in range(k)]),  # (10.63)
    }


def expected_log_weights(alpha):
    """(10.66)."""
    return np.array([digamma(each) - digamma(sum(alpha)) for each in alpha])


def expected_log_det(nu, W):
    """(10.65)."""
    d = len(W)
    total = d * math.log(2) + math.log(np.linalg.det(W))
    for i in range(1, d + 1):
        total += digamma((nu + 1 - i) / 2)
    return total


def log_rho(X, q):
    """(10.46) with (10.64)."""
    n_rows, d = X.shape
    k = len(q["alpha"])
    log_weights = expected_log_weights(q["alpha"])
    result = np.zeros((n_rows, k))
    for n in range(n_rows):
        for j in range(k):
            difference = X[n] - q["m"][j]
            square = d / q["beta"][j] + q["nu"][j] * difference @ q["W"][j] @ difference  # (10.64)
            log_det = expected_log_det(q["nu"][j], q["W"][j])
            result[n, j] = log_weights[j] + 0.5 * log_det - 0.5 * d * math.log(2 * math.pi) - 0.5 * square  # (10.46)
    return result


def responsibilities(X, q):
    """(10.49)."""
    rho = np.exp(log_rho(X, q))
    return np.array([[rho[n, j] / sum(rho[n]) for j in range(rho.shape[1])] for n in range(len(X))])


def log_dirichlet_constant(alpha):
    """Logarithm of C(alpha), (B.23)."""
    return gammaln(sum(alpha)) - sum(gammaln(each) for each in alpha)


def log_wishart_constant(W, nu):
    """Logarithm of B(W, nu), (B.79)."""
    d = len(W)
    log_inverse = nu * d / 2 * math.log(2) + d * (d - 1) / 4 * math.log(math.pi)
    for i in range(1, d + 1):
        log_inverse += gammaln((nu + 1 - i) / 2)
    return -nu / 2 * math.log(np.linalg.det(W)) - log_inverse


def wishart_entropy(W, nu):
    """(B.82)."""
    d = len(W)
    return -log_wishart_constant(W, nu) - (nu - d - 1) / 2 * expected_log_det(nu, W) + nu * d / 2


def bound(X, r, q, alpha0, beta0, m0, W0, nu0):
    """(10.70), the sum of (10.71) to (10.77)."""
    counts, means, spreads = statistics(X, r)
    k, d = means.shape
    log_weights = expected_log_weights(q["alpha"])
    log_dets = [expected_log_det(q["nu"][j], q["W"][j]) for j in range(k)]
    log_2pi = math.log(2 * math.pi)

    rows = 0.0  # (10.71): E[ln p(X | Z, mu, Lambda)]
    for j in range(k):
        offset = means[j] - q["m"][j]
        rows += (
            0.5
            * counts[j]
            * (
                log_dets[j]
                - d / q["beta"][j]
                - q["nu"][j] * np.trace(spreads[j] @ q["W"][j])
                - q["nu"][j] * offset @ q["W"][j] @ offset
                - d * log_2pi
            )
        )
    owners = sum(r[n, j] * log_weights[j] for n in range(len(X)) for j in range(k))  # (10.72)
    weights = log_dirichlet_constant([alpha0] * k) + (alpha0 - 1) * sum(log_weights)  # (10.73)
    parameters = 0.0  # (10.74): E[ln p(mu, Lambda)]
    for j in range(k):
        offset = q["m"][j] - m0
        parameters += 0.5 * (
            d * math.log(beta0 / (2 * math.pi))
            + log_dets[j]
            - d * beta0 / q["beta"][j]
            - beta0 * q["nu"][j] * offset @ q["W"][j] @ offset
        )
        parameters += log_wishart_constant(W0, nu0) + (nu0 - d - 1) / 2 * log_dets[j]
        parameters -= 0.5 * q["nu"][j] * np.trace(np.linalg.inv(W0) @ q["W"][j])
    q_owners = sum(r[n, j] * math.log(r[n, j]) for n in range(len(X)) for j in range(k) if r[n, j] > 0)  # (10.75)
    q_weights = sum((q["alpha"][j] - 1) * log_weights[j] for j in range(k))  # (10.76)
    q_weights += log_dirichlet_constant(q["alpha"])
    q_parameters = 0.0  # (10.77)
    for j in range(k):
        q_parameters += 0.5 * log_dets[j] + d / 2 * math.log(q["beta"][j] / (2 * math.pi)) - d / 2
        q_parameters -= wishart_entropy(q["W"][j], q["nu"][j])
    return rows + owners + weights + parameters - q_owners - q_weights - q_parameters


def log_evidence(X, beta0, m0, W0, nu0):
    """Log marginal likelihood of rows under one Gaussian with a Gaussian-Wishart prior, in closed form.

    Every row's predictive density given the rows before it is Student's t, (10.81) and (10.82).
    """
    d = X.shape[1]
    total, beta, m, inverse, nu = 0.0, beta0, np.array(m0, dtype=float), np.linalg.inv(W0), nu0
    for x in X:
        shape = inverse * (1 + beta) / ((nu + 1 - d) * beta)
        total += stats.multivariate_t.logpdf(x, loc=m, shape=shape, df=nu + 1 - d)
        inverse = inverse + beta / (beta + 1) * np.outer(x - m, x - m)
        m, beta, nu = (beta * m + x) / (beta + 1), beta + 1, nu + 1
    return total


def log_dirichlet_multinomial(counts, concentration):
    """Log probability of a sequence of categories under one symmetric Dirichlet prior."""
    after = [concentration + count for count in counts]
    return log_dirichlet_constant([concentration] * len(counts)) - log_dirichlet_constant(after)


def full_covariances(mixture):
    """One matrix per component, whatever the type."""
    k, d = mixture.means.shape
    matrices = np.zeros((k, d, d))
    for j in range(k):
        for a in range(d):
            for b in range(d):
                if str(mixture.covariance_type) == "full":
                    matrices[j, a, b] = mixture.covariances[j, a, b]
                elif str(mixture.covariance_type) == "tied":
                    matrices[j, a, b] = mixture.covariances[a, b]
                elif a == b:
                    is_diag = str(mixture.covariance_type) == "diag"
                    matrices[j, a, b] = mixture.covariances[j, a] if is_diag else mixture.covariances[j]
    return matrices


def joint_density(mixture, row):
    """p(x, k) of one row; missing numbers by the marginal Gaussian, missing categories left out."""
    d = mixture.means.shape[1]
    covariances = full_covariances(mixture)
    observed = [i for i in range(d) if not math.isnan(row[i])]
    joint = []
    for j in range(len(mixture.weights)):
        density = mixture.weights[j]
        if observed:
            part = covariances[j][np.ix_(observed, observed)]
            density *= stats.multivariate_normal.pdf(row[observed], mixture.means[j][observed], part)
        for e, table in enumerate(mixture.categories):
            if not math.isnan(row[d + e]):
                density *= table[j][int(row[d + e])]
        joint.append(density)
    return np.array(joint)


def summed_density(mixture, row):
    """Density of one row, every combination of its missing categories added up."""
    d = mixture.means.shape[1]
    choices = [
        range(table.shape[1]) if math.isnan(row[d + e]) else [int(row[d + e])]
        for e, table in enumerate(mixture.categories)
    ]
    return sum(joint_density(mixture, np.array([*row[:d], *codes])).sum() for codes in itertools.product(*choices))


def conditional_mean(mixture, row):
    """(2.81) for each component, weighted by its responsibility given what is observed."""
    d = mixture.means.shape[1]
    joint = joint_density(mixture, row)
    observed = [i for i in range(d) if not math.isnan(row[i])]
    filled = np.array(row, dtype=float)
    for i in range(d):
        if i not in observed:
            filled[i] = 0.0
            for j, covariance in enumerate(full_covariances(mixture)):
                mean = mixture.means[j][i]
                if observed:
                    within = covariance[np.ix_(observed, observed)]
                    gain = covariance[i, observed] @ np.linalg.inv(within)
                    mean = mean + gain @ (row[observed] - mixture.means[j][observed])
                filled[i] += joint[j] / joint.sum() * mean
    return filled


def log_evidence_of_owners(kind, X, owners, k, alpha0, beta0, m0, inverse0, nu0):
    """Logarithm of p(X, Z) for given owners Z of the rows, row by row: each predictive density is Student's t.

    Where every row has one owner, the bound is this evidence exactly, for every kind of covariance: one Wishart
    distribution per component, one for all (tied), one Gamma distribution per column, or one for all columns.
    """
    d = X.shape[1]
    counts, beta, nu = np.zeros(k), np.full(k, float(beta0)), np.full(k, float(nu0))
    m = np.tile(np.asarray(m0, dtype=float), (k, 1))
    inverse = np.array([inverse0] * k, dtype=float)
    total = 0.0
    for x, j in zip(X, owners, strict=True):
        total += math.log((alpha0 + counts[j]) / (k * alpha0 + counts.sum()))
        spread = (1 + beta[j]) / beta[j]
        difference = x - m[j]
        if kind in ("full", "tied"):
            df = nu[j] + 1 - d
            total += stats.multivariate_t.logpdf(x, loc=m[j], shape=inverse[j] * spread / df, df=df)
            step = np.outer(difference, difference)
        elif kind == "diag":
            total += stats.t.logpdf(x, nu[j], loc=m[j], scale=np.sqrt(inverse[j] * spread / nu[j])).sum()
            step = difference**2
        else:
            shape = np.eye(d) * inverse[j][0] * spread / nu[j]
            total += stats.multivariate_t.logpdf(x, loc=m[j], shape=shape, df=d * nu[j])
            step = np.full(d, np.mean(difference**2))
        learning = range(k) if kind == "tied" else [j]
        for i in learning:
            inverse[i] = inverse[i] + step / spread
            nu[i] += 1
        m[j] = (beta[j] * m[j] + x) / (beta[j] + 1)
        beta[j] += 1
        counts[j] += 1
    return total
