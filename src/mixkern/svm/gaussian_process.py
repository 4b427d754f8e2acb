r"""Gaussian-process regression on class labels, with a kernel matrix as covariance.

The target of each class is 1 for its rows and 0 for others, minus the mean. The evidence (marginal likelihood) of the
regression needs no validation set, so it can choose settings from as few as eight labels: the mixture's share in a
blend of kernels, and C. Labels are not Gaussian, so the evidence is tempered and combined with a prior. The posterior
mean and covariance are used to choose rows to label.

The evidence is computed by a Cholesky factorisation, which fails where a kernel matrix is too indefinite for the noise;
the posterior by an eigendecomposition, with negative eigenvalues set to zero.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mixkern.sampling import class_subsample
from mixkern.typing import Floats, Ints, Positions, RandomState

# Variances of a label, in units of the kernel:
LABEL_NOISE = 0.1  # to compare kernels and to predict classes
DESIGN_NOISE = 0.2  # to choose rows for labelling: larger values prefer denser regions
C_NOISES = 10 ** np.arange(-2.5, 0.8, 0.25)  # to choose C: the best of them
TEMPER = 0.5  # factor of the log evidence when two kernels are compared
USUAL_C = 10.0  # median of the prior of C
C_SPREAD = 1.0  # standard deviation of log C in the prior
MAX_LABELS = 1_000  # labels that the evidence is computed from: one factorisation takes some 20 ms


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
        Up to a constant that is the same for all kernels; -inf where K + noise is not positive definite.

    Examples
    --------
    >>> near, far = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([[1.0, 0.1], [0.1, 1.0]])
    >>> codes = np.array([0, 0, 1, 1])
    >>> good, poor = np.kron(np.eye(2), near), np.kron(np.eye(2), far)
    >>> log_evidence(good, codes) > log_evidence(poor, codes)
    True
    """
    n = len(codes)
    targets, _ = _centred_targets(codes)
    n_targets = targets.shape[1] - 1
    noises = np.full(n, noise) if weights is None else noise / weights
    try:
        factor = cho_factor(K + np.diag(noises), lower=True)
    except np.linalg.LinAlgError:
        return -np.inf
    log_det = 2 * float(np.log(np.diagonal(factor[0])).sum())
    q = float(np.sum(targets * cho_solve(factor, targets)))
    size = n * n_targets
    return -0.5 * (size * float(np.log(q / size)) + n_targets * log_det)


def evidence_share(share: float, base: Floats, other: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Compute the posterior probability of the other kernel against the base: Bayes' rule with tempered evidence.

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
    if np.isnan(log_ratio):  # both are -inf
        return share
    return float(1 / (1 + (1 - share) / share * np.exp(-np.clip(log_ratio, -700, 700))))


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
    log_evidences = np.array([log_evidence(K, codes, weights, noise * scale) for noise in C_NOISES]) / (c - 1)
    if not np.isfinite(log_evidences).any():
        return USUAL_C / scale
    log_prior = -0.5 * (np.log(values / USUAL_C) / C_SPREAD) ** 2
    return float(values[np.argmax(log_evidences + log_prior)] / scale)


def evidence_rows(codes: Ints) -> Positions:
    """Return positions of the labels that the evidence is computed from: all of them, or about a thousand.

    >>> rows = evidence_rows(np.array([0] * 5_000 + [1]))
    >>> len(rows), 5_000 in rows
    (1001, True)
    """
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
