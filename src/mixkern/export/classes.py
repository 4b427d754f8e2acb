"""Labels and probabilities from decision values, as operators of ONNX; one function for each scheme of classes."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from mixkern.export.graph import Graph, Tensor
from mixkern.svm import least_squares, one_vs_one, one_vs_rest
from mixkern.svm.one_vs_one import SMALLEST
from mixkern.typing import Floats


def chosen_class(graph: Graph, scheme: Any, values: Tensor, n_classes: int) -> Tensor:  # (n, 1)
    """Add the nodes that choose a class by decision values, (n, q)."""
    if n_classes == 2 and scheme is not least_squares:
        is_second = values.less(0.0) if scheme is one_vs_one else graph.constant(0.0).less(values)
        return is_second.cast("int64")
    return (_votes(values, n_classes) if scheme is one_vs_one else values).argmax()


def probabilities(
    graph: Graph, scheme: Any, values: Tensor, slopes: Sequence[float], winner: Tensor, n_classes: int, dtype: str
) -> Tensor:  # (n, c)
    """Add the nodes of class probabilities: the mean over slopes, the largest for the class that was chosen.

    Parameters
    ----------
    graph : Graph
        The graph.
    scheme : module
        Conversion of decision values.
    values : Tensor
        Decision values, (n, q).
    slopes : sequence of float
        Slopes whose probabilities are averaged.
    winner : Tensor
        Class that was chosen, (n, 1).
    n_classes : int
        c.
    dtype : {"float64", "float32"}
        Type of the result, in which the largest probability is that of the chosen class.
    """
    conversion = _CONVERSIONS[scheme]
    total: Tensor | None = None
    for slope in slopes:
        shares = _with_largest(graph, conversion(graph, values, float(slope), n_classes), winner, n_classes)
        total = shares if total is None else total + shares
    assert total is not None, "there is a slope at least"
    return _with_largest(graph, (total / float(len(slopes))).cast(dtype), winner, n_classes)


def _votes(values: Tensor, n_classes: int) -> Tensor:  # (n, c)
    """Return the votes of all pairs, with ties broken by the sum of their values."""
    first, second = _sides(n_classes)
    is_second = values.less(0.0).cast("float64")
    votes = (1.0 - is_second) @ first + is_second @ second
    margins = values @ (first - second)
    return votes + margins / (3.0 * (margins.apply("Abs") + 1.0))


def _sides(n_classes: int) -> tuple[Floats, Floats]:  # (q, c) each
    """Return which class is the first, and which the second, of each pair."""
    first, second = np.triu_indices(n_classes, 1)
    classes = np.eye(n_classes)
    return classes[first], classes[second]


def _coupled(graph: Graph, values: Tensor, slope: float, n_classes: int) -> Tensor:  # (n, c)
    """Couple the probabilities of pairs."""
    if n_classes == 2:
        return _two_classes(graph, -slope * values)
    first, second = _sides(n_classes)
    exponents = slope * values
    # The inverse of a sigmoid is 1 + exp(-f): onnxruntime's own sigmoid takes several times as long in float64.
    inverse = [(1.0 + each.apply("Exp")).minimum(1 / SMALLEST) for each in (-exponents, exponents)]
    shares = 1.0 / (inverse[0] @ first + inverse[1] @ second - float(n_classes - 2))
    return shares / shares.sum(1)


def _each_class(graph: Graph, values: Tensor, slope: float, n_classes: int) -> Tensor:  # (n, c)
    """Divide the sigmoids of all classes by their sum, by logarithms: all of them may be too small for a float."""
    if n_classes == 2:
        return _two_classes(graph, slope * values)
    # ln sigmoid(f) = min(f, 0) - ln(1 + exp(-|f|))
    f = slope * values
    logs = f.minimum(0.0) - (1.0 + (-f.apply("Abs")).apply("Exp")).apply("Log")
    return logs.apply("Softmax", axis=1)


def _powers(graph: Graph, values: Tensor, slope: float, n_classes: int) -> Tensor:  # (n, c)  # noqa: ARG001
    """Return powers of the estimates of least squares, divided by their sum."""
    estimates = ((1.0 + values) * 0.5).maximum(1 / n_classes)
    powers = ((estimates / estimates.largest(1)).apply("Log") * slope).apply("Exp")
    return powers / powers.sum(1)


def _two_classes(graph: Graph, second: Tensor) -> Tensor:  # (n, 2)
    shares = 1.0 / (1.0 + (-second).apply("Exp"))
    return graph.concat([1.0 - shares, shares], axis=1)


def _with_largest(graph: Graph, shares: Tensor, winner: Tensor, n_classes: int) -> Tensor:  # (n, c)
    """Exchange probabilities where another class than the winner has the largest one.

    The winner's is then larger by the last bit, because the two may be equal.
    """
    classes, dtype = np.arange(n_classes)[None], shares.dtype
    top, largest = shares.argmax(), shares.largest(1)
    is_winner, is_top = winner.equals(classes), top.equals(classes)
    own = (shares * is_winner.cast(dtype)).sum(1)
    # Not times (1 + eps): onnxruntime removes a factor that is 1 in float32.
    raised = graph.where(top.equals(winner), largest, largest + largest * np.finfo(dtype).eps, dtype)
    return graph.where(is_winner, raised, graph.where(is_top, own, shares, dtype), dtype)


_CONVERSIONS: dict[ModuleType, Callable[[Graph, Tensor, float, int], Tensor]] = {
    one_vs_one: _coupled,
    one_vs_rest: _each_class,
    least_squares: _powers,
}
