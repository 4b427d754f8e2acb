"""Options that several commands share."""

import pytest

from mixkern.cli import cli

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


def test_names_come_one_by_one_or_with_commas(run, people, written):
    path = written(people.assign(a=people["age"] * 2, b=people["age"] + 1))
    for options in (["--drop", "a, b,town"], ["--drop", "a", "--drop", "b", "--drop", "town"]):
        assert "1 column to learn from" in run("look", path, "--target", "churn", *options).stdout


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
