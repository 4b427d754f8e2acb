"""Cells that a spreadsheet takes for formulas: found and noted, and written with an apostrophe on request."""

from collections.abc import Collection
from typing import Any

from mixkern.encoding.grammar import SIGNS, is_gap_word, number, unit_of
from mixkern.imports import pa, pc
from mixkern.wording import shortened

STARTS = tuple("=+-@\t\r")  # of a formula


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
        self._numbers, self._is_active = set(numbers), is_active
        self._n_found = 0
        self._example = ""

    def __call__(self, table: Any) -> Any:
        """Return a block, with an apostrophe before each formula if that is wanted."""
        for i, name in enumerate(table.column_names):
            if name in self._numbers or not pa.types.is_string(table.schema.types[i]):
                continue
            formulas = _formulas(table.column(i))
            if not formulas:
                continue
            is_formula = pc.is_in(table.column(i), pa.array(formulas))
            self._n_found += pc.sum(is_formula).as_py()
            self._example = self._example or f"{shortened(formulas[0], 30)!r} in column {name!r}"
            if self._is_active:
                guarded = pc.binary_join_element_wise("'", table.column(i), "")
                table = table.set_column(i, name, pc.if_else(is_formula, guarded, table.column(i)))
        return table

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


def _formulas(column: Any) -> list[str]:
    """Return the distinct formulas of a column of texts."""
    has_start = pc.is_in(pc.utf8_slice_codeunits(column, 0, 1), pa.array(STARTS))
    return [text for text in pc.unique(column.filter(has_start)).to_pylist() if _is_formula(text)]


def _is_formula(text: str) -> bool:
    """Return whether a text that begins like a formula is neither a number nor a gap.

    >>> [_is_formula(text) for text in ("=1+1", "-5", "-1.234,5 EUR", "-", "+49 30", "@x", "-NaN")]
    [True, False, False, False, True, True, False]
    """
    unit = unit_of(text)
    return len(text) > 1 and not is_gap_word(text) and not any(number(text, sign, unit) for sign in SIGNS)
