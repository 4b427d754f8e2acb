"""Whether a column is read as numbers or as categories, and why."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.encoding.column import CategoricalColumn, Column, ContinuousColumn
from mixkern.encoding.frame import Kind, RawColumn, raw_columns
from mixkern.encoding.gap import is_gap
from mixkern.encoding.lookalike import are_dates, are_identifiers, not_numbers
from mixkern.errors import NotNumericError, hint
from mixkern.wording import few_lines, listing, shortened

FEW_VALUES = 10  # up to this many distinct values, a whole number may be a measurement or a code


@dataclass(frozen=True)
class Reading:
    """How a column is read; ``is_choice`` where one could decide otherwise, so that the user should hear of it."""

    column_type: type[Column]
    reason: str = ""
    is_choice: bool = False
    advice: str = ""  # a line of Python that converts the column
    refusal: str = ""  # what is wrong, where it cannot be read until the user has decided
    is_identifier: bool = False  # tells rows apart, and says nothing about them


def readings(raws: Sequence[RawColumn], settled: Mapping[int, Reading]) -> list[Reading]:
    """Decide for every column; what the user must decide is refused in one error."""
    found = [settled.get(i) or reading(raw) for i, raw in enumerate(raws)]
    refused = [(raw, how.refusal) for raw, how in zip(raws, found, strict=True) if how.refusal]
    if refused:
        raise _mostly_numbers(refused)
    return found


def _mostly_numbers(refused: Sequence[tuple[RawColumn, str]]) -> NotNumericError:
    """Give an error that lists the columns of texts that are numbers but for a few."""
    names = [raw.name for raw, _ in refused]
    conversions = few_lines([_to_numeric(raw) for raw, _ in refused])
    first = "Some columns of texts are numbers for the most part; rows are counted from 1."
    return NotNumericError(
        "\n  ".join([first, *few_lines([why for _, why in refused])]),
        hint=hint(
            python="\n  ".join(["\nConvert them, with gaps in place of the rest:", *conversions])
            + f"\nOr read them as categories: TableEncoder(categorical={names}).",
            cli="\nIf these cells stand for gaps, name them: --gap TEXT."
            f"\nOr read the columns as categories: --categorical {shlex.quote(','.join(names))}.",
        ),
    )


def reading(raw: RawColumn) -> Reading:
    """Decide how to read a column that the user has said nothing about."""
    if raw.kind is Kind.INTEGER or _is_whole(raw):
        return _whole_reading(raw)
    if raw.kind is Kind.TEXT:
        return _text_reading(raw)
    is_number = raw.kind.is_numeric or raw.kind is Kind.EMPTY
    return Reading(ContinuousColumn if is_number else CategoricalColumn)


def identifiers(X: Any) -> list[str]:
    """Name the columns that seem to tell rows apart and to say nothing about them: row numbers, names, keys.

    >>> identifiers([[i, f"k{7 * i}", i % 3 / 2] for i in range(20)])
    ['x0', 'x1']
    """
    return [raw.name for raw in raw_columns(X) if reading(raw).is_identifier]


def _is_whole(raw: RawColumn) -> bool:
    """Tell whether floats are whole numbers: in pandas, one gap makes floats of integers.

    Whether the gap is among the rows must not matter, or else the folds of one table were read in two ways. From
    2^53 on every float is whole, and being so says nothing.
    """
    if raw.kind is not Kind.NUMBER:
        return False
    values = raw.numbers()
    there = values[~np.isnan(values)]
    return len(there) > 0 and bool(((np.abs(there) < 2**53) & (there == np.floor(there))).all())


def _whole_reading(raw: RawColumn) -> Reading:
    distinct, n_values = _distinct(raw)
    if len(distinct) == 2:
        reason = "whole numbers with 2 distinct values, read as categories"
        return Reading(CategoricalColumn, reason, is_choice=True)
    if 2 < len(distinct) <= FEW_VALUES:
        reason = f"whole numbers with 3 to {FEW_VALUES} distinct values, read as numbers"
        return Reading(ContinuousColumn, reason, is_choice=True)
    is_numbering = len(distinct) == n_values > FEW_VALUES and distinct[-1] - distinct[0] == n_values - 1
    if is_numbering:
        reason = "whole numbers that could be row numbers, read as numbers; drop them if they are identifiers"
        return Reading(ContinuousColumn, reason, is_choice=True, is_identifier=True)
    return Reading(ContinuousColumn)


def _distinct(raw: RawColumn) -> tuple[Sequence[Any], int]:
    """Give the distinct values, sorted, and the number of cells that are there."""
    if isinstance(raw.cells, np.ndarray) or raw.kind is Kind.NUMBER:
        values = raw.numbers()
        there = values[~np.isnan(values)]
        return np.unique(there).tolist(), len(there)
    cells = [int(cell) for cell in raw.cells if not is_gap(cell)]  # large integers may become equal as floats
    return sorted(set(cells)), len(cells)


def _text_reading(raw: RawColumn) -> Reading:
    """Look for numbers and dates stored as text, and for identifiers."""
    texts = raw.texts()
    cells = [text for text in texts if text is not None]
    distinct = list(dict.fromkeys(cells))  # in the order in which they come
    strange = not_numbers(distinct)
    if len(distinct) > 1 and 2 * len(strange) < len(distinct):
        return _numeric_text_reading(raw, texts, len(distinct), strange)
    if are_dates(distinct):
        reason = "texts that look like dates, read as categories"
        advice = f"{raw.place} = pd.to_datetime({raw.place})"
        return Reading(CategoricalColumn, reason, is_choice=True, advice=advice)
    if len(distinct) > FEW_VALUES and are_identifiers(len(distinct), len(cells)):
        reason = "texts that differ in nearly every row, read as categories; drop them if they are identifiers"
        return Reading(CategoricalColumn, reason, is_choice=True, is_identifier=True)
    return Reading(CategoricalColumn)


def _numeric_text_reading(raw: RawColumn, texts: list[str | None], n_distinct: int, strange: list[str]) -> Reading:
    """Read texts that are mostly numbers: with few distinct values they may be codes, with many they hardly are."""
    if strange and n_distinct > FEW_VALUES:
        refusal = (
            f"{raw.name!r}: {n_distinct - len(strange)} of {n_distinct} distinct values are numbers. Not a number: "
            f"{listing(map(shortened, strange))}, first in row {texts.index(strange[0]) + 1}."
        )
        return Reading(CategoricalColumn, refusal=refusal)
    reason = f"texts that are {'mostly' if strange else 'all'} numbers, read as categories"
    is_key = n_distinct > FEW_VALUES and are_identifiers(n_distinct, len(texts) - texts.count(None))
    return Reading(CategoricalColumn, reason, is_choice=True, advice=_to_numeric(raw), is_identifier=is_key)


def _to_numeric(raw: RawColumn) -> str:
    return f"{raw.place} = pd.to_numeric({raw.place}, errors='coerce')"
