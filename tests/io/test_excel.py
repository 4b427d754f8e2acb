"""Tables in Excel files: types of cells, sheets, damaged and hostile files."""

import datetime as dt
import zipfile
from contextlib import suppress
from xml.sax.saxutils import escape

import pyarrow as pa
import pytest

from mixkern import TableEncoder, read_table
from mixkern.errors import FileFormatWarning, OptionError, TableFileError
from mixkern.io import excel, table_file

pytest.importorskip("python_calamine")

_SPACE = "http://schemas.openxmlformats.org"
_MAIN = f'xmlns="{_SPACE}/spreadsheetml/2006/main"'
_DOCUMENT = f"{_SPACE}/officeDocument/2006/relationships"
_PACKAGE = f'xmlns="{_SPACE}/package/2006/relationships"'
_DAY_ONE = dt.datetime(1899, 12, 30)


def cell(reference, value):
    if isinstance(value, bool):
        return f'<c r="{reference}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.datetime):
        return f'<c r="{reference}" s="1"><v>{(value - _DAY_ONE) / dt.timedelta(days=1)!r}</v></c>'
    if isinstance(value, str):
        return f'<c r="{reference}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{reference}"><v>{value!r}</v></c>'


def workbook(path, sheets, first_row=1):
    """Write a workbook; a sheet is a list of rows, or a dict of cells by their references."""
    relations = [(f"rId{i}", "worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(sheets) + 1)]
    relations.append(("rIdS", "styles", "styles.xml"))
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_SPACE}/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships {_PACKAGE}><Relationship Id="r" Type="{_DOCUMENT}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_DOCUMENT}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships {_PACKAGE}>"
        + "".join(f'<Relationship Id="{i}" Type="{_DOCUMENT}/{t}" Target="{part}"/>' for i, t, part in relations)
        + "</Relationships>",
        "xl/styles.xml": f'<styleSheet {_MAIN}><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>',
    }
    for i, rows in enumerate(sheets.values(), 1):
        if not isinstance(rows, dict):
            rows = {
                f"{'ABCDEFGH'[c]}{r}": value
                for r, row in enumerate(rows, first_row)
                for c, value in enumerate(row)
                if value is not None
            }
        cells = "".join(f"<row>{cell(reference, value)}</row>" for reference, value in rows.items())
        parts[f"xl/worksheets/sheet{i}.xml"] = f"<worksheet {_MAIN}><sheetData>{cells}</sheetData></worksheet>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return path


ROWS = [
    ["id", "size", "when", "ok", "town", "mixed", "word", "with gap"],
    [1, 1.5, dt.datetime(2024, 5, 31), True, "Köln", "a", "01", 3],
    [2, None, dt.datetime(2024, 6, 1, 12), False, None, 3, "20", "n/a"],
    [3, 3, None, None, " Ulm", 4.5, "3", 5],
]


def test_cells_have_their_types(tmp_path):
    table = table_file(workbook(tmp_path / "a.xlsx", {"Data": ROWS})).table()
    assert table.to_pydict() == {
        "id": [1, 2, 3],
        "size": [1.5, None, 3.0],
        "when": [dt.datetime(2024, 5, 31), dt.datetime(2024, 6, 1, 12), None],
        "ok": [True, False, None],
        "town": ["Köln", None, " Ulm"],
        "mixed": ["a", "3", "4.5"],
        "word": ["01", "20", "3"],
        "with gap": [3.0, None, 5.0],
    }
    assert table.schema.field("id").type == pa.int64()


def test_texts_are_read_as_those_of_a_text_file(tmp_path):
    rows = [["sum", "name", "share"], ["1", "x", "12.5 %"], ["2.5", "y", "3 %"], [None, "NA", "7.25 %"]]
    with pytest.warns(FileFormatWarning, match="'share'"):
        table = read_table(workbook(tmp_path / "a.xlsx", {"Data": rows}))
    assert table.arrow.to_pydict() == {"sum": [1, 2.5, None], "name": ["x", "y", None], "share": [12.5, 3, 7.25]}
    assert repr(table).splitlines()[1] == "  read as excel"


@pytest.mark.filterwarnings("ignore::mixkern.errors.FileFormatWarning")
def test_decimal_commas_in_texts_are_found(tmp_path):
    rows = [["id", "sum", "price"], [1, "1,5", "1.234,50 EUR"], [2, "2", "7,00 EUR"], [3, None, "8,25 EUR"]]
    path = workbook(tmp_path / "a.xlsx", {"Data": rows})
    table = read_table(path)
    assert str(table.notes[0]).startswith("Decimal commas were found: 1,5 is read as 1.5.")
    assert table.arrow.to_pydict() == {"id": [1, 2, 3], "sum": [1.5, 2, None], "price": [1234.5, 7, 8.25]}
    assert table.dialect.decimals == {"id": ".", "sum": ",", "price": ","}
    column = TableEncoder(continuous=["id"]).fit(table.frame).columns_[2]
    (block,) = table_file(path).blocks({"price": column}, 10)
    assert block.typed["price"].to_pylist() == [1234.5, 7, 8.25]
    assert read_table(path, decimal=".").arrow["sum"].to_pylist() == ["1,5", "2", None]


