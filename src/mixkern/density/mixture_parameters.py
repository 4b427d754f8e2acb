"""Checks of a mixture's parameters: shapes, signs and sums."""

from collections.abc import Sequence

import numpy as np

from mixkern.density.covariance import CovarianceType
from mixkern.errors import MixtureError
from mixkern.typing import Floats


def check_shapes(
    weights: Floats, means: Floats, covariances: Floats, kind: CovarianceType, loadings: Floats | None
) -> None:
    """Check that weights add up to one, and that all other parameters have one entry for each component."""
    k = len(weights)
    if weights.ndim != 1 or k == 0 or (weights < 0).any() or not np.isclose(weights.sum(), 1):
        raise MixtureError(
            f"weights must be non-negative and add up to one, but they are {weights} (sum {weights.sum():.6g})."
        )
    if means.ndim != 2 or len(means) != k:
        raise MixtureError(f"means must have shape ({k}, d), one row per weight, but it is {means.shape}.")
    expected = kind.shape(*means.shape)
    if covariances.shape != expected:
        raise MixtureError(
            f"covariances must have shape {expected} for covariance_type={str(kind)!r}, but it is {covariances.shape}."
        )
    _check_loadings(loadings, means, kind)
    if not kind.has_vectors and not _is_symmetric(covariances):
        raise MixtureError("covariances must be symmetric matrices.")


def checked_positions(constant: Sequence[int], d: int) -> tuple[int, ...]:
    """Return the positions of constant columns as integers, or raise an error."""
    found = tuple(int(each) for each in constant)
    if sorted(set(found)) != list(found) or (found and not 0 <= found[0] <= found[-1] < d):
        raise MixtureError(f"constant must be sorted positions of the {d} continuous columns, but it is {constant!r}.")
    return found


def check_tables(categories: Sequence[Floats], n_components: int) -> None:
    """Check that tables of categories have a row of probabilities for each component."""
    for table in categories:
        if table.ndim != 2 or len(table) != n_components or (table < 0).any() or not np.allclose(table.sum(axis=1), 1):
            raise MixtureError(
                f"categories must be tables of {n_components} rows of probabilities, each row adding up to one."
            )


def _check_loadings(loadings: Floats | None, means: Floats, kind: CovarianceType) -> None:
    name = str(kind)
    if not kind.has_loadings:
        if loadings is not None:
            raise MixtureError(f"Only the covariance types 'factor' and 'common' have loadings, not {name!r}.")
    elif loadings is None or loadings.ndim != 3 or loadings.shape[:2] != means.shape:
        k, d = means.shape
        found = "missing" if loadings is None else loadings.shape
        raise MixtureError(f"loadings must have shape ({k}, {d}, q) for covariance_type={name!r}, but are {found}.")


def _is_symmetric(matrices: Floats) -> bool:
    """Return whether matrices are symmetric up to rounding."""
    asymmetry = np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(initial=0.0)
    return bool(asymmetry <= 1e-6 * np.abs(matrices).max(initial=0.0))
