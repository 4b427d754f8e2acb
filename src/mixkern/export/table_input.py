"""Inputs of an exported model, one for each column of the table, and their encoding as z-scores and codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.encoding import TableEncoder
from mixkern.encoding.cell import LAST_DAY, Kind, text
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.date import NAMES, SEASON, WEEKDAY, DateColumn
from mixkern.encoding.free_text import TextColumn
from mixkern.encoding.grammar import GAP_WORDS
from mixkern.errors import ExportError, hint
from mixkern.export.graph import ML, Graph, Tensor, onnx
from mixkern.wording import counted, listing

GAP = -1  # code of a missing category
ENCODED = "X"  # the input of a model of encoded rows
UNITS = {Kind.DATE: "days since 1970-01-01 in UTC", Kind.DURATION: "days"}
TEXT_GAPS = "an empty text, or a word for a gap such as NA"
NUMBER_GAPS = "NaN"


@dataclass(frozen=True)
class ModelInput:
    """One input of an exported model.

    Attributes
    ----------
    name : str
        Name of the input.
    column : str
        Name of the column of the table; it differs from the input's if that cannot be a name in ONNX.
    dtype : {"float64", "float32", "string"}
        Type of its cells.
    holds : str
        What is expected in it.
    gap : str
        What stands for a missing value.
    """

    name: str
    column: str
    dtype: str
    holds: str
    gap: str


@dataclass(frozen=True)
class EncodedTable:
    """The encoded rows in a graph.

    Attributes
    ----------
    numbers : Tensor or None
        Z-scores, (n, d), NaN for gaps; None where there are no continuous columns.
    codes : Tensor or None
        Categories as int64, (n, e), -1 for gaps; None where there are no categorical columns.
    inputs : tuple of ModelInput
        The inputs of the graph.
    """

    numbers: Tensor | None
    codes: Tensor | None
    inputs: tuple[ModelInput, ...]

    @property
    def n_rows(self) -> Tensor:
        """Number of rows, (1,)."""
        block = self.codes if self.numbers is None else self.numbers
        assert block is not None, "a table has columns"
        return block.length()


def encoded_table(graph: Graph, encoder: TableEncoder, dtype: str) -> EncodedTable:
    """Add an input for each column of a table to a graph, and encode all of them as the encoder does.

    Parameters
    ----------
    graph : Graph
        The graph.
    encoder : TableEncoder
        A fitted encoder.
    dtype : {"float64", "float32"}
        Type of the inputs of numbers; they are encoded in float64.
    """
    _check_columns(encoder.columns_)
    names = _names([column.name for column in encoder.columns_])
    inputs = tuple(_input(column, name, dtype) for column, name in zip(encoder.columns_, names, strict=True))
    graph.reserve([each.name for each in inputs])
    numbers: list[Tensor] = []
    codes: list[Tensor] = []
    for column, each in zip(encoder.columns_, inputs, strict=True):
        cells = graph.input(each.name, each.dtype, ["N", 1])
        if isinstance(column, CategoricalColumn):
            codes.append(_codes(graph, column, cells, dtype))
            continue
        assert isinstance(column, ContinuousColumn), "free texts were refused"
        values = cells.cast("float64")
        numbers.append(_scores(graph, column, values))
        if isinstance(column, DateColumn):
            codes += _calendar_codes(graph, column, values)
    return EncodedTable(
        graph.concat(numbers, axis=1) if numbers else None, graph.concat(codes, axis=1) if codes else None, inputs
    )


def encoded_rows(graph: Graph, n_continuous: int, n_categorical: int, dtype: str) -> EncodedTable:
    """Add one input of rows that are encoded already: z-scores, then category codes, NaN for gaps."""
    holds = "z-scores, then category codes" if n_categorical else "numbers"
    given = ModelInput(ENCODED, ENCODED, dtype, holds, NUMBER_GAPS)
    graph.reserve([ENCODED])
    d, n = n_continuous, n_continuous + n_categorical
    cells = graph.input(ENCODED, dtype, ["N", n]).cast("float64")
    numbers = cells.gather(range(d), axis=1) if d else None
    if not n_categorical:
        return EncodedTable(numbers, None, (given,))
    codes = cells.gather(range(d, n), axis=1)
    return EncodedTable(numbers, graph.where(codes.is_nan(), float(GAP), codes).cast("int64"), (given,))


def _check_columns(columns: Sequence[Any]) -> None:
    """Raise an error for columns that have no operators in ONNX."""
    texts = [column.name for column in columns if isinstance(column, TextColumn)]
    if texts:
        raise ExportError(
            f"{counted(len(texts), 'column')} of free text ({listing(texts)}) cannot be exported: ONNX has no operator "
            "for n-grams of characters within words.",
            hint=hint(
                python=f"Fit a model without it: X.drop(columns={texts!r}). Or predict in Python.",
                cli=f"Fit a model without it: mixkern fit ... --drop {','.join(texts)}. Or use mixkern predict.",
            ),
        )


def _names(columns: Sequence[str]) -> list[str]:
    """Return names of inputs: in ONNX, an empty name means that there is none.

    >>> _names(["age", "", "column 2"])
    ['age', 'column 2 (2)', 'column 2']
    """
    found = list(columns)
    for i, name in enumerate(columns):
        if not name:
            own = f"column {i + 1}"
            found[i] = own if own not in columns else f"{own} (2)"
    return found


def _input(column: Any, name: str, dtype: str) -> ModelInput:
    if not isinstance(column, CategoricalColumn):
        return ModelInput(name, column.name, dtype, UNITS.get(column.kind, "number"), NUMBER_GAPS)
    if column.kind is Kind.BOOLEAN:
        return ModelInput(name, column.name, dtype, "1 for true, 0 for false", NUMBER_GAPS)
    if numeric_categories(column) is not None:
        return ModelInput(name, column.name, dtype, UNITS.get(column.kind, "number, a category"), NUMBER_GAPS)
    holds = "date as text, such as 2024-05-01" if column.kind is Kind.DATE else "text, a category"
    return ModelInput(name, column.name, "string", holds, TEXT_GAPS)


def numeric_categories(column: CategoricalColumn) -> list[float] | None:
    """Return the categories of a column of numbers or booleans as floats; None where they are texts.

    >>> numeric_categories(CategoricalColumn("a", Kind.INTEGER, ("1", "2"))), numeric_categories(
    ...     CategoricalColumn("a", Kind.TEXT, ("1", "2"))
    ... )
    ([1.0, 2.0], None)
    """
    if column.kind is Kind.BOOLEAN:
        known = {"False": 0.0, "True": 1.0}
        return [known[each] for each in column.categories] if set(column.categories) <= set(known) else None
    if not column.kind.is_numeric or column.kind is Kind.DATE:
        return None
    try:
        values = [float(each) for each in column.categories]
    except ValueError:
        return None
    return values if [text(value) for value in values] == list(column.categories) else None  # not of long integers


def _scores(graph: Graph, column: ContinuousColumn, values: Tensor) -> Tensor:  # (n, 1)
    """Return z-scores; all gaps for a column that had no value at fit time."""
    if not column.n_values:
        return graph.where(values.is_nan(), np.nan, np.nan)
    return ((values - column.origin) - column.mean) / column.deviation


def _codes(graph: Graph, column: CategoricalColumn, cells: Tensor, dtype: str) -> Tensor:  # (n, 1)
    """Return codes of categories, -1 for gaps and the number of categories for those that were absent at fit time."""
    n, values = len(column.categories), numeric_categories(column)
    if values is None:
        gaps = [word for word in sorted(GAP_WORDS) if word not in column.categories]
        return graph.op(
            "LabelEncoder",
            cells,
            dtype="int64",
            domain=ML,
            keys_strings=[*column.categories, *gaps],
            values_int64s=[*range(n), *[GAP] * len(gaps)],
            default_int64=n,
        )
    keys = np.array(values, dtype=dtype).astype(float)  # as the cells are rounded
    if len(np.unique(keys)) < len(keys):
        raise ExportError(
            f"Column {column.name!r} has categories that are equal in float32.",
            hint=hint(
                python="Export with dtype='float64'.",
                cli="Export it in double precision, the default: mixkern export MODEL.",
            ),
        )
    numbers, tensor = cells.cast("float64"), onnx.numpy_helper.from_array
    found = graph.op(
        "LabelEncoder",
        numbers,
        dtype="float64",  # onnxruntime has none from float64 to int64
        domain=ML,
        keys_tensor=tensor(keys),
        values_tensor=tensor(np.arange(n, dtype=float)),
        default_tensor=tensor(np.array([float(n)])),
    )
    return graph.where(numbers.is_nan(), float(GAP), found).cast("int64")


def _calendar_codes(graph: Graph, column: DateColumn, days: Tensor) -> list[Tensor]:  # (n, 1) each
    """Return codes of season and weekday, those that the column has."""
    is_gap = days.is_nan()
    is_known = days.apply("Abs").less(LAST_DAY)  # not of NaN
    whole = graph.where(is_known, days, 0.0).apply("Floor")
    positions = {SEASON: _season, WEEKDAY: _weekday}
    found = []
    for name, part in column.extra.items():
        table = [
            part.categories.index(each) if each in part.categories else len(part.categories) for each in NAMES[name]
        ]
        codes = graph.constant(table, "int64").gather(positions[name](whole).cast("int64"))
        found.append(graph.where(is_gap, GAP, codes, "int64"))
    return found


def _weekday(days: Tensor) -> Tensor:
    """Return weekdays of whole days since 1970, Monday as 0."""
    return _remainder(days + 3.0, 7.0)


def _season(days: Tensor) -> Tensor:
    """Return quarters of the year of whole days since 1970, January to March as 0.

    The calendar is that of eras of 400 years which begin on the first of March, where leap days are last.
    """
    of_era = _remainder(days + 719468.0, 146097.0)
    leap = (of_era / 1460.0).apply("Floor") - (of_era / 36524.0).apply("Floor") + (of_era / 146096.0).apply("Floor")
    year = ((of_era - leap) / 365.0).apply("Floor")
    of_year = of_era - (365.0 * year + (year / 4.0).apply("Floor") - (year / 100.0).apply("Floor"))
    month = ((5.0 * of_year + 2.0) / 153.0).apply("Floor")  # March as 0
    return (_remainder(month + 2.0, 12.0) / 3.0).apply("Floor")


def _remainder(values: Tensor, divisor: float) -> Tensor:
    return values - divisor * (values / divisor).apply("Floor")
