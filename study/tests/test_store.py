"""Records survive a kill, several writers, and files of earlier versions."""

import hashlib
import json
import multiprocessing
import os
import pickle
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from mixkern import VBMixture, datasets
from mixkern_study import CellKey, Entry, Protocol, Result, Store, Timing, Trial
from mixkern_study.protocol import StudyError
from mixkern_study.record import FoldDensity
from mixkern_study.store import LAYOUT

KEY = CellKey(1, "iris", 0, 0, "rwm")


def result(**changes):
    plain = {"experiment": 1, "data_set": "iris", "fold": 0, "repeat": 0, "method": "rwm", "reading": "optimistic"}
    return Result(**{**plain, "accuracy": 0.9, "n_labelled": 12, **changes})


def trial(**changes):
    errors = {"validation_error": 0.2, "expected_error": 0.4, "optimistic_error": np.nan, "log_loss": 0.5}
    rest = {"confidence": 0.8, "n_support": 7.5, "C": 1.0, "gamma": 0.1, "alpha": 1.0, "beta": 1.0, "ratio": np.nan}
    return Trial(**{**vars(KEY), "density": "default", **errors, **rest, **changes})


def test_what_is_written_can_be_read(tmp_path):
    store = Store(tmp_path / "deep" / "down" / "s.sqlite")
    given = [result(), result(reading="ceiling", C=10.0, gamma=0.1, density="w0=1", smallest_eigenvalue=-0.5)]
    store.add(given, [trial(), trial(density="w0=1", C=10.0)])
    for found, expected in zip(Store(store.path).results(), given, strict=True):
        assert repr(found) == repr(expected)  # NaN is not equal to itself
    assert [each.density for each in store.trials(KEY)] == ["default", "w0=1"]
    assert repr(store.trials(KEY)[1]) == repr(trial(density="w0=1", C=10.0))
    assert store.done() == {KEY}


