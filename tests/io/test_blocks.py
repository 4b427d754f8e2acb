"""CSV and other delimited files, whole and in blocks."""

import gzip
import io
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mixkern.encoding import TableEncoder
from mixkern.encoding.grammar import is_gap_word
from mixkern.errors import OptionError, TableFileError
from mixkern.io import table_file
from mixkern.io.table import pandas_frame

MIXED = """age;town;since;member;zip;churn
31,5;Kassel;2024-05-01;true;01234;no
;;;;;
47;Passau;2024-06-01;false;20095;yes
"""


def notes(file):
    return [str(note) for note in file.notes]


def kinds_of(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = TableEncoder().fit(frame)
    return encoder, {column.name: column for column in encoder.columns_}


def frames(file, kinds, **options):
    return [pandas_frame(block.typed, block.start) for block in file.blocks(kinds, **options)]


def test_a_mixed_table(written):
    file = table_file(written(MIXED))
    frame = pandas_frame(file.table(text=["churn"]))
    assert (file.name, file.columns) == ("mine.csv", ("age", "town", "since", "member", "zip", "churn"))
    assert frame["age"].tolist()[::2] == [31.5, 47.0]
    assert frame["churn"].tolist() == ["no", None, "yes"]
    assert frame["member"].tolist() == [True, None, False]
    assert frame["zip"].tolist() == ["01234", None, "20095"]
    assert frame["since"].dtype == "datetime64[us]"
    assert frame.isna().sum().tolist() == [1] * 6
    assert frame.index.equals(pd.RangeIndex(3))
    assert [file.line_of(row) for row in range(4)] == [2, 3, 4, None]
    assert "Decimal commas were found: 31,5 is read as 31.5. If the comma is no decimal sign: decimal='.'." in (
        notes(file)
    )
    assert any("leading zeros" in note for note in notes(file))


@pytest.mark.parametrize(
    ("options", "content"),
    [
        ({"encoding": "cp1252"}, "größe,x\n1,ä\n".encode("cp1252")),
        ({}, "größe,x\n1,ä\n".encode("utf-16")),
        ({}, "größe,x\n1,ä\n".encode("utf-8-sig")),
        ({}, "größe,x\r1,ä\r".encode()),
        ({}, "sep=#\ngröße#x\n1#ä\n".encode()),
        ({"delimiter": "space"}, "größe x\n1 ä\n".encode()),
        ({}, "größe, x\n1, ä\n".encode()),
        ({}, "\n\ngröße|x\n1|ä\n\n\n".encode()),
        ({}, gzip.compress("größe\tx\n1\tä\n".encode(), mtime=0)),
    ],
)
def test_ways_to_write_a_table(written, options, content):
    frame = pandas_frame(table_file(written(content), **options).table())
    assert frame.to_dict("list") == {"größe": [1], "x": ["ä"]}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "mine.csv is empty. Expected a line of column names"),
        ("\n\n  \n", "mine.csv is empty"),
        ("a,b\n", "has a line of column names, but no rows"),
        ("a,b", "has a line of column names, but no rows"),
        ("a,a\n1,2\n", "line 1: columns 1 and 2 have the same name, 'a'"),
        ("5.1,3.5\n4.9,3.0\n", "line 1: expected column names, but found numbers"),
        ("a,b\n1,2\n3\n", "line 3: 1 field, but the header has 2"),
        ("größe\nä\n".encode("cp1252") + b"\x81", "line 1: byte 0xf6 is not text in utf-8.*encoding='cp1252'"),
        ("a,b\n1,2\n".encode("utf-16-le"), "line 1: holds a NUL byte.*encoding='utf-16'"),
    ],
)
def test_what_is_refused_at_the_first_look(written, content, why):
    with pytest.raises(TableFileError, match=why):
        table_file(written(content))


def test_what_is_wrong_far_down_is_named_when_it_is_reached(written):
    file = table_file(written("a,b\n" + "1,2\n" * 20_000 + "1,2,3\n"))
    with pytest.raises(TableFileError, match="line 20002: 3 fields, but the header has 2"):
        pandas_frame(file.table())


@pytest.mark.slow
def test_a_quote_across_the_end_of_the_head(written):
    text = "x\n" * 60_000
    content = "a,b\n" + f'1,"{text}"\n' * 12
    file = table_file(written(content))
    assert pandas_frame(file.table())["b"].tolist() == [text] * 12
    assert file.line_of(1) == 60_000 + 3


