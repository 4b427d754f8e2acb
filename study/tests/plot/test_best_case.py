import re

import numpy as np
import pytest

from mixkern import datasets
from mixkern.errors import OptionError
from mixkern_study.plot.best_case import KERNELS, PER_CLASS, SETS, Task, best_model, comparison


@pytest.fixture(scope="module")
def task():
    X, truth = datasets.make_cross(200, random_state=0)
    return Task.of(X, truth, np.random.RandomState(0))


def test_a_task_is_the_first_of_five_folds(task):
    assert (len(task.rows), len(task.test_rows)) == (160, 40)
    assert np.bincount(task.test_truth).tolist() == [20, 20]
    assert len(task.labelled) == 2 * PER_CLASS
    everything = np.vstack([task.rows, task.test_rows])
    np.testing.assert_allclose(everything.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(everything.std(axis=0), 1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_best_model_is_as_good_as_any_other_of_its_kind_on_the_test_rows(kernel, task):
    best = best_model(kernel, task, ratios=(1.0, 100.0))
    reached = best.score(task.test_rows, task.test_truth)
    for C, gamma in ((0.001, 0.001), (1.0, 1.0), (100.0, 0.1)):
        other = best.set_params(C=C, gamma=gamma).fit(task.rows, task.y)
        assert other.score(task.test_rows, task.test_truth) <= reached


@pytest.mark.slow
def test_lines_are_sets_and_columns_kernels():
    figure = comparison(["Adidas", "Cross"], share=0.2, ratios=[1.0], resolution=20)
    titles = [panel.get_title() for panel in figure.axes]
    assert [title.split(":")[0] for title in titles] == ["RWM", "LAP", "GMM", "RBF"] * 2
    assert all(re.fullmatch(r"\w+: \d+\.\d %", title) for title in titles)
    assert [panel.get_ylabel() for panel in figure.axes] == ["Adidas", "", "", "", "Cross", "", "", ""]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_picture():
    drawn = [comparison(["Cross"], share=0.2, ratios=[1.0], resolution=10, random_state=3) for _ in range(2)]
    first, second = ([panel.get_title() for panel in figure.axes] for figure in drawn)
    assert first == second


def test_unknown_sets_are_refused():
    with pytest.raises(OptionError, match=r"^sets must be some of .*Adidas.*, but there is 'Cros'\. .*Cross"):
        comparison(["Cros"])
    with pytest.raises(OptionError, match="but there is none"):
        comparison([])
    assert list(SETS) == ["Two Moons", "Cross", "Clouds", "Three Moons", "Adidas"]
