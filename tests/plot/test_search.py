import pytest

from mixkern import DensitySearch, datasets, plot


@pytest.fixture(scope="module")
def search():
    X, _ = datasets.make_ripley(n=120, random_state=0)
    settings = {"mean_precision_prior": [0.1, 1.0], "precision_prior": [1.0, 10.0, "typical"], "criterion": "bound"}
    return DensitySearch(random_state=0, **settings).fit(X)


def test_every_trial_is_drawn_and_the_best_is_ringed(search):
    ax = plot.density_trials(search)
    *lines, ring = ax.get_lines()
    assert [line.get_label() for line in lines] == ["weights 1/k, mean 0.1", "weights 1/k, mean 1"]
    drawn = sorted(value for line in lines for value in line.get_ydata())
    assert drawn == pytest.approx(sorted(trial.score for trial in search.trials_))
    assert ring.get_ydata() == pytest.approx([search.best_.score])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10", "typical"]
    assert ax.get_ylabel() == "bound (higher is better)"


def test_it_draws_where_it_is_told(search):
    ax = plot.density_trials(search)
    assert plot.density_trials(search, ax=ax) is ax
