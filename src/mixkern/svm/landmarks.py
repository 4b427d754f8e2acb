"""SVMs for many labels: their functions are sums of the kernel over some labelled rows, the landmarks.

The kernel matrix among 100,000 labelled rows takes 80 GB. Here functions are linear in features by the landmarks
(:mod:`~mixkern.svm.landmark_features`), whose array takes 0.8 GB for 1,000 landmarks. With all rows as landmarks and a
definite kernel, they are those of an SVM with the same loss on the whole matrix.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mixkern.errors import hint, warn
from mixkern.fitting import NotConvergedWarning
from mixkern.svm.decision import Dual
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.libsvm import pairs
from mixkern.svm.newton import (
    MAX_ITER,
    FeatureRows,
    Hinge,
    Linear,
    Loss,
    Tube,
    contiguous,
    left_out_values,
    minimised,
    newton_matrix,
)
from mixkern.threads import thread_pool
from mixkern.typing import Floats, Ints

GAVE_UP = hint(
    python="Scale the columns, lower C or raise max_iter.",
    cli="Another kernel may converge, for example: --kernel rbf.",
)


@dataclass(frozen=True, eq=False)
class LandmarkProblem:
    """Features and costs of labelled rows.

    Attributes
    ----------
    features : LandmarkFeatures
        Of the labelled rows; those of classes are sorted by class.
    landmarks : ndarray of int, shape (m,)
        Positions of the landmarks among these rows.
    costs : ndarray of shape (n,)
        C times the weight of each row.
    """

    features: LandmarkFeatures
    landmarks: Ints
    costs: Floats

    def rows(self, slices: tuple[slice, ...], mapped: Any = map) -> FeatureRows:
        """Return some of the rows."""
        return FeatureRows(self.features.rows, slices, mapped)

    def all_rows(self, mapped: Any = map) -> FeatureRows:
        """Return all rows."""
        return self.rows((slice(0, len(self.costs)),), mapped)

    def dual(self, weights: Floats, intercepts: Floats, **outcome: Any) -> Dual:
        """Return functions of features, (r, q), as sums over the landmarks."""
        return Dual(self.landmarks, self.features.basis @ weights, intercepts, change=self.features.change, **outcome)


@dataclass(frozen=True, eq=False)
class LandmarkSolution:
    """Trained functions, and their values without single labels.

    Attributes
    ----------
    dual : Dual
        Functions over the landmarks.
    left_out : ndarray of shape (n, q) or None
        Values of the functions at each row, without its label; None where they are not needed.
    """

    dual: Dual
    left_out: Floats | None


def pair_functions(
    problem: LandmarkProblem, codes: Ints, *, max_iter: int = -1, needs_left_out: bool = True
) -> LandmarkSolution:
    """Train a function for each pair of classes, with a smoothed hinge.

    Parameters
    ----------
    problem : LandmarkProblem
        Rows, sorted by class.
    codes : ndarray of int, shape (n,)
        Classes of the rows, 0 to c - 1, sorted, none of them missing.
    max_iter : int, default=-1
        Limit for the steps of Newton's method with each width of the hinge's corner; -1 is 100.
    needs_left_out : bool, default=True
        Whether to compute values without single labels.

    Returns
    -------
    LandmarkSolution
        One function for each pair of :func:`~mixkern.svm.pairs`, positive for the first of the two.
    """
    n_classes = int(codes[-1]) + 1
    own, all_pairs = contiguous(codes, n_classes), pairs(n_classes)
    train = partial(_pair, problem, own, MAX_ITER if max_iter == -1 else max_iter, needs_left_out)
    with thread_pool() as pool:
        # Threads share the rows of one pair, or have pairs of their own.
        if n_classes == 2:
            found = [train(pool.map, *all_pairs[0])]
        else:
            found = list(pool.map(lambda pair: train(map, *pair), all_pairs))
    left_out = np.column_stack([values for _, values in found]) if needs_left_out else None
    return LandmarkSolution(_joined(problem, [function for function, _ in found]), left_out)


def _pair(
    problem: LandmarkProblem, own: list[slice], max_iter: int, needs_left_out: bool, mapped: Any, a: int, b: int
) -> tuple[Linear, Floats]:
    """Train the function of one pair; return it and its values at all rows, at those of the pair without the label."""
    rows = problem.rows((own[a], own[b]), mapped)
    at = rows.positions
    loss, costs = Hinge(np.where(at < own[a].stop, 1.0, -1.0)), problem.costs[at]
    function = minimised(rows, loss, costs, max_iter=max_iter)
    if not needs_left_out:
        return function, np.empty(0)
    values = np.empty(len(problem.costs))
    if len(at) < len(values):
        values[:] = problem.all_rows(mapped).values(function.weights) + function.intercept
    values[at] = left_out_values(rows, loss, costs, function)
    return function, values


def class_functions(problem: LandmarkProblem, codes: Ints) -> LandmarkSolution:
    """Train a function for each class against the others, by least squares; see :mod:`~mixkern.svm.least_squares`.

    Parameters
    ----------
    problem : LandmarkProblem
        Rows.
    codes : ndarray of int, shape (n,)
        Their classes, 0 to c - 1, none of them missing.

    Returns
    -------
    LandmarkSolution
        One function for each class. Values without single labels are NaN for the only row of a class.
    """
    targets, costs = np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0), problem.costs
    with thread_pool() as pool:
        rows = problem.all_rows(pool.map)
        factor = cho_factor(newton_matrix(rows, costs), lower=True, overwrite_a=True, check_finite=False)
        right = costs[:, None] * targets
        solution = cho_solve(factor, np.vstack([rows.sums(right), right.sum(axis=0)]), check_finite=False)
        weights, intercepts = solution[:-1], solution[-1]
        errors = targets - rows.values(weights) - intercepts
        kept = 1 - costs * rows.leverages(factor[0])
    left_out = targets - errors / np.maximum(kept, 1e-9)[:, None]
    left_out[np.bincount(codes)[codes] == 1] = np.nan
    return LandmarkSolution(problem.dual(weights, intercepts), left_out)


def regression(problem: LandmarkProblem, targets: Floats, *, epsilon: float, max_iter: int = -1) -> Dual:
    """Train a regressor with a smoothed tube.

    Parameters
    ----------
    problem : LandmarkProblem
        Rows.
    targets : ndarray of shape (n,)
        Their targets, with a standard deviation of about 1.
    epsilon : float
        Errors up to this size have no loss.
    max_iter : int, default=-1
        As in :func:`pair_functions`.
    """
    loss: Loss = Tube(targets, epsilon)
    limit = MAX_ITER if max_iter == -1 else max_iter
    with thread_pool() as pool:
        function = minimised(problem.all_rows(pool.map), loss, problem.costs, max_iter=limit)
    return _joined(problem, [function])


def _joined(problem: LandmarkProblem, functions: list[Linear]) -> Dual:
    """Join functions of the same features; warn where one has not converged."""
    converged = all(function.converged for function in functions)
    n_iter = max(function.n_iter for function in functions)
    if not converged:
        warn(
            f"The training has not converged after {n_iter} steps. The result so far is used.",
            NotConvergedWarning,
            hint=GAVE_UP,
        )
    weights = np.column_stack([function.weights for function in functions])
    intercepts = np.array([function.intercept for function in functions])
    return problem.dual(weights, intercepts, converged=converged, n_iter=max(1, n_iter))
