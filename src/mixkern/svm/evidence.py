"""How well a kernel matrix explains labels, in one number and without leaving any of them out.

With eight labels there is nothing to cross-validate on. The evidence of a Gaussian process is smooth in its settings,
knows how few labels there are, and costs one Cholesky factorisation; it decides here what a machine cannot know by
itself, always next to a prior, and always tempered: labels are no Gaussian numbers.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mixkern.typing import Floats, Ints

NOISE = 0.1  # variance of a label, in units of what the kernel explains
TEMPER = 0.5  # of the evidence for one kernel or another: half of what the labels would say is believed
USUAL_COST = 10.0  # what an error costs, before any label is seen
COST_SPREAD = 1.0  # standard deviation of its logarithm
NOISES = 10 ** np.arange(-2.5, 0.8, 0.25)  # that are compared
MOST_LABELS = 1_000  # that are asked: these decide as well as more would, and a factorisation takes some 20 ms


def log_evidence(K: Floats, codes: Ints, weights: Floats | None = None, noise: float = NOISE) -> float:
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
    noise : float, default=0.1
        Variance of a label that counts once.

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
    noises = np.full(n, noise) if weights is None else noise / weights
    try:
        factor = cho_factor(K + np.diag(noises), lower=True)
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


def believed_cost(K: Floats, codes: Ints, weights: Floats | None = None) -> float:
    r"""Say what an error should cost, C, by how noisy the labels are found to be.

    A label with the variance :math:`\sigma^2` is worth :math:`1 / \sigma^2` in a regression on two classes. With c
    classes each target has a smaller variance, which :math:`C = c / (2 \sigma^2)` makes up for. The best of some
    variances is taken, by the evidence for each of the c - 1 targets and a log-normal prior about the usual cost.

    Parameters
    ----------
    K, codes, weights
        As in :func:`log_evidence`.

    Returns
    -------
    float
        In units of the kernel: one whose values are a hundredth costs a hundred times as much.

    Examples
    --------
    >>> K = np.kron(np.eye(2), np.full((8, 8), 0.9) + 0.1 * np.eye(8))  # two groups of eight rows
    >>> clean, noisy = np.repeat([0, 1], 8), np.array([0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1])
    >>> believed_cost(K, clean) > believed_cost(K, noisy)
    True
    """
    c = len(np.unique(codes))
    scale = float(np.diagonal(K).mean())
    scale = scale if scale > 0 else 1.0
    costs = 0.5 * c / NOISES
    evidence = np.array([log_evidence(K, codes, weights, noise * scale) for noise in NOISES]) / (c - 1)
    prior = -0.5 * (np.log(costs / USUAL_COST) / COST_SPREAD) ** 2
    if not np.isfinite(evidence).any():
        return USUAL_COST / scale
    return float(costs[np.argmax(evidence + prior)] / scale)


def asked(codes: Ints) -> Ints:
    """Give positions of the labels to ask: all of them, or a thousand, of each class its share and one at least.

    >>> codes = np.array([0] * 5_000 + [1])
    >>> len(asked(codes)) <= 1_000, 5_000 in asked(codes)
    (True, True)
    """
    n = len(codes)
    if n <= MOST_LABELS:
        return np.arange(n)
    shuffled = np.random.RandomState(0).permutation(n)
    of_class = [shuffled[codes[shuffled] == code] for code in np.unique(codes)]
    room = MOST_LABELS - len(of_class)
    kept = [rows[: 1 + int(room * len(rows) / n)] for rows in of_class]
    return np.sort(np.concatenate(kept))
