"""Decide for each column whether it is read as numbers, as categories or as free text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mixkern.encoding.cell import EXCEPTIONS, Kind, are_dates, not_numbers
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.date import DateColumn
from mixkern.encoding.free_text import TextColumn, are_free_texts
from mixkern.encoding.grammar import COMMA, number, unit_of
from mixkern.encoding.raw_column import Coded, RawColumn, raw_columns
from mixkern.encoding.written import without_gap_words
from mixkern.errors import NotNumericError, hint
from mixkern.wording import few_lines, listing, names_argument, shortened

TableColumn = ContinuousColumn | CategoricalColumn | TextColumn  # dates are a kind of continuous columns

FEW_VALUES = 10  # up to this many distinct values, a whole number may be a measurement or a code


@dataclass(frozen=True)
class Inference:
    """How a column is read, and why."""

    column_type: type[TableColumn]
    reason: str = ""
    is_ambiguous: bool = False  # the column could be read in two ways: the user is warned
    conversion: str = ""  # a line of Python that converts the column
    refusal: str = ""  # the problem, where the user must decide before the column can be read
    is_identifier: bool = False  # distinguishes rows, such as a row number, a name or a key


def infer_columns(raws: Sequence[RawColumn], chosen: Mapping[int, Inference]) -> list[Inference]:
    """Return an inference for every column; one error lists all columns that the user must decide on.

    Parameters
    ----------
    raws : sequence of RawColumn
        The columns of a table.
    chosen : mapping from int to Inference
        The positions of columns that the user has decided on.
    """
    found = [chosen.get(i) or infer_column(raw) for i, raw in enumerate(raws)]
    refused = [(raw, inference.refusal) for raw, inference in zip(raws, found, strict=True) if inference.refusal]
    if refused:
        raise _mostly_numbers(refused)
    return found


def infer_column(raw: RawColumn) -> Inference:
    """Return how to read a column that the user has not decided on."""
    if raw.kind is Kind.INTEGER or _is_whole(raw):
        return _infer_whole(raw)
    if raw.kind is Kind.TEXT:
        return _infer_text(raw)
    if raw.kind is Kind.DATE:
        return Inference(DateColumn)
    is_number = raw.kind.is_numeric or raw.kind is Kind.EMPTY
    return Inference(ContinuousColumn if is_number else CategoricalColumn)


def identifiers(X: Any) -> list[str]:
    """Return the names of columns that seem to be identifiers: row numbers, names, keys.

    >>> identifiers([[i, f"k{7 * i}", i % 3 / 2] for i in range(20)])
    ['x0', 'x1']
    """
    return [raw.name for raw in raw_columns(X) if infer_column(raw).is_identifier]


def are_identifiers(n_distinct: int, n_texts: int) -> bool:
    """Return whether at least nine in ten texts are distinct.

    >>> are_identifiers(95, 100), are_identifiers(50, 100)
    (True, False)
    """
    return n_distinct >= n_texts - n_texts // EXCEPTIONS


def _is_whole(raw: RawColumn) -> bool:
    """Return whether a column of floats holds whole numbers: in pandas, one gap makes floats of integers.

    So a column is read in the same way whether or not a fold contains its gap.
    """
    return raw.kind is Kind.NUMBER and raw.are_whole()


def _infer_whole(raw: RawColumn) -> Inference:
    n_distinct, n_values, extent = raw.whole_values()
    if n_distinct == 2:
        reason = "whole numbers with 2 distinct values, read as categories"
        return Inference(CategoricalColumn, reason, is_ambiguous=True)
    if 2 < n_distinct <= FEW_VALUES:
        reason = f"whole numbers with 3 to {FEW_VALUES} distinct values, read as numbers"
        return Inference(ContinuousColumn, reason, is_ambiguous=True)
    is_numbering = n_distinct == n_values > FEW_VALUES and extent == n_values - 1
    if is_numbering:
        reason = "whole numbers that could be row numbers, read as numbers; drop them if they are identifiers"
        return Inference(ContinuousColumn, reason, is_ambiguous=True, is_identifier=True)
    return Inference(ContinuousColumn)


def _infer_text(raw: RawColumn) -> Inference:
    """Find numbers and dates stored as text, and identifiers."""
    coded = raw.coded()
    distinct = coded.distinct
    others = not_numbers(distinct, most=(len(distinct) + 1) // 2)
    texts = without_gap_words(coded)
    is_key = len(texts.distinct) > FEW_VALUES and are_identifiers(len(texts.distinct), len(texts) - texts.n_gaps())
    if len(distinct) > 1 and 2 * len(others) < len(distinct):
        return _infer_numeric_text(raw, coded, others, is_key)
    if _have_decimal_commas(distinct):
        reason = "texts that look like numbers with decimal commas, read as categories"
        otherwise = f"{raw.place} = pd.to_numeric({raw.place}.str.replace(',', '.'), errors='coerce')"
        conversion = _conversion(raw, otherwise)
        return Inference(CategoricalColumn, reason, is_ambiguous=True, conversion=conversion, is_identifier=is_key)
    if distinct and unit_of(distinct[0]) and raw.spelling() is not None:
        reason = "texts that look like numbers with a unit, read as categories"
        return Inference(CategoricalColumn, reason, is_ambiguous=True, conversion=_to_numeric(raw))
    if are_dates(distinct):
        reason = "texts that look like dates, read as categories"
        conversion = _conversion(raw, f"{raw.place} = pd.to_datetime({raw.place})")
        return Inference(CategoricalColumn, reason, is_ambiguous=True, conversion=conversion)
    if is_key and are_free_texts(texts.distinct):
        reason = "texts of several words, read by their contents; drop them if they are names or addresses"
        return Inference(TextColumn, reason, is_ambiguous=True)
    if is_key:
        reason = "texts that differ in nearly every row, read as categories; drop them if they are identifiers"
        return Inference(CategoricalColumn, reason, is_ambiguous=True, is_identifier=True)
    return Inference(CategoricalColumn)


def _have_decimal_commas(texts: Sequence[str]) -> bool:
    """Return whether most texts are numbers with a decimal comma; 1,234 alone may be a thousand.

    >>> _have_decimal_commas(["3,14", "2,5", "4"]), _have_decimal_commas(["1,234", "5,678"])
    (True, False)
    """
    if not any("," in text and re.fullmatch(r"[-+]?\d+,(\d{1,2}|\d{4,})", text.strip()) for text in texts):
        return False
    others = [text for text in texts if number(text, COMMA) is None]
    return len(texts) > 1 and 2 * len(others) < len(texts)


def _infer_numeric_text(raw: RawColumn, coded: Coded, others: list[str], is_key: bool) -> Inference:
    """Read texts that are mostly numbers; few distinct ones may be codes, many with exceptions must be corrected."""
    n_distinct = len(coded.distinct)
    if others and n_distinct > FEW_VALUES:
        row = coded.rows_of([coded.distinct.index(others[0])])[0]
        refusal = (
            f"{raw.name!r}: {n_distinct - len(others)} of {n_distinct} distinct values are numbers. Not a number: "
            f"{listing(map(shortened, others))}, first in row {row + 1}."
        )
        return Inference(CategoricalColumn, refusal=refusal)
    reason = f"texts that are {'mostly' if others else 'all'} numbers, read as categories"
    return Inference(CategoricalColumn, reason, is_ambiguous=True, conversion=_to_numeric(raw), is_identifier=is_key)


def _mostly_numbers(refused: Sequence[tuple[RawColumn, str]]) -> NotNumericError:
    """Return an error that lists the columns of texts that are numbers with a few exceptions."""
    names = [raw.name for raw, _ in refused]
    conversions = few_lines(list(dict.fromkeys(_to_numeric(raw) for raw, _ in refused)))
    first = "Some columns of texts are numbers for the most part; rows are counted from 1."
    return NotNumericError(
        "\n  ".join([first, *few_lines([refusal for _, refusal in refused])]),
        hint=hint(
            python="\n  ".join(["\nConvert them, with gaps in place of the rest:", *conversions])
            + f"\nOr read them as categories: TableEncoder(categorical={names}).",
            cli="\nIf these cells stand for gaps, name them: --gap TEXT."
            f"\nOr read the columns as categories: --categorical {names_argument(names)}.",
        ),
    )


def _to_numeric(raw: RawColumn) -> str:
    return _conversion(raw, f"{raw.place} = pd.to_numeric({raw.place}, errors='coerce')")


def _conversion(raw: RawColumn, otherwise: str) -> str:
    """Return the line of Python that converts a column: ``prepare_table`` where it reads all texts of a frame."""
    is_frame = not raw.place.startswith("X[:")
    return "X = mixkern.prepare_table(X).X" if is_frame and raw.spelling() is not None else otherwise
