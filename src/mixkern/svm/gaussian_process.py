r"""Gaussian-process regression on class labels, with a kernel matrix as covariance.

The target of each class is 1 for its rows and 0 for others, minus the mean. The evidence (marginal likelihood) of the
regression needs no validation set, so it can choose settings from as few as eight labels: the mixture's share in a
blend of kernels, and C. Labels are not Gaussian, so the evidence is tempered and combined with a prior. The posterior
mean estimates the shares of the classes among all rows, and with the covariance it chooses rows to label.

All are computed by an eigendecomposition. Negative eigenvalues of an indefinite kernel are set to zero.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from mixkern.sampling import class_rows, class_subsample
from mixkern.typing import Floats, Ints, Positions, RandomState

# Variances of a label, in units of the kernel:
LABEL_NOISE = 0.1  # to compare kernels and to predict classes
DESIGN_NOISE = 0.2  # to choose rows for labelling: larger values prefer denser regions
C_NOISES = 10 ** np.arange(-2.5, 0.8, 0.25)  # to choose C: the best of them
TEMPER = 0.5  # factor of the log evidence when two kernels are compared
USUAL_C = 10.0  # median of the prior of C
C_SPREAD = 1.0  # standard deviation of log C in the prior
MAX_LABELS = 1_000  # labels that the evidence is computed from: one decomposition takes some 0.2 s
SMALLEST_SHARE = 1e-3  # of a class that has a label


def log_evidence(K: Floats, codes: Ints, weights: Floats | None = None, noise: float = LABEL_NOISE) -> float:
    """Compute the log density of labels under a Gaussian process.

    The targets of c classes count as c - 1 independent ones. The kernel is scaled by the factor that maximises the
    evidence, so that kernels are compared by their shape and not by their size:

    -1/2 [n (c - 1) ln(q / (n (c - 1))) + (c - 1) ln det A],  A = K + noise,  q = sum over classes of y' A^-1 y.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Their classes.
    weights : ndarray of shape (n,), default=None
        Sample weights: a label with weight 2 has half the noise.
    noise : float, default=0.1
        Variance of a label with weight 1.

    Returns
    -------
    float
        Up to a constant that is the same for all kernels.

    Examples
    --------
    >>> near, far = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([[1.0, 0.1], [0.1, 1.0]])
    >>> codes = np.array([0, 0, 1, 1])
    >>> good, poor = np.kron(np.eye(2), near), np.kron(np.eye(2), far)
    >>> log_evidence(good, codes) > log_evidence(poor, codes)
    True
    """
    return float(_log_evidences(K, codes, weights, [noise])[0])


def _log_evidences(K: Floats, codes: Ints, weights: Floats | None, noises: Sequence[float] | Floats) -> Floats:
    """Compute the log evidence for several noises, with one eigendecomposition.

    With W the diagonal matrix of the weights, A = K + noise W^-1 = W^-1/2 (W^1/2 K W^1/2 + noise) W^-1/2.
    """
    n, (targets, _) = len(codes), _centred_targets(codes)
    roots = np.ones(n) if weights is None else np.sqrt(weights)
    values, vectors = np.linalg.eigh(roots[:, None] * K * roots)
    energies = ((vectors.T @ (roots[:, None] * targets)) ** 2).sum(axis=1)
    variances = np.maximum(values, 0) + np.asarray(noises)[:, None]  # (noises, n)
    log_dets = np.log(variances).sum(axis=1) - 2 * np.log(roots).sum()
    q, n_targets = (energies / variances).sum(axis=1), targets.shape[1] - 1
    size = n * n_targets
    return np.asarray(-0.5 * (size * np.log(q / size) + n_targets * log_dets))


def evidence_share(share: float, base: Floats, other: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Weigh the other kernel against the base: the mean of its prior probability and its posterior one.

    The posterior probability is that of Bayes' rule with tempered evidence. Labels are few and the evidence is that of
    a regression, so half of the prior is kept: no kernel is left out.

    Parameters
    ----------
    share : float
        Prior probability of the other kernel.
    base, other : ndarray of shape (n, n)
        Both kernels among the labelled rows.
    codes, weights
        As in :func:`log_evidence`.
    """
    if not 0 < share < 1:
        return share
    log_ratio = TEMPER * (log_evidence(other, codes, weights) - log_evidence(base, codes, weights))
    return (share + posterior_probability(share, log_ratio)) / 2


