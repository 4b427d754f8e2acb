"""The E-step: fast and careful, with gaps, categories and weights, against the literal formulas and integration."""

import numpy as np
import pytest
from scipy import integrate

from mixkern.density.block import BLOCK, Coordinates, blocks
from mixkern.density.covariance import CovarianceType
from mixkern.density.expectation import careful_statistics, expectation, is_expandable, total
from mixkern.density.inference import largest_sq_norm

NAN = np.nan


def no_codes(X):
    return np.empty((len(X), 0))


def is_diagonal(kind):
    return kind in ("diag", "spherical")


@pytest.fixture
def make_posterior(make_prior, statistics_of):
    def make(kind, X, k, *, codes=None, n_slots=(), seed=0):
        shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), size=len(X))
        first = statistics_of(X, shares, is_diagonal=is_diagonal(kind), codes=codes, n_slots=n_slots)
        return make_prior(kind, X.shape[1]).posterior(first)

    return make


def assert_same(one, other, rtol):
    scale = max(1.0, float(np.abs(one.squares).max()))
    other = other.about(one.origins)
    assert one.log_normaliser == pytest.approx(other.log_normaliser, rel=rtol, abs=rtol)
    np.testing.assert_allclose(one.counts, other.counts, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(one.sums, other.sums, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(one.squares, other.squares, rtol=rtol, atol=rtol * scale)
    for a, b in zip(one.category_counts, other.category_counts, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


# ---------------------------------------------------------------- against the literal formulas


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize(("n", "d", "k", "size"), [(1, 1, 1, 4), (1, 3, 2, 4), (17, 2, 3, 5), (31, 4, 2, 31)])
def test_full_e_step_is_the_literal_one(make_posterior, literal, pool, expand, n, d, k, size):
    X = np.random.default_rng(n).normal(size=(n, d)) * 2 + 0.5
    posterior = make_posterior("full", X, k)
    statistics = expectation(list(blocks(X, no_codes(X), None, size)), posterior, expand=expand, pool=pool)
    q = {
        "alpha": posterior.concentrations,
        "beta": posterior.mean_precisions,
        "m": posterior.means,
        "W": np.linalg.inv(posterior.inverse_scales),
        "nu": posterior.degrees,
    }
    counts, means, spreads = literal.statistics(X, literal.responsibilities(X, q))
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(statistics.counts, counts, **close)
    np.testing.assert_allclose(statistics.means, means, **close)
    np.testing.assert_allclose(statistics.scatters, counts[:, None, None] * spreads, **close)
    expected = np.sum(np.log(np.exp(literal.log_rho(X, q)).sum(axis=1)))
    assert statistics.log_normaliser == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("expand", [False, True])
def test_every_kind_is_the_full_one_with_its_matrices(kind, make_posterior, pool, expand):
    """ln rho of a block is that of Gaussians with the expected precisions, up to a constant per component."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    posterior = make_posterior(kind, X, 4)
    precisions = posterior.precisions[:, :, None] * np.eye(3) if is_diagonal(kind) else posterior.precisions
    difference = X[:, None, :] - posterior.means
    log_rho = posterior.log_constants - 0.5 * np.einsum("nki,kij,nkj->nk", difference, precisions, difference)
    rho = np.exp(log_rho)
    shares = rho / rho.sum(axis=1, keepdims=True)
    statistics = expectation(list(blocks(X, no_codes(X), None, 7)), posterior, expand=expand, pool=pool)
    np.testing.assert_allclose(statistics.counts, shares.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(statistics.means, (shares.T @ X) / shares.sum(axis=0)[:, None], rtol=1e-9, atol=1e-10)
    assert statistics.log_normaliser == pytest.approx(np.log(rho.sum(axis=1)).sum(), rel=1e-10)


# ---------------------------------------------------------------- the fast way and the careful way


@pytest.mark.parametrize("n", [1, 2, 101, 4093, 2 * BLOCK + 3])
def test_fast_and_careful_agree_at_any_size(kind, make_posterior, pool, n):
    random = np.random.default_rng(n)
    X, codes, weights = random.normal(size=(n, 3)), random.integers(0, 4, (n, 1)).astype(float), random.random(n)
    posterior = make_posterior(kind, X, 5, codes=codes, n_slots=(4,))
    table = list(blocks(X, codes, weights))
    fast = expectation(table, posterior, expand=True, pool=pool)
    careful = expectation(table, posterior, expand=False, pool=pool)
    assert_same(careful, fast, 1e-10)


def test_no_rows_make_no_blocks():
    assert not list(blocks(np.empty((0, 2)), np.empty((0, 1)), None))


@pytest.mark.parametrize("spread", [1e-3, 1e-6])
@pytest.mark.parametrize(("centre", "scale"), [(0.0, 1.0), (1e9, 1.0), (1e6, 1e-3)])
def test_near_duplicates_and_far_data_in_inner_coordinates(kind, make_posterior, pool, spread, centre, scale):
    random = np.random.default_rng(1)
    places = random.normal(size=(6, 2))
    X = centre + scale * (np.repeat(places, 20, axis=0) + spread * random.normal(size=(120, 2)))
    inner = Coordinates.of(X, None, CovarianceType(kind)).inner(X)
    posterior = make_posterior(kind, inner, 4)
    table = list(blocks(inner, no_codes(X), None, 50))
    assert is_expandable(posterior, largest_sq_norm(table))
    assert_same(
        expectation(table, posterior, expand=False, pool=pool),
        expectation(table, posterior, expand=True, pool=pool),
        1e-10,
    )


def shifted_statistics(make_prior, statistics_of, pool, shift, tight):
    """A tight component far from the centre, E-step by both ways; and whether the fast one is allowed."""
    random = np.random.default_rng(0)
    deviations = np.sqrt(tight) * random.normal(size=(60, 2))
    deviations[:30] += 4 * np.sqrt(tight)
    X = deviations + shift
    shares = np.eye(2)[np.arange(60) // 30]
    prior = make_prior("full", 2, inverse=tight * np.eye(2), m0=shift)
    posterior = prior.posterior(statistics_of(X, shares, is_diagonal=False, origin=shift))
    table = list(blocks(X, no_codes(X), None))
    fast, careful = (expectation(table, posterior, expand=expand, pool=pool) for expand in (True, False))
    return is_expandable(posterior, largest_sq_norm(table)), fast, careful


@pytest.mark.parametrize("tight", [1.0, 1e-4, 1e-8])
@pytest.mark.parametrize("shift", [0.0, 1.0, 30.0, 1e3, 1e5])
def test_the_fast_way_is_taken_only_where_no_digits_are_lost(make_prior, statistics_of, pool, shift, tight):
    is_allowed, fast, careful = shifted_statistics(make_prior, statistics_of, pool, shift, tight)
    if is_allowed:
        assert fast.log_normaliser == pytest.approx(careful.log_normaliser, abs=60 * 1e-9)
        np.testing.assert_allclose(fast.counts, careful.counts, rtol=1e-8)
        np.testing.assert_allclose(fast.scatters, careful.scatters, rtol=1e-6, atol=1e-7 * tight)


def test_the_loss_is_real_where_the_fast_way_is_refused(make_prior, statistics_of, pool):
    is_allowed, fast, careful = shifted_statistics(make_prior, statistics_of, pool, 1e5, 1e-8)
    assert not is_allowed
    assert abs(fast.log_normaliser - careful.log_normaliser) > 1e-3
    is_allowed, fast, careful = shifted_statistics(make_prior, statistics_of, pool, 1.0, 1.0)
    assert is_allowed
    assert fast.log_normaliser == pytest.approx(careful.log_normaliser, rel=1e-12)


def test_components_far_from_the_rows_forbid_the_fast_way_too(make_prior, statistics_of):
    """As in partial_fit: the block lies at the centre, a component of earlier rows far away."""
    far = np.random.default_rng(0).normal(size=(20, 2)) + 1e6
    prior = make_prior("full", 2, inverse=1e-3 * np.eye(2), m0=1e6)
    posterior = prior.posterior(statistics_of(far, np.ones((20, 1)), is_diagonal=False, origin=1e6))
    assert not is_expandable(posterior, largest_sq_norm(list(blocks(np.zeros((3, 2)), np.empty((3, 0)), None))))


@pytest.mark.parametrize("expand", [False, True])
def test_neither_threads_nor_blocks_change_the_sums(kind, make_posterior, pool, expand):
    random = np.random.default_rng(0)
    X = random.normal(size=(97, 3))
    X[random.random((97, 3)) < 0.2] = NAN
    posterior = make_posterior(kind, np.nan_to_num(X), 3)
    whole = expectation(list(blocks(X, no_codes(X), None)), posterior, expand=expand, pool=pool)
    for size in (1, 13, 97):
        table = list(blocks(X, no_codes(X), None, size))
        again = [expectation(table, posterior, expand=expand, pool=pool) for _ in range(2)]
        assert_same(whole, again[0], 1e-10)
        np.testing.assert_array_equal(again[0].squares, again[1].squares)  # to the last bit


# ---------------------------------------------------------------- weights, categories, gaps


@pytest.mark.parametrize("expand", [False, True])
def test_a_weight_is_so_many_copies(kind, make_posterior, pool, expand):
    random = np.random.default_rng(2)
    X, codes = random.normal(size=(20, 2)), random.integers(0, 3, (20, 1)).astype(float)
    codes[3], X[5, 0] = NAN, NAN
    weights = random.integers(0, 4, 20)
    posterior = make_posterior(kind, np.nan_to_num(X), 3, codes=codes, n_slots=(3,))
    weighted = expectation(list(blocks(X, codes, weights.astype(float))), posterior, expand=expand, pool=pool)
    copies = (np.repeat(X, weights, axis=0), np.repeat(codes, weights, axis=0), None)
    assert_same(weighted, expectation(list(blocks(*copies)), posterior, expand=expand, pool=pool), 1e-12)


@pytest.mark.parametrize("expand", [False, True])
def test_categories_enter_by_their_expected_logarithm(make_posterior, pool, expand):
    random = np.random.default_rng(3)
    X, codes = random.normal(size=(25, 2)), random.integers(0, 3, (25, 2)).astype(float)
    codes[random.random((25, 2)) < 0.3] = NAN
    posterior = make_posterior("full", X, 3, codes=codes, n_slots=(3, 4))
    statistics = expectation(list(blocks(X, codes, None, 6)), posterior, expand=expand, pool=pool)
    log_rho = np.zeros((25, 3))
    for n in range(25):
        for k in range(3):
            difference = X[n] - posterior.means[k]
            log_rho[n, k] = posterior.log_constants[k] - 0.5 * difference @ posterior.precisions[k] @ difference
            for e in range(2):
                if not np.isnan(codes[n, e]):
                    log_rho[n, k] += posterior.log_categories[e][k, int(codes[n, e])]
    shares = np.exp(log_rho) / np.exp(log_rho).sum(axis=1, keepdims=True)
    assert statistics.log_normaliser == pytest.approx(np.log(np.exp(log_rho).sum(axis=1)).sum(), rel=1e-12)
    for e, table in enumerate(statistics.category_counts):
        for k in range(3):
            for c in range(table.shape[1]):
                assert table[k, c] == pytest.approx(shares[codes[:, e] == c, k].sum(), abs=1e-12)


def test_codes_beyond_the_table_count_as_its_last_category(make_posterior, pool):
    X, known, unknown = np.zeros((2, 1)), np.array([[0.0], [2.0]]), np.array([[0.0], [17.0]])
    posterior = make_posterior("full", X, 2, codes=known, n_slots=(3,))
    one, other = (expectation(list(blocks(X, c, None)), posterior, expand=True, pool=pool) for c in (known, unknown))
    assert_same(one, other, 1e-14)


@pytest.mark.parametrize("missing", [0, 1])
def test_gaps_are_integrated_out(kind, make_posterior, missing):
    """Moments of the missing value, and the row's share of the bound, by numerical integration over it."""
    random = np.random.default_rng(4)
    posterior = make_posterior(kind, random.normal(size=(30, 2)), 3)
    precisions = posterior.precisions[:, :, None] * np.eye(2) if is_diagonal(kind) else posterior.precisions
    seen = 0.7

    def rho(value, k):
        x = np.array([value, seen] if missing == 0 else [seen, value])
        difference = x - posterior.means[k]
        return np.exp(posterior.log_constants[k] - 0.5 * difference @ precisions[k] @ difference)

    moments = np.array(
        [
            [integrate.quad(lambda v, k=k, p=p: v**p * rho(v, k), -40, 40, points=[0, 2])[0] for p in range(3)]
            for k in range(3)
        ]
    )
    row = np.array([[NAN, seen] if missing == 0 else [seen, NAN]])
    [block] = blocks(row, np.empty((1, 0)), None)
    statistics = careful_statistics(block, posterior).about(np.zeros((3, 2)))
    assert statistics.log_normaliser == pytest.approx(np.log(moments[:, 0].sum()), rel=1e-7)
    moments /= moments[:, 0].sum()
    np.testing.assert_allclose(statistics.counts, moments[:, 0], rtol=1e-6)
    np.testing.assert_allclose(statistics.sums[:, missing], moments[:, 1], rtol=1e-6)
    squares = statistics.squares[:, missing] if is_diagonal(kind) else statistics.squares[:, missing, missing]
    np.testing.assert_allclose(squares, moments[:, 2], rtol=1e-6)
    if not is_diagonal(kind):
        np.testing.assert_allclose(statistics.squares[:, 0, 1], seen * moments[:, 1], rtol=1e-6)


def test_a_row_of_gaps_changes_nothing(kind, make_posterior):
    X = np.random.default_rng(5).normal(size=(30, 2))
    posterior = make_posterior(kind, X, 3)
    [block] = blocks(np.full((1, 2), NAN), np.empty((1, 0)), None)
    statistics = careful_statistics(block, posterior)
    np.testing.assert_allclose(statistics.means, posterior.means, atol=1e-12)
    covariances = posterior.precision.invert(posterior.precisions)
    expected = statistics.counts.reshape(-1, *[1] * (covariances.ndim - 1)) * covariances
    np.testing.assert_allclose(statistics.scatters, expected, rtol=1e-10)


def test_adding_up_keeps_the_order_of_the_blocks(make_posterior):
    X = np.random.default_rng(6).normal(size=(30, 2))
    posterior = make_posterior("full", X, 2)
    parts = [careful_statistics(block, posterior) for block in blocks(X, no_codes(X), None, 10)]
    np.testing.assert_array_equal(total(parts).sums, (parts[0] + parts[1] + parts[2]).sums)


def test_rows_a_thousand_deviations_away_still_belong_to_someone(kind, make_posterior, pool):
    X = np.random.default_rng(7).normal(size=(30, 2))
    posterior = make_posterior(kind, X, 3)
    far = np.array([[1e3, 0.0], [0.0, -1e6]])
    statistics = expectation(list(blocks(far, np.empty((2, 0)), None)), posterior, expand=False, pool=pool)
    assert statistics.counts.sum() == pytest.approx(2)
    assert np.isfinite(statistics.log_normaliser)


# ---------------------------------------------------------------- rare patterns of gaps


@pytest.mark.parametrize("expand", [False, True])
def test_rare_patterns_give_what_frequent_ones_do(monkeypatch, kind, make_posterior, pool, expand):
    """Rows that each miss other columns, taken one pattern at a time or all at once."""
    random = np.random.default_rng(0)
    whole = random.normal(size=(90, 5)) + 1
    X = np.where(random.uniform(size=whole.shape) < 0.3, NAN, whole)
    codes = random.integers(0, 3, size=(90, 1)).astype(float)
    weights = random.uniform(0.5, 2, size=90)
    posterior = make_posterior(kind, whole, 3, codes=codes, n_slots=(4,))
    found = []
    for rare, cells in ((0, 2**16), (10**9, 2**16), (10**9, 20), (4, 2**16)):
        monkeypatch.setattr("mixkern.density.block.RARE", rare)
        monkeypatch.setattr("mixkern.density.block.RARE_CELLS", cells)
        table = list(blocks(X, codes, weights, 7))
        assert sum(block.values.shape[1] for block in table) == 90
        assert any(block.is_scattered for block in table) == (rare > 0)
        found.append(expectation(table, posterior, expand=expand, pool=pool))
    for other in found[1:]:
        assert_same(found[0], other, rtol=1e-10)
