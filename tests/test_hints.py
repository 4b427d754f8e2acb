"""The hints for the command line name options and no Python."""

import ast
import re
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mixkern
from mixkern import TableEncoder, datasets, load
from mixkern.errors import MixkernError

SOURCE = Path(mixkern.__file__).parent
ROOMS = ("datasets", "io", "report")  # whose texts the commands print, all of them
CODE = re.compile(  # calls, attributes, keyword arguments, and names of Python, NumPy, pandas and scikit-learn
    r"\w\(\w|\w\(\)|\b(X|y|np|pd)[.\[]|\b(X|y)\b|\b\w+=|\bNone\b(?! of)|\bNaN\b|\bpandas\b|\bDataFrame\b|\bndarray\b"
    r"|\bdtype\b|\b[A-Z][a-z]+[A-Z]\w*\b(?<!OpenML)|\b\w+_\b"
)
OPTION = re.compile(r"(?<![\w-])--[a-z]")
PYTHON = (
    "pd.",
    "np.",
    "X[",
    "TableEncoder",
    "encoder.",
    "encoder=",
    "mixkern.save",
    "errors=",
    "X.",
    "names()",
)


def message(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except MixkernError as error:
            return error.on("cli")
    return caught[0].message.on("cli")


def fitted(**columns):
    return lambda: TableEncoder(**columns.pop("settings", {})).fit(pd.DataFrame(columns))


def test_a_choice_names_the_option():
    found = message(fitted(code=[1, 2, 3] * 9, flag=[0, 1, 1] * 9))
    assert found.endswith("To choose, name a column: --continuous COLUMN or --categorical COLUMN.")


def test_numbers_as_text_name_the_option():
    found = message(fitted(a=[str(i) for i in range(20)] + ["old"]))
    assert "first in row 21." in found
    assert found.endswith("name them: --gap TEXT.\nOr read the columns as categories: --categorical a.")


def test_text_in_a_column_of_numbers():
    found = message(fitted(town=["Ulm", "Hof"], settings={"continuous": ["town"]}))
    assert "but row 1 (counted from 1) holds 'Ulm'" in found
    assert "make gaps of them: --gap TEXT. Or read the column as categories: --categorical town." in found


def test_infinite_numbers():
    found = message(fitted(a=[1.5, np.inf, 2.5]))
    assert found.endswith("the first in row 2 (counted from 1). Replace them by numbers, or leave these cells empty.")


def test_new_categories():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ["x", "y"]}))
    assert message(lambda: encoder.transform(pd.DataFrame({"a": ["z", "y"]}))).endswith("'a': 'z' (1)")


@pytest.mark.parametrize("content", [b"", b"no model", b"\x80\x04."])
def test_files_that_are_no_models_name_the_command_that_writes_one(content, tmp_path):
    path = tmp_path / "a.mixkern"
    path.write_bytes(content)
    assert ": mixkern fit TABLE --target COLUMN -o MODEL" in message(lambda: load(path))


@pytest.mark.parametrize(
    "call",
    [
        fitted(code=[1, 2, 3] * 9, flag=[0, 1, 1] * 9),
        fitted(a=[str(i) for i in range(9)] * 2),
        fitted(a=[str(i) for i in range(20)] + ["old"], b=[str(i) for i in range(20)] + ["new"]),
        fitted(a=[f"2024-05-{day:02}" for day in range(1, 21)]),
        fitted(town=["Ulm", "Hof"], settings={"continuous": ["town"]}),
        fitted(a=[1.5, np.inf, 2.5]),
        lambda: load("/no/such/file"),
        lambda: load("/"),
        lambda: datasets.load("irsi"),
    ],
)
def test_no_line_of_python_is_left(call):
    found = message(call)
    assert found
    assert not [each for each in PYTHON if each in found], found


# ---------------------------------------------------------------- every message in the source


def literal(node):
    """Return the fixed parts of a text, a space for each part that is computed."""
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.JoinedStr():
            return "".join(literal(each) for each in node.values)
        case ast.BinOp():
            return literal(node.left) + literal(node.right)
        case ast.IfExp():
            return f"{literal(node.body)} {literal(node.orelse)}"
    return " "


@cache
def calls():
    """Return the file, the name and the node of each call in the library."""
    return [
        (path.relative_to(SOURCE), getattr(node.func, "id", getattr(node.func, "attr", "")), node)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
    ]


def texts():
    """Give the text of every error and warning."""
    for path, name, node in calls():
        if node.args and (name.endswith(("Error", "Warning")) or name == "warn"):
            yield path, node.lineno, literal(node.args[0])


def test_hints_for_the_command_line_hold_no_python():
    found = [
        (path, node.lineno, literal(word.value))
        for path, name, node in calls()
        if name == "hint"
        for word in node.keywords
        if word.arg == "cli"
    ]
    assert len(found) > 20
    assert [each for each in found if CODE.search(each[2])] == []


def test_hints_for_python_hold_no_options():
    found = [
        (path, node.lineno, literal(word.value))
        for path, name, node in calls()
        if name == "hint"
        for word in node.keywords
        if word.arg == "python"
    ]
    assert len(found) > 40
    assert [each for each in found if OPTION.search(each[2])] == []


def test_texts_hold_no_options_outside_of_the_commands():
    found = list(texts())
    assert len(found) > 200
    outside = [each for each in found if each[0].parts[0] != "cli" and "pip install" not in each[2]]
    assert [each for each in outside if OPTION.search(each[2])] == []


# A call of Python alone gives these, never a command.
FOR_PYTHON = ("raw=True is for", "but n_rows is", "model must be a fitted")


def test_texts_of_files_and_of_tables_hold_no_python():
    """In rooms whose errors the commands print; others have errors for Python alone, such as a wrong parameter."""
    here = [each for each in texts() if each[0].parts[0] in (*ROOMS, "cli") or each[0].name == "intake.py"]
    assert len(here) > 80
    assert [each for each in here if CODE.search(each[2]) and not any(text in each[2] for text in FOR_PYTHON)] == []
