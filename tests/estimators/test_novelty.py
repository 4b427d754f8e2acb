"""How unlike the training rows a row is, against a loop, and as a quantile."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from mixkern import LaplacianSVC, Mixture, MixtureOneClassSVM, MixtureSVC, MixtureSVR, VBMixture
from mixkern.estimators import novelty
from mixkern.estimators.novelty import Novelty

MIXTURE = Mixture([0.6, 0.4], [[0.0, 0.0], [3.0, 3.0]], [np.eye(2), np.diag([2.0, 0.5])])


def sample(n, seed, gaps=0.0):
    rows = MIXTURE.sample(n, seed)[0]
    rows[np.random.RandomState(seed).uniform(size=rows.shape) < gaps] = np.nan
    return rows


def literal_novelty(row, training, mixture):
    """The share of training rows in denser places, in the columns that the row has."""
    gap = np.isnan(row)
    complete = [other for other in training if not np.isnan(other[~gap]).any()] or list(training)
    own, denser = mixture.log_density(row[None])[0], 0
    for other in complete:
        shown = np.where(gap, np.nan, other)
        denser += mixture.log_density(shown[None])[0] > own
    return denser / len(complete)


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_novelty_is_a_plain_loop(gaps):
    training, new = sample(30, 0, gaps), sample(25, 1, gaps)
    new = new[~np.isnan(new).all(axis=1)]
    found = Novelty.of(training, np.random.RandomState(0)).of_rows(new, MIXTURE)
    expected = [literal_novelty(row, training, MIXTURE) for row in new]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    alone = [Novelty(training).of_rows(row[None], MIXTURE)[0] for row in new]
    np.testing.assert_array_equal(alone, found)


def test_where_no_row_has_all_the_others_all_are_asked():
    training = np.array([[0.0, np.nan], [1.0, np.nan], [5.0, np.nan]])
    found = Novelty(training).of_rows(np.array([[np.nan, 0.0], [np.nan, 50.0]]), MIXTURE)
    assert found.shape == (2,)
    assert np.isfinite(found).all()


def test_training_rows_stay_as_they_are():
    training = sample(10, 0)
    before = training.copy()
    Novelty(training).of_rows(np.array([[np.nan, 1.0]]), MIXTURE)
    np.testing.assert_array_equal(training, before)


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(novelty, "MOST_ROWS", 20)
    training = sample(100, 0)
    some = Novelty.of(training, np.random.RandomState(0))
    assert some.rows.shape == (20, 2)
    assert {tuple(row) for row in some.rows} <= {tuple(row) for row in training}
    assert Novelty.of(training[:20], np.random.RandomState(0)).rows.shape == (20, 2)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_fresh_rows_of_the_same_kind_spread_evenly(gaps):
    """Its expectation: a quantile. The rows are fresh, and the mixture knows where they come from."""
    fresh = sample(400, 1, gaps)
    fresh = fresh[~np.isnan(fresh).all(axis=1)]  # of a row of gaps, nothing is known
    assert kstest(Novelty(sample(1500, 0)).of_rows(fresh, MIXTURE), "uniform").pvalue > 0.01


@pytest.mark.parametrize("machine", [MixtureSVC, LaplacianSVC, MixtureSVR, MixtureOneClassSVM])
def test_every_machine_knows_what_is_new(machine):
    X = sample(400, 0)
    y = np.where(np.arange(400) < 20, np.arange(400) % 2, -1)
    model = machine(random_state=0).fit(X, y)
    fresh = model.novelty(sample(300, 5))
    assert kstest(fresh, "uniform").pvalue > 0.01
    assert (fresh > 0.99).mean() < 0.05
    assert model.novelty([[60.0, -60.0]]).tolist() == [1.0]
    assert model.novelty(X[:1]).shape == (1,)
    np.testing.assert_array_equal(model.novelty(X[3:4]), model.novelty(X)[3:4])
    assert model.novelty([[np.nan, 60.0]]).tolist() == [1.0]


def test_responsibilities_are_those_of_the_mixture():
    X = sample(100, 0, gaps=0.1)
    model = MixtureSVC(random_state=0).fit(X, np.where(np.arange(100) < 20, np.arange(100) % 2, -1))
    rho = model.responsibilities(X)
    np.testing.assert_array_equal(rho, model.mixture_.responsibilities(model.encoder_.transform(X)))
    np.testing.assert_allclose(rho.sum(axis=1), 1)
    assert rho.shape == (100, model.mixture_.n_components)
    raw = MixtureSVC(density=model.mixture_).fit(model.encoder_.transform(X), np.arange(100) % 2)
    np.testing.assert_array_equal(raw.responsibilities(model.encoder_.transform(X)), rho)


def test_a_category_from_nowhere_is_new():
    table = pd.DataFrame({"a": sample(60, 0)[:, 0], "c": ["u", "v"] * 30})
    model = MixtureSVC(random_state=0).fit(table, np.where(np.arange(60) < 8, np.arange(60) % 2, -1))
    with pytest.warns(UserWarning, match="'c': 'x'"):
        assert model.novelty(pd.DataFrame({"a": [0.0], "c": ["x"]})) > 0.9


TIES = "rows of equal density count as denser, so what every training row looks like is as new as can be"


def test_what_every_row_looks_like_is_not_new():
    model = MixtureSVC(random_state=0).fit(np.ones((20, 2)), np.arange(20) % 2)
    assert model.novelty(np.ones((1, 2))) < 0.99


def test_the_usual_category_has_nothing_denser():
    table = pd.DataFrame({"c": ["u"] * 54 + ["v"] * 6})
    model = MixtureSVC(random_state=0).fit(table, np.where(np.arange(60) < 8, np.arange(60) % 2, -1))
    assert model.novelty(table.iloc[:1]) == 0.0
    assert model.novelty(table.iloc[-1:]) == pytest.approx(0.9)


def test_a_row_without_any_number_is_not_new():
    model = MixtureSVC(density=MIXTURE).fit(sample(20, 0), np.arange(20) % 2)
    assert model.novelty([[np.nan, np.nan]]) < 0.99


def test_what_the_caller_does_to_the_table_later_does_not_matter():
    X = sample(30, 0)
    model = MixtureSVC(encoder="passthrough", density=VBMixture(random_state=0)).fit(X, np.arange(30) % 2)
    before = model.novelty(sample(5, 1))
    X[:] = 0.0
    np.testing.assert_array_equal(model.novelty(sample(5, 1)), before)
