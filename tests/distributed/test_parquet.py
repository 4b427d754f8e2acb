"""Tables in many Parquet files: partitions, errors with the name of a file, folders that are whole or absent."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC, TableEncoder
from mixkern.distributed import listening, parquet, parquet_table, write_assessed
from mixkern.errors import OptionError, TableFileError

pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    group = random.randint(2, size=600)
    frame = pd.DataFrame({"size": random.normal(size=600) + 3 * group, "town": np.array(["a", "b"])[group]})
    frame["label"] = pd.array(np.array(["no", "yes"])[group], dtype="string").astype(object)
    frame.loc[frame.index % 20 > 0, "label"] = None
    frame["key"] = [f"k{17 * i}" for i in range(600)]
    return frame


@pytest.fixture
def events(tmp_path, rows):
    folder = tmp_path / "events"
    folder.mkdir()
    for i in range(6):
        rows[100 * i : 100 * (i + 1)].to_parquet(folder / f"day-{i}.parquet", index=False, row_group_size=40)
    return folder


@pytest.fixture(scope="module")
def model(rows):
    return MixtureSVC(random_state=0).fit(rows[["size", "town"]], rows["label"])


def test_files_are_partitions(events, rows):
    for pattern in (str(events), f"{events}/*.parquet"):
        table = parquet_table(pattern)
        assert len(table) == 600
        assert len(table.parts) == 6
    frame = table.collection(["town", "size"], text=["town"], gaps=["b"]).compute()
    assert list(frame.columns) == ["town", "size"]
    assert (frame["town"].isna().to_numpy() == (rows["town"] == "b").to_numpy()).all()


def test_large_files_are_divided_by_row_groups(events, monkeypatch):
    monkeypatch.setattr(parquet, "MOST_BYTES", 1)
    table = parquet_table(str(events))
    assert [part.n_rows for part in table.parts[:3]] == [40, 40, 20]
    assert len(table.collection()) == 600


def test_a_truncated_file_is_named(events):
    path = events / "day-3.parquet"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(
        TableFileError, match=r"^\S*day-3\.parquet is not a Parquet file, or damaged\. Write it again\.$"
    ):
        parquet_table(str(events))


def test_one_truncated_file_of_two_hundred_is_named(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    frame.to_parquet(tmp_path / "part-000.parquet")
    whole = (tmp_path / "part-000.parquet").read_bytes()
    for i in range(200):
        (tmp_path / f"part-{i:03}.parquet").write_bytes(whole)
    table = parquet_table(str(tmp_path))
    assert len(table.parts) == 200
    (tmp_path / "part-137.parquet").write_bytes(whole[:-30])
    named = r"part-137\.parquet is not a Parquet file, or damaged\. Write it again\.$"
    with pytest.raises(TableFileError, match=named):
        parquet_table(str(tmp_path))
    with pytest.raises(TableFileError, match=named):  # truncated after its footer was read
        TableEncoder().fit(table.collection())


def test_a_file_that_is_damaged_later_is_named(events):
    table = parquet_table(str(events))
    path = events / "day-3.parquet"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(TableFileError, match=r"day-3\.parquet is not a Parquet file, or damaged"):
        MixtureSVC(random_state=0).fit(table.collection(["size", "town", "label"]), "label")


def test_other_columns_and_no_files(events):
    pd.DataFrame({"size": [1], "town": ["a"]}).to_parquet(events / "day-9.parquet")
    with pytest.raises(TableFileError, match=r"day-9\.parquet and .*day-0\.parquet differ .*'key', 'label'"):
        parquet_table(str(events))
    with pytest.raises(TableFileError, match="There is no file"):
        parquet_table(str(events / "*.csv"))


def test_predictions_are_written_whole(events, model, rows, tmp_path):
    folder = tmp_path / "out"
    counts = write_assessed(model, parquet_table(str(events)), folder, all_classes=True)
    found = pd.read_parquet(folder)
    expected = model.assess(rows[["size", "town"]])
    assert found["mixkern_label"].tolist() == expected["label"].tolist()
    assert found["key"].tolist() == rows["key"].tolist()
    assert found["probability_no"].notna().all()
    assert counts == expected["label"].value_counts().sort_index().to_dict()
    assert sorted(path.name for path in folder.iterdir()) == [f"part-{i:05}.parquet" for i in range(6)]
    with pytest.raises(OptionError, match="exists already"):
        write_assessed(model, parquet_table(str(events)), folder)


def test_unsure_rows_have_no_label(events, model, rows, tmp_path):
    expected = model.assess(rows[["size", "town"]])
    for limit in (float(expected["probability"].median()), 1.0):
        counts = write_assessed(model, parquet_table(str(events)), tmp_path / f"{limit}", abstain=limit)
        found, is_empty = pd.read_parquet(tmp_path / f"{limit}"), expected["probability"] < limit
        assert found["mixkern_label"].isna().tolist() == is_empty.tolist()
        assert counts == expected["label"][~is_empty].value_counts().sort_index().to_dict()


def test_an_unfinished_folder_is_continued(events, model, tmp_path, monkeypatch):
    folder, table = tmp_path / "out", parquet_table(str(events))
    read, done = parquet.table_of_part, []

    def interrupted(part, columns=None):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(part.path)
        return read(part, columns)

    with dask.config.set(scheduler="synchronous"):
        monkeypatch.setattr(parquet, "table_of_part", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_assessed(model, table, folder)
        assert not folder.exists()
        done.clear()
        monkeypatch.setattr(parquet, "table_of_part", lambda part, columns=None: done.append(1) or read(part, columns))
        counts = write_assessed(model, table, folder)
    assert len(done) == 3
    assert sum(counts.values()) == 600
    assert not (tmp_path / "out.unfinished").exists()


def test_an_unfinished_folder_of_another_model_is_not_used(events, model, tmp_path):
    table, unfinished = parquet_table(str(events)), tmp_path / "out.unfinished"
    unfinished.mkdir()
    (unfinished / "part-00000.parquet").write_text("of another model")
    (unfinished / parquet.MANIFEST).write_text("{}")
    assert sum(write_assessed(model, table, tmp_path / "out", key="b").values()) == 600


# ---------------------------------------------------------------- workers that die


def die_once(mark):
    """Kill this process, if it is the one that removes the mark."""
    try:
        mark.unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class Deadly:
    """Kills the process that reads a partition, once."""

    def __init__(self, frame, mark, at):
        self.frame, self.mark, self.at = frame, mark, at

    def __call__(self, i):
        if i == self.at:
            die_once(self.mark)
        return self.frame[3_400 * i : 3_400 * (i + 1)]


class Workers:
    """Workers of one thread, as processes of their own: nothing starts a dead one again but :meth:`two`.

    The worker processes of a LocalCluster are started again while the cluster may be closing, and both may then wait.
    """

    def __init__(self, client, folder):
        self.client, self.folder, self.processes = client, folder, []

    def two(self):
        """Start what is missing of two workers, and wait for them."""
        self.processes = [process for process in self.processes if process.poll() is None]
        address, paths = self.client.scheduler.address, [*sys.path, str(Path.cwd())]
        for _ in range(2 - len(self.processes)):
            command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
            self.processes.append(
                subprocess.Popen(
                    [*command, "--no-dashboard", "--local-directory", str(self.folder)],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        self.client.wait_for_workers(2, timeout=120)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def workers(tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 0, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
        found = Workers(client, tmp_path)
        yield found
        found.close()


def fit(frame, mark, at, wanted_pass, name="density"):
    """Fit a model; a worker is killed in a partition after so many passes of a name."""
    import dask.dataframe as dd

    collection = dd.from_map(Deadly(frame, mark, at), list(range(5)), meta=frame[:0])
    seen = []

    def listen(done, _seconds):
        seen.append(done)
        if seen.count(name) == wanted_pass and done == name:
            mark.touch()

    if not wanted_pass:
        mark.touch()
    with listening(listen):
        return MixtureSVC(random_state=0).fit(collection, "label"), seen


@pytest.mark.slow
def test_a_worker_that_is_killed_in_a_fit_costs_its_partition(frame, workers, tmp_path):
    rows = frame[["size", "weight", "town", "label"]]
    with dask.config.set(scheduler="threads"):
        whole, seen = fit(rows, tmp_path / "never", 9, 99)
    assert seen.count("density") >= 3
    for i in range(10):
        mark = tmp_path / f"mark-{i}"
        workers.two()
        other, _ = fit(rows, mark, i % 5, i % 4)
        assert not mark.exists(), "a worker was killed"
        assert other.mixture_ == whole.mixture_
        assert np.array_equal(other.dual_coef_, whole.dual_coef_)


class DeadlyModel:
    """A model that kills its process, once."""

    def __init__(self, model, mark):
        self.model, self.mark, self.feature_names_in_ = model, mark, model.feature_names_in_

    def assess(self, frame, **options):
        die_once(self.mark)
        return self.model.assess(frame, **options)


@pytest.mark.slow
def test_a_worker_that_is_killed_in_a_prediction_costs_its_partition(events, model, workers, tmp_path):
    table = parquet_table(str(events))
    with dask.config.set(scheduler="threads"):
        write_assessed(model, table, tmp_path / "whole")
    whole = pd.read_parquet(tmp_path / "whole")
    for i in range(10):
        mark = tmp_path / f"mark-{i}"
        mark.touch()
        workers.two()
        write_assessed(DeadlyModel(model, mark), table, tmp_path / f"out-{i}")
        assert not mark.exists()
        assert pd.read_parquet(tmp_path / f"out-{i}").equals(whole)
        assert len(list((tmp_path / f"out-{i}").iterdir())) == 6
