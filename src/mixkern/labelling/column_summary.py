"""Where the value of a cell lies among those of all rows: a histogram of numbers, shares of categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.imports import pa, pc
from mixkern.labelling.table import LabelTable
from mixkern.typing import Floats
from mixkern.wording import brief, percent

N_BINS = 24
OUTER = 0.005  # share of the rows beyond each end of a histogram
RARE = 0.01  # share of rows below which a value is unusual
MOST_COMMON = 5  # categories that are listed
MOST_CATEGORIES = 200  # distinct values of a category
LONG_TEXT = 60.0  # mean length of a cell that is no category
OTHER_VALUE = 0.5  # difference of two categories, or of a value and a gap; that of two numbers is between 0 and 1


@dataclass(frozen=True, eq=False)
class NumberSummary:
    """The numbers of a column.

    Attributes
    ----------
    values : ndarray of shape (n,)
        All of them, NaN for a gap.
    ordered : ndarray
        Those that are no gaps, ascending.
    counts : tuple of int
        Histogram between ``low`` and ``high``; rows beyond count in the outer bins.
    low, high : float
        Ends of the histogram.
    texts : tuple of str
        The ends in full.
    ends : tuple of str
        The ends as they are shown beside the histogram: short, and different where the ends differ.
    """

    values: Floats
    ordered: Floats
    counts: tuple[int, ...]
    low: float
    high: float
    texts: tuple[str, str]
    ends: tuple[str, str]

    kind = "number"

    @classmethod
    def of(cls, values: Floats, write: Any, shorten: Any = None) -> "NumberSummary":
        """Summarise a column; ``write`` converts a number to text, ``shorten`` two of them to short texts."""
        ordered = np.sort(values[np.isfinite(values)])
        low, high = (
            (float(np.quantile(ordered, q, method="nearest")) for q in (OUTER, 1 - OUTER))
            if len(ordered)
            else (0.0, 0.0)
        )
        if low == high:
            low, high = (float(ordered[0]), float(ordered[-1])) if len(ordered) else (0.0, 0.0)
        bins = np.minimum((N_BINS * places(ordered, low, high)).astype(int), N_BINS - 1)
        counts = np.bincount(bins, minlength=N_BINS)
        texts = write(low), write(high)
        return cls(values, ordered, tuple(counts.tolist()), low, high, texts, shorten(low, high) if shorten else texts)

    def facts(self, position: int) -> dict[str, Any]:
        """Return where a row lies, for a card."""
        value = self.values[position]
        is_known = np.isfinite(value)
        at = float(places(value, self.low, self.high)) if is_known else None
        low, high = self.texts
        histogram = {"counts": self.counts, "at": at, "low": low, "high": high, "ends": self.ends}
        return {"histogram": histogram, "unusual": self._unusual(value) if is_known else ""}

    def difference(self, first: int, second: int) -> float:
        """Return how much two rows differ: the share of all rows between their numbers."""
        low, high = np.sort(self.values[[first, second]])  # a gap, NaN, comes last
        if not np.isfinite(high):
            return OTHER_VALUE if np.isfinite(low) else 0.0
        n_not_above, n_below = np.searchsorted(self.ordered, low, "right"), np.searchsorted(self.ordered, high, "left")
        return float((n_below - n_not_above + 1) / len(self.ordered)) if low < high else 0.0

    def _unusual(self, value: float) -> str:
        n = len(self.ordered)
        below = np.searchsorted(self.ordered, value, "left") / n
        above = 1 - np.searchsorted(self.ordered, value, "right") / n
        if below >= 1 - RARE:
            return f"Higher than {_most(below)} of rows."
        return f"Lower than {_most(above)} of rows." if above >= 1 - RARE else ""


@dataclass(frozen=True, eq=False)
class CategorySummary:
    """The categories of a column, as texts.

    Attributes
    ----------
    texts : sequence of str or None
        The cell of each row; None for a gap.
    shares : dict
        Share of the rows with each value.
    common : tuple of dict
        The most frequent ones.
    """

    texts: Any
    shares: dict[str, float]
    common: tuple[dict[str, Any], ...]

    kind = "category"

    @classmethod
    def of(cls, texts: Any, counts: dict[str, int]) -> "CategorySummary":
        """Summarise a column from the number of rows of each value."""
        shares = {text: count / len(texts) for text, count in counts.items()}
        ordered = sorted(shares, key=lambda text: (-shares[text], text))[:MOST_COMMON]
        return cls(texts, shares, tuple({"text": text[:LIMIT], "share": shares[text]} for text in ordered))

    def facts(self, position: int) -> dict[str, Any]:
        """Return the share of a row's value, for a card."""
        text = self.texts[position].as_py()
        share = None if text is None else self.shares[text]
        unusual = ""
        if share is not None and share < RARE and self.common[0]["share"] > 10 * share:
            unusual = f"{percent(share)} of rows have this value."
        return {"share": share, "common": self.common, "unusual": unusual}

    def difference(self, first: int, second: int) -> float:
        """Return how much two rows differ: whether their categories do."""
        return OTHER_VALUE if self.texts[first].as_py() != self.texts[second].as_py() else 0.0