@pytest.mark.slow
def test_wide_tables(written):
    names = [f"{i:099d}_" for i in range(11_000)]
    rows = "\n".join(",".join(str(i % 7 + row / 2) for i in range(11_000)) for row in range(3))
    file = table_file(written(",".join(names) + "\n" + rows + "\n"))
    frame = pandas_frame(file.table())
    assert frame.shape == (3, 11_000)
    assert frame.iloc[1, 8] == 1.5


def test_row_numbers_are_left_out_whole_and_in_blocks(written):
    file = table_file(written(",a,b\n0,1,x\n1,2,y\n"))
    assert pandas_frame(file.table()).to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    _, kinds = kinds_of(pandas_frame(file.table()))
    blocks = list(file.blocks(kinds, n_rows=1))
    assert [block.typed.column_names for block in blocks] == [["a", "b"], ["a", "b"]]
    assert [block.cells.to_pydict() for block in blocks] == [
        {"": ["0"], "a": ["1"], "b": ["x"]},
        {"": ["1"], "a": ["2"], "b": ["y"]},
    ]
    assert "row numbers" in notes(file)[0]


def test_the_decimal_option_rules(written):
    path = written("a;b\n1,234;x\n")
    assert pandas_frame(table_file(path).table())["a"].tolist() == [1.234]
    assert pandas_frame(table_file(path, decimal=".").table())["a"].tolist() == [1234]
    with pytest.raises(OptionError, match=r"decimal sign must be '.' or ','"):
        table_file(path, decimal=";")


def test_words_for_nothing_among_labels_are_noted(written):
    file = table_file(written("a,drug\n1,None\n2,much\n"))
    assert pandas_frame(file.table(text=["drug"]))["drug"].tolist() == [None, "much"]
    assert "'drug': 'None' was read as an empty cell." in notes(file)


def test_blocks_go_on_and_name_lines(written):
    file = table_file(written("a,b\n" + "".join(f"{i},x\n" for i in range(10)) + "oops,x\n"))
    _, kinds = kinds_of(pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]}))
    found = []
    with pytest.raises(TableFileError, match=r"mine.csv, line 12: column 'a' was fitted as numbers, but holds 'oops'"):
        found.extend(file.blocks(kinds, n_rows=4))
    assert [(block.start, len(block), block.typed.num_rows) for block in found] == [(0, 4, 4), (4, 4, 4)]


@pytest.mark.slow
def test_blocks_of_standard_input_and_progress(monkeypatch):
    content = b"a,b\n" + b"1.5,x\n" * 500_000
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    calls = []
    file = table_file("-")
    blocks = file.blocks({}, n_rows=1000, on_progress=lambda *done: calls.append(done))
    assert len(next(blocks)) == 1000
    assert calls[0][0] < len(content)  # the rest waits
    assert sum(map(len, blocks)) == 499_000
    assert calls[-1] == (len(content), None)
    with pytest.raises(TableFileError, match="can be read only once"):
        pandas_frame(file.table())


def test_progress_of_a_file(written):
    calls = []
    path = written(MIXED)
    pandas_frame(table_file(path).table(on_progress=lambda *done: calls.append(done)))
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)


def test_frames_by_kind_are_blocks_together(written):
    file = table_file(written(MIXED))
    _, kinds = kinds_of(pandas_frame(file.table()).drop(columns="churn"))
    whole = pandas_frame(file.table(text=["churn"], kinds=kinds))
    blocks = frames(file, kinds, n_rows=2, text=["churn"])
    pd.testing.assert_frame_equal(whole, pd.concat(blocks))


def test_words_for_gaps(written):
    file = table_file(written("a,b,c\n-999,x,unknown\n2, unknown ,yes\n"), gaps=["-999", "unknown"])
    frame = pandas_frame(file.table(text=["c"]))
    assert frame.isna().to_dict("list") == {"a": [True, False], "b": [False, True], "c": [False, False]}  # c has labels
    _, kinds = kinds_of(pd.DataFrame({"a": [1.5, 2.0, 3.0], "b": ["x", "y", "x"]}))
    (block,) = frames(file, kinds)
    assert block.isna().equals(frame[list(block)].isna())


