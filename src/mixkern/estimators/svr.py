"""Support vector regression from few targets."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from mixkern.encoding import encode_targets
from mixkern.encoding.lengths import check_length, checked_weights, n_rows_of
from mixkern.errors import NoLabelsError
from mixkern.estimators.base import MixtureEstimator, checked_target
from mixkern.estimators.many_labels import MAX_LABELS, N_LANDMARKS, LandmarkMixin, landmark_problem, most_labels
from mixkern.estimators.score import FEWEST_TARGETS, TargetMoments, part_weights, scored_rows
from mixkern.export import Predicted
from mixkern.fitting import all_or_nothing, in_stages
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.partitions import learns_partitions, maps_partitions, scores_partitions
from mixkern.parts import model_part
from mixkern.sampling import check_random_state, subsample
from mixkern.svm import regressor
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.landmarks import regression
from mixkern.typing import Floats


@model_part("MixtureSVR")
class MixtureSVR(LandmarkMixin, RegressorMixin, MixtureEstimator):
    """Epsilon-SVR for tables with few targets, with a kernel from the density of all rows.

    The defaults are the kernel of the paper and the C of scikit-learn's ``SVR``: the blend's share and ``C="auto"`` of
    :class:`MixtureSVC` are set by the evidence of classes, which a regression does not have.

    Parameters
    ----------
    kernel, density, gamma, alpha, beta, encoder, repair, tol, max_iter, max_labels, n_landmarks, verbose, random_state
        As in :class:`MixtureSVC`; the default kernel is ``"rwm"``. ``max_labels`` is the number of targets whose kernel
        matrix is computed; with more, the function is a sum over ``n_landmarks`` of the rows.
    C : float, default=1.0
        Regularization parameter: the penalty of an error of one standard deviation of ``y``, beyond ``epsilon``.
    epsilon : float, default=0.1
        Errors up to this size, in standard deviations of ``y``, are not penalised.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_
        The support vectors and the decision function.
    encoder_, density_, mixture_, kernel_, n_landmarks_
        As in :class:`MixtureSVC`.

    Notes
    -----
    ``y`` is z-scored like every column, so its unit does not matter. With a standard deviation s of the targets this is
    scikit-learn's ``SVR(C=C * s, epsilon=epsilon * s)``.

    Examples
    --------
    >>> import numpy as np
    >>> from mixkern import MixtureSVR
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> y[np.arange(200) % 10 > 0] = np.nan  # every tenth row has a target
    >>> model = MixtureSVR(C=10, epsilon=0.01, random_state=0).fit(X, y)
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.98)
    True
    """

    _predicted: ClassVar[Predicted] = Predicted.NUMBER

    def __init__(
        self,
        kernel: Any = "rwm",
        *,
        density: Any = None,
        C: float = 1.0,
        epsilon: float = 0.1,
        gamma: float | str = "scale",
        alpha: float = 1.0,
        beta: float = 1.0,
        encoder: Any = None,
        repair: str = "auto",
        tol: float = 1e-3,
        max_iter: int = -1,
        max_labels: int = MAX_LABELS,
        n_landmarks: int = N_LANDMARKS,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.density = density
        self.C = C
        self.epsilon = epsilon
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.encoder = encoder
        self.repair = repair
        self.tol = tol
        self.max_iter = max_iter
        self.max_labels = max_labels
        self.n_landmarks = n_landmarks
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    @in_stages(4)
    @learns_partitions
    @on_gpu_of_rows
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:
        """Fit the density of all rows, then the regressor on those with a target.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Dask collection
            The table: numbers, categories, gaps.
        y : array-like of shape (n,)
            Numbers; ``None``, NaN or ``pandas.NA`` where there is none. -1 is a number. Of a Dask DataFrame also the
            name of their column.
        sample_weight : array-like of shape (n,), default=None
            Weight of each target.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows without targets.

        Returns
        -------
        self
        """
        targets = encode_targets(checked_target(y, self))
        check_length(n_rows_of(X), len(targets), unit="target")
        weights = checked_weights(sample_weight, len(targets))
        if weights is not None:
            targets[weights == 0] = np.nan
            if np.isnan(targets).all():
                raise NoLabelsError("All rows with a target have a sample weight of zero.")
        rows = self._own_structure(X, X_unlabelled)
        given = np.flatnonzero(~np.isnan(targets))
        is_many, random = len(given) > self.max_labels, check_random_state(self.random_state)
        if is_many:
            given = np.sort(subsample(given, most_labels(self.n_landmarks), random))
        mean, deviation = targets[given].mean(), targets[given].std() or 1.0
        scaled, own_weights = (targets[given] - mean) / deviation, None if weights is None else weights[given]
        with self._stage("training"):
            if is_many:
                costs = np.full(len(given), self.C) if own_weights is None else self.C * own_weights
                problem = landmark_problem(self.kernel_, rows[given], costs, self.n_landmarks, random)
                dual = regression(problem, scaled, epsilon=self.epsilon, max_iter=self.max_iter)
            else:
                dual = regressor(
                    kernel_matrix(self.kernel_, rows[given]),
                    scaled,
                    C=self.C,
                    epsilon=self.epsilon,
                    sample_weight=own_weights,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    repair=self.repair,
                )
            self._landmarks = len(dual.support) if is_many else 0
            intercepts = dual.intercepts * deviation + mean
            self._set_decision(
                replace(dual, coefficients=dual.coefficients * deviation, intercepts=intercepts), rows[given]
            )
        self.support_ = given[dual.support]
        return self

    @maps_partitions
    @on_gpu_of_rows
    def predict(self, X: Any) -> Floats:
        """Predict the target of each row.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.decide(self.rows_of(X))[:, 0]

    @scores_partitions
    @on_gpu_of_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R^2, on the rows that have a target.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Dask collection
            Rows.
        y : array-like of shape (n,)
            Their targets; rows without one are left out. Of a Dask collection: a column of it, or the name of one.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row. Of a Dask collection: a column of it, or a number.

        Returns
        -------
        float
            NaN, with a warning, if fewer than two rows have a target.
        """
        from sklearn.metrics import r2_score  # slow to import, and needed only here

        targets = encode_targets(checked_target(y, self), min_targets=0)
        rows = self.rows_of(X)
        check_length(len(rows), len(targets), unit="target")
        cv = "SemiSupervisedSplit(regression=True)"
        given, weights = scored_rows(~np.isnan(targets), sample_weight, FEWEST_TARGETS, cv)
        if not len(given):
            return np.nan
        return float(r2_score(targets[given], self.predict(rows[given]), sample_weight=weights))

    @on_gpu_of_rows
    def score_sums(self, X: Any, y: Any, sample_weight: Any = None) -> TargetMoments:
        """Return what :meth:`score` follows from, for a part of a table; parts add up."""
        targets, rows = encode_targets(y, min_targets=0), self.rows_of(X)
        check_length(len(rows), len(targets), unit="target")
        weights, given = part_weights(sample_weight, len(rows)), np.flatnonzero(~np.isnan(targets))
        predicted = self.predict(rows[given]) if len(given) else np.empty(0)
        return TargetMoments.of(len(rows), targets[given], predicted, None if weights is None else weights[given])
