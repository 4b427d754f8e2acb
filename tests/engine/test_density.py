"""Densities and moments of rows, by every build and by the reference, against the formula row by row."""

from functools import cache

import numpy as np
import pytest

from mixkern.engine import Components, density, moments, row_densities
from mixkern.engine.dispatch import core
from mixkern.errors import EngineError, EngineTypeError

NAN = np.nan
BUILDS = [None, *(core().isas() if core() else ())]  # None is the reference
LARGE = pytest.param(541, 3, 17, marks=pytest.mark.slow)
SIZES = [(0, 2, 3), (1, 1, 1), (1, 3, 9), (7, 2, 3), (97, 5, 10), (523, 4, 2), LARGE]  # blocks have 512 rows


@pytest.fixture(params=BUILDS, ids=str)
def isa(request, monkeypatch):
    """Each build of the core, and the reference in its place."""
    if request.param is None:
        monkeypatch.setattr(density, "core", lambda: None)
    return request.param


def make_components(d, k, *, is_diagonal=False, seed=0, spread=1.0):
    random = np.random.default_rng(seed)
    whiteners = random.uniform(0.5, 2, (k, d))
    if not is_diagonal:
        whiteners = np.tril(random.normal(size=(k, d, d)), -1) + whiteners[:, :, None] * np.eye(d)
    return Components(spread * random.normal(size=(k, d)), whiteners, random.normal(size=k))


def make_rows(n, d, gaps=0.0, seed=1):
    random = np.random.default_rng(seed)
    return np.where(random.random((n, d)) < gaps, NAN, random.normal(size=(n, d)))


def under_component(x, mean, whitener):
    """Return ln of the density over its constant, the expected deviation and the covariance of the gaps."""
    d = len(x)
    precision = np.diag(whitener**2) if whitener.ndim == 1 else whitener.T @ whitener
    o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
    deviation, covariance, log_volume = np.zeros(d), np.zeros((d, d)), 0.0
    deviation[o] = (x - mean)[o]
    if len(m):
        within = precision[np.ix_(m, m)]
        deviation[m] = -np.linalg.inv(within) @ precision[np.ix_(m, o)] @ deviation[o]
        covariance[np.ix_(m, m)] = np.linalg.inv(within)
        log_volume = 0.5 * (len(m) * np.log(2 * np.pi) - np.log(np.linalg.det(within)))
    return log_volume - 0.5 * deviation @ precision @ deviation, deviation, covariance


def literal(X, components, offsets=None, weights=None):
    """Compute all results row by row."""
    (n, d), k = X.shape, len(components.means)
    log_joint, filled, shares = np.empty((n, k)), X.copy(), np.empty((n, k))
    log_density = np.empty(n)
    sums, squares = np.zeros((k, d)), np.zeros((k, d, d))
    for i in range(n):
        found = [under_component(X[i], m, W) for m, W in zip(components.means, components.whiteners, strict=True)]
        log_joint[i] = [each[0] for each in found] + components.log_constants
        if offsets is not None:
            log_joint[i] += offsets[i]
        log_density[i] = np.log(np.exp(log_joint[i] - log_joint[i].max()).sum()) + log_joint[i].max()
        share = np.exp(log_joint[i] - log_density[i])
        is_gap = np.isnan(X[i])
        filled[i, is_gap] = sum(s * (m + each[1]) for s, m, each in zip(share, components.means, found, strict=True))[
            is_gap
        ]
        shares[i] = share * (1.0 if weights is None else weights[i])
        for j, (_, deviation, covariance) in enumerate(found):
            sums[j] += shares[i, j] * deviation
            squares[j] += shares[i, j] * (np.outer(deviation, deviation) + covariance)
    if components.whiteners.ndim == 2:
        squares = np.einsum("kii->ki", squares)
    total = log_density.sum() if weights is None else weights @ log_density
    return log_joint, log_density, filled, shares, sums, squares, total


def assert_close(found, expected, rtol=1e-11):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * max(1.0, np.abs(expected).max(initial=0)))


