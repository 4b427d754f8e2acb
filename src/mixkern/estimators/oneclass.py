"""One-class SVM: outlier detection without labels."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from mixkern.encoding.lengths import checked_weights, n_rows_of
from mixkern.estimators.base import MixtureEstimator, limited
from mixkern.estimators.many_labels import MAX_LABELS
from mixkern.export import Predicted
from mixkern.fitting import all_or_nothing, in_stages
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.partitions import learns_partitions, maps_partitions
from mixkern.parts import NUMBER, model_part
from mixkern.sampling import check_random_state
from mixkern.svm import one_class
from mixkern.svm.decision import kernel_matrix
from mixkern.typing import Floats, Ints
from mixkern.validation import Rule


@model_part("MixtureOneClassSVM")
class MixtureOneClassSVM(OutlierMixin, MixtureEstimator):
    """One-class SVM for tables, with a kernel from the density of all rows.

    The default kernel is that of the paper: the share of the blend of :class:`MixtureSVC` is set by the evidence of
    labels, and there are none.

    Parameters
    ----------
    kernel, density, gamma, alpha, beta, encoder, repair, tol, max_iter, verbose, random_state
        As in :class:`MixtureSVC`; the default kernel is ``"rwm"``.
    nu : float, default=0.5
        Upper bound on the share of rows outside, and lower bound on the share of support vectors, approximately.
    max_rows : int, default=5000
        Rows that the boundary is trained on, because their kernel matrix is needed. Of more, as many are drawn at
        random, with a warning; the density is that of all rows.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_
        The support vectors and the decision function.
    offset_ : float
        Value of :meth:`score_samples` where :meth:`decision_function` is zero.
    encoder_, density_, mixture_, kernel_
        As in :class:`MixtureSVC`.

    Examples
    --------
    >>> from mixkern import MixtureOneClassSVM, datasets
    >>> X, _ = datasets.make_two_moons(n=300, random_state=0)
    >>> model = MixtureOneClassSVM(nu=0.05, random_state=0).fit(X)
    >>> model.predict([[0.0, 0.95], [4.0, 4.0]])  # on a moon, and far away
    array([ 1, -1])
    """

    _fitted_parts: ClassVar[dict[str, Rule]] = {"offset_": NUMBER}
    _predicted: ClassVar[Predicted] = Predicted.INLIERS

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
        max_rows: int = MAX_LABELS,
        verbose: int = 0,
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
        self.max_rows = max_rows
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    @in_stages(4)
    @learns_partitions
    @on_gpu_of_rows
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:  # noqa: ARG002
        """Fit the density of all rows, then the boundary around those of ``X``.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Dask collection
            Rows, most of them inliers. Of a Dask collection, at most 5,000 rows, drawn at random, make the boundary.
        y : ignored
            Present for API consistency.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows, for the density only: they may be outliers.

        Returns
        -------
        self
        """
        weights = checked_weights(sample_weight, n_rows_of(X))
        rows = self._own_structure(X, X_unlabelled)
        kept = limited(n_rows_of(X), None, self.max_rows, check_random_state(self.random_state))
        rows, weights = rows[kept], None if weights is None else weights[kept]
        with self._stage("training"):
            dual = one_class(
                kernel_matrix(self.kernel_, rows),
                nu=self.nu,
                sample_weight=weights,
                tol=self.tol,
                max_iter=self.max_iter,
                repair=self.repair,
            )
            self._set_decision(dual, rows)
        self.support_ = kept[dual.support]
        self.offset_ = -float(dual.intercepts[0])
        return self

    @maps_partitions
    @on_gpu_of_rows
    def decision_function(self, X: Any) -> Floats:  # (n,)
        """Compute the signed distance to the boundary: positive for inliers."""
        return self.decide(self.rows_of(X))[:, 0]

    @maps_partitions
    @on_gpu_of_rows
    def score_samples(self, X: Any) -> Floats:  # (n,)
        """Compute the decision function without its offset."""
        return self.decide(self.rows_of(X))[:, 0] + self.offset_

    @maps_partitions
    @on_gpu_of_rows
    def predict(self, X: Any) -> Ints:
        """Predict 1 for inliers and -1 for outliers."""
        return np.where(self.decide(self.rows_of(X))[:, 0] >= 0, 1, -1)
