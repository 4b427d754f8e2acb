"""Jobs of any study: order, progress, failures, interruptions."""

import warnings
from dataclasses import dataclass
from functools import partial
from time import sleep

import pytest

from mixkern.errors import InterruptedWarning
from mixkern_study import Entry, Store, runner
from mixkern_study.protocol import StudyError
from mixkern_study.runner import quiet, run_jobs


@dataclass(frozen=True)
class Job:
    what: str
    effort: float = 1.0
    n_cells: int = 1
    error: Exception | None = None
    pause: float = 0.0

    def work(self, store):
        if self.error is not None:
            raise self.error
        plain = {"data_set": self.what, "budget": 1, "choice": "random", "method": "m", "settings": ""}
        figures = {"accuracy": 1.0, "balanced_accuracy": 1.0, "n_labelled": 1, "n_seen": 1}
        for draw in range(self.n_cells):
            store.add([Entry(**plain, draw=draw, **figures, structure_s=0.0, learning_s=0.0)])
            sleep(self.pause)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "s.sqlite")


def test_the_longest_job_of_a_stage_is_first_and_stages_wait(store):
    steps = []
    first, second = [Job("a", 1), Job("b", 5)], [Job("c", 2, n_cells=3), Job("d", 9)]
    run_jobs(store, first, second, n_jobs=1, on_step=steps.append)
    assert [step.what for step in steps] == ["b", "a", "d", "c"]
    assert [(step.done, step.total) for step in steps] == [(1, 6), (2, 6), (3, 6), (6, 6)]
    assert len(store.runs()) == 1


def test_nothing_to_do(store):
    run_jobs(store, [], [], n_jobs=1)
    assert store.runs() == []


def test_a_job_that_fails_does_not_stop_the_others(store):
    steps = []
    jobs = [Job("bad", 9, error=ValueError("no idea")), Job("good")]
    with pytest.raises(StudyError, match=r"1 of 2 parts failed, all others are kept\. The first: bad: ValueError: no"):
        run_jobs(store, jobs, n_jobs=1, on_step=steps.append)
    assert [step.error for step in steps] == ["ValueError: no idea", ""]
    assert len(store.entries()) == 1


def test_an_interrupted_job_stops_all(store):
    with pytest.raises(KeyboardInterrupt):
        run_jobs(store, [Job("stopped", 9, error=InterruptedWarning("stopped")), Job("later")], n_jobs=1)
    assert store.entries() == []


@pytest.mark.slow
def test_progress_within_a_job_is_counted_in_the_store(store, monkeypatch):
    monkeypatch.setattr(runner, "COUNTING_S", 0.01)
    steps = []
    store.add([])
    run_jobs(
        store, [Job("long", n_cells=5, pause=0.1)], n_jobs=1, on_step=steps.append, count=partial(store.count, Entry)
    )
    done = [step.done for step in steps]
    assert done == sorted(done)
    assert {1, 2, 3, 4} & set(done)
    assert done[-1] == 5


def test_warnings_are_ignored_but_for_interruptions():
    with quiet():
        warnings.warn("fine", UserWarning, stacklevel=1)
    with pytest.raises(KeyboardInterrupt), quiet():
        warnings.warn("stopped", InterruptedWarning, stacklevel=1)


def test_no_processes_are_refused(store):
    with pytest.raises(StudyError, match="n_jobs must be a number of processes"):
        run_jobs(store, [Job("a")], n_jobs=0)
