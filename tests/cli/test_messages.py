"""What the commands print about hard tables and files: no Python, and options that the command has."""

import re

import click
import numpy as np
import pandas as pd
import pytest

from mixkern import LaplacianSVC, MixtureOneClassSVM, MixtureSVC, MixtureSVR, save
from mixkern.cli import cli

N = 90
ROW = np.arange(N)
TARGET = ("--target", "churn")
PYTHON = re.compile(
    r"\bNone\b(?! of)|\bNaN\b|\bpandas\b|\bnumpy\b|\bnp\.|\bpd\.|\bX\b|\by\b|\bDataFrame\b|\bSeries\b|\bndarray\b"
    r"|\bdict\b|\bdtype\b|\bstr\b|\b(?!OpenML)[A-Z][a-z]+[A-Z]\w*|\w\(\)|\b\w+=\S|\b[a-z]+_\b"
    r"|Traceback|\bself\b|object at 0x"
)

# Columns that a table has besides its own, and the start of the message about them, empty where there is none.
LABELS = {
    "measurements": (ROW / 7, "Error: Column 'churn' holds 90 different values in 90 labelled rows"),
    "few measurements": (
        np.where(ROW % 10, "", ROW / 7),
        "Error: Column 'churn' holds 9 different values in 9 labelled",
    ),
    "names": ([f"name {i}" for i in ROW], "Error: Column 'churn' holds 90 different values"),
    "one class": ("yes", "Error: Column 'churn' has labels of one class, 'yes'"),
    "none": (None, "Error: Column 'churn' has no label"),
}
COLUMNS = {
    "infinite": (np.where(ROW == 3, np.inf, ROW * 1.5), "Error: Column 'extra' holds 1 infinite value"),
    "mostly numbers": ([*map(str, ROW[:-1]), "old"], "Error: Some columns of texts are numbers for the most part"),
    "row numbers": (ROW, "Note: Not learned from, because nearly all values differ: 'extra'"),
    "one value": (7, "Note: Not learned from, because all rows have the same value, or none: 'extra'"),
    "empty": (None, "Note: Not learned from, because all rows have the same value, or none: 'extra'"),
    "keys": (np.random.RandomState(0).permutation(9_999)[:N], "Note: All values of 'extra' differ."),
    "flags": (ROW // 2 % 2, "Note: Some columns could be read in two ways."),
    "codes": (ROW % 4, "Note: Some columns could be read in two ways."),
    "decimal commas": ([f"{i},5" for i in ROW], "Note: Decimal commas were found"),
    "huge": (np.where(ROW % 2, 1e300, -1e300), ""),
    "large integers": ([str(2**60 + 7 * i) for i in ROW], "Note: All values of 'extra' differ."),
    "dates": (pd.date_range("2024-01-01", periods=N).astype(str), ""),
}
FILES = {
    "empty": (b"", "is empty"),
    "header only": (b"age,churn\n", "no rows"),
    "ragged": (b"a,churn\n1,2\n3\n", "line 3: 1 field"),
    "NUL": (b"a,b\n1,\0\n", "holds a NUL byte"),
    "not text": (b"a,churn\n\xe9\x81,x\n", "is not text in utf-8"),
    "duplicates": (b"a,a,churn\n1,2,x\n", "have the same name, 'a'"),
    "open quote": (b'a,b\n"1,2\n3,4\n', "a quote opens that is not closed"),
    "picture": (b"\x89PNG\r\n\x1a\n123", "looks like a picture"),
    "damaged Parquet": (b"PAR1abc", "is not a Parquet file, or damaged"),
}


def checked(done, command):
    """Return what a command printed on standard error, without Python words and with options that it has."""
    assert not PYTHON.findall(done.stderr), done.stderr
    named = set(re.findall(r"(?<![\w-])--[a-z-]+", done.stderr.partition("mixkern fit ")[0]))
    options = {each for option in cli.get_command(click.Context(cli), command).params for each in option.opts}
    if "fit a model without" not in done.stderr:
        assert named <= {*options, "--help"}, done.stderr
    return done.stderr


@pytest.mark.parametrize("name", LABELS)
def test_labels(run, people, written, name):
    labels, start = LABELS[name]
    printed = checked(run("fit", written(people.assign(churn=labels)), *TARGET, code=1), "fit")
    assert printed.startswith(start)


@pytest.mark.parametrize("mark", ["-1", "-1.0"])
def test_minus_one_is_a_class_with_a_note(run, people, written, mark):
    path = written(people.assign(churn=np.where(ROW % 3, mark, "1")))
    done = run("look", path, *TARGET)
    assert f"60 of '{mark}'" in done.stdout
    assert f"60 rows of column 'churn' hold {mark}, which is a class." in checked(done, "look")


def test_the_step_of_a_message_can_be_typed(run, people, written):
    path = written(people.assign(churn=people["churn"].fillna("-1")))
    printed = checked(run("look", path, *TARGET, code=1), "look")
    step = re.search(r"--unlabelled \S+(?=\.)", printed)[0]
    assert "Labels in 'churn': 30 of 90 rows" in run("look", path, *TARGET, *step.split()).stdout


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(run, people, written, name):
    cells, start = COLUMNS[name]
    printed = checked(run("look", written(people.assign(extra=cells)), *TARGET, code=None), "look")
    assert printed.startswith(start)
    assert bool(printed) == bool(start)


@pytest.mark.parametrize("name", FILES)
def test_files(run, tmp_path, name):
    content, message = FILES[name]
    (tmp_path / "mine.csv").write_bytes(content)
    assert message in checked(run("look", tmp_path / "mine.csv", code=1), "look")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--drop", "twon"), "people.csv has no column 'twon'. Did you mean 'town'?"),
        (
            ("--target", "zzz"),
            "If there are no labels yet, add this column, empty; mixkern label needs no column. Correct --target.",
        ),
        (("--drop", "age,town"), "people.csv: No column is left to learn from."),
        (("--continuous", "town"), "Column 'town' is a column of numbers, but row 2"),
        (("--continuous", "town", "--categorical", "town"), "is named as continuous and as categorical"),
        (("--delimiter", "ab"), "The delimiter must be one character"),
        (("--encoding", "utf9"), "There is no encoding 'utf9'"),
        (("--encoding", "utf-16"), "people.csv is not in utf-16"),
    ],
)
def test_options(run, table, options, message):
    assert message in checked(run("look", table, *TARGET, *options, code=1), "look")


