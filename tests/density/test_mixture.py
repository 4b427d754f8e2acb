"""The mixture as a value: densities against the literal formulas, identity, files, errors."""

import copy
import json
import pickle
import re
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from mixkern.density.block import BLOCK
from mixkern.density.covariance import CovarianceType
from mixkern.density.mixture import MOST_CATEGORIES, Mixture, category_slots, check_codes
from mixkern.errors import MixtureError, OptionError

NAN = np.nan


@pytest.fixture
def mixture(kind, make_mixture):
    return make_mixture(kind, 3, 2, (2, 3))


@pytest.fixture
def rows(mixture):
    """Rows with every pattern of gaps."""
    X, _ = mixture.sample(40, 0)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = NAN
    X[0], X[1, :2], X[2, 2:] = NAN, NAN, NAN
    return X


def one(
    weights=(0.4, 0.6), means=((0.0,), (1.0,)), covariances=((1.0,), (2.0,)), covariance_type="diag", categories=()
):
    return Mixture(weights, means, covariances, covariance_type, categories)


# ---------------------------------------------------------------- densities


def test_densities_are_the_literal_ones(mixture, rows, literal):
    joint = np.array([literal.joint_density(mixture, row) for row in rows])
    np.testing.assert_allclose(np.exp(mixture.log_joint(rows)), joint, rtol=1e-10)
    np.testing.assert_allclose(mixture.log_density(rows), np.log(joint.sum(axis=1)), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        mixture.responsibilities(rows), joint / joint.sum(axis=1, keepdims=True), rtol=1e-10, atol=1e-14
    )


def test_missing_categories_are_added_up(mixture, rows, literal):
    summed = [literal.summed_density(mixture, row) for row in rows]
    np.testing.assert_allclose(np.exp(mixture.log_density(rows)), summed, rtol=1e-10)


@pytest.mark.parametrize("gap", [0, 1])
def test_missing_numbers_are_integrated_out(mixture, gap):
    row = np.array([0.3, -0.4, 1.0, NAN])
    row[gap] = NAN

    def density(value):
        filled = row.copy()
        filled[gap] = value
        return np.exp(mixture.log_density([filled])[0])

    integral, _ = integrate.quad(density, -50, 50, points=list(mixture.means[:, gap]), limit=200)
    assert np.exp(mixture.log_density([row])[0]) == pytest.approx(integral, rel=1e-7)


def test_the_density_integrates_to_one(kind, make_mixture):
    mixture = make_mixture(kind, 3, 1, (2,))
    total = sum(
        integrate.quad(lambda x, c=c: np.exp(mixture.log_density([[x, c]])[0]), -40, 40, points=[-2, 0, 2], limit=200)[
            0
        ]
        for c in range(2)
    )
    assert total == pytest.approx(1, rel=1e-8)


def test_a_row_of_gaps_has_the_weights_as_responsibilities(mixture):
    gaps = np.full((2, 4), NAN)
    np.testing.assert_allclose(mixture.responsibilities(gaps), np.tile(mixture.weights, (2, 1)), rtol=1e-12)
    np.testing.assert_allclose(mixture.log_density(gaps), 0, atol=1e-12)


def test_gaps_are_filled_by_their_expectation(mixture, rows, literal):
    filled = mixture.conditional_mean(rows)
    expected = np.array([literal.conditional_mean(mixture, row) for row in rows])
    np.testing.assert_allclose(filled, expected, rtol=1e-9, atol=1e-10)
    there = ~np.isnan(rows)
    np.testing.assert_array_equal(filled[there], rows[there])
    assert not np.isnan(filled[:, :2]).any()


@pytest.mark.parametrize("n", [0, 1, 2 * BLOCK + 1])
def test_any_number_of_rows(mixture, n):
    X, components = mixture.sample(n, 0)
    X[::7, 0] = NAN
    assert (X.shape, components.shape) == ((n, 4), (n,))
    log_joint = mixture.log_joint(X)
    assert log_joint.shape == mixture.responsibilities(X).shape == (n, 3)
    assert mixture.log_density(X).shape == (n,)
    assert mixture.conditional_mean(X).shape == X.shape
    for i in np.random.default_rng(0).integers(0, n, 5) if n else []:
        np.testing.assert_allclose(log_joint[i], mixture.log_joint(X[i : i + 1])[0], rtol=1e-12)