def posterior_probability(prior: float, log_ratio: float) -> float:
    """Compute the probability of one of two models, by Bayes' rule.

    Parameters
    ----------
    prior : float
        Its probability without any observation, between 0 and 1.
    log_ratio : float
        Log likelihood of the observations under it, minus that under the other.

    Examples
    --------
    >>> posterior_probability(0.5, 0.0), round(posterior_probability(0.5, np.log(3)), 2)
    (0.5, 0.75)
    """
    return float(expit(np.log(prior) - np.log1p(-prior) + log_ratio))


def evidence_C(K: Floats, codes: Ints, weights: Floats | None = None) -> float:  # noqa: N802
    r"""Choose C from the variance of the labels that has the best evidence.

    In a regression on two classes, a label with variance :math:`\sigma^2` has weight :math:`1 / \sigma^2`. With c
    classes the targets vary less, hence :math:`C = c / (2 \sigma^2)`. The variance is the one of ``C_NOISES`` that
    maximises the log evidence per target plus the log density of a log-normal prior with median C = 10.

    Parameters
    ----------
    K, codes, weights
        As in :func:`log_evidence`.

    Returns
    -------
    float
        C, inversely proportional to the scale of the kernel; 10 for a kernel of scale 1 without any evidence.

    Examples
    --------
    >>> K = np.kron(np.eye(2), np.full((8, 8), 0.9) + 0.1 * np.eye(8))  # two groups of eight rows
    >>> clean, noisy = np.repeat([0, 1], 8), np.array([0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1])
    >>> evidence_C(K, clean) > evidence_C(K, noisy)
    True
    """
    c = len(np.unique(codes))
    scale = float(np.diagonal(K).mean())
    scale = scale if scale > 0 else 1.0
    values = 0.5 * c / C_NOISES
    log_evidences = _log_evidences(K, codes, weights, C_NOISES * scale) / (c - 1)
    log_prior = -0.5 * (np.log(values / USUAL_C) / C_SPREAD) ** 2
    return float(values[np.argmax(log_evidences + log_prior)] / scale)


def evidence_rows(codes: Ints) -> Positions:
    """Return positions of the labels that the evidence is computed from: all of them, or about a thousand.

    These are of all classes, or of some where there would be fewer than two labels per class.

    >>> rows = evidence_rows(np.array([0] * 5_000 + [1]))
    >>> len(rows), 5_000 in rows
    (1001, True)
    """
    if 2 * len(np.unique(codes)) > MAX_LABELS:
        return class_rows(codes, MAX_LABELS, RandomState(0))
    return class_subsample(codes, MAX_LABELS, RandomState(0), least=1)


def posterior_mean(to_labelled: Floats, among_labelled: Floats, codes: Ints) -> Floats:  # (m, c)
    """Predict the target of each class; the prior mean is the share of the class among the labels.

    Parameters
    ----------
    to_labelled, among_labelled : ndarray of shape (m, s) and (s, s)
        Kernel between the rows and the labelled ones, and among the labelled ones.
    codes : ndarray of int, shape (s,)
        Classes of the labelled rows.

    Examples
    --------
    >>> X, labelled = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [2.0]])
    >>> mean = posterior_mean(np.exp(-(X - labelled.T) ** 2), np.exp(-(labelled - labelled.T) ** 2), np.array([0, 1]))
    >>> mean.round(2)
    array([[0.95, 0.05],
           [0.5 , 0.5 ],
           [0.05, 0.95]])
    """
    targets, mean = _centred_targets(codes)
    variances, vectors = _noisy_eigen(among_labelled, LABEL_NOISE)
    solved = vectors / variances @ (vectors.T @ targets)
    return np.asarray(mean + to_labelled @ solved)


