"""Base class of the estimators: encoder, density, kernel, and the evaluation of decision functions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils.validation import check_is_fitted

from mixkern.defaults import KernelName
from mixkern.density import CovarianceType, DensitySearch, Mixture, Rows, VBMixture
from mixkern.density.preprocessing import jitter, varying_columns
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import TableEncoder, stacked
from mixkern.encoding.encoder import TableInput
from mixkern.encoding.frame import check_in_memory
from mixkern.encoding.matching import keep_columns
from mixkern.encoding.numeric import numeric_rows
from mixkern.errors import (
    DensityChoiceWarning,
    DrawnRowsWarning,
    LabelTypeError,
    MixtureError,
    OptionError,
    hint,
    warn,
)
from mixkern.estimators.exporting import ExportMixin
from mixkern.estimators.kernel_factory import KernelFactory, replaced, warn_of_preset_gamma, with_graph
from mixkern.estimators.novelty import Novelty
from mixkern.estimators.restore import check_parts, set_dual
from mixkern.fitting import VERBOSE, ProgressMixin, TargetDataConversionWarning, all_or_nothing
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.kernels import BlendKernel, LaplacianKernel, Repair
from mixkern.notebook import NotebookMixin, column_counts
from mixkern.partitions import Partitioned, PartitionedTable, maps_partitions
from mixkern.parts import COUNTS, NAMES, NUMBER, WHOLE, EstimatorParts, Parts, instance
from mixkern.sampling import check_random_state, class_subsample, subsample
from mixkern.svm import DecisionFunction, Dual
from mixkern.svm.decision import values_for
from mixkern.typing import Floats, Ints, Positions, RandomState
from mixkern.validation import (
    COUNT,
    FLAG,
    FRACTION,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    UNLIMITED,
    Rule,
    check_parameters,
    one_of,
)
from mixkern.wording import counted, percent, shown

MAX_GRAPH_ROWS = 5_000  # matrices of that size take 200 MB each
MAX_FULL_COLUMNS = 24  # columns with full covariances; with more, common factors were better (docs/accuracy.md)

RULES: dict[str, Rule] = {
    "C": POSITIVE,
    "alpha": NOT_NEGATIVE,
    "beta": NOT_NEGATIVE,
    "unlabelled_C": NOT_NEGATIVE,
    "unlabelled_weight": NOT_NEGATIVE,
    "epsilon": NOT_NEGATIVE,
    "probability": FLAG,
    "nu": SHARE,
    "tol": POSITIVE,
    "max_iter": COUNT | UNLIMITED,
    "ratio": NOT_NEGATIVE,
    "n_neighbors": COUNT,
    "degree": COUNT,
    "max_rows": COUNT,
    "max_labels": COUNT,
    "n_landmarks": COUNT,
    "safe_margin": NONE | FRACTION,
    "verbose": VERBOSE,
}


class MixtureEstimator(ExportMixin, EstimatorParts, ProgressMixin, NotebookMixin, TableInput, BaseEstimator):
    """Encode a table, fit a density to all rows, and make a kernel from the density.

    Attributes
    ----------
    encoder_ : TableEncoder or None
        The fitted encoder; ``None`` for a table that is already encoded.
    density_ : VBMixture or None
        The fitted estimator of the density; ``None`` where a mixture was given.
    mixture_ : Mixture
        The density of all rows.
    kernel_ : Kernel
        The kernel with its mixture, gamma and graph.
    """

    kernel: Any
    density: Any
    gamma: Any
    alpha: Any
    beta: Any
    encoder: Any
    random_state: Any
    _rules: ClassVar[Mapping[str, Rule]] = {}  # override RULES
    _fitted_parts: ClassVar[Mapping[str, Rule]] = {
        "encoder_": NONE | instance(TableEncoder),
        "density_": NONE | instance(VBMixture),
        "mixture_": instance(Mixture),
        "kernel_": instance(Kernel),
        "_decision": instance(DecisionFunction),
        "_novelty": instance(Novelty),
        "support_": COUNTS,
        "n_iter_": WHOLE,
        "repair_change_": NUMBER,
        "n_features_in_": WHOLE,
        "feature_names_in_": NAMES,
    }

    # ---------------------------------------------------------------- density and kernel

    @all_or_nothing
    @on_gpu_of_rows
    def learn_structure(self, X: Any, X_unlabelled: Any = None, codes: Any = None) -> Rows:
        """Encode every row, fit the density, make the kernel: the first half of ``fit``.

        The estimator can predict again after the second half.

        Parameters
        ----------
        X, X_unlabelled : frame or array-like
            The table, and further rows.
        codes : ndarray of int, shape (n,), default=None
            Class codes of the rows of ``X``, -1 where unlabelled, for a density with ``use_labels``.

        Returns
        -------
        Rows
            All rows, those of ``X`` first.
        """
        self.check_parameters()
        self._drop_decision()
        with self._stage("encoding"):
            values = self._fit_encoder(X if X_unlabelled is None else stacked(X, X_unlabelled))
        self._fit_density(values, codes)
        with self._stage("kernel"):
            rows = Rows(values, self.mixture_)
            random = check_random_state(self.random_state)
            self._novelty = Novelty.of(rows, random)
            kernel = self._kernel_factory().bound(rows, random)
            self.kernel_ = self._with_graph(kernel, rows, codes, random)
        return rows

    def _own_structure(self, X: Any, X_unlabelled: Any = None, codes: Any = None) -> Rows:
        """Learn the structure for a fit with the given kernel; a search sets gamma itself."""
        rows = self.learn_structure(X, X_unlabelled, codes)
        if not isinstance(self.kernel, str):
            warn_of_preset_gamma(self.kernel_, rows)
        return rows

    def check_parameters(self) -> None:
        """Raise an error for a parameter that has a wrong value."""
        check_parameters(self, {**RULES, **self._rules})
        self._kernel_factory().check()
        if hasattr(self, "repair"):
            one_of(Repair, self.repair, "repair")

    def _kernel_factory(self) -> KernelFactory:
        return KernelFactory(self.kernel, self.gamma, self.alpha, self.beta)

    def _fit_encoder(self, table: Any) -> Floats:
        """Set ``encoder_``, and return the encoded table."""
        if isinstance(self.density, Mixture) or (isinstance(self.encoder, str) and self.encoder == "passthrough"):
            if isinstance(self.encoder, TableEncoder):
                raise MixtureError(
                    "A Mixture is a density of encoded rows, so X must be encoded and encoder must be None. To encode "
                    "X, learn the density from it: density=VBMixture(...)."
                )
            self.encoder_ = None
            return self._validated(table, reset=True)
        if self.encoder is not None and not isinstance(self.encoder, TableEncoder):
            raise OptionError(
                f"encoder must be None, a TableEncoder or 'passthrough', but it is {shown(self.encoder)}."
            )
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        values: Floats = encoder.fit_transform(table)
        keep_columns(self, table)
        self.encoder_ = encoder
        return values

    def _validated(self, X: Any, *, reset: bool) -> Floats:
        return numeric_rows(self, X, reset=reset)

    def _fit_density(self, values: Floats, codes: Any) -> None:
        if isinstance(self.density, Mixture):
            if values.shape[1] != self.density.n_features:
                raise MixtureError(
                    f"X has {values.shape[1]} columns, but the mixture describes {self.density.n_features}. Encode the "
                    "table as the mixture's rows were: encoder.transform(X)."
                )
            self.density_, self.mixture_ = None, self.density
            return
        density = self._unfitted_density(values)
        if isinstance(values, Partitioned) and isinstance(density, DensitySearch):
            raise MixtureError(
                "A DensitySearch compares densities of rows in memory, but X is a Dask collection.",
                hint=hint(python="Search on a sample, and fit what it finds: density=search.best_estimator_."),
            )
        labels = None
        if codes is not None and density.use_labels:
            known = [*self.classes_.tolist(), None]  # code -1 is the last
            labels = [known[code] for code in codes] + [None] * (len(values) - len(codes))
        n_continuous = values.shape[1] - density.n_categorical
        rows = jitter(values, n_continuous, check_random_state(self.random_state))
        with self._stage("density", runs=density):
            fitted = density.fit(rows, labels)
        self.density_ = fitted.best_estimator_ if isinstance(fitted, DensitySearch) else fitted
        self.mixture_ = self.density_.mixture_
        self._continue_density(rows, labels)

    def _continue_density(self, rows: Floats, labels: Any) -> None:
        """Learn more from the rows of the density, in estimators that do."""

    def _unfitted_density(self, values: Floats) -> VBMixture | DensitySearch:
        """Return a copy of the density to fit, with the seed and the number of categorical columns."""
        if self.density is not None and not isinstance(self.density, (VBMixture, DensitySearch)):
            raise MixtureError(
                f"density must be None, a VBMixture, a DensitySearch or a Mixture, but it is a "
                f"{type(self.density).__name__}. Convert a fitted mixture of scikit-learn: Mixture.from_sklearn(model)."
            )
        density = self._default_density(values) if self.density is None else clone(self.density)
        if density.random_state is None:
            density.set_params(random_state=self.random_state)
        if self.encoder_ is None:
            return density
        n_categorical = len(self.encoder_.categorical_)
        if not isinstance(density, DensitySearch):
            return density.set_params(n_categorical=n_categorical)
        inner = VBMixture() if density.density is None else density.density
        return density.set_params(density=inner.set_params(n_categorical=n_categorical))

    def _default_density(self, values: Floats) -> VBMixture:
        """Return the density for ``density=None``."""
        n_continuous = values.shape[1] - (0 if self.encoder_ is None else len(self.encoder_.categorical_))
        d = len(varying_columns(values, n_continuous))
        return default_density(str(default_prior(self.kernel)), len(values), d, self.random_state)

    def _with_graph(self, kernel: Any, rows: Rows, codes: Any, random: RandomState) -> Any:
        """Deform the kernel named "lap", and bind each Laplacian kernel that has no rows to these."""
        if self.kernel == KernelName.LAP:
            kernel = LaplacianKernel(kernel)
        return with_graph(kernel, lambda: values_for(kernel, rows[limited(len(rows), codes, MAX_GRAPH_ROWS, random)]))

    # ---------------------------------------------------------------- decision functions

    def rows_of(self, X: Any) -> Rows:
        """Encode rows of a table; :class:`~mixkern.density.Rows` are returned as they are."""
        check_is_fitted(self, "mixture_")
        if isinstance(X, Rows):
            return X
        check_in_memory(X)
        if isinstance(X, PartitionedTable) and self.encoder_ is not None:
            encoded: Any = self.encoder_.encoded(X)  # read by positions, as an array is
            return Rows(encoded, self.mixture_)
        values = self._validated(X, reset=False) if self.encoder_ is None else self.encoder_.transform(X)
        return Rows(values, self.mixture_)

    def _drop_decision(self) -> None:
        """Make predictions impossible until the next training: they would mix what was learned from two tables."""
        self.__dict__.pop("_decision", None)

    def _set_decision(self, dual: Dual, rows: Rows) -> None:
        """Store the solution of an SVM solver that was trained on rows."""
        self._decision = DecisionFunction.of(self.kernel_, rows, dual)
        self.support_vectors_ = values_for(self.kernel_, rows[dual.support])
        if isinstance(self.kernel_, LaplacianKernel):
            self.kernel_ = replaced(self.kernel_)  # without its matrices, which predictions do not need
        is_turned = self._dual_sign() < 0  # else without a copy: of many pairs of classes it would be large
        self.dual_coef_ = -dual.coefficients.T if is_turned else dual.coefficients.T
        self.intercept_ = -dual.intercepts if is_turned else dual.intercepts
        self.n_iter_ = dual.n_iter
        self.repair_change_ = dual.change
        self._note(f"kernel: {kernel_text(self.kernel_)}")
        cost = "".join(f"{name} {value}, " for name, value in self._cost_fact().items())
        self._note(f"training: {cost}{counted(len(dual.support), 'support vector')} of {len(rows):,} rows")

    def _cost_fact(self) -> dict[str, str]:
        """Return the name and the value of the regularization parameter in use."""
        names = [name for name in ("C_", "C", "nu") if hasattr(self, name)]
        return {name.rstrip("_"): f"{getattr(self, name):.4g}" for name in names[:1]}

    # ---------------------------------------------------------------- model files

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_decision")

    def to_parts(self) -> Parts:
        """Return parameters and fitted attributes, for a model file; those of the dual follow from ``decision``."""
        parts = super().to_parts()
        return {**parts, "decision": replace(self._decision, kernel=None)}  # its kernel is kernel_

    def complete_parts(self) -> None:
        """Set the attributes of the dual, compare the shapes of all parts, and predict a few rows."""
        kernel = self.kernel_.base if isinstance(self.kernel_, LaplacianKernel) else self.kernel_
        self._decision = replace(self._decision, kernel=kernel)
        set_dual(self, self._decision, self._dual_sign())
        check_parts(self, self._decision, self._novelty, self._n_functions())

    def _n_functions(self) -> int:
        """Return the number of decision functions."""
        return 1

    def _dual_sign(self) -> float:
        """Return the factor of the solver's coefficients in ``dual_coef_`` and ``intercept_``."""
        return 1.0

    @on_gpu_of_rows
    def decide(self, X: Any) -> Floats:  # (n, q)
        """Evaluate the q decision functions: one per pair of classes, one per class, or a single one.

        These are the values that the solvers, searches and probabilities use. Those of pairs are positive for the first
        class, also for two classes, where ``decision_function``, ``dual_coef_`` and ``intercept_`` have the sign of
        scikit-learn.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Rows
            Rows.
        """
        check_is_fitted(self, "_decision")
        return self._decision(self.rows_of(X))

    def _learned_facts(self) -> dict[str, str]:
        return {
            "Columns": self._columns_text(),
            "Density": self._density_text(),
            "Kernel": kernel_text(self.kernel_),
            **self._cost_fact(),
            "Support vectors": f"{len(self.support_):,}",
        }

    def _columns_text(self) -> str:
        d, e = self.mixture_.n_continuous, len(self.mixture_.categories)
        n_gaps = 0 if self.encoder_ is None else sum(column.n_gaps for column in self.encoder_.columns_)
        return column_counts(d, e, n_gaps)

    def _density_text(self) -> str:
        components = f"{counted(self.mixture_.n_components, 'component')}, {self.mixture_.covariance_type} covariances"
        n = getattr(self.density_, "n_samples_seen_", None)
        return components if n is None else f"{components}, from {counted(n, 'row')}"

    # ---------------------------------------------------------------- density of rows

    @maps_partitions
    @on_gpu_of_rows
    def responsibilities(self, X: Any) -> Floats:
        """Probability of each component of the density, given the row.

        Returns
        -------
        ndarray of shape (n, k)
        """
        return self.rows_of(X).responsibilities

    @maps_partitions
    @on_gpu_of_rows
    def novelty(self, X: Any) -> Floats:
        """Share of the training rows that lie in denser regions than a row.

        For rows like the training rows it is spread evenly between 0 and 1, so a threshold of 0.99 rejects about one
        in a hundred of them (some more, if the density was learned from few rows of many columns), and nearly all
        other rows. A row with gaps is compared by its other columns; a row without any value has novelty 0.

        Returns
        -------
        ndarray of shape (n,)
        """
        rows = self.rows_of(X)
        return self._novelty.share_denser(rows)


