"""Newton's method on smoothed losses, against literal objectives and trainings without single rows."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mixkern.svm.newton import (
    PARTS,
    FeatureRows,
    Hinge,
    Tube,
    contiguous,
    left_out_values,
    minimised,
)
from mixkern.threads import thread_pool


def problem(n=80, r=5, seed=0):
    random = np.random.RandomState(seed)
    Z = random.standard_normal((n, r))
    signs = np.where(Z[:, 0] + 0.7 * random.standard_normal(n) > 0.3, 1.0, -1.0)
    return Z, signs, random.uniform(0.5, 3.0, n)


def whole(Z):
    return FeatureRows(Z, (slice(0, len(Z)),))


def literal_ramp(t, h):
    return 0.0 if t <= -h else t if t >= h else (t + h) ** 2 / (4 * h)


def literal_objective(solution, Z, costs, losses):
    w, b = solution[:-1], solution[-1]
    return w @ w / 2 + sum(c * loss(z @ w + b) for z, c, loss in zip(Z, costs, losses, strict=True))


def literal_losses(loss):
    h = loss.widths[-1]
    if isinstance(loss, Hinge):
        return [lambda f, y=y: literal_ramp(1 - y * f, h) for y in loss.targets]
    e = loss.epsilon
    return [lambda f, y=y: literal_ramp(f - y - e, h) + literal_ramp(y - f - e, h) for y in loss.targets]


LOSSES = {"hinge": Hinge, "tube": lambda signs: Tube(signs + 0.5 * np.arange(len(signs)) / len(signs), 0.1)}


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("width", [1.0, 0.05])
def test_losses_are_those_of_the_formula(kind, width):
    f = np.linspace(-3, 3, 61)
    loss = LOSSES[kind](np.where(np.arange(61) % 2, 1.0, -1.0))
    loss = type(loss)(**{**vars(loss), "widths": (width,)})
    expected = [each(value) for each, value in zip(literal_losses(loss), f, strict=True)]
    np.testing.assert_allclose(loss.values(f, width), expected, atol=1e-14)
    step = 1e-6
    slope = (loss.values(f + step, width) - loss.values(f - step, width)) / (2 * step)
    np.testing.assert_allclose(loss.slopes(f, width), slope, atol=1e-4)
    inside = (loss.slopes(f + step, width) - loss.slopes(f - step, width)) / (2 * step)
    smooth = np.isclose(inside, loss.curvatures(f, width), atol=1e-4)
    assert smooth.mean() > 0.9  # not at the ends of the corners, where it jumps


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_function_minimises_the_literal_objective(kind, C):
    Z, signs, weights = problem()
    loss, costs = LOSSES[kind](signs), C * weights
    found = minimised(whole(Z), loss, costs, tol=1e-12)
    assert found.converged
    solution, losses = np.append(found.weights, found.intercept), literal_losses(loss)
    best = minimize(literal_objective, np.zeros(6), args=(Z, costs, losses), tol=1e-10)
    assert literal_objective(solution, Z, costs, losses) <= best.fun * (1 + 1e-6)
    np.testing.assert_allclose(solution, best.x, atol=2e-2)


def test_values_without_a_row_are_nearly_those_of_a_training_without_it():
    Z, signs, weights = problem()
    loss, costs, rows = Hinge(signs), 2 * weights, whole(Z)
    found = minimised(rows, loss, costs, tol=1e-12)
    f, values = Z @ found.weights + found.intercept, left_out_values(rows, loss, costs, found)
    exact = np.empty(len(Z))
    for i in range(len(Z)):
        kept = np.arange(len(Z)) != i
        without = minimised(whole(Z[kept]), Hinge(signs[kept]), costs[kept], tol=1e-12)
        exact[i] = Z[i] @ without.weights + without.intercept
    assert np.abs(values - exact).mean() < 0.15 * np.abs(f - exact).mean()
    far = loss.slopes(f, loss.widths[-1]) == 0
    np.testing.assert_allclose(values[far], f[far])


def test_rows_may_be_several_slices():
    Z, signs, costs = problem()
    at = np.r_[10:25, 40:80]
    parts = minimised(FeatureRows(Z, (slice(10, 25), slice(40, 80))), Hinge(signs[at]), costs[at])
    together = minimised(whole(Z[at]), Hinge(signs[at]), costs[at])
    np.testing.assert_allclose(parts.weights, together.weights, rtol=1e-6, atol=1e-9)


def test_threads_do_not_change_a_bit():
    Z, signs, costs = problem(n=5_003)
    one = minimised(whole(Z), Hinge(signs), costs)
    with thread_pool() as pool:
        two = minimised(FeatureRows(Z, (slice(0, len(Z)),), pool.map), Hinge(signs), costs)
    assert one.weights.tobytes() == two.weights.tobytes()
    assert one.intercept == two.intercept


@pytest.mark.parametrize("n", [2, 3, PARTS, PARTS + 1])
def test_few_rows(n):
    Z = np.linspace(-1, 1, n)[:, None]
    signs = np.where(np.arange(n) < n // 2, -1.0, 1.0)
    found = minimised(whole(Z), Hinge(signs), np.full(n, 10.0))
    assert found.converged
    assert ((Z @ found.weights + found.intercept > 0) == (signs > 0)).all()
    assert np.isfinite(left_out_values(whole(Z), Hinge(signs), np.full(n, 10.0), found)).all()


def test_steps_have_a_limit():
    Z, signs, costs = problem()
    found = minimised(whole(Z), Hinge(signs), 1e4 * costs, max_iter=1)
    assert not found.converged
    assert found.n_iter == 2  # one for each width


def test_classes_are_slices():
    assert contiguous(np.array([0, 0, 2]), 3) == [slice(0, 2), slice(2, 2), slice(2, 3)]
