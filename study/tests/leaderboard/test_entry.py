"""Entries survive, each by itself."""

import multiprocessing
import os
import signal

import pytest

from mixkern.errors import StudyError
from mixkern_study import LeaderboardStore, Protocol
from mixkern_study.leaderboard import Deal, Entry


def entry(**changes):
    plain = {"data_set": "iris", "budget": 4, "choice": "random", "draw": 0, "method": "rwm", "settings": "C=1"}
    figures = {"accuracy": 0.9, "balanced_accuracy": 0.8, "n_labelled": 12, "n_seen": 3}
    return Entry(**{**plain, **figures, "structure_s": 0.5, "learning_s": 0.25, **changes})


def test_what_is_written_can_be_read(tmp_path):
    store = LeaderboardStore(tmp_path / "b.sqlite")
    given = [entry(), entry(draw=1, error="ValueError: no", seed=3)]
    store.add(given)
    assert LeaderboardStore(store.path).entries() == given
    assert store.entries(draw=1) == given[1:]
    assert store.count() == 2
    assert given[0].seconds == 0.75
    assert given[1].deal == Deal(4, "random", 1)
    with pytest.raises(StudyError, match="Entries have no 'fold'"):
        store.entries(fold=1)


def test_entries_of_other_settings_are_not_done(tmp_path):
    store = LeaderboardStore(tmp_path / "b.sqlite")
    store.add([entry(), entry(method="svc", settings="C=3")])
    assert store.done({"rwm": "C=1", "svc": "C=2"}) == {("iris", Deal(4, "random", 0), "rwm")}
    store.add([entry(settings="C=9", accuracy=0.1)])
    assert [each.accuracy for each in store.entries(method="rwm")] == [0.1]


def test_protocols_do_not_mix(tmp_path):
    LeaderboardStore(tmp_path / "b.sqlite").add([entry()])
    other = LeaderboardStore(tmp_path / "b.sqlite", Protocol(seed=1))
    assert (other.entries(), other.count(), other.done({"rwm": "C=1"})) == ([], 0, set())


def test_together_or_not_at_all(tmp_path):
    store = LeaderboardStore(tmp_path / "b.sqlite")

    def broken():
        yield entry()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(broken())
    assert store.entries() == []


def _write_forever(path):
    store = LeaderboardStore(path)
    for draw in range(10**6):
        store.add([entry(draw=draw)])


def test_a_kill_loses_no_finished_entry(tmp_path):
    store = LeaderboardStore(tmp_path / "b.sqlite")
    worker = multiprocessing.get_context("fork").Process(target=_write_forever, args=(store.path,))
    worker.start()
    while store.count() < 5:
        worker.join(0.01)
        assert worker.is_alive()
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    found = store.entries()
    assert [each.draw for each in found] == list(range(len(found)))
    store.add([entry(draw=10**7)])
    assert store.count() == len(found) + 1
