"""Explanations by column: the distance of a row to others, split by columns.

Each row is compared with the labelled row that contributes most to its label, with the one that contributes most
against it, and with the component that it most likely comes from.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.density import Mixture
from mixkern.density.block import gap_patterns
from mixkern.density.mixture import category_slots
from mixkern.encoding import ContinuousColumn, TableEncoder
from mixkern.encoding.cell import python_cells
from mixkern.errors import KernelError
from mixkern.explain.contributions import By, ExplainedRows, n_lines
from mixkern.kernels import DistanceKernel, LaplacianKernel
from mixkern.kernels.blend import BlendParts
from mixkern.typing import Floats, Ints

OTHERS = "(others)"  # one line for all columns beyond the limit
DIGITS = 12  # significant digits of decoded numbers: fewer than a float has, to hide errors of encoding and decoding
MOST_DECIMALS = 300  # more would leave the range of a float


class Beside(StrEnum):
    """What a row is compared with."""

    FOR = "for"  # the labelled row that contributes most to its label
    AGAINST = "against"  # the one that contributes most against it
    COMPONENT = "component"  # the mean of the component that it most likely comes from


@dataclass(frozen=True, eq=False)
class ColumnContrast:
    """The part of each column in the distances of r rows to what they are compared with."""

    beside: Beside
    at: Ints  # (r,): positions of the explained rows
    others: Ints  # (r,): positions of the labelled rows, or numbers of the components, that they are compared with
    other_values: Floats  # (r, d + e): encoded
    parts: Floats  # (r, d + e)
    is_filled: NDArray[np.bool_]  # (r, d + e): whether a gap of either row was filled
    averaged: dict[str, Floats] = field(default_factory=dict)  # of a blend: the two kinds of parts that it averages


def column_contrasts(explained: ExplainedRows, n: int | None) -> dict[str, Any]:
    """Return the parts of the columns in a row's distances, the largest first, as columns of a frame."""
    names = column_names(explained.model)
    width = n_lines(n, len(names))
    tables = [_lines(explained, contrast, names, width) for contrast in _contrasts(explained)]
    order = np.argsort(np.concatenate([table["position"] for table in tables]), kind="stable")
    joined: dict[str, Any] = {}
    for name in tables[0]:
        cells = [table.get(name, np.full(len(table["position"]), np.nan)) for table in tables]
        joined[name] = np.concatenate(cells)[order]
    joined["row"] = [explained.names[i] for i in joined.pop("position")]
    return joined


def _contrasts(explained: ExplainedRows) -> Iterator[ColumnContrast]:
    kernel = _distance_kernel(explained)
    best, worst = _strongest(explained)
    for beside, neighbours in ((Beside.FOR, best), (Beside.AGAINST, worst)):
        at = np.flatnonzero(neighbours >= 0)
        rows, others = explained.rows[at], explained.support[neighbours[at]]
        positions = explained.model.support_[neighbours[at]]
        parts = kernel.parts(rows, others)
        averaged = {"mixture": parts.mixture, "euclidean": parts.euclidean} if isinstance(parts, BlendParts) else {}
        is_filled = np.isnan(rows.values) | np.isnan(others.values)
        is_filled[:, explained.model.mixture_.n_continuous :] = False  # a missing category counts as a category
        yield ColumnContrast(beside, at, positions, others.values, parts.columns, is_filled, averaged)
    yield _component_contrast(explained)


def _component_contrast(explained: ExplainedRows) -> ColumnContrast:
    """Compare each row with the mean and the most frequent categories of its most responsible component."""
    mixture = explained.model.mixture_
    component = explained.rows.responsibilities.argmax(axis=1)
    typical = np.column_stack([mixture.means, *(table.argmax(axis=1) for table in mixture.categories)])
    parts = deviance_parts(mixture, explained.rows.values, component)
    is_filled = np.zeros(parts.shape, dtype=bool)
    return ColumnContrast(Beside.COMPONENT, np.arange(len(parts)), component, typical[component], parts, is_filled)


def _distance_kernel(explained: ExplainedRows) -> DistanceKernel:
    """Return the model's kernel, or the base of a deformed one; an error unless it has parts by column."""
    kernel = explained.model.kernel_
    kernel = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    if isinstance(kernel, DistanceKernel):
        return kernel
    raise KernelError(
        f"by='{By.COLUMN}' needs a distance kernel of mixkern, but this is a {type(kernel).__name__}. Use "
        f"by='{By.LABEL}' or by='{By.COMPONENT}', or train with another kernel, such as kernel='blend'."
    )


def _strongest(explained: ExplainedRows) -> tuple[Ints, Ints]:
    """Find the support vectors that contribute most to the label and most against it; -1 where none does."""
    best, worst = (np.full(len(explained.rows), -1) for _ in range(2))
    for at, similarity, coefficients in explained.blocks():
        pulls = similarity * coefficients
        best[at] = np.where(pulls.max(axis=1) > 0, pulls.argmax(axis=1), -1)
        worst[at] = np.where(pulls.min(axis=1) < 0, pulls.argmin(axis=1), -1)
    return best, worst


