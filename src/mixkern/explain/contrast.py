"""In which columns a row is unlike others: distances taken apart, in the table's own units.

Each row is put beside the labelled row that speaks most for its label, beside the one that speaks most against it, and
beside the component that it most likely comes from.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.density import Mixture
from mixkern.density.block import gap_patterns
from mixkern.errors import KernelError
from mixkern.explain.case import By, Case, most
from mixkern.explain.units import column_names, in_units
from mixkern.imports import optional
from mixkern.kernels import DistanceKernel, LaplacianKernel
from mixkern.kernels.blend import BlendParts
from mixkern.typing import Floats, Ints

OTHERS = "(others)"  # columns that have no line of their own, together


class Beside(StrEnum):
    """What a row is compared with."""

    FOR = "for"  # the labelled row that speaks most for its label
    AGAINST = "against"  # the one that speaks most against it
    COMPONENT = "component"  # the mean of the component that it most likely comes from


@dataclass(frozen=True, eq=False)
class Contrast:
    """Rows beside others, and what each column adds to their distance."""

    beside: Beside
    at: Ints  # (r,): which rows of the case
    others: Floats  # (r, d + e): encoded
    who: Ints  # (r,): positions of labelled rows, or numbers of components
    parts: Floats  # (r, d + e)
    filled: NDArray[np.bool_]  # (r, d + e)
    more: dict[str, Floats] = field(default_factory=dict)  # (r, d + e) each: what the parts are means of


def contrasts(case: Case, n: int | None) -> Any:
    """Say in which columns a row is unlike those that its label comes from, and unlike its own component."""
    pandas = optional("pandas", purpose="MixtureSVC.explain")
    names = column_names(case.model)
    found = list(_contrasts(case))
    tables = [pandas.DataFrame(_lines(case, contrast, names, most(n, len(names)))) for contrast in found]
    frame = pandas.concat(tables, ignore_index=True).sort_values(["position"], kind="stable", ignore_index=True)
    frame["neighbour"] = frame["who"].astype("Int64").mask(frame["beside"] == Beside.COMPONENT)
    frame["component"] = frame["who"].astype("Int64").mask(frame["beside"] != Beside.COMPONENT)
    first = ["row", "label", "against", "beside", "neighbour", "component", "column", "value", "other_value"]
    return frame[[*first, *(name for name in frame.columns if name not in {*first, "who", "position"})]]


def _contrasts(case: Case) -> Iterator[Contrast]:
    kernel = _distance_kernel(case)
    best, worst = _strongest(case)
    for beside, neighbours in ((Beside.FOR, best), (Beside.AGAINST, worst)):
        at = np.flatnonzero(neighbours >= 0)
        who = neighbours[at]
        others = case.model.support_vectors_[who]
        parts = kernel.parts(case.rows[at], others)
        more = {"mixture": parts.mixture, "euclidean": parts.euclidean} if isinstance(parts, BlendParts) else {}
        filled = np.isnan(case.values[at]) | np.isnan(others)
        filled[:, case.model.mixture_.n_continuous :] = False  # a missing category is one of its own
        yield Contrast(beside, at, others, case.model.support_[who], parts.columns, filled, more)
    yield _beside_component(case)


def _beside_component(case: Case) -> Contrast:
    mixture = case.model.mixture_
    component = mixture.responsibilities(case.values).argmax(axis=1)
    typical = np.column_stack([mixture.means, *(table.argmax(axis=1) for table in mixture.categories)])
    parts = surprise(mixture, case.values, component)
    filled = np.zeros(parts.shape, dtype=bool)
    return Contrast(Beside.COMPONENT, np.arange(len(parts)), typical[component], component, parts, filled)


def _distance_kernel(case: Case) -> DistanceKernel:
    """Give the kernel that measures distances, which may be bent."""
    kernel = case.model.kernel_
    kernel = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    if isinstance(kernel, DistanceKernel):
        return kernel
    raise KernelError(
        f"by='{By.COLUMN}' takes a distance apart, and {type(kernel).__name__} is not a kernel of one distance. Use "
        f"by='{By.LABEL}' or by='{By.COMPONENT}', or train with a kernel that is, such as kernel='blend'."
    )


def _strongest(case: Case) -> tuple[Ints, Ints]:
    """Give the support vectors that pull each row most to its label and most away from it; -1 where none does."""
    best, worst = (np.full(len(case.rows), -1) for _ in range(2))
    for at, similarity, coefficients in case.blocks():
        pulls = similarity * coefficients
        best[at] = np.where(pulls.max(axis=1) > 0, pulls.argmax(axis=1), -1)
        worst[at] = np.where(pulls.min(axis=1) < 0, pulls.argmin(axis=1), -1)
    return best, worst


def surprise(mixture: Mixture, rows: Floats, component: Ints) -> Floats:  # (n, d + e)
    r"""Say what each column adds to how unlike its component a row is.

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
        there = np.flatnonzero(~np.isnan(codes))
        slots = np.minimum(codes[there].astype(int), table.shape[1] - 1)  # later categories are "other"
        with np.errstate(divide="ignore"):  # impossible categories are infinitely surprising
            log_table = np.log(table)
        parts[there, d + e] = 2 * (log_table.max(axis=1)[component[there]] - log_table[component[there], slots])
    return parts


def _lines(case: Case, contrast: Contrast, names: list[str], width: int) -> dict[str, Any]:
    """Lay out one line for each row and column, the largest parts first, and one for all other columns."""
    at, verdict, classes = contrast.at, case.verdict, case.model.classes_
    order = np.argsort(-np.abs(contrast.parts), axis=1, kind="stable")
    top = order[:, :width]
    n_lines = width + (width < len(names))

    def lines(values: Any, others: Any) -> Any:
        """Give the cells of the columns that are told, and of all others."""
        told = np.take_along_axis(np.broadcast_to(values, contrast.parts.shape), top, axis=1)
        return np.column_stack([told, np.broadcast_to(others, len(at))])[:, :n_lines].ravel()

    def parts(values: Floats) -> Any:
        return lines(values, np.take_along_axis(values, order[:, width:], axis=1).sum(axis=1))

    def repeated(values: Any) -> Any:
        return np.repeat(values, n_lines)

    return {
        "position": repeated(at),
        "row": [case.names[i] for i in repeated(at)],
        "label": repeated(classes[verdict.label[at]]),
        "against": repeated(classes[verdict.against[at]]),
        "beside": str(contrast.beside),
        "who": repeated(contrast.who),
        "column": lines(np.array(names, dtype=object), OTHERS),
        "value": lines(in_units(case.model.encoder_, case.values[at]), None),
        "other_value": lines(in_units(case.model.encoder_, contrast.others), None),
        "filled": lines(contrast.filled, np.zeros(len(at), dtype=bool)),
        "part": parts(contrast.parts),
        "total": repeated(contrast.parts.sum(axis=1)),
        **{name: parts(values) for name, values in contrast.more.items()},
    }
