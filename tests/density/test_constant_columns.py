"""Columns with one value: densities and kernels are those of the table without them, and other values are novel."""

import numpy as np
import pandas as pd
import pytest
from tests.distributed.conftest import in_partitions

from mixkern import Mixture, MixtureSVC, MixtureSVR, VBMixture, datasets
from mixkern.density.block import CodeColumns
from mixkern.density.preprocessing import jitter, varying_columns
from mixkern.errors import MixtureError, UnseenCategoryWarning
from mixkern.kernels import BlendKernel, RWMKernel

IRIS = np.asarray(datasets.load("iris").X, dtype=float)
KINDS = ("auto", "full", "diag", "factor", "tied", "spherical", "common")


def mixed(n=300, seed=0):
    """Return two groups of rows: two numbers, one of them coarse, and codes of two columns."""
    random = np.random.RandomState(seed)
    group = random.randint(2, size=n)
    codes = [np.where(random.rand(n) < 0.8, group, 1 - group), random.randint(3, size=n)]
    return np.column_stack([random.normal(size=n) + 4 * group, random.randint(5, size=n) + group, *codes])


def frames(n):
    """Return a frame of numbers and categories, and the same with two columns that have one value."""
    X = mixed(n)
    codes = {f"c{j}": np.array(["u", "v", "w"])[X[:, j].astype(int)] for j in (2, 3)}
    table = pd.DataFrame({"c0": X[:, 0], "c1": X[:, 1] / 2 + 0.25, **codes})
    return table, table.assign(one=5.0, word="w")[["one", "c0", "word", "c1", "c2", "c3"]]


def with_constants(X, d, value=7.0, code=2):
    """Put constant columns before, between and after the others: three of numbers, two of codes."""
    n = len(X)
    numbers, codes = np.full((n, 1), value), np.full((n, 1), float(code))
    parts = [numbers, X[:, :1], numbers, X[:, 1:d], numbers, codes, X[:, d : d + 1], codes, X[:, d + 1 :]]
    return np.hstack(parts)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers(kind):
    wide = np.column_stack([IRIS[:, :1], np.full((150, 3), [7.0, 0.0, 1e6]), IRIS[:, 1:]])
    without = VBMixture(covariance_type=kind, random_state=0).fit(IRIS)
    ours = VBMixture(covariance_type=kind, random_state=0).fit(wide)
    assert ours.n_components_ == without.n_components_
    assert ours.lower_bound_ == pytest.approx(without.lower_bound_, abs=1e-9)
    assert np.allclose(ours.predict_proba(wide), without.predict_proba(IRIS), atol=1e-12)
    excess = ours.score_samples(wide) - without.score_samples(IRIS)
    assert np.ptp(excess) < 1e-9  # the density of the constants is the same for all rows
    assert ours.mixture_.constant == (1, 2, 3)
    assert ours.covariance_type_ == ("diag" if kind == "spherical" else without.covariance_type_)
    other = wide.copy()
    other[:, 2] = 4.0
    assert ours.score_samples(other).max() < ours.score_samples(wide).min()


@pytest.mark.parametrize("weights", [None, np.random.RandomState(0).rand(300)])
def test_numbers_and_categories(weights):
    X = mixed()
    X[::9, 0], X[::7, 3] = np.nan, np.nan
    wide = with_constants(X, 2)
    wide[::5, [0, 5]] = np.nan  # gaps beside one value
    without = VBMixture(n_categorical=2, random_state=0).fit(X, sample_weight=weights)
    ours = VBMixture(n_categorical=4, random_state=0).fit(wide, sample_weight=weights)
    assert ours.n_components_ == without.n_components_ > 1
    assert ours.lower_bound_ == pytest.approx(without.lower_bound_, abs=1e-9)
    assert np.allclose(ours.predict_proba(wide), without.predict_proba(X), atol=1e-12)
    # The posterior mean of one Dirichlet distribution for all rows.
    n = (np.ones(300) if weights is None else weights)[~np.isnan(wide[:, 5])].sum()
    prior = ours.category_prior
    expected = (np.array([0.0, 0.0, n, 0.0]) + prior) / (n + 4 * prior)
    assert np.allclose(ours.mixture_.categories[0], expected)
    odd = wide.copy()
    odd[:, 7] = 0.0
    assert (ours.score_samples(wide) - ours.score_samples(odd) > 4).all()


@pytest.mark.slow
def test_twenty_constant_columns_cost_no_components():
    wine = datasets.load("wine")
    y = wine.few_labels(per_class=4, random_state=0)
    without = MixtureSVC(random_state=0).fit(wine.X, y)
    for value in (3.0, "a"):
        wide = wine.X.assign(**{f"k{i}": value for i in range(20)})
        ours = MixtureSVC(random_state=0).fit(wide, y)
        assert ours.mixture_.n_components == without.mixture_.n_components
        assert np.allclose(ours.predict_proba(wide), without.predict_proba(wine.X), atol=1e-6)
        assert np.array_equal(ours.novelty(wide), without.novelty(wine.X))


@pytest.mark.parametrize("kernel", ["blend", "rwm", "gmm", "rbf"])
def test_kernels(kernel):
    X, wide = frames(120)
    y = np.where(np.arange(120) % 8 == 0, (X["c0"] > 2).astype(int), -1)
    without, ours = (MixtureSVC(kernel, random_state=0).fit(table, y) for table in (X, wide))
    assert ours.kernel_.gamma == pytest.approx(without.kernel_.gamma, rel=1e-9)
    K = ours.kernel_(ours.encoder_.transform(wide))
    assert np.allclose(K, without.kernel_(without.encoder_.transform(X)), atol=1e-9)
    later = wide[:3].assign(one=[5.0, 6.0, 5.0], word=["w", "w", "v"])
    with pytest.warns(UnseenCategoryWarning):
        novelty = ours.novelty(later)
    before = ours.novelty(wide[:3])
    assert novelty[0] == before[0]
    assert (novelty[1:] > before[1:]).all()


