"""Parzen window density: a Gaussian around every row."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from mixkern.density.block import BLOCK
from mixkern.density.mixture import LOG_2PI
from mixkern.errors import MixtureError, hint
from mixkern.sampling import subsample
from mixkern.typing import Floats, RandomState
from mixkern.validation import NONE, POSITIVE, as_floats

MOST_ROWS = 2_000  # from which a bandwidth is chosen
NARROWEST, WIDEST = 1e-3, 10.0  # bandwidths, in units of the columns' typical spread


class ParzenWindow:
    r"""Parzen window estimate of a density: the mean of Gaussians of one bandwidth around every row.

    .. math:: p(x) = \frac1n \sum_i N(x | x_i, h^2 I)

    A density without a model of the data, to which :func:`representativity` compares a mixture.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows without gaps.
    bandwidth : float, default=None
        h; ``None`` takes the bandwidth of the highest leave-one-out likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> window = ParzenWindow(np.random.RandomState(0).standard_normal((200, 1)))
    >>> bool(0.1 < window.bandwidth < 0.6)
    True
    """

    def __init__(self, X: ArrayLike, bandwidth: float | None = None) -> None:
        self.rows = np.array(as_floats(X, "X", MixtureError))
        if self.rows.ndim != 2 or len(self.rows) < 2 or not np.isfinite(self.rows).all():
            raise MixtureError(
                f"A Parzen window needs two or more rows of finite numbers, but X has shape {self.rows.shape} or gaps.",
                hint=hint(python="Fill gaps first: mixture.conditional_mean(X)."),
            )
        (POSITIVE | NONE).check(bandwidth, "bandwidth", MixtureError)
        self.bandwidth = best_bandwidth(self.rows) if bandwidth is None else float(bandwidth)

    def log_density(self, X: ArrayLike) -> Floats:  # (n,)
        """Logarithm of the density at each row."""
        points = as_floats(X, "X", MixtureError)
        if points.ndim != 2 or points.shape[1] != self.rows.shape[1]:
            raise MixtureError(
                f"X has shape {points.shape}, but the window has {self.rows.shape[1]} columns: expected "
                f"(n, {self.rows.shape[1]})."
            )
        found = [self._log_density(points[i : i + BLOCK]) for i in range(0, len(points), BLOCK)]
        return np.concatenate(found) if found else np.empty(0)

    def _log_density(self, points: Floats) -> Floats:
        exponents = cdist(points, self.rows, "sqeuclidean") / (-2 * self.bandwidth**2)
        constant = np.log(len(self.rows)) + self.rows.shape[1] * (0.5 * LOG_2PI + np.log(self.bandwidth))
        log_density: Floats = logsumexp(exponents, axis=1) - constant
        return log_density

    def sample(self, n: int, random: RandomState) -> Floats:  # (n, d)
        """Draw rows: given rows with replacement, plus Gaussian noise of the bandwidth."""
        centres = self.rows[random.randint(len(self.rows), size=n)]
        return centres + self.bandwidth * random.standard_normal(centres.shape)


def best_bandwidth(X: Floats) -> float:
    """Give the bandwidth of the highest leave-one-out likelihood: the density at each row without its own Gaussian."""
    # All pairs are computed; a sample of this size gives the bandwidth to a few per cent.
    X = X[subsample(np.arange(len(X)), MOST_ROWS, RandomState(0))]
    n, d = X.shape
    spread = float(np.sqrt(X.var(axis=0).mean())) or 1.0
    sq_distances = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(sq_distances, np.inf)  # leave-one-out

    def loss(log_bandwidth: float) -> float:
        h = np.exp(log_bandwidth)
        log_density = logsumexp(sq_distances / (-2 * h**2), axis=1) - np.log(n - 1) - d * log_bandwidth
        return -float(log_density.mean())

    bounds = (np.log(NARROWEST * spread), np.log(WIDEST * spread))
    return float(np.exp(minimize_scalar(loss, bounds=bounds, method="bounded").x))
