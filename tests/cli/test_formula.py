"""Cells that a spreadsheet takes for formulas."""

import pyarrow as pa
import pytest

from mixkern.cli.formula import FormulaGuard

FORMULAS = ["=1+1", "=cmd|' /C calc'!A0", "+SUM(A1)", "-x", "@SUM(1)", "\tx", "\r=1", "+49 30 1", "--5", "=\u00e4"]
OTHERS = [
    "",
    None,
    "-",
    "+",
    "=",
    "-5",
    "+1.5",
    "-1,5",
    "-1.234,50",
    "-12,5 %",
    "-$3.20",
    "-NaN",
    "a=b",
    " =1",
    "ä",
    "1-2",
]


def test_formulas_are_neither_numbers_nor_gaps():
    table = pa.table({"x": FORMULAS + OTHERS})
    guard = FormulaGuard((), is_active=True)
    assert guard(table)["x"].to_pylist() == [f"'{cell}" for cell in FORMULAS] + OTHERS
    (note,) = guard.notes
    assert note == (
        "A spreadsheet may take 10 cells for formulas, such as '=1+1' in column 'x'. An apostrophe was written before "
        "each."
    )


@pytest.mark.parametrize("sizes", [[26], [1, 25], [13, 0, 13]])
def test_blocks_slices_and_chunks(sizes):
    cells = pa.array(["before", *FORMULAS, *OTHERS]).slice(1)
    guard = FormulaGuard((), is_active=False)
    start = 0
    for size in sizes:
        part = pa.table({"x": cells.slice(start, size), "n": pa.array(range(size))})
        both = pa.concat_tables([part, part])
        assert guard(both).equals(both)
        start += size
    (note,) = guard.notes
    assert note.startswith("A spreadsheet may take 20 cells for formulas, such as '=1+1' in column 'x'. They were")
    assert note.endswith("written unchanged; for an apostrophe before each: --guard-formulas")


def test_a_single_formula():
    guard = FormulaGuard((), is_active=False)
    guard(pa.table({"x": ["=1+1", "a"]}))
    (note,) = guard.notes
    assert note == (
        "A spreadsheet may take a cell for a formula: '=1+1' in column 'x'. It was written unchanged; for an "
        "apostrophe before it: --guard-formulas"
    )


def test_columns_of_numbers_and_tables_without_formulas():
    guard = FormulaGuard(["x"], is_active=True)
    table = pa.table({"x": ["=1"], "empty": [""], "none": pa.nulls(1, pa.string()), "list": [[1]]})
    assert guard(table).equals(table)
    assert guard.notes == []
    assert guard(table.slice(0, 0)).num_rows == 0