def test_a_number_for_gaps_is_one_however_it_is_spelled(written):
    file = table_file(written("a;b\n-999,0;1\n-999;2\n3,5;-999\n"), gaps=["-999"])
    frame = pandas_frame(file.table())
    assert frame.isna().to_dict("list") == {"a": [True, True, False], "b": [False, False, True]}
    _, kinds = kinds_of(pd.DataFrame({"a": [1.5, 2.0, 3.0], "b": [1.5, 2.0, 3.0]}))
    (block,) = frames(file, kinds)
    assert block.isna().equals(frame[list(block)].isna())


def test_thousands_are_noted_in_blocks_too(written):
    _, kinds = kinds_of(pd.DataFrame({"a": [1.5, 2.0, 3.0]}))
    file = table_file(written("a\tb\n1,234\tx\n5,678\ty\n", name="a.tsv"))
    blocks = frames(file, kinds, n_rows=1)
    assert [float(block["a"].iloc[0]) for block in blocks] == [1234.0, 5678.0]
    (note,) = [note for note in notes(file) if "thousands" in note]
    assert note == "'a': 1,234 was read as 1234, with thousands set apart. If that is a decimal sign: decimal=','."


def test_booleans_with_spaces_are_the_same_in_blocks(written):
    file = table_file(written("a,b\nTrue ,1.5\nFalse,2.5\nTrue,3.5\n"))
    frame = pandas_frame(file.table())
    encoder, kinds = kinds_of(frame)
    (block,) = frames(file, kinds)
    np.testing.assert_array_equal(encoder.transform(block), encoder.transform(frame))


def test_a_first_column_without_a_name_that_holds_names_is_kept(written):
    file = table_file(written(",age\nAnna,31\nBert,47\n"))
    assert file.columns == ("column 1", "age")
    assert pandas_frame(file.table())["column 1"].tolist() == ["Anna", "Bert"]
    assert "was called 'column 1'" in notes(file)[0]


def test_dates_that_are_not_iso_are_named_as_dates(written):
    file = table_file(written("day,x\n31/12/24,1\n01/02/24,2\n05/06/23,3\n"))
    file.table()
    assert any("holds dates in a form such as '31/12/24'" in note for note in notes(file))


def test_cells_as_the_file_has_them(written):
    file = table_file(written("a;b\n1,50;NA\n;x \n"), gaps=["x"])
    _, kinds = kinds_of(pd.DataFrame({"a": [1.5, 2.0, 3.0]}))
    blocks = list(file.blocks(kinds, n_rows=1))
    assert blocks[0].typed.to_pydict() == {"a": [1.5]}
    assert [block.cells.to_pydict() for block in blocks] == [{"a": ["1,50"], "b": ["NA"]}, {"a": [""], "b": ["x "]}]


WORDS = st.text(st.characters(codec="cp1252", exclude_characters="\0\r\n\x1a"), min_size=1, max_size=8).filter(
    lambda word: not is_gap_word(word) and word == word.strip()
)
COLUMNS = st.lists(
    st.tuples(
        st.floats(allow_infinity=False) | st.none(),
        st.integers(-(2**60), 2**60),
        st.sampled_from(["red", 'b"l,u;e', "gr\neen"]) | WORDS.map("w{}".format) | st.none(),
        st.booleans(),
        st.dates().map(lambda day: day.isoformat()) | st.none(),
    ),
    min_size=1,
    max_size=12,
)
SLOW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def frame_from(rows):
    return pd.DataFrame(rows, columns=["float", "int", "text", "bool", "date"], dtype=object)


