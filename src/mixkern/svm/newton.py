r"""Linear functions of features, for many rows: Newton's method on a smoothed hinge or a smoothed tube.

The function :math:`f(x) = w^T \phi(x) + b` minimises

.. math:: \tfrac12 \|w\|^2 + \sum_i c_i L(f(x_i))

where c are costs, and L is the loss of an SVM whose corners are parabolas (Chapelle, 2007): that of libsvm's classifier
or regressor, as the width of the corners goes to zero. A step needs the features of rows in a corner only for the
matrix of second derivatives.

Values of the function without single rows follow from the same matrix, by one step of Newton's method without the row:

.. math:: f_{-i}(x_i) \approx f(x_i) + \frac{c_i L'_i h_i}{1 - c_i L''_i h_i}, \quad h_i = \phi_i^T H^{-1} \phi_i

Sums over rows have parts that do not depend on the number of threads, so that results do not either.

References
----------
Chapelle, O. (2007). Training a support vector machine in the primal. Neural Computation 19.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from mixkern.typing import Bools, Floats, Ints

HINGE_WIDTHS = (1.0, 0.5)  # of corners, one after the other: a last one of 0.25 predicted five tables about as well
TUBE_WIDTHS = (1.0, 0.25, 0.05)  # the same for targets with a standard deviation of 1
START_ROWS = 2_000  # and two for each feature, from which the start is computed
TOL = 1e-6  # decrease that a step promises, relative to the objective, where it is the last one
MAX_ITER = 100  # steps with each width
BISECTIONS = 20  # of the length of a step
PARTS = 8  # of rows, for sums that threads share
MATRIX_ROWS = 2**12  # rows of a matrix product
INTERCEPT = 1e-6  # added to the second derivative by the intercept, relative to the costs: it may be zero

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Loss(Protocol):
    """A convex loss of function values, (n,), that has parabolas in place of its corners."""

    @property
    def widths(self) -> tuple[float, ...]:
        """Half the widths of the corners, one after the other."""

    @property
    def targets(self) -> Floats:  # (n,)
        """Values that least squares start from."""

    def values(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return the loss."""

    def slopes(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return its derivative."""

    def curvatures(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return its second derivative."""


@dataclass(frozen=True, eq=False)
class Hinge:
    """Loss of a classifier: 1 - y f where that is positive.

    >>> hinge = Hinge(np.array([1.0, 1.0, 1.0]))
    >>> hinge.values(np.array([-1.0, 1.0, 3.0]), width=0.5)
    array([2.   , 0.125, 0.   ])
    """

    targets: Floats  # (n,): 1 or -1
    widths: tuple[float, ...] = HINGE_WIDTHS

    def values(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return the loss."""
        return _ramp(1 - self.targets * f, width)

    def slopes(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return its derivative."""
        return -self.targets * _ramp_slope(1 - self.targets * f, width)

    def curvatures(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return its second derivative."""
        return _ramp_curvature(1 - self.targets * f, width)


@dataclass(frozen=True, eq=False)
class Tube:
    """Loss of a regressor: how far the size of y - f exceeds epsilon."""

    targets: Floats  # (n,)
    epsilon: float
    widths: tuple[float, ...] = TUBE_WIDTHS

    def values(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return the loss."""
        above, below = self._excess(f)
        return _ramp(above, width) + _ramp(below, width)

    def slopes(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return its derivative."""
        above, below = self._excess(f)
        return _ramp_slope(above, width) - _ramp_slope(below, width)

    def curvatures(self, f: Floats, width: float) -> Floats:  # (n,)
        """Return its second derivative."""
        above, below = self._excess(f)
        return _ramp_curvature(above, width) + _ramp_curvature(below, width)

    def _excess(self, f: Floats) -> tuple[Floats, Floats]:
        return f - self.targets - self.epsilon, self.targets - f - self.epsilon


def _ramp(t: Floats, width: float) -> Floats:
    """Return t where it is positive, else 0, with a parabola between -width and width."""
    bent = np.clip(t + width, 0, 2 * width)
    return np.asarray(bent * bent / (4 * width) + np.maximum(t - width, 0))


def _ramp_slope(t: Floats, width: float) -> Floats:
    return np.asarray(np.clip((t + width) / (2 * width), 0, 1))


def _ramp_curvature(t: Floats, width: float) -> Floats:
    return np.where(np.abs(t) < width, 1 / (2 * width), 0.0)


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Rows of features: several slices of an array, which is not copied, and how work on their parts is mapped.

    Attributes
    ----------
    features : ndarray of shape (n, r)
        Features of all rows.
    slices : tuple of slice
        The rows, one slice after the other.
    mapped : callable, default=map
        ``map``, or that of a pool of threads.
    """

    features: Floats
    slices: tuple[slice, ...]
    mapped: Map = map

    def __len__(self) -> int:
        return sum(each.stop - each.start for each in self.slices)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.features.shape[1]

    @cached_property
    def positions(self) -> Ints:  # (l,)
        """Positions of the rows in the array."""
        return np.concatenate([np.arange(each.start, each.stop) for each in self.slices])

    @cached_property
    def _parts(self) -> list[tuple[slice, slice]]:
        """Slices of the array, and where their rows are among these rows; as many whatever the number of threads."""
        step, parts, done = -(-max(len(self), 1) // PARTS), [], 0
        for each in self.slices:
            for start in range(each.start, each.stop, step):
                stop = min(start + step, each.stop)
                parts.append((slice(start, stop), slice(done, done + stop - start)))
                done += stop - start
        return parts

    def values(self, w: Floats) -> Floats:  # (l,) or (l, q)
        """Multiply the features by weights, (r,) or (r, q)."""
        return np.concatenate(list(self.mapped(lambda part: self.features[part[0]] @ w, self._parts)))

    def sums(self, factors: Floats) -> Floats:  # (r,) or (r, q)
        """Sum the features, each row times its factors, (l,) or (l, q)."""
        return _total(self.mapped(lambda part: self.features[part[0]].T @ factors[part[1]], self._parts))

    def products(self, factors: Floats) -> Floats:  # (r, r)
        """Sum the outer products of the features with themselves, each row times its factor, (l,), not negative."""

        def part_products(part: tuple[slice, slice]) -> Floats:
            total = np.zeros((self.n_features, self.n_features))
            for some, own in _chosen_rows(factors[part[1]], self.features[part[0]]):
                scaled = own * np.sqrt(some)[:, None]
                total += scaled.T @ scaled
            return total

        return _total(self.mapped(part_products, self._parts))

    def leverages(self, factor: Floats, is_needed: Bools | None = None) -> Floats:  # (l,)
        """Return z' H^-1 z for each row with a one after its features, by the lower Cholesky factor of H.

        Rows for which it is not needed have zero.
        """

        def part_leverages(part: tuple[slice, slice]) -> Floats:
            found = np.zeros(part[0].stop - part[0].start)
            at = np.arange(len(found)) if is_needed is None else np.flatnonzero(is_needed[part[1]])
            for start in range(0, len(at), MATRIX_ROWS):
                some = at[start : start + MATRIX_ROWS]
                augmented = np.column_stack([self.features[part[0]][some], np.ones(len(some))])
                solved = solve_triangular(factor, augmented.T, lower=True, overwrite_b=True, check_finite=False)
                found[some] = (solved**2).sum(axis=0)
            return found

        return np.concatenate(list(self.mapped(part_leverages, self._parts)))


def _total(parts: Iterable[Floats]) -> Floats:
    """Add in the order of the parts."""
    found = iter(parts)
    total = next(found)
    for part in found:
        total += part
    return total


def _chosen_rows(factors: Floats, features: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the factors that are not zero and the features of their rows, some at a time."""
    at = np.flatnonzero(factors)
    for start in range(0, len(at), MATRIX_ROWS):
        some = at[start : start + MATRIX_ROWS]
        yield factors[some], features[some]


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear function of features.

    Attributes
    ----------
    weights : ndarray of shape (r,)
        w.
    intercept : float
        b.
    converged : bool
        Whether the tolerance was reached.
    n_iter : int
        Number of steps.
    """

    weights: Floats
    intercept: float
    converged: bool = True
    n_iter: int = 0


def minimised(rows: FeatureRows, loss: Loss, costs: Floats, *, tol: float = TOL, max_iter: int = MAX_ITER) -> Linear:
    """Find the function of least loss.

    Parameters
    ----------
    rows : FeatureRows
        Features of l rows.
    loss : Loss
        Loss of their values.
    costs : ndarray of shape (l,)
        Cost of each row's loss, positive.
    tol : float, default=1e-6
        Decrease that a step promises, relative to the objective, where it is the last one.
    max_iter : int, default=100
        Limit for the steps with each width of the corners.

    Examples
    --------
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> rows = FeatureRows(x, (slice(0, 4),))
    >>> found = minimised(rows, Hinge(np.array([-1.0, -1.0, 1.0, 1.0])), np.full(4, 9.0))
    >>> bool(found.weights[0] > 1), round(found.intercept, 6) == 0
    (True, True)
    """
    found = least_squares(rows, loss.targets, costs)
    n_iter, converged = 0, False
    for width in loss.widths:
        descent = _Descent(rows, loss, costs, width)
        found = descent.ended(found, tol, max_iter)
        n_iter, converged = n_iter + found.n_iter, found.converged
    return Linear(found.weights, found.intercept, converged, n_iter)


def least_squares(rows: FeatureRows, targets: Floats, costs: Floats) -> Linear:
    """Return the function of least squared errors, by rows spread evenly over all of them."""
    n_kept = START_ROWS + 2 * rows.n_features
    at = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), n_kept)).astype(np.intp))
    own, cost = rows.features[rows.positions[at]], costs[at] * len(rows) / len(at)
    some = FeatureRows(own, (slice(0, len(at)),))
    factor = cho_factor(newton_matrix(some, cost), lower=True, overwrite_a=True, check_finite=False)
    right = cost * targets[at]
    solution = cho_solve(factor, np.append(some.sums(right), right.sum()), check_finite=False)
    return Linear(solution[:-1], float(solution[-1]))


def newton_matrix(rows: FeatureRows, factors: Floats, intercept: float = 0.0) -> Floats:  # (r + 1, r + 1)
    """Return the second derivatives of half the squared weights and of the rows' losses, by weights and intercept."""
    r = rows.n_features
    H = np.empty((r + 1, r + 1), order="F")
    H[:r, :r] = rows.products(factors)
    H[np.arange(r), np.arange(r)] += 1
    H[r, :r] = H[:r, r] = rows.sums(factors)
    H[r, r] = factors.sum() + intercept
    return H


@dataclass(frozen=True, eq=False)
class _Descent:
    """The objective with one width of the corners."""

    rows: FeatureRows
    loss: Loss
    costs: Floats
    width: float

    def ended(self, start: Linear, tol: float, max_iter: int) -> Linear:
        """Take steps until the tolerance is reached."""
        w, b = start.weights, start.intercept
        f = self.rows.values(w) + b
        for n_iter in range(max_iter):
            slopes = self.costs * self.loss.slopes(f, self.width)
            gradient = np.append(w + self.rows.sums(slopes), slopes.sum())
            factor = cho_factor(self.matrix(f), lower=True, overwrite_a=True, check_finite=False)
            step = -cho_solve(factor, gradient, check_finite=False)
            objective = w @ w / 2 + self.costs @ self.loss.values(f, self.width)
            if -gradient @ step <= tol * objective:
                return Linear(w, b, converged=True, n_iter=n_iter)
            change = self.rows.values(step[:-1]) + step[-1]
            length = self._length(w, f, step[:-1], change)
            w, b, f = w + length * step[:-1], b + length * float(step[-1]), f + length * change
        return Linear(w, b, converged=False, n_iter=max_iter)

    def matrix(self, f: Floats, intercept: float = INTERCEPT) -> Floats:  # (r + 1, r + 1)
        """Return the second derivatives where the function has these values."""
        factors = self.costs * self.loss.curvatures(f, self.width)
        return newton_matrix(self.rows, factors, intercept * float(self.costs.sum()))

    def _length(self, w: Floats, f: Floats, step: Floats, change: Floats) -> float:
        """Return the length at which the objective along a step has its minimum, one at most."""

        def slope(length: float) -> float:
            slopes = self.loss.slopes(f + length * change, self.width)
            return float((w + length * step) @ step + (self.costs * slopes) @ change)

        if slope(1.0) <= 0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (low, middle) if slope(middle) > 0 else (middle, high)
        return high


def left_out_values(rows: FeatureRows, loss: Loss, costs: Floats, found: Linear) -> Floats:  # (l,)
    """Return the values of the function at each row without the row, by one step of Newton's method."""
    f, width = rows.values(found.weights) + found.intercept, loss.widths[-1]
    descent = _Descent(rows, loss, costs, width)
    # Without a row in a corner the intercept is not determined; as much as one row in a corner is added then.
    matrix = descent.matrix(f, intercept=1 / (2 * width * len(rows)))
    factor, _ = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    slopes, curvatures = costs * loss.slopes(f, width), costs * loss.curvatures(f, width)
    leverages = rows.leverages(factor, slopes != 0)
    return np.asarray(f + slopes * leverages / np.maximum(1 - curvatures * leverages, 1e-6))


def contiguous(codes: Ints, n_classes: int) -> list[slice]:
    """Return the rows of each class, where rows are sorted by class.

    >>> contiguous(np.array([0, 0, 1, 2, 2]), 3)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 5, None)]
    """
    ends = np.searchsorted(codes, np.arange(n_classes + 1)).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]
