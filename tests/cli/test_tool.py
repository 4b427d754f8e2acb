"""The installed command from end to end: each time another process, as users start it."""

import json
import os
import pickle
import re
import signal
import socket
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io

from mixkern import MixtureSVC, datasets, load, save
from mixkern.cli.table import training_table
from mixkern.errors import ColumnChoiceWarning

TARGET = "kind"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, or signals and terminals of Unix")


def labelled(name, share=0.05):
    """A packaged table without 95 % of its labels, and all labels."""
    whole = datasets.load(name)
    truth = whole.y.astype(object)
    is_kept = np.random.RandomState(0).rand(len(truth)) < share
    return whole.X.assign(**{TARGET: truth.where(is_kept, None)}), truth.astype(str)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["credit_a", "heart", "page_blocks"])
def test_every_command_on_a_real_table(name, installed, run, tmp_path):
    frame, truth = labelled(name)
    table, model = tmp_path / f"{name}.csv", tmp_path / f"{name}.mixkern"
    frame.to_csv(table, index=False)
    n, n_labels = len(frame), int(frame[TARGET].notna().sum())

    printed = installed("look", table, "--target", TARGET).stdout
    facts = json.loads(run("look", table, "--target", TARGET, "--json").stdout)
    assert (facts["rows"], facts["labelled"]) == (n, n_labels)
    assert {column["name"]: column["gaps"] for column in facts["columns"]} == frame.drop(
        columns=TARGET
    ).isna().sum().to_dict()
    assert printed.startswith(f"{name}.csv: {n:,} rows, {frame.shape[1] - 1} columns to learn from\n")
    assert f"Labels in '{TARGET}': {n_labels} of {n:,} rows: " in printed
    assert f"{len(facts['components'])} components (groups of similar rows)" in printed

    found = json.loads(installed("suggest", table, "--target", TARGET, "-n", 5, "--json").stdout)
    rows = [each["row"] for each in found["suggestions"]]
    assert len(rows) == len(set(rows)) == 5
    assert frame[TARGET].iloc[np.array(rows) - 1].isna().all()
    shown = run("suggest", table, "--target", TARGET, "-n", 5).stdout
    starts = [re.search(rf"^ *{row}  ", shown, re.MULTILINE).start() for row in rows]
    assert starts == sorted(starts)

    fitted = json.loads(installed("fit", table, "--target", TARGET, "-o", model, "--json").stdout)
    assert (fitted["rows"], sum(fitted["classes"].values())) == (n, n_labels)
    assert fitted["components"] == len(facts["components"])

    output = tmp_path / "labelled.csv"
    printed = installed("predict", model, table, "-o", output).stdout
    predictions = pd.read_csv(output, dtype=str)
    is_hidden = frame[TARGET].isna()
    right = (predictions["label"] == truth)[is_hidden].mean()
    constant = (truth == max(fitted["classes"], key=fitted["classes"].get))[is_hidden].mean()
    assert right > constant + 0.02, (right, constant)
    assert fitted["accuracy"]["interval"][0] <= right <= fitted["accuracy"]["interval"][1]
    assert printed.startswith(f"{n:,} rows: ")
    for label, count in predictions["label"].value_counts().items():
        assert f"{count:,} of {label!r}" in printed

    why = json.loads(installed("explain", model, table, "--row", rows[0], "--json").stdout)
    expected = predictions.iloc[rows[0] - 1]
    assert (why["row"], why["label"], why["novelty"]) == (rows[0], expected["label"], float(expected["novelty"]))
    assert why["probabilities"][why["label"]] == pytest.approx(float(expected["probability"]), rel=1e-9)
    assert sum(each["pull"] for each in why["neighbours"]) == pytest.approx(why["score"], rel=1e-6)
    printed = run("explain", model, table, "--row", rows[0]).stdout
    assert printed.startswith(f"Row {rows[0]} is predicted as {why['label']!r}, rather than {why['against']!r}.\n")

    page = tmp_path / "page.html"
    assert installed("report", model, table, "-o", page).stdout == f"Report: {page}\n"
    text = page.read_text()
    assert f"{name}.csv" in text
    assert text.count("<img") + text.count("<svg") >= 2
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
        [table.name, model.name, "labelled.csv", "page.html"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["credit_a", "heart"])
