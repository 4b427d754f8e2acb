r"""The Laplacian support vector machine trained in the primal, as literally as can be.

S. Melacci and M. Belkin, *Laplacian Support Vector Machines Trained in the Primal*, Journal of Machine Learning
Research 12 (2011): Newton's method and preconditioned conjugate gradients, both for

.. math:: \min_{\alpha, b} \sum_{i \in \mathcal L} \max(0, 1 - y_i f_i)^2
          + \gamma_A \alpha^T K \alpha + \gamma_I \alpha^T K L K \alpha, \qquad f = K \alpha + b

Legend
------
K        kernel among all rows, labelled or not (n, n)
L        Laplacian of their graph (n, n)
y        +1 or -1 for labelled rows, 0 for the others (n,)
alpha, b what is sought; z = (b, alpha) stacked (1 + n,)
E        the labelled rows that are errors, y f < 1: only they pull; I_E is its indicator on the diagonal
gamma_a  weight of the kernel's own norm (ambient), gamma_A
gamma_i  weight of the smoothness along the graph (intrinsic), gamma_I

All gradients and Hessians are halved: the factor 2 of the squares cancels everywhere. The intercept is not part of the
smoothness: with a normalised Laplacian a constant would not be smooth.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    K: np.ndarray
    L: np.ndarray
    y: np.ndarray
    gamma_a: float
    gamma_i: float

    def outputs(self, z):
        """f = K alpha + b."""
        return self.K @ z[1:] + z[0]

    def is_error(self, z):
        """E."""
        return (self.y != 0) & (self.y * self.outputs(z) < 1)

    def objective(self, z):
        alpha, K = z[1:], self.K
        loss = sum(max(0.0, 1 - y * f) ** 2 for y, f in zip(self.y, self.outputs(z), strict=True) if y != 0)
        return loss + self.gamma_a * alpha @ K @ alpha + self.gamma_i * alpha @ K @ self.L @ K @ alpha

    def preconditioned(self, z):
        """The gradient without its factor diag(1, K).

        That is (1' I_E (f - y), I_E (f - y) + gamma_a alpha + gamma_i L K alpha).
        """
        alpha = z[1:]
        residual = np.where(self.is_error(z), self.outputs(z) - self.y, 0.0)
        return np.r_[residual.sum(), residual + self.gamma_a * alpha + self.gamma_i * self.L @ (self.K @ alpha)]

    def times(self, v):
        """The preconditioner, diag(1, K), times a vector."""
        return np.r_[v[0], self.K @ v[1:]]

    def gradient(self, z):
        return self.times(self.preconditioned(z))


def best_step(problem, z, direction):
    """Minimise along a line: the slope is continuous, rises, and has a kink wherever a row enters or leaves E."""

    def slope(s):
        return problem.gradient(z + s * direction) @ direction

    f, change = problem.outputs(z), problem.outputs(z + direction) - problem.outputs(z)
    kinks = sorted((1 - y * f) / (y * d) for y, f, d in zip(problem.y, f, change, strict=True) if y * d != 0)
    left, right = 0.0, 0.0
    for right in [s for s in kinks if s > 0]:
        if slope(right) >= 0:
            break
        left = right
    if left == right:  # past the last kink: straight for ever
        right = left + 1.0
    return left - slope(left) * (right - left) / (slope(right) - slope(left))


def newton(problem, max_steps=100):
    """Newton's method: for fixed E the objective is a parabola, and its minimum solves a linear system.

    The Hessian is diag(1, K) times the matrix below and the gradient at z is diag(1, K) times (matrix @ z - target),
    so K need not be inverted. E that stays as it was after a full step ends the search: the minimum is exact then.
    """
    K, L, y, n = problem.K, problem.L, problem.y, len(problem.y)
    z = np.zeros(1 + n)
    for _ in range(max_steps):
        E = problem.is_error(z)
        system = np.zeros((1 + n, 1 + n))
        system[0, 0] = E.sum()
        system[0, 1:] = E @ K
        system[1:, 0] = E
        system[1:, 1:] = np.diag(E.astype(float)) @ K + problem.gamma_a * np.eye(n) + problem.gamma_i * L @ K
        minimum = np.linalg.solve(system, np.r_[(E * y).sum(), E * y])
        if (problem.is_error(minimum) == E).all():
            return minimum
        z = z + best_step(problem, z, minimum - z) * (minimum - z)
    raise AssertionError("Newton's method has not converged.")


def conjugate_gradient(problem, tol=1e-10, max_steps=20_000):
    """Nonlinear conjugate gradients, preconditioned by diag(1, K): no system is solved, K only multiplies.

    Polak and Ribiere's coefficient, with a fresh start wherever it is negative; exact line searches. Ends where the
    preconditioned gradient has shrunk to tol times its first length.
    """
    z = np.zeros(1 + len(problem.y))
    g = problem.preconditioned(z)
    direction, limit = -g, tol * np.linalg.norm(g)
    for _ in range(max_steps):
        z = z + best_step(problem, z, direction) * direction
        before, g = g, problem.preconditioned(z)
        if np.linalg.norm(g) <= limit:
            return z
        rho = (problem.times(g) @ (g - before)) / (problem.times(before) @ before)
        direction = -g + max(0.0, rho) * direction
    raise AssertionError("Conjugate gradients have not converged.")
