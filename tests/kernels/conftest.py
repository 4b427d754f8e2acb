import numpy as np
import pytest


@pytest.fixture(scope="session")
def literal_laplacian():
    """The Laplacian of the symmetrised graph of k nearest neighbours, literally, from lengths."""

    def laplacian(D, k, weights="binary", normalised=True):
        n = len(D)
        neighbors = [sorted((j for j in range(n) if j != i), key=lambda j: D[i, j])[:k] for i in range(n)]
        lengths = [D[i, j] for i in range(n) for j in neighbors[i] if D[i, j] > 0]
        t = sum(lengths) / len(lengths)  # the mean distance of neighbours
        W = np.zeros((n, n))
        for i in range(n):
            for j in neighbors[i]:
                W[i, j] = W[j, i] = 1 if weights == "binary" else np.exp(-(D[i, j] ** 2) / (2 * t**2))
        degree = W.sum(axis=1)
        return np.eye(n) - W / np.sqrt(np.outer(degree, degree)) if normalised else np.diag(degree) - W

    return laplacian
