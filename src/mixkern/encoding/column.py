"""Encode one column as floats, and decode it.

A :class:`ContinuousColumn` is encoded as z-scores, a :class:`CategoricalColumn` as codes 0, 1, ... Both are frozen
and comparable, and keep no rows.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixkern.encoding.cell import DAY, LAST_DAY, Kind
from mixkern.encoding.grammar import is_gap_word
from mixkern.encoding.raw_column import Coded, RawColumn
from mixkern.encoding.spelling import Spelling
from mixkern.encoding.summary import ColumnSummary
from mixkern.errors import CellTypeError, InfiniteValueError, TableError, TooLargeError, hint
from mixkern.parts import model_part
from mixkern.typing import Floats
from mixkern.wording import counted

FARTHEST = 1e100  # a z-score: beyond, squares of distances overflow
LARGEST = float(np.finfo(float).max)
OTHER = "(other)"  # name of a category that was absent at fit time

_CONVERTERS = {Kind.DATE: "pd.to_datetime", Kind.DURATION: "pd.to_timedelta"}
# Other spellings of the categories of a boolean column.
_BOOLEANS = {"1": "True", "1.0": "True", "true": "True", "0": "False", "0.0": "False", "false": "False"}


@model_part("ContinuousColumn")
@dataclass(frozen=True)
class ContinuousColumn:
    """Mean and standard deviation of a column of numbers, dates or durations.

    The smallest value is subtracted before the mean: differences of close numbers are exact, so values around
    1e9 with a spread of 1e-6 keep their digits.
    """

    name: str
    kind: Kind
    n_values: int  # cells that are not gaps
    origin: float  # the smallest value, in the column's own unit
    mean: float  # above the origin
    deviation: float  # population standard deviation; 1 where all values are equal
    remark: str = ""
    n_gaps: int = 0
    spelling: Spelling | None = None  # of a column of texts: later ones are read in the same way

    def __post_init__(self) -> None:
        if not (self.deviation > 0 and self.n_values >= 0 and self.n_gaps >= 0):
            raise TableError(f"The deviation and the numbers of values and gaps of column {self.name!r} are not valid.")

    @classmethod
    def fit(cls, raw: RawColumn, remark: str = "") -> "ContinuousColumn":
        """Return the mean and standard deviation of the cells that are not gaps."""
        spelling = raw.spelling()
        if isinstance(raw, ColumnSummary):
            fitted = cls._of_summary(raw, spelling, remark)
        else:
            fitted = cls._of_values(_as_dates(raw, spelling), spelling, remark)
        return replace(fitted, spelling=spelling)

    @classmethod
    def _of_summary(cls, raw: ColumnSummary, spelling: Spelling | None, remark: str) -> "ContinuousColumn":
        """Return the mean and standard deviation of a column that was summarised."""
        found, n_gaps = raw.summary(spelling), raw.n_missing
        is_date = spelling is not None and spelling.kind is Kind.DATE
        kind = Kind.DATE if is_date else raw.kind
        if not found.n_values:
            return cls(raw.name, kind, 0, 0.0, 0.0, 1.0, "no value: read as gaps, now and later", n_gaps)
        with np.errstate(over="ignore"):
            extent = found.high - found.low
        if np.isinf(extent):
            raise _too_large(raw.name, np.array([found.low, found.high]))
        if not extent:
            remark = remark or "one value: becomes 0 in every row"
            return cls(raw.name, kind, found.n_values, found.low, 0.0, 1.0, remark, n_gaps)
        mean, deviation = float(found.above), found.deviation
        return cls(raw.name, kind, found.n_values, found.low, mean, deviation or extent, remark, n_gaps)

    @classmethod
    def _of_values(cls, raw: RawColumn, spelling: Spelling | None, remark: str) -> "ContinuousColumn":
        cells = _finite(raw, spelling)
        values = cells[~np.isnan(cells)]
        n_gaps = len(cells) - len(values)
        if len(values) == 0:
            return cls(raw.name, raw.kind, 0, 0.0, 0.0, 1.0, "no value: read as gaps, now and later", n_gaps)
        origin = float(values.min())
        with np.errstate(over="ignore"):
            above = values - origin
        extent = float(above.max())
        if np.isinf(extent):
            raise _too_large(raw.name, values)
        if not extent:
            remark = remark or "one value: becomes 0 in every row"
            return cls(raw.name, raw.kind, len(values), origin, 0.0, 1.0, remark, n_gaps)
        # In a unit near the extent, because sums and squares of tiny or huge numbers leave the range of a float.
        # A power of two: dividing by it is exact.
        exponent = np.frexp(extent)[1]
        scaled = np.ldexp(above, -exponent, out=above)
        mean, deviation = (float(np.ldexp(value, exponent)) for value in (scaled.mean(), scaled.std()))
        return cls(raw.name, raw.kind, len(values), origin, mean, deviation or extent, remark, n_gaps)

    @property
    def parts(self) -> "tuple[Column, ...]":
        """The encoded columns: this one."""
        return (self,)

    def derived(self, raw: RawColumn) -> list[RawColumn]:
        """Return the cells of each encoded column."""
        return [raw]

    def values(self, raw: RawColumn) -> Floats:  # (n,)
        """Return the cells as numbers in the column's own unit, gaps as NaN."""
        if self.kind is Kind.DATE:
            raw = _as_dates(raw, self.spelling or raw.spelling())
        self._check_kind(raw)
        return _finite(raw, self.spelling)

    def encode(self, raw: RawColumn) -> Floats:  # (n,)
        """Return z-scores, gaps as NaN."""
        if self.n_values == 0:
            return np.full(len(raw.cells), np.nan)
        values = self.values(raw)
        scores = self.scores(values)
        is_too_far = np.abs(scores) > FARTHEST
        if is_too_far.any():
            raise _too_large(raw.name, values[is_too_far])
        return scores

    def plain_values(self, raw: RawColumn) -> Floats | None:  # (n,)
        """Return cells that are numbers as they are, infinite ones included; None where they must be read first."""
        if self.n_values == 0 or not isinstance(raw.cells, np.ndarray):
            return None
        self._check_kind(raw)
        return raw.cells

    def scores(self, values: Floats) -> Floats:
        """Return z-scores of numbers in the column's own unit."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores: Floats = values - self.origin
            scores -= self.mean
            scores /= self.deviation
        return scores

    def n_ignored(self, raw: RawColumn) -> int:
        """Return the number of values that are read as gaps, because the column was empty at fit time."""
        if self.n_values or raw.kind is Kind.EMPTY:
            return 0
        return len(raw.cells) - raw.coded().n_gaps()

    def decode(self, scores: Floats) -> Any:  # (n,)
        """Return numbers, dates (UTC) or durations in the column's own unit, NaN or NaT for gaps."""
        with np.errstate(over="ignore"):  # the largest numbers, after rounding
            values = np.clip((scores * self.deviation + self.mean) + self.origin, -LARGEST, LARGEST)
        if self.kind not in (Kind.DATE, Kind.DURATION):
            return values
        dtype = "datetime64[us]" if self.kind is Kind.DATE else "timedelta64[us]"
        moments = np.full(len(values), "NaT", dtype=dtype)
        there = np.abs(values) < LAST_DAY
        moments[there] = np.rint(values[there] * DAY).astype("int64").astype(dtype)
        return moments

    def _check_kind(self, raw: RawColumn) -> None:
        """Raise an error for numbers in a column of dates, or the reverse: their unit is unknown."""
        moments = (Kind.DATE, Kind.DURATION)
        if raw.kind is Kind.EMPTY or raw.kind == self.kind:
            return
        if self.kind in moments or raw.kind in moments:
            is_readable = self.kind in _CONVERTERS and raw.kind in (Kind.TEXT, Kind.CATEGORY)
            step = f": {raw.place} = {_CONVERTERS[self.kind]}({raw.place})" if is_readable else ""
            raise CellTypeError(
                f"Column {raw.name!r} was fitted as {self.kind}, but is {raw.kind} now.",
                hint=hint(
                    python=f"Convert it to the type that it had{step}.",
                    cli="Write its cells as they were in the table that the model was fitted on.",
                ),
            )


