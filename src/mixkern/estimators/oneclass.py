"""Telling rows that belong from rows that do not, without any label."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from mixkern.estimators.base import MixtureMachine, weights_of
from mixkern.svm import one_class
from mixkern.typing import Floats


class MixtureOneClassSVM(OutlierMixin, MixtureMachine):
    """Enclose the rows of a table by a surface, with a kernel that has learned from all of them.

    Parameters
    ----------
    kernel, density, gamma, alpha, beta, encoder, repair, tol, max_iter, random_state
        As in :class:`MixtureSVC`.
    nu : float, default=0.5
        About the share of rows that are left outside, and the least share of support vectors.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_
        The support vectors and the function that they make.
    offset_ : float
        What :meth:`score_samples` is where :meth:`decision_function` is zero.
    encoder_, density_, mixture_, kernel_
        As in :class:`MixtureSVC`.

    Examples
    --------
    >>> from mixkern import MixtureOneClassSVM, datasets
    >>> X, _ = datasets.make_two_moons(n=300, random_state=0)
    >>> machine = MixtureOneClassSVM(nu=0.05, random_state=0).fit(X)
    >>> machine.predict([[0.0, 0.95], [4.0, 4.0]])  # on a moon, and nowhere
    array([ 1, -1])
    """

    def __init__(
        self,
        kernel: Any = "rwm",
        *,
        density: Any = None,
        nu: float = 0.5,
        gamma: float | str = "scale",
        alpha: float = 1.0,
        beta: float = 1.0,
        encoder: Any = None,
        repair: str = "auto",
        tol: float = 1e-3,
        max_iter: int = -1,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.density = density
        self.nu = nu
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.encoder = encoder
        self.repair = repair
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:  # noqa: ARG002
        """Learn the density of all rows, then the surface around those of ``X``.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows that belong, most of them.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n,), default=None
            How much each row counts.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows, for the density only: nobody knows whether they belong.

        Returns
        -------
        self
        """
        rows = self.learn_structure(X, X_unlabelled)
        rows = rows[: len(rows) - (0 if X_unlabelled is None else len(X_unlabelled))]
        weights = weights_of(sample_weight, len(rows))
        dual = one_class(
            self.kernel_(rows),
            nu=self.nu,
            sample_weight=weights,
            tol=self.tol,
            max_iter=self.max_iter,
            remedy=self.repair,
        )
        self._keep(dual, rows)
        self.support_ = dual.support
        self.offset_ = -float(dual.intercepts[0])
        return self

    def decision_function(self, X: Any) -> Floats:  # (n,)
        """Say how far inside a row is: positive for rows that belong."""
        return self._values(X)[:, 0]

    def score_samples(self, X: Any) -> Floats:  # (n,)
        """Give the decision function before the offset is taken away."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Give 1 for rows that belong and -1 for those that do not."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
