"""Support vector classification from few labels, with a kernel from the density of all rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.arguments import named_arguments
from mixkern.defaults import KernelName
from mixkern.density import DensitySearch, Rows
from mixkern.errors import LabelError, ignored_warnings
from mixkern.estimators.avoiding import AvoidingClassifier
from mixkern.estimators.classifier import TOO_MANY_CLASSES
from mixkern.estimators.kernel_factory import Scale, evidence_kernel, replaced
from mixkern.estimators.many_classes import COSTS, FACTORS, check_many, chosen_cost, chosen_settings
from mixkern.estimators.many_labels import (
    MAX_LABELS,
    N_LANDMARKS,
    LandmarkMixin,
    landmark_problem,
    most_labels,
    needs_landmarks,
)
from mixkern.explain.table import explanation_table
from mixkern.fitting import NotConvergedWarning, all_or_nothing, in_stages
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.kernels import BlendKernel, DistanceKernel
from mixkern.partitions import learns_partitions
from mixkern.parts import COUNTS, NUMBER, model_part
from mixkern.sampling import check_random_state, class_subsample
from mixkern.svm import Dual, classifier, evidence_C, least_squares, one_vs_one
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.folds import repeated_left_out_values
from mixkern.svm.gaussian_process import evidence_rows
from mixkern.svm.landmarks import class_functions, pair_functions
from mixkern.svm.scheme import LearnedScheme, SchemeName, scheme_for, scheme_of
from mixkern.threads import single_threaded_algebra
from mixkern.typing import Floats, Ints, Positions, RandomState
from mixkern.validation import AUTO, COUNT, POSITIVE, Rule
from mixkern.wording import counted

MAX_COEFFICIENTS = 2**26  # of all pairs of classes: these take half a GB, and the training about 2 GB


@dataclass(frozen=True, eq=False)
class _LabelledRows:
    """Rows that have a label."""

    positions: Positions  # (l,), among all rows
    rows: Rows
    codes: Ints  # (l,)
    weights: Floats | None  # (l,)

    @classmethod
    def of(cls, rows: Rows, codes: Ints, weights: Floats | None) -> Self:
        """Select them among all rows; codes are -1 where unlabelled."""
        at = np.flatnonzero(codes >= 0)
        return cls(at, rows[at], codes[at], None if weights is None else weights[at])

    def by_class(self, limit: int) -> Self:
        """Return the rows sorted by class; of more than ``limit``, as many drawn from all classes."""
        some = np.arange(len(self.codes))
        if len(some) > limit:
            some = class_subsample(self.codes, limit, RandomState(0), least=1)
        at = some[np.argsort(self.codes[some], kind="stable")]
        weights = None if self.weights is None else self.weights[at]
        return replace(self, positions=self.positions[at], rows=self.rows[at], codes=self.codes[at], weights=weights)


@model_part("MixtureSVC")
class MixtureSVC(LandmarkMixin, AvoidingClassifier):
    """C-SVM classifier for tables with few labels, with a kernel from the density of all rows.

    The table is encoded, a mixture density is fitted to every row, labelled or not, and a support vector machine is
    trained on the labelled rows, with a kernel that uses the Mahalanobis distances of the components. By default its
    decisions are averaged with those of a semi-supervised SVM, which avoids regions with many unlabelled rows. The
    defaults are the most accurate of those that docs/accuracy.md compares.

    There is a decision function for each pair of classes. With more than 100 classes there is one for each class
    against the others, a least-squares SVM instead of libsvm's: pairs take time and memory that grow with the square of
    the number of classes (docs/estimators.md has the figures).

    The time and memory of the training grow with the square of the number of labels. With more than ``max_labels`` of
    them, decision functions are sums over ``n_landmarks`` labelled rows, the landmarks, and are trained on all labels.

    Parameters
    ----------
    kernel : {"blend", "rwm", "gmm", "rbf", "lap"} or Kernel, default="blend"
        Similarity of two rows: by the components that are responsible for them (``"rwm"``, the kernel of the paper),
        by all components (``"gmm"``), by Euclidean distance (``"rbf"``), by that distance deformed along the graph of
        all rows (``"lap"``), or by a blend of RWM, common components and Euclidean distance, with the mixture's share
        set by the evidence of the labels (``"blend"``; :class:`~mixkern.kernels.BlendKernel`).
        Or any kernel of mixkern or scikit-learn, sums and products included, on rows as ``encoder_`` encodes them; a
        kernel without a mixture is bound to ``mixture_``.
    density : VBMixture, DensitySearch or Mixture, default=None
        Estimator of the density; ``VBMixture(use_labels=True)`` uses the labels too. A :class:`DensitySearch` finds the
        priors without labels, and its best density is used. A :class:`Mixture` is used as it is: ``X`` must then be
        encoded as the mixture's rows were. ``None`` is a ``VBMixture`` with the prior ``"evidence"`` for the blend and
        ``"typical"`` for other kernels. Its covariances are full, with more than 24 numeric columns ``"common"``, and
        with few rows ``"diag"``.
    C : float or "auto", default="auto"
        Regularization parameter: the penalty of an error on a labelled row. ``"auto"`` sets it by the evidence of the
        labels (:func:`~mixkern.svm.evidence_C`); it is about 10 where they are few. With more than 100 classes C is the
        penalty of squared errors, and ``"auto"`` is 1, 10 or 100, by left-out labels.
    gamma : float, "scale" or "local", default="scale"
        Kernel coefficient: ``"scale"`` is one over the median squared distance between rows, ``"local"`` ten times as
        much. This is not the ``"scale"`` of scikit-learn's ``SVC``, which is one over the number of columns times their
        variance: here it is measured with the kernel's own distance, categories included. With more than 100 classes,
        of which each is small beside the table, ``"scale"`` is 1, 3, 10 or 30 times that, by left-out labels.
    alpha, beta : float, default=1.0
        Weights of the continuous and of the categorical columns, named as in the paper. The kernel of two rows is
        ``exp(-gamma * (alpha * D**2 + beta * m**2))``, where D is their distance over the continuous columns and m the
        number of categorical columns in which they differ; the blend has two such terms, with two distances. Only the
        products with ``gamma`` matter, so for a table without categories leave both at 1.
    unlabelled : {"auto", "avoid", "ignore"}, default="auto"
        Whether decisions use the unlabelled rows beyond their density. With ``"avoid"``, decisions are the weighted
        mean of those of the SVM and of a semi-supervised SVM (:class:`QuasiNewtonS3VC` on at most 1,000 rows), whose
        boundary avoids regions with many unlabelled rows. The weight follows from the number of labels and from how
        well both predict labels that are left out; with more than some 40 labels per class, 500 labels or 20 classes
        it is zero. ``"ignore"`` is the SVM alone. ``"auto"`` is ``"avoid"`` for ``kernel="blend"``, and ``"ignore"``
        for others.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class; ``"balanced"`` is inversely proportional to the number of labels.
    encoder : TableEncoder or "passthrough", default=None
        Encoder of the table; ``None`` is ``TableEncoder()``. With ``"passthrough"`` the rows are not encoded, and the
        last ``density.n_categorical`` columns must hold category codes.
    probability : bool, default=True
        Whether to enable :meth:`predict_proba`, by five to fifteen more trainings; with more than 100 classes, by none.
    repair : {"auto", "none", "clip", "flip", "shift"}, default="auto"
        Treatment of negative eigenvalues of the kernel matrix; ``"auto"`` clips them if libsvm does not converge, and
        with more than 100 classes if the least-squares problem has no minimum.
    tol : float, default=1e-3
        Tolerance of libsvm's stopping criterion; not used with more than 100 classes or ``max_labels`` labels.
    max_iter : int, default=-1
        Limit of libsvm's iterations; -1 is a million, because it may not converge with an indefinite kernel. With more
        than ``max_labels`` labels, limit of the steps of Newton's method; -1 is 100.
    max_labels : int, default=5000
        Labels whose kernel matrix is computed. With more, decision functions are sums over landmarks: they are trained
        on features by the kernel with these, with a hinge loss whose corner is smoothed, and negative eigenvalues of
        the kernel are left out whatever ``repair`` is. Up to 20 classes then have a function for each pair, more one
        for each class. With more than 100 classes it is 16,384 at least.
    n_landmarks : int, default=1000
        Number of landmarks, drawn from the labelled rows of all components of the density. Labels times landmarks are
        at most 2**28, in 2 GB: of more labels, as many are drawn from all classes.
    verbose : int, default=0
        1 prints a line for each stage of :meth:`fit`, 2 also one for each iteration of the density.
    random_state : int, RandomState or None, default=None
        Seed of the density's start, and of the folds for :meth:`predict_proba`.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
        The labels.
    n_labels_ : ndarray of int, shape (c,)
        Number of labelled rows of each class.
    encoder_ : TableEncoder or None
        The fitted encoder.
    mixture_ : Mixture
        The density of all rows.
    density_ : VBMixture or None
        The fitted estimator of the density.
    kernel_ : Kernel
        The kernel, with its mixture and its gamma.
    C_ : float
        The regularization parameter in use.
    scheme_ : {"one-vs-one", "one-vs-rest"}
        Whether a decision function separates two classes, or with more than 100 classes one from all others.
    n_landmarks_ : int
        Number of labelled rows that decision functions are sums over where there are more than ``max_labels`` labels;
        0 otherwise.
    avoiding_share_ : float
        Weight of the semi-supervised SVM in the decisions; 0 for an SVM alone. The following attributes are those of
        the SVM.
    support_ : ndarray of int, shape (s,)
        Positions of the support vectors in ``X``.
    support_vectors_ : ndarray of shape (s, d + e)
        The support vectors as encoded rows; with a kernel that has no mixture, their gaps are filled.
    n_support_ : ndarray of int, shape (c,)
        Number of support vectors of each class.
    dual_coef_, intercept_ : ndarray of shape (q, s) and (q,)
        The decision functions, each a sum of the kernel over all support vectors. For two classes one, positive for
        the second, as in scikit-learn's ``SVC``. For more, one for each pair of classes, (0, 1), (0, 2), ..., (1, 2),
        ..., positive for the first of the pair. ``SVC`` packs these into c - 1 rows, because a support vector has no
        part in pairs without its class; after a repair of the kernel matrix every support vector has a part in every
        pair, so they are not packed here. With more than 100 classes, one for each class, positive for it; every
        labelled row is a support vector.
    slope_ : ndarray of shape (5,) or None
        Slopes of the sigmoid that turns decisions into probabilities, which are averaged; ``None`` with
        ``probability=False``. A float in models of files of earlier versions.
    left_out_accuracy_ : float or None
        Share of the labels that were predicted correctly by a training without them, in the folds that the slopes are
        learned from; ``None`` with ``probability=False``, and in models of files of earlier versions. It is about
        labelled rows and has no interval: :func:`~mixkern.advice.estimated_accuracy` estimates the accuracy on the
        others.
    repair_change_ : float
        Relative change of the kernel matrix by ``repair``; 0 if it was not repaired.

    See Also
    --------
    mixkern.LaplacianSVC : with any kernel deformed along the graph of all rows.
    mixkern.search.SVCSearch : searches C and gamma.

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets
    >>> clouds = datasets.load("clouds")
    >>> y = clouds.few_labels(per_class=4, random_state=0)  # 8 labelled and 4992 unlabelled rows
    >>> model = MixtureSVC(random_state=0).fit(clouds.X, y)
    >>> bool(model.score(clouds.X, clouds.y) > 0.7)
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {"C": POSITIVE | AUTO}
    _fitted_parts: ClassVar[dict[str, Rule]] = {"C_": NUMBER, "n_support_": COUNTS}
    _scale_gamma: float | None = None  # gamma by "scale", of which many classes choose a multiple; None for others

    def __init__(
        self,
        kernel: Any = "blend",
        *,
        density: Any = None,
        C: float | str = "auto",
        gamma: float | str = "scale",
        alpha: float = 1.0,
        beta: float = 1.0,
        unlabelled: str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        encoder: Any = None,
        probability: bool = True,
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
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.unlabelled = unlabelled
        self.class_weight = class_weight
        self.encoder = encoder
        self.probability = probability
        self.repair = repair
        self.tol = tol
        self.max_iter = max_iter
        self.max_labels = max_labels
        self.n_landmarks = n_landmarks
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def from_paper(cls, **settings: Any) -> Self:
        """Return the classifier of the paper: the RWM kernel on the density that the paper's search finds.

        The paper also searches C and gamma on grids: ``SVCSearch.from_paper()`` is its whole procedure. Here they keep
        the defaults of this class, unless they are given.

        Parameters
        ----------
        **settings
            Parameters of the classifier, which replace those of the paper. ``alpha`` and ``beta`` are the paper's
            weights of the continuous columns and of the categories in the kernel.

        Notes
        -----
        The density is found by :meth:`DensitySearch.from_paper`, without labels. The paper does not list the priors
        that it tried; that method documents those that are tried here.

        Examples
        --------
        >>> MixtureSVC.from_paper(C=1.0, beta=0.3).get_params(deep=False)["kernel"]
        'rwm'
        """
        return cls(**{"kernel": KernelName.RWM.value, "density": DensitySearch.from_paper(), **settings})

    @all_or_nothing
    @in_stages(5)
    @learns_partitions
    @on_gpu_of_rows
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:
        """Fit the density of all rows, then the classifier on the labelled ones.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Dask collection
            The table: numbers, categories, gaps.
        y : array-like of shape (n,)
            Labels; ``None``, NaN, ``pandas.NA`` or ``"?"`` where there is none; without such gaps, the number -1. Of a
            Dask DataFrame also the name of their column.
        sample_weight : array-like of shape (n,), default=None
            Weight of each label. A row with weight 0 is an unlabelled row.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows without labels.

        Returns
        -------
        self
        """
        codes, weights = self.read_labels(X, y, sample_weight)
        self._class_weights()  # raises an error before any work is done
        return self.train(self._own_structure(X, X_unlabelled, codes), codes, weights)

    @all_or_nothing
    def learn_structure(self, X: Any, X_unlabelled: Any = None, codes: Any = None) -> Rows:
        """Encode every row, fit the density, make the kernel: the first half of ``fit``.

        Parameters and result are those of other estimators; see :meth:`train` for the second half.
        """
        rows = super().learn_structure(X, X_unlabelled, codes)
        self._scale_gamma = self._gamma_by_scale()
        return rows

    def _gamma_by_scale(self) -> float | None:
        """Return the gamma of a kernel that has it from ``gamma="scale"``; None for others."""
        is_scale = isinstance(self.kernel, str) and self.gamma == Scale.SCALE
        return float(self.kernel_.gamma) if is_scale and isinstance(self.kernel_, DistanceKernel) else None

    def complete_parts(self) -> None:
        """Set what many classes choose gamma from, where none has been chosen; then as in other classifiers."""
        super().complete_parts()
        self._scale_gamma = self._gamma_by_scale() if self._scheme is one_vs_one else None

    @all_or_nothing
    def train(
        self,
        rows: Rows | Floats,
        codes: Ints,
        weights: Floats | None = None,
        *,
        avoiding_share: float | None = None,
    ) -> Self:
        """Train on the labelled rows, after :meth:`learn_structure`: the second half of :meth:`fit`.

        Parameters
        ----------
        rows : Rows or ndarray of shape (n, d + e)
            Encoded rows, as :meth:`learn_structure` returns them.
        codes, weights : ndarray of shape (n,)
            As :meth:`read_labels` returns them; rows beyond their length are unlabelled.
        avoiding_share : float, default=None
            Weight of the semi-supervised SVM, where it avoids unlabelled rows; by default it is found by labels that
            are left out, which takes most of the time.

        Returns
        -------
        self
        """
        check_is_fitted(self, ["classes_", "kernel_"])  # by read_labels and learn_structure
        all_rows = rows if isinstance(rows, Rows) else Rows(np.asarray(rows, dtype=float), self.mixture_)
        labels = _LabelledRows.of(all_rows, codes, weights)
        self._avoiding, self.slope_, self.left_out_accuracy_, self._landmarks = None, None, None, 0
        if needs_landmarks(len(labels.codes), len(self.classes_), self.max_labels):
            self._train_landmarks(labels.by_class(most_labels(self.n_landmarks)))
        elif self._scheme is least_squares:
            self._train_classes(labels)
        else:
            self._train_pairs(labels, all_rows, codes, avoiding_share)
        return self

    def _train_pairs(self, labels: _LabelledRows, all_rows: Rows, all_codes: Ints, share: float | None) -> None:
        """Train a function for each pair of classes, and where unlabelled rows are avoided an S3VM."""
        codes, weights = labels.codes, labels.weights

        def solved(K: Floats, codes: Ints, kept: Ints) -> Dual:
            return self._solved(K, codes, None if weights is None else weights[kept], self.C_)

        with self._stage("training"):
            self.kernel_ = self._evidence_kernel(labels)
            K = kernel_matrix(self.kernel_, labels.rows)
            self.C_ = self._resolved_c(K, codes, weights)
            self._set_solution(solved(K, codes, np.arange(len(codes))), labels)
        problem = self.avoiding_problem(all_rows, all_codes, K, weights)
        with self._stage("calibration"):
            if problem is not None:
                self._avoid(problem, K, codes, solved, weights, share)
            elif self.probability:
                with ignored_warnings(NotConvergedWarning):  # the training on all labels issues the same
                    left_out = repeated_left_out_values(K, codes, solved, self.random_state)
                self._calibrate(left_out, codes, weights)

    def _train_classes(self, labels: _LabelledRows) -> None:
        """Train a function for each class against the others, with gamma and C by left-out labels."""
        codes, weights = labels.codes, self._label_weights(labels.codes, labels.weights)
        with self._stage("training"):
            self._choose_settings(labels, weights)
            K = kernel_matrix(self.kernel_, labels.rows)
            found = least_squares.trained(K, codes, C=self.C_, sample_weight=weights, repair=self.repair)
            self._set_solution(found.dual, labels)
            self._note(f"training: each of {len(self.classes_):,} classes against the others")
        with self._stage("calibration"):
            if self.probability:
                self._calibrate(found.left_out[None], codes, labels.weights)

    def _choose_settings(self, labels: _LabelledRows, weights: Floats | None) -> None:
        """Set the kernel and C of functions of single classes, by left-out labels."""
        costs = COSTS if isinstance(self.C, str) else (float(self.C),)
        if self._scale_gamma is not None:  # an earlier training may have chosen another
            self.kernel_ = replaced(self.kernel_, gamma=self._scale_gamma)
        factors = (1.0,) if self._scale_gamma is None else FACTORS
        with single_threaded_algebra():  # a dozen matrices of up to 2,000 rows: threads would wait for each other
            kernel, codes = self._evidence_kernel(labels), labels.codes
            self.kernel_, self.C_ = chosen_settings(kernel, labels.rows, codes, weights, factors=factors, costs=costs)

    def _train_landmarks(self, labels: _LabelledRows) -> None:
        """Train functions over landmarks, for labels whose kernel matrix would be too large; they are sorted."""
        codes, weights = labels.codes, self._label_weights(labels.codes, labels.weights)
        has_pairs = scheme_for(len(self.classes_), has_landmarks=True) is one_vs_one
        with self._stage("training"):
            if has_pairs:
                with single_threaded_algebra():  # the same result for any number of threads
                    self.kernel_ = self._evidence_kernel(labels)
                    self.C_ = self._evidence_c(
                        lambda some: kernel_matrix(self.kernel_, labels.rows[some]), codes, labels.weights
                    )
            else:
                self._choose_settings(labels, weights)
            costs, random = np.full(len(codes), self.C_), check_random_state(self.random_state)
            costs = costs if weights is None else costs * weights
            problem = landmark_problem(self.kernel_, labels.rows, costs, self.n_landmarks, random)
            if has_pairs:
                found = pair_functions(problem, codes, max_iter=self.max_iter, needs_left_out=self.probability)
            else:
                found = class_functions(problem, codes)
            self._landmarks = len(problem.landmarks)
            self._set_solution(found.dual, labels)
            self._note(f"training: {len(codes):,} labels, functions over {counted(self._landmarks, 'landmark')}")
        with self._stage("calibration"):
            if self.probability and found.left_out is not None:
                self._calibrate(found.left_out[None], codes, labels.weights)

    def _set_solution(self, dual: Dual, labels: _LabelledRows) -> None:
        """Store the solution of the SVM."""
        self._set_decision(dual, labels.rows)
        self.support_ = labels.positions[dual.support]
        self.n_support_ = np.bincount(labels.codes[dual.support], minlength=len(self.classes_))

    def _evidence_kernel(self, labels: _LabelledRows) -> Any:
        """Return the kernel, with the mixture's share set by the evidence of the labels."""
        kernel = self.kernel_
        if self.kernel != KernelName.BLEND or not isinstance(kernel, BlendKernel):  # has its own share, or is deformed
            return kernel
        return evidence_kernel(kernel, labels.rows, labels.codes, labels.weights)

    def _resolved_c(self, K: Floats, codes: Ints, weights: Floats | None) -> float:
        """Return C as a number; "auto" is resolved by the evidence of the labels, or by left-out ones."""
        if not isinstance(self.C, str):
            return float(self.C)
        if self._scheme_of(codes) is least_squares:
            return chosen_cost(K, codes, self._label_weights(codes, weights))
        return self._evidence_c(lambda some: K[np.ix_(some, some)], codes, weights)

    def _evidence_c(self, matrix: Callable[[Positions], Floats], codes: Ints, weights: Floats | None) -> float:
        """Return C as a number; "auto" is resolved by the evidence of some labels and their kernel matrix."""
        if not isinstance(self.C, str):
            return float(self.C)
        some = evidence_rows(codes)
        return evidence_C(matrix(some), codes[some], None if weights is None else weights[some])

    def solve(self, K: Floats, codes: Ints, weights: Floats | None = None, *, C: float | None = None) -> Dual:
        """Train on a kernel matrix among labelled rows, with another C if one is given; nothing is changed."""
        return self._solved(K, codes, weights, self._resolved_c(K, codes, weights) if C is None else float(C))

    def _solved(self, K: Floats, codes: Ints, weights: Floats | None, C: float) -> Dual:
        if self._scheme_of(codes) is least_squares:
            weights = self._label_weights(codes, weights)
            return least_squares.trained(K, codes, C=C, sample_weight=weights, repair=self.repair).dual
        return classifier(
            K,
            codes,
            C=C,
            sample_weight=weights,
            class_weight=self._class_weights(),
            tol=self.tol,
            max_iter=self.max_iter,
            repair=self.repair,
        )

    def _check_size(self, n_classes: int, n_labels: int) -> None:
        for name in ("max_labels", "n_landmarks"):  # all parameters are checked after the labels
            COUNT.check(getattr(self, name), name)
        has_landmarks = needs_landmarks(n_labels, n_classes, self.max_labels)
        scheme = scheme_for(n_classes, has_landmarks=has_landmarks)
        if scheme is least_squares:
            check_many(n_classes, min(n_labels, most_labels(self.n_landmarks)), has_landmarks=has_landmarks)
        elif not has_landmarks and one_vs_one.n_functions(n_classes) * n_labels > MAX_COEFFICIENTS:
            raise LabelError(
                f"There are {n_labels:,} labels of {n_classes:,} classes. A decision function is trained for each pair "
                f"of classes, and pairs times labels may be at most {MAX_COEFFICIENTS:,}.",
                hint=TOO_MANY_CLASSES,
            )

    @property
    def _scheme(self) -> LearnedScheme:
        """Pairs of classes, or single ones where they are many; a trained model keeps what it has."""
        decision = self.__dict__.get("_decision")
        n_classes = len(self.classes_)
        if decision is not None:
            return scheme_of(len(decision.intercepts), n_classes)
        n_labels = int(self.n_labels_.sum())
        return scheme_for(n_classes, has_landmarks=needs_landmarks(n_labels, n_classes, self.max_labels))

    def _scheme_of(self, codes: Ints) -> LearnedScheme:
        """Return the scheme, before any fit that for the classes of labels."""
        return self._scheme if hasattr(self, "classes_") else scheme_for(int(codes.max()) + 1)

    @property
    def scheme_(self) -> str:
        """Which classes a decision function separates: ``"one-vs-one"`` or ``"one-vs-rest"``."""
        check_is_fitted(self)
        return str(SchemeName.ONE_VS_ONE if self._scheme is one_vs_one else SchemeName.ONE_VS_REST)

    def _learned_facts(self) -> dict[str, str]:
        facts = super()._learned_facts()
        return facts if self._scheme is one_vs_one else {**facts, "Decision functions": "each class against the others"}

    def _dual_sign(self) -> float:
        return one_vs_one.sklearn_sign(len(self.classes_))

    @named_arguments
    @on_gpu_of_rows
    def explain(self, X: Any, by: str = "label", n: int | None = 5, *, details: bool = False) -> Any:
        """Explain labels by labelled rows, components or columns.

        The explanation is exact: a score is a sum over support vectors and the part of the semi-supervised SVM, a
        distance is a sum over components or columns, and the lines of a row add up to it.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        by : {"label", "component", "column"}, default="label"
            Basis of the explanation.
        n : int or None, default=5
            Number of labelled rows, components or columns with a line each; ``None`` is all. The others share one line.
        details : bool, default=False
            Whether to add the columns that are marked with [d] below.

        Returns
        -------
        frame
            Of the library of ``X``: pandas, polars or pyarrow; pandas for an array. Several lines for each row, in the
            order of ``X``. In all of them, ``row`` is its index in a pandas frame, else its position; ``label`` (with
            details by ``"column"``) is the predicted one, and ``against`` [d] the one with the next highest score.

            By ``"label"``, the strongest pull first:

            - ``source``: whether the line is about a labelled ``"neighbour"``, all ``"others"`` together, what the
              semi-supervised SVM ``"avoided"``, which are unlabelled rows, or the ``"intercept"``,
            - ``neighbour``, ``its_label``: position of the labelled row in the ``X`` of :meth:`fit`, and its label,
            - ``similarity``: the kernel between the two rows; if it is a blend, ``euclidean`` [d], ``mixture`` [d] and
              ``membership`` [d] are its parts,
            - ``pull``: the part of the score, positive for the label and negative for the next one,
            - ``score`` [d]: the sum of the pulls, which is the decision between these two classes; with more than 100
              classes, half the difference of their decisions against the others. It is positive, but with three
              classes or more negative in the rare case that other pairs outvoted this one.

            By ``"component"``, the most responsible one first:

            - ``source``: ``"component"``, ``"others"``, ``"avoided"`` or ``"intercept"``,
            - ``component``: its number in ``mixture_``,
            - ``responsibility``: the probability that the row comes from it,
            - ``weight``: its share of all rows,
            - ``pull``: the part of the labelled rows in it, each weighted by the component's responsibility for it,
            - ``score`` [d]: the sum of the pulls,
            - ``support`` [d]: number of support vectors of each label in it, a dict in pandas and otherwise a text,
            - ``distinct_1`` [d], ...: what distinguishes it, as by :func:`~mixkern.density.component_table`.

            By ``"column"``, the largest part first:

            - ``beside``: whether the row is compared with the labelled row with the largest pull ``"for"`` its label,
              with the one with the largest pull ``"against"`` it, or with the mean and the most frequent categories of
              its most likely ``"component"``,
            - ``number``: position of that labelled row, or number of that component,
            - ``column``: its name; ``"(others)"`` for all without a line of their own,
            - ``value``, ``other_value``: the cells of the two, None for a gap; in polars and pyarrow they are texts
              where columns of different types are listed,
            - ``part``: the column's part of the squared distance between the two. It is negative where the columns'
              correlation makes a difference likely,
            - ``total`` [d]: the squared distance. If the kernel is a blend, it is the mean of the squares of two
              distances, whose parts are ``mixture`` [d] and ``euclidean`` [d]. From a component, it is the squared
              Mahalanobis distance plus twice the log ratio of the most frequent category's probability to that of the
              row's,
            - ``filled`` [d]: whether one of the two cells is a gap whose expectation was compared.

        Notes
        -----
        A deformed kernel (``"lap"``, :class:`~mixkern.LaplacianSVC`) is factorised again in the first call, in as much
        time as the training took, and keeps its matrices; its columns are those of the distance of its base kernel.
        For the kernel ``"rbf"`` the gaps of labelled rows are shown as their expectations.

        Examples
        --------
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> y = iris.few_labels(per_class=4, random_state=0)
        >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
        >>> lines = model.explain(iris.X[:1], n=2, details=True)
        >>> lines["source"].tolist()
        ['neighbour', 'neighbour', 'others', 'avoided', 'intercept']
        >>> bool(abs(lines["pull"].sum() - lines["score"][0]) < 1e-12)
        True
        """
        return explanation_table(self, X, by, n, details=details)