def test_results_are_found_by_their_values(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([result(fold=i, experiment=e) for i in range(3) for e in (1, 2)])
    assert len(store.results(experiment=1)) == 3
    assert len(store.results(experiment=2, fold=1)) == 1
    with pytest.raises(StudyError, match="Result has no 'kernel'"):
        store.results(kernel="rwm")


def test_a_second_result_of_a_cell_replaces_the_first(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([result(accuracy=0.5)], [trial()])
    store.add([result(accuracy=0.7)], [trial(C=3.0), trial(C=4.0)])
    assert [each.accuracy for each in store.results()] == [0.7]
    assert [each.C for each in store.trials(KEY)] == [3.0, 4.0]


def test_protocols_do_not_mix(tmp_path):
    a, b = Store(tmp_path / "s.sqlite"), Store(tmp_path / "s.sqlite", Protocol(seed=1))
    a.add([result()])
    assert len(a.results()) == 1
    assert b.results() == []
    assert b.done() == set()


def test_densities_come_back(tmp_path):
    X, _ = datasets.make_two_rings(n=200, random_state=0)
    mixture = VBMixture(random_state=0).fit(X).mixture_
    store = Store(tmp_path / "s.sqlite")
    assert store.density("iris", 0, "default") is None
    store.add_density("iris", 0, "default", mixture, 1.5)
    assert store.density("iris", 0, "default") == mixture
    assert store.density_names() == {("iris", 0, "default")}
    assert [kept.seconds for kept in store.read(FoldDensity)] == [1.5]


def test_timings_come_back(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    size = {"data_set": "iris", "fold": 0, "n_rows": 120, "n_labelled": 12, "n_test": 30}
    store.add([Timing(method="rwm", building_s=0.1, training_s=0.2, testing_s=0.3, **size)])
    assert repr(store.timings()) == repr([Timing(method="rwm", building_s=0.1, training_s=0.2, testing_s=0.3, **size)])


def test_versions_and_host_are_kept_once_per_run(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([result()])
    store.add([result(fold=1)])
    Store(store.path).add([result(fold=2)])
    runs = store.runs()
    assert len(runs) == 2
    assert "scikit-learn" in runs[0]["versions"]
    assert set(runs[0]["host"]) == {"system", "machine", "python", "cores"}


def test_another_protocol_in_the_same_file_belongs_to_the_same_run(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([result()])
    other = store.with_protocol(Protocol(labels="random"))
    other.add([result(accuracy=0.1)])
    assert (other.protocol, other.path, store.protocol) == (Protocol(labels="random"), store.path, Protocol())
    assert [each.accuracy for each in (*store.results(), *other.results())] == [0.9, 0.1]
    assert len(store.runs()) == len(other.runs()) == 1


def test_a_store_travels_to_workers(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.begin()
    copy = pickle.loads(pickle.dumps(store))
    copy.add([result()])
    assert copy.begin() == store.begin()
    assert len(store.runs()) == 1


def test_a_cell_is_written_whole_or_not_at_all(tmp_path):
    store = Store(tmp_path / "s.sqlite")

    def broken():
        yield trial()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add([result()], broken())
    assert store.results() == []
    assert store.trials(KEY) == []


def _write_forever(path):
    store = Store(path)
    for fold in range(10**6):
        store.add([result(fold=fold)], [trial(fold=fold)] * 50)


@pytest.mark.posix
@pytest.mark.slow
def test_a_kill_loses_no_finished_cell(tmp_path):
    path = tmp_path / "s.sqlite"
    store = Store(path)
    worker = multiprocessing.get_context("spawn").Process(target=_write_forever, args=(path,))
    worker.start()
    while len(store.done()) < 5:
        worker.join(0.05)
        assert worker.is_alive()
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    done = store.done()
    assert {key.fold for key in done} == set(range(len(done)))
    for key in done:
        assert len(store.trials(key)) == 50
    store.add([result(fold=10**7)])
    assert len(store.done()) == len(done) + 1


@pytest.mark.slow
def test_two_writers_wait_for_each_other(tmp_path):
    path = tmp_path / "s.sqlite"
    workers = [
        multiprocessing.get_context("spawn").Process(target=_write_some, args=(path, method))
        for method in ("rwm", "rbf")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(Store(path).results()) == 60


def _write_some(path, method):
    store = Store(path)
    for fold in range(30):
        store.add([result(fold=fold, method=method)])


def test_a_file_that_is_something_else_is_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a store, and dear to somebody\n" * 50)
    before = path.read_bytes()
    with pytest.raises(StudyError, match=r"notes\.txt is not a store of results"):
        Store(path)
    assert path.read_bytes() == before


def test_another_layout_is_refused(tmp_path):
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StudyError, match="another version of mixkern"):
        Store(path)


def test_a_database_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE dear (to_somebody TEXT)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StudyError, match="a database of something else"):
        Store(path)
    assert path.read_bytes() == before


def test_a_name_stands_for_one_table(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add_data_set("mine", "abc")
    store.add_data_set("mine", "abc")
    with pytest.raises(StudyError, match="another table that is called 'mine'"):
        store.add_data_set("mine", "def")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot be written"):
        Store(tmp_path / "file" / "s.sqlite")


def test_many_may_be_the_first(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: Store(tmp_path / f"{i // 8}.sqlite"), range(64)))
    assert len(made) == 64


# ---------------------------------------------------------------- entries of the leaderboard


def entry(**changes):
    plain = {"data_set": "iris", "budget": 4, "choice": "random", "draw": 0, "method": "rwm", "settings": "C=1"}
    figures = {"accuracy": 0.9, "balanced_accuracy": 0.8, "n_labelled": 12, "n_seen": 3}
    return Entry(**{**plain, **figures, "structure_s": 0.5, "learning_s": 0.25, **changes})


def test_entries_come_back(tmp_path):
    store = Store(tmp_path / "b.sqlite")
    given = [
        entry(),
        entry(draw=1, error="ValueError: no", seed=3),
        entry(draw=2, log_loss=0.5, reliability="[[1,0.5,1]]"),
    ]
    store.add(given)
    assert repr(Store(store.path).entries()) == repr(given)
    assert repr(store.entries(draw=1)) == repr(given[1:2])
    assert store.count(Entry) == 3
    assert store.distinct(Entry, ["data_set", "draw"]) == {("iris", 0), ("iris", 1), ("iris", 2)}
    assert given[0].seconds == 0.75
    with pytest.raises(StudyError, match="Entry has no 'fold'"):
        store.entries(fold=1)


def test_an_entry_of_other_settings_replaces_the_first(tmp_path):
    store = Store(tmp_path / "b.sqlite")
    store.add([entry(), entry(method="svc", settings="C=3")])
    store.add([entry(settings="C=9", accuracy=0.1)])
    assert [each.accuracy for each in store.entries(method="rwm")] == [0.1]
    assert Store(store.path, Protocol(seed=1)).count(Entry) == 0


# ---------------------------------------------------------------- files of earlier versions

RUN = """
CREATE TABLE run (id INTEGER PRIMARY KEY, started TEXT, host TEXT, versions TEXT, protocol TEXT);
CREATE TABLE data_set (name TEXT PRIMARY KEY, key TEXT);
"""
PAPER = """
CREATE TABLE density (
    protocol TEXT, data_set TEXT, fold INTEGER, name TEXT, mixture TEXT, seconds REAL, run INTEGER,
    PRIMARY KEY (protocol, data_set, fold, name));
CREATE TABLE result (
    protocol TEXT, experiment, data_set, fold, repeat, method, reading, accuracy, n_labelled, n_support, C, gamma,
    alpha, beta, ratio, density, n_components, rated_error, n_trials, smallest_eigenvalue, negative_mass, search_s,
    building_s, training_s, testing_s, seed, run INTEGER,
    PRIMARY KEY (protocol, experiment, data_set, fold, repeat, method, reading));
CREATE TABLE trial (
    protocol TEXT, experiment, data_set, fold, repeat, method, density TEXT, validation_error, expected_error,
    optimistic_error, log_loss, confidence, n_support, C, gamma, alpha, beta, ratio);
CREATE TABLE timing (
    protocol TEXT, data_set, fold, method, n_rows, n_labelled, n_test, building_s, training_s, testing_s, grid_s,
    run INTEGER, PRIMARY KEY (protocol, data_set, fold, method));
CREATE INDEX trials ON trial (protocol, experiment, data_set, fold, repeat, method);
"""
BOARD = """
CREATE TABLE entry (
    protocol TEXT, data_set, budget, choice, draw, method, settings, accuracy, balanced_accuracy, n_labelled, n_seen,
    structure_s, learning_s, error, seed, run INTEGER,
    PRIMARY KEY (protocol, data_set, budget, choice, draw, method));
"""
BOARD_4 = BOARD.replace("error, seed,", "error, seed, log_loss, reliability,")

# Settings of protocols before layout 5, whose records had the key of all of them.
SETTINGS = {
    "n_folds": 5,
    "n_inner_folds": 4,
    "labels_per_class": 4,
    "share": 0.1,
    "C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0],
    "density": "representativity",
    "seed": 2015,
}


def _earlier_key(text):
    return hashlib.sha256(f"2 {text}".encode()).hexdigest()[:12]


def _run_of(number, **changes):
    """Return a row of the table of runs, and the key of its records."""
    text = json.dumps({**SETTINGS, **changes}, sort_keys=True)
    return ("run", (number, "2026-01-01T00:00:00+00:00", "{}", "{}", text)), _earlier_key(text)


def _earlier(path, layout, tables, *rows):
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(RUN + tables)
        db.execute(f"PRAGMA user_version={layout}")
        for table, values in rows:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    return Store(path)


def _layout(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


@pytest.mark.parametrize("layout", [160001149, 3, 4])
def test_results_of_an_earlier_version_are_computed_again(tmp_path, layout):
    """Their cells are not done, nothing of them is read, and the file is added to."""
    run, key = _run_of(1)
    nan = None
    cell = (1, "iris", 0, 0, "rwm")
    kept = (*cell, "optimistic", 0.9, 12, -1, *[nan] * 5, "", 0, nan, 0, nan, nan, 0.0, 0.0, 0.0, 0.0, 0)
    tried = (*cell, "default", 0.2, 0.4, nan, 0.5, 0.8, 7.5, 1.0, 0.1, 1.0, 1.0, nan)
    rows = [run, ("result", (key, *kept, 1)), ("trial", (key, *tried))]
    store = _earlier(tmp_path / "paper.sqlite", layout, PAPER, *rows)
    assert (store.results(), store.trials(KEY), store.done()) == ([], [], set())
    store.add([result(), result(fold=1, accuracy=0.5)], [trial(fold=1)], [entry()])
    assert [each.accuracy for each in Store(store.path).results()] == [0.9, 0.5]
    assert store.done() == {KEY, CellKey(1, "iris", 1, 0, "rwm")}
    assert repr(store.trials(CellKey(1, "iris", 1, 0, "rwm"))) == repr([trial(fold=1)])
    assert repr(store.entries()) == repr([entry()])
    assert _layout(store.path) == LAYOUT


@pytest.mark.parametrize("layout", [1150523984, 3])
def test_entries_of_an_earlier_version_are_read_and_added_to(tmp_path, layout):
    run, key = _run_of(1)
    old = (key, "iris", 4, "random", 0, "rwm", "C=1", 0.9, 0.8, 12, 3, 0.5, 0.25, "", 0, 1)
    store = _earlier(tmp_path / "board.sqlite", layout, BOARD, run, ("entry", old))
    assert repr(store.entries()) == repr([entry()])
    added = entry(draw=1, log_loss=0.5, reliability="[[1,0.5,1]]")
    store.add([added])
    assert repr(Store(store.path).entries()) == repr([entry(), added])
    assert _layout(store.path) == LAYOUT


def test_entries_of_layout_4_keep_their_figures_under_the_key_of_what_they_depend_on(tmp_path):
    """They depend on folds and seed alone: a protocol with another grid finds them, one with another seed does not."""
    run, key = _run_of(1)
    other_run, other_key = _run_of(2, seed=7)
    figures = (4, "random", 0, "rwm", "C=1", 0.9, 0.8, 12, 3, 0.5, 0.25, "", 0, 0.5, "[[1,0.5,1]]")
    rows = [("entry", (key, "iris", *figures, 1)), ("entry", (other_key, "wine", *figures, 2))]
    store = _earlier(tmp_path / "board.sqlite", 4, BOARD_4, run, other_run, *rows)
    kept = entry(log_loss=0.5, reliability="[[1,0.5,1]]")
    assert repr(store.entries()) == repr([kept])
    assert repr(Store(store.path, Protocol(C=(1.0,), density="paper")).entries()) == repr([kept])
    assert [each.data_set for each in Store(store.path, Protocol(seed=7)).entries()] == ["wine"]
    assert Store(store.path, Protocol(n_folds=3)).entries() == []


def test_the_same_entry_of_two_earlier_protocols_is_kept_once(tmp_path):
    """Both depend on the same settings, so they are now one record."""
    runs = [_run_of(1), _run_of(2, C=[1.0])]
    figures = ("iris", 4, "random", 0, "rwm", "C=1", 0.9, 0.8, 12, 3, 0.5, 0.25, "", 0)
    rows = [("entry", (key, *figures, number)) for number, (_, key) in enumerate(runs, start=1)]
    store = _earlier(tmp_path / "board.sqlite", 3, BOARD, *(run for run, _ in runs), *rows)
    assert repr(store.entries()) == repr([entry()])