# ---------------------------------------------------------------- defaults and limits


def default_prior(kernel: Any) -> PrecisionPrior:
    """Return the precision prior with which a kernel is most accurate, as measured in docs/accuracy.md.

    The blend kernel smooths the metrics itself; other kernels need a smoother density.

    >>> default_prior("blend"), default_prior("rwm")
    (<PrecisionPrior.EVIDENCE: 'evidence'>, <PrecisionPrior.TYPICAL: 'typical'>)
    """
    is_blend = kernel == KernelName.BLEND or isinstance(kernel, BlendKernel)
    return PrecisionPrior.EVIDENCE if is_blend else PrecisionPrior.TYPICAL


def default_density(prior: str, n: int, d: int, random_state: Any = None) -> VBMixture:
    """Return a density for n rows of d continuous columns.

    Covariances are full. With many columns, components share factors instead, because full covariances would have too
    many parameters, and most of a distance would be noise. With few columns and too few rows they are diagonal.

    >>> [str(default_density("typical", n=100, d=d).covariance_type) for d in (3, 200)]
    ['full', 'common']
    """
    kind = CovarianceType.FULL if d <= MAX_FULL_COLUMNS else CovarianceType.COMMON
    if 1 < d <= MAX_FULL_COLUMNS and n < 2 * (d + 1):
        kind = CovarianceType.DIAG
        warn(
            f"{n} rows of {d} continuous columns: too few rows for full covariances, so diagonal ones are used.",
            DensityChoiceWarning,
            hint=hint(
                python="Choose them yourself: density=VBMixture(covariance_type='diag').",
                cli="Fewer columns may do better: --drop COLUMNS.",
            ),
        )
    return VBMixture(covariance_type=kind, precision_prior=prior, random_state=random_state)