@model_part("CategoricalColumn")
@dataclass(frozen=True)
class CategoricalColumn:
    """The categories of a column, in the order of their codes; the code after the last one means "other"."""

    name: str
    kind: Kind
    categories: tuple[str, ...]
    remark: str = ""
    n_gaps: int = 0

    def __post_init__(self) -> None:
        if len(set(self.categories)) < len(self.categories) or self.n_gaps < 0:
            raise TableError(f"The categories and the number of gaps of column {self.name!r} are not valid.")

    @classmethod
    def fit(cls, raw: RawColumn, remark: str = "") -> "CategoricalColumn":
        """Return the categories that occur, numbers by size and texts alphabetically."""
        coded = raw.coded()
        found = coded.distinct
        if raw.kind.is_numeric and raw.kind is not Kind.DATE:
            categories = sorted(found, key=lambda text: (_as_float(text), text))
        else:
            categories = sorted(found)
        if len(categories) == 1:
            remark = remark or "one category: the same in every row"
        return cls(raw.name, raw.kind, tuple(categories), remark, n_gaps=coded.n_gaps())

    @property
    def parts(self) -> "tuple[Column, ...]":
        """The encoded columns: this one."""
        return (self,)

    def derived(self, raw: RawColumn) -> list[RawColumn]:
        """Return the cells of each encoded column."""
        return [raw]

    def encode(self, raw: RawColumn) -> Floats:  # (n,)
        """Return codes, gaps as NaN, unseen categories as ``len(self.categories)``.

        A word for a gap, such as "?", is a gap unless it was a category at fit time.
        """
        code = {text: float(i) for i, text in enumerate(self.categories)}
        other = float(len(self.categories))
        coded = self._coded(raw)
        new = {text: np.nan if is_gap_word(text) else other for text in coded.distinct if text not in code}
        codes = [code[text] if text in code else new[text] for text in coded.distinct]
        return coded.taken(codes, np.nan, float)

    def unseen(self, raw: RawColumn) -> dict[str, int]:
        """Return the number of cells of each category that was absent at fit time, most frequent first."""
        known = set(self.categories)
        coded = self._coded(raw)
        counts = zip(coded.distinct, coded.counts().tolist(), strict=True)
        return dict(
            Counter({text: n for text, n in counts if text not in known and not is_gap_word(text)}).most_common()
        )

    def decode(self, codes: Floats) -> Any:  # (n,)
        """Return the categories as text, ``None`` for gaps."""
        names = np.array([*self.categories, OTHER, None], dtype=object)
        positions = np.where(np.isnan(codes), len(names) - 1, np.clip(np.rint(codes), 0, len(names) - 2))
        return names[positions.astype(int)]

    def _coded(self, raw: RawColumn) -> Coded:
        """Return cells as text; in a boolean column, 1 and "TRUE" are booleans too."""
        coded = raw.coded()
        if self.kind is not Kind.BOOLEAN or raw.kind is Kind.BOOLEAN:
            return coded
        return coded.mapped(lambda text: _BOOLEANS.get(text.lower(), text))