def test_another_process_gives_the_same_bits_as_the_model_in_memory(name, installed, tmp_path):
    frame, _ = labelled(name)
    frame.to_csv(tmp_path / "a.csv", index=False)
    data = training_table(str(tmp_path / "a.csv"), [], target=TARGET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnChoiceWarning)
        model = MixtureSVC(encoder=data.encoder, random_state=0).fit(data.X, data.y)
    save(model, tmp_path / "a.mixkern", notes={"target": TARGET})
    expected = model.assess(data.X, all_classes=True).to_pandas()
    for output in ("a.parquet", "b.csv"):
        installed("predict", tmp_path / "a.mixkern", tmp_path / "a.csv", "-o", tmp_path / output, "--probabilities")
    parquet = pd.read_parquet(tmp_path / "a.parquet")
    text = pd.read_csv(tmp_path / "b.csv", dtype=str)
    assert parquet["label"].tolist() == text["label"].tolist() == expected["label"].tolist()
    assert parquet["component"].tolist() == text["component"].map(int).tolist() == expected["component"].tolist()
    names = [each for each in expected if each.startswith(("probability", "novelty"))]
    assert len(names) == 4
    for each in names:
        bits = expected[each].to_numpy().tobytes()
        assert parquet[each].to_numpy().tobytes() == bits, each
        assert text[each].map(float).to_numpy().tobytes() == bits, each


# ---------------------------------------------------------------- long tables


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """A model of Page Blocks, and tables of any length from its rows."""
    folder = tmp_path_factory.mktemp("blocks")
    frame, _ = labelled("page_blocks")
    X = frame.drop(columns=TARGET)
    save(MixtureSVC(random_state=0).fit(X, frame[TARGET]), folder / "a.mixkern", notes={"target": TARGET})
    lines = X.to_csv(index=False).splitlines(keepends=True)

    def table(n):
        path = folder / f"{n}.csv"
        if not path.exists():
            rows = np.random.RandomState(0).randint(1, len(lines), n)
            path.write_text(lines[0] + "".join(lines[i] for i in rows))
        return path

    return folder / "a.mixkern", table


def memory_of(process):
    """Return the largest memory so far in MB; 0 for a process that has ended."""
    with suppress(OSError, StopIteration, ProcessLookupError):
        status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
    return 0.0


def watched(arguments, stderr):
    """Run a command; return its largest memory and what it printed on a terminal or a pipe."""
    ours, theirs = stderr
    os.set_blocking(ours, False)
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        peak, printed, end = 0.0, b"", time.monotonic() + 300
        while process.poll() is None:
            assert time.monotonic() < end
            peak = max(peak, memory_of(process))
            with suppress(OSError):
                printed += os.read(ours, 1 << 16)
            time.sleep(0.02)
    with suppress(OSError):
        while chunk := os.read(ours, 1 << 16):
            printed += chunk
    os.close(ours)
    assert process.returncode == 0, printed
    return peak, printed.decode()


@pytest.mark.slow
@ON_LINUX
def test_a_long_table_takes_no_more_memory_than_a_short_one(blocks, script, tmp_path):
    model, table = blocks
    few, many = 100_000, 200_000
    peaks = {}
    for n, streams in ((few, os.pipe()), (many, os.openpty())):
        output = tmp_path / f"{n}.csv"
        peaks[n], printed = watched([script, "predict", model, table(n), "-o", output], streams)
        with output.open() as lines:
            assert sum(1 for _ in lines) == n + 1
        if n == few:
            assert printed == ""  # a pipe
        else:
            assert f"Predicting {n}.csv" in printed  # a terminal
            assert "━" in printed
            assert "MB" in printed
            assert printed.count("\x1b[?25l") == printed.count("\x1b[?25h") == 1
    assert 0 < peaks[many] < 1_500
    assert peaks[many] < 1.15 * peaks[few], peaks
    labels = load(model).predict(pd.read_csv(table(few), nrows=300))
    assert pd.read_csv(tmp_path / f"{many}.csv", nrows=300)["label"].astype(str).tolist() == list(map(str, labels))


