"""Texts of frames are read as those of files."""

import csv
import datetime as dt
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import TableEncoder, prepare_table, read_table
from mixkern.encoding.cell import Kind
from mixkern.encoding.raw_column import Coded, raw_columns
from mixkern.encoding.spelling import Spelling
from mixkern.encoding.written import typed_texts, written_columns
from mixkern.errors import ColumnChoiceWarning, OptionError

LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]


def written(cells, **options):
    return written_columns(dict(enumerate(raw_columns(pd.DataFrame({"a": cells})))), **options)


@pytest.mark.parametrize(
    ("cells", "kind", "dtype", "values"),
    [
        (["1", "-2", "0"], "integer", "int64", [1, -2, 0]),
        (["1", "?", None], "number", "float64", [1, np.nan, np.nan]),
        (["1.5", " 2"], "number", "float64", [1.5, 2]),
        (["1,5", "2"], "number", "float64", [1.5, 2]),
        (["1,234", "2"], "integer", "int64", [1234, 2]),
        (["12,5 %", "7 %"], "number", "float64", [12.5, 7]),
        (["$3.20", "-$5"], "number", "float64", [3.2, -5]),
        (["9007199254740993", "1"], "integer", "int64", [9007199254740993, 1]),
        (["9007199254740993", "NA"], "integer", "object", [9007199254740993, None]),
        (["9" * 30, "1"], "integer", "object", [int("9" * 30), 1]),
        (["true", "FALSE"], "boolean", "bool", [True, False]),
        (["true", "", "false"], "boolean", "object", [True, None, False]),
        (["a", "?", " "], "text", "object", ["a", None, None]),
        (["?", "NA"], "number", "float64", [np.nan, np.nan]),
    ],
)
def test_cells(cells, kind, dtype, values):
    found = written(cells)
    assert found.raws[0].kind == kind
    assert found.values[0].dtype == dtype
    assert found.values[0].tolist() == values or np.array_equal(found.values[0], values, equal_nan=True)
    # The column that is passed on is the one that is read from the new cells.
    again = raw_columns(pd.DataFrame({"a": found.values[0]}))[0]
    assert found.raws[0].texts() == again.texts()


@pytest.mark.parametrize(
    "cells", [["2024-02-01", None], ["01.02.2024", "NA"], ["2024/2/1 0:00", ""], ["2024-02-01T01:00+01:00", None]]
)
def test_dates(cells):
    found = written(cells)
    assert found.raws[0].kind is Kind.DATE
    assert found.values[0].tolist() == [dt.datetime(2024, 2, 1), None]


@pytest.mark.parametrize("cells", [["a", "b"], ["007", "12"], ["12 %", "7"], ["1", "x"], [1.5, 2.5], [True, False]])
def test_columns_that_stay_as_they_are(cells):
    found = written(cells)
    assert not found.values
    assert not found.notes


def test_categories_and_kept_columns_stay_texts():
    assert not written(["1", "2"], kept=[0]).values
    assert not written(pd.Categorical(["1", "2"])).values


def test_a_known_spelling_is_used_again():
    known = {"a": Spelling(Kind.DATE, day_first=True)}
    assert written(["03/04/2024", "?"], known=known).values[0].tolist() == [dt.datetime(2024, 4, 3), None]
    assert not written(["soon"], known=known).values
    assert not written(["1", "2"], known={}).values


def test_one_note_for_each_kind():
    frame = pd.DataFrame(
        {
            "a": ["1", "2"],
            "b": ["1.5", "?"],
            "c": ["2024-02-01", "2024-02-02"],
            "d": ["true", "false"],
            "rate": ["12 %", "7 %"],
            "share": ["1 %", "2 %"],
            "sold": ["01/02/2024", "03/02/2024"],
        }
    )
    notes = written_columns(dict(enumerate(raw_columns(frame)))).notes
    assert [note.on("python") for note in notes] == [
        "Texts are read as numbers: 'a', 'b'. To read them as categories: categorical=['a'].",
        "Texts are read as dates: 'c'. To read them as categories: categorical=['c'].",
        "Texts are read as booleans: 'd'. To read them as categories: categorical=['d'].",
        "'rate', 'share': 12 % was read as 12, the number that is written.",
        (
            "Dates that could have the day or the month first are read as texts: 'sold' (01/02/2024). "
            "Convert them before: X['sold'] = pd.to_datetime(X['sold'], dayfirst=True), or dayfirst=False."
        ),
    ]


TEXTS = {
    "whole": ["1", "2", "3"],
    "gap": ["1", "?", "3"],
    "number": ["1.5", "NA", "-2e3"],
    "huge": ["9007199254740993", "1", "2"],
    "truth": ["true", "false", "true"],
    "doubt": ["true", "", "false"],
    "day": ["2024-02-01", "2024-02-02 12:30", ""],
    "dotted": ["01.02.2024", "?", "31.12.2024"],
    "code": ["007", "012", "100"],
    "word": ["a", "NA", "b"],
}