def limited(n: int, codes: Ints | None, limit: int, random: RandomState) -> Positions:
    """Return positions of at most ``limit`` of n rows: the labelled ones, and others at random.

    Parameters
    ----------
    n : int
        Number of rows.
    codes : ndarray of int or None
        Class codes of the first rows, -1 where unlabelled; further rows are unlabelled.
    limit : int
        Number of rows to keep; all labelled rows are kept even if there are more, up to 5,000 of them. Of more, as many
        are drawn from all classes.
    random : RandomState
        Random number generator.
    """
    if n <= limit:
        return np.arange(n)
    is_labelled = np.zeros(n, dtype=bool)
    if codes is not None:
        is_labelled[: len(codes)] = np.asarray(codes) >= 0
    labelled, others = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    n_others, drawn = max(0, limit - len(labelled)), "drawn at random, are used"
    if codes is None:
        used = f"{n_others} of them, {drawn}"
    elif len(labelled) <= max(limit, MAX_GRAPH_ROWS):
        used = f"all {len(labelled)} labelled rows and {n_others} others, {drawn}"
    else:
        n_labelled, known = len(labelled), np.asarray(codes)[labelled]
        labelled = labelled[class_subsample(known, max(limit, MAX_GRAPH_ROWS), random)]
        used = f"{len(labelled)} of {n_labelled} labelled rows, {drawn}"
    warn(
        f"There are {n} rows, and matrices of that size would be needed: {used}. The density and predictions use all "
        "rows.",
        DrawnRowsWarning,
        hint=hint(
            python="max_rows= sets the limit of LaplacianSVC, TransductiveSVC, QuasiNewtonS3VC and MixtureOneClassSVM."
        ),
    )
    return np.sort(np.concatenate([labelled, subsample(others, n_others, random)]))


def kernel_text(kernel: Any) -> str:
    """Describe a fitted kernel in a line.

    >>> kernel_text(BlendKernel(gamma=0.25, share=0.6))
    'BlendKernel(gamma=0.25), shares: Euclidean 40 %, mixture 40 %, membership 20 %'
    """
    base = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    if not isinstance(base, BlendKernel):
        return f"{kernel!r}"
    shares = 1 - base.share, base.share * (1 - base.membership), base.share * base.membership
    named = zip(("Euclidean", "mixture", "membership"), shares, strict=True)
    return f"{kernel!r}, shares: {', '.join(f'{name} {percent(share)}' for name, share in named)}"


# ---------------------------------------------------------------- arguments of fit


def checked_target(y: Any, estimator: object) -> Any:
    """Return ``y``; as in scikit-learn, raise an error if it is None, and warn if it is a column vector."""
    if y is None:
        raise LabelTypeError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. Give one label per row, "
            "None where there is none."
        )
    shape = getattr(y, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 2 and shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected. Pass y.ravel().", TargetDataConversionWarning)
    return y
