"""Columns in which a row differs from others: distances split by columns, in the units of the table.

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
from mixkern.encoding import ContinuousColumn, TableEncoder
from mixkern.errors import KernelError
from mixkern.explain.contributions import By, ExplainedRows, n_lines
from mixkern.imports import optional
from mixkern.kernels import DistanceKernel, LaplacianKernel
from mixkern.kernels.blend import BlendParts
from mixkern.typing import Floats, Ints

OTHERS = "(others)"  # all columns without a line of their own


class Beside(StrEnum):
    """What a row is compared with."""

    FOR = "for"  # the labelled row that contributes most to its label
    AGAINST = "against"  # the one that contributes most against it
    COMPONENT = "component"  # the mean of the component that it most likely comes from


@dataclass(frozen=True, eq=False)
class ColumnContrast:
    """Rows beside others, and the part of each column in their distance."""

    beside: Beside
    at: Ints  # (r,): positions of the explained rows
    others: Floats  # (r, d + e): encoded
    subject: Ints  # (r,): positions of labelled rows, or numbers of components
    parts: Floats  # (r, d + e)
    filled: NDArray[np.bool_]  # (r, d + e)
    more: dict[str, Floats] = field(default_factory=dict)  # (r, d + e) each: the parts are means of them


def column_contrasts(explained: ExplainedRows, n: int | None) -> Any:
    """Parts of the columns in distances to labelled rows and to the own component, the largest first, as a frame."""
    pandas = optional("pandas", purpose="MixtureSVC.explain")
    names = column_names(explained.model)
    found = list(_contrasts(explained))
    tables = [pandas.DataFrame(_lines(explained, contrast, names, n_lines(n, len(names)))) for contrast in found]
    frame = pandas.concat(tables, ignore_index=True).sort_values(["position"], kind="stable", ignore_index=True)
    frame["neighbour"] = frame["subject"].astype("Int64").mask(frame["beside"] == Beside.COMPONENT)
    frame["component"] = frame["subject"].astype("Int64").mask(frame["beside"] != Beside.COMPONENT)
    first = ["row", "label", "against", "beside", "neighbour", "component", "column", "value", "other_value"]
    return frame[[*first, *(name for name in frame.columns if name not in {*first, "subject", "position"})]]


def _contrasts(explained: ExplainedRows) -> Iterator[ColumnContrast]:
    kernel = _distance_kernel(explained)
    best, worst = _strongest(explained)
    for beside, neighbours in ((Beside.FOR, best), (Beside.AGAINST, worst)):
        at = np.flatnonzero(neighbours >= 0)
        subject = neighbours[at]
        others = explained.support[subject].values
        parts = kernel.parts(explained.rows[at], explained.support[subject])
        more = {"mixture": parts.mixture, "euclidean": parts.euclidean} if isinstance(parts, BlendParts) else {}
        filled = np.isnan(explained.rows.values[at]) | np.isnan(others)
        filled[:, explained.model.mixture_.n_continuous :] = False  # a missing category is one of its own
        yield ColumnContrast(beside, at, others, explained.model.support_[subject], parts.columns, filled, more)
    yield _beside_component(explained)


def _beside_component(explained: ExplainedRows) -> ColumnContrast:
    mixture = explained.model.mixture_
    component = explained.rows.responsibilities.argmax(axis=1)
    typical = np.column_stack([mixture.means, *(table.argmax(axis=1) for table in mixture.categories)])
    parts = surprise(mixture, explained.rows.values, component)
    filled = np.zeros(parts.shape, dtype=bool)
    return ColumnContrast(Beside.COMPONENT, np.arange(len(parts)), typical[component], component, parts, filled)


def _distance_kernel(explained: ExplainedRows) -> DistanceKernel:
    """Return the kernel that measures distances; of a deformed kernel, its base."""
    kernel = explained.model.kernel_
    kernel = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    if isinstance(kernel, DistanceKernel):
        return kernel
    raise KernelError(
        f"by='{By.COLUMN}' splits a distance, and {type(kernel).__name__} is not a kernel of one distance. Use "
        f"by='{By.LABEL}' or by='{By.COMPONENT}', or train with a kernel that is, such as kernel='blend'."
    )


def _strongest(explained: ExplainedRows) -> tuple[Ints, Ints]:
    """Support vectors with the largest contribution to the label and against it; -1 where there is none."""
    best, worst = (np.full(len(explained.rows), -1) for _ in range(2))
    for at, similarity, coefficients in explained.blocks():
        pulls = similarity * coefficients
        best[at] = np.where(pulls.max(axis=1) > 0, pulls.argmax(axis=1), -1)
        worst[at] = np.where(pulls.min(axis=1) < 0, pulls.argmin(axis=1), -1)
    return best, worst


def surprise(mixture: Mixture, rows: Floats, component: Ints) -> Floats:  # (n, d + e)
    r"""Part of each column in how far a row is from its component.

    The sum is twice the logarithm of the density at the component's peak over that at the row: the squared Mahalanobis
    distance from its mean, and :math:`2 \log(\max_c \theta_{kc} / \theta_{kz})` for each category. Gaps add nothing.

    >>> mixture = Mixture([1.0], [[0.0, 1.0]], [[1.0, 4.0]], "diag", [[[0.75, 0.25]]])
    >>> surprise(mixture, np.array([[2.0, float("nan"), 1.0]]), np.array([0])).round(2)
    array([[4. , 0. , 2.2]])
    """
    d = mixture.n_continuous
    parts = np.zeros(rows.shape)
    for at, observed, _ in gap_patterns(rows[:, :d]):
        difference = rows[np.ix_(at, observed)] - mixture.means[component[at]][:, observed]
        for k in np.unique(component[at]):
            of_k = component[at] == k
            covariance = mixture.full_covariances[k][np.ix_(observed, observed)]
            pulled = np.linalg.solve(covariance, difference[of_k].T).T
            parts[np.ix_(at[of_k], observed)] = difference[of_k] * pulled
    for e, table in enumerate(mixture.categories):
        codes = rows[:, d + e]
        observed = np.flatnonzero(~np.isnan(codes))
        slots = np.minimum(codes[observed].astype(int), table.shape[1] - 1)  # later categories are "other"
        with np.errstate(divide="ignore"):  # impossible categories are infinitely far
            log_table = np.log(table)
        parts[observed, d + e] = 2 * (
            log_table.max(axis=1)[component[observed]] - log_table[component[observed], slots]
        )
    return parts


def _lines(explained: ExplainedRows, contrast: ColumnContrast, names: list[str], width: int) -> dict[str, Any]:
    """Lines for each row and column, the largest parts first, and one for all other columns."""
    at, decided, classes = contrast.at, explained.decided, explained.model.classes_
    order = np.argsort(-np.abs(contrast.parts), axis=1, kind="stable")
    top = order[:, :width]
    height = width + (width < len(names))

    def lines(values: Any, others: Any) -> Any:
        """Cells of the columns with a line of their own, and of all others."""
        listed = np.take_along_axis(np.broadcast_to(values, contrast.parts.shape), top, axis=1)
        return np.column_stack([listed, np.broadcast_to(others, len(at))])[:, :height].ravel()

    def parts(values: Floats) -> Any:
        return lines(values, np.take_along_axis(values, order[:, width:], axis=1).sum(axis=1))

    def repeated(values: Any) -> Any:
        return np.repeat(values, height)

    return {
        "position": repeated(at),
        "row": [explained.names[i] for i in repeated(at)],
        "label": repeated(classes[decided.label[at]]),
        "against": repeated(classes[decided.against[at]]),
        "beside": str(contrast.beside),
        "subject": repeated(contrast.subject),
        "column": lines(np.array(names, dtype=object), OTHERS),
        "value": lines(in_units(explained.model.encoder_, explained.rows.values[at]), None),
        "other_value": lines(in_units(explained.model.encoder_, contrast.others), None),
        "filled": lines(contrast.filled, np.zeros(len(at), dtype=bool)),
        "part": parts(contrast.parts),
        "total": repeated(contrast.parts.sum(axis=1)),
        **{name: parts(values) for name, values in contrast.more.items()},
    }


DIGITS = 12  # of a number that was encoded and decoded again: a few less than a float has
MOST_DECIMALS = 300  # more would leave the range of a float


def column_names(model: Any) -> list[str]:
    """Name the columns of encoded rows: as the table does, or x0, x1, ..."""
    if model.encoder_ is not None:
        return [str(name) for name in model.encoder_.get_feature_names_out()]
    given = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(name) for name in given]


def in_units(encoder: TableEncoder | None, rows: NDArray[np.float64]) -> NDArray[np.object_]:  # (n, d + e)
    """Decode rows to cells of the table, None for a gap.

    >>> encoder = TableEncoder(continuous="x0").fit([[0.1, "a"], [0.2, None]])
    >>> in_units(encoder, encoder.transform([[0.1, None], [0.3, "a"]])).tolist()
    [[0.1, None], [0.3, 'a']]
    """
    cells = np.empty(rows.shape, dtype=object)
    if encoder is None:
        cells[:] = rows
    else:
        frame = encoder.inverse_transform(rows)
        columns = {column.name: column for column in encoder.columns_}
        for j, name in enumerate(encoder.get_feature_names_out()):
            cells[:, j] = _cells(columns[name], frame[name])
    cells[np.isnan(rows)] = None
    return cells


def _cells(column: Any, cells: Any) -> Any:
    """Convert to Python's own types, without rounding errors of encoding and decoding."""
    if not isinstance(column, ContinuousColumn) or cells.dtype.kind != "f":
        return list(cells)
    size = max(abs(column.origin), column.deviation)
    decimals = DIGITS - 1 - math.floor(math.log10(size))
    return np.round(cells.to_numpy(), min(decimals, MOST_DECIMALS)).tolist()
