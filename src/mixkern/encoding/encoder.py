"""Encode a table as an array of floats."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mixkern import partitions
from mixkern.device import DTYPES, gpu_dtype
from mixkern.encoding.cell import Kind
from mixkern.encoding.column import FARTHEST, CategoricalColumn, Column, ContinuousColumn
from mixkern.encoding.date import DateColumn, some_rows, without_irrelevant_seasons
from mixkern.encoding.frame import (
    FRAME_KINDS,
    PANDAS,
    column_labels,
    frame_kind,
    make_frame,
    native_table,
    opened,
)
from mixkern.encoding.free_text import TextColumn
from mixkern.encoding.inference import TableColumn, infer_columns
from mixkern.encoding.matching import check_columns, keep_columns
from mixkern.encoding.numeric import encoded_rows
from mixkern.encoding.overrides import (
    COUNT,
    ColumnNames,
    Unseen,
    ambiguity_text,
    ignored_text,
    unseen_text,
    user_choices,
)
from mixkern.encoding.raw_column import RawColumn, raw_columns
from mixkern.errors import (
    ColumnChoiceWarning,
    ColumnMismatchError,
    IgnoredValuesWarning,
    UnseenCategoryWarning,
    warn,
)
from mixkern.fitting import all_or_nothing
from mixkern.gpu_array import as_cupy, dtype_name, is_gpu_array, on_device, to_gpu
from mixkern.partitions import PartitionedTable, PartitionedValues, is_collection, learns_partitions, maps_partitions
from mixkern.parts import NAMES, WHOLE, EstimatorParts, agree, check_width, model_part
from mixkern.threads import ThreadPool, available_threads
from mixkern.typing import Floats, Ints
from mixkern.validation import Rule

BLOCK = 2**14  # rows that are scaled at a time: their encoded columns stay in the cache
MANY_BLOCKS = 8  # from this many on, threads share them


class TableInput:
    """Mixin for estimators whose input is a table: numbers, texts, categories and gaps."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


