"""The M-step of factor analysers against the literal formulas, and the laws of its bound."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import digamma, gammaln

from mixkern.density.block import gap_blocks
from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.expectation import expectation
from mixkern.density.factor import FactorPrior
from mixkern.density.inference import Policy, ascend
from mixkern.density.posterior import Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.density.statistics import Statistics

FIXED = Policy(precision_prior=None, learns_degrees=False, prune_below=0.0, merges=False, tol=-1.0, max_iter=8)
laws = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def plain_prior(kind, d, seed=0):
    random = np.random.default_rng(seed)
    return Prior(
        precision=PRECISIONS[CovarianceType(kind)],
        concentration=0.7,
        mean=random.normal(size=d),
        mean_precision=1.3,
        degrees=2.5,
        inverse_scale=random.uniform(0.5, 2, d),
        category_concentration=0.8,
    )


def prior_of(d, most=3):
    return FactorPrior(**vars(plain_prior("factor", d)), most_factors=most, most_mean_precision=1.3)


def rows(n, d, q, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, q)) @ random.normal(size=(q, d)) + 0.4 * random.normal(size=(n, d))


def first(X, k, q, factor_statistics_of, seed=0, codes=None, n_slots=()):
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(k, 0.5), size=len(X))
    z = random.normal(size=(k, len(X), q))
    return factor_statistics_of(np.nan_to_num(X), shares, z, codes=codes, n_slots=n_slots)


def table_of(X, codes=None, weights=None, size=5):
    return list(gap_blocks(X, np.empty((len(X), 0)) if codes is None else codes, weights, size))


# ---------------------------------------------------------------- the M-step


def literal_m_step(statistics, prior, j):
    """P = A + C, w~_i = P^-1 (Y_i + A m~0_i), a and b_i, one column at a time."""
    q, d = statistics.n_factors, statistics.sums.shape[1]
    zero = statistics.about(np.zeros_like(statistics.origins))
    A = np.diag([*(1 / zero.relevances[j]), prior.mean_precision])
    C = np.block([[zero.factor_squares[j], zero.factor_sums[j][:, None]], [zero.factor_sums[j][None], zero.counts[j]]])
    P = A + C
    W, b = np.zeros((d, q + 1)), np.zeros(d)
    for i in range(d):
        Y, m0 = np.append(zero.products[j, i], zero.sums[j, i]), np.append(np.zeros(q), prior.mean[i])
        W[i] = np.linalg.solve(P, Y + A @ m0)
        b[i] = prior.inverse_scale[i] / 2 + 0.5 * (zero.squares[j, i] + m0 @ A @ m0 - W[i] @ P @ W[i])
    return W, P, (prior.degrees + zero.counts[j]) / 2, b, A


@pytest.mark.parametrize("origin", [0.0, 2.0])
def test_the_m_step_is_the_literal_one(factor_statistics_of, origin):
    X, prior = rows(40, 4, 2), prior_of(4)
    statistics = first(X, 3, 2, factor_statistics_of)
    statistics = statistics.about(np.full_like(statistics.origins, origin))
    posterior = prior.posterior(statistics)
    for j in range(3):
        W, P, a, b, _ = literal_m_step(statistics, prior, j)
        np.testing.assert_allclose(posterior.loadings[j], W[:, :2], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(posterior.means[j], W[:, 2], rtol=1e-9)
        np.testing.assert_allclose(posterior.spreads[j], np.linalg.inv(P), rtol=1e-9)
        np.testing.assert_allclose(posterior.precisions[j], a / b, rtol=1e-9)
        np.testing.assert_allclose(posterior.inverse_scales[j], 2 * b, rtol=1e-9)
        moments = W[:, :2].T @ np.diag(a / b) @ W[:, :2] + 4 * np.linalg.inv(P)[:2, :2]
        np.testing.assert_allclose(posterior.relevances[j], np.diagonal(moments) / 4, rtol=1e-9)


def test_the_divergence_is_the_literal_one(factor_statistics_of):
    X, prior = rows(40, 4, 2), prior_of(4)
    statistics = first(X, 3, 2, factor_statistics_of)
    posterior = prior.posterior(statistics)
    total = 0.0
    for j in range(3):
        W, P, a, b, _ = literal_m_step(statistics, prior, j)
        A = np.diag([*(1 / posterior.relevances[j]), prior.mean_precision])  # after their update
        a0, b0 = prior.degrees / 2, prior.inverse_scale / 2
        for i in range(4):
            offset = W[i] - np.append(np.zeros(2), prior.mean[i])
            log_dets = np.linalg.slogdet(P)[1] - np.linalg.slogdet(A)[1]
            trace = np.trace(A @ np.linalg.inv(P))
            total += 0.5 * (a / b[i] * offset @ A @ offset + trace - 3 + log_dets)
            total += (a - a0) * digamma(a) - gammaln(a) + gammaln(a0) + a0 * math.log(b[i] / b0[i])
            total += a * (b0[i] / b[i] - 1)
    assert posterior.divergence(prior) - posterior.weight_divergence(prior) == pytest.approx(total, rel=1e-9)


def test_without_factors_it_is_the_diagonal_family(factor_statistics_of, pool):
    X, prior = rows(40, 3, 1), prior_of(3)
    X[::7, 1] = np.nan
    statistics = first(X, 2, 0, factor_statistics_of)
    plain = Statistics(**{name: getattr(statistics, name) for name in Statistics.__dataclass_fields__})
    diagonal = plain_prior("diag", 3)
    for expand in (False, True):
        one, other = prior.posterior(statistics), diagonal.posterior(plain)
        assert one.divergence(prior) == pytest.approx(other.divergence(diagonal), rel=1e-12)
        ours, theirs = (expectation(table_of(X), each, pool, expand=expand) for each in (one, other))
        theirs = theirs.about(ours.origins)
        np.testing.assert_allclose(ours.squares, theirs.squares, rtol=1e-10)
        assert ours.log_normaliser == pytest.approx(theirs.log_normaliser, rel=1e-12)


# ---------------------------------------------------------------- the bound


def test_bounds_by_rank_are_those_of_truncated_statistics(factor_statistics_of):
    X, prior = rows(50, 5, 2), prior_of(5)
    statistics = first(X, 3, 4, factor_statistics_of)
    bounds = prior.bounds_by_rank(statistics)
    for rank in range(5):
        truncated = statistics.truncated(np.full(3, rank))
        np.testing.assert_allclose(prior.bounds_by_rank(truncated)[:, -1], bounds[:, rank], rtol=1e-10)


def test_bounds_by_rank_differ_as_the_bound_does(factor_statistics_of, pool):
    """The collapsed bound is E[ln p] and the entropies after an M-step, up to what does not depend on the factors."""
    X, prior = rows(50, 5, 2), prior_of(5)
    posterior = prior.posterior(first(X, 1, 2, factor_statistics_of))
    statistics = expectation(table_of(X), posterior, pool, expand=False)
    values = []
    for rank in (0, 1, 2):
        q = prior.posterior(statistics.truncated(np.array([rank])))
        prior_relevances = statistics.truncated(np.array([rank])).relevances
        values.append(literal_bound(X, statistics, q, prior, rank, prior_relevances))
    found = prior.bounds_by_rank(statistics)[0]
    np.testing.assert_allclose(np.diff(found), np.diff(values), rtol=1e-8)


def literal_bound(X, statistics, q, prior, rank, relevances):
    """E ln p(X, z | theta) - KL(theta) - KL(z) for one component, with q(z) of the statistics."""
    d = X.shape[1]
    about = statistics.about(np.zeros_like(statistics.origins))
    C = about.moments[0][np.ix_([*range(rank), statistics.n_factors], [*range(rank), statistics.n_factors])]
    Y = np.column_stack([about.products[0][:, :rank], about.sums[0]])
    W = np.column_stack([q.loadings[0], q.means[0]])
    total = 0.0
    for i in range(d):
        tau = q.precisions[0, i]
        log_tau = digamma(q.degrees[0] / 2) - math.log(q.inverse_scales[0, i] / 2)
        square = about.squares[0, i] - 2 * W[i] @ Y[i] + W[i] @ C @ W[i]
        total += 0.5 * len(X) * (log_tau - math.log(2 * math.pi)) - 0.5 * (tau * square + np.sum(C * q.spreads[0]))
    # ln |A| of the relevances before their update, which the collapsed bound is of
    q = replace(q, log_volumes=q.log_volumes - np.log(q.relevances / relevances).sum(axis=1), relevances=relevances)
    total -= q.divergence(prior) - q.weight_divergence(prior)
    squares = about.factor_squares[0][:rank, :rank]
    return total - 0.5 * (np.trace(squares) - len(X) * rank + statistics.log_pivots[0, :rank].sum())


@st.composite
def cases(draw):
    n, d, q = draw(st.integers(6, 40)), draw(st.integers(2, 6)), draw(st.integers(1, 3))
    k, seed = draw(st.integers(1, 3)), draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, q)) @ random.normal(size=(q, d)) * draw(st.sampled_from([0.3, 2.0]))
    X += random.normal(size=(n, d)) * draw(st.sampled_from([0.05, 1.0])) + draw(st.sampled_from([0.0, 5.0]))
    X[random.random(X.shape) < draw(st.sampled_from([0.0, 0.1, 0.4]))] = np.nan
    codes = random.integers(0, 3, (n, draw(st.integers(0, 1)))).astype(float)
    codes[random.random(codes.shape) < 0.2] = np.nan
    weights = random.uniform(0.2, 3, n) if draw(st.booleans()) else None
    settling = draw(st.sampled_from([0, 3, 100]))
    return X, codes, weights, k, min(q, d - 1), settling, seed


@laws
@given(
    case=cases(),
    form=st.sampled_from([None, PrecisionPrior.EVIDENCE, PrecisionPrior.EVIDENCE_ISOTROPIC]),
    expands=st.booleans(),
)
def test_the_bound_never_falls(case, factor_statistics_of, pool, form, expands):
    X, codes, weights, k, q, settling, seed = case
    n_slots = (4,) * codes.shape[1]
    start = first(X, k, q, factor_statistics_of, seed, codes, n_slots)
    prior = prior_of(X.shape[1], most=X.shape[1] - 1)
    policy = replace(FIXED, settling=settling, precision_prior=form, max_iter=12)
    centred = X - np.nan_to_num(X).mean(axis=0) if expands else X
    bounds = ascend(table_of(centred, codes, weights), start, prior, policy, pool).bounds
    # From the second on where the prior is learned: the first need not keep the floor of the later ones.
    assert np.diff(bounds[1:]).min() >= -1e-8 * (1 + np.abs(bounds).max())


@laws
@given(case=cases())
def test_neither_coordinates_nor_removal_lower_the_bound(case, factor_statistics_of, pool):
    X, codes, weights, k, q, _, seed = case
    prior = prior_of(X.shape[1], most=X.shape[1] - 1)
    posterior = prior.posterior(first(X, k, q, factor_statistics_of, seed, codes, (4,) * codes.shape[1]))
    table = table_of(X, codes, weights)
    statistics = expectation(table, posterior, pool, expand=False)

    def bound_after(these):
        q = prior.posterior(these)
        return expectation(table, q, pool, expand=False).log_normaliser - q.divergence(prior)

    aligned = prior.aligned(statistics, removes=False)
    found, before = bound_after(aligned), expectation(table, posterior, pool, expand=False).log_normaliser
    before -= posterior.divergence(prior)
    slack = 1e-8 * (1 + abs(before))
    assert found >= before - slack
    assert bound_after(prior.aligned(statistics)) >= before - slack
    is_there = aligned.relevances > 0
    for squares, n, there in zip(aligned.factor_squares, aligned.counts, is_there, strict=True):
        if n > 1e-3:
            np.testing.assert_allclose(squares[np.ix_(there, there)] / n, np.eye(there.sum()), atol=1e-6)


# ---------------------------------------------------------------- integrals


def test_ln_rho_is_an_integral_over_the_factor(factor_statistics_of, pool):
    """exp of E[ln p(x, z | theta)] integrated over z, for one factor, with and without a gap."""
    X, prior = rows(30, 3, 1), prior_of(3)
    posterior = prior.posterior(first(X, 1, 1, factor_statistics_of))
    W = np.column_stack([posterior.loadings[0], posterior.means[0]])
    log_tau = digamma(posterior.degrees[0] / 2) - np.log(posterior.inverse_scales[0] / 2)

    def log_joint(z, x):
        zz = np.array([z, 1.0])
        total = -0.5 * z * z - 0.5 * math.log(2 * math.pi)
        for i in range(3):
            square = posterior.precisions[0, i] * (x[i] - W[i] @ zz) ** 2 + zz @ posterior.spreads[0] @ zz
            total += 0.5 * (log_tau[i] - math.log(2 * math.pi) - square)
        return total

    weight = posterior.log_weights[0]
    for x in X[:1]:
        for gap in (False, True):
            row = np.where([gap, False, False], np.nan, x)[None]
            found = expectation(table_of(row), posterior, pool, expand=False).log_normaliser - weight
            if gap:
                inner = integrate.dblquad(
                    lambda u, z, x=x: math.exp(log_joint(z, [u, x[1], x[2]])), -9, 9, -25, 25, epsabs=1e-12
                )[0]
            else:
                inner = integrate.quad(lambda z, x=x: math.exp(log_joint(z, x)), -12, 12, epsabs=1e-13)[0]
            assert found == pytest.approx(math.log(inner), abs=2e-6)