def test_regression():
    X = pd.DataFrame({"a": IRIS[:, 0], "b": IRIS[:, 2]})
    y = np.where(np.arange(150) % 10 == 0, IRIS[:, 3], np.nan)
    without, ours = (MixtureSVR(random_state=0).fit(table, y) for table in (X, X.assign(c=1, d="x")))
    assert np.allclose(ours.predict(X.assign(c=1, d="x")), without.predict(X), atol=1e-6)


def test_tables_of_constants_alone():
    assert VBMixture().fit(np.full((5, 2), 3.0)).n_components_ == 1
    density = VBMixture(n_categorical=1, category_prior=1.0).fit(np.zeros((5, 1)))
    assert density.mixture_.categories[0].tolist() == [[6 / 7, 1 / 7]]


def test_continued_fits_see_new_values():
    wide = with_constants(mixed(), 2)
    density = VBMixture(n_categorical=4, warm_start=True, random_state=0).fit(wide)
    assert density.fit(wide).mixture_.constant == (0, 2, 4)
    wide[::2, 5] = 1.0  # a category that the column did not have
    fresh = VBMixture(n_categorical=4, random_state=0).fit(wide)
    assert density.fit(wide).mixture_ == fresh.mixture_
    assert fresh.mixture_.categories[0].shape == (fresh.n_components_, 4)


def test_streams_expect_other_values():
    X = with_constants(mixed(5000), 2)
    stream = VBMixture(n_categorical=4, random_state=0).partial_fit(X)
    later = X[:50].copy()
    later[:, 5] = 0.0
    assert stream.partial_fit(later).mixture_.constant == ()
    assert stream.mixture_.categories[0][:, 0].max() > 1e-3


@pytest.mark.slow
def test_partitions():
    table, wide = frames(17_000)
    y = pd.Series(np.where(np.arange(17_000) % 500 == 0, np.where(table["c0"] > 2, "no", "yes"), None))
    settings = {"random_state": 0, "unlabelled": "ignore", "density": VBMixture(10, tol=1e-3)}
    without = MixtureSVC(**settings).fit(in_partitions(table, (9_000, 0, 8_000)), y)
    ours = MixtureSVC(**settings).fit(in_partitions(wide, (9_000, 0, 8_000)), y)
    assert ours.mixture_.n_components == without.mixture_.n_components > 1
    assert np.allclose(ours.mixture_.means[:, 1:], without.mixture_.means, atol=1e-9)
    assert np.allclose(ours.responsibilities(wide), without.responsibilities(table), atol=1e-9)
    assert np.array_equal(ours.predict(wide), without.predict(table))
    memory = MixtureSVC(**settings).fit(wide, y)
    assert np.allclose(memory.mixture_.means, ours.mixture_.means, atol=1e-9)
    for one, other in zip(memory.mixture_.categories, ours.mixture_.categories, strict=True):
        assert np.allclose(one, other, atol=1e-9)


def test_random_numbers_are_not_drawn_for_constants():
    X = np.column_stack([np.arange(60) % 5, np.arange(60) % 3]).astype(float)
    wide = np.column_stack([np.ones(60), X[:, 0], np.full(60, np.nan), X[:, 1]])
    assert varying_columns(wide, 4) == [1, 3]
    moved = jitter(wide, 4, np.random.RandomState(0))
    assert np.array_equal(moved[:, [1, 3]], jitter(X, 2, np.random.RandomState(0)))
    assert (moved[:, 0] == 1).all()


def test_columns_of_codes():
    codes = np.array([[0.0, 1.0, np.nan], [2.0, 1.0, np.nan], [np.nan, np.nan, np.nan]])
    found = CodeColumns.of(codes, np.array([1.0, 0.5, 3.0]))
    assert (found.varying, found.constant) == ((0, 2), {1: (1, 1.5)})
    assert np.array_equal(found.inner(codes), codes[:, [0, 2]], equal_nan=True)
    assert found.keeps_constants(codes)
    assert not found.keeps_constants(codes + 1)
    tables = found.outer([np.ones((2, 4)) / 4, np.ones((2, 1))], 0.5, 2)
    assert tables[1].tolist() == [[0.5 / 3, 2 / 3, 0.5 / 3]] * 2
    assert [table.shape for table in tables] == [(2, 4), (2, 3), (2, 1)]


def test_mixtures_keep_their_constant_columns():
    wide = np.column_stack([np.ones(150), IRIS])
    mixture = VBMixture(random_state=0).fit(wide).mixture_
    assert mixture.constant == (0,)
    assert Mixture.from_dict(mixture.to_dict()) == mixture
    assert Mixture.from_dict(mixture.to_dict()).constant == (0,)
    assert mixture.pooled(0.5).constant == (0,)
    assert mixture.marginal([2, 0]).constant == (1,)
    without = mixture.marginal([1, 2, 3, 4])
    assert without.constant == ()
    for kernel in (RWMKernel, BlendKernel):
        assert np.allclose(kernel(mixture)(wide), kernel(without)(IRIS), atol=1e-12)
    with pytest.raises(MixtureError, match=r"constant must be sorted positions of the 1 continuous columns"):
        Mixture([1.0], [[0.0]], [[[1.0]]], constant=(1,))