@model_part("TableEncoder")
class TableEncoder(EstimatorParts, TableInput, TransformerMixin, BaseEstimator):
    """Encode a table as an array of floats: z-scores of continuous columns, codes of categorical ones.

    Densities and kernels need continuous columns on a common scale, categories as codes, and gaps kept as gaps. The
    encoder decides for each column whether it is continuous, categorical or free text, warns where two are possible,
    and drops no column.

    =====================================  ===========  ===================================================
    column of                              is read as   and encoded as
    =====================================  ===========  ===================================================
    floats, decimals                       continuous   z-scores
    whole numbers, three or more distinct  continuous   z-scores (with a warning up to ten distinct values)
    whole numbers, two distinct            categorical  codes (with a warning)
    dates                                  continuous   z-scores of days; codes of season and weekday
    durations, times of day                continuous   z-scores of days
    texts of several words                 text         z-scores of their contents, up to ten columns
    texts, booleans, pandas categories     categorical  codes 0, 1, ...; unseen ones get the next code
    gaps only                              continuous   NaN, in later tables too
    =====================================  ===========  ===================================================

    Whole numbers are integers, and floats without decimals: in pandas, one gap makes floats of integers. A gap
    (``None``, NaN, NaT, ``pandas.NA``) becomes NaN in either block. A column with one value stays: z-score 0, or
    code 0. Dates with a time zone are counted in UTC.

    Dates and texts may become several columns of the encoded array, such as ``since``, ``since: season`` and
    ``since: weekday``, or ``comment: text 1`` and ``comment: text 2``. A season is a quarter of a year. Season and
    weekday are there if they vary independently of the days: at least two seasons each occur in two years, at least
    two weekdays each in two weeks. A season is there only if another column varies with it. Texts are read by their
    contents if nine in ten differ, and half of them have three words or more: n-grams of characters, weighted by
    TF-IDF, along two or more principal directions, as many as have a larger variance than those of the same texts with
    their words shuffled. A date in ``continuous`` is one number.

    Each ``fit`` decides from its own rows. Naming columns in ``continuous`` and ``categorical`` keeps the decision
    the same across the folds of a cross-validation.

    Parameters
    ----------
    continuous : str, int or list of them, default=None
        Names or positions of columns to read as numbers; texts are parsed as in files, also dates, percentages and
        amounts of money. Where a pandas frame labels its columns with integers, an integer is such a label, not a
        position.
    categorical : str, int or list of them, default=None
        Names, positions or integer labels of columns to read as categories.

    Attributes
    ----------
    columns_ : tuple of ContinuousColumn, CategoricalColumn, DateColumn and TextColumn
        The fitted columns, in the order of the table.
    encoded_columns_ : tuple of ContinuousColumn and CategoricalColumn
        Their encoded columns, in the order of the table: one for each, several for dates and texts.
    continuous_, categorical_ : list of str
        Names of the columns in the two blocks of the encoded array; the continuous block comes first.
    n_continuous_ : int
        Where the second block begins.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has any.

    Warns
    -----
    ColumnChoiceWarning
        If a column could be read in two ways and is named neither in ``continuous`` nor in ``categorical``.
    UnseenCategoryWarning
        If ``transform`` finds categories that were absent in ``fit``; see :meth:`unseen`.
    IgnoredValuesWarning
        If ``transform`` finds values in a column that held only gaps in ``fit``.

    Examples
    --------
    >>> import pandas as pd
    >>> from mixkern.encoding import TableEncoder
    >>> people = pd.DataFrame({"age": [20.5, 40.5, None], "town": ["Kassel", "Passau", "Kassel"]})
    >>> encoder = TableEncoder().fit(people)
    >>> encoder.transform(people)
    array([[-1.,  0.],
           [ 1.,  1.],
           [nan,  0.]])
    >>> encoder.inverse_transform([[0.0, 1.0]])
        age    town
    0  30.5  Passau
    """

    _fitted_parts: ClassVar[dict[str, Rule]] = {
        "columns_": Rule("columns", lambda value: _are_columns(value)),
        "_fitted_kind": Rule("a library", lambda value: type(value) is str and value in FRAME_KINDS),
        "n_features_in_": WHOLE,
        "feature_names_in_": NAMES,
    }

    def __init__(self, *, continuous: ColumnNames = None, categorical: ColumnNames = None) -> None:
        self.continuous = continuous
        self.categorical = categorical

    @all_or_nothing
    @learns_partitions
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit each column: its type, and its mean and standard deviation or its categories.

        Parameters
        ----------
        X : pandas, polars or other frame, Arrow table or stream, ndarray, list of rows or Dask collection
            The table, with labelled and unlabelled rows.
        y : ignored
            Accepted for use in pipelines.

        Returns
        -------
        self
        """
        if isinstance(X, PartitionedTable):
            self._fit_partitions(X)
        else:
            self._fit(X)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit each column, and encode the table, whose cells are read once.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            As by :meth:`fit` and :meth:`transform`.
        """
        if is_collection(X):
            return self.fit(X, y).transform(X)
        if isinstance(X, PartitionedTable):
            return self.fit(X).encoded(X)
        return self._encoded(self._fit(X))

    def _fit(self, X: Any) -> list[RawColumn]:
        """Fit each column, and return the columns as they were read."""
        X = native_table(X)  # scikit-learn finds no names in a frame of narwhals
        raws = raw_columns(X)
        self._fit_columns(X, raws, len(raws[0].cells), partial(some_rows, raws))
        return raws

    def _fit_partitions(self, table: PartitionedTable) -> None:
        """Fit each column by its summary."""
        if len(table) <= partitions.FEW_ROWS:
            self._fit(table.some(np.arange(len(table))))
            return
        raws = table.summaries()
        self._fit_columns(table.head, raws, len(table), lambda rows: raw_columns(table.some(rows)))

    def _fit_columns(self, X: Any, raws: list[RawColumn], n: int, some: Callable[[Ints], list[RawColumn]]) -> None:
        chosen = user_choices([raw.name for raw in raws], self.continuous, self.categorical, column_labels(X))
        found = infer_columns(raws, chosen)
        columns = tuple(each.column_type.fit(raw, each.reason) for each, raw in zip(found, raws, strict=True))
        keep_columns(self, X)
        self.columns_: tuple[TableColumn, ...] = _with_unique_names(without_irrelevant_seasons(columns, n, some))
        self._fitted_kind = frame_kind(X)
        self._order = _order(self.encoded_columns_)
        is_array = not hasattr(self, "feature_names_in_")
        message, step = ambiguity_text([raw.name for raw in raws], found, is_array=is_array)
        if message:
            warn(message, ColumnChoiceWarning, hint=step)

    def encoded(self, table: PartitionedTable) -> PartitionedValues:
        """Return the encoded rows of a table in partitions, with what is known of their distinct values."""
        return table.values(self.encoded_part, len(self.encoded_columns_), self._known_values(table))

    def _known_values(self, table: PartitionedTable) -> list[tuple[Floats | None, int]] | None:
        """Return the distinct values of each continuous column, and their numbers; ``None`` if one is not known."""
        if any(isinstance(column, TextColumn) for column in self.columns_):
            return None
        known: list[tuple[Floats | None, int]] = []
        for column, raw in zip(self.columns_, table.summaries(), strict=True):
            if isinstance(column, ContinuousColumn):
                found = raw.summary(column.spelling)
                cells = None if found.distinct is None else RawColumn(column.name, column.kind, found.distinct)
                known.append((None if cells is None else np.unique(column.encode(cells)), found.n_values))
        return known

    def encoded_part(self, X: Any) -> Floats:
        """Encode some of the rows of the fitted table: no category is new, whether or not it was kept."""
        return self._encoded(self._matching(X), is_new=False)

    @maps_partitions
    def transform(self, X: Any) -> Floats:
        """Encode a table with the fitted columns.

        Parameters
        ----------
        X : pandas, polars or other frame, Arrow table or stream, ndarray or list of rows
            Same columns, in the same order, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Continuous block first, then codes; see :meth:`get_feature_names_out`.
        """
        return self._encoded(self._matching(X))

    def encodes_on_gpu(self, X: Any) -> bool:
        """Whether a table is an array of numbers that :meth:`gpu_scores` encodes."""
        is_array = isinstance(X, np.ndarray) or is_gpu_array(X)
        if not is_array or len(X.shape) != 2 or X.shape[1] != self.n_features_in_ or hasattr(self, "feature_names_in_"):
            return False
        is_number = dtype_name(X) in DTYPES
        return is_number and all(
            type(column) is ContinuousColumn and column.kind in (Kind.NUMBER, Kind.INTEGER) and column.n_values
            for column in self.columns_
        )

    def gpu_scores(self, X: Any) -> Any:  # (n, d)
        """Encode some rows of an array of numbers on a GPU; None where :meth:`transform` raises an error.

        Parameters
        ----------
        X : ndarray, or array of CuPy or PyTorch on a GPU
            Rows of a table for which :meth:`encodes_on_gpu` returned True.

        Returns
        -------
        array of CuPy, or None
            As by :meth:`transform`. The z-scores are computed in float64, and have the type of an ``X`` on a GPU, or
            else that of :func:`~mixkern.config`.
        """
        origins, means, deviations = (
            on_device(np.array([getattr(column, name) for column in self.columns_], dtype=float))
            for name in ("origin", "mean", "deviation")
        )
        values = as_cupy(X) if is_gpu_array(X) else to_gpu(X, X.dtype)
        dtype = values.dtype if is_gpu_array(X) else gpu_dtype()
        scores = ((values.astype(np.float64) - origins) - means) / deviations
        if (np.abs(scores) > FARTHEST).any():  # or infinite
            return None
        return scores.astype(dtype, copy=False)

    def _encoded(self, raws: list[RawColumn], *, is_new: bool = True) -> Floats:  # (n, n_columns)
        cells, columns = self._derived(raws), self.encoded_columns_
        encoded = np.empty((len(raws[0].cells), len(cells)))
        unseen: list[Unseen] = []
        ignored: dict[str, int] = {}
        plain: list[tuple[ContinuousColumn, RawColumn, Floats, Floats]] = []
        for target, i in enumerate(self._order):
            column = columns[i]
            values = column.plain_values(cells[i]) if isinstance(column, ContinuousColumn) else None
            if isinstance(column, ContinuousColumn) and values is not None:
                plain.append((column, cells[i], values, encoded[:, target]))
                continue
            encoded[:, target] = codes = column.encode(cells[i])
            if isinstance(column, ContinuousColumn):
                ignored[column.name] = column.n_ignored(cells[i])
            elif (codes == len(column.categories)).any():
                unseen.append(Unseen(column.name, column.unseen(cells[i]), int((~np.isnan(codes)).sum())))
        if not _are_scaled([(column, values, out) for column, _, values, out in plain]):
            for column, raw, _, _ in plain:
                column.encode(raw)  # raises the error
        if unseen and is_new:
            warn(unseen_text(unseen), UnseenCategoryWarning, hint=COUNT)
        if any(ignored.values()) and is_new:
            warn(ignored_text(ignored), IgnoredValuesWarning)
        return encoded

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Decode encoded rows, or other points on their scale such as component means.

        Parameters
        ----------
        X : array-like or frame of shape (n, n_columns)
            Z-scores and codes, as :meth:`transform` returns them. A frame must have the columns of
            :meth:`get_feature_names_out`, in any order.

        Returns
        -------
        frame
            Columns named and ordered as in the fitted table; numbers, dates (UTC) and durations in their own unit,
            categories as text, unseen ones as ``(other)``. A date comes from its days. Texts of several words cannot be
            decoded: they are ``None``. Of the library of ``X`` if that is a frame (with the index
            of a pandas frame), otherwise of the library of the fitted table: pandas, polars or pyarrow; pandas for a
            table that was an array.
        """
        check_is_fitted(self)
        encoded, index = encoded_rows(X, self.get_feature_names_out().tolist())
        kind = self.frame_kind_ if column_labels(native_table(X)) is None else frame_kind(X)
        decoded = self.decoded(encoded)
        nothing = np.full(len(encoded), None)
        table = {column.name: decoded.get(column.name, nothing) for column in self.columns_}
        return make_frame(table, kind, index=index, purpose="TableEncoder.inverse_transform")

    def decoded(self, encoded: Floats) -> dict[str, NDArray[Any]]:
        """Decode an array of encoded rows to arrays by encoded column, in the order of the table."""
        columns = self.encoded_columns_
        arrays = {i: columns[i].decode(encoded[:, j]) for j, i in enumerate(self._order)}
        return {column.name: arrays[i] for i, column in enumerate(columns)}

    @property
    def encoded_columns_(self) -> tuple[Column, ...]:
        """The encoded columns of all columns, in the order of the table."""
        return tuple(part for column in self.columns_ for part in column.parts)

    @property
    def frame_kind_(self) -> str:
        """Library of the frames that describe the fitted table: "pandas", "polars" or "pyarrow"."""
        kind: str = getattr(self, "_fitted_kind", PANDAS)  # not in files of earlier versions
        # The library of an encoder from a file may not be installed.
        return kind if kind != PANDAS and find_spec(kind) is not None else PANDAS

    def unseen(self, X: Any) -> dict[str, dict[str, int]]:
        """Count the cells whose category was absent in :meth:`fit`.

        Returns
        -------
        dict of dict
            ``{column: {category: number of cells}}``, empty if there are no unseen categories.
        """
        cells = self._derived(self._matching(X))
        pairs = zip(self.encoded_columns_, cells, strict=True)
        counts = {c.name: c.unseen(each) for c, each in pairs if isinstance(c, CategoricalColumn)}
        return {name: found for name, found in counts.items() if found}

    def describe(self) -> Any:
        """Describe how each column is read, and why.

        Returns
        -------
        frame
            Of the library of the fitted table, as by :meth:`inverse_transform`. One row per column of the table, whose
            name is the index in pandas, otherwise the first column: ``kind`` of its cells, ``read_as``, the numbers of
            ``gaps`` and ``categories``, ``mean`` and ``deviation`` in the column's own unit (days for dates),
            ``remark``.
        """
        check_is_fitted(self)
        summaries = [_summary(column) for column in self.columns_]
        facts: dict[str, Any] = {name: [each[name] for each in summaries] for name in summaries[0]}
        counts = facts["categories"]  # missing for a continuous column, which is not the same as 0
        facts["categories"] = np.ma.masked_array([n or 0 for n in counts], [n is None for n in counts])
        names = facts.pop("column")
        return make_frame(facts, self.frame_kind_, index=names, index_name="column", purpose="TableEncoder.describe")

    @property
    def continuous_(self) -> list[str]:
        """Names of the continuous columns, in the order of the encoded array."""
        return [column.name for column in self.encoded_columns_ if isinstance(column, ContinuousColumn)]

    @property
    def categorical_(self) -> list[str]:
        """Names of the categorical columns, in the order of the encoded array."""
        return [column.name for column in self.encoded_columns_ if isinstance(column, CategoricalColumn)]

    @property
    def n_continuous_(self) -> int:
        """Width of the continuous block."""
        return len(self.continuous_)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the columns of the encoded array.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the table's columns, if it has none itself.
        """
        check_is_fitted(self)
        names = [column.name for column in self.columns_]
        if input_features is not None:
            given = [str(name) for name in np.atleast_1d(np.asarray(input_features, dtype=object))]
            if len(given) != len(names):
                raise ColumnMismatchError(
                    f"input_features should have length equal to number of features ({len(names)}), got {len(given)}"
                )
            if hasattr(self, "feature_names_in_") and given != names:
                raise ColumnMismatchError("input_features is not equal to feature_names_in_")
            names = given
        pairs = zip(names, self.columns_, strict=True)
        encoded = [f"{name}{part.name[len(column.name) :]}" for name, column in pairs for part in column.parts]
        return np.array([encoded[i] for i in self._order], dtype=object)

    def _derived(self, raws: list[RawColumn]) -> list[RawColumn]:
        """Return the cells of all encoded columns, in the order of the table."""
        return [cells for column, raw in zip(self.columns_, raws, strict=True) for cells in column.derived(raw)]

    def _matching(self, X: Any) -> list[RawColumn]:
        """Return the columns of a table, which must be the fitted ones."""
        check_is_fitted(self)
        table = opened(X)
        # Before cells are read: an additional column may hold anything.
        check_columns(self, table, [column.name for column in self.columns_])
        return raw_columns(table, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def complete_parts(self) -> None:
        """Set the order of columns, and check their names."""
        if hasattr(self, "columns_"):
            names = [column.name for column in self.columns_]
            check_width(self, len(names))
            agree(list(getattr(self, "feature_names_in_", names)) == names, "names of columns")
            encoded = [part.name for part in self.encoded_columns_]
            agree(len(set(names)) == len(names) and len(set(encoded)) == len(encoded), "names of columns")
            starts = [part.name.startswith(column.name) for column in self.columns_ for part in column.parts]
            agree(all(starts), "names of columns")
            self._order = _order(self.encoded_columns_)


def _are_scaled(columns: list[tuple[ContinuousColumn, Floats, Floats]]) -> bool:
    """Write the z-scores of columns of numbers, in blocks of rows by several threads; False if some are too large."""
    n = len(columns[0][1]) if columns else 0

    def is_scaled(start: int) -> bool:
        rows, is_in_range = slice(start, start + BLOCK), True
        for column, values, out in columns:
            out[rows] = scores = column.scores(values[rows])
            is_in_range = is_in_range and not (np.abs(scores, out=scores) > FARTHEST).any()
        return is_in_range

    starts = range(0, n, BLOCK)
    if len(starts) < MANY_BLOCKS:
        return all(map(is_scaled, starts))
    with ThreadPool(available_threads()) as pool:
        return all(pool.map(is_scaled, starts))


def _are_columns(values: Any) -> bool:
    return isinstance(values, tuple) and bool(values) and all(isinstance(each, TableColumn) for each in values)


def _with_unique_names(columns: tuple[TableColumn, ...]) -> tuple[TableColumn, ...]:
    """Return columns whose parts have names of their own, where the table has a column of such a name already."""
    taken = {column.name for column in columns}
    found = list(columns)
    for i, column in enumerate(columns):
        if isinstance(column, (DateColumn, TextColumn)):
            names = []
            for part in column.parts:
                if part is column:
                    continue
                names.append(next(name for j in count(1) if (name := _numbered(part.name, j)) not in taken))
                taken.add(names[-1])
            found[i] = column.renamed(names)
    return tuple(found)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} ({number})"


def _order(columns: tuple[Column, ...]) -> list[int]:
    """Return the positions of columns in the order of the encoded array."""
    return [
        *(i for i, column in enumerate(columns) if isinstance(column, ContinuousColumn)),
        *(i for i, column in enumerate(columns) if isinstance(column, CategoricalColumn)),
    ]


def _summary(column: TableColumn) -> dict[str, Any]:
    """Return the row of a column in ``describe``."""
    mean = deviation = np.nan
    if isinstance(column, ContinuousColumn) and column.n_values:
        mean, deviation = column.origin + column.mean, column.deviation
    return {
        "column": column.name,
        "kind": str(column.kind),
        "read_as": _read_as(column),
        "gaps": column.n_gaps,
        "categories": len(column.categories) if isinstance(column, CategoricalColumn) else None,
        "mean": mean,
        "deviation": deviation,
        "remark": column.remark,
    }


def _read_as(column: TableColumn) -> str:
    if isinstance(column, TextColumn):
        return "text"
    return "continuous" if isinstance(column, ContinuousColumn) else "categorical"
