"""The engine in NumPy: the reference of the tests, and the fallback where the extension was not built.

Short and slow: differences of rows, then the metric, then the weights. Arguments are those of the functions in
``dispatch.py``, unchecked.
"""

import numpy as np

from mixkern.typing import Codes, Floats

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
    C = np.zeros((len(codes_A), len(other)))
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
