"""What every fit shares: whole or not at all, and progress."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.callback import ProgressBar, with_callbacks

from mixkern.fitting import ProgressMixin, all_or_nothing


class Learner(BaseEstimator):
    """Sets two attributes, or fails between them."""

    def __init__(self, error=None):
        self.error = error

    @all_or_nothing
    def fit(self, value):
        """Learn a value."""
        self.first_ = value
        if self.error is not None:
            raise self.error
        self.second_ = value
        return self

    @all_or_nothing
    def read(self, value):
        self.first_ = value
        return value + 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_a_fit_that_fails_changes_nothing(error):
    learner = Learner().fit(1).set_params(error=error)
    before = dict(vars(learner))
    with pytest.raises(error):
        learner.fit(2)
    assert vars(learner) == before


def test_a_first_fit_that_fails_leaves_no_attribute():
    learner = Learner(ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        learner.fit(1)
    assert vars(learner) == {"error": ZeroDivisionError}


def test_a_fit_returns_the_estimator_itself_and_other_results_as_they_are():
    learner = Learner()
    assert learner.fit(3) is learner
    assert (learner.first_, learner.second_) == (3, 3)
    assert learner.read(5) == 6
    assert learner.first_ == 5


def test_the_method_keeps_its_name_and_docstring():
    assert (Learner.fit.__name__, Learner.fit.__doc__) == ("fit", "Learn a value.")


# ---------------------------------------------------------------- progress


class Worker(ProgressMixin, BaseEstimator):
    """Takes so many steps, or stops where it is asked to."""

    def __init__(self, n_steps=3, announced=3, fails_after=None):
        self.n_steps = n_steps
        self.announced = announced
        self.fails_after = fails_after

    @with_callbacks
    def fit(self, X=None, y=None):
        self.replies_ = []
        with self._progress("lap", self.announced, X, y) as step:
            for done in range(self.n_steps):
                if done == self.fails_after:
                    raise KeyboardInterrupt
                self.replies_.append(step())
        return self


class Recorder:
    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", context.max_subtasks))

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.events.append(("begin", context.task_name, context.task_id, X, y))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self.events.append(("end", context.task_name, context.task_id, X, y))
        return context.task_name == "lap" and context.task_id == self.stop_at


def test_without_callbacks_no_step_asks_to_stop():
    assert Worker().fit().replies_ == [False, False, False]


def test_every_step_is_a_task():
    recorder = Recorder()
    Worker(2, 5).set_callbacks(recorder).fit("table", "labels")
    laps = [(word, "lap", i, None, None) for i in range(2) for word in ("begin", "end")]
    whole = [(word, "fit", 0, "table", "labels") for word in ("begin", "end")]
    assert recorder.events == [("setup", 5), whole[0], *laps, whole[1], "teardown"]


def test_one_of_several_callbacks_is_enough_to_stop():
    worker = Worker().set_callbacks(Recorder(), Recorder(stop_at=1), Recorder())
    assert worker.fit().replies_ == [False, True, False]


def test_the_number_of_steps_need_not_be_known():
    recorder = Recorder()
    Worker(4, None).set_callbacks(recorder).fit()
    assert recorder.events[0] == ("setup", None)
    assert len(recorder.events) == 2 + 2 + 2 * 4


def test_more_steps_than_were_announced_are_refused():
    """So an estimator that counts wrongly is found out, with or without a callback."""
    with pytest.raises(ValueError, match=r"already has its maximum number of children \(3\)"):
        Worker(4, 3).fit()


def test_callbacks_are_torn_down_after_an_error():
    recorder = Recorder()
    worker = Worker(fails_after=1).set_callbacks(recorder)
    with pytest.raises(KeyboardInterrupt):
        worker.fit()
    assert recorder.events[-1] == "teardown"
    assert Worker().set_callbacks(recorder).fit().replies_ == [False] * 3


def test_a_second_fit_counts_anew():
    recorder = Recorder()
    worker = Worker().set_callbacks(recorder)
    once = len(worker.fit() and recorder.events)
    worker.fit()
    assert len(recorder.events) == 2 * once


def test_a_bar_that_ends_too_early_is_closed(capsys):
    with pytest.raises(KeyboardInterrupt):
        Worker(fails_after=1).set_callbacks(ProgressBar()).fit()
    Worker().set_callbacks(ProgressBar()).fit()
    assert "Worker - fit" in capsys.readouterr().out
