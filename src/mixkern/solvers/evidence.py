"""How well a kernel matrix explains labels, in one number and without leaving any of them out."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

NOISE = 0.1  # variance of a label, in units of what the kernel explains: about what C = 10 allows an error to cost
TEMPER = 0.5  # of the evidence: labels are no Gaussian numbers, so half of what they would say is believed


def log_evidence(K: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Give the logarithm of the probability density of labels under a Gaussian process with a kernel.

    Each class is a target of ones and zeros about its mean, and c classes are c - 1 independent targets. The scale of
    the process is the likeliest one, so that the kernel's shape is judged, and not its size:

    -1/2 [n (c - 1) ln(q / (n (c - 1))) + (c - 1) ln det A],  A = K + noise,  q = sum over classes of y' A^-1 y.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The kernel among labelled rows.
    codes : ndarray of int, shape (n,)
        Their classes.
    weights : ndarray of shape (n,), default=None
        How much each label counts: one that counts twice has half the noise.

    Returns
    -------
    float
        Up to a constant that is the same for all kernels; -inf where the matrix is too indefinite for any noise.

    Examples
    --------
    >>> near, far = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([[1.0, 0.1], [0.1, 1.0]])
    >>> codes = np.array([0, 0, 1, 1])
    >>> fits, fits_not = np.kron(np.eye(2), near), np.kron(np.eye(2), far)
    >>> log_evidence(fits, codes) > log_evidence(fits_not, codes)
    True
    """
    n = len(codes)
    targets = (codes[:, None] == np.unique(codes)).astype(float)
    targets -= targets.mean(axis=0)
    n_targets = targets.shape[1] - 1
    noise = np.full(n, NOISE) if weights is None else NOISE / weights
    try:
        factor = cho_factor(K + np.diag(noise), lower=True)
    except np.linalg.LinAlgError:
        return -np.inf
    log_det = 2 * float(np.log(np.diagonal(factor[0])).sum())
    q = float(np.sum(targets * cho_solve(factor, targets)))
    size = n * n_targets
    return -0.5 * (size * float(np.log(q / size)) + n_targets * log_det)


def believed_share(share: float, plain: Floats, other: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Say how much of another kernel labels believe, against a plain one, when ``share`` was believed before them.

    Bayes' rule for two models, the evidence tempered by a half.

    Parameters
    ----------
    share : float
        Prior probability of the other kernel.
    plain, other : ndarray of shape (n, n)
        Both kernels among labelled rows.
    codes, weights
        As in :func:`log_evidence`.

    Returns
    -------
    float
        The posterior probability of the other kernel.
    """
    if not 0 < share < 1:
        return share
    odds = TEMPER * (log_evidence(other, codes, weights) - log_evidence(plain, codes, weights))
    if np.isnan(odds):  # neither matrix has an evidence
        return share
    return float(1 / (1 + (1 - share) / share * np.exp(-np.clip(odds, -700, 700))))
