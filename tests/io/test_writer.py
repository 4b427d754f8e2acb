"""Tables in files: whole, exact, or not there; text in the dialect that was read."""

import codecs
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

from mixkern.errors import TableFileError
from mixkern.io import Dialect, table_file, table_writer
from mixkern.io.table import pandas_frame

FRAME = pd.DataFrame(
    {
        "x": [0.1, 1e6 + 1 / 3, np.nan, -1e-300],
        "n": [1, 2**53 + 1, 3, 4],
        "text": ["a,b", 'say "no"', None, "line\nbreak"],
        "when": pd.to_datetime(["2024-05-31 00:00", "2024-06-01 12:00", None, "1970-01-01 00:00"]),
    }
)


def write(path, frames, dialect=None):
    with table_writer(path, dialect) as write_table:
        for frame in frames:
            write_table(frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False))
    return path


def read(path):
    return pandas_frame(table_file(path).table())


def dialect(**changes):
    return Dialect(
        **{"format": "csv", "delimiter": ";", "encoding": "cp1252", "decimals": {"a": ",", "b": ","}} | changes
    )


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab", "a.txt", "a.csv.gz", "a.tsv.bz2", "a.csv.xz", "A.CSV"])
def test_text_is_read_again_as_it_was(tmp_path, name):
    found = read(write(tmp_path / name, [FRAME[:3], FRAME[3:]]))
    assert found["x"].to_numpy().tobytes() == FRAME["x"].to_numpy().tobytes()
    assert found["n"].tolist() == FRAME["n"].tolist()
    assert found["text"].tolist() == ["a,b", 'say "no"', None, "line\nbreak"]
    assert (found["when"] == FRAME["when"]).tolist() == [True, True, False, True]


def test_numbers_have_all_their_digits(tmp_path):
    values = np.random.RandomState(0).rand(2000) * 10.0 ** np.random.RandomState(1).randint(-20, 20, 2000)
    lines = write(tmp_path / "a.csv", [pd.DataFrame({"a": values})]).read_text().split()[1:]
    assert np.array(list(map(float, lines))).tobytes() == values.tobytes()


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "\r", '"\r,'])
def test_every_line_break_is_quoted(tmp_path, text):
    frame = pd.DataFrame({"a": [text, "c"], "b": [1.5, 2.5], "c": [None, "d"]})
    found = read(write(tmp_path / "a.csv", [frame]))
    assert len(found) == 2
    assert found["a"].iloc[0] in (text, None)
    assert found["b"].tolist() == [1.5, 2.5]


def test_parquet_is_exact(tmp_path):
    found = pd.read_parquet(write(tmp_path / "a.parquet", [FRAME[:3], FRAME[3:]]))
    pd.testing.assert_frame_equal(found, FRAME, check_exact=True, check_dtype=False)


def test_parquet_of_texts_that_begin_with_gaps(tmp_path):
    cells = np.array([None, None, "a", None], dtype=object)
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": [1, 2, 3, 4]})
    found = pd.read_parquet(write(tmp_path / "a.parquet", [frame[:2], frame[2:]]))
    assert found["a"].isna().tolist() == [True, True, False, True]
    assert found["a"].iloc[2] == "a"


def test_parquet_refuses_a_column_that_changes(tmp_path):
    with pytest.raises(TableFileError, match=r"cannot be written as Parquet: .* Write a \.csv file\."):
        write(tmp_path / "a.parquet", [pd.DataFrame({"a": [1]}), pd.DataFrame({"a": ["x"]})])
    assert list(tmp_path.iterdir()) == []


def test_equal_tables_make_equal_files(tmp_path):
    a, b = (write(tmp_path / f"{name}.csv.gz", [FRAME]).read_bytes() for name in "ab")
    assert a == b
    assert gzip.decompress(a).startswith(b"x,n,text,when\n")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.xz", "a.parquet"])
def test_a_failure_leaves_the_old_file(tmp_path, name, error):
    (tmp_path / name).write_text("old")

    def frames():
        yield FRAME
        raise error

    with pytest.raises(error):
        write(tmp_path / name, frames())
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


