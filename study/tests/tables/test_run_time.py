"""Run-times beside the published ones."""

import math

from mixkern_study import KERNELS, Timing, published_run_times, run_time_table

from .example import cells_of


def test_run_times_are_means_over_folds(store):
    def timings(fold):
        size = {"data_set": "iris", "fold": fold, "n_rows": 120, "n_labelled": 12, "n_test": 30}
        yield Timing(method="density", building_s=2.0 + fold, **size)
        yield Timing(method="rbf_kernel", building_s=0.5, **size)
        for i, kernel in enumerate(KERNELS):
            grid = 9.0 if kernel == "lap" else math.nan
            times = {"training_s": 0.1 * i, "testing_s": 0.2, "grid_s": grid}
            yield Timing(method=kernel, building_s=1.0 + i + fold, **times, **size)

    store.add_timings([*timings(0), *timings(1)])
    table = run_time_table(store)
    iris = cells_of(table, "Iris")
    paper = published_run_times()["Iris"]
    assert (iris["Density"].value, iris["Density"].published) == (2.5, paper.model_estimation)
    assert [iris[f"{k.upper()} building"].value for k in KERNELS] == [1.5, 2.5, 3.5, 4.5]
    assert [iris[f"{k.upper()} training"].published for k in KERNELS] == [paper.training[k] for k in KERNELS]
    assert iris["RWM / rbf_kernel"].value == 3.0
    assert (iris["LAP grid"].value, iris["LAP grid"].published) == (9.0, None)
    mean = cells_of(table, "Mean")  # of the one set that is complete
    assert (mean["LAP building"].value, mean["LAP building"].published) == (4.5, paper.building["lap"])
    assert cells_of(table, "Wine")["RWM / rbf_kernel"].to_text() == "-"
