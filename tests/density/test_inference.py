"""The ascent: step by step the same as scikit-learn's, and what happens between the steps."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture

from mixkern.density.block import InnerRows, gap_blocks
from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.expectation import expectation
from mixkern.density.inference import CHANCE, Policy, ascend, merger_gains
from mixkern.density.mixture import Mixture
from mixkern.density.posterior import Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.density.start import hard_statistics

FIXED = Policy(precision_prior=None, learns_degrees=False, prune_below=0.0, merges=False, tol=0.0, max_iter=50)


def is_diagonal(kind):
    return kind in ("diag", "spherical")


def table_of(X, size=64, codes=None):
    return list(gap_blocks(X, np.empty((len(X), 0)) if codes is None else codes, None, size))


# ---------------------------------------------------------------- scikit-learn, step by step


def sklearn_run(X, kind, k, n_iter, init):
    """Fit as many iterations; no pruning there, and a tolerance that is never reached."""
    d = X.shape[1]
    prior = {"full": 0.8 * np.eye(d) + 0.2, "tied": 0.8 * np.eye(d) + 0.2, "diag": np.full(d, 0.9), "spherical": 0.9}
    model = BayesianGaussianMixture(
        n_components=k,
        covariance_type=kind,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=0.4,
        mean_precision_prior=1.5,
        mean_prior=np.full(d, 0.3),
        degrees_of_freedom_prior=d + 1.5,
        covariance_prior=prior[kind],
        reg_covar=0,
        tol=0,
        max_iter=n_iter,
        init_params=init,
        random_state=7,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


def sklearn_start(X, k, init):
    """The responsibilities with which scikit-learn begins, by its own public parts."""
    if init == "kmeans":
        return np.eye(k)[KMeans(k, n_init=1, random_state=np.random.RandomState(7)).fit(X).labels_]
    shares = np.random.RandomState(7).uniform(size=(len(X), k))
    return shares / shares.sum(axis=1, keepdims=True)


def our_prior(model, kind):
    d = len(model.mean_prior_)
    precision = PRECISIONS[kind]
    inverse = np.broadcast_to(model.covariance_prior_, (d,)) if kind == "spherical" else model.covariance_prior_
    return Prior(precision, 0.4, model.mean_prior_, 1.5, d + 1.5, np.array(inverse), 1.0)


def our_run(X, kind, prior, shares, n_iter, statistics_of, pool):
    """M-step, then so often E-step and M-step; the posterior, and the bound after each E-step."""
    posterior = prior.posterior(statistics_of(X, shares, is_diagonal=is_diagonal(kind)))
    bounds = []
    for _ in range(n_iter):
        statistics = expectation(table_of(X), posterior, pool)
        bounds.append(statistics.log_normaliser - posterior.divergence(prior))
        posterior = prior.posterior(statistics)
    return posterior, bounds


def rows(n, d):
    random = np.random.default_rng(d)
    return np.vstack([random.normal(size=(n // 3, d)) * (0.5 + i) + 2 * i for i in range(3)])


def assert_same_mixture(ours, model, tolerance=1e-6):
    np.testing.assert_allclose(ours.weights, model.weights_, atol=tolerance)
    np.testing.assert_allclose(ours.means, model.means_, atol=tolerance)
    np.testing.assert_allclose(ours.covariances, model.covariances_, atol=tolerance)


@pytest.mark.parametrize("n_iter", [0, 1, 2, 5, 20])
@pytest.mark.parametrize("init", ["kmeans", "random"])
@pytest.mark.parametrize(
    ("kind", "d", "k"),
    [("full", 1, 3), ("full", 2, 4), ("full", 5, 3), ("diag", 1, 3), ("spherical", 1, 4), ("tied", 3, 1)],
)
def test_agrees_with_scikit_learn_after_the_same_iterations(kind, d, k, init, n_iter, statistics_of, pool):
    """Where the models are the same.

    Full covariances: always. Diagonal and spherical ones: in one column, because scikit-learn takes the digamma
    functions of a Wishart matrix there, where independent Gamma variables have their own. Tied ones: with one
    component, because scikit-learn lets the shared matrix see N / k rows only.
    """
    X = rows(90, d)
    model = sklearn_run(X, kind, k, n_iter, init)
    posterior, _ = our_run(X, kind, our_prior(model, kind), sklearn_start(X, k, init), n_iter, statistics_of, pool)
    assert_same_mixture(posterior.mixture(), model)


@pytest.mark.parametrize("kind", ["diag", "spherical"])
@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_one_m_step_agrees_with_scikit_learn_in_any_dimension(kind, init, statistics_of, pool):
    """Given the responsibilities, means and variances do not depend on the digamma functions that differ."""
    X = rows(90, 4)
    model = sklearn_run(X, kind, 3, 0, init)
    posterior, _ = our_run(X, kind, our_prior(model, kind), sklearn_start(X, 3, init), 0, statistics_of, pool)
    assert_same_mixture(posterior.mixture(), model, 1e-10)


@pytest.mark.parametrize("init", ["kmeans", "random"])
@pytest.mark.parametrize("d", [1, 3])
def test_bound_differences_agree_with_scikit_learn(d, init, statistics_of, pool, literal):
    """scikit-learn takes the bound after the M-step and leaves constants out; the literal bound stands in between."""
    X = rows(60, d)
    model = sklearn_run(X, "full", 3, 10, init)
    prior = our_prior(model, "full")
    parameters = {
        "alpha0": 0.4,
        "beta0": 1.5,
        "m0": prior.mean,
        "W0": np.linalg.inv(prior.inverse_scale),
        "nu0": d + 1.5,
    }
    shares = sklearn_start(X, 3, init)
    q = literal.posterior(X, shares, **parameters)
    after_e, after_m = [], []
    for _ in range(10):
        shares = literal.responsibilities(X, q)
        after_e.append(literal.bound(X, shares, q, **parameters))
        q = literal.posterior(X, shares, **parameters)
        after_m.append(literal.bound(X, shares, q, **parameters))
    theirs = np.array(model.lower_bounds_)
    np.testing.assert_allclose(np.diff(after_m), np.diff(theirs), atol=1e-6)
    _, ours = our_run(X, "full", prior, sklearn_start(X, 3, init), 10, statistics_of, pool)
    np.testing.assert_allclose(ours, after_e, rtol=1e-10)


# ---------------------------------------------------------------- the ascent


@pytest.fixture
def first(statistics_of):
    """Statistics of random responsibilities."""

    def make(X, kind, k, seed=0):
        shares = np.random.default_rng(seed).dirichlet(np.full(k, 0.2), size=len(X))
        return statistics_of(X, shares, is_diagonal=is_diagonal(kind))

    return make


def test_an_ascent_is_the_steps_in_turn(kind, make_prior, first, statistics_of, pool):
    X = rows(60, 2)
    prior = make_prior(kind, 2)
    shares = np.random.default_rng(0).dirichlet(np.full(3, 0.2), size=60)
    ascent = ascend(table_of(X), first(X, kind, 3), prior, replace(FIXED, max_iter=7), pool)
    posterior, bounds = our_run(X, kind, prior, shares, 7, statistics_of, pool)
    np.testing.assert_allclose(ascent.bounds, bounds, rtol=1e-12)
    np.testing.assert_allclose(prior.posterior(ascent.statistics).means, posterior.means, rtol=1e-8)
    assert not ascent.converged
    assert ascent.n_components == 3
    assert ascent.bound == ascent.bounds[-1]


def test_it_stops_where_the_bound_rises_no_more(make_prior, first, pool):
    X = rows(60, 2)
    ascent = ascend(
        table_of(X), first(X, "full", 3), make_prior("full", 2), replace(FIXED, tol=1e-4, max_iter=500), pool
    )
    assert ascent.converged
    assert 2 <= len(ascent.bounds) < 500
    last, before = ascent.bounds[-1], ascent.bounds[-2]
    assert abs(last - before) <= 1e-4 * max(abs(last), 60)


def test_components_that_explain_too_little_leave(kind, make_prior, first, pool):
    X = rows(60, 2)
    policy = replace(FIXED, prune_below=1.0, tol=1e-6, max_iter=300)
    ascent = ascend(table_of(X), first(X, kind, 20), make_prior(kind, 2, alpha0=1e-3), policy, pool)
    assert ascent.n_components < 20
    assert (ascent.statistics.counts >= 1).all() or ascent.n_components == 1
    assert ascent.statistics.counts.sum() == pytest.approx(60, rel=1e-3)
    assert ascent.posterior.mixture().n_components == ascent.n_components


def test_the_last_component_stays(make_prior, first, pool):
    X = np.zeros((1, 1))
    table = [replace(block, weights=np.array([0.1])) for block in table_of(X)]
    policy = replace(FIXED, prune_below=1.0, max_iter=5)
    ascent = ascend(table, first(X, "full", 3), make_prior("full", 1), policy, pool)
    assert ascent.n_components == 1


def test_two_components_that_share_a_cluster_become_one(kind, make_prior, statistics_of, pool):
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(60, 2)), random.normal(size=(60, 2)) + 12])
    shares = np.zeros((120, 3))
    shares[np.arange(60), (X[:60, 0] > 0).astype(int)] = 1  # a cluster cut in two
    shares[60:, 2] = 1
    start = statistics_of(X, shares, is_diagonal=is_diagonal(kind))
    policy = replace(FIXED, tol=1e-6, max_iter=500)
    apart = ascend(table_of(X), start, make_prior(kind, 2), replace(policy, max_iter=10), pool)
    together = ascend(table_of(X), start, make_prior(kind, 2), replace(policy, merges=True), pool)
    assert (apart.n_components, together.n_components) == (3, 2)
    assert together.converged
    assert together.bound > apart.bound
    assert np.diff(together.bounds).min() >= -1e-9


def test_clusters_far_apart_stay_apart(make_prior, statistics_of, pool):
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)) + shift for shift in (0, 100)])
    start = statistics_of(X, np.eye(2)[np.arange(80) // 40], is_diagonal=False)
    ascent = ascend(table_of(X), start, make_prior("full", 2), replace(FIXED, merges=True, tol=1e-6), pool)
    assert ascent.n_components == 2


def test_components_that_differ_in_categories_only_stay_apart(make_prior, statistics_of, pool):
    X = np.random.default_rng(0).normal(size=(80, 1))
    codes = (np.arange(80) % 2)[:, None] * np.ones((1, 3))
    start = statistics_of(X, np.eye(2)[np.arange(80) % 2], is_diagonal=False, codes=codes, n_slots=(2, 2, 2))
    ascent = ascend(table_of(X, codes=codes), start, make_prior("full", 1), replace(FIXED, merges=True, tol=1e-6), pool)
    assert ascent.n_components == 2


@pytest.mark.parametrize("form", list(PrecisionPrior))
@pytest.mark.parametrize("learns_degrees", [False, True])
def test_priors_that_choose_themselves(kind, form, learns_degrees, make_prior, first, pool):
    X = rows(60, 2)
    policy = replace(FIXED, precision_prior=form, learns_degrees=learns_degrees, max_iter=40)
    prior = make_prior(kind, 2)
    ascent = ascend(table_of(X), first(X, kind, 3), prior, policy, pool)
    assert np.isfinite(ascent.bounds).all()
    assert (ascent.prior.degrees != prior.degrees) == learns_degrees
    if form is not PrecisionPrior.TYPICAL:
        steps = np.diff(ascent.bounds)
        assert steps.min() >= -1e-9 * abs(ascent.bound)


@pytest.mark.parametrize("stop_at", [None, 1, 3])
def test_every_iteration_is_reported_and_a_report_may_stop_the_ascent(make_prior, first, pool, stop_at):
    reports = []

    def report(state):
        reports.append(state)
        return len(reports) == stop_at

    X = rows(60, 2)
    policy = replace(FIXED, report=report, max_iter=4)
    ascent = ascend(table_of(X), first(X, "full", 2), make_prior("full", 2), policy, pool)
    assert [each.bound for each in reports] == list(ascent.bounds)
    assert len(reports) == (stop_at or 4)
    assert ascent.is_stopped == (stop_at is not None)
    assert not ascent.converged


def test_an_ascent_gives_a_mixture_of_the_table(make_prior, first, pool):
    X = rows(60, 2)
    ascent = ascend(table_of(X), first(X, "full", 3), make_prior("full", 2), FIXED, pool)
    mixture = ascent.posterior.mixture()
    assert isinstance(mixture, Mixture)
    assert mixture.log_density(X).mean() > -6


# ---------------------------------------------------------------- gains of mergers


def prior_of(kind, d):
    return Prior(
        PRECISIONS[kind], 0.3, np.linspace(-0.5, 0.5, d), 0.7, d + 1.5, PRECISIONS[kind].isotropic(0.8, d), 0.6
    )


def hard(X, codes, components, k, kind):
    return hard_statistics(InnerRows(X, codes, None, (4,)), components, k, is_diagonal=kind.is_diagonal)


def log_evidence(X, codes, components, k, kind):
    """ln p(X, Z), literally: E[ln p(X, Z | theta)] less the divergence from the prior, which is exact for known Z."""
    prior = prior_of(kind, X.shape[1])
    posterior = prior.posterior(hard(X, codes, components, k, kind))
    total = -posterior.divergence(prior)
    for x, code, z in zip(X, codes[:, 0], components, strict=True):
        offset, precision = x - posterior.means[z], posterior.precisions[z]
        square = offset @ precision @ offset if precision.ndim == 2 else precision @ offset**2
        total += posterior.log_constants[z] - 0.5 * square + posterior.log_categories[0][z, int(code)]
    return total


@pytest.mark.parametrize("kind", [kind for kind in PRECISIONS if kind is not CovarianceType.FACTOR])
@pytest.mark.parametrize("d", [1, 3])
def test_gains_are_differences_of_the_log_evidence(kind, d):
    random = np.random.RandomState(0)
    k, n = 4, 40
    components = np.append(np.arange(k), random.randint(k, size=n - k))
    X = random.standard_normal((n, d)) + components[:, None]
    codes = random.randint(4, size=(n, 1)).astype(float)
    before = log_evidence(X, codes, components, k, kind)
    first, second, gains = merger_gains(hard(X, codes, components, k, kind), prior_of(kind, d))
    assert len(gains) == 6
    for i, j, gain in zip(first, second, gains, strict=True):
        merged = np.where(components == j, i, components)
        merged = merged - (merged > j)
        assert gain == pytest.approx(log_evidence(X, codes, merged, k - 1, kind) - before, abs=1e-8)


def test_halves_of_one_cluster_promise_more_than_two_clusters():
    random = np.random.RandomState(0)
    X = np.r_[random.standard_normal((80, 2)), random.standard_normal((80, 2)) + 8]
    components = np.r_[random.randint(2, size=80), np.full(80, 2)]
    statistics = hard(X, np.zeros((160, 1)), components, 3, CovarianceType.FULL)
    first, second, gains = merger_gains(statistics, prior_of(CovarianceType.FULL, 2))
    assert (first[np.argmax(gains)], second[np.argmax(gains)]) == (0, 1)
    assert gains.max() > 0
    assert sorted(gains)[1] < -CHANCE  # such a merger is not even tried
