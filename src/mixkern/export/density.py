r"""Responsibilities, log densities and filled gaps of rows, as operators of ONNX.

Rows are grouped by their gaps, and a loop runs over the groups. With :math:`\Lambda` the inverse covariance of a
component, M the missing and O the observed columns, Gauss-Jordan steps on the columns of M turn :math:`\Lambda` into a
matrix whose block MO is :math:`\Lambda_{MM}^{-1} \Lambda_{MO}`, whose block OM is minus the transpose of MO, and the
product of the pivots is :math:`|\Lambda_{MM}|`. So each missing column costs one step, for all components at once, and
any pattern of gaps has the same operators. :math:`\Lambda` is scaled to a unit diagonal, so that no digits are lost in
a step.
"""

from dataclasses import dataclass

import numpy as np

from mixkern.density import Mixture
from mixkern.density.covariance import inverse_factors
from mixkern.density.gaussians import LOG_2PI
from mixkern.errors import ExportError, hint
from mixkern.export.graph import Graph, Tensor
from mixkern.typing import Floats
from mixkern.wording import counted

MOST_CELLS = 2**26  # of the components' matrices, which take half a GB


@dataclass(frozen=True)
class RowTensors:
    """Rows in a graph, with what a mixture gives for them; see :class:`~mixkern.density.Rows`.

    Attributes
    ----------
    numbers : Tensor or None
        Continuous columns, (n, d), gaps filled.
    codes : Tensor or None
        Categories, (n, e), -1 for gaps.
    responsibilities : Tensor
        Of the components, (n, k).
    log_density : Tensor
        Of each row, (n, 1).
    """

    numbers: Tensor | None
    codes: Tensor | None
    responsibilities: Tensor
    log_density: Tensor


@dataclass(frozen=True)
class _Components:
    """Constants of the components of a mixture; (k, d, d) matrices for any type of covariance."""

    means: Floats  # (k, 1, d)
    whiteners: Floats  # (k, d, d), transposed
    log_constants: Floats  # (k, 1), without the weights
    scales: Floats  # (k, 1, d): one over the roots of the diagonal of the inverse covariances
    precisions: Floats  # (k, d, d), with unit diagonal
    weights: Floats  # (1, k)

    @classmethod
    def of(cls, mixture: Mixture) -> "_Components":
        k, d = mixture.means.shape
        if k * d * d > MOST_CELLS:
            raise ExportError(
                f"The density has {counted(k, 'component')} of {d:,} continuous columns. Their matrices, "
                f"{k * d * d:,} numbers, are too large for an ONNX file.",
                hint=hint(
                    python="Fit a model of fewer columns, or predict in Python.",
                    cli="Fit a model of fewer columns (--keep COLUMNS), or use mixkern predict.",
                ),
            )
        whiteners = inverse_factors(np.array(mixture.full_covariances))
        precisions = np.swapaxes(whiteners, 1, 2) @ whiteners
        scales = 1 / np.sqrt(np.diagonal(precisions, axis1=1, axis2=2))
        log_constants = np.log(np.diagonal(whiteners, axis1=1, axis2=2)).sum(axis=1) - 0.5 * d * LOG_2PI
        return cls(
            mixture.means[:, None, :],
            np.swapaxes(whiteners, 1, 2),
            log_constants[:, None],
            scales[:, None, :],
            scales[:, :, None] * precisions * scales[:, None, :],
            mixture.weights[None] / mixture.weights.sum(),
        )


