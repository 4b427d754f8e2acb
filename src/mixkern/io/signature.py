"""What the first bytes of a file say about it."""

from collections.abc import Collection

PARQUET = b"PAR1"
ZIP = b"PK"
_NOT_TABLES = (
    (b"\xd0\xcf\x11\xe0", "an Excel file: save it as CSV"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF: save the table as CSV"),
    (b"SQLite format 3\0", "an SQLite database: save the table as CSV"),
    (b"\x89HDF", "an HDF5 file: save the table as CSV or Parquet"),
    (b"\x93NUMPY", "a NumPy array: save it as CSV, with a line of column names"),
    (b"\x80\x04\x95", "a pickle, which could run code: save the table as CSV or Parquet"),
    (b"\x80\x05\x95", "a pickle, which could run code: save the table as CSV or Parquet"),
    (b"ARROW1", "a Feather file: save it as Parquet"),
    (b"ORC", "an ORC file: save it as Parquet"),
    (b"Obj\x01", "an Avro file: save it as Parquet"),
    (b"\x7fELF", "a program"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"Rar!", "a RAR archive: unpack it first"),
    (b"\x1f\x8b", "a file compressed twice: unpack it first"),
    (b"BZh", "a file compressed twice: unpack it first"),
    (b"\xfd7zXZ", "a file compressed twice: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a file compressed twice: unpack it first"),
    (b"PK\x03\x04", "a file compressed twice: unpack it first"),
)
_NOT_TEXTS = (
    (b"<!doctype", "a web page: save the table as CSV"),
    (b"<html", "a web page: save the table as CSV"),
    (b"<?xml", "an XML file: save the table as CSV"),
    (b'{"', "a JSON file: save the table as CSV"),
    (b"[{", "a JSON file: save the table as CSV"),
)
_TAR = slice(257, 262)


def compression(first: bytes) -> str | None:
    r"""Name the compression of a file by its first bytes, whatever the file is called.

    >>> compression(b"\x1f\x8b\x08"), compression(b"age,town")
    ('gzip', None)
    """
    if first.startswith(b"\x1f\x8b"):
        return "gzip"
    if first.startswith(b"BZh") and first[3:4].isdigit() and first[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if first.startswith(b"\xfd7zXZ\0"):
        return "xz"
    if first.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return "zip" if first.startswith((b"PK\x03\x04", b"PK\x05\x06")) else None


def no_table(first: bytes) -> str:
    r"""Say what a file looks like that is no table, and what to do; nothing where it may be one.

    >>> no_table(b"\x89PNG\r\n"), no_table(b"age,town")
    ('a picture', '')
    """
    if first[_TAR] == b"ustar":
        return "a tar archive: unpack it first"
    start = first[:64].lstrip().lower()
    return next(
        (what for magic, what in _NOT_TABLES if first.startswith(magic)),
        next((what for magic, what in _NOT_TEXTS if start.startswith(magic)), ""),
    )


def no_table_in_zip(members: Collection[str]) -> str:
    """Say what a zip archive looks like by the names of its members; nothing where it may be a compressed table.

    >>> no_table_in_zip(["[Content_Types].xml", "xl/workbook.xml"]), no_table_in_zip(["table.csv"])
    ('an Excel file: save it as CSV', '')
    """
    if "[Content_Types].xml" in members:
        is_sheet = any(name.startswith("xl/") for name in members)
        return "an Excel file: save it as CSV" if is_sheet else "an Office document: save the table as CSV"
    if "mimetype" in members:
        return "a LibreOffice file: save it as CSV"
    if "schema.json" in members or "mixkern.json" in members:
        return "a model rather than a table"
    if members and all(name.endswith(".npy") for name in members):
        return "NumPy arrays: save the table as CSV, with a line of column names"
    return ""