@SLOW
@given(
    rows=COLUMNS,
    sep=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([0, 1, 2]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    lines=st.sampled_from(["\n", "\r\n"]),
)
@pytest.mark.slow
def test_what_pandas_writes_comes_back(rows, sep, quoting, encoding, lines, tmp_path):
    frame = frame_from(rows)
    path = tmp_path / "law.csv"
    frame.to_csv(path, sep=sep, quoting=quoting, encoding=encoding, lineterminator=lines, index=False)
    file = table_file(path, encoding="cp1252" if encoding == "cp1252" else None)
    found = pandas_frame(file.table(text=["text"]))
    np.testing.assert_array_equal(found["float"].astype(float), frame["float"].astype(float))
    assert found["int"].tolist() == frame["int"].tolist()
    assert found["text"].tolist() == [None if pd.isna(cell) else cell for cell in frame["text"]]
    assert found["bool"].tolist() == frame["bool"].tolist()
    assert file.dialect.delimiter == sep
    dates = [None if pd.isna(cell) else str(cell.date()) for cell in found["date"]]
    assert dates == [None if pd.isna(cell) else cell for cell in frame["date"]]


@SLOW
@given(rows=COLUMNS, n_rows=st.integers(1, 13), text=st.sampled_from([(), ("int",), ("float", "date")]))
@pytest.mark.slow
def test_blocks_of_any_size_are_encoded_as_the_whole(rows, n_rows, text, tmp_path):
    path = tmp_path / "law.csv"
    frame_from(rows).to_csv(path, index=False)
    file = table_file(path)
    frame = pandas_frame(file.table(text=text))
    encoder, kinds = kinds_of(frame)
    blocks = frames(file, kinds, n_rows=n_rows)
    assert [len(block) for block in blocks[:-1]] == [n_rows] * (len(blocks) - 1)
    encoded = np.vstack([encoder.transform(block) for block in blocks])
    np.testing.assert_array_equal(encoded, encoder.transform(frame))
    assert pd.concat(blocks).index.equals(frame.index)


def test_spellings_are_noted_once_for_all_columns(written):
    rows = "12,5 %;1.234,50 EUR;06.06.2020;12/31/2024;007\n7 %;2,00 EUR;07.06.2020;01/02/2024;012\n"
    file = table_file(written(f"rate;price;day;month;code\n{rows}"))
    table = file.table()
    assert table["rate"].to_pylist() == [12.5, 7.0]
    assert table["price"].to_pylist() == [1234.5, 2.0]
    assert [str(day)[:10] for day in table["day"].to_pylist()] == ["2020-06-06", "2020-06-07"]
    assert [str(day)[:10] for day in table["month"].to_pylist()] == ["2024-12-31", "2024-01-02"]
    kinds = (
        "Decimal commas",
        "'rate': 12,5 %",
        "'price': 1.234,50 EUR",
        "'day': 06.06",
        "'month': 12/31",
    )
    assert [note.startswith(kind) for note, kind in zip(notes(file), kinds, strict=False)] == [True] * len(kinds)
    assert notes(file)[5:] == [
        "'code' has numbers with leading zeros such as 007: they were read as text, as codes are."
    ]


def test_one_note_names_all_columns_of_a_spelling(written):
    file = table_file(written("a,b,c,d\n1 %,007,2 %,008\n3 %,009,4 %,001\n"))
    file.table()
    percent, codes = notes(file)
    assert percent.startswith("'a', 'c': 1 % was read as 1")
    assert codes == "'b', 'd' have numbers with leading zeros such as 007: they were read as text, as codes are."


def test_the_order_of_dates_is_that_of_the_fitted_table(written):
    file = table_file(written("day,x\n12/31/2024,1.5\n01/02/2024,2.5\n"))
    _, kinds = kinds_of(pandas_frame(file.table()))
    order = {"day": file.spellings["day"][0].day_first}
    later = table_file(written("day,x\n01/02/2024,1.5\n"), like=replace(file.dialect, day_first=order))
    (block,) = later.blocks(kinds)
    assert str(block.typed["day"][0].as_py()) == "2024-01-02 00:00:00"


@pytest.mark.parametrize("key", ["0048213", "A7", ""])
def test_a_key_after_many_row_numbers_is_no_row_number(written, key):
    content = ",age\n" + "".join(f"{i},{i % 9}\n" for i in range(1500)) + f"{key},3\n"
    file = table_file(written(content))
    assert file.columns == ("age",)
    assert file.table().column_names == ["column 1", "age"]
    assert file.columns == ("column 1", "age")
    assert sum(len(block.cells[""]) for block in file.blocks({})) == 1501


def test_blanks_after_delimiters_stay_in_cells(written):
    (block,) = table_file(written('a, b, c\n1,  x, "y, z"\n2, w, v\n')).blocks({})
    assert block.cells.to_pydict() == {"a": ["1", "2"], "b": ["  x", " w"], "c": ["y, z", " v"]}
    assert table_file(written("a, b\n1,  x\n")).table().to_pydict() == {"a": [1], "b": ["x"]}


def test_rows_of_empty_cells_between_tabs(written):
    assert table_file(written("a\tb\n\t\n")).table().to_pydict() == {"a": [None], "b": [None]}
