import hashlib
from importlib.resources import files

import pytest

import mixkern_study
from mixkern_study import published_data_sets


def test_the_table_is_complete():
    rows = published_data_sets()
    assert len(rows) == 20
    assert sum(row.n_samples for row in rows) == 34136
    assert all(len(row.class_percent) == row.n_classes for row in rows)


def test_the_file_is_the_published_one():
    text = files("mixkern_study").joinpath("data", "data_sets.csv").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "4d73ab314b016457180a7cf261bb083f9b69ad7e3bb52afa709ee6b47b2096b9"


def test_slips_stay_as_published():
    clouds = next(row for row in published_data_sets() if row.title == "Clouds")
    assert clouds.class_percent == (52.2, 50.0)


@pytest.mark.parametrize(("experiment", "mean"), [(1, 76.57), (2, 81.48), (3, 87.09)])
def test_accuracies_have_the_published_means(experiment, mean):
    table = mixkern_study.published_accuracies(experiment)
    assert len(table) == 20
    assert sum(row["rwm"].percent for row in table.values()) / 20 == pytest.approx(mean, abs=0.006)


def test_the_best_of_each_row_is_among_the_bold_ones():
    for experiment in (1, 2, 3):
        for row in mixkern_study.published_accuracies(experiment).values():
            assert max(row.values(), key=lambda cell: cell.percent).is_best


def test_run_times():
    times = mixkern_study.published_run_times()
    assert len(times) == 20
    assert times["Phoneme"].building["lap"] == pytest.approx(527.3, abs=0.05)
    # The paper's own row of means says 13.430, which is not the mean of its rows.
    assert sum(row.model_estimation for row in times.values()) / 20 == pytest.approx(10.701, abs=0.001)