def test_a_thousand_deviations_away_someone_is_still_responsible(mixture):
    far = np.array([[1e3, 1e3, 0, 0], [-1e6, 2e6, 1, 2], [1e12, 0, NAN, NAN]])
    shares = mixture.responsibilities(far)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.isfinite(mixture.log_density(far)).all()


def test_so_far_away_that_squares_overflow(mixture):
    far = np.array([[1e200, 0, 0, 0], [1e308, -1e308, 0, 0]])
    np.testing.assert_allclose(mixture.responsibilities(far).sum(axis=1), 1)
    assert (mixture.log_density(far) < -1e300).all()


def test_tight_components_far_from_the_origin_keep_their_digits():
    near = Mixture([0.5, 0.5], [[0.0], [3e-3]], [1e-6, 1e-6], "spherical")
    far = Mixture([0.5, 0.5], [[1e6], [1e6 + 2.0**-9]], [2.0**-20, 2.0**-20], "spherical")
    assert np.isfinite(near.log_density([[0.0]])).all()
    np.testing.assert_allclose(far.responsibilities([[1e6 + 2.0**-10]]), [[0.5, 0.5]])


def test_weights_and_probabilities_of_zero():
    mixture = one(weights=[1.0, 0.0], categories=[[[1.0, 0.0], [0.5, 0.5]]])
    np.testing.assert_array_equal(mixture.responsibilities([[0.0, 0]]), [[1, 0]])
    assert mixture.log_density([[0.0, 1]])[0] == -np.inf  # impossible for the only component that there is
    np.testing.assert_array_equal(mixture.responsibilities([[0.0, 1]]), [[1, 0]])  # the weights


def test_an_impossible_category_excludes_a_component():
    mixture = one(categories=[[[1.0, 0.0], [0.5, 0.5]]])
    np.testing.assert_array_equal(mixture.responsibilities([[0.0, 1]]), [[0, 1]])


def test_unknown_codes_count_as_the_last_category():
    mixture = one(categories=[[[0.2, 0.8], [0.5, 0.5]]])
    assert mixture.log_density([[0.0, 9]]) == mixture.log_density([[0.0, 1]])
    assert category_slots(np.array([0.0, 1.0, 5.0]), 2).tolist() == [0, 1, 1]


def test_only_categories(kind):
    covariances = np.ones(CovarianceType(kind).shape(2, 0))
    mixture = Mixture([0.3, 0.7], np.empty((2, 0)), covariances, kind, [[[0.9, 0.1], [0.2, 0.8]]])
    np.testing.assert_allclose(np.exp(mixture.log_joint([[0], [1], [NAN]])), [[0.27, 0.14], [0.03, 0.56], [0.3, 0.7]])
    assert mixture.sample(5, 0)[0].shape == (5, 1)
    assert Mixture.from_dict(json.loads(json.dumps(mixture.to_dict()))) == mixture
    assert mixture.conditional_mean([[NAN]]).shape == (1, 1)


# ---------------------------------------------------------------- samples


def test_moments_of_samples(mixture):
    n = 20_000
    X, components = mixture.sample(n, 1)
    for k in range(3):
        mine = X[components == k]
        deviations = np.sqrt(np.diagonal(mixture.full_covariances[k]))
        assert len(mine) / n == pytest.approx(mixture.weights[k], abs=5 * 0.5 / np.sqrt(n))
        np.testing.assert_allclose(
            mine[:, :2].mean(axis=0), mixture.means[k], atol=5 * deviations.max() / len(mine) ** 0.5
        )
        tolerance = 8 * deviations.max() ** 2 / len(mine) ** 0.5
        np.testing.assert_allclose(np.cov(mine[:, :2].T), mixture.full_covariances[k], atol=tolerance)
        for e, table in enumerate(mixture.categories):
            shares = np.bincount(mine[:, 2 + e].astype(int), minlength=table.shape[1]) / len(mine)
            np.testing.assert_allclose(shares, table[k], atol=5 * 0.5 / len(mine) ** 0.5)


def test_same_seed_same_sample(mixture):
    np.testing.assert_array_equal(mixture.sample(10, 3)[0], mixture.sample(10, 3)[0])
    random = np.random.RandomState(0)
    assert not np.array_equal(mixture.sample(10, random)[0], mixture.sample(10, random)[0])