@cache
def solved(n, d, k, gaps, is_diagonal):
    """Return components, rows, offsets and weights with their literal results, the same for all builds."""
    random = np.random.default_rng(2)
    components, X = make_components(d, k, is_diagonal=is_diagonal), make_rows(n, d, gaps)
    offsets, weights = random.normal(size=(n, k)), random.uniform(0, 2, n)
    return components, X, offsets, weights, literal(X, components, offsets), literal(X, components, offsets, weights)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("gaps", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_rows_are_those_of_the_formula(isa, n, d, k, gaps, is_diagonal):
    components, X, offsets, _, expected, _ = solved(n, d, k, gaps, is_diagonal)
    found = row_densities(X, components, offsets=offsets, fill=True, n_threads=2, _isa=isa)
    log_joint, log_density, filled, shares, *_ = expected
    assert_close(found.log_joint, log_joint)
    assert_close(found.log_density, log_density)
    assert_close(found.responsibilities, shares)
    assert_close(found.filled, filled)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_moments_are_those_of_the_formula(isa, n, d, k, gaps, is_diagonal):
    components, X, offsets, weights, _, expected = solved(n, d, k, gaps, is_diagonal)
    found = moments(X, components, offsets=offsets, weights=weights, with_shares=True, n_threads=2, _isa=isa)
    *_, shares, sums, squares, total = expected
    assert_close(found.shares, shares)
    assert_close(found.counts, shares.sum(axis=0))
    assert_close(found.sums, sums)
    assert_close(found.squares, squares)
    assert_close(found.log_normaliser, total)


@pytest.mark.parametrize("d", [6, 9, 18, 33])
def test_many_columns_and_gaps(isa, d):
    components, X = make_components(d, 5, spread=0.1), make_rows(40, d, 0.5)
    found, expected = moments(X, components, _isa=isa), literal(X, components)
    assert_close(found.sums, expected[4], 1e-8)
    assert_close(found.squares, expected[5], 1e-8)


def test_rows_without_columns_have_the_constants(isa):
    components = Components(np.empty((2, 0)), np.empty((2, 0)), np.log([1.0, 3.0]))
    found = row_densities(np.empty((3, 0)), components, _isa=isa)
    np.testing.assert_allclose(found.responsibilities, [[0.25, 0.75]] * 3)
    assert moments(np.empty((3, 0)), components, _isa=isa).counts.tolist() == pytest.approx([0.75, 2.25])


def test_rows_may_lie_apart_in_memory(isa):
    components, wide = make_components(3, 4), make_rows(50, 7, 0.2)
    X = wide[:, 1:4]
    plain = moments(np.ascontiguousarray(X), components, _isa=isa)
    filled = row_densities(np.ascontiguousarray(X), components, fill=True, _isa=isa).filled
    rtol = 1e-12 if isa is None else 0  # of matrix products in the reference
    for strided in (X, np.asfortranarray(X)):
        np.testing.assert_allclose(moments(strided, components, _isa=isa).squares, plain.squares, rtol=rtol)
        np.testing.assert_allclose(row_densities(strided, components, fill=True, _isa=isa).filled, filled, rtol=rtol)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_threads_do_not_change_a_bit(isa, gaps):
    components, X = make_components(4, 6), make_rows(9001, 4, gaps)
    one, two, three = (moments(X, components, with_shares=True, n_threads=n, _isa=isa) for n in (1, 2, 3))
    for name in ("counts", "sums", "squares", "shares", "log_normaliser"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))


def test_a_row_does_not_depend_on_the_others(isa):
    components, X = make_components(3, 5), make_rows(600, 3, 0.2)
    whole = row_densities(X, components, _isa=isa)
    for i in (0, 17, 511, 512, 599):
        alone = row_densities(X[i : i + 1], components, _isa=isa)
        rtol = 1e-12 if isa is None else 0  # of matrix products in the reference
        np.testing.assert_allclose(alone.log_joint[0], whole.log_joint[i], rtol=rtol)
        np.testing.assert_allclose(alone.responsibilities[0], whole.responsibilities[i], rtol=rtol, atol=rtol)


