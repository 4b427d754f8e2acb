r"""Gieseke's quasi-Newton semi-supervised SVM: a boundary in sparse places by continuous descent.

Unlike the transductive SVM, it assigns no labels to unlabelled rows. It minimises

.. math::
    \tfrac12 \|w\|^2 + C \Big[ \sum_{i\,\text{labelled}} \tfrac{v_i}{s} \log(1 + e^{s (1 - y_i f_i)})
    + u\, \frac{\sum_i v_i}{n_u} \sum_{j\,\text{unlabelled}} e^{-3 f_j^2} \Big]

a smooth function, by L-BFGS. The first sum is a hinge with a soft knee, with weights v of one or as given; the second
pushes the boundary away from unlabelled rows. The second is not convex: its weight u rises in steps, each starting from
the last solution.

References
----------
Gieseke, F., Airola, A., Pahikkala, T. and Kramer, O. (2014). Fast and simple gradient-based optimization for
semi-supervised support vector machines. Neurocomputing 123.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from mixkern.errors import InterruptedWarning, warn
from mixkern.fitting import NotConvergedWarning
from mixkern.svm.decision import Dual
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.transductive import share_of_positive
from mixkern.threads import single_threaded_algebra
from mixkern.typing import Bools, Floats, Ints

QUASI_NEWTON_LEVELS = 6  # of the unlabelled rows' weight; twelve were no better, three were worse
FIRST_WEIGHT = 1e-2  # as a share of the last
KNEE = 20.0  # s: how sharp the hinge is
PUSH = 3.0  # width of the loss of unlabelled rows: the larger, the nearer to the boundary it acts

OUT_OF_ITERATIONS = 1  # SciPy's code; the other failure is a line search that rounding keeps from going further


def quasi_newton(
    K: Floats,
    landmarks: Ints,
    signs: Ints,
    *,
    C: float = 1.0,
    unlabelled_weight: float = 1.0,
    positive_share: float | None = None,
    sample_weight: Floats | None = None,
    features: LandmarkFeatures | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    step: Callable[[], object] | None = None,
) -> Dual:
    """Train a binary classifier whose boundary avoids unlabelled rows.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        Kernel between all rows, labelled or not, and the landmarks.
    landmarks : ndarray of int, shape (m,)
        Positions of the rows that functions are sums over. All rows give the exact problem, fewer an approximation
        (subset of regressors) that takes m / n of the time.
    signs : ndarray of int, shape (n,)
        Class of each row, -1 or 1, and 0 where it is unknown. Both classes occur.
    C : float, default=1.0
        Penalty of rows, against the smoothness of the function.
    unlabelled_weight : float, default=1.0
        Penalty of all unlabelled rows together, as a multiple of the labelled ones. Zero leaves them out.
    positive_share : float or None, default=None
        Share of the unlabelled rows that belong to the class 1. ``None`` takes that of the labelled rows.
    sample_weight : ndarray of shape (n,), default=None
        Factor of the loss of each labelled row, positive. Those of unlabelled rows are not read.
    features : LandmarkFeatures, default=None
        What :meth:`LandmarkFeatures.of` returns for ``K`` and ``landmarks``, for several problems with the same kernel.
    tol : float, default=1e-3
        Largest component of the gradient where a descent may end. Where the problem is convex, the function is then
        about that exact.
    max_iter : int, default=1000
        Limit for the iterations of each descent.
    step : callable or None, default=None
        Called without arguments after each of ``QUASI_NEWTON_LEVELS`` levels, for a progress bar; not called where
        unlabelled rows have no weight.

    Returns
    -------
    Dual
        One function over the landmarks, positive for the class 1.

    Warns
    -----
    InterruptedWarning
        On Ctrl-C after the first descent. The last finished level is returned.
    NotConvergedWarning
        Where the last descent has stopped at ``max_iter``.

    Notes
    -----
    The function's mean over the unlabelled rows is ``2 * positive_share - 1``: without this, all of them could end up
    in one class. This fixes the intercept. Where unlabelled rows are absent or weightless there is nothing to balance,
    and the intercept is free, as in a supervised SVM.

    Directions in which a kernel is not positive definite are left out: the objective is not bounded along them.

    Examples
    --------
    Rows on a line, the outer ones labelled. The gap between the others is not in the middle.

    >>> x = np.array([0.0, 1.0, 2.0, 3.0, 6.0, 7.0])
    >>> K = np.exp(-0.1 * (x[:, None] - x) ** 2)
    >>> dual = quasi_newton(K, np.arange(6), np.array([-1, 0, 0, 0, 0, 1]), positive_share=0.25)
    >>> np.sign(dual.decision(K).ravel())
    array([-1., -1., -1., -1.,  1.,  1.])
    """
    features = LandmarkFeatures.of(K, landmarks) if features is None else features
    share = share_of_positive(signs) if positive_share is None else positive_share
    balanced = unlabelled_weight > 0 and bool((signs == 0).any())
    labels = _Labels.of(signs, sample_weight)
    rows = features.rows
    problem = _balanced(rows, labels, C, 2 * share - 1) if balanced else _supervised(rows, labels, C)
    start = _Found(np.zeros(problem.labelled.shape[1]), converged=False, n_iter=0)
    # Thousands of small products: threads would spend their time waiting for each other.
    with single_threaded_algebra():
        found = _descended(problem, start, 0.0, tol, max_iter)
        if balanced:
            weights = unlabelled_weight * np.geomspace(FIRST_WEIGHT, 1.0, QUASI_NEWTON_LEVELS)
            found = _annealed(problem, found, weights, tol, max_iter, step)
    if not found.converged:
        warn(
            f"The descent has not converged after {max_iter} iterations. Lower C or raise max_iter; what it has so far "
            "is used.",
            NotConvergedWarning,
        )
    w, intercept = problem.function(found.w)
    coefficients = (features.basis @ w)[:, None]
    return Dual(
        landmarks,
        coefficients,
        np.array([intercept]),
        found.converged,
        max(1, found.n_iter),
        is_interrupted=found.is_interrupted,
    )


@dataclass(frozen=True, eq=False)
class _Labels:
    """Signs and weights of the labelled rows."""

    is_labelled: Bools  # (n,)
    signs: Floats  # (l,)
    weights: Floats  # (l,)

    @classmethod
    def of(cls, signs: Ints, sample_weight: Floats | None) -> "_Labels":
        is_labelled = signs != 0
        weights = np.ones(len(signs)) if sample_weight is None else sample_weight
        return cls(is_labelled, signs[is_labelled].astype(float), weights[is_labelled])


@dataclass(frozen=True, eq=False)
class _Problem:
    """The objective over features whose inner products are the kernel."""

    labelled: Floats  # (l, r)
    signs: Floats  # (l,)
    weights: Floats  # (l,)
    unlabelled: Floats  # (u, r)
    C: float
    offset: float  # added to every value of the function
    centre: Floats | None  # (r,) where the features' origin lies; None for a free intercept, the last column

    def value(self, w: Floats, weight: float) -> tuple[float, Floats]:
        """Evaluate the objective and its gradient."""
        margins = 1 - self.signs * (self.labelled @ w + self.offset)
        values = self.unlabelled @ w + self.offset
        bumps = np.exp(-PUSH * values**2)
        each = weight * self.weights.sum() / max(len(values), 1)  # weight of an unlabelled row
        loss = (self.weights * np.logaddexp(0, KNEE * margins)).sum() / KNEE + each * bumps.sum()
        gradient = -(self.weights * self.signs * expit(KNEE * margins)) @ self.labelled
        gradient -= 2 * PUSH * each * (values * bumps) @ self.unlabelled
        penalised = w if self.centre is not None else np.append(w[:-1], 0.0)
        return float(penalised @ penalised / 2 + self.C * loss), penalised + self.C * gradient

    def function(self, w: Floats) -> tuple[Floats, float]:
        """Return the weights of the uncentred features, and the intercept."""
        if self.centre is None:
            return w[:-1], float(w[-1])
        return w, float(self.offset - self.centre @ w)


def _balanced(features: Floats, labels: _Labels, C: float, mean: float) -> _Problem:
    """Fix the function's mean over unlabelled rows: centred there, it is the intercept."""
    is_labelled = labels.is_labelled
    centre = features[~is_labelled].mean(axis=0)
    return _Problem(
        features[is_labelled] - centre,
        labels.signs,
        labels.weights,
        features[~is_labelled] - centre,
        C,
        mean,
        centre,
    )