def row_tensors(graph: Graph, mixture: Mixture, numbers: Tensor | None, codes: Tensor | None) -> RowTensors:
    """Add the nodes that compute what a mixture gives for encoded rows.

    Parameters
    ----------
    graph : Graph
        The graph.
    mixture : Mixture
        The density.
    numbers : Tensor or None
        Continuous columns, (n, d), NaN for gaps.
    codes : Tensor or None
        Categories, (n, e), -1 for gaps.
    """
    offsets = graph.constant(_logs(mixture.weights)[None])
    if codes is not None:
        offsets = offsets + _log_categories(graph, mixture, codes)
    weights = mixture.weights[None] / mixture.weights.sum()
    if numbers is None:
        return RowTensors(None, codes, *_normalised(graph, offsets, weights))
    groups = _GapGroups.of(graph, numbers)
    components = _Components.of(mixture)
    n, (k, d) = numbers.length(), mixture.means.shape

    def one_group(number: Tensor, state: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        at, is_gap = groups.rows(number), groups.patterns.gather(number)  # (r,), (d,)
        known = groups.known.gather(at)
        own = offsets if codes is None else offsets.gather(at)
        found = graph.branch(
            is_gap.cast("float64").sum(0, keepdims=False).cast("bool"),
            lambda: _with_gaps(graph, components, known, own, is_gap),
            lambda: _complete(graph, components, known, own),
        )
        places = at.expand_dims(1)
        return [
            graph.op("ScatterND", old, places, new, dtype="float64") for old, new in zip(state, found, strict=True)
        ], []

    start = [graph.zeros(n, width) for width in (k, 1, d)]
    shares, log_density, filled = graph.loop(groups.patterns.length(), start, one_group)
    return RowTensors(filled, codes, shares, log_density)


@dataclass(frozen=True)
class _GapGroups:
    """Rows grouped by their gaps."""

    graph: Graph
    known: Tensor  # (n, d), zero for gaps
    patterns: Tensor  # (p, d), one for gaps
    group: Tensor  # (n,)

    @classmethod
    def of(cls, graph: Graph, numbers: Tensor) -> "_GapGroups":
        is_gap = numbers.is_nan()
        patterns, _, group, _ = graph.ops(
            "Unique", is_gap.cast("int8"), dtypes=["int8", "int64", "int64", "int64"], axis=0, sorted=0
        )
        return cls(graph, graph.where(is_gap, 0.0, numbers), patterns, group)

    def rows(self, number: Tensor) -> Tensor:  # (r,)
        """Return the positions of the rows of a group."""
        return self.group.equals(number).apply("NonZero", "int64").reshape(-1)


def _complete(graph: Graph, components: _Components, rows: Tensor, offsets: Tensor) -> list[Tensor]:
    """Return responsibilities, log density and numbers of rows without gaps."""
    deviations = rows.expand_dims(0) - components.means  # (k, r, d)
    log_joint = _log_joint(graph, components, deviations) + offsets
    return [*_normalised(graph, log_joint, components.weights), rows]


def _with_gaps(graph: Graph, components: _Components, rows: Tensor, offsets: Tensor, is_gap: Tensor) -> list[Tensor]:
    """Return responsibilities, log density and filled numbers of rows with the same gaps."""
    missing = is_gap.cast("float64")  # (d,)
    observed = 1.0 - missing
    swept, log_dets = _swept(graph, components, is_gap.cast("bool"))
    deviations = (rows.expand_dims(0) - components.means) * observed  # (k, r, d)
    # Block OM, zero elsewhere: minus the transpose of MO. A transposed factor would be fused with the product, which
    # onnxruntime 1.17 computes in float32 only.
    gains = swept * observed.expand_dims(1) * missing
    deviations = deviations + ((deviations / components.scales) @ gains) * components.scales
    # ln of the volume that the missing columns integrate to: (|M| ln 2 pi - ln |Lambda_MM|) / 2
    unscaled = (missing * (0.5 * LOG_2PI + np.log(components.scales[:, 0]))).sum(1)
    log_joint = _log_joint(graph, components, deviations, unscaled - 0.5 * log_dets) + offsets
    shares, log_density = _normalised(graph, log_joint, components.weights)
    means = (shares.transpose(1, 0).expand_dims(2) * (deviations + components.means)).sum(0, keepdims=False)
    return [shares, log_density, rows + missing * means]


def _swept(graph: Graph, components: _Components, is_gap: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scaled precisions after a Gauss-Jordan step for each missing column, and the logs of their pivots."""
    columns = is_gap.apply("NonZero", "int64").reshape(-1)
    k, d = components.means.shape[0], components.means.shape[2]
    units = graph.constant(np.eye(d))

    def step(number: Tensor, state: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        matrices, log_dets = state
        j = columns.gather(number)
        column, row, unit = matrices.gather(j, axis=2), matrices.gather(j, axis=1), units.gather(j)  # (k, d)
        pivots = column.gather(j, axis=1).expand_dims(1)  # (k, 1)
        update = ((column - unit) / pivots).expand_dims(2) * (row + unit).expand_dims(1)
        return [matrices - update, log_dets + pivots.apply("Log")], []

    start = [graph.constant(components.precisions), graph.constant(np.zeros((k, 1)))]
    matrices, log_dets = graph.loop(columns.length(), start, step)
    return matrices, log_dets


def _log_joint(graph: Graph, components: _Components, deviations: Tensor, volumes: Tensor | None = None) -> Tensor:
    """Return the log densities of deviations from the means, (r, k)."""
    sq_lengths = (deviations @ graph.constant(components.whiteners)).sum_squares(2, keepdims=False)  # (k, r)
    sq_lengths = graph.where(sq_lengths.is_nan(), np.inf, sq_lengths)  # the square has overflowed
    log_constants = graph.constant(components.log_constants)
    constants = log_constants if volumes is None else volumes + log_constants
    return (constants - 0.5 * sq_lengths).transpose(1, 0)


def _normalised(graph: Graph, log_joint: Tensor, weights: Floats) -> tuple[Tensor, Tensor]:
    """Return responsibilities (r, k) and log densities (r, 1); the weights where the density is zero."""
    largest = log_joint.largest(1)
    is_possible = graph.constant(-np.inf).less(largest)
    joint = (log_joint - largest).apply("Exp")
    total = joint.sum(1)
    shares = graph.where(is_possible, joint / total, weights)
    return shares, graph.where(is_possible, total.apply("Log") + largest, -np.inf)


def _log_categories(graph: Graph, mixture: Mixture, codes: Tensor) -> Tensor:  # (n, k)
    """Add up the log probabilities of each row's categories; a gap adds nothing."""
    sizes = [table.shape[1] for table in mixture.categories]
    # For each column the categories, of which the last one stands for all larger codes, then a gap.
    table = np.concatenate([np.vstack([_logs(each).T, np.zeros(len(each))]) for each in mixture.categories])
    starts = np.append(0, np.cumsum([size + 1 for size in sizes]))[:-1]
    last = np.array(sizes)
    is_gap = codes.less(0)
    slots = graph.where(is_gap, last, codes.minimum(last - 1), "int64") + starts
    return graph.constant(table).gather(slots).sum(1, keepdims=False)


def _logs(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        found: Floats = np.log(values)
        return found