@pytest.mark.parametrize("name", ["a", "a.xlsx", "a.gz", "a.parquet.gz", "a.arrow.xz", "a.zip", ".csvx"])
def test_other_ends_of_names_are_refused_before_anything_is_written(tmp_path, name):
    with (
        pytest.raises(TableFileError, match=r"does not end like a table: use \.csv, \.tsv, \.parquet or \.arrow"),
        table_writer(tmp_path / name),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(
            TableFileError, match=rf"a\.csv cannot be written: there is no folder '{folder}'\. Create it\."
        ):
            write(folder / "a.csv", [FRAME])
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_full_disk(tmp_path):
    def full(_):
        raise OSError(28, "No space left on device")

    with (
        pytest.raises(TableFileError, match=r"a\.csv cannot be written: No space left on device\."),
        table_writer(tmp_path / "a.csv"),
    ):
        full(FRAME)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error_of_the_table(tmp_path):
    with pytest.raises(BrokenPipeError), table_writer(tmp_path / "a.csv"):
        raise BrokenPipeError


def test_standard_output(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    write("-", [pd.DataFrame({"ä": ["🙂"]}), pd.DataFrame({"ä": ["b"]})])
    assert stream.buffer.getvalue().decode() == "ä\n🙂\nb\n"


# ---------------------------------------------------------------- the same bytes as pandas writes

WORDS = ("", "a", "a,b", 'say "no"', "line\nbreak", " lead", "0012", "ä€🙂", "=1+1", "NA", '"', "\t", "9" * 30, None)


def random_column(random, n):
    kind = random.randint(6)
    if kind == 0:
        return pd.Series([WORDS[i] for i in random.randint(len(WORDS), size=n)], dtype=object)
    if kind == 1:
        return pd.Series(random.randint(-5, 5, size=n) * 10 ** random.randint(0, 17))
    if kind == 2:
        return pd.Series(np.where(random.rand(n) < 0.2, np.nan, random.randn(n) * 10.0 ** random.randint(-20, 20, n)))
    if kind == 3:
        return pd.Series(random.rand(n) < 0.5)
    if kind == 4:
        return pd.Series(random.randint(-9, 9, size=n) * 10.0 ** random.randint(-6, 18, n))
    unit = ("D", "h", "s")[random.randint(3)]
    moments = pd.Series(random.randint(0, 9000, size=n).astype(f"M8[{unit}]"))
    moments[0] = pd.NaT if random.rand() < 0.3 else moments[0]
    return moments.dt.tz_localize("Asia/Tokyo") if random.rand() < 0.3 else moments


def test_text_has_the_bytes_that_pandas_writes(tmp_path):
    random = np.random.RandomState(0)
    for _ in range(200):
        n = random.randint(1, 9)
        names = [str(WORDS[i]) for i in random.permutation(len(WORDS) - 1)[: random.randint(1, 5)]]
        frame = pd.DataFrame({name: random_column(random, n) for name in names})
        found = write(tmp_path / "a.csv", [frame]).read_bytes()
        assert found == frame.to_csv(index=False, lineterminator="\n").encode(), frame


def test_any_float_has_the_text_of_python(tmp_path):
    random = np.random.RandomState(0)
    values = np.frombuffer(random.bytes(80_000), dtype=float)
    values = np.concatenate([values[np.isfinite(values)], random.rand(5000), [0.0, -0.0, np.inf, -np.inf, 1e16, 1e-5]])
    lines = write(tmp_path / "a.csv", [pa.table({"a": values})]).read_text().split()[1:]
    assert lines == list(map(repr, values.tolist()))
    short = pa.table({"a": pa.array([0.1, 1e-5, 1 / 3, None], pa.float32())})
    assert write(tmp_path / "a.csv", [short]).read_text().splitlines()[1:] == ["0.1", "1e-05", "0.33333334", '""']


def test_blocks_of_any_size_and_slices_make_the_same_file(tmp_path):
    table = pa.table({"a": ["x", 'q"', None, "y,z"] * 30_000, "b": np.arange(120_000) / 7})
    whole = write(tmp_path / "whole.csv", [table]).read_bytes()
    parts = [table.slice(0, 1), table.slice(1, 0), table.slice(1, 70_000), table.slice(70_001)]
    assert write(tmp_path / "parts.csv", parts).read_bytes() == whole
    chunked = pa.concat_tables([table.slice(0, 3), table.slice(3)])
    assert write(tmp_path / "chunked.csv", [chunked]).read_bytes() == whole


def test_types_without_a_text_of_arrow(tmp_path):
    table = pa.table(
        {
            "list": [[1, 2], None],
            "record": [{"a": 1}, None],
            "bytes": [b"abc", b"\xff"],
            "word": pa.array(["x", None]).dictionary_encode(),
            "long": pa.array(["y", None], pa.large_string()),
            "time": pa.array([3_600_000_000, None], pa.duration("us")),
            "none": pa.nulls(2),
        }
    )
    text = write(tmp_path / "a.csv", [table]).read_text()
    assert text.splitlines()[1:] == ["\"[1, 2]\",{'a': 1},b'abc',x,y,1:00:00,", ",,b'\\xff',,,,"]


# ---------------------------------------------------------------- the dialect that was read


def test_a_german_table_stays_one(tmp_path):
    table = pa.table({"größe": ["12,0", "0,5 €", "a;b", None], "p": [0.8296, 1.0, np.nan, 1e-7]})
    path = write(tmp_path / "a.csv", [table], dialect(line_end="\r\n"))
    assert path.read_bytes() == 'größe;p\r\n12,0;0,8296\r\n0,5 €;1,0\r\n"a;b";\r\n;1e-07\r\n'.encode("cp1252")


def test_a_space_after_each_delimiter_and_the_line_for_excel(tmp_path):
    table = pa.table({"a": ["x", "y"], "b": [" 1", ""], "label": ["u", "v,w"], "p": [0.5, None]})
    path = write(tmp_path / "a.csv", [table], dialect(delimiter=",", has_spaces=True, n_skipped=1, decimals={}))
    assert path.read_text() == 'sep=,\na, b, label, p\nx, 1, u, 0.5\ny,," v,w",\n'


def test_the_decimal_sign_is_that_of_most_columns(tmp_path):
    for signs, text in (({"a": ",", "b": "."}, "0.5"), ({"a": ",", "b": ".", "c": ","}, "0,5"), ({}, "0.5")):
        path = write(tmp_path / "a.csv", [pa.table({"p": [0.5]})], dialect(decimals=signs))
        assert path.read_text() == f"p\n{text}\n"


def test_a_table_that_was_not_text_has_no_dialect(tmp_path):
    for name, text in (("a.csv", "a,b\n1,2.5\n"), ("a.tsv", "a\tb\n1\t2.5\n")):
        assert write(tmp_path / name, [pa.table({"a": [1], "b": [2.5]})], Dialect("parquet")).read_text() == text


def test_a_decimal_comma_between_commas_is_quoted(tmp_path):
    path = write(tmp_path / "a.csv", [pa.table({"a": ["x"], "p": [0.5]})], dialect(delimiter=","))
    assert path.read_text() == 'a,p\nx,"0,5"\n'


@pytest.mark.parametrize(
    ("name", "delimiter"), [("a.tsv", "\t"), ("a.tab", "\t"), ("a.csv", "|"), ("a.txt", "|"), ("a.csv.gz", "|")]
)
def test_the_ending_of_a_name_wins_over_the_delimiter(tmp_path, name, delimiter):
    path = write(tmp_path / name, [pa.table({"a": ["ä"], "b": ["|\t"]})], dialect(delimiter="|"))
    content = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    assert content.decode("cp1252") == f'a{delimiter}b\nä{delimiter}"|\t"\n'


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8-sig", codecs.BOM_UTF8), ("utf-16", codecs.BOM_UTF16), ("utf-16-le", b""), ("utf-8", b"")],
)
def test_a_byte_order_mark_is_written_once(tmp_path, encoding, mark):
    tables = [pa.table({"ä": ["€"]}), pa.table({"ä": ["b"]})]
    found = write(tmp_path / "a.csv", tables, dialect(encoding=encoding, has_mark=bool(mark))).read_bytes()
    assert found.startswith(mark)
    assert found.decode(encoding) == "ä\n€\nb\n"


def test_no_byte_order_mark_where_the_file_had_none(tmp_path):
    path = write(tmp_path / "a.csv", [pa.table({"ä": ["€"]})], dialect(encoding="utf-8-sig"))
    assert path.read_bytes() == "ä\n€\n".encode()


def test_a_character_that_the_encoding_lacks(tmp_path):
    with pytest.raises(TableFileError, match=r"cannot be written in cp1252, which has no 'Ł'\.") as caught:
        write(tmp_path / "a.csv", [pa.table({"a": ["Ulm"]}), pa.table({"a": ["Łódź"]})], dialect())
    assert caught.value.on("cli").endswith("Add: --output-encoding utf-8")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- files with types


@pytest.mark.parametrize("name", ["a.arrow", "a.feather", "a.parquet", "a.pq"])
def test_types_stay_as_they_are(tmp_path, name):
    table = pa.table(
        {"n": pa.array([1, None], pa.int64()), "x": [0.1, None], "l": [[1], None], "s": ["0012", ""], "e": pa.nulls(2)}
    )
    path = write(tmp_path / name, [table, table], dialect())
    found = feather.read_table(path) if name in ("a.arrow", "a.feather") else pa.parquet.read_table(path)
    assert found.schema.types == [*table.schema.types[:4], pa.string()]
    assert found.to_pydict() == pa.concat_tables([table, table]).to_pydict()