def test_weights_that_add_up_to_one_almost_can_be_sampled():
    assert one(weights=[0.4, 0.600004], categories=[[[0.5, 0.500004], [1, 0]]]).sample(5, 0)[0].shape == (5, 2)


# ---------------------------------------------------------------- shapes


def test_sizes(mixture, kind):
    assert (mixture.n_components, mixture.n_continuous, mixture.n_features) == (3, 2, 4)
    assert repr(mixture) == f"Mixture(3 {kind} components in 2 columns, 2 categorical columns)"
    assert repr(one()) == "Mixture(2 diag components in 1 columns)"


def test_covariances_as_matrices_and_variances(mixture, literal):
    expected = literal.full_covariances(mixture)
    np.testing.assert_array_equal(mixture.full_covariances, expected)
    np.testing.assert_array_equal(mixture.variances, np.diagonal(expected, axis1=1, axis2=2))


def test_whiteners_whiten(mixture, kind):
    whole = mixture.whiteners
    if kind in ("diag", "spherical"):
        whole = whole[:, :, None] * np.eye(2)
    for whitener, covariance in zip(whole, mixture.full_covariances, strict=True):
        np.testing.assert_allclose(whitener @ covariance @ whitener.T, np.eye(2), atol=1e-12)
        assert whitener[0, 1] == 0


# ---------------------------------------------------------------- a value


def test_arrays_are_read_only_and_not_shared(mixture):
    for array in (mixture.weights, mixture.means, mixture.covariances, *mixture.categories):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    for array in (mixture.full_covariances, mixture.variances, mixture.whiteners):
        assert not array.flags.writeable
    given = np.array([0.4, 0.6])
    made = one(weights=given)
    given[:] = 0.5
    assert made.weights.tolist() == [0.4, 0.6]
    with pytest.raises(FrozenInstanceError):
        made.weights = given


def test_rows_are_not_changed(mixture, rows):
    before = rows.copy()
    rows.flags.writeable = False
    mixture.conditional_mean(rows)
    mixture.responsibilities(rows)
    np.testing.assert_array_equal(rows, before)


def test_equal_content_is_equal(mixture, kind, make_mixture):
    same, other = make_mixture(kind, 3, 2, (2, 3)), make_mixture(kind, 3, 2, (2, 3), seed=1)
    assert mixture == same
    assert mixture != other
    assert mixture != "a mixture"
    assert len({mixture, same, other}) == 2
    assert mixture.key == same.key != other.key
    assert len(mixture.key) == 64


def test_every_part_is_part_of_the_identity():
    base = {"weights": [0.5, 0.5], "means": [[0.0], [1.0]], "covariances": [[1.0], [2.0]], "covariance_type": "diag"}
    changes = [
        {"weights": [0.4, 0.6]},
        {"means": [[0.0], [1.5]]},
        {"covariances": [[1.0], [3.0]]},
        {"covariances": [1.0, 2.0], "covariance_type": "spherical"},
        {"categories": [[[1.0], [1.0]]]},
    ]
    assert len({Mixture(**base), *(Mixture(**(base | change)) for change in changes)}) == 6


def test_zero_and_minus_zero_are_the_same():
    assert one(means=[[0.0], [1.0]]) == one(means=[[-0.0], [1.0]])


def test_the_key_is_the_same_in_every_process():
    assert one().key == "5a1fd37d762cdb925e743be6ca04c55adafda8fad7cdfc67eeb14c1e8a869a42"


def test_copies_pickles_and_files(mixture, rows):
    through_json = Mixture.from_dict(json.loads(json.dumps(mixture.to_dict())))
    mixture.whiteners  # noqa: B018  computed caches must not get in the way
    for again in (pickle.loads(pickle.dumps(mixture)), copy.copy(mixture), copy.deepcopy(mixture), through_json):
        assert again == mixture
        assert again.covariance_type is mixture.covariance_type
        assert not again.means.flags.writeable
        np.testing.assert_array_equal(again.log_density(rows), mixture.log_density(rows))


# ---------------------------------------------------------------- from scikit-learn


@pytest.fixture(scope="module")
def blobs():
    random = np.random.default_rng(0)
    return np.vstack([random.normal(size=(40, 3)) * (1 + i) + 4 * i for i in range(3)])


