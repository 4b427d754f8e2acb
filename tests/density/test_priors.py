"""Priors that choose themselves: the closed forms are the maxima that they claim to be."""

from dataclasses import replace

import numpy as np
import pytest

from mixkern.density import VBMixture
from mixkern.density.priors import SMALLEST_VARIANCE, PrecisionPrior, evidence_degrees, evidence_prior, typical_prior

EVIDENCE, DIAG, ISOTROPIC = PrecisionPrior.EVIDENCE, PrecisionPrior.EVIDENCE_DIAG, PrecisionPrior.EVIDENCE_ISOTROPIC


def is_diagonal(kind):
    return kind in ("diag", "spherical")


@pytest.fixture
def case(kind, make_prior, statistics_of):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3)) @ random.normal(size=(3, 3))
    shares = random.dirichlet(np.full(4, 0.3), size=40)
    statistics = statistics_of(X, shares, is_diagonal=is_diagonal(kind))
    prior = make_prior(kind, 3)
    return prior, statistics, prior.posterior(statistics)


def perturbations(form, kind, d=3):
    """Directions in which W0^-1 may move within its form."""
    random = np.random.default_rng(1)
    for step in (0.3, 1e-2, 1e-3):
        for sign in (-1, 1):
            if form is ISOTROPIC or kind == "spherical":
                yield np.full(d, 1 + sign * step) if is_diagonal(kind) else np.eye(d) * (1 + sign * step)
            elif form is DIAG or kind == "diag":
                factors = 1 + sign * step * random.uniform(0.1, 1, d)
                yield factors if is_diagonal(kind) else np.diag(factors)
            else:
                yield np.eye(d) + sign * step * random.uniform(-0.5, 0.5, (d, d))


@pytest.mark.parametrize("form", [EVIDENCE, DIAG, ISOTROPIC])
def test_no_other_precision_prior_has_a_higher_bound(case, kind, form):
    """In the bound, W0 occurs in the divergence only."""
    prior, _, posterior = case
    best = evidence_prior(prior, posterior, form)
    lowest = posterior.divergence(best)
    assert lowest <= posterior.divergence(prior) + 1e-9 or form is not EVIDENCE
    for change in perturbations(form, kind):
        inverse = best.inverse_scale * change if is_diagonal(kind) else change @ best.inverse_scale @ change.T
        assert posterior.divergence(replace(best, inverse_scale=inverse)) > lowest


