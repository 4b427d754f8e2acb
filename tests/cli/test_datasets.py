import json
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

import mixkern
from mixkern.cli import cli


def run(*arguments):
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


def test_all_twenty_data_sets_are_listed():
    done = run("datasets")
    assert done.exit_code == 0
    rows = {line.split()[0]: line.split()[1:] for line in done.output.splitlines() if line.strip()}
    assert set(mixkern.datasets.names()) <= set(rows)
    assert rows["credit_a"] == ["690", "6", "9", "2", "55.5"]


def test_data_sets_as_json():
    rows = json.loads(run("datasets", "--json").stdout)
    assert [row["name"] for row in rows] == mixkern.datasets.names()
    assert rows[8] == {
        "name": "iris",
        "title": "Iris",
        "n_samples": 150,
        "n_continuous": 4,
        "n_categorical": 0,
        "n_classes": 3,
        "largest_class_percent": 33.3,
    }


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_datasets_draws_a_picture_and_leaves_nothing_beside_it(tmp_path, suffix):
    picture = tmp_path / "new folder" / f"sets.{suffix}"
    done = run("datasets", "--json", "--picture", str(picture))
    assert json.loads(done.stdout)
    assert f"Picture: {picture}" in done.stderr
    assert picture.stat().st_size > 10_000
    assert [file.name for file in picture.parent.iterdir()] == [picture.name]


def test_an_unknown_kind_of_picture_is_one_sentence_and_no_file(tmp_path):
    done = run("datasets", "--picture", str(tmp_path / "sets.xyz"))
    assert done.exit_code == 2
    assert "'sets.xyz' does not end like a picture: use .png, .svg or .pdf" in done.output
    assert list(tmp_path.iterdir()) == []


def test_help_has_an_example():
    assert "mixkern datasets --picture sets.png" in run("datasets", "--help").output


def test_the_command_is_installed():
    done = subprocess.run([sys.executable, "-m", "mixkern", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"mixkern, version {mixkern.__version__}\n"


@pytest.mark.slow
def test_a_picture_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("datasets", "--picture", str(tmp_path / "file" / "sets.png"))
    assert done.exit_code == 1
    assert "Error: The picture could not be written" in done.output


@pytest.mark.slow
def test_an_interrupted_drawing_leaves_the_old_picture_whole(tmp_path, monkeypatch):
    picture = tmp_path / "sets.png"
    picture.write_bytes(b"old")

    def interrupted(self, where, **settings):
        where.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", interrupted)
    assert run("datasets", "--picture", str(picture)).exit_code == 130
    assert picture.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [picture]


def test_a_data_set_becomes_a_table_with_few_labels(tmp_path):
    path = tmp_path / "wine.csv"
    done = run("datasets", "--write", "wine", "--labels", "3", "--target", "kind", "-o", str(path))
    assert done.exit_code == 0, done.output
    assert "178 rows, 9 labels in 'kind'" in done.output
    frame = pd.read_csv(path)
    wine = mixkern.datasets.load("wine")
    assert frame.shape == (178, 14)
    known = frame["kind"].notna()
    assert known.sum() == 9
    assert (frame["kind"][known].astype(int) == wine.y[known]).all()
    result = json.loads(run("datasets", "--write", "wine", "-o", str(path), "--json").stdout)
    assert (result["rows"], result["labels"], result["target"]) == (178, 178, "class")
    assert pd.read_csv(path)["class"].notna().all()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--write", "whine"), "Did you mean 'wine'?"),
        (("--write", "wine", "--target", "alcohol"), "has a column 'alcohol' already"),
        (("--write", "wine", "-o", "wine.xls"), "does not end like a table"),
    ],
)
def test_tables_that_cannot_be_written(arguments, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("datasets", *arguments)
    assert done.exit_code != 0
    assert text in done.output
    assert not list(tmp_path.iterdir())
