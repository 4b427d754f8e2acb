"""Run-times: what is measured, not how long it takes."""

import numpy as np
import pytest

from mixkern import datasets
from mixkern_study import Experiment, Protocol, study_fold
from mixkern_study.fold import fitted_density, labelled_rows
from mixkern_study.run_time import LEAST_S, MOST_TIMES, fold_timings, quickest


def test_short_work_is_repeated_and_long_work_is_not(monkeypatch):
    clock = iter(np.cumsum([0.0, 0.004] * 100))
    monkeypatch.setattr("mixkern_study.run_time.perf_counter", lambda: next(clock))
    calls = []
    assert quickest(lambda: calls.append(1)) == pytest.approx(0.004)
    assert len(calls) == int(np.ceil(LEAST_S / 0.004))
    clock = iter([0.0, 1.0])
    monkeypatch.setattr("mixkern_study.run_time.perf_counter", lambda: next(clock))
    calls.clear()
    assert quickest(lambda: calls.append(1)) == 1.0
    assert len(calls) == 1


def test_nothing_is_repeated_for_ever(monkeypatch):
    monkeypatch.setattr("mixkern_study.run_time.perf_counter", lambda: 0.0)
    calls = []
    quickest(lambda: calls.append(1))
    assert len(calls) == MOST_TIMES


def test_a_fold_of_a_mixed_table_with_gaps():
    protocol = Protocol(n_folds=3, intrinsic=(1.0,), ambient=(0.1, 1.0), priors=())
    fold = study_fold(datasets.load("credit_a"), 0, protocol)
    mixture = fitted_density(fold, "default", protocol)
    labelled = labelled_rows(fold, mixture, Experiment.A_TENTH, 0, protocol)
    timings = {timing.method: timing for timing in fold_timings(fold, mixture, labelled, protocol)}
    assert list(timings) == ["density", "rbf_kernel", "rwm", "gmm", "rbf", "lap"]
    for name in ("rwm", "gmm", "rbf", "lap"):
        timing = timings[name]
        assert min(timing.building_s, timing.training_s, timing.testing_s) > 0
        assert (timing.n_rows, timing.n_labelled, timing.n_test) == (460, 46, 414)
    assert np.isnan(timings["density"].training_s)
    assert timings["lap"].grid_s > 0
