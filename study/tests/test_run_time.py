"""Run-times: what is measured, not how long it takes."""

import math

import numpy as np
import pytest

from mixkern import datasets
from mixkern_study import (
    KERNELS,
    Experiment,
    Protocol,
    Store,
    Timing,
    published_run_times,
    run_time_table,
    study_fold,
)
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


@pytest.mark.slow
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
        assert (timing.n_rows, timing.n_labelled, timing.n_test) == (460, 46, 230)
    assert np.isnan(timings["density"].training_s)
    assert timings["lap"].grid_s > 0


def cells_of(table, title):
    """Return the cells of a row by their headings."""
    (row,) = [row for row in (*table.rows, *table.footer) if row[0].value == title]
    return dict(zip(table.columns, row, strict=True))


def test_run_times_are_means_over_folds(tmp_path):
    store = Store(tmp_path / "paper.sqlite")

    def timings(fold):
        size = {"data_set": "iris", "fold": fold, "n_rows": 120, "n_labelled": 12, "n_test": 30}
        yield Timing(method="density", building_s=2.0 + fold, **size)
        yield Timing(method="rbf_kernel", building_s=0.5, **size)
        for i, kernel in enumerate(KERNELS):
            grid = 9.0 if kernel == "lap" else math.nan
            times = {"training_s": 0.1 * i, "testing_s": 0.2, "grid_s": grid}
            yield Timing(method=kernel, building_s=1.0 + i + fold, **times, **size)

    store.add([*timings(0), *timings(1)])
    table = run_time_table(store)
    iris = cells_of(table, "Iris")
    paper = published_run_times()["Iris"]
    assert (iris["Density"].value, iris["Density"].published) == (2.5, paper.model_estimation)
    assert [iris[f"{k.upper()} building"].value for k in KERNELS] == [1.5, 2.5, 3.5, 4.5]
    assert [iris[f"{k.upper()} training"].published for k in KERNELS] == [paper.training[k] for k in KERNELS]
    assert iris["RWM / rbf_kernel"].value == 3.0
    assert (iris["LAP grid"].value, iris["LAP grid"].published) == (9.0, None)
    mean = cells_of(table, "Mean")  # of the one set that is complete
    assert (mean["LAP building"].value, mean["LAP building"].published) == (4.5, 121.938)  # as printed, of all sets
    assert cells_of(table, "Wine")["RWM / rbf_kernel"].to_text() == "-"


def test_the_published_means_are_those_that_the_paper_prints(tmp_path):
    table = run_time_table(Store(tmp_path / "paper.sqlite"))
    mean = cells_of(table, "Mean")
    assert [mean[name].published for name in ("Density", "RWM building", "LAP building")] == [13.43, 3.794, 121.938]
    rows = published_run_times().values()
    assert f"13.430 ({np.mean([row.model_estimation for row in rows]):.3f})" in table.caption
    assert f"121.938 ({np.mean([row.building['lap'] for row in rows]):.3f})" in table.caption
