"""Cells that a spreadsheet takes for formulas: found and noted, and written with an apostrophe on request."""

from collections.abc import Collection
from typing import Any

import numpy as np

from mixkern.encoding.grammar import SIGNS, is_gap_word, number, unit_of
from mixkern.imports import optional
from mixkern.wording import shortened

STARTS = np.isin(np.arange(256), np.frombuffer(b"=+-@\t\r", np.uint8))  # by the first byte of a cell


class FormulaGuard:
    """Look for formulas in the blocks of a table, and put an apostrophe before them if wanted.

    Parameters
    ----------
    numbers : collection of str
        Columns that hold only numbers, which are not looked at.
    is_active : bool
        Whether to put an apostrophe before formulas.

    Examples
    --------
    >>> import pyarrow as pa
    >>> guard = FormulaGuard((), is_active=True)
    >>> guard(pa.table({"a": ["=1+1", "-5", "b"]}))["a"].to_pylist()
    ["'=1+1", '-5', 'b']
    """

    def __init__(self, numbers: Collection[str], *, is_active: bool) -> None:
        self._arrow = optional("pyarrow", purpose="Writing a table")
        self._compute = optional("pyarrow.compute", purpose="Writing a table")
        self._numbers, self._is_active = set(numbers), is_active
        self._n_found = 0
        self._example = ""

    def __call__(self, table: Any) -> Any:
        """Return a block, with an apostrophe before each formula if that is wanted."""
        pc = self._compute
        for i, name in enumerate(table.column_names):
            if name in self._numbers or not self._arrow.types.is_string(table.schema.types[i]):
                continue
            formulas = self._formulas(table.column(i))
            if not formulas:
                continue
            is_formula = pc.is_in(table.column(i), self._arrow.array(formulas))
            self._n_found += pc.sum(is_formula).as_py()
            self._example = self._example or f"{shortened(formulas[0], 30)!r} in column {name!r}"
            if self._is_active:
                guarded = pc.binary_join_element_wise("'", table.column(i), "")
                table = table.set_column(i, name, pc.if_else(is_formula, guarded, table.column(i)))
        return table

    def _formulas(self, column: Any) -> list[str]:
        """Return the distinct formulas of a column of texts."""
        found: dict[str, None] = {}
        for chunk in column.chunks:
            at = np.flatnonzero(_has_start(chunk))
            if len(at):
                some = self._compute.unique(chunk.take(self._arrow.array(at))).to_pylist()
                found |= dict.fromkeys(text for text in some if text is not None and _is_formula(text))
        return list(found)

    @property
    def notes(self) -> list[str]:
        """A note on the formulas that were found."""
        if not self._n_found:
            return []
        if self._n_found == 1:
            text, it, verb = f"A spreadsheet may take a cell for a formula: {self._example}.", "it", "It was"
        else:
            text = f"A spreadsheet may take {self._n_found:,} cells for formulas, such as {self._example}."
            it, verb = "each", "They were"
        if self._is_active:
            return [f"{text} An apostrophe was written before {it}."]
        return [f"{text} {verb} written unchanged; for an apostrophe before {it}: --guard-formulas"]


def _has_start(texts: Any) -> Any:
    """Return whether the first byte of each text is that of a formula."""
    _, offsets, content = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    if content is None or not content.size:
        return np.zeros(len(texts), bool)
    first = np.frombuffer(content, np.uint8)[np.minimum(starts[:-1], content.size - 1)]
    return STARTS[first] & (starts[1:] > starts[:-1])


def _is_formula(text: str) -> bool:
    """Return whether a text that begins like a formula is neither a number nor a gap.

    >>> [_is_formula(text) for text in ("=1+1", "-5", "-1.234,5 EUR", "-", "+49 30", "@x", "-NaN")]
    [True, False, False, False, True, True, False]
    """
    unit = unit_of(text)
    return len(text) > 1 and not is_gap_word(text) and not any(number(text, sign, unit) for sign in SIGNS)
