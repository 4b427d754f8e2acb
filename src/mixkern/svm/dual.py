"""What every solver returns: decision functions as sums over training rows."""

from dataclasses import dataclass

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
        What each of them adds to each function.
    intercepts : ndarray of shape (q,)
        What is added to all rows.
    converged : bool
        Whether the solver reached its tolerance.
    n_iter : int
        Iterations that it took; of several functions, the most.
    change : float
        How much of the kernel matrix a repair has changed, in the Frobenius norm, as a share; 0 without one.
    is_interrupted : bool
        Whether the user has ended the work before it was done.
    """

    support: Ints
    coefficients: Floats
    intercepts: Floats
    converged: bool = True
    n_iter: int = 1
    change: float = 0.0
    is_interrupted: bool = False

    def decision(self, K: Floats) -> Floats:  # (n, q)
        """Evaluate the functions where the kernel with all training rows is known, one row of K each."""
        return K[:, self.support] @ self.coefficients + self.intercepts


class NotConvergedWarning(MixkernWarning, ConvergenceWarning):
    """A solver stopped at its limit; the message has the reason and what was done."""
