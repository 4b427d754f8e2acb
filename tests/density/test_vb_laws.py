"""Laws of variational mixtures that hold for every table, every kind of covariance and every start."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mixkern.density import VBMixture
from mixkern.density.block import gap_blocks
from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.expectation import expectation
from mixkern.density.factor import FactorPrior
from mixkern.density.factor_statistics import with_factors
from mixkern.density.inference import Policy, ascend
from mixkern.density.mixture import Mixture
from mixkern.density.posterior import Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.density.statistics import Statistics
from mixkern.fitting import NotConvergedWarning
from mixkern.threads import ThreadPool

laws = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

NAN = np.nan
KINDS = st.sampled_from(list(CovarianceType))
FAMILIES = st.sampled_from(list(PRECISIONS))  # those that are inferred; common factors are coordinates
SEEDS = st.integers(0, 2**32 - 1)
POOL = ThreadPool(1)
FIXED = Policy(precision_prior=None, learns_degrees=False, prune_below=0.0, merges=False, tol=-1.0, max_iter=12)


@dataclass(frozen=True)
class Case:
    """A table, a prior and first responsibilities."""

    kind: CovarianceType
    X: np.ndarray  # (n, d)
    codes: np.ndarray  # (n, e)
    shares: np.ndarray  # (n, k)
    prior: Prior

    @property
    def n_slots(self):
        return (4,) * self.codes.shape[1]

    @property
    def start(self):
        """Statistics of the first responsibilities; gaps are at zero."""
        return first_statistics(np.nan_to_num(self.X), self.codes, self.shares, self.kind, self.n_slots)

    def table(self, weights=None, size=5):
        return list(gap_blocks(self.X, self.codes, weights, size))

    def ascend(self, **policy):
        return ascend(self.table(), self.start, self.prior, replace(FIXED, **policy), POOL)


def first_statistics(X, codes, shares, kind, n_slots):
    squares = np.einsum("nk,ni,nj->kij", shares, X, X)
    tables = [np.zeros((shares.shape[1], n)) for n in n_slots]
    for e, table in enumerate(tables):
        for n in np.flatnonzero(~np.isnan(codes[:, e])):
            table[:, int(codes[n, e])] += shares[n]
    statistics = Statistics(
        counts=shares.sum(axis=0),
        sums=shares.T @ X,
        squares=np.einsum("kii->ki", squares) if kind.has_vectors else squares,
        origins=np.zeros((shares.shape[1], X.shape[1])),
        category_counts=tuple(tables),
        log_normaliser=0.0,
    )
    return first_factors(statistics) if kind is CovarianceType.FACTOR else statistics


def first_factors(statistics):
    """Two factors in each component, or as many as columns allow, whatever the rows."""
    k, d = statistics.sums.shape
    loadings = np.random.default_rng(0).normal(size=(k, d, max(min(2, d - 1), 0)))
    noise = np.ones((k, d))
    return with_factors(statistics, loadings, noise, loadings, noise, max(d - 1, 0))


@st.composite
def cases(draw, *, gaps=True, kinds=FAMILIES):
    kind = draw(kinds)
    n, d, e, k = draw(st.integers(1, 14)), draw(st.integers(0, 3)), draw(st.integers(0, 2)), draw(st.integers(1, 4))
    numbers = st.floats(-8, 8, width=16) | st.integers(-2, 2).map(float)
    X = draw(hnp.arrays(float, (n, d), elements=numbers | st.just(NAN) if gaps else numbers))
    codes = draw(hnp.arrays(float, (n, e), elements=st.sampled_from([0.0, 1.0, 2.0] + [NAN] * gaps)))
    random = np.random.default_rng(draw(SEEDS))
    shares = random.dirichlet(np.full(k, draw(st.sampled_from([0.1, 1.0, 10.0]))), size=n)
    precision = PRECISIONS[kind]
    factor = random.normal(size=(d, d)) * 0.5
    inverse = precision.isotropic(draw(st.sampled_from([0.01, 1.0, 30.0])), d)
    if not kind.has_vectors:
        inverse = inverse + factor @ factor.T
    elif kind is not CovarianceType.SPHERICAL:
        inverse = inverse * random.uniform(0.5, 2, d)
    prior = Prior(
        precision=precision,
        concentration=draw(st.sampled_from([0.01, 1.0, 5.0])),
        mean=random.normal(size=d),
        mean_precision=draw(st.sampled_from([0.05, 1.0, 4.0])),
        degrees=max(d, 1) + draw(st.sampled_from([0.0, 0.5, 10.0])),
        inverse_scale=inverse,
        category_concentration=draw(st.sampled_from([0.1, 1.0])),
    )
    if kind is CovarianceType.FACTOR:
        prior = FactorPrior(
            **vars(prior),
            most_factors=max(d - 1, 0),
            most_mean_precision=draw(st.sampled_from([prior.mean_precision, 1e3])),
        )
    return Case(kind, X, codes, shares, prior)


@st.composite
def mixtures(draw):
    kind = draw(KINDS)
    k, d = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    random = np.random.default_rng(draw(SEEDS))
    factors = random.normal(size=(k, d, d)) + np.eye(d)
    matrices = factors @ np.swapaxes(factors, 1, 2) + 0.1 * np.eye(d)
    covariances = {
        "full": matrices,
        "tied": matrices[0],
        "diag": random.uniform(0.1, 3, (k, d)),
        "spherical": random.uniform(0.1, 3, k),
        "factor": random.uniform(0.1, 3, (k, d)),
        "common": random.uniform(0.1, 3, d),
    }[kind]
    q = min(draw(st.integers(0, 3)), d)
    means, loadings = 3 * random.normal(size=(k, d)), random.normal(size=(k, d, q)) if kind.has_loadings else None
    if kind is CovarianceType.COMMON:
        means = means[:1] + random.normal(size=(k, q)) @ loadings[0].T
        loadings = loadings[0] @ random.normal(size=(k, q, q))
    tables = [random.dirichlet(np.ones(n), size=k) for n in draw(st.lists(st.integers(1, 4), max_size=2))]
    mixture = Mixture(random.dirichlet(np.ones(k)), means, covariances, kind, tables, loadings)
    rows, _ = mixture.sample(draw(st.integers(0, 12)), draw(st.integers(0, 100)))
    rows[random.random(rows.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = NAN
    return mixture, rows, random


def assert_close(one, other, tolerance=1e-9):
    scale = max(1.0, np.abs(other).max(initial=0.0))
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale)


def assert_same(one, other, tolerance=1e-9):
    other = other.about(one.origins)
    of_factors = ("factor_sums", "factor_squares", "products", "log_pivots") if one.n_factors else ()
    for name in ("counts", "sums", "squares", "log_normaliser", *of_factors):
        assert_close(getattr(one, name), getattr(other, name), tolerance)
    for a, b in zip(one.category_counts, other.category_counts, strict=True):
        assert_close(a, b, tolerance)


# ---------------------------------------------------------------- the bound


@laws
@given(cases())
def test_the_bound_never_falls(case):
    bounds = case.ascend().bounds
    assert np.diff(bounds).min(initial=0.0) >= -1e-9 * (1 + np.abs(bounds).max())


@laws
@given(
    cases(),
    st.sampled_from([form for form in PrecisionPrior if form is not PrecisionPrior.TYPICAL]) | st.none(),
    st.booleans(),
)
@pytest.mark.slow
def test_the_bound_never_falls_where_the_prior_is_learned(case, form, learns_degrees):
    bounds = case.ascend(precision_prior=form, learns_degrees=learns_degrees).bounds
    # From the second on: the first prior need not keep the floor under variances that the later ones keep.
    assert np.diff(bounds[1:]).min(initial=0.0) >= -1e-7 * (1 + np.abs(bounds).max())


@pytest.mark.slow
@laws
@given(cases())
def test_an_accepted_merger_raises_the_bound(case):
    ascent = case.ascend(merges=True, tol=1e-4, max_iter=40)
    assert np.diff(ascent.bounds).min(initial=0.0) >= -1e-9 * (1 + np.abs(ascent.bounds).max())


@laws
@given(cases())
def test_the_divergence_is_not_negative(case):
    posterior = case.prior.posterior(case.start)
    assert posterior.divergence(case.prior) >= -1e-8


@pytest.mark.slow
@laws
@given(cases(gaps=False, kinds=st.sampled_from([kind for kind in PRECISIONS if kind is not CovarianceType.FACTOR])))
def test_with_one_component_the_bound_needs_one_step(case):
    """Without gaps and factors the posterior is exact then."""
    one = replace(case, shares=np.ones((len(case.X), 1)))
    bounds = one.ascend().bounds
    assert_close(bounds, np.full(len(bounds), bounds[0]), 1e-8)


# ---------------------------------------------------------------- rows and weights


@laws
@given(cases(), st.data())
@pytest.mark.slow
def test_a_weight_of_two_is_a_row_twice(case, data):
    copies = data.draw(hnp.arrays(int, len(case.X), elements=st.integers(0, 3)))
    copies[0] = max(copies[0], 1)
    rows = np.repeat(np.arange(len(case.X)), copies)
    repeated = replace(case, X=case.X[rows], codes=case.codes[rows], shares=case.shares[rows])
    weighted = replace(case, shares=case.shares * copies[:, None])
    one = ascend(case.table(copies.astype(float)), weighted.start, case.prior, replace(FIXED, max_iter=4), POOL)
    other = ascend(repeated.table(), repeated.start, case.prior, replace(FIXED, max_iter=4), POOL)
    assert_close(one.bounds, other.bounds)
    assert_close(one.posterior.means, other.posterior.means, 1e-7)


@pytest.mark.slow
@laws
@given(cases(), SEEDS)
def test_row_order_does_not_matter(case, seed):
    order = np.random.default_rng(seed).permutation(len(case.X))
    shuffled = replace(case, X=case.X[order], codes=case.codes[order], shares=case.shares[order])
    one, other = case.ascend(max_iter=4), shuffled.ascend(max_iter=4)
    assert_close(one.bounds, other.bounds)
    assert_close(one.posterior.means, other.posterior.means, 1e-7)


@laws
@given(cases(), st.integers(1, 7))
@pytest.mark.slow
def test_blocks_do_not_matter(case, size):
    posterior = case.prior.posterior(case.start)
    one, other = (expectation(case.table(size=s), posterior, POOL) for s in (100, size))
    assert_same(one, other)


@laws
@given(cases())
def test_counts_add_up_to_the_rows(case):
    statistics = expectation(case.table(), case.prior.posterior(case.start), POOL)
    assert statistics.counts.sum() == pytest.approx(len(case.X))
    assert (statistics.counts >= 0).all()
    for codes, table in zip(case.codes.T, statistics.category_counts, strict=True):
        assert table.sum() == pytest.approx((~np.isnan(codes)).sum())


# ---------------------------------------------------------------- components


@pytest.mark.slow
@laws
@given(cases(), SEEDS)
def test_component_order_does_not_matter_to_the_inference(case, seed):
    order = np.random.default_rng(seed).permutation(case.shares.shape[1])
    one, other = case.ascend(max_iter=4), replace(case, shares=case.shares[:, order]).ascend(max_iter=4)
    assert_close(one.bounds, other.bounds)
    assert_close(one.posterior.means[order], other.posterior.means, 1e-7)


@laws
@given(mixtures())
def test_component_order_does_not_matter_to_the_density(given_mixture):
    mixture, rows, random = given_mixture
    order = random.permutation(mixture.n_components)
    is_shared = mixture.covariance_type in (CovarianceType.TIED, CovarianceType.COMMON)
    permuted = replace(
        mixture,
        weights=mixture.weights[order],
        means=mixture.means[order],
        covariances=mixture.covariances if is_shared else mixture.covariances[order],
        loadings=None if mixture.loadings is None else mixture.loadings[order],
        categories=[table[order] for table in mixture.categories],
    )
    assert_close(permuted.log_density(rows), mixture.log_density(rows), 1e-12)
    assert_close(permuted.responsibilities(rows), mixture.responsibilities(rows)[:, order], 1e-10)


@laws
@given(mixtures())
def test_responsibilities_are_probabilities(given_mixture):
    mixture, rows, _ = given_mixture
    shares = mixture.responsibilities(rows)
    assert shares.shape == (len(rows), mixture.n_components)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (shares >= 0).all()


@laws
@given(mixtures())
def test_a_row_of_gaps_has_the_weights_as_responsibilities(given_mixture):
    mixture, _, _ = given_mixture
    gaps = np.full((2, mixture.n_features), NAN)
    np.testing.assert_allclose(mixture.responsibilities(gaps), np.tile(mixture.weights, (2, 1)), rtol=1e-12)


@laws
@given(mixtures())
def test_conditional_means_fill_gaps_only(given_mixture):
    mixture, rows, _ = given_mixture
    filled = mixture.conditional_mean(rows)
    there = ~np.isnan(rows)
    np.testing.assert_array_equal(filled[there], rows[there])
    d = mixture.n_continuous
    assert not np.isnan(filled[:, :d]).any()
    np.testing.assert_array_equal(filled[:, d:], rows[:, d:])


@laws
@given(mixtures())
def test_mixtures_survive_a_file(given_mixture):
    mixture, rows, _ = given_mixture
    again = Mixture.from_dict(mixture.to_dict())
    assert again == mixture
    np.testing.assert_array_equal(again.log_joint(rows), mixture.log_joint(rows))


# ---------------------------------------------------------------- shift and scale


@laws
@given(cases(), st.floats(-100, 100), st.sampled_from([0.01, 0.5, 3.0, 1000.0]), SEEDS)
@pytest.mark.slow
def test_shift_and_scale(case, shift, scale, seed):
    """Prior and rows in other units: means and covariances follow, the bound loses the logarithm of the volume."""
    d = case.X.shape[1]
    scales = np.full(d, scale)
    if case.kind is not CovarianceType.SPHERICAL:
        scales = scales * np.random.default_rng(seed).uniform(0.5, 2, d)
    factor = scales**2 if case.kind.has_vectors else np.outer(scales, scales)
    prior = replace(case.prior, mean=case.prior.mean * scales + shift, inverse_scale=case.prior.inverse_scale * factor)
    # The start has gaps at zero; transform it instead of computing it again
    moved_start = case.start.about(np.zeros_like(case.start.origins))
    squares = moved_start.squares * factor
    moved_start = replace(
        moved_start, sums=moved_start.sums * scales, squares=squares, origins=np.full_like(moved_start.origins, shift)
    )
    if case.kind is CovarianceType.FACTOR:
        moved_start = replace(moved_start, products=moved_start.products * scales[:, None])
    table = list(gap_blocks(case.X * scales + shift, case.codes, None, 5))
    one = case.ascend(max_iter=4)
    other = ascend(table, moved_start, prior, replace(FIXED, max_iter=4), POOL)
    log_volume = float((~np.isnan(case.X)).sum(axis=0) @ np.log(scales)) if d else 0.0
    assert_close(np.array(other.bounds) + log_volume, one.bounds, 1e-6)
    ours, theirs = one.posterior.mixture(), other.posterior.mixture()
    assert_close((theirs.means - shift) / scales, ours.means, 1e-5)
    if d:
        outer = factor[0] if case.kind is CovarianceType.SPHERICAL else factor
        assert_close(theirs.covariances / outer, ours.covariances, 1e-5)


# ---------------------------------------------------------------- sums


@st.composite
def sums(draw, n_parts=1):
    """Statistics of the same components, about different origins."""
    k, d, is_diagonal = draw(st.integers(1, 4)), draw(st.integers(0, 3)), draw(st.booleans())
    random = np.random.default_rng(draw(SEEDS))
    parts = []
    for _ in range(n_parts):
        n = draw(st.integers(0, 6))
        X, shares = random.normal(size=(n, d)) * 3, random.dirichlet(np.ones(k), size=n)
        codes = random.integers(0, 3, (n, 1)).astype(float)
        kind = CovarianceType.DIAG if is_diagonal else CovarianceType.FULL
        part = first_statistics(X, codes, shares, kind, (3,))
        part = part.about(random.normal(size=(k, d)) * 3)
        parts.append(replace(part, log_normaliser=float(random.normal())))
    return parts


@laws
@given(sums(), SEEDS)
def test_another_origin_and_back(parts, seed):
    [statistics] = parts
    origins = np.random.default_rng(seed).normal(size=statistics.origins.shape) * 5
    assert_same(statistics.about(origins).about(statistics.origins), statistics)
    assert_close(statistics.about(origins).scatters, statistics.scatters, 1e-8)


@laws
@given(sums(n_parts=3))
def test_adding_in_any_order(parts):
    a, b, c = parts
    assert_same((a + b) + c, a + (b + c))
    assert_same(a + b, b + a)


@laws
@given(sums(), st.data())
def test_merging_conserves_totals(parts, data):
    [statistics] = parts
    k = len(statistics.counts)
    if k == 1:
        return
    first, second = data.draw(st.permutations(range(k)))[:2]
    merged = statistics.merge(first, second)
    zero = np.zeros_like(statistics.origins)
    before, after = statistics.about(zero), merged.about(zero[1:])
    assert len(merged.counts) == k - 1
    assert_close(after.counts.sum(), before.counts.sum())
    assert_close(after.sums.sum(axis=0), before.sums.sum(axis=0))
    assert_close(after.squares.sum(axis=0), before.squares.sum(axis=0))
    assert_close(after.category_counts[0].sum(axis=0), before.category_counts[0].sum(axis=0))
    assert merged.log_normaliser == statistics.log_normaliser


@laws
@given(sums(), st.data())
def test_another_order_and_back(parts, data):
    [statistics] = parts
    order = np.array(data.draw(st.permutations(range(len(statistics.counts)))))
    back = statistics.keep(order).keep(np.argsort(order))
    assert_same(back, statistics, 0.0)


# ---------------------------------------------------------------- any table at all

WILD = st.sampled_from([0.0, 1.0, -1.0, 1e9, 1e9 + 1, -1e-9, 1e-9, 1e6, 3.25, NAN]) | st.floats(-10, 10)


@laws
@given(
    hnp.arrays(float, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=WILD),
    KINDS,
    st.sampled_from([*PrecisionPrior, 0.01, 1.0, 1e4]),
    st.sampled_from([None, "auto"]),
    st.booleans(),
)
def test_any_table_gives_a_density(X, kind, precision_prior, degrees, has_categories):
    """Whatever the numbers: no NaN, no other warning than the one about the few iterations."""
    if has_categories:
        X = np.column_stack([X, np.where(np.isnan(X[:, 0]), NAN, np.abs(X[:, 0]) > 1)])
    density = VBMixture(
        5,
        covariance_type=kind,
        precision_prior=precision_prior if isinstance(precision_prior, float) else str(precision_prior),
        degrees_of_freedom_prior=degrees,
        n_categorical=int(has_categories),
        max_iter=15,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NotConvergedWarning)
        density.fit(X)
        assert np.isfinite(density.bound_trace_).all()
        assert np.isfinite(density.score_samples(X)).all()
        np.testing.assert_allclose(density.predict_proba(X).sum(axis=1), 1)
        density.partial_fit(X)
        assert np.isfinite(density.lower_bound_)
