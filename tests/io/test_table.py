"""What all tables in files have in common."""

import zipfile

import pandas as pd
import pyarrow as pa
import pytest

from mixkern.errors import OptionError, TableFileError
from mixkern.io import TableFile, table_file
from mixkern.io.table import pandas_frame


def test_frames_keep_types_and_count_on():
    frame = pandas_frame(pa.table({"a": ["x", None], "b": [1, 2]}), 5)
    assert frame["a"].tolist() == ["x", None]
    assert frame.dtypes.tolist() == [object, "int64"]
    assert frame.index.equals(pd.RangeIndex(5, 7))


def test_blocks_have_rows(written):
    with pytest.raises(OptionError, match="at least 1 row, but n_rows is 0"):
        next(table_file(written("a,b\n1,2\n")).blocks({}, n_rows=0))


def test_formats(written):
    assert table_file(written("a\tb,c\n1\t2\n"), format="tsv").columns == ("a", "b,c")
    assert table_file(written("a,b\n1,2\n"), format="csv").columns == ("a", "b")
    assert isinstance(table_file(str(written("a,b\n1,2\n"))), TableFile)
    with pytest.raises(OptionError, match="format must be one of 'csv', 'tsv', 'parquet', 'arrow', but it is 'xls'"):
        table_file(written("a\n1\n"), format="xls")


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (b"\x89PNG\r\n\x1a\n", "mine.csv looks like a picture."),
        (b"\xd0\xcf\x11\xe0", "mine.csv looks like an older Excel file: save it as .xlsx or CSV."),
        (b"<html>", "mine.csv looks like a web page: save the table as CSV."),
    ],
)
def test_what_is_no_table(written, first, what):
    with pytest.raises(TableFileError, match=f"^{what}$"):
        table_file(written(first + b"rest"))


def test_a_spreadsheet(tmp_path):
    with zipfile.ZipFile(tmp_path / "sheet.xlsx", "w") as archive:
        for name in ("[Content_Types].xml", "xl/workbook.xml"):
            archive.writestr(name, "")
    with pytest.raises(TableFileError, match=r"sheet.xlsx is not an Excel file, or damaged: .*\. Save it again\."):
        table_file(tmp_path / "sheet.xlsx")


def test_folders_and_files_that_are_not_there(tmp_path):
    with pytest.raises(TableFileError, match="is a folder"):
        table_file(tmp_path)
    with pytest.raises(TableFileError, match=r"no\.csv cannot be read: there is no such file"):
        table_file(tmp_path / "no.csv")
