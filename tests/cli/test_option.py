"""Options that several commands share."""

import json
import shlex
import sys

import pytest

from mixkern import device
from mixkern.cli import cli, look, option
from mixkern.wording import names_argument

READING = {"delimiter", "decimal", "encoding", "gaps"}
COLUMNS = {"drop", "keep", "continuous", "categorical", "unlabelled", "source"}
TABLE = ("look", "suggest", "fit", "predict", "explain", "report")


def names(command):
    return {param.name for param in cli.get_command(None, command).params}


@pytest.mark.parametrize("command", TABLE)
def test_every_command_has_json_and_the_options_of_files(command):
    assert names(command) >= {"as_json", *READING}


@pytest.mark.parametrize("command", TABLE[:3])
def test_commands_that_learn_have_the_options_of_columns(command):
    assert names(command) >= {"target", "seed", *COLUMNS}


@pytest.mark.parametrize("command", TABLE)
def test_every_command_has_an_example(command, run):
    assert f"mixkern {command} " in run(command, "--help").stdout.split("Example")[1]


@pytest.mark.parametrize("command", ["look", "suggest", "fit", "predict", "report", "label"])
def test_commands_that_compute_have_a_device(command, run):
    assert "--device [cpu|cuda]" in run(command, "--help").stdout


def test_a_device_that_is_not_there(run, table, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    done = run("look", table, "--device", "cuda")
    assert "A GPU needs CuPy, which is not installed, so the CPU is used." in done.stderr
    assert 'pip install "mixkern[gpu]"' in done.stderr
    assert not device.on_gpu()


def test_a_device_is_used_until_the_command_ends(run, table, monkeypatch):
    monkeypatch.setattr(device, "missing_gpu", lambda: None)
    used, structure = [], look._structure
    monkeypatch.setattr(look, "_structure", lambda *args: used.append(device.on_gpu()) or structure(*args))
    run("look", table, "--device", "cuda")
    assert used == [True]
    assert not device.on_gpu()


def test_names_come_one_by_one_or_with_commas(run, people, written):
    path = written(people.assign(a=people["age"] * 2, b=people["age"] + 1))
    for options in (["--drop", "a, b,town"], ["--drop", "a", "--drop", "b", "--drop", "town"]):
        assert "1 column to learn from" in run("look", path, "--target", "churn", *options).stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b", ["a", "b"]),
        (" a , b ,, c d ,", ["a", "b", "c d"]),
        ('"price, EUR",age', ["price, EUR", "age"]),
        ('age , "price, EUR" ', ["age", "price, EUR"]),
        ('"5"" pipe"," b "', ['5" pipe', " b "]),
        ('5" pipe,x"y"z', ['5" pipe', 'x"y"z']),
        ("two\nlines,b", ["two\nlines", "b"]),
        ("", []),
        ('""', []),
    ],
)
def test_names_between_commas(text, expected):
    assert option.split_names(text) == expected


@pytest.mark.parametrize("names", [["price, EUR", "age"], ['"', ",", " ", 'a"b', '"",""', "it's; $(x)"]])
def test_what_is_printed_can_be_typed(names):
    (word,) = shlex.split(names_argument(names))
    assert option.split_names(word) == names


@pytest.mark.parametrize("text", ['"price, EUR', '"a"b,c', 'a,"'])
def test_quotes_that_are_not_closed(run, table, text):
    found = " ".join(run("look", table, "--drop", text, code=2).stderr.split())
    assert "begins with a double quote, which must end before the next comma" in found
    assert """'"price, EUR","5"" pipe"'""" in found


@pytest.fixture
def priced(people, written):
    """A table with a column whose name holds a comma."""
    return written(people.assign(**{"price, EUR": people["age"] * 2, "it's": people["age"] + 1}))


@pytest.mark.parametrize("name", ["--drop", "--keep", "--continuous", "--categorical"])
def test_every_option_of_columns_takes_a_name_with_a_comma(run, priced, name):
    done = run("look", priced, "--target", "churn", name, '"price, EUR",it\'s', "--json")
    columns = {each["name"]: each for each in json.loads(done.stdout)["columns"]}
    assert ("price, EUR" in columns) == (name != "--drop")
    if name == "--categorical":
        assert {columns[each]["read_as"] for each in ("price, EUR", "it's")} == {"categories"}


def test_a_name_with_a_comma_without_quotes(run, priced):
    done = run("look", priced, "--target", "churn", "--drop", "price, EUR", code=1)
    assert "has no column 'price'." in done.stderr
    assert """A name with a comma stands in double quotes: --drop '"price, EUR"'""" in done.stderr


def test_options_that_are_printed_again_are_quoted(run, priced, monkeypatch):
    monkeypatch.chdir(priced.parent)
    options = ["--drop", '"price, EUR"', "--drop", "town,it's", "--keep", "age"]
    done = run("look", priced, "--target", "churn", *options)
    step = next(line for line in done.stdout.splitlines() if line.startswith("Next: "))
    words = shlex.split(step)[1:]
    assert [option.split_names(words[i + 1]) for i, word in enumerate(words) if word == "--drop"] == [
        ["price, EUR"],
        ["town"],
        ["it's"],
    ]
    assert words[:2] == ["mixkern", "fit"]
    assert run(*words[1:], "--no-estimate").exit_code == 0


def test_notes_name_columns_as_they_are_typed(run, people, written):
    path = written(people.assign(**{"a, b": 1, "key, no": [f"k{17 * i}x" for i in range(len(people))]}))
    stderr = run("look", path, "--target", "churn").stderr
    assert """To use a column all the same: --keep '"a, b"'""" in stderr
    assert """To use a column all the same: --keep '"key, no"'""" in stderr


def test_how_a_file_is_written(run, people, tmp_path):
    people.to_csv(tmp_path / "a.csv", sep="\t", decimal=",", encoding="utf-16", index=False)
    for delimiter in ("tab", "\\t", "\t"):
        options = ["--delimiter", delimiter, "--decimal", ",", "--encoding", "utf-16"]
        assert "90 rows, 2 columns" in run("look", tmp_path / "a.csv", "--target", "churn", *options).stdout
    assert "'.', ','" in run("look", tmp_path / "a.csv", "--decimal", ";", code=2).stderr
    assert "There is no encoding 'utf-61'" in run("look", tmp_path / "a.csv", "--encoding", "utf-61", code=1).stderr


def test_nothing_that_is_read_is_written_over(run, table, model, tmp_path):
    content = {path: path.read_bytes() for path in (table, model)}
    for arguments in (
        ("suggest", table, "--target", "churn", "-o", table),
        ("fit", table, "--target", "churn", "-o", table),
        ("predict", model, table, "-o", model),
        ("report", model, table, "-o", model),
        ("report", model, table, "-o", table),
    ):
        done = run(*arguments, code=2)
        assert "would be lost" in done.stderr or "does not end like a page" in done.stderr
    assert {path: path.read_bytes() for path in content} == content


@pytest.mark.parametrize("seed", ["-1", "99999999999"])
def test_seeds_that_are_none(run, table, seed):
    assert "not in the range" in run("look", table, "--target", "churn", "--seed", seed, code=2).stderr