def left_out_targets(K: Floats, codes: Ints, noise: float) -> Floats:  # (n, c)
    """Predict the target of each class for each labelled row, by a regression on the labels of the others.

    With A = K + noise and the centred targets y, the prediction for row i without its label is
    y_i - [A^-1 y]_i / [A^-1]_ii, plus the mean.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Their classes, counted from 0.
    noise : float
        Variance of a label, in units of the kernel.

    Examples
    --------
    >>> K = np.kron(np.eye(2), np.full((3, 3), 0.9) + 0.1 * np.eye(3))  # two groups of three rows
    >>> left_out_targets(K, np.array([0, 0, 1, 1, 1, 1]), noise=0.1)[2].round(1)  # the others of its group are 0
    array([0.9, 0.1])
    """
    targets, mean = _centred_targets(codes)
    variances, vectors = _noisy_eigen(K, noise)
    inverse = vectors / variances @ vectors.T
    return np.asarray(mean + targets - inverse @ targets / np.diagonal(inverse)[:, None])


def evidence_noise(K: Floats, codes: Ints) -> float:
    """Return the variance of a label that has the best evidence, among those that C is chosen from."""
    return float(C_NOISES[np.argmax(_log_evidences(K, codes, None, C_NOISES))])


def class_shares(to_labelled: Floats, among_labelled: Floats, codes: Ints) -> Floats:  # (c,)
    """Estimate the share of each class among rows: the mean of their predicted targets.

    A few labels that are drawn at random have the shares of all rows only roughly. Here a label counts by the number of
    rows that are like it, so a class does not count more because several of its labels are alike.

    Parameters
    ----------
    to_labelled, among_labelled, codes
        As in :func:`posterior_mean`; every class has a label.

    Returns
    -------
    ndarray of shape (c,)
        Positive shares with sum one.

    Examples
    --------
    Three labels of a small group, one of a large group:

    >>> labelled, rows = np.array([[0.0], [0.1], [0.2], [9.0]]), np.array([[0.0], *[[9.0]] * 9])
    >>> kernel = lambda a, b: np.exp(-((a - b.T) ** 2))
    >>> class_shares(kernel(rows, labelled), kernel(labelled, labelled), np.array([0, 0, 0, 1])).round(1)
    array([0.2, 0.8])
    """
    targets = np.clip(posterior_mean(to_labelled, among_labelled, codes), 0, 1)
    shares = np.maximum(targets.mean(axis=0), SMALLEST_SHARE)
    return np.asarray(shares / shares.sum())


def posterior_covariance(K: Floats, to_known: Floats, among_known: Floats) -> Floats:  # (m, m)
    """Compute the covariance of rows, given that other rows are labelled; it does not depend on their labels.

    Parameters
    ----------
    K, to_known, among_known : ndarray of shape (m, m), (m, s) and (s, s)
        Kernel among the rows, between the rows and the labelled ones, and among the labelled ones.
    """
    variances, vectors = _noisy_eigen(among_known, DESIGN_NOISE)
    explained = (to_known @ vectors) / np.sqrt(variances)
    return K - explained @ explained.T


def _centred_targets(codes: Ints) -> tuple[Floats, Floats]:  # (n, c), (c,)
    """Return a column of ones and zeros for each class, minus its mean, and the means."""
    targets = (codes[:, None] == np.unique(codes)).astype(float)
    mean = targets.mean(axis=0)
    return targets - mean, mean


def _noisy_eigen(K: Floats, noise: float) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors of K + noise, with negative eigenvalues of K set to zero."""
    values, vectors = np.linalg.eigh(K)
    return np.maximum(values, 0) + noise, vectors
