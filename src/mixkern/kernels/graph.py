"""Laplacian of the graph that joins each row with its nearest neighbours."""

from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from mixkern.errors import KernelError
from mixkern.threads import available_threads
from mixkern.typing import Floats, Ints
from mixkern.validation import FLAG, one_of

BLOCK = 256  # rows at a time


class GraphWeights(StrEnum):
    """Weights of the edges of a graph."""

    BINARY = "binary"  # 1
    HEAT = "heat"  # exp(-d^2 / (2 t^2)), t the mean length


def graph_laplacian(
    distances: ArrayLike, n_neighbors: int = 7, *, weights: str = "binary", normalised: bool = True
) -> csr_array:
    r"""Laplacian of the graph that joins each row with its nearest neighbours, in both directions.

    Parameters
    ----------
    distances : array-like of shape (n, n)
        Lengths between all rows, not squared. Binary weights depend on their order alone.
    n_neighbors : int, default=7
        Neighbours of each row; a row is also joined with those that it is a neighbour of.
    weights : {"binary", "heat"}, default="binary"
        Weight of an edge of length d: 1, or :math:`\exp(-d^2 / (2 t^2))`, where t is the mean distance of rows to their
        neighbours, without those of distance 0.
    normalised : bool, default=True
        Whether the Laplacian is :math:`I - D^{-1/2} W D^{-1/2}`, with eigenvalues up to 2, or :math:`D - W`, with
        eigenvalues up to twice the largest degree. W has the weights, and D their sum for each row.

    Examples
    --------
    >>> D = abs(np.subtract.outer([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]))
    >>> graph_laplacian(D, n_neighbors=1).toarray().round(2)
    array([[ 1.  , -0.71,  0.  ],
           [-0.71,  1.  , -0.71],
           [ 0.  , -0.71,  1.  ]])
    >>> graph_laplacian(D, n_neighbors=1, weights="heat", normalised=False).toarray().round(2)
    array([[ 0.88, -0.88,  0.  ],
           [-0.88,  1.02, -0.14],
           [ 0.  , -0.14,  0.14]])
    """
    kind = one_of(GraphWeights, weights, "weights")
    FLAG.check(normalised, "normalised", KernelError)
    D = np.asarray(distances, dtype=float)
    n = len(D)
    neighbors = _all_nearest(D, max(0, min(n_neighbors, n - 1)))
    graph = _weighted(D, neighbors, kind)
    sums = graph.sum(axis=1)
    if not normalised:
        return csr_array(_diagonal(sums) - graph)
    scale = _diagonal(1 / np.sqrt(np.where(sums > 0, sums, 1.0)))
    return csr_array(_diagonal(np.ones(n)) - scale @ graph @ scale)


def _weighted(D: Floats, neighbors: Ints, kind: GraphWeights) -> csr_array:  # W, (n, n)
    """Weights of the edges between each row and its neighbours, in both directions."""
    n, k = neighbors.shape
    where = (np.repeat(np.arange(n), k), neighbors.ravel())
    if kind is GraphWeights.BINARY:
        graph = csr_array((np.ones(n * k), where), shape=(n, n))
        return csr_array(((graph + graph.T) > 0).astype(float))
    lengths = D[where]
    width = lengths[lengths > 0].mean() if lengths.any() else 1.0
    graph = csr_array((np.exp(-0.5 * (lengths / width) ** 2), where), shape=(n, n))
    return csr_array(graph.maximum(graph.T))


def _diagonal(values: Floats) -> csr_array:
    at = np.arange(len(values))
    return csr_array((values, (at, at)), shape=(len(values), len(values)))


def _all_nearest(D: Floats, k: int) -> Ints:  # (n, k)
    """Positions of the nearest neighbours of all rows."""
    n = len(D)
    with ThreadPoolExecutor(available_threads()) as pool:
        blocks = pool.map(lambda i: _nearest(D, i, min(i + BLOCK, n), k), range(0, n, BLOCK))
        return np.concatenate([np.empty((0, k), dtype=int), *blocks])


def _nearest(D: Floats, start: int, end: int, k: int) -> Ints:  # (end - start, k)
    """Positions of the nearest neighbours of some rows; a row is never its own, even among equal rows."""
    block = np.array(D[start:end])
    block[np.arange(end - start), np.arange(start, end)] = np.inf
    return np.argpartition(block, k - 1, axis=1)[:, :k] if k else np.empty((end - start, 0), dtype=int)
