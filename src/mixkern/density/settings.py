"""The parameters of VBMixture as a prior and as settings of the ascent."""

from typing import Any

import numpy as np

from mixkern.density.block import Coordinates
from mixkern.density.covariance import CovarianceType, Precision
from mixkern.density.factor import FactorPrior
from mixkern.density.inference import Policy
from mixkern.density.posterior import Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.errors import MixtureError
from mixkern.typing import Floats
from mixkern.validation import AUTO, NONE, above, one_of

MOST_FACTORS = 20  # of a component, where the user sets no limit


def policy_of(density: Any) -> Policy:
    """Give the settings of the ascent."""
    return Policy(
        precision_prior=_precision_form(density),
        learns_degrees=density.degrees_of_freedom_prior == "auto",
        prune_below=1.0 if density.prune else 0.0,
        merges=density.merge,
        tol=float(density.tol),
        max_iter=density.max_iter,
    )


def _precision_form(density: Any) -> PrecisionPrior | None:
    given = density.precision_prior
    return one_of(PrecisionPrior, given, "precision_prior") if isinstance(given, str) else None


def prior_of(density: Any, precision: Precision, coordinates: Coordinates) -> Prior:
    """Give the prior in inner coordinates; an error where a setting does not fit the columns."""
    d = len(coordinates.centre)
    degrees, fewest = density.degrees_of_freedom_prior, precision.fewest_degrees(d)
    (above(fewest) | AUTO | NONE).check(degrees, "degrees_of_freedom_prior", MixtureError)
    concentration = density.weight_concentration_prior
    prior = Prior(
        precision=precision,
        concentration=1 / density.n_components if concentration is None else float(concentration),
        mean=coordinates.inner(_mean(density, coordinates.centre)),
        mean_precision=float(density.mean_precision_prior),
        degrees=fewest + 1 if degrees is None or isinstance(degrees, str) else float(degrees),
        inverse_scale=_inverse_scale(density, precision, coordinates),
        category_concentration=float(density.category_prior),
    )
    if precision.covariance_type is not CovarianceType.FACTOR:
        return prior
    most = MOST_FACTORS if density.n_factors is None else density.n_factors
    return FactorPrior(**vars(prior), most_factors=max(min(most, d - 1), 0))


def _mean(density: Any, centre: Floats) -> Floats:
    """Give m0 in the table's own units."""
    d = len(centre)
    if density.mean_prior is None:
        return centre
    given = _floats(density.mean_prior)
    if given.shape != (d,) or not np.isfinite(given).all():
        raise MixtureError(
            f"mean_prior must be {d} finite numbers, one per continuous column, but it is {density.mean_prior!r}."
        )
    return given


def _inverse_scale(density: Any, precision: Precision, coordinates: Coordinates) -> Floats:
    """W0^-1 in inner coordinates; where it is learned, any start will do."""
    d = len(coordinates.centre)
    if _precision_form(density) is not None:
        return precision.isotropic(1.0, d)
    given: Any = _floats(density.precision_prior)
    kind = precision.covariance_type
    vector = "" if kind is CovarianceType.SPHERICAL else f", {d} positive numbers"
    matrix = "" if kind.has_vectors else f", a ({d}, {d}) positive definite matrix"
    shapes = [(), *[(d,)] * bool(vector), *[(d, d)] * bool(matrix)]
    if given.shape not in shapes or not _is_positive_definite(given):
        raise MixtureError(
            f"precision_prior must be a positive number{vector}{matrix} or one of "
            f"{', '.join(repr(str(each)) for each in PrecisionPrior)}, but it is {density.precision_prior!r}."
        )
    if given.ndim == 2:
        return coordinates.inner_inverse_scale(np.linalg.inv(given))
    inverse = np.broadcast_to(1 / given, (d,))
    return coordinates.inner_inverse_scale(inverse if kind.has_vectors else np.diag(inverse))


def _is_positive_definite(matrix: Floats) -> bool:
    """Whether a number, a diagonal or a symmetric matrix is positive (definite)."""
    if not np.isfinite(matrix).all():
        return False
    if matrix.ndim < 2:
        return bool((matrix > 0).all())
    values = np.linalg.eigvalsh(matrix)
    is_definite = values.min(initial=np.inf) > np.finfo(float).eps * len(matrix) * values.max(initial=0.0)
    return bool(is_definite and np.allclose(matrix, matrix.T))


def _floats(given: Any) -> Floats:
    """Return numbers as an array, one without a value for anything else."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