@pytest.mark.slow
@ON_LINUX
def test_ctrl_c_leaves_no_half_written_file(blocks, script, tmp_path):
    model, table = blocks
    command = [script, "predict", model, "-", "-o", tmp_path / "out.csv"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        process.stdin.write(table(100_000).read_bytes())  # and the pipe stays open
        process.stdin.flush()
        end = time.monotonic() + 60
        while not any(file.stat().st_size for file in tmp_path.iterdir()):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        printed = process.stderr.read().decode()
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert printed == "Stopped. No file was changed.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@ON_LINUX
def test_the_next_command_removes_what_a_killed_one_has_left(blocks, script, installed, tmp_path):
    model, table = blocks
    path, output = table(100_000), tmp_path / "out.csv"
    with subprocess.Popen([script, "predict", model, "-", "-o", output], stdin=subprocess.PIPE) as process:
        process.stdin.write(path.read_bytes())  # and the pipe stays open
        process.stdin.flush()
        end = time.monotonic() + 60
        while not any(file.stat().st_size for file in tmp_path.iterdir()):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()
        process.wait(20)
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert [file.name.startswith(".out.csv.") for file in tmp_path.iterdir()] == [True]
    installed("predict", model, path, "-o", output)
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.slow
@ON_LINUX
def test_a_pipe_that_is_closed(blocks, script, tmp_path):
    model, table = blocks
    command = f'set -o pipefail; cat "{table(100_000)}" | "{script}" predict "{model}" - --only | head -1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "row,label,probability,component,novelty\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_through_pipes(installed, run, model, table):
    done = installed("predict", model, "-", stdin=table.read_bytes())
    assert done.stdout == run("predict", model, table).stdout
    assert done.stdout.count("\n") == 91
    assert done.stderr == ""


# ---------------------------------------------------------------- damaged and hostile files


@pytest.mark.slow
@pytest.mark.parametrize("first", range(5))
def test_damaged_models(first, installed, damage, model, table, tmp_path):
    each = damage("io/models").damaged(model.read_bytes())[41 * first]
    path, output = tmp_path / "damaged.mixkern", tmp_path / "out.csv"
    path.write_bytes(each.content)
    done = installed("predict", path, table, "-o", output, code=None)
    assert done.code in (0, 1)
    assert output.exists() == (done.code == 0)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("first", range(5))
def test_damaged_tables(first, installed, damage, model, people, tmp_path):
    _, harmed = damage("io").damaged(people.to_csv(index=False).encode())[37 * first]
    path, output = tmp_path / "damaged.csv", tmp_path / "out.csv"
    path.write_bytes(harmed)
    done = installed("predict", model, path, "-o", output, code=None)
    assert done.code in (0, 1)
    assert output.exists() == (done.code == 0)
    assert "Traceback" not in done.stderr
    assert len(list(tmp_path.iterdir())) == 1 + output.exists()


class Trap:
    """Makes a file when it is unpickled, or when skops restores it."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)

    def __setstate__(self, state):
        Path(state["marker"]).touch()


def hostile(marker, sealed, content):
    """Files that would run code if they were trusted."""
    return {
        "pickle": pickle.dumps(Trap(marker)),
        "old pickle": pickle.dumps(Trap(marker), 0),
        "skops": skops.io.dumps(Trap(marker)),
        "pickle inside": sealed(content, pickle.dumps(Trap(marker))),
        "skops inside": sealed(content, skops.io.dumps(Trap(marker))),
    }


@pytest.fixture
def traps(damage, model, tmp_path):
    found = hostile(tmp_path / "ran", damage("io/models").sealed, model.read_bytes())
    for name, content in found.items():
        (tmp_path / f"{name}.mixkern").write_bytes(content)
    return [tmp_path / f"{name}.mixkern" for name in found]


def test_the_traps_work_where_files_are_trusted(traps, tmp_path):
    pickle.loads(traps[0].read_bytes())
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", [["predict"], ["explain", "--row", "1"], ["report", "--no-figures"]])
def test_hostile_files_do_nothing(command, traps, run, table, tmp_path):
    for path in traps:
        done = run(*command, path, table, code=1)
        assert done.stdout == ""
        assert path.name in done.stderr
    assert not (tmp_path / "ran").exists()
    assert len(list(tmp_path.iterdir())) == len(traps)


@pytest.mark.slow
def test_hostile_files_do_nothing_in_a_process_of_their_own(traps, installed, table, tmp_path):
    for path in (traps[0], traps[-1]):
        assert path.name in installed("predict", path, table, code=1).stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_terminal_that_lacks_signs(installed, people, tmp_path):
    strange = people.rename(columns={"town": "🙂 [bold]"}).replace({"yes": "日本"})
    strange.to_csv(tmp_path / "a.csv", index=False)
    environment = {"PYTHONIOENCODING": "ascii"}
    printed = installed("look", tmp_path / "a.csv", "--target", "churn", **environment).stdout
    assert "? [bold]" in printed
    found = installed("look", tmp_path / "a.csv", "--target", "churn", "--json", **environment).stdout
    assert json.loads(found)["classes"] == {"no": 15, "日本": 15}


@pytest.mark.slow
def test_commands_use_no_network(run, table, model, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("a command has looked for another machine")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(AssertionError):
        socket.create_connection(("127.0.0.1", 1))
    for command in (
        ("look", table, "--target", "churn"),
        ("suggest", table, "--target", "churn", "-n", 3),
        ("fit", table, "--target", "churn", "-o", tmp_path / "people.mixkern"),
        ("predict", model, table, "-o", tmp_path / "out.csv"),
        ("explain", model, table, "--row", 1),
        ("report", model, table, "-o", tmp_path / "people.html"),
    ):
        run(*command)
