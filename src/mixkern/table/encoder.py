"""The door through which a user's table comes in."""

from collections.abc import Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mixkern.errors import ColumnChoiceWarning, ColumnMismatchError, UnseenCategoryWarning, listing, nearest, warn
from mixkern.optional import optional
from mixkern.table.cell import Floats
from mixkern.table.column import CategoricalColumn, Column, ContinuousColumn
from mixkern.table.frame import RawColumn, raw_columns
from mixkern.table.reading import ColumnNames, Reading, reading, told


class TableEncoder(TransformerMixin, BaseEstimator):
    """Any table as one array of floats: z-scores of the continuous columns, codes of the categorical ones.

    Densities and kernels need to know which columns are measured and which are named, on a common scale and
    with gaps kept as gaps. The encoder decides column by column, says where the decision could have gone the
    other way, and drops nothing.

    =====================================  ===========  ==================================================
    a column of                            is read as   and becomes
    =====================================  ===========  ==================================================
    floats, decimals                       continuous   z-scores
    integers, three or more distinct       continuous   z-scores (announced up to ten distinct values)
    integers, two distinct                 categorical  codes (announced)
    floats that are integers with gaps     as integers  pandas has no other way to write them
    dates, durations, times of day         continuous   z-scores of days
    texts, booleans, pandas categories     categorical  codes 0, 1, ...; unseen ones get the next code
    nothing but gaps                       continuous   NaN, now and later
    =====================================  ===========  ==================================================

    A gap (``None``, NaN, NaT, ``pandas.NA``) becomes NaN in either block. A column with one value stays:
    z-score 0, or code 0. Dates with a time zone are counted in UTC.

    Parameters
    ----------
    continuous : str, int or list of them, default=None
        Names or positions of columns to read as numbers, whatever they look like. Texts are parsed.
    categorical : str, int or list of them, default=None
        Names or positions of columns to read as categories, whatever they look like.

    Attributes
    ----------
    columns_ : tuple of ContinuousColumn and CategoricalColumn
        What was learned, in the order of the table's columns.
    continuous_, categorical_ : list of str
        Names of the two blocks; the encoded array holds the first, then the second.
    n_continuous_ : int
        Where the second block begins.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names, where the table had any.

    Warns
    -----
    ColumnChoiceWarning
        Where a column could be read in two ways. Naming it in ``continuous`` or ``categorical`` settles it.
    UnseenCategoryWarning
        Where ``transform`` met categories that were not there in ``fit``; see :meth:`unseen`.

    Examples
    --------
    >>> import pandas as pd
    >>> from mixkern.table import TableEncoder
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

    def __init__(self, *, continuous: ColumnNames = None, categorical: ColumnNames = None) -> None:
        self.continuous = continuous
        self.categorical = categorical

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn each column's kind, scale and categories.

        Parameters
        ----------
        X : pandas or polars frame, ndarray or list of rows
            The table, labelled and unlabelled rows alike.
        y : ignored
            For pipelines.

        Returns
        -------
        self
        """
        X = nw.to_native(X, pass_through=True)  # scikit-learn finds no names in a frame of narwhals
        raws = raw_columns(X)
        settled = told([raw.name for raw in raws], self.continuous, self.categorical)
        readings = [settled.get(i) or reading(raw) for i, raw in enumerate(raws)]
        columns = tuple(how.column_type.fit(raw, how.reason) for how, raw in zip(readings, raws, strict=True))
        validate_data(self, X, skip_check_array=True)  # sets n_features_in_, so only now that nothing can fail
        self.columns_: tuple[Column, ...] = columns
        self._order = [
            *(i for i, column in enumerate(columns) if isinstance(column, ContinuousColumn)),
            *(i for i, column in enumerate(columns) if isinstance(column, CategoricalColumn)),
        ]
        _announce(columns, readings)
        return self

    def transform(self, X: Any) -> Floats:
        """Encode a table with the columns that were fitted.

        Parameters
        ----------
        X : pandas or polars frame, ndarray or list of rows
            Same columns, in the same order, as in :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
            Continuous block first, then codes; see :meth:`get_feature_names_out`.
        """
        raws = self._matching(X)
        encoded = np.empty((len(raws[0].cells), len(raws)))
        other: dict[str, dict[str, int]] = {}
        for target, i in enumerate(self._order):
            column = self.columns_[i]
            encoded[:, target] = column.encode(raws[i])
            if isinstance(column, CategoricalColumn) and (encoded[:, target] == len(column.categories)).any():
                other[column.name] = column.unseen(raws[i])
        if other:
            warn(_unseen_message(other), UnseenCategoryWarning)
        return encoded

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Put encoded rows, or what is on their scale such as component means, back into the table's own words.

        Parameters
        ----------
        X : array-like of shape (n, n_columns)
            Z-scores and codes, as :meth:`transform` gives them.

        Returns
        -------
        pandas.DataFrame
            Columns named and ordered as in the fitted table; numbers, dates (UTC) and durations in their own unit,
            categories as text, unseen ones as ``(other)``.
        """
        check_is_fitted(self)
        pandas = optional("pandas", purpose="TableEncoder.inverse_transform")
        encoded = np.asarray(X, dtype=float)
        if encoded.ndim != 2 or encoded.shape[1] != len(self.columns_):
            raise ColumnMismatchError(
                f"Expected encoded rows of {len(self.columns_)} columns, but X has shape {encoded.shape}."
            )
        decoded = {i: self.columns_[i].decode(encoded[:, j]) for j, i in enumerate(self._order)}
        return pandas.DataFrame({column.name: decoded[i] for i, column in enumerate(self.columns_)})

    def unseen(self, X: Any) -> dict[str, dict[str, int]]:
        """Count the cells whose category was not there in :meth:`fit`.

        Returns
        -------
        dict of dict
            ``{column: {category: number of cells}}``, empty where all categories are known.
        """
        raws = self._matching(X)
        pairs = zip(self.columns_, raws, strict=True)
        counts = {c.name: c.unseen(raw) for c, raw in pairs if isinstance(c, CategoricalColumn)}
        return {name: found for name, found in counts.items() if found}

    def describe(self) -> Any:
        """Say how each column was read, and why.

        Returns
        -------
        pandas.DataFrame
            One row per column of the table: ``kind`` of its cells, ``read_as``, ``categories`` (how many), ``mean``
            and ``deviation`` in the column's own unit (days for dates), ``remark``.
        """
        check_is_fitted(self)
        pandas = optional("pandas", purpose="TableEncoder.describe")
        return pandas.DataFrame([_summary(column) for column in self.columns_]).set_index("column")

    @property
    def continuous_(self) -> list[str]:
        """Names of the continuous columns, in the order of the encoded array."""
        return [column.name for column in self.columns_ if isinstance(column, ContinuousColumn)]

    @property
    def categorical_(self) -> list[str]:
        """Names of the categorical columns, in the order of the encoded array."""
        return [column.name for column in self.columns_ if isinstance(column, CategoricalColumn)]

    @property
    def n_continuous_(self) -> int:
        """Width of the continuous block."""
        return len(self.continuous_)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the columns of the encoded array.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the table's columns, if it came without.
        """
        check_is_fitted(self)
        names = [column.name for column in self.columns_]
        if input_features is not None:
            given = [str(name) for name in np.asarray(input_features, dtype=object)]
            if len(given) != len(names):
                raise ColumnMismatchError(
                    f"input_features should have length equal to number of features ({len(names)}), got {len(given)}"
                )
            if hasattr(self, "feature_names_in_") and given != names:
                raise ColumnMismatchError("input_features is not equal to feature_names_in_")
            names = given
        return np.array([names[i] for i in self._order], dtype=object)

    def _matching(self, X: Any) -> list[RawColumn]:
        """Read a table and make sure that it has the fitted columns."""
        check_is_fitted(self)
        X = nw.to_native(X, pass_through=True)
        raws = raw_columns(X)
        try:
            validate_data(self, X, skip_check_array=True, reset=False)
        except ValueError as error:
            known = [column.name for column in self.columns_]
            new = [raw.name for raw in raws if raw.name not in known]
            hints = [f"{name!r}:{near}" for name in new[:5] if (near := nearest(name, known))]
            raise ColumnMismatchError("\n".join([str(error).rstrip(), *hints])) from error
        return raws

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "columns_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _announce(columns: Sequence[Column], readings: Sequence[Reading]) -> None:
    """Warn once of every column that could be read in two ways."""
    names: dict[str, list[str]] = {}
    for column, how in zip(columns, readings, strict=True):
        if how.is_choice:
            names.setdefault(how.reason, []).append(column.name)
    if names:
        lines = [f"{listing(found)}: {reason}" for reason, found in names.items()]
        warn(
            "\n  ".join(["Some columns could be read in two ways.", *lines])
            + "\nTo settle a column, name it: TableEncoder(continuous=[...], categorical=[...]).",
            ColumnChoiceWarning,
        )