def test_evidence_is_the_mean_expected_precision_over_the_degrees(case, kind):
    prior, _, posterior = case
    best = evidence_prior(prior, posterior, EVIDENCE)
    W0 = 1 / best.inverse_scale if is_diagonal(kind) else np.linalg.inv(best.inverse_scale)
    np.testing.assert_allclose(W0, posterior.precisions.mean(axis=0) / prior.degrees, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", [EVIDENCE, DIAG, ISOTROPIC])
def test_no_other_degrees_have_a_higher_bound(case, form):
    prior, _, posterior = case
    best = evidence_degrees(prior, posterior, form)
    lowest = posterior.divergence(best)
    for degrees in [best.degrees * 0.9, best.degrees * 1.1, best.degrees * 3, 3.0, 10.0, 1e3]:
        if degrees >= 3:
            other = evidence_prior(replace(prior, degrees=degrees), posterior, form)
            assert posterior.divergence(other) >= lowest - 1e-7 * abs(lowest)
    np.testing.assert_allclose(
        best.inverse_scale, evidence_prior(best, posterior, form).inverse_scale, rtol=1e-10, atol=1e-12
    )


def test_degrees_for_a_fixed_precision_prior(case):
    prior, _, posterior = case
    best = evidence_degrees(prior, posterior, None)
    np.testing.assert_array_equal(best.inverse_scale, prior.inverse_scale)
    lowest = posterior.divergence(best)
    for degrees in [best.degrees * 0.9, best.degrees * 1.1, 3.0, 10.0, 100.0]:
        if degrees >= 3:
            assert posterior.divergence(replace(prior, degrees=degrees)) >= lowest - 1e-7 * abs(lowest)


def test_typical_is_the_mean_variance_within_components(case, kind):
    prior, statistics, _ = case
    inverse = typical_prior(prior, statistics).inverse_scale
    scatters = statistics.scatters
    within = scatters.sum() if is_diagonal(kind) else sum(np.trace(each) for each in scatters)
    variance = within / (40 * 3)
    np.testing.assert_allclose(inverse, prior.degrees * variance * (np.ones(3) if is_diagonal(kind) else np.eye(3)))


@pytest.mark.parametrize("form", [EVIDENCE, DIAG, ISOTROPIC])
def test_variances_have_a_floor(kind, make_prior, statistics_of, form):
    """Ties would let W0 grow without bound. The floor is the best that is allowed: the bound stays monotone."""
    X = np.zeros((50, 2))
    prior = make_prior(kind, 2, m0=0.0)
    for _ in range(100):
        posterior = prior.posterior(statistics_of(X, np.ones((50, 1)), is_diagonal=is_diagonal(kind)))
        before = posterior.divergence(prior)
        prior = evidence_prior(prior, posterior, form)
        assert posterior.divergence(prior) <= before + 1e-9
    variances = prior.inverse_scale / prior.degrees
    np.testing.assert_allclose(variances if is_diagonal(kind) else np.diag(variances), SMALLEST_VARIANCE, rtol=1e-6)
    typical = typical_prior(prior, statistics_of(X, np.ones((50, 1)), is_diagonal=is_diagonal(kind)))
    variances = typical.inverse_scale / prior.degrees
    np.testing.assert_allclose(variances if is_diagonal(kind) else np.diag(variances), SMALLEST_VARIANCE)


def test_without_numbers_there_is_nothing_to_choose(kind, make_prior, statistics_of):
    nothing = np.empty((5, 0))
    prior = make_prior(kind, 0, nu0=1.0)
    statistics = statistics_of(nothing, np.ones((5, 1)), is_diagonal=is_diagonal(kind))
    posterior = prior.posterior(statistics)
    shape = (0,) if is_diagonal(kind) else (0, 0)
    assert typical_prior(prior, statistics).inverse_scale.shape == shape
    for form in (EVIDENCE, DIAG, ISOTROPIC):
        assert evidence_prior(prior, posterior, form).inverse_scale.shape == shape
        assert np.isfinite(evidence_degrees(prior, posterior, form).degrees)


# ---------------------------------------------------------------- beta0


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "factor"])
def test_the_weight_of_the_prior_mean_is_learned(kind):
    """Clusters far apart in units of their width: a prior mean that counts as a row would make them wider."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(50, 3)) + 40 * random.normal(size=3) for _ in range(3)])
    settings = {"n_components": 3, "covariance_type": kind, "random_state": 0, "precision_prior": "evidence_diag"}
    if kind == "spherical":
        settings["precision_prior"] = "evidence_isotropic"
    fixed = VBMixture(**settings).fit(X)
    learned = VBMixture(**settings, mean_precision_prior="auto").fit(X)
    assert learned._ascent.prior.mean_precision < 0.05
    assert np.diff(learned.bound_trace_[1:]).min(initial=0.0) >= -1e-7 * abs(learned.lower_bound_)
    if kind == "factor":  # learned in any case
        assert fixed.lower_bound_ == learned.lower_bound_
    else:
        assert learned.lower_bound_ > fixed.lower_bound_ + 10
        assert learned.mixture_.variances.mean() < fixed.mixture_.variances.mean()


def test_the_weight_of_the_prior_mean_has_a_limit():
    X = np.random.default_rng(0).normal(size=(60, 2))
    density = VBMixture(1, mean_precision_prior="auto", random_state=0).fit(X)
    assert density._ascent.prior.mean_precision == 1.0
