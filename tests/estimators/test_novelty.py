"""How unlike the training rows a row is, against a loop, and as a quantile."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from mixkern import LaplacianSVC, Mixture, MixtureOneClassSVM, MixtureSVC, MixtureSVR, VBMixture
from mixkern.density import Rows
from mixkern.estimators import novelty
from mixkern.estimators.novelty import Novelty

MIXTURE = Mixture([0.6, 0.4], [[0.0, 0.0], [3.0, 3.0]], [np.eye(2), np.diag([2.0, 0.5])])


def sample(n, seed, gaps=0.0):
    rows = MIXTURE.sample(n, seed)[0]
    rows[np.random.RandomState(seed).uniform(size=rows.shape) < gaps] = np.nan
    return rows


NONE = np.empty((0, 2))


def literal_novelty(row, training, drawn, mixture):
    """The share of usual rows in denser places, in the columns that the row has."""
    gap = np.isnan(row)
    usual = [other for other in training if not np.isnan(other[~gap]).any()]
    if len(usual) < 200 and len(drawn):
        usual = drawn
    own, denser = mixture.log_density(row[None])[0], 0
    for other in usual:
        shown = np.where(gap, np.nan, other)
        denser += mixture.log_density(shown[None])[0] > own
    return denser / len(usual)


@pytest.mark.parametrize(
    ("n", "gaps"),
    [
        (30, 0.0),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in [(250, 0.0), (30, 0.4), (300, 0.1), (300, 0.4)]),
    ],
)
def test_novelty_is_a_plain_loop(n, gaps, monkeypatch):
    monkeypatch.setattr(novelty, "MAX_ROWS", 400)
    training, new = sample(n, 0, gaps), sample(12, 1, 0.3)
    judge = Novelty.of(Rows(training, MIXTURE), np.random.RandomState(0))
    assert judge.sampled.shape == (400 if gaps else 0, 2)
    found = judge.share_denser(Rows(new, MIXTURE))
    expected = [literal_novelty(row, training, judge.sampled, MIXTURE) for row in new]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    alone = [Novelty(training, judge.sampled).share_denser(Rows(row[None], MIXTURE))[0] for row in new]
    np.testing.assert_array_equal(alone, found)


def test_with_gaps_rows_are_drawn_from_the_mixture():
    judge = Novelty.of(Rows(sample(50, 0, 0.2), MIXTURE), np.random.RandomState(0))
    assert judge.sampled.shape == (2000, 2)
    assert not np.isnan(judge.sampled).any()
    np.testing.assert_array_equal(judge.sampled, MIXTURE.sample(2000, np.random.RandomState(0))[0])
    assert judge.rows.shape == (50, 2)
    assert Novelty.of(Rows(sample(50, 0), MIXTURE), np.random.RandomState(0)).sampled.shape == (0, 2)


def test_two_hundred_complete_rows_are_enough():
    """All of them are denser than the row. With one less, drawn rows are asked: here far away, so none is denser."""
    row, drawn = np.array([[-2.0, np.nan]]), np.full((10, 2), 50.0)
    rows = np.full((300, 2), np.nan)
    rows[:200, 0] = 0.0
    assert Novelty(rows, drawn).share_denser(Rows(row, MIXTURE)) == 1.0
    rows[0, 0] = np.nan
    assert Novelty(rows, drawn).share_denser(Rows(row, MIXTURE)) == 0.0
    assert Novelty(rows, NONE).share_denser(Rows(row, MIXTURE)) == 1.0  # without drawn rows, these few have to do


def test_drawn_rows_lose_the_columns_that_a_row_lacks():
    training = np.array([[0.0, np.nan], [1.0, np.nan], [5.0, np.nan]])
    drawn = MIXTURE.sample(2000, 0)[0]
    new = np.array([[np.nan, 0.0], [np.nan, 50.0]])
    found = Novelty(training, drawn).share_denser(Rows(new, MIXTURE))
    marginal = MIXTURE.log_density(np.column_stack([np.full(2000, np.nan), drawn[:, 1]]))
    assert found[0] == pytest.approx((marginal > MIXTURE.log_density(new[:1])).mean())
    assert found[1] == 1.0


def test_ties_count_as_not_denser():
    rows = np.array([[0.0, 0.0]] * 3 + [[9.0, 9.0]])
    assert Novelty(rows, NONE).share_denser(Rows(rows[:1], MIXTURE)) == 0.0
    assert Novelty(rows, NONE).share_denser(Rows(rows[-1:], MIXTURE)) == 0.75
    assert Novelty(rows, NONE).share_denser(Rows(np.array([[np.nan, np.nan]]), MIXTURE)) == 0.0


def test_blocks_of_rows_have_the_novelty_of_the_whole_table(monkeypatch):
    rows, known = Rows(sample(400, 2, gaps=0.3), MIXTURE), Novelty(sample(300, 1), NONE)
    whole = known.share_denser(rows)
    monkeypatch.setattr(novelty, "MAX_PATTERNS", 2)
    fresh = Novelty(known.rows, NONE)
    parts = [fresh.share_denser(rows[start : start + 100]) for start in range(0, 400, 100)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    other = Rows(rows.values, Mixture([1.0], [[0.0, 0.0]], [np.eye(2)]))  # densities are those of the rows' mixture
    assert (known.share_denser(other) != whole).any()


def test_training_rows_stay_as_they_are():
    training, drawn = sample(10, 0, 0.2), sample(10, 1)
    before = training.copy(), drawn.copy()
    Novelty(training, drawn).share_denser(Rows(np.array([[np.nan, 1.0]]), MIXTURE))
    np.testing.assert_array_equal(training, before[0])
    np.testing.assert_array_equal(drawn, before[1])


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(novelty, "MAX_ROWS", 20)
    training = sample(100, 0)
    some = Novelty.of(Rows(training, MIXTURE), np.random.RandomState(0))
    assert some.rows.shape == (20, 2)
    assert {tuple(row) for row in some.rows} <= {tuple(row) for row in training}
    assert Novelty.of(Rows(training[:20], MIXTURE), np.random.RandomState(0)).rows.shape == (20, 2)


def test_fewer_rows_of_wide_tables_are_kept(monkeypatch):
    monkeypatch.setattr(novelty, "MAX_CELLS", 60)
    monkeypatch.setattr(novelty, "MIN_ROWS", 10)
    training = sample(100, 0)
    training[0, 0] = np.nan
    some = Novelty.of(Rows(training, MIXTURE), np.random.RandomState(0))
    assert some.rows.shape == some.sampled.shape == (30, 2)


@pytest.mark.parametrize("training_gaps", [0.0, 0.3])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_fresh_rows_of_the_same_kind_spread_evenly(gaps, training_gaps):
    """Its expectation: a quantile. The rows are fresh, and the mixture knows where they come from."""
    fresh = sample(400, 1, gaps)
    fresh = fresh[~np.isnan(fresh).all(axis=1)]  # of a row of gaps, nothing is known
    judge = Novelty.of(Rows(sample(1500, 0, training_gaps), MIXTURE), np.random.RandomState(0))
    assert kstest(judge.share_denser(Rows(fresh, MIXTURE)), "uniform").pvalue > 0.01


def wide(d):
    """A mixture of three components in many columns."""
    random = np.random.RandomState(0)
    factors = random.standard_normal((3, d, d)) / np.sqrt(2 * d)
    covariances = factors @ np.swapaxes(factors, 1, 2) + 0.5 * np.eye(d)
    return Mixture(np.full(3, 1 / 3), 2 * random.standard_normal((3, d)), covariances)


def with_gaps(rows, seed, share=0.2):
    rows = rows.copy()
    rows[np.random.RandomState(seed).uniform(size=rows.shape) < share] = np.nan
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("d", [10, 30])
def test_one_in_a_hundred_is_refused_where_a_fifth_is_missing(d):
    """Of 2,000 fresh rows, under the density that they come from: 1.0 % (10 columns), 0.9 % (30), give or take 0.3."""
    mixture, refused = wide(d), []
    for seed in range(0, 40, 10):
        training, fresh = (with_gaps(mixture.sample(n, seed + i)[0], seed + i) for i, n in enumerate((1000, 500)))
        judge = Novelty.of(Rows(training, mixture), np.random.RandomState(seed))
        refused.append(judge.share_denser(Rows(fresh, mixture)) > 0.99)
    assert np.mean(refused) == pytest.approx(0.01, abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("d", [10, 30])
def test_few_are_refused_under_a_density_that_was_learned(d):
    """Of 1,000 fresh rows, under one of 1,000 rows with gaps: 1.0 % (10 columns) and 1.3 % (30)."""
    mixture = wide(d)
    training, fresh = (with_gaps(mixture.sample(n, i)[0], i) for i, n in enumerate((1000, 1000)))
    few = np.where(np.arange(1000) < 20, np.arange(1000) % 2, -1)
    model = MixtureSVC(random_state=0, probability=False, density=VBMixture(3, random_state=0)).fit(training, few)
    assert 0.003 < (model.novelty(fresh) > 0.99).mean() < 0.04
    assert (model.novelty(fresh[:50] + 20) == 1.0).all()


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