def _supervised(features: Floats, labels: _Labels, C: float) -> _Problem:
    """Leave the intercept free: a column of ones that costs nothing."""
    columns = np.column_stack([features[labels.is_labelled], np.ones(len(labels.signs))])
    return _Problem(columns, labels.signs, labels.weights, columns[:0], C, 0.0, None)


@dataclass(frozen=True, eq=False)
class _Found:
    """Result of a descent."""

    w: Floats
    converged: bool
    n_iter: int  # of this descent and those that led to its start
    is_interrupted: bool = False


def _descended(problem: _Problem, start: _Found, weight: float, tol: float, max_iter: int) -> _Found:
    options = {"gtol": tol, "ftol": 1e-14, "maxiter": max_iter, "maxfun": 2 * max_iter}
    result = minimize(problem.value, start.w, args=(weight,), jac=True, method="L-BFGS-B", options=options)
    return _Found(result.x, result.status != OUT_OF_ITERATIONS, start.n_iter + result.nit)


def _annealed(
    problem: _Problem, found: _Found, weights: Floats, tol: float, max_iter: int, step: Callable[[], object] | None
) -> _Found:
    """Follow the minimum while unlabelled rows gain weight, until the end or Ctrl-C."""
    try:
        for weight in weights:
            found = _descended(problem, found, weight, tol, max_iter)
            if step is not None:
                step()
    except KeyboardInterrupt:
        found = replace(found, is_interrupted=True)
        warn("Stopped before the unlabelled rows had their full weight; the last function is used.", InterruptedWarning)
    return found