def _unseen_message(other: dict[str, dict[str, int]]) -> str:
    n_cells = sum(sum(counts.values()) for counts in other.values())
    first = f"{n_cells} cell(s) hold categories that were not there at fit time; they are coded as 'other'."
    return "\n  ".join([first, *(f"{name!r}: {_tally(counts)}" for name, counts in other.items())])


def _tally(counts: dict[str, int], limit: int = 5) -> str:
    shown = ", ".join(f"{category!r} ({count})" for category, count in list(counts.items())[:limit])
    return shown + (f" and {len(counts) - limit} more" if len(counts) > limit else "")


def _summary(column: Column) -> dict[str, Any]:
    """Put what was learned of a column into one row of a frame."""
    is_number = isinstance(column, ContinuousColumn)
    row = {"column": column.name, "kind": str(column.kind), "read_as": "continuous" if is_number else "categorical"}
    if isinstance(column, CategoricalColumn):
        learned = {"categories": len(column.categories), "mean": np.nan, "deviation": np.nan}
    elif column.n_values == 0:
        learned = {"categories": 0, "mean": np.nan, "deviation": np.nan}
    else:
        learned = {"categories": 0, "mean": column.origin + column.mean, "deviation": column.deviation}
    return {**row, **learned, "remark": column.remark}
