"""The parameters of VBMixture as families of covariances with their priors, and as settings of the ascent."""

from enum import StrEnum
from typing import Any

import numpy as np

from mixkern.density.block import Coordinates
from mixkern.density.common_factor import CommonFactors
from mixkern.density.covariance import PRECISIONS, CovarianceType, Precision
from mixkern.density.factor import FactorPrior
from mixkern.density.family import Family
from mixkern.density.inference import Policy
from mixkern.density.posterior import Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.errors import MixtureError, hint
from mixkern.typing import Floats
from mixkern.validation import AUTO, NONE, above, one_of

MOST_FACTORS = 20  # of a component, where the user sets no limit
MEAN_PRECISION = 1.0  # beta0 at first, and at most, where it is learned
MOST_CELLS = 2**28  # floats in all covariance matrices together: 2 GiB
MOST_COLUMNS = 128  # for which matrices are compared with factors: beyond, they cost more and have never been better
FEW_COLUMNS = 2  # up to which a factor is no less than a matrix


class CovarianceChoice(StrEnum):
    """Values of ``covariance_type`` in a fit: a kind of covariance, or the choice among them."""

    FULL = "full"
    TIED = "tied"
    DIAG = "diag"
    SPHERICAL = "spherical"
    FACTOR = "factor"
    COMMON = "common"
    AUTO = "auto"


def families_of(density: Any, n: int, coordinates: Coordinates | CommonFactors) -> list[Family]:
    """Give the families of covariances to choose from for n rows, each with its prior; one unless it is "auto"."""
    choice = one_of(CovarianceChoice, density.covariance_type, "covariance_type")
    d = coordinates.n_columns
    if choice is not CovarianceChoice.AUTO:
        # Common factors are coordinates, in which covariances are full.
        kind = CovarianceType.FULL if choice is CovarianceChoice.COMMON else CovarianceType(choice.value)
        _check_size(density, kind, d)
        return [_family(density, kind, n, coordinates)]
    families, problems = [], []
    for kind in _candidates(density, n, coordinates.n_inner):
        try:
            families.append(_family(density, kind, n, coordinates))
        except MixtureError as error:  # a prior that does not fit this kind
            problems.append(error)
    if not families:
        raise problems[0]
    return families


def _candidates(density: Any, n: int, d: int) -> list[CovarianceType]:
    """Give the kinds of covariance that could be the best for n rows of d columns."""
    if not d:
        return [CovarianceType.DIAG]
    vectors = [CovarianceType.DIAG if d <= FEW_COLUMNS else CovarianceType.FACTOR]
    has_rows = n >= 2 * (d + 1)
    if d == 1 or not has_rows or d > MOST_COLUMNS or density.n_components * d * d > MOST_CELLS:
        return vectors
    return [CovarianceType.FULL, CovarianceType.TIED, *vectors]


def _family(density: Any, kind: CovarianceType, n: int, coordinates: Coordinates | CommonFactors) -> Family:
    """Give a kind of covariance with its prior; no more components than there are enough rows for."""
    needed = 2 if kind.has_vectors else coordinates.n_inner + 1
    n_components = max(1, min(density.n_components, n // needed)) if density.prune else density.n_components
    return Family(prior_of(density, PRECISIONS[kind], coordinates), n_components)


def _check_size(density: Any, kind: CovarianceType, d: int) -> None:
    if not kind.has_vectors and density.n_components * d * d > MOST_CELLS:
        raise MixtureError(
            f"{density.n_components} covariance matrices of {d} columns do not fit in memory.",
            hint=hint(
                python="Use covariance_type='factor' or 'diag', or fewer components.",
                cli="Use fewer columns: --drop COLUMNS.",
            ),
        )


def policy_of(density: Any) -> Policy:
    """Give the settings of the ascent."""
    return Policy(
        precision_prior=_precision_form(density),
        learns_degrees=density.degrees_of_freedom_prior == "auto",
        prune_below=1.0 if density.prune else 0.0,
        merges=density.merge,
        mean_precision_limit=MEAN_PRECISION if density.mean_precision_prior == "auto" else None,
        tol=float(density.tol),
        max_iter=density.max_iter,
    )


def _precision_form(density: Any) -> PrecisionPrior | None:
    given = density.precision_prior
    return one_of(PrecisionPrior, given, "precision_prior") if isinstance(given, str) else None


def prior_of(density: Any, precision: Precision, coordinates: Coordinates | CommonFactors) -> Prior:
    """Give the prior in inner coordinates; an error where a setting does not fit the columns."""
    d = coordinates.n_inner
    degrees, fewest = density.degrees_of_freedom_prior, precision.fewest_degrees(d)
    (above(fewest) | AUTO | NONE).check(degrees, "degrees_of_freedom_prior", MixtureError)
    concentration, given = density.weight_concentration_prior, density.mean_precision_prior
    prior = Prior(
        precision=precision,
        concentration=1 / density.n_components if concentration is None else float(concentration),
        mean=coordinates.inner(_mean(density, coordinates.centre)),
        mean_precision=MEAN_PRECISION if isinstance(given, str) else float(given),
        degrees=fewest + 1 if degrees is None or isinstance(degrees, str) else float(degrees),
        inverse_scale=_inverse_scale(density, precision, coordinates),
        category_concentration=float(density.category_prior),
    )
    if precision.covariance_type is not CovarianceType.FACTOR:
        return prior
    most = MOST_FACTORS if density.n_factors is None else density.n_factors
    n_factors = max(min(most, d - 1), 0)
    return FactorPrior(**vars(prior), most_factors=n_factors, most_mean_precision=prior.mean_precision)


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


def _inverse_scale(density: Any, precision: Precision, coordinates: Coordinates | CommonFactors) -> Floats:
    """W0^-1 in inner coordinates; where it is learned, any start will do."""
    if _precision_form(density) is not None:
        return precision.isotropic(1.0, coordinates.n_inner)
    d = coordinates.n_columns
    given: Any = _floats(density.precision_prior)
    kind = precision.covariance_type
    is_common = isinstance(coordinates, CommonFactors)  # whose number is not known before the fit
    vector = "" if kind is CovarianceType.SPHERICAL or is_common else f", {d} positive numbers"
    matrix = "" if kind.has_vectors or is_common else f", a ({d}, {d}) positive definite matrix"
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
