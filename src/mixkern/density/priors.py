"""Priors that are learned during the inference, without a search or labels.

``evidence`` takes the W0 that maximises the bound. In the bound W0 occurs only in the sum over components of
E[ln p(Lambda_k | W0, nu0)], whose derivative vanishes at W0 = mean_k E[Lambda_k] / nu0. ``typical`` takes an isotropic
W0 whose expected covariance is the mean covariance of the components, each counting as much as it has rows. The first
gives the better likelihood, the second the better kernel.
"""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

import numpy as np
from scipy.optimize import minimize_scalar

from mixkern.density.posterior import Posterior, Prior
from mixkern.density.statistics import Statistics
from mixkern.typing import Floats

SMALLEST_VARIANCE = 1e-6  # of a component, in units of the table's: ties and collinear columns would go to zero


class PrecisionPrior(StrEnum):
    """Ways to learn W0."""

    EVIDENCE = "evidence"  # a full matrix (or a diagonal, where covariances are)
    EVIDENCE_DIAG = "evidence_diag"
    EVIDENCE_ISOTROPIC = "evidence_isotropic"
    TYPICAL = "typical"


def typical_prior(prior: Prior, statistics: Statistics) -> Prior:
    """W0^-1 = nu0 s^2 I, where s^2 is the mean variance within components."""
    scatters = statistics.scatters
    d = scatters.shape[-1]
    within = scatters.sum() if scatters.ndim == 2 else np.trace(scatters, axis1=1, axis2=2).sum()
    variance = float(within / max(statistics.counts.sum() * d, np.finfo(float).tiny)) if d else 1.0
    return replace(prior, inverse_scale=prior.precision.isotropic(prior.degrees * max(variance, SMALLEST_VARIANCE), d))


def evidence_prior(prior: Prior, posterior: Posterior, form: PrecisionPrior) -> Prior:
    """W0 = mean of the expected precisions over nu0, in the given form."""
    return replace(prior, inverse_scale=prior.degrees * _evidence_covariance(prior, posterior, form))


def evidence_mean_precision(prior: Prior, posterior: Posterior, most: float) -> Prior:
    """Replace beta0 by the value that maximises the bound, or by the largest one that is allowed.

    In the bound it occurs only in the divergences of the means, whose derivative vanishes where k d / beta0 is the sum
    over components of E[(mu_k - m0)' Lambda_k (mu_k - m0)].
    """
    k, d = posterior.means.shape
    squares = posterior.precision.quadratic(posterior.precisions, posterior.means - prior.mean)
    size = float(np.sum(squares + d / posterior.mean_precisions))
    return replace(prior, mean_precision=min(k * d / size, most) if size > 0 else most)


def evidence_degrees(prior: Prior, posterior: Posterior, form: PrecisionPrior | None) -> Prior:
    """Replace nu0 by the value that maximises the bound; W0 is adapted to it, unless it is fixed."""
    lowest = prior.precision.fewest_degrees(posterior.means.shape[1]) + 1
    covariance = _followed_covariance(prior, posterior, form)
    gain = _degrees_gain(prior, posterior, covariance)
    # On a logarithmic scale, up to a prior that has the weight of a million rows
    found = minimize_scalar(lambda t: -gain(lowest - 1 + np.exp(t)), bounds=(0.0, np.log(1e6)), method="bounded")
    # The search excludes its ends, and may find a local maximum only: the ends and the present value compete, too.
    degrees = max(float(lowest - 1 + np.exp(found.x)), float(lowest), prior.degrees, key=gain)
    inverse_scale = prior.inverse_scale if covariance is None else degrees * covariance
    return replace(prior, degrees=degrees, inverse_scale=inverse_scale)


def _followed_covariance(prior: Prior, posterior: Posterior, form: PrecisionPrior | None) -> Floats | None:
    """Give W0^-1 / nu0, which is constant while nu0 changes; None where W0^-1 itself is constant."""
    if form is None:
        return None
    if form is PrecisionPrior.TYPICAL:
        return prior.inverse_scale / prior.degrees
    return _evidence_covariance(prior, posterior, form)


def _degrees_gain(prior: Prior, posterior: Posterior, covariance: Floats | None) -> Callable[[float], float]:
    """Give the part of the bound, per component, that depends on nu0."""
    precision = prior.precision
    log_det = float(precision.expected_log_det(posterior.degrees, posterior.inverse_scales).mean())
    mean = posterior.precisions.mean(axis=0)

    def gain(degrees: float) -> float:
        inverse_scale = prior.inverse_scale if covariance is None else degrees * covariance
        trace = float(np.sum(inverse_scale * mean))
        return float(precision.log_normaliser(degrees, inverse_scale)) + 0.5 * (degrees * log_det - trace)

    return gain


def _evidence_covariance(prior: Prior, posterior: Posterior, form: PrecisionPrior) -> Floats:
    """Invert the mean of the expected precisions, with a floor under every variance."""
    mean = posterior.precisions.mean(axis=0)
    d = mean.shape[-1]
    diagonal = mean if mean.ndim == 1 else np.diagonal(mean)
    if form is PrecisionPrior.EVIDENCE_ISOTROPIC:
        variance = max(1 / float(diagonal.mean()), SMALLEST_VARIANCE) if d else 1.0
        return prior.precision.isotropic(variance, d)
    if mean.ndim == 1 or form is PrecisionPrior.EVIDENCE_DIAG:
        variances = np.maximum(1 / diagonal, SMALLEST_VARIANCE)
        return variances if mean.ndim == 1 else np.diag(variances)
    values, vectors = np.linalg.eigh(mean)
    variances = np.maximum(1 / np.maximum(values, np.finfo(float).tiny), SMALLEST_VARIANCE)
    covariance: Floats = (vectors * variances) @ vectors.T
    return covariance