@pytest.mark.parametrize(("cell", "called"), [([1, 2], "a list"), ({"a": 1}, "a record"), (b"a", "bytes")])
def test_cells_of_parquet_files(run, people, tmp_path, model, cell, called):
    people.assign(age=[cell] * N).to_parquet(tmp_path / "mine.parquet")
    printed = checked(run("look", tmp_path / "mine.parquet", *TARGET, code=1), "look")
    assert printed == (
        f"Error: mine.parquet: Column 'age' holds {called} in row 1 (counted from 1). Expected numbers, texts, "
        "booleans, categories or dates. Replace them by numbers or texts, or fit a model without the "
        "column: --drop age.\n"
    )
    printed = checked(run("predict", model, tmp_path / "mine.parquet", code=1), "predict")
    assert f"Column 'age' holds {called} in row 1" in printed


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": "old"}, "was fitted as numbers, but holds 'old'"),
        ({"age": 1e300}, "Error: Column 'age' holds numbers up to 1e+300"),
        ({"age": np.inf}, "Error: Column 'age' holds 90 infinite values"),
        ({"age": pd.date_range("2024-01-01", periods=N)}, "was fitted as numbers, but holds '2024-01-01'"),
        ({"town": "Rom"}, "Note: 90 cells hold categories that were absent at fit time"),
        ({"town": ROW}, "Note: 90 cells hold categories that were absent at fit time"),
    ],
)
def test_tables_for_a_model(run, people, written, model, columns, message):
    assert message in checked(run("predict", model, written(people.assign(**columns)), "--only", code=None), "predict")


def test_labels_in_a_report(run, people, written, model, tmp_path):
    path = written(people.assign(churn=ROW / 7))
    printed = checked(run("report", model, path, "-o", tmp_path / "a.html", code=1), "report")
    assert printed.endswith("numbers, not classes. Give the table that the model was fitted on.\n")


@pytest.mark.parametrize("command", ["predict", "explain", "report"])
def test_models_that_are_no_classifiers_of_named_columns(run, people, table, tmp_path, command):
    X, y = people[["age"]].fillna(30), ROW % 2
    models = [
        MixtureSVR(random_state=0).fit(X, y * 1.5),
        MixtureOneClassSVM(random_state=0).fit(X),
        MixtureSVC(random_state=0).fit(X.to_numpy(), y),
    ]
    options = {"predict": (), "explain": ("--row", 1), "report": ("-o", tmp_path / "a.html")}[command]
    for model in models:
        save(model, tmp_path / "a.mixkern")
        printed = checked(run(command, tmp_path / "a.mixkern", table, *options, code=1), command)
        assert "is no classifier that was fitted on a table with named columns" in printed


def test_a_model_of_another_estimator_without_notes(run, people, table, tmp_path):
    y = np.where(people["churn"].isna(), -1, ROW % 2)
    save(
        LaplacianSVC(random_state=0).fit(people[["age", "town"]].assign(age=people["age"].fillna(30)), y),
        tmp_path / "a",
    )
    printed = checked(run("report", tmp_path / "a", table, "-o", tmp_path / "a.html", code=1), "report")
    assert "people.csv has no column 'label', which the labels were learned from." in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "{table}", "{model}"), "it is no model. Give the model before the table"),
        (("predict", "nope.mixkern", "{table}"), "there is no such file"),
        (("predict", "{model}", "nope.csv"), "cannot be read: there is no such file"),
        (("predict", "{model}", "{table}", "-o", "a.xyz"), "does not end like a table"),
        (("explain", "{model}", "{table}", "--row", "100"), "people.csv has 90 rows, and no row 100."),
        (("datasets", "--write", "irsi"), "There is no data set 'irsi'. Did you mean 'iris'?"),
        (("datasets", "--write", "openml:"), "is followed by a number or a name"),
    ],
)
def test_other_commands(run, table, model, arguments, message):
    given = [each.format(table=table, model=model) for each in arguments]
    assert message in checked(run(*given, code=1), arguments[0])
