r"""Decision functions as operators of ONNX: kernels between rows and support vectors, times coefficients.

Squared distances are expanded, :math:`\|a\|^2 + \|b\|^2 - 2 a b`, by one product of matrices for each component, about
the mean of the support vectors. Their error is about :math:`10^{-16} (\|a\|^2 + \|b\|^2)`. The distance of close rows
has few digits left, but the kernel does not need them, because it depends on :math:`\gamma \Delta^2`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.density import Rows
from mixkern.engine import Metric
from mixkern.errors import ExportError, hint
from mixkern.export.density import RowTensors
from mixkern.export.graph import Graph, Tensor
from mixkern.kernels import BlendKernel, GMMKernel, RBFKernel, RWMKernel
from mixkern.kernels.blend import pooled_metrics
from mixkern.svm import DecisionFunction
from mixkern.typing import Floats

EXPORTED = (BlendKernel, RWMKernel, GMMKernel, RBFKernel)


@dataclass(frozen=True)
class GaussianTerm:
    """A Gaussian of a distance, with its share in a kernel.

    Attributes
    ----------
    share : float
        Factor of the Gaussian.
    metric : ndarray, LowRankWhiteners or ProjectedWhiteners
        Whiteners of the components.
    weights : ndarray of shape (k,) or None
        Weights of the components in the distance; None where they are the responsibilities of the two rows.
    """

    share: float
    metric: Metric
    weights: Floats | None


def check_kernel(kernel: Any) -> None:
    """Raise an error for a kernel that cannot be exported."""
    if type(kernel) not in EXPORTED:
        names = ", ".join(each.__name__ for each in EXPORTED)
        raise ExportError(
            f"A model with the kernel {type(kernel).__name__} cannot be exported: there are operators for {names}, and "
            "for these deformed along a graph.",
            hint=hint(python="Fit a model with one of them, such as kernel='blend'. Or predict in Python."),
        )


def gaussian_terms(kernel: Any, n_continuous: int) -> list[GaussianTerm]:
    """Return the Gaussians whose weighted sum a kernel is; memberships of a blend are left out."""
    check_kernel(kernel)
    if isinstance(kernel, RBFKernel):
        return [GaussianTerm(1.0, np.ones((1, n_continuous)), np.ones(1))]
    mixture = kernel.mixture
    if isinstance(kernel, GMMKernel):
        return [GaussianTerm(1.0, mixture.whiteners, mixture.weights)]
    if isinstance(kernel, RWMKernel):
        return [GaussianTerm(1.0, mixture.whiteners, None)]
    metric, unit = pooled_metrics(mixture, float(kernel.pooling))
    own = GaussianTerm(kernel.share * (1 - kernel.membership), metric, None)
    plain = GaussianTerm(1 - kernel.share, np.full((1, n_continuous), np.sqrt(unit)), np.ones(1))
    return [term for term in (own, plain) if term.share > 0]


def decision_values(graph: Graph, decision: DecisionFunction, rows: RowTensors) -> Tensor:  # (n, q)
    """Add the nodes of decision functions, on rows under the mixture of their kernel."""
    kernel = decision.kernel
    support: Rows = kernel.read(decision.support)
    total = graph.constant(decision.intercepts[None])
    count = _sq_counts(rows, support, kernel.gamma * kernel.beta)
    for term in gaussian_terms(kernel, support.n_continuous):
        exponent = count
        if rows.numbers is not None:
            distance = _distances(graph, term, rows, support)
            exponent = distance * distance * (-kernel.gamma * kernel.alpha)
            exponent = exponent if count is None else exponent + count
        assert exponent is not None, "a table has columns"
        total = total + exponent.apply("Exp") @ (term.share * decision.coefficients)
    if isinstance(kernel, BlendKernel) and kernel.share * kernel.membership > 0:
        sums = kernel.share * kernel.membership * np.sqrt(support.responsibilities).T @ decision.coefficients  # (k, q)
        total = total + rows.responsibilities.apply("Sqrt") @ sums
    return total


def _distances(graph: Graph, term: GaussianTerm, rows: RowTensors, support: Rows) -> Tensor:  # (n, m)
    """Return distances between rows and support vectors: the mean of those of the components, by their weights."""
    assert rows.numbers is not None, "distances are those of numbers"
    centre = support.numbers.mean(axis=0)
    numbers, others = rows.numbers - centre, support.numbers - centre
    halves = None if term.weights is not None else rows.responsibilities * 0.5
    total: Tensor | None = None
    for k in range(len(term.metric)):
        sq_distance = _sq_distances(graph, _matrix(term.metric, k), numbers, others)
        # Rounding may make it negative. Not Relu, which onnxruntime 1.17 fuses with Gemm, but only computes in float32.
        distance = sq_distance.apply("Abs").apply("Sqrt")
        if halves is None:
            assert term.weights is not None, "it was asked for"
            part = distance if term.weights[k] == 1 else distance * term.weights[k]
        else:
            part = distance * (halves.gather([k], axis=1) + 0.5 * support.responsibilities[None, :, k])
        total = part if total is None else total + part
    assert total is not None, "a metric has components"
    return total


def _sq_distances(graph: Graph, W: Floats, numbers: Tensor, others: Floats) -> Tensor:  # (n, m)
    """Return squared distances by one whitener, (r, d) or a diagonal (d,)."""
    white = numbers * W if W.ndim == 1 else numbers @ W.T
    points = others * W if W.ndim == 1 else others @ W.T
    extended = graph.concat([white, white.sum_squares(1)], axis=1)
    matrix = graph.constant(np.vstack([-2 * points.T, np.ones(len(points))]))
    sq_lengths = graph.constant(np.einsum("mr,mr->m", points, points))
    return graph.op("Gemm", extended, matrix, sq_lengths, dtype="float64")


def _matrix(metric: Metric, k: int) -> Floats:  # (r, d) or (d,)
    """Return the whitener of a component as a matrix, or as a vector where it is diagonal."""
    if isinstance(metric, np.ndarray):
        return metric[k]
    n_columns = metric.projection.shape[1] if hasattr(metric, "projection") else metric.n_features
    return metric.whitened(k, np.eye(n_columns)).T


def _sq_counts(rows: RowTensors, support: Rows, factor: float) -> Tensor | None:  # (n, m)
    """Return minus a factor times the squared numbers of differing categories; None without categories."""
    if rows.codes is None or support.codes is None:
        return None
    codes = np.maximum(support.codes, -1).T  # (e, m); a gap is a category of its own
    present = [np.unique(each) for each in codes]
    width = max(len(each) for each in present)
    padded = np.array([np.pad(each, (0, width - len(each)), constant_values=-2) for each in present])  # (e, p)
    is_equal = (padded[:, :, None] == codes[:, None, :]).reshape(-1, codes.shape[1]).astype(float)
    own = rows.codes.maximum(-1).expand_dims(2).equals(padded).cast("float64").reshape(0, padded.size)  # (n, e p)
    differing = float(len(codes)) - own @ is_equal
    return differing * differing * -factor
