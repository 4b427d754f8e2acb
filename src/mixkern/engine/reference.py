"""The engine in NumPy: the reference of the tests, and the fallback where the extension was not built.

Short and slow: differences of rows, then the metric, then the weights. Arguments are those of the functions in
``dispatch.py``, unchecked.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.gpu_array import namespace
from mixkern.typing import Codes, Floats

LOG_2PI = float(np.log(2 * np.pi))

# Differences of some rows with all others are held at a time: this many numbers.
_AT_A_TIME = 2**22


def distance(
    A: Floats, shares_A: Floats, B: Floats | None = None, shares_B: Floats | None = None, *, whiteners: Floats
) -> Floats:
    """Give the distances of all components, averaged by their responsibilities for either row."""
    if B is None:
        upper = np.triu(distance(A, shares_A, A, shares_A, whiteners=whiteners), 1)
        return upper + upper.T
    shares_A = np.broadcast_to(shares_A, (len(A), len(whiteners)))
    shares_B = np.broadcast_to(shares_A[:1] if shares_B is None else shares_B, (len(B), len(whiteners)))
    D = np.zeros((len(A), len(B)))
    step = max(1, _AT_A_TIME // max(1, B.size))
    for i in range(0, len(A), step):
        rows = slice(i, i + step)
        difference = A[rows, None, :] - B[None, :, :]  # (rows, m, d)
        for k, W in enumerate(whiteners):
            z = difference * W if W.ndim == 1 else difference @ W.T
            D[rows] += 0.5 * (shares_A[rows, None, k] + shares_B[None, :, k]) * np.sqrt((z * z).sum(axis=2))
    return D


def count(codes_A: Codes, codes_B: Codes | None = None) -> Floats:
    """Count the categories that differ. A gap, any negative code, is a category of its own."""
    other = codes_A if codes_B is None else codes_B
    C: Floats = namespace(codes_A).zeros((len(codes_A), len(other)))
    for a, b in zip(codes_A.T, other.T, strict=True):
        C += np.maximum(a, -1)[:, None] != np.maximum(b, -1)[None, :]
    return C


def kernel(
    A: Floats,
    shares_A: Floats,
    B: Floats | None = None,
    shares_B: Floats | None = None,
    *,
    whiteners: Floats,
    gamma: float,
    alpha: float = 1.0,
    beta: float = 1.0,
    codes_A: Codes | None = None,
    codes_B: Codes | None = None,
) -> Floats:
    """Give the Gaussian of the distance and of the count of differing categories."""
    exponent = gamma * alpha * distance(A, shares_A, B, shares_B, whiteners=whiteners) ** 2
    if codes_A is not None:
        exponent += gamma * beta * count(codes_A, codes_B) ** 2
    return np.exp(-exponent)


def kernel_times(A: Floats, shares_A: Floats, B: Floats, shares_B: Floats, V: Floats, **how: object) -> Floats:
    """Multiply a kernel matrix with the columns of V."""
    return kernel(A, shares_A, B, shares_B, **how) @ V  # type: ignore[arg-type]


def row_densities(
    X: Floats, components: Any, offsets: Floats | None, *, fill: bool
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Give ln rho, responsibilities, log densities, and the rows with filled gaps."""
    log_joint, deviations, _ = _under_components(X, components, offsets)
    log_density, shares = _normalised(log_joint)
    if not fill:
        return log_joint, shares, log_density, None
    expected = np.einsum("nk,knd->nd", shares, deviations + components.means[:, None, :])
    return log_joint, shares, log_density, np.where(np.isnan(X), expected, X)


def moments(
    X: Floats, components: Any, offsets: Floats | None, weights: Floats | None, *, with_shares: bool
) -> tuple[Floats, Floats, Floats, float, Floats | None]:
    """Give counts, sums and squares about the means, the sum of log densities, and the shares."""
    log_joint, deviations, covariances = _under_components(X, components, offsets)
    log_density, shares = _normalised(log_joint)
    weights = np.ones(len(X)) if weights is None else weights
    shares = shares * weights[:, None]
    squares = np.einsum("nk,knd,kne->kde", shares, deviations, deviations)
    for rows, each in covariances:
        squares += np.einsum("nk,kde->kde", shares[rows], each)
    if components.whiteners.ndim == 2:
        squares = np.einsum("kdd->kd", squares)
    sums = np.einsum("nk,knd->kd", shares, deviations)
    return shares.sum(axis=0), sums, squares, float(weights @ log_density), shares if with_shares else None


def _normalised(log_joint: Floats) -> tuple[Floats, Floats]:
    with np.errstate(invalid="ignore", divide="ignore"):  # where all are zero
        largest = log_joint.max(axis=1, initial=-np.inf)
        log_density = np.log(np.exp(log_joint - largest[:, None]).sum(axis=1)) + largest
        return log_density, np.exp(log_joint - log_density[:, None])


def _under_components(
    X: Floats, components: Any, offsets: Floats | None
) -> tuple[Floats, Floats, list[tuple[NDArray[np.intp], Floats]]]:
    """Give ln rho (n, k), deviations with filled gaps (k, n, d), and the covariances (k, d, d) of gaps of some rows."""
    (n, d), k = X.shape, len(components.means)
    log_joint = np.zeros((n, k)) if offsets is None else offsets.astype(float)
    deviations = np.where(np.isnan(X), 0.0, X - components.means[:, None, :])
    covariances = []
    W = components.whiteners
    precisions = np.swapaxes(W, 1, 2) @ W if W.ndim == 3 else W[:, :, None] ** 2 * np.eye(d)
    for rows, observed, missing in _gap_groups(X):
        spread = np.zeros((k, d, d))
        for j, precision in enumerate(precisions):
            log_volume, at = 0.0, np.ix_(rows, missing)
            if len(missing):
                within = precision[np.ix_(missing, missing)]
                known = deviations[j][np.ix_(rows, observed)]
                deviations[j][at] = -np.linalg.solve(within, precision[np.ix_(missing, observed)] @ known.T).T
                spread[j][np.ix_(missing, missing)] = np.linalg.inv(within)
                log_volume = 0.5 * (len(missing) * LOG_2PI - float(np.linalg.slogdet(within)[1]))
            with np.errstate(over="ignore", invalid="ignore"):
                white = deviations[j][rows] @ W[j].T if W.ndim == 3 else deviations[j][rows] * W[j]
                sq_distance = (white * white).sum(axis=1)
            sq_distance[np.isnan(sq_distance)] = np.inf  # the square has overflowed
            log_joint[rows, j] += components.log_constants[j] + log_volume - 0.5 * sq_distance
        if len(missing):
            covariances.append((rows, spread))
    return log_joint, deviations, covariances


def _gap_groups(X: Floats) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Give (rows, observed columns, missing columns) of rows with the same gaps."""
    patterns, group = np.unique(np.isnan(X), axis=0, return_inverse=True)
    for i, is_gap in enumerate(patterns):
        yield np.flatnonzero(group.ravel() == i), np.flatnonzero(~is_gap), np.flatnonzero(is_gap)