def test_blocks_have_all_cells(tmp_path):
    file = table_file(workbook(tmp_path / "a.xlsx", {"Data": ROWS}))
    blocks = list(file.blocks({}, 2))
    assert [(block.start, len(block)) for block in blocks] == [(0, 2), (2, 1)]
    assert blocks[1].cells["mixed"].to_pylist() == ["4.5"]


def test_the_first_of_several_sheets_is_read_with_a_note(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"Data": [["a", "b"], [1, 2]], "Old data": [["c", "d"], [3, 4]], "X": []})
    file = table_file(path)
    assert file.columns == ("a", "b")
    assert file.notes[-1].on("cli") == (
        "a.xlsx has 3 sheets, 'Data', 'Old data', 'X': the first one was read. For another: --sheet 'Old data'"
    )
    other = table_file(path, sheet="Old data")
    assert other.columns == ("c", "d")
    assert other.notes == ()
    with pytest.raises(TableFileError, match=r"has no sheet 'data'\. Did you mean 'Data'\? It has 'Data', 'Old data'"):
        table_file(path, sheet="data")


def test_rows_above_the_table_and_nameless_columns(tmp_path):
    rows = [[None, "size", None], [1, 5, "x"], [2, 6, "y"]]
    file = table_file(workbook(tmp_path / "a.xlsx", {"Data": rows}, first_row=4))
    assert file.table().column_names == ["size", "column 3"]
    assert file.line_of(1) == 6
    assert next(file.blocks({})).cells.column_names == ["", "size", "column 3"]
    rows = [[None, "size"], ["k-1", 5], ["k-2", 6]]
    file = table_file(workbook(tmp_path / "a.xlsx", {"Data": rows}))
    assert file.table().column_names == ["column 1", "size"]  # keys are no row numbers
    assert str(file.notes[0]) == "The first column has no name, and was called 'column 1'."


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "a.xlsx is empty"),
        ([["a", "b"]], "a.xlsx has a line of column names, but no rows"),
        ([["a", "a"], [1, 2]], "have the same name, 'a'"),
        ([[1, 2], [3, 4.5]], "expected column names, but found numbers"),
        ({"A1": "a", "A2": 1, "XFD1048576": 2}, "a sheet of 1,048,576 rows and 16,384 columns, which is too large"),
    ],
)
def test_sheets_that_are_no_tables(tmp_path, rows, message):
    with pytest.raises(TableFileError, match=message):
        table_file(workbook(tmp_path / "a.xlsx", {"Data": rows}))


def test_a_reference_between_two_pieces_of_the_file(tmp_path, monkeypatch):
    """The size is found however the bytes of the sheet are cut."""
    path = workbook(tmp_path / "a.xlsx", {"Data": {"A1": "a", "A2": 1, "XFD1048576": 2}})
    read = zipfile.ZipExtFile.read
    for size in range(70, 110):
        with monkeypatch.context() as patch:
            patch.setattr(zipfile.ZipExtFile, "read", lambda self, _n, size=size: read(self, size))
            with pytest.raises(TableFileError, match="too large"):
                excel._check_size(excel.TableSource(path))


def test_damaged_files(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"Data": ROWS})
    content = path.read_bytes()
    for i in range(30, len(content), 97):
        path.write_bytes(content[:i] + bytes([content[i] ^ 0x55]) + content[i + 1 :])
        with suppress(TableFileError):
            table_file(path).table()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(TableFileError):
        table_file(path)


def test_other_files_have_no_sheets(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OptionError, match=r"a\.csv has no sheets, because it is no Excel file"):
        table_file(tmp_path / "a.csv", sheet="Data")


def test_other_kinds_of_workbooks(tmp_path):
    for members, what in ((["xl/workbook.bin"], "an Excel file of another kind"), (["mimetype"], "a LibreOffice file")):
        with zipfile.ZipFile(tmp_path / "a.bin", "w") as archive:
            for name in ("[Content_Types].xml", *members) if "xl" in members[0] else members:
                archive.writestr(name, "x")
        with pytest.raises(TableFileError, match=rf"looks like {what}: save it as \.xlsx or CSV"):
            table_file(tmp_path / "a.bin")