def test_both_triangles_are_the_same(isa):
    squares = moments(make_rows(300, 5, 0.1), make_components(5, 3), _isa=isa).squares
    if isa is not None:
        np.testing.assert_array_equal(squares, np.swapaxes(squares, 1, 2))


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_rows_far_from_the_origin_lose_no_digits(isa, shift):
    """Components of width 1e-3 around a point far away: as if they were at the origin."""
    random = np.random.default_rng(0)
    offsets, places = 1e-3 * random.normal(size=(40, 2)), 1e-3 * random.normal(size=(3, 2))
    X, means = shift + offsets, shift + places
    here = Components(means - shift, np.full((3, 2, 2), 1e3) * np.tri(2), np.zeros(3))
    there = Components(means, here.whiteners, np.zeros(3))
    one, other = row_densities(X - shift, here, _isa=isa), row_densities(X, there, _isa=isa)
    np.testing.assert_allclose(other.log_joint, one.log_joint, rtol=1e-6 if shift else 0)


def test_rows_beyond_all_numbers_are_infinitely_far(isa):
    components = make_components(2, 3)
    found = row_densities(np.array([[1e300, -1e300], [0.0, 0.0]]), components, _isa=isa)
    assert np.isneginf(found.log_joint[0]).all()
    assert not np.isfinite(found.log_density[0])
    assert np.isfinite(found.responsibilities[1]).all()


def test_rows_a_thousand_deviations_away_have_responsibilities(isa):
    found = row_densities(np.array([[1e3, 0.0], [0.0, -1e6]]), make_components(2, 3), _isa=isa)
    np.testing.assert_allclose(found.responsibilities.sum(axis=1), 1)


def test_a_component_of_weight_zero_has_no_share(isa):
    plain = make_components(2, 3)
    components = Components(plain.means, plain.whiteners, np.array([0.0, -np.inf, 0.0]))
    X = make_rows(30, 2, 0.2)
    assert not row_densities(X, components, _isa=isa).responsibilities[:, 1].any()
    assert moments(X, components, _isa=isa).counts[1] == 0


def test_precisions_of_extreme_size(isa):
    """Determinants of gaps beyond the range of numbers: only their logarithm is needed."""
    d = 12
    for scale in (1e-100, 1e100):
        components = Components(np.zeros((1, d)), scale * np.eye(d)[None], np.zeros(1))
        row = np.full((1, d), NAN)
        row[0, 0] = 1 / scale
        expected = (d - 1) * (0.5 * np.log(2 * np.pi) - np.log(scale)) - 0.5
        assert row_densities(row, components, _isa=isa).log_density[0] == pytest.approx(expected, rel=1e-12)


# ---------------------------------------------------------------- errors


def test_errors():
    components = make_components(2, 3)
    with pytest.raises(EngineError, match=r"The components have 2 features, so X must have shape \(n, 2\), but it has"):
        row_densities(np.zeros((4, 3)), components)
    with pytest.raises(EngineError, match=r"offsets must have shape \(4, 3\), but they have \(4, 2\)"):
        row_densities(np.zeros((4, 2)), components, offsets=np.zeros((4, 2)))
    with pytest.raises(EngineError, match="There are 4 rows, but 3 weights"):
        moments(np.zeros((4, 2)), components, weights=np.ones(3))
    with pytest.raises(EngineTypeError, match="weights must have dtype float64, but it has int64"):
        moments(np.zeros((4, 2)), components, weights=np.ones(4, dtype=int))
    with pytest.raises(EngineError, match=r"whiteners must have shape \(3, 2\) or \(3, 2, 2\)"):
        Components(np.zeros((3, 2)), np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(EngineError, match="at least one component"):
        row_densities(np.zeros((4, 2)), Components(np.empty((0, 2)), np.empty((0, 2)), np.empty(0)))
    with pytest.raises(EngineError, match="n_threads must lie between 1 and 4096"):
        moments(np.zeros((4, 2)), components, n_threads=0)