@pytest.mark.parametrize("model", [GaussianMixture, BayesianGaussianMixture])
def test_from_gaussian_mixtures(model, kind, blobs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(n_components=3, covariance_type=kind, random_state=0).fit(blobs)
    mixture = Mixture.from_sklearn(fitted)
    assert mixture.covariance_type == kind
    np.testing.assert_array_equal(mixture.weights, fitted.weights_)
    if model is GaussianMixture:
        np.testing.assert_allclose(mixture.log_density(blobs), fitted.score_samples(blobs), rtol=1e-8)
        np.testing.assert_allclose(mixture.responsibilities(blobs), fitted.predict_proba(blobs), atol=1e-8)


def test_from_k_means(blobs):
    fitted = KMeans(4, n_init=1, random_state=0).fit(blobs)
    mixture = Mixture.from_sklearn(fitted)
    grid = np.random.default_rng(1).uniform(-10, 20, (500, 3))
    np.testing.assert_array_equal(mixture.responsibilities(grid).argmax(axis=1), fitted.predict(grid))
    assert mixture.covariances[0] == pytest.approx(fitted.inertia_ / (120 * 3))


@pytest.mark.parametrize("scale", [0.0, 1e-6, 1.0, 1e9])
def test_from_k_means_without_any_spread(scale):
    X = scale * np.array([[0.0, 1.0], [4.0, 0.0]])
    fitted = KMeans(2 if scale else 1, n_init=1, random_state=0).fit(X)
    mixture = Mixture.from_sklearn(fitted)
    np.testing.assert_array_equal(mixture.responsibilities(X).argmax(axis=1), fitted.predict(X))
    assert np.isfinite(mixture.log_density(X + 3 * scale)).all()


@pytest.mark.parametrize("model", [GaussianMixture(), KMeans(), "mixture"])
def test_from_something_else(model):
    text = f"Expected a fitted GaussianMixture, BayesianGaussianMixture or KMeans, but {type(model).__name__} has no"
    with pytest.raises(MixtureError, match=text):
        Mixture.from_sklearn(model)


# ---------------------------------------------------------------- errors


def test_an_unknown_kind():
    with pytest.raises(
        OptionError,
        match="covariance_type must be one of 'full', 'tied', 'diag', 'spherical', 'factor', 'common', but it is 'dia",
    ):
        one(covariance_type="diagonal")


@pytest.mark.parametrize("method", ["log_joint", "log_density", "responsibilities", "conditional_mean"])
def test_rows_that_do_not_fit(method):
    mixture = one(categories=[[[0.5, 0.5], [1, 0]]])
    text = r"X has shape \(1, 3\), but the mixture has 1 continuous and 1 categorical columns: expected \(n, 2\)"
    with pytest.raises(MixtureError, match=text):
        getattr(mixture, method)([[1.0, 2.0, 3.0]])
    with pytest.raises(MixtureError, match=r"X has shape \(2,\)"):
        getattr(mixture, method)([1.0, 2.0])
    with pytest.raises(MixtureError, match=r"X holds infinite values\. Replace them by numbers, or by NaN for a gap"):
        getattr(mixture, method)([[np.inf, 0.0]])


@pytest.mark.parametrize("kind", list(CovarianceType))
def test_components_of_few_rows_lean_on_the_mean(kind, make_mixture):
    mixture = make_mixture(kind, 3, 2)
    d, n = mixture.n_continuous, 50
    numbers = {"full": d * (d + 1) / 2, "diag": d, "spherical": 1}.get(kind)
    found = mixture.steadied(n)
    if kind == "tied":
        assert found == mixture
        return
    if kind == "common":  # the noise is shared
        np.testing.assert_array_equal(found.covariances, mixture.covariances)
        return
    if kind == "factor":
        numbers = d * (d + 1) / 2  # as many as a full matrix: factors and noise have no more
    mean = sum(w * S for w, S in zip(mixture.weights, mixture.covariances, strict=True))
    for weight, before, after in zip(mixture.weights, mixture.covariances, found.covariances, strict=True):
        share = numbers / (weight * n + numbers)
        np.testing.assert_allclose(after, (1 - share) * before + share * mean, rtol=1e-12)
    np.testing.assert_allclose(mixture.steadied(1e12).covariances, mixture.covariances, rtol=1e-9)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), [0.5], [[0.1, 0.2, 0.3]]])
