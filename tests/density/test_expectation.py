"""The E-step, with gaps, categories and weights, against the literal formulas and integration."""

import numpy as np
import pytest
from scipy import integrate

from mixkern.density.block import InnerRows, gap_blocks
from mixkern.density.expectation import block_statistics, expectation, total

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


@pytest.mark.parametrize(("n", "d", "k", "size"), [(1, 1, 1, 4), (1, 3, 2, 4), (17, 2, 3, 5), (31, 4, 2, 31)])
def test_full_e_step_is_the_literal_one(make_posterior, literal, pool, n, d, k, size):
    X = np.random.default_rng(n).normal(size=(n, d)) * 2 + 0.5
    posterior = make_posterior("full", X, k)
    statistics = expectation(list(gap_blocks(X, no_codes(X), None, size)), posterior, pool)
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


def test_every_kind_is_the_full_one_with_its_matrices(kind, make_posterior, pool):
    """ln rho of a block is that of Gaussians with the expected precisions, up to a constant per component."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    posterior = make_posterior(kind, X, 4)
    precisions = posterior.precisions[:, :, None] * np.eye(3) if is_diagonal(kind) else posterior.precisions
    difference = X[:, None, :] - posterior.means
    log_rho = posterior.log_constants - 0.5 * np.einsum("nki,kij,nkj->nk", difference, precisions, difference)
    rho = np.exp(log_rho)
    shares = rho / rho.sum(axis=1, keepdims=True)
    statistics = expectation(list(gap_blocks(X, no_codes(X), None, 7)), posterior, pool)
    np.testing.assert_allclose(statistics.counts, shares.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(statistics.means, (shares.T @ X) / shares.sum(axis=0)[:, None], rtol=1e-9, atol=1e-10)
    assert statistics.log_normaliser == pytest.approx(np.log(rho.sum(axis=1)).sum(), rel=1e-10)


# ---------------------------------------------------------------- sizes, and data far from the centre


def literal_statistics(X, codes, weights, posterior):
    """Counts, sums and squares about zero, and the log normaliser, row by row without gaps."""
    (n, d), k = X.shape, posterior.n_components
    precisions = posterior.precisions
    counts, sums, squares, log_normaliser = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d)), 0.0
    for i in range(n):
        log_rho = np.empty(k)
        for j in range(k):
            difference = X[i] - posterior.means[j]
            precision = np.diag(precisions[j]) if precisions.ndim == 2 else precisions[j]
            log_rho[j] = posterior.log_constants[j] - 0.5 * difference @ precision @ difference
            log_rho[j] += sum(
                table[j, int(code)] for table, code in zip(posterior.log_categories, codes[i], strict=True)
            )
        log_sum = np.log(np.exp(log_rho - log_rho.max()).sum()) + log_rho.max()
        shares = weights[i] * np.exp(log_rho - log_sum)
        counts += shares
        sums += shares[:, None] * X[i]
        squares += shares[:, None, None] * np.outer(X[i], X[i])
        log_normaliser += weights[i] * log_sum
    return counts, sums, squares if precisions.ndim == 3 else np.einsum("kii->ki", squares), log_normaliser


@pytest.mark.parametrize("n", [0, 1, 2, 101, 1031])
def test_any_size_is_the_literal_sum(kind, make_posterior, pool, n):
    random = np.random.default_rng(n)
    X, codes, weights = random.normal(size=(n, 3)), random.integers(0, 4, (n, 1)).astype(float), random.random(n)
    first = random.normal(size=(20, 3))
    posterior = make_posterior(kind, first, 5, codes=np.arange(20.0)[:, None] % 4, n_slots=(4,))
    rows = InnerRows(X, codes, weights, (4,))
    found = expectation(rows.blocks(), posterior, pool).about(np.zeros((5, 3)))
    counts, sums, squares, log_normaliser = literal_statistics(X, codes, weights, posterior)
    np.testing.assert_allclose(found.counts, counts, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.sums, sums, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.squares, squares, rtol=1e-11, atol=1e-11)
    assert found.log_normaliser == pytest.approx(log_normaliser, rel=1e-12, abs=1e-12)


def test_no_rows_make_no_blocks():
    assert not list(gap_blocks(np.empty((0, 2)), np.empty((0, 1)), None))


@pytest.mark.parametrize("tight", [1.0, 1e-4, 1e-8])
@pytest.mark.parametrize("shift", [0.0, 30.0, 1e3, 1e5])
def test_tight_components_far_from_the_centre_lose_no_digits(make_prior, statistics_of, pool, shift, tight):
    """The same rows and components, moved: differences stay the same, and so do all sums about the means."""
    random = np.random.default_rng(0)
    deviations = np.sqrt(tight) * random.normal(size=(60, 2))
    deviations[:30] += 4 * np.sqrt(tight)
    moved = shift + deviations
    deviations = moved - shift  # as far as the moved rows have digits
    shares = np.eye(2)[np.arange(60) // 30]
    here, there = (
        make_prior("full", 2, inverse=tight * np.eye(2), m0=at).posterior(
            statistics_of(X, shares, is_diagonal=False, origin=at)
        )
        for X, at in ((deviations, 0.0), (moved, shift))
    )
    one = expectation(list(gap_blocks(deviations, no_codes(deviations), None)), here, pool)
    other = expectation(list(gap_blocks(moved, no_codes(moved), None)), there, pool)
    lost = 1e-15 * (1 + shift) / np.sqrt(tight)  # digits of the means themselves
    np.testing.assert_allclose(other.counts, one.counts, rtol=1e-10 + 100 * lost)
    np.testing.assert_allclose(other.scatters, one.scatters, rtol=1e-10 + 100 * lost, atol=1e-12 * tight)
    assert other.log_normaliser == pytest.approx(one.log_normaliser, rel=1e-10 + 100 * lost)


def test_neither_threads_nor_blocks_change_the_sums(kind, make_posterior, pool):
    random = np.random.default_rng(0)
    X = random.normal(size=(97, 3))
    X[random.random((97, 3)) < 0.2] = NAN
    posterior = make_posterior(kind, np.nan_to_num(X), 3)
    whole = expectation(list(gap_blocks(X, no_codes(X), None)), posterior, pool)
    for size in (1, 13, 97):
        table = list(gap_blocks(X, no_codes(X), None, size))
        again = [expectation(table, posterior, pool) for _ in range(2)]
        assert_same(whole, again[0], 1e-10)
        np.testing.assert_array_equal(again[0].squares, again[1].squares)  # to the last bit


# ---------------------------------------------------------------- weights, categories, gaps


def test_a_weight_is_so_many_copies(kind, make_posterior, pool):
    random = np.random.default_rng(2)
    X, codes = random.normal(size=(20, 2)), random.integers(0, 3, (20, 1)).astype(float)
    codes[3], X[5, 0] = NAN, NAN
    weights = random.integers(0, 4, 20)
    posterior = make_posterior(kind, np.nan_to_num(X), 3, codes=codes, n_slots=(3,))
    weighted = expectation(list(gap_blocks(X, codes, weights.astype(float))), posterior, pool)
    copies = (np.repeat(X, weights, axis=0), np.repeat(codes, weights, axis=0), None)
    assert_same(weighted, expectation(list(gap_blocks(*copies)), posterior, pool), 1e-12)


def test_categories_enter_by_their_expected_logarithm(make_posterior, pool):
    random = np.random.default_rng(3)
    X, codes = random.normal(size=(25, 2)), random.integers(0, 3, (25, 2)).astype(float)
    codes[random.random((25, 2)) < 0.3] = NAN
    posterior = make_posterior("full", X, 3, codes=codes, n_slots=(3, 4))
    statistics = expectation(list(gap_blocks(X, codes, None, 6)), posterior, pool)
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
    one, other = (expectation(list(gap_blocks(X, c, None)), posterior, pool) for c in (known, unknown))
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
    [block] = gap_blocks(row, np.empty((1, 0)), None)
    statistics = block_statistics(block, posterior).about(np.zeros((3, 2)))
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
    [block] = gap_blocks(np.full((1, 2), NAN), np.empty((1, 0)), None)
    statistics = block_statistics(block, posterior)
    np.testing.assert_allclose(statistics.means, posterior.means, atol=1e-12)
    covariances = posterior.precision.invert(posterior.precisions)
    expected = statistics.counts.reshape(-1, *[1] * (covariances.ndim - 1)) * covariances
    np.testing.assert_allclose(statistics.scatters, expected, rtol=1e-10)


def test_adding_up_keeps_the_order_of_the_blocks(make_posterior):
    X = np.random.default_rng(6).normal(size=(30, 2))
    posterior = make_posterior("full", X, 2)
    parts = [block_statistics(block, posterior) for block in gap_blocks(X, no_codes(X), None, 10)]
    np.testing.assert_array_equal(total(parts).sums, (parts[0] + parts[1] + parts[2]).sums)


def test_rows_a_thousand_deviations_away_still_belong_to_someone(kind, make_posterior, pool):
    X = np.random.default_rng(7).normal(size=(30, 2))
    posterior = make_posterior(kind, X, 3)
    far = np.array([[1e3, 0.0], [0.0, -1e6]])
    statistics = expectation(list(gap_blocks(far, np.empty((2, 0)), None)), posterior, pool)
    assert statistics.counts.sum() == pytest.approx(2)
    assert np.isfinite(statistics.log_normaliser)


def test_gaps_are_the_same_in_any_company(kind, make_posterior, pool):
    """Rows that each miss other columns, one at a time or all together, with weights and categories."""
    random = np.random.default_rng(0)
    whole = random.normal(size=(90, 5)) + 1
    X = np.where(random.uniform(size=whole.shape) < 0.3, NAN, whole)
    codes = random.integers(0, 3, size=(90, 1)).astype(float)
    weights = random.uniform(0.5, 2, size=90)
    posterior = make_posterior(kind, whole, 3, codes=codes, n_slots=(4,))
    together = expectation(InnerRows(X, codes, weights, (4,)).blocks(), posterior, pool)
    by_pattern = expectation(list(gap_blocks(X, codes, weights, 7)), posterior, pool)
    one_by_one = total(
        block_statistics(each, posterior)
        for i in range(90)
        for each in gap_blocks(X[i : i + 1], codes[i : i + 1], weights[i : i + 1])
    )
    assert_same(together, by_pattern, rtol=1e-10)
    assert_same(together, one_by_one, rtol=1e-10)