def deviance_parts(mixture: Mixture, rows: Floats, component: Ints) -> Floats:  # (n, d + e)
    r"""Split by columns how far each row is from a component.

    The sum is twice the logarithm of the ratio of the component's densities at its peak and at the row: the squared
    Mahalanobis distance from its mean, and :math:`2 \log(\max_c \theta_{kc} / \theta_{kz})` for each category. The part
    of a gap is 0.

    >>> mixture = Mixture([1.0], [[0.0, 1.0]], [[1.0, 4.0]], "diag", [[[0.75, 0.25]]])
    >>> deviance_parts(mixture, np.array([[2.0, float("nan"), 1.0]]), np.array([0])).round(2)
    array([[4. , 0. , 2.2]])
    """
    d = mixture.n_continuous
    parts = np.zeros(rows.shape)
    for at, observed, _ in gap_patterns(rows[:, :d]):
        difference = rows[np.ix_(at, observed)] - mixture.means[component[at]][:, observed]
        for k in np.unique(component[at]):
            of_k = component[at] == k
            own = difference[of_k]
            parts[np.ix_(at[of_k], observed)] = own * mixture.precision_times(k, own, observed)
    for e, table in enumerate(mixture.categories):
        at = np.flatnonzero(~np.isnan(rows[:, d + e]))
        slots = category_slots(rows[at, d + e], table.shape[1])
        with np.errstate(divide="ignore"):  # impossible categories are infinitely far
            log_table = np.log(table)
        parts[at, d + e] = 2 * (log_table.max(axis=1)[component[at]] - log_table[component[at], slots])
    return parts


def _lines(explained: ExplainedRows, contrast: ColumnContrast, names: list[str], width: int) -> dict[str, Any]:
    """Return the frame's lines: for each row the columns with the largest parts, and one line for all others."""
    at, decided, classes = contrast.at, explained.decided, explained.model.classes_
    order = np.argsort(-np.abs(contrast.parts), axis=1, kind="stable")
    top = order[:, :width]
    height = width + (width < len(names))

    def lines(values: Any, others: Any) -> Any:
        """Return a cell for each listed column, and one for all others."""
        listed = np.take_along_axis(np.broadcast_to(values, contrast.parts.shape), top, axis=1)
        return np.column_stack([listed, np.broadcast_to(others, len(at))])[:, :height].ravel()

    def parts(values: Floats) -> Any:
        return lines(values, np.take_along_axis(values, order[:, width:], axis=1).sum(axis=1))

    def repeated(values: Any) -> Any:
        return np.repeat(values, height)

    return {
        "position": repeated(at),
        "row": repeated(at),
        "label": repeated(classes[decided.label[at]]),
        "against": repeated(classes[decided.against[at]]),
        "beside": np.full(height * len(at), str(contrast.beside), dtype=object),
        "number": repeated(contrast.others),
        "column": lines(np.array(names, dtype=object), OTHERS),
        "value": lines(in_units(explained.model.encoder_, explained.rows.values[at]), None),
        "other_value": lines(in_units(explained.model.encoder_, contrast.other_values), None),
        "filled": lines(contrast.is_filled, np.zeros(len(at), dtype=bool)),
        "part": parts(contrast.parts),
        "total": repeated(contrast.parts.sum(axis=1)),
        **{name: parts(values) for name, values in contrast.averaged.items()},
    }


def column_names(model: Any) -> list[str]:
    """Return the names of the columns of encoded rows: those of the table, or x0, x1, ..."""
    if model.encoder_ is not None:
        return [str(name) for name in model.encoder_.get_feature_names_out()]
    given = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(name) for name in given]


def in_units(encoder: TableEncoder | None, rows: Floats) -> NDArray[np.object_]:  # (n, d + e)
    """Decode rows to cells of the table, None for a gap.

    >>> encoder = TableEncoder(continuous="x0").fit([[0.1, "a"], [0.2, None]])
    >>> in_units(encoder, encoder.transform([[0.1, None], [0.3, "a"]])).tolist()
    [[0.1, None], [0.3, 'a']]
    """
    cells = np.empty(rows.shape, dtype=object)
    if encoder is None:
        cells[:] = rows
    else:
        decoded = encoder.decoded(rows)
        columns = {column.name: column for column in encoder.encoded_columns_}
        for j, name in enumerate(encoder.get_feature_names_out()):
            cells[:, j] = _cells(columns[name], decoded[name])
    cells[np.isnan(rows)] = None
    return cells


def _cells(column: Any, cells: Any) -> Any:
    """Convert the cells of a column to Python types; numbers are rounded to hide errors of encoding and decoding."""
    if not isinstance(column, ContinuousColumn) or cells.dtype.kind != "f":
        return python_cells(cells)
    size = max(abs(column.origin), column.deviation)
    decimals = DIGITS - 1 - math.floor(math.log10(size))
    return np.round(cells, min(decimals, MOST_DECIMALS)).tolist()