def test_shares_that_are_none(make_mixture, share):
    with pytest.raises(MixtureError, match="share must be a number from 0 to 1, or one for each of"):
        make_mixture("full", 3, 2).pooled(share)


def test_codes_of_categories_pass():
    check_codes(np.array([[0.0, 4.0, NAN], [MOST_CATEGORIES - 1, NAN, NAN]]))
    check_codes(np.empty((3, 0)))


@pytest.mark.parametrize("code", [-1.0, 0.5, float(MOST_CATEGORIES), 1e12])
def test_what_is_no_code_is_refused(code):
    text = f"must hold whole numbers from 0 to {MOST_CATEGORIES - 1}, or NaN for a gap, but they hold {code:g}."
    with pytest.raises(MixtureError, match=re.escape(text)):
        check_codes(np.array([[0.0], [code]]))


# ---------------------------------------------------------------- common categories


@pytest.mark.parametrize("kind", list(CovarianceType))
def test_common_categories_leave_responsibilities_to_the_numbers(kind, make_mixture):
    """rho_k(x) = pi_k N(x'|mu_k, Sigma_k) / sum_j pi_j N(x'|mu_j, Sigma_j), x' the continuous columns."""
    mixture = make_mixture(kind, 3, 2, (2, 3))
    rows, _ = mixture.sample(30, 0)
    parts = zip(mixture.weights, mixture.means, mixture.full_covariances, strict=True)
    joint = np.transpose([weight * multivariate_normal.pdf(rows[:, :2], mean, S) for weight, mean, S in parts])
    rho = joint / joint.sum(axis=1, keepdims=True)
    common = mixture.with_common_categories()
    np.testing.assert_allclose(common.responsibilities(rows), rho, rtol=1e-10, atol=1e-14)
    assert np.abs(mixture.responsibilities(rows) - rho).max() > 0.1


def test_common_categories_with_gaps(mixture, rows):
    common = mixture.with_common_categories()
    numbers = np.where([True, True, False, False], rows, NAN)
    np.testing.assert_allclose(common.responsibilities(rows), mixture.responsibilities(numbers), rtol=1e-10, atol=1e-14)
    filled = mixture.conditional_mean(numbers)[:, :2]
    np.testing.assert_allclose(common.conditional_mean(rows)[:, :2], filled, rtol=1e-10, atol=1e-14)


def test_common_categories_keep_everything_else(mixture, kind):
    common = mixture.with_common_categories()
    for name in ("weights", "means", "covariances", "loadings"):
        np.testing.assert_array_equal(getattr(common, name), getattr(mixture, name))
    assert common.covariance_type == kind
    assert [table.shape for table in common.categories] == [table.shape for table in mixture.categories]
    codes = np.array([[NAN, NAN, 0, NAN], [NAN, NAN, NAN, 2]])  # the distribution of each category is unchanged
    np.testing.assert_allclose(common.log_density(codes), mixture.log_density(codes), rtol=1e-12)
    assert common.key != mixture.key
    assert common.with_common_categories() == common
    assert Mixture.from_dict(json.loads(json.dumps(common.to_dict()))) == common == pickle.loads(pickle.dumps(common))


def test_common_categories_without_any_or_without_numbers(kind, make_mixture):
    plain = make_mixture(kind, 3, 2)
    assert plain.with_common_categories() == plain
    covariances = np.ones(CovarianceType(kind).shape(2, 0))
    loadings = np.empty((2, 0, 0)) if CovarianceType(kind).has_loadings else None
    mixture = Mixture([0.3, 0.7], np.empty((2, 0)), covariances, kind, [[[0.9, 0.1], [0.2, 0.8]]], loadings)
    found = mixture.with_common_categories().responsibilities([[0], [1], [NAN]])
    np.testing.assert_allclose(found, [[0.3, 0.7]] * 3, rtol=1e-14)


def test_a_common_probability_of_zero_leaves_the_weights():
    mixture = one(weights=[1.0, 0.0], categories=[[[1.0, 0.0], [0.5, 0.5]]]).with_common_categories()
    np.testing.assert_array_equal(mixture.responsibilities([[0.0, 1]]), [[1, 0]])
