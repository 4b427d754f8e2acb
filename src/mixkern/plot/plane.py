"""Rows and components in the plane, in the units of the table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from mixkern.density import Mixture
from mixkern.encoding import UNLABELLED, ContinuousColumn, Kind, Labels, encode_labels
from mixkern.encoding.frame import column_labels, opened
from mixkern.encoding.raw_column import RawColumn, raw_columns
from mixkern.errors import LabelError, TableError, hint
from mixkern.imports import optional
from mixkern.plot.style import GREY
from mixkern.typing import Floats
from mixkern.wording import listing

CENTRES = "centre, unit ellipse"  # entry of the legend


@dataclass(frozen=True)
class Plane:
    """Two columns of a table, in their own units and in those of a model."""

    table: Any  # the native frame, or an array
    raws: Sequence[RawColumn]
    columns: Sequence[ContinuousColumn] | None  # the model's encoding; None where it takes numbers as they are
    places: Floats  # (n, 2)

    @classmethod
    def of(cls, model: Any, X: Any) -> "Plane":
        """Read a table of two continuous columns that the model takes."""
        table = opened(X)
        raws = raw_columns(table)
        _check_columns(model, raws)
        encoder = getattr(model, "encoder_", None)
        columns = None if encoder is None else [c for c in encoder.encoded_columns_ if isinstance(c, ContinuousColumn)]
        plane = cls(table, raws, columns, np.column_stack([raw.numbers() for raw in raws]))
        if not plane.is_there.any():
            raise TableError("X has no row with a number in both columns, so there is nothing to draw.")
        return plane

    @property
    def is_there(self) -> NDArray[np.bool_]:  # (n,)
        """Whether a row has numbers in both columns."""
        return np.all(np.isfinite(self.places), axis=1)

    def own(self, encoded: Floats) -> Floats:
        """Convert encoded rows to the units of the table."""
        if self.columns is None:
            return encoded
        deviation, mean, origin = np.array([(c.deviation, c.mean, c.origin) for c in self.columns]).T
        return (encoded * deviation + mean) + origin

    def mixture(self, encoded: Mixture) -> Mixture:
        """Convert a mixture of encoded rows to the units of the table."""
        if self.columns is None:
            return encoded
        scale = np.array([column.deviation for column in self.columns])
        return Mixture(encoded.weights, self.own(encoded.means), encoded.full_covariances * np.outer(scale, scale))

    def like(self, places: Floats) -> Any:
        """Return places as a table of the same type and with the same names, with dates as dates."""
        cells = [self._cells(j, places[:, j]) for j in (0, 1)]
        labels = column_labels(self.table)
        if labels is None:
            is_moment = any(each.dtype.kind in "mM" for each in cells)
            return np.column_stack([each.astype(object) for each in cells] if is_moment else cells)
        named = dict(zip(labels, cells, strict=True))
        if nw.dependencies.is_pandas_dataframe(self.table):  # its labels need not be texts
            return optional("pandas", purpose="mixkern.plot").DataFrame(named)
        return nw.from_dict(named, backend=nw.get_native_namespace(self.table)).to_native()

    def _cells(self, j: int, values: Floats) -> Any:
        if self.columns is None:
            return values
        column = self.columns[j]
        return column.decode(((values - column.origin) - column.mean) / column.deviation)


def is_planar(model: Any, X: Any) -> bool:
    """Return whether a table has two columns, and the model reads both as numbers."""
    raws = raw_columns(opened(X))
    return len(raws) == 2 and not _not_continuous(model, raws)


def _check_columns(model: Any, raws: Sequence[RawColumn]) -> None:
    need = "A picture of decisions needs a table of two continuous columns, but"
    names = [raw.name for raw in raws]
    if len(raws) != 2:
        choice = "X[:, [0, 1]]" if raws[0].place.startswith("X[:") else f"X[{names[:2]}]"
        step = f"Fit the model on two of them: {choice}." if len(raws) > 2 else "Fit the model on two columns."
        raise TableError(f"{need} X has {len(raws)}.", hint=hint(python=step))
    wrong = _not_continuous(model, raws)
    if wrong:
        are = "is" if len(wrong) == 1 else "are"
        dates = [name for name in names if any(each.startswith(f"{name}: ") for each in wrong)]
        more = f", or with dates as days: encoder=TableEncoder(continuous={dates})" if dates else ""
        raise TableError(
            f"{need} {listing(wrong)} {are} not continuous.", hint=hint(python=f"Fit the model on other columns{more}.")
        )


def _not_continuous(model: Any, raws: Sequence[RawColumn]) -> list[str]:
    """Return the names of the columns that the model does not read as numbers."""
    encoder = getattr(model, "encoder_", None)
    if encoder is not None:
        return list(encoder.categorical_)
    wrong = [raw.name for raw in raws if raw.kind not in (Kind.NUMBER, Kind.INTEGER)]
    n_categorical = len(getattr(getattr(model, "mixture_", None), "categories", ()))
    return wrong or [raw.name for raw in raws[2 - n_categorical :]]


def name_axes(raws: Sequence[RawColumn], ax: Any) -> None:
    """Name the axes after two columns; those of dates have dates as ticks."""
    for raw, axis in zip(raws, (ax.xaxis, ax.yaxis), strict=True):
        axis.set_label_text(f"{raw.name} (days)" if raw.kind is Kind.DURATION else raw.name)
        if raw.kind is Kind.DATE:
            dates = optional("matplotlib.dates", purpose="mixkern.plot")  # days since 1970 there as well
            locator = dates.AutoDateLocator(maxticks=6)
            axis.set_major_locator(locator)
            axis.set_major_formatter(dates.ConciseDateFormatter(locator))


def row_labels(y: Any, n: int, name: str = "y", classes: Iterable[Any] = ()) -> Labels:
    """Encode one label for each of n rows; ``None`` stands for no labels at all, ``Labels`` stay as they are."""
    if isinstance(y, Labels):
        labels = y
    else:
        labels = encode_labels(np.full(n, UNLABELLED) if y is None else y, min_classes=0, classes=classes)
    if len(labels.codes) != n:
        raise LabelError(f"{name} must have one label per row of X, {n}, but it has {len(labels.codes)}.")
    return labels


def around_centres(mixture: Mixture, column: int, reach: float, n_each: int = 21) -> Floats:  # (k, n_each)
    """Return coordinates around each centre, up to ``reach`` deviations, for a grid that misses no narrow component."""
    centres, deviations = mixture.means[:, column, None], np.sqrt(mixture.variances[:, column, None])
    return centres + deviations * np.linspace(-reach, reach, n_each)


def grey_components(mixture: Mixture, ax: Any) -> None:
    """Draw centres and unit ellipses in grey behind everything else, with a label for the legend."""
    for ellipse in ellipses(mixture, edgecolor=GREY, linewidth=1.5, zorder=1.5):
        ax.add_patch(ellipse)
    ax.scatter(*mixture.means.T, s=38, marker="+", color=GREY, linewidths=1.6, label=CENTRES, zorder=1.6)


def ellipses(mixture: Mixture, **style: Any) -> list[Any]:
    """Return the ellipse at Mahalanobis distance one around the centre of each component."""
    patches = optional("matplotlib.patches", purpose="mixkern.plot")
    sq_axes, directions = np.linalg.eigh(mixture.full_covariances)  # ascending
    widths, heights = 2 * np.sqrt(sq_axes[:, 1]), 2 * np.sqrt(sq_axes[:, 0])
    angles = np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))
    shapes = zip(mixture.means, widths, heights, angles, strict=True)
    return [patches.Ellipse(*shape, angle=angle, fill=False, **style) for *shape, angle in shapes]
