"""Running, collecting and tabulating trials."""

import warnings
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

from mixkern import device
from mixkern.errors import DeviceWarning, InterruptedWarning, MixkernWarning, OptionError, hint, warn
from mixkern.trials import N_JOBS, collect_trials, ranks, results_table, run_tasks


class Steps:
    """Counts its calls, keeps the lines, and stops after so many."""

    def __init__(self, stop_after=None):
        self.lines, self.stop_after = [], stop_after

    def __call__(self, text):
        self.lines.append(text())
        return self.stop_after is not None and len(self.lines) >= self.stop_after


def found(n, interrupted=False):
    yield from range(n)
    if interrupted:
        raise KeyboardInterrupt


def line(trial, number):
    return f"{number}: {trial}"


def test_tasks_begin_when_they_are_needed():
    seen = []
    results = run_tasks(lambda i: seen.append(i) or i, [(i,) for i in range(5)], None)
    assert [next(results), next(results)] == [0, 1]
    assert seen == [0, 1]


def test_parallel_results_keep_their_order():
    with parallel_config("threading"):
        assert list(run_tasks(pow, [(2, i) for i in range(20)], 4)) == [2**i for i in range(20)]
        results = run_tasks(pow, [(2, i) for i in range(20)], 4)
        assert next(results) == 1
        results.close()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_tasks_are_cancelled_without_a_warning(backend, monkeypatch):
    messages = []
    with parallel_config(backend):
        results = run_tasks(pow, [(2, i) for i in range(50)], 2)
        assert next(results) == 1
        # Not by a filter: another thread may set its own at that moment.
        monkeypatch.setattr(warnings, "warn", lambda *args, **_: messages.append(args))
        results.close()
    assert messages == []


def test_an_error_of_a_task_is_raised():
    with parallel_config("threading"), pytest.raises(ZeroDivisionError):
        list(run_tasks(pow, [(2, 1), (0, -1), (2, 2)], 2))


@pytest.mark.slow
def test_warnings_of_other_processes_are_issued_in_this_one():
    task = partial(warn, category=MixkernWarning, hint=hint(cli="Help."))  # other processes can import it anywhere
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(run_tasks(task, [("Task 0.",), ("Task 1.",)], 2)) == [None, None]
    assert [each.message.on("cli") for each in caught] == ["Task 0. Help.", "Task 1. Help."]
    with pytest.raises(MixkernWarning, match="Task 0"):  # as by the filters of the tests
        list(run_tasks(task, [("Task 0.",), ("Task 1.",)], 2))


@pytest.mark.slow
def test_settings_reach_other_processes():
    with device.config(dtype="float64"):
        assert list(run_tasks(device.gpu_dtype, [(), ()], 2)) == [np.float64, np.float64]
    assert list(run_tasks(device.gpu_dtype, [(), ()], 2)) == [np.float32, np.float32]  # the processes are the same


def test_settings_of_a_call_reach_other_threads():
    with device.using(device.Settings(dtype="float64")), parallel_config("threading"):
        assert list(run_tasks(device.gpu_dtype, [(), ()], 2)) == [np.float64, np.float64]
        assert list(run_tasks(device.gpu_dtype, [(), ()], None)) == [np.float64, np.float64]


def test_a_gpu_that_another_process_does_not_have(monkeypatch):
    monkeypatch.setattr(device._State, "settings", device.Settings("cuda", "float64"))
    with pytest.warns(DeviceWarning, match="so the CPU is used"):
        assert list(run_tasks(device.on_gpu, [(), ()], 2)) == [False, False]


def test_all_trials_are_collected_and_shown():
    steps = Steps()
    assert collect_trials(found(3), steps, 3, line) == [0, 1, 2]
    assert steps.lines == ["1: 0", "2: 1", "3: 2"]


def test_a_callback_stops_once_there_is_a_result():
    with pytest.warns(InterruptedWarning, match=r"^Stopped after 2 of 9 trials; the best of them is used\.$"):
        assert collect_trials(found(9), Steps(2), 9, line) == [0, 1]
    with pytest.warns(InterruptedWarning, match="6 of 9"):
        assert collect_trials(found(9), Steps(2), 9, line, is_result=lambda trial: trial > 4) == [0, 1, 2, 3, 4, 5]
    assert collect_trials(found(2), Steps(2), 2, line) == [0, 1]  # all of them: no warning


def test_ctrl_c_keeps_the_trials_if_one_of_them_is_a_result():
    with pytest.warns(InterruptedWarning, match=r"^Stopped after 2 of 9 trials; the best of them is used\.$"):
        assert collect_trials(found(2, interrupted=True), Steps(), 9, line) == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        collect_trials(found(2, interrupted=True), Steps(), 9, line, is_result=lambda trial: trial > 4)


def test_ranks_are_those_of_counting():
    random = np.random.RandomState(0)
    orders = [tuple(each) for each in random.randint(0, 3, (50, 2)).tolist()]
    assert ranks(orders) == [1 + sum(other < order for other in orders) for order in orders]


def test_a_table_of_results():
    scores = [[0.5, 1.0, np.nan], [np.nan, np.nan, np.nan]]
    params = [{"C": 1.0, "kind": None}, {"C": 2.0, "kind": "b"}]
    columns = {name: [each[name] for each in params] for name in ("C", "kind")}
    table = results_table(params, columns, scores, [0.7, 0.1], [1, 2], [(1.0, 2.0), (3.0, 4.0)])
    assert table["params"] == params
    assert table["param_C"].dtype == float
    assert table["param_kind"].tolist() == [None, "b"]
    assert table["split1_test_score"].tolist()[0] == 1.0
    np.testing.assert_array_equal(table["std_test_score"], [0.25, np.nan])
    assert (table["mean_test_score"].tolist(), table["rank_test_score"].tolist()) == ([0.7, 0.1], [1, 2])
    assert (table["mean_fit_time"].tolist(), table["mean_score_time"].tolist()) == ([1.0, 3.0], [2.0, 4.0])


@pytest.mark.parametrize("n_jobs", [0, 2.5, "all"])
def test_numbers_of_jobs_that_are_none(n_jobs):
    with pytest.raises(OptionError, match=r"^n_jobs must be a whole number other than 0 or None, but it is "):
        N_JOBS.check(n_jobs, "n_jobs")
