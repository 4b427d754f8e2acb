"""Novelty of rows as an operator of ONNX: a search tree over the log densities of training rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mixkern.export.graph import ML, Graph, Tensor, onnx
from mixkern.typing import Floats

ROUNDING = 1e-10  # relative: a training row has the same log density in every runtime, but for its last digits


def novelty_values(graph: Graph, log_density: Tensor, known: Floats) -> Tensor:  # (n, 1)
    """Add the nodes that give the share of training rows with a higher density.

    Parameters
    ----------
    graph : Graph
        The graph.
    log_density : Tensor
        Of rows, (n, 1).
    known : ndarray of shape (m,)
        Log densities of training rows.
    """
    levels = np.unique(known - ROUNDING * (1 + np.abs(known)))
    levels = levels[np.isfinite(levels)]
    # Between two levels, as many training rows are denser as lie at the upper one and beyond.
    ordered = np.sort(known)
    denser = [int((ordered - ROUNDING * (1 + np.abs(ordered)) > bound).sum()) for bound in (-np.inf, *levels)]
    if not len(levels):
        return graph.where(log_density.is_nan(), 0.0, 0.0)  # all training rows have the density zero
    counts = graph.op("TreeEnsembleRegressor", log_density, dtype="float32", domain=ML, **_tree(levels, denser))
    return counts.cast("float64") / float(len(known))


def _tree(levels: Floats, leaves: list[int]) -> dict[str, Any]:
    """Return a balanced search tree: the leaf of a value is that of the last level that is not above it."""
    nodes = list(_nodes(0, len(levels), 0))
    n, is_leaf = len(nodes), [node[1] is None for node in nodes]
    values = [0.0 if node[1] is None else float(levels[node[1]]) for node in nodes]
    ends = [(node[0], leaves[node[2]]) for node in nodes if node[1] is None]
    tensor, double = onnx.helper.make_tensor, onnx.TensorProto.DOUBLE
    return {
        "nodes_treeids": [0] * n,
        "nodes_nodeids": [node[0] for node in nodes],
        "nodes_featureids": [0] * n,
        "nodes_modes": ["LEAF" if leaf else "BRANCH_LT" for leaf in is_leaf],
        "nodes_values_as_tensor": tensor("values", double, [n], values),
        "nodes_truenodeids": [node[2] if node[1] is not None else 0 for node in nodes],
        "nodes_falsenodeids": [node[3] if node[1] is not None else 0 for node in nodes],
        "nodes_missing_value_tracks_true": [0] * n,
        "target_treeids": [0] * len(ends),
        "target_nodeids": [at for at, _ in ends],
        "target_ids": [0] * len(ends),
        "target_weights_as_tensor": tensor("weights", double, [len(ends)], [float(count) for _, count in ends]),
        "n_targets": 1,
    }


def _nodes(first: int, last: int, number: int) -> Iterator[tuple[int, int | None, int, int]]:
    """Yield nodes of a tree over the levels from a first to a last one, which is left out.

    A node is its number, its level, and the nodes below and above it; of a leaf, the level is None, and the third is
    the number of levels below it.
    """
    if first == last:
        yield number, None, first, 0
        return
    middle = (first + last) // 2
    below = number + 1
    above = below + 2 * (middle - first) + 1  # a tree over j levels has 2 j + 1 nodes
    yield number, middle, below, above
    yield from _nodes(first, middle, below)
    yield from _nodes(middle + 1, last, above)
