"""The result of a solver: decision functions as sums over training rows."""

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mixkern.errors import MixkernWarning
from mixkern.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Dual:
    r"""Decision functions that share their support rows.

    .. math:: f_q(x) = \sum_i k(x, x_i)\, a_{iq} + b_q

    Attributes
    ----------
    support : ndarray of int, shape (s,)
        Positions of the support rows among those that the solver was given.
    coefficients : ndarray of shape (s, q)
        Coefficient of each support row in each function.
    intercepts : ndarray of shape (q,)
        Added to all values.
    converged : bool
        Whether the solver reached its tolerance.
    n_iter : int
        Number of iterations; of several functions, the largest.
    change : float
        Relative change of the kernel matrix by a repair, in the Frobenius norm; 0 without one.
    is_interrupted : bool
        Whether the training was interrupted by the user.
    """

    support: Ints
    coefficients: Floats
    intercepts: Floats
    converged: bool = True
    n_iter: int = 1
    change: float = 0.0
    is_interrupted: bool = False

    def decision(self, K: Floats, columns: Ints | None = None) -> Floats:  # (n, q)
        """Evaluate the functions on a kernel matrix.

        Parameters
        ----------
        K : ndarray of shape (n, m)
            Kernel between rows, one for each row of ``K``, and training rows.
        columns : ndarray of int, shape (m,), default=None
            Sorted positions of the training rows that the columns of ``K`` belong to; ``None`` is all of them.
        """
        at = self.support if columns is None else np.searchsorted(columns, self.support)
        return K[:, at] @ self.coefficients + self.intercepts


class NotConvergedWarning(MixkernWarning, ConvergenceWarning):
    """A solver stopped at its limit; the message has the reason and the remedy."""