Column = ContinuousColumn | CategoricalColumn


def _as_dates(raw: RawColumn, spelling: Spelling | None) -> RawColumn:
    """Return texts that are dates as dates, other columns as they are."""
    return raw.dates(spelling) if raw.is_text and spelling and spelling.kind is Kind.DATE else raw


def _finite(raw: RawColumn, spelling: Spelling | None) -> Floats:
    values = raw.numbers(spelling if spelling and spelling.kind is Kind.NUMBER else None)
    rows = np.flatnonzero(np.isinf(values))
    if len(rows):
        raise InfiniteValueError(
            f"Column {raw.name!r} holds {counted(len(rows), 'infinite value')}, the first in {{row}}.",
            hint=hint(
                python="Replace them by numbers, or by gaps: X.replace([np.inf, -np.inf], np.nan).",
                cli="Replace them by numbers, or leave these cells empty.",
            ),
            row=int(rows[0]),
        )
    return values


def _too_large(name: str, values: Floats) -> TooLargeError:
    largest = float(np.max(np.abs(values)))
    return TooLargeError(
        f"Column {name!r} holds numbers up to {largest:.3g}, too large (infinite once squared or scaled) for "
        "double precision. Express the column in a larger unit, or take its logarithm."
    )


def _as_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.inf  # a boolean in a column of integers