@pytest.mark.filterwarnings("ignore::mixkern.errors.MixkernWarning")
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_of_texts_is_read_as_a_file(library, tmp_path):
    path = tmp_path / "table.csv"
    pd.DataFrame(TEXTS).to_csv(path, index=False)
    frame = library(TEXTS)
    X = prepare_table(frame, keep=list(TEXTS)).X
    assert type(X) is type(frame)
    expected = TableEncoder().fit(read_table(path).arrow)
    encoder = TableEncoder().fit(X)
    for ours, theirs in zip(encoder.columns_, expected.columns_, strict=True):
        assert (ours, ours.kind) == (theirs, theirs.kind)
    np.testing.assert_array_equal(encoder.transform(X), expected.transform(read_table(path).arrow))
    assert frame.equals(library(TEXTS))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_later_table_is_read_in_the_same_way(library):
    with pytest.warns(ColumnChoiceWarning, match="day first"):
        table = prepare_table(
            library({"day": ["01/02/2024", "31/12/2024"], "town": ["?", "b"], "x": [1.5, 2.5]}), keep="town"
        )
    later = table.select(library({"y": [0], "x": [3.5], "town": ["NA"], "day": ["03/04/2024"]}))
    encoded = table.encoder.fit(table.X).inverse_transform(table.encoder.transform(later))
    found = {raw.name: raw.texts() for raw in raw_columns(encoded)}
    assert found == {"day": ["2024-04-03"], "town": [None], "x": ["3.5"]}


def test_unique_times_are_learned_from_as_dates():
    times = [f"2024-01-{day:02} {hour:02}:00" for day in range(1, 11) for hour in range(10)]
    with pytest.warns(ColumnChoiceWarning, match="Texts are read as dates: 'at'"):
        table = prepare_table(pd.DataFrame({"at": times, "x": np.arange(100) % 7 / 2}))
    assert list(table.X) == ["at", "x"]
    assert table.X["at"].dtype.kind == "M"


def test_the_decimal_sign_may_be_given():
    frame = pd.DataFrame({"a": ["1,234", "2"]})
    with pytest.warns(ColumnChoiceWarning):
        assert prepare_table(frame, decimal=",").X["a"].tolist() == [1.234, 2]
    with pytest.raises(OptionError, match=r"The decimal sign must be '.' or ',', but it is ';'"):
        prepare_table(frame, decimal=";")


def test_texts_may_stay_texts():
    assert prepare_table(pd.DataFrame({"a": ["1", "2"]}), parse_texts=False).X["a"].tolist() == ["1", "2"]


POOLS = [
    ["1", "2", "37", "-4"],
    ["1.5", "2", "-3e5", ".5", "1."],
    ["1,5", "2,25", "3"],
    ["1,234", "2,345.5", "12"],
    ["1.234", "2.345,5", "12"],
    ["12 %", "7 %", "1.5 %", "12,5 %"],
    ["$3.20", "-$5", "$1,200", "$ 7"],
    ["5 EUR", "1.234,50 EUR", "EUR 7"],
    ["true", "FALSE", "false"],
    ["2024-05-01", "2024-05-02 12:30", "2024-05-03T01:02:03.5Z"],
    ["06.06.2020", "31.12.20", "1.2.2021 14:30"],
    ["01/02/2024", "31/12/2024"],
    ["01/02/2024", "12/31/2024"],
    ["01/02/2024", "02/03/2024"],
    ["2024/05/01", "2024.5.2"],
    ["007", "12"],
    ["a", "b", "word"],
    ["9007199254740993", "1"],
    ["9" * 30, "2"],
    ["inf", "1"],
    ["", "?", "NA", " ", "nan", "#N/A"],
]


def random_cells(rng, n):
    pool = list(rng.choice(POOLS))
    if rng.random() < 0.2:
        pool += rng.choice(POOLS)
    if rng.random() < 0.4:
        pool += rng.sample(POOLS[-1], 2)
    return [rng.choice(pool) for _ in range(n)]


@pytest.mark.filterwarnings("ignore::mixkern.errors.MixkernWarning")
@pytest.mark.parametrize("seed", range(60))
def test_random_texts_are_read_as_in_a_file(seed, tmp_path):
    rng = random.Random(seed)
    n = rng.choice([2, 5, 12])
    cells = {f"c{i}": random_cells(rng, n) for i in range(rng.choice([1, 3, 5]))} | {"k": [f"w{i}" for i in range(n)]}
    with (tmp_path / "table.tsv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t").writerows([list(cells), *zip(*cells.values(), strict=True)])
    expected = raw_columns(read_table(tmp_path / "table.tsv").arrow)
    for make in LIBRARIES:
        found = raw_columns(prepare_table(make(cells), keep=list(cells)).X)
        for ours, theirs in zip(found, expected, strict=True):
            assert (ours.kind, ours.texts()) == (theirs.kind, theirs.texts()), cells[ours.name]


def test_objects_stay_objects():
    """Pandas would infer a type of texts, which cannot hold half of a surrogate pair."""
    cells = pd.Series(["\ud800", "NA", "x"] * 5, dtype=object, index=range(15, 0, -1))
    X = prepare_table(pd.DataFrame({"t": cells, "a": np.arange(15) + 0.5})).X
    assert X["t"].dtype == object
    assert X["t"].tolist() == ["\ud800", None, "x"] * 5
    assert X.index.tolist() == list(range(15, 0, -1))


@pytest.mark.parametrize("cell", ["9" * 76, "-" + "9" * 76, "+" + "9" * 76, "9" * 77])
def test_frames_and_files_have_the_same_most_digits(cell, tmp_path):
    (tmp_path / "a.csv").write_text(f"a,b\n{cell},1\n1,2\n")
    values = read_table(tmp_path / "a.csv").frame["a"].tolist()
    assert values == ([cell, "1"] if len(cell) == 77 and cell.isdigit() else [int(cell), 1])
    found = written([cell, "1"])
    assert found.raws[0].cells.distinct == values


def test_a_spelling_that_does_not_fit_leaves_texts():
    cells = Coded.of_cells(["1", "x", None])
    typed = typed_texts(cells, Spelling(Kind.NUMBER))
    assert (typed.kind, typed.spelling, typed.values) == (Kind.TEXT, None, ["1", "x"])
    assert typed_texts(Coded.of_cells([None]), None).kind is Kind.NUMBER
