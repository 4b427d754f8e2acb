"""Results that survive, whatever happens."""

import multiprocessing
import os
import pickle
import signal
import sqlite3

import numpy as np
import pytest

from mixkern import VBMixture, datasets
from mixkern.errors import StudyError
from mixkern.search import SearchTrial
from mixkern_study import CellKey, Protocol, Result, Store, Timing


def result(**changes):
    plain = {"experiment": 1, "data_set": "iris", "fold": 0, "repeat": 0, "method": "rwm", "reading": "optimistic"}
    return Result(**{**plain, "accuracy": 0.9, "n_labelled": 12, **changes})


def trial(**changes):
    errors = {"validation_error": 0.2, "expected_error": 0.4, "optimistic_error": np.nan, "log_loss": 0.5}
    rest = {"confidence": 0.8, "n_support": 7.5, "C": 1.0, "gamma": 0.1, "alpha": 1.0, "beta": 1.0, "ratio": np.nan}
    return SearchTrial(**{**errors, **rest, "rating": "validation", **changes})


KEY = CellKey(1, "iris", 0, 0, "rwm")


def test_what_is_written_can_be_read(tmp_path):
    store = Store(tmp_path / "deep" / "down" / "s.sqlite")
    given = [result(), result(reading="ceiling", C=10.0, gamma=0.1, density="w0=1", smallest_eigenvalue=-0.5)]
    store.add(given, [(KEY, "default", trial()), (KEY, "w0=1", trial(C=10.0))])
    for found, expected in zip(Store(store.path).results(), given, strict=True):
        assert repr(found) == repr(expected)  # NaN is not equal to itself
    assert [density for density, _ in store.trials(KEY)] == ["default", "w0=1"]
    assert repr(store.trials(KEY)[1][1]) == repr(trial(C=10.0))
    assert store.done() == {KEY}


def test_results_are_found_by_their_values(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([result(fold=i, experiment=e) for i in range(3) for e in (1, 2)])
    assert len(store.results(experiment=1)) == 3
    assert len(store.results(experiment=2, fold=1)) == 1
    with pytest.raises(StudyError, match="have no 'kernel'"):
        store.results(kernel="rwm")


def test_a_second_result_of_a_cell_replaces_the_first(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.add([result(accuracy=0.5)], [(KEY, "default", trial())])
    store.add([result(accuracy=0.7)], [(KEY, "default", trial(C=3.0)), (KEY, "default", trial(C=4.0))])
    assert [each.accuracy for each in store.results()] == [0.7]
    assert [each.C for _, each in store.trials(KEY)] == [3.0, 4.0]


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
    assert store.density_seconds() == {("iris", 0, "default"): 1.5}


def test_timings_come_back(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    size = {"data_set": "iris", "fold": 0, "n_rows": 120, "n_labelled": 12, "n_test": 30}
    store.add_timings([Timing(method="rwm", building_s=0.1, training_s=0.2, testing_s=0.3, **size)])
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
        yield KEY, "default", trial()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add([result()], broken())
    assert store.results() == []
    assert store.trials(KEY) == []


def _write_forever(path):
    store = Store(path)
    for fold in range(10**6):
        key = CellKey(1, "iris", fold, 0, "rwm")
        store.add([result(fold=fold)], [(key, "default", trial())] * 50)


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
