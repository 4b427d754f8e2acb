"""``mixkern fit`` and ``predict`` with ``--dask``: Parquet files in, a folder of Parquet files out."""

import io
import json
from contextlib import nullcontext

import pandas as pd
import pytest
from rich.console import Console

from mixkern import load
from mixkern.cli import cluster, output
from mixkern.distributed import scheduling


@pytest.fixture
def events(people, tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    for i in range(3):
        part = people[30 * i : 30 * (i + 1)].assign(key=[f"k{j}" for j in range(30 * i, 30 * (i + 1))], one=1)
        part.to_parquet(folder / f"{i}.parquet", index=False)
    return folder


@pytest.fixture
def here(monkeypatch):
    """Work with Dask's threads in this process, which start at once."""
    monkeypatch.setattr(cluster, "cluster", lambda address: nullcontext())


def test_fit_and_predict(run, events, here, people, tmp_path, table):
    model, out = tmp_path / "a.mixkern", tmp_path / "out"
    done = run("fit", f"{events}/*.parquet", "--target", "churn", "-o", model, "--json", "--dask")
    result = json.loads(done.stdout)
    assert result["rows"] == 90
    assert result["partitions"] == 3
    assert result["columns"] == ["age", "town"]
    assert set(result["ignored"]) == {"key", "one"}
    assert "accuracy" in result
    assert any("'key'" in note for note in result["notes"])
    local = tmp_path / "local.mixkern"
    run("fit", table, "--target", "churn", "-o", local)
    ours, theirs = load(model), load(local)
    assert ours.mixture_.n_components == theirs.mixture_.n_components
    assert abs(ours.mixture_.means - theirs.mixture_.means).max() < 1e-9
    shown = run("predict", model, events, "-o", out, "--probabilities", "--dask").stdout
    assert f"Labelled table: {out}" in shown
    found = pd.read_parquet(out)
    assert found["label"].tolist() == theirs.predict(people[["age", "town"]]).tolist()
    assert "probability_yes" in found
    unsure = found["probability"] < 0.9
    again = json.loads(run("predict", model, events, "-o", f"{out}2", "--abstain", "0.9", "--json", "--dask").stdout)
    assert (again["rows"], again["empty"]) == (90, unsure.sum())
    assert pd.read_parquet(f"{out}2")["label"].isna().tolist() == unsure.tolist()


def test_the_next_command_is_shown(run, events, here, tmp_path):
    shown = run("fit", events, "--target", "churn", "-o", tmp_path / "a.mixkern", "--no-estimate", "--dask").stdout
    assert f"mixkern predict {tmp_path}/a.mixkern {events} -o labelled --dask" in shown


def test_options_that_do_not_fit(run, events, here, model, tmp_path):
    assert "not the address of a scheduler" in run("fit", events, "--target", "a", "--dask", "here", code=2).stderr
    assert "give --target COLUMN" in run("fit", events, "-o", tmp_path / "a.mixkern", "--dask", code=2).stderr
    assert "name it by -o FOLDER" in run("predict", model, events, "--dask", code=2).stderr
    assert (
        "has no column 'chrun'"
        in run("fit", events, "--target", "chrun", "-o", tmp_path / "a", "--dask", code=1).stderr
    )


def test_a_truncated_file_is_one_sentence_with_its_name(run, events, here, tmp_path):
    path = events / "1.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    stderr = run("fit", events, "--target", "churn", "-o", tmp_path / "a.mixkern", "--dask", code=1).stderr
    assert stderr == f"Error: {path} is not a Parquet file, or damaged. Write it again.\n"


@pytest.mark.slow
def test_on_a_local_cluster(installed, events, tmp_path):
    model, out = tmp_path / "a.mixkern", tmp_path / "out"
    installed("fit", events, "--target", "churn", "-o", model, "--dask")
    installed("predict", model, events, "-o", out, "--dask")
    assert len(pd.read_parquet(out)) == 90
    stderr = installed("fit", events, "--target", "churn", "--dask", "tcp://127.0.0.1:1", code=1).stderr
    assert "There is no Dask scheduler at tcp://127.0.0.1:1." in stderr


def test_the_tasks_of_a_pass_are_shown_on_a_terminal(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(output, "Console", lambda stderr: Console(file=file, force_terminal=True, width=100))
    parts, shown = [1] * 12, []
    with cluster.pass_progress("Learning [x]"):
        for _ in range(2):
            assert scheduling.total("density", parts, lambda part, shared, own: part, None, parts) == 12
            shown.append(file.getvalue())
    assert "Learning [x]: density, pass 2" in file.getvalue()
    assert "12/12" in file.getvalue()


def test_no_bar_in_a_pipe(run, events, here, tmp_path):
    done = run("fit", events, "--target", "churn", "-o", tmp_path / "a.mixkern", "--no-estimate", "--dask")
    assert "pass" not in done.stderr