@dataclass(frozen=True, eq=False)
class TextSummary:
    """A column of texts, or one that is not learned from: nothing is compared."""

    kind: str

    def facts(self, position: int) -> dict[str, Any]:  # noqa: ARG002
        """Return nothing."""
        return {"unusual": ""}

    def difference(self, first: int, second: int) -> float:  # noqa: ARG002
        """Return nothing: texts nearly always differ."""
        return 0.0


LIMIT = 60  # letters of a category in a list
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

Summary = NumberSummary | CategorySummary | TextSummary


def column_summaries(table: LabelTable) -> Sequence[Summary]:
    """Summarise every column that is shown.

    >>> import pandas as pd
    >>> table = LabelTable.of(pd.DataFrame({"age": [1.5, 2.0, 3.0], "sex": ["m", "f", "m"]}), target="risk")
    >>> [summary.kind for summary in column_summaries(table)]
    ['number', 'category']
    >>> column_summaries(table)[1].facts(0)["share"]
    0.6666666666666666
    """
    learned = set(table.X.column_names)
    return [
        _summary(table.X[name], table.without_gaps(name)) if name in learned else TextSummary("other")
        for name in table.columns
    ]


def _summary(typed: Any, texts: Any) -> Summary:
    kind = typed.type
    if pa.types.is_boolean(kind) or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        if pa.types.is_temporal(kind):
            return _dates(typed)
        counts = pc.value_counts(texts.drop_null()).to_pylist()
        if len(counts) > MOST_CATEGORIES or _mean_length(texts) > LONG_TEXT:
            return TextSummary("text")
        return CategorySummary.of(texts, {each["values"]: each["counts"] for each in counts})
    values = np.asarray(typed.cast(pa.float64(), safe=False).to_numpy(), dtype=float)
    has_commas = pa.types.is_floating(kind) and _has_decimal_commas(texts)
    return NumberSummary.of(values, lambda value: brief(value).replace(".", ",") if has_commas else brief(value))


def _has_decimal_commas(texts: Any) -> bool:
    """Return whether the last sign of more numbers is a comma than a point.

    >>> [_has_decimal_commas(pa.array(each)) for each in (["3,5", "1.250,0", None, "7"], ["1,250.5", "1,250", "0.5"])]
    [True, False]
    """
    commas, points = (
        pc.sum(pc.match_substring_regex(texts, rf"{sign}\d*[^.,]*$")).as_py() or 0 for sign in (",", r"\.")
    )
    return bool(commas > points)


def _dates(typed: Any) -> Summary:
    try:
        seconds = typed.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # times of day, durations
        return TextSummary("text")
    values = np.asarray(seconds.cast(pa.float64(), safe=False).to_numpy(), dtype=float)
    return NumberSummary.of(values, lambda second: str(np.datetime64(int(second), "s"))[:10], short_dates)


def short_dates(low: float, high: float) -> tuple[str, str]:
    """Return two dates, in seconds since 1970, as short texts: by their years, or what differs within a year or a day.

    >>> short_dates(1.5e9, 1.6e9), short_dates(1.5e9, 1.51e9), short_dates(1.5e9, 1.50001e9), short_dates(1.5e9, 1.5e9)
    (('2017', '2020'), ('14 Jul', '6 Nov'), ('02:40', '05:26'), ('2017', '2017'))
    """
    moments = [str(np.datetime64(int(second), "s")) for second in (low, high)]
    days, times = zip(*(each.split("T") for each in moments), strict=True)
    (first, *_), (last, *_) = dates = [day.rsplit("-", 2) for day in days]
    if first != last or moments[0] == moments[1]:
        return first, last
    if days[0] != days[1]:
        low_day, high_day = (f"{int(day)} {MONTHS[int(month) - 1]}" for _, month, day in dates)
        return low_day, high_day
    n = 5 if times[0][:5] != times[1][:5] else 8
    return times[0][:n], times[1][:n]


def places(values: Any, low: float, high: float) -> Any:
    """Return the places of numbers between two ends, from 0 to 1; those beyond are at the ends.

    >>> places(np.array([-1.0, 1.0, 4.0]), 0.0, 4.0).tolist(), float(places(3.0, 2.0, 2.0))
    ([0.0, 0.25, 1.0], 0.5)
    """
    half = high / 2 - low / 2  # the whole width may be too large for a number
    if not half > 0:
        return np.full(np.shape(values), 0.5)
    return np.clip((np.clip(values, low, high) / 2 - low / 2) / half, 0.0, 1.0)


def _most(share: float) -> str:
    """Return a share above 99 %.

    >>> _most(0.991), _most(0.9996)
    ('99 %', '99.9 %')
    """
    return f"{np.floor(1e3 * min(share, 0.999)) / 10:g} %" if share >= 0.995 else "99 %"


def _mean_length(texts: Any) -> float:
    mean = pc.mean(pc.utf8_length(texts)).as_py()
    return float(mean or 0.0)
