"""How the factors of components start: the leading directions of each component's rows."""

from dataclasses import replace

import numpy as np

from mixkern.density.block import Coordinates, InnerRows
from mixkern.density.covariance import CovarianceType
from mixkern.density.factor import FactorPrior
from mixkern.density.factor_statistics import FactorStatistics, concatenated, with_factors
from mixkern.density.statistics import Statistics
from mixkern.typing import Floats, Positions, RandomState

SMALLEST_NOISE = 1e-3  # of a column at the start, relative to its variance in the component
ROWS_PER_COLUMN = 10  # at least, for each principal component
SMALL = 100  # rows or columns up to which all directions are computed


def first_factors(
    rows: InnerRows, components: Positions, statistics: Statistics, prior: FactorPrior, random: RandomState
) -> FactorStatistics:
    """Add factors to the statistics of rows that belong to one component each."""
    X = np.nan_to_num(rows.X)
    weights = np.ones(len(X)) if rows.weights is None else rows.weights
    parts = []
    for k in range(len(statistics.counts)):
        at = components == k
        own = statistics.keep(np.array([k]))
        n = max(float(own.counts[0]), np.finfo(float).tiny)
        centred = (X[at] - own.means[0]) * np.sqrt(weights[at] / n)[:, None]
        parts.append(_with_leading(own, centred, prior.most_factors, random))
    q = max(part.n_factors for part in parts)
    return concatenated([part.resized(q) for part in parts])


def principal_rows(rows: InnerRows, most: int, random: RandomState) -> InnerRows:
    """Give the principal components of rows, a gap at the mean, as rows of fewer columns."""
    X = np.nan_to_num(rows.X)
    weights = np.ones(len(X)) if rows.weights is None else rows.weights
    share = np.sqrt(weights / weights.sum())[:, None]
    q = max(min(most, len(X) // ROWS_PER_COLUMN, X.shape[1]), 1)
    _, directions = _leading_directions((X - share.T**2 @ X) * share, q, random)
    scores = X @ directions.T
    coordinates = Coordinates.of(scores, rows.weights, CovarianceType.FULL)
    return replace(rows, X=coordinates.inner(scores), coordinates=None)


def _with_leading(own: Statistics, centred: Floats, most_factors: int, random: RandomState) -> FactorStatistics:
    """Add the leading directions of centred rows (n, d), in units of each column's deviation, to one component."""
    variances = np.einsum("nd,nd->d", centred, centred)
    is_spread = variances > np.finfo(float).tiny
    scale = np.sqrt(np.where(is_spread, variances, 1.0))
    q = max(min(most_factors, len(centred) - 1, int(is_spread.sum()) - 1), 0)
    sizes, directions = _leading_directions(centred / scale, q, random)
    rest = max(float(is_spread.sum() - sizes.sum()) / max(int(is_spread.sum()) - q, 1), SMALLEST_NOISE)
    loadings = scale[:, None] * directions.T * np.sqrt(np.maximum(sizes - rest, 0.0))
    noise = np.maximum(variances - (loadings**2).sum(axis=1), SMALLEST_NOISE * scale**2)
    nothing = np.zeros((1, len(scale)))
    return with_factors(own, loadings[None], noise[None], centred.T[None], nothing, most_factors)


def _leading_directions(white: Floats, q: int, random: RandomState) -> tuple[Floats, Floats]:  # (q,), (q, d)
    """Give the q largest squared singular values and their directions."""
    from sklearn.utils.extmath import randomized_svd  # slow to import, and needed only here

    if not q:
        return np.zeros(0), np.zeros((0, white.shape[1]))
    if min(white.shape) > SMALL:
        _, sizes, directions = randomized_svd(white, q, n_iter=4, random_state=random)
    else:
        _, sizes, directions = np.linalg.svd(white, full_matrices=False)
    return sizes[:q] ** 2, directions[:q]
