"""VBMixture, the estimator of a mixture density."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from mixkern.density.block import Coordinates, Moments
from mixkern.density.common_factor import CommonFactors
from mixkern.density.covariance import CovarianceType
from mixkern.density.inference import Ascent, learn, staying
from mixkern.density.mixture import Mixture
from mixkern.density.priors import PrecisionPrior
from mixkern.density.progressive import SETTLING, fit_progressively, n_ascents
from mixkern.density.reading import RowReader
from mixkern.density.settings import CovarianceChoice, families_of, policy_of, prior_of
from mixkern.density.start import Start, ascend_rows, restart
from mixkern.encoding.lengths import checked_weights
from mixkern.errors import InterruptedWarning, MixtureError, hint, warn
from mixkern.fitting import VERBOSE, NotConvergedWarning, ProgressMixin, Task, all_or_nothing
from mixkern.gpu_array import like, stream_of, to_host
from mixkern.notebook import NotebookMixin, column_counts
from mixkern.partitions import learns_partitions, maps_partitions
from mixkern.parts import (
    CLASSES,
    NAMES,
    NUMBER,
    WHOLE,
    EstimatorParts,
    agree,
    array,
    check_width,
    instance,
    model_part,
)
from mixkern.sampling import check_random_state
from mixkern.threads import thread_pool
from mixkern.typing import Floats
from mixkern.validation import AUTO, COUNT, FLAG, NONE, NOT_NEGATIVE, POSITIVE, Rule, at_least, check_parameters, one_of
from mixkern.wording import counted

LARGEST_WEIGHT = 1e9  # of a row: with larger ones, priors are lost in rounding errors
WARM_UP = 4_000  # rows of a stream that are kept, and fitted again with each block
N_COMPARED = 3  # ascents at most by which families of covariances are compared
FORGETTING = 0.8  # of partial_fit: a block that is a share s of all rows counts s^0.8, so that old rows fade
RULES = {
    "n_components": COUNT,
    "n_factors": at_least(0) | NONE,
    "weight_concentration_prior": POSITIVE | NONE,
    "mean_precision_prior": POSITIVE | AUTO,
    "category_prior": POSITIVE,
    "n_categorical": at_least(0),
    "n_init": COUNT,
    **dict.fromkeys(("use_labels", "prune", "merge", "progressive", "warm_start"), FLAG),
    "tol": NOT_NEGATIVE,
    "max_iter": COUNT,
    "verbose": VERBOSE,
}
SLOW = hint(
    python="Allow more of them, VBMixture(max_iter=2000), or a larger change, VBMixture(tol=1e-4). A classifier takes "
    "the density as density=VBMixture(...).",
    cli="The model can be used, but more iterations could still change its components and predictions a little.",
)


@model_part("VBMixture")
class VBMixture(RowReader, EstimatorParts, ProgressMixin, NotebookMixin, DensityMixin, BaseEstimator):
    r"""A Gaussian mixture with an automatic number of components, by variational Bayesian inference.

    It starts with many components and removes those that explain less than about one row, so iterations become
    cheaper. Priors keep components from collapsing, and can be learned. Rows may have gaps and categorical columns, and
    need no labels.

    Parameters
    ----------
    n_components : int, default=20
        Number of components to start with; fewer remain.
    covariance_type : {"full", "tied", "diag", "spherical", "factor", "common", "auto"}, default="full"
        Kind of the components' covariances, as in scikit-learn's GaussianMixture. ``"factor"`` is between ``"diag"``
        and ``"full"``: a few factors, on which all columns depend, and independent noise; the number of factors of each
        component maximises the bound. Its cost is linear in the number of columns. ``"common"`` has factors and noise
        that all components share: the best for kernels of wide tables. First the factors are learned, then a mixture
        with full covariances of the rows' expected factors, of which ``lower_bound_`` is the bound. ``"auto"`` is the
        one of full, tied, factor and diagonal covariances with the highest evidence.
    n_factors : int, default=None
        Largest number of factors of a component, for ``covariance_type="factor"``, or of all together, for
        ``"common"``. ``None`` is 20, or one less than there are columns.
    weight_concentration_prior : float, default=None
        alpha0. The smaller, the fewer components; ``None`` is one over ``n_components``.
    mean_prior : array-like of shape (d,), default=None
        m0; ``None`` is the mean of the rows.
    mean_precision_prior : float or "auto", default=1.0
        beta0: the weight of the prior mean, in rows. ``"auto"`` maximises the bound, up to 1. With factors a number is
        the largest weight, and the bound is maximised below it.
    degrees_of_freedom_prior : float or "auto", default=None
        nu0: the weight of the prior precision, in rows. ``None`` is d, or 1 where columns are independent ("diag",
        "spherical"); ``"auto"`` maximises the bound.
    precision_prior : float, array-like or str, default="typical"
        W0: a number w0 for w0 times the identity, a vector for a diagonal, a matrix; larger means smaller components
        and more of them. ``"typical"`` follows the mean covariance of the components, isotropically: the best for
        kernels. ``"evidence"``, ``"evidence_diag"`` and ``"evidence_isotropic"`` maximise the bound: the best
        likelihood. Of common factors it is a number or a word, because their number is learned.
    category_prior : float, default=1.0
        Dirichlet concentration of every category: its weight in rows.
    n_categorical : int, default=0
        Number of categorical columns: the last ones, with codes 0, 1, ...; see :attr:`TableEncoder.n_continuous_`.
    use_labels : bool, default=False
        Whether the labels given to :meth:`fit` are one more categorical column, missing where a row is unlabelled.
    init : {"k-means++", "random"}, default="k-means++"
        How the first centres are chosen among the rows.
    n_init : int, default=1
        Number of starts; the one with the highest bound is continued.
    prune : bool, default=True
        Whether components that explain less than about one row are removed.
    merge : bool, default=True
        Whether, at convergence, two components are merged where that raises the bound.
    progressive : bool, default=True
        Whether large tables are fitted to growing samples first.
    tol : float, default=1e-5
        Relative change of the bound below which the inference has converged.
    max_iter : int, default=500
        Largest number of iterations, on each sample.
    warm_start : bool, default=False
        Whether :meth:`fit` continues from the components of the last fit, with the present priors; with
        ``covariance_type="common"`` the factors stay as they are. It starts again where ``covariance_type``,
        ``n_factors``, ``n_categorical`` or ``use_labels`` have changed, and where a column had one value and now has
        others.
    verbose : int, default=0
        1 prints a line at the end, 2 also one for every iteration.
    random_state : int, RandomState or None, default=None
        Determines starts and samples.

    Attributes
    ----------
    mixture_ : Mixture
        The fitted density, a value that kernels and plots share.
    covariance_type_ : str
        Kind of the covariances; with ``covariance_type="auto"`` the one that was chosen. With ``"spherical"`` it is
        ``"diag"`` where a column has one value, because its variance is another one.
    n_components_ : int
        Number of components that remain.
    bound_trace_ : ndarray
        The evidence bound after each iteration on all rows, in nats.
    lower_bound_ : float
        The last value of ``bound_trace_``.
    converged_ : bool
        Whether the inference converged within ``max_iter`` iterations.
    n_iter_ : int
        Number of iterations on all rows; a progressive fit has run others on samples before.
    n_samples_seen_ : int
        Number of rows in :meth:`fit`, or in all calls of :meth:`partial_fit`.
    classes_, class_table_ : ndarray of shape (c,) and (k, c)
        With ``use_labels``: the classes, and their probabilities in each component.

    Warns
    -----
    NotConvergedWarning
        If :meth:`fit` ends at ``max_iter`` iterations.
    InterruptedWarning
        If a callback has requested a stop.

    See Also
    --------
    sklearn.mixture.BayesianGaussianMixture : the same equations, without pruning, gaps and categories.

    Examples
    --------
    >>> from mixkern import VBMixture, datasets
    >>> X, _ = datasets.make_two_rings(random_state=0)
    >>> density = VBMixture(random_state=0).fit(X)
    >>> density.mixture_
    Mixture(2 full components in 2 columns)
    """

    _fitted_parts: ClassVar[dict[str, Rule]] = {
        "mixture_": instance(Mixture),
        "covariance_type_": Rule("a kind of covariance", lambda value: value in list(CovarianceType)),
        "n_components_": WHOLE,
        "bound_trace_": array(1, finite=False),
        "lower_bound_": NUMBER,
        "converged_": FLAG,
        "n_iter_": WHOLE,
        "n_samples_seen_": WHOLE,
        "classes_": CLASSES,
        "class_table_": array(2),
        "n_features_in_": WHOLE,
        "feature_names_in_": NAMES,
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        covariance_type: str = "full",
        n_factors: int | None = None,
        weight_concentration_prior: float | None = None,
        mean_prior: ArrayLike | None = None,
        mean_precision_prior: float | str = 1.0,
        degrees_of_freedom_prior: float | str | None = None,
        precision_prior: float | str | ArrayLike = "typical",
        category_prior: float = 1.0,
        n_categorical: int = 0,
        use_labels: bool = False,
        init: str = "k-means++",
        n_init: int = 1,
        prune: bool = True,
        merge: bool = True,
        progressive: bool = True,
        tol: float = 1e-5,
        max_iter: int = 500,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.n_factors = n_factors
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_prior = mean_prior
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.precision_prior = precision_prior
        self.category_prior = category_prior
        self.n_categorical = n_categorical
        self.use_labels = use_labels
        self.init = init
        self.n_init = n_init
        self.prune = prune
        self.merge = merge
        self.progressive = progressive
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose
        self.random_state = random_state

    # ---------------------------------------------------------------- fitting

    @all_or_nothing
    @with_callbacks
    @learns_partitions
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the density of all rows.

        Parameters
        ----------
        X : array-like of shape (n, d + e)
            Rows: continuous columns, then codes of categorical ones; NaN is a gap. Arrays of CuPy and PyTorch on a GPU
            are fitted there, in their own type.
        y : array-like of shape (n,), default=None
            Labels, most of them missing. Read only with ``use_labels``.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row: 2 is the same as the row twice.

        Returns
        -------
        self
        """
        with stream_of(X):
            return self._fitted(X, y, sample_weight)

    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> Self:
        check_parameters(self, RULES, MixtureError)
        is_continued = self.warm_start and hasattr(self, "_ascent") and self._structure == self._structure_settings()
        values = self._numbers(X, reset=not is_continued)
        if is_continued and not self._keeps_constants(values):
            is_continued = False
        self._early: list[tuple[Floats, Any, Any]] = []
        weights = checked_weights(sample_weight, len(values), MixtureError, LARGEST_WEIGHT)
        labels = self._label_column(values, y)
        n = 1 if is_continued else n_ascents(len(values), self.n_init, is_progressive=self.progressive)
        n += N_COMPARED * (self.covariance_type == CovarianceChoice.AUTO and not is_continued)
        with self._progress("iteration", n * self.max_iter, X, y) as step:
            self._fit(values, labels, weights, partial(self._reported, step), is_continued=is_continued)
            step.note(self._summary(len(values), values.shape[1]))
        if self._ascent.is_stopped:
            warn("The ascent of the bound was stopped early; its last step is used.", InterruptedWarning)
        elif not self.converged_:
            most, changes = counted(self.max_iter, "iteration"), np.diff(self.bound_trace_)
            last = f"; the last one changed the bound by {changes[-1]:.2g}" if len(changes) else ""
            warn(f"The density has not converged within {most}{last}.", NotConvergedWarning, hint=SLOW)
        return self

    def _keeps_constants(self, values: Floats) -> bool:
        """Whether columns that had one value have no other one in further rows."""
        d = values.shape[1] - self.n_categorical
        return self._coordinates.keeps_constants(values[:, :d]) and self._code_columns.keeps_constants(values[:, d:])

    def _summary(self, n: int, d: int) -> str:
        """Describe the fitted density of n rows of d columns in a line."""
        return (
            f"{counted(n, 'row')} of {counted(d, 'column')}: {counted(self.n_components_, 'component')}, bound "
            f"{self.lower_bound_:.8g} after {counted(self.n_iter_, 'iteration')}"
        )

    def _reported(self, step: Task, ascent: Ascent) -> bool:
        """Report an iteration: set the attributes that describe it, and return whether a callback requests a stop."""
        self.n_iter_, self.lower_bound_, self.n_components_ = len(ascent.bounds), ascent.bound, ascent.n_components
        return step(
            lambda: (
                f"iteration {self.n_iter_}: bound {self.lower_bound_:.8g}, {counted(self.n_components_, 'component')}"
            ),
            lambda: self._learned(ascent),
        )

    def _fit(
        self,
        values: Floats,
        y: Any,
        weights: Floats | None,
        report: Callable[[Ascent], bool] | None,
        *,
        is_continued: bool,
        is_stream: bool = False,
    ) -> Self:
        rows = self._read(values, y, weights, reset=not is_continued, is_stream=is_stream)
        random = check_random_state(self.random_state)
        policy = replace(policy_of(self), report=report)
        with thread_pool() as pool:
            if is_continued:
                first = restart(rows, self._ascent.posterior, pool)
                prior = prior_of(self, self._ascent.prior.precision, self._coordinates)
                ascent = ascend_rows(rows, first, prior, replace(policy, settling=SETTLING), pool)
            else:
                ascent = fit_progressively(
                    rows,
                    families_of(self, len(rows), self._coordinates),
                    policy,
                    start=one_of(Start, self.init, "init"),
                    n_init=self.n_init,
                    is_progressive=self.progressive,
                    random=random,
                    pool=pool,
                )
        self._keep(ascent)
        self._n_seen = float(ascent.statistics.counts.sum())
        self.n_samples_seen_ = len(values)
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Update the density by one more block of rows, by stochastic variational inference.

        The first 4,000 rows are kept, and fitted again with each block. They determine the scale of the columns, the
        categories, common factors and the first components, so they should be a representative sample. Each later block
        moves the statistics of all rows so far towards its own, by a little more than its share of the rows, and is not
        kept. The bound that is then added to ``bound_trace_`` is estimated from that block.
        """
        check_parameters(self, RULES, MixtureError)
        is_first = not hasattr(self, "_ascent")
        if is_first and hasattr(self, "mixture_"):
            raise MixtureError(
                "A density from a file cannot be continued.", hint=hint(python="Start again: clone(density).")
            )
        values = self._numbers(X, reset=is_first)
        if is_first or self._early:
            values = to_host(values, float)
        weights = checked_weights(sample_weight, len(values), MixtureError, LARGEST_WEIGHT)
        y = self._label_column(values, y)
        if is_first or self._early:
            return self._begin([*([] if is_first else self._early), (values, y, weights)])
        rows = self._read(values, y, weights, reset=False)
        last, policy = self._ascent, policy_of(self)
        with thread_pool() as pool:
            fresh = restart(rows, last.posterior, pool)
        n_fresh, n_before = float(fresh.counts.sum()), float(last.statistics.counts.sum())
        n = self._n_seen + n_fresh
        rate = (n_fresh / n) ** FORGETTING
        # Both scaled to the number of all rows, and weighted
        blended = last.statistics * ((1 - rate) * n / n_before) + fresh * (rate * n / n_fresh)
        bound = (fresh.log_normaliser - rows.log_volume) * n / n_fresh - last.posterior.divergence(last.prior)
        prior, posterior, blended = learn(last.prior, blended, policy)
        stays = staying(blended, policy)
        self._keep(Ascent(prior, posterior.keep(stays), blended.keep(stays), (*last.bounds, bound), converged=False))
        self._n_seen = n
        self.n_samples_seen_ += len(values)
        return self

    def _begin(self, early: list[tuple[Floats, Any, Any]]) -> Self:
        """Fit the first blocks of a stream together, and keep them while they are few."""
        values, labels, weights = zip(*early, strict=True)
        has_labels = self.use_labels and all(block is not None for block in labels)
        y = [label for block in labels for label in np.asarray(block, dtype=object)] if has_labels else None
        has_weights = any(block is not None for block in weights)
        sizes = zip(values, weights, strict=True)
        share = np.concatenate([np.ones(len(v)) if w is None else w for v, w in sizes]) if has_weights else None
        is_kept = sum(map(len, values)) < WARM_UP
        self._fit(np.vstack(values), y, share, None, is_continued=False, is_stream=not is_kept)
        self._early = early if is_kept else []
        return self

    # ---------------------------------------------------------------- using the fitted density

    @maps_partitions
    def score_samples(self, X: Any) -> Floats:  # (n,)
        """Logarithm of the density at each row."""
        with stream_of(X):
            rows = self._check(X)
            return like(self.mixture_.log_density(rows), X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Mean log density of the rows."""
        return float(self.score_samples(X).mean())

    @maps_partitions
    def predict_proba(self, X: Any) -> Floats:  # (n, k)
        """Responsibilities: the probability that a row comes from a component."""
        with stream_of(X):
            rows = self._check(X)
            return like(self.mixture_.responsibilities(rows), X)

    @maps_partitions
    def predict(self, X: Any) -> NDArray[np.intp]:  # (n,)
        """Give the most responsible component of each row."""
        with stream_of(X):
            rows = self._check(X)
            nearest: NDArray[np.intp] = like(self.mixture_.responsibilities(rows).argmax(axis=1), X)
        return nearest

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.intp]:
        """Fit the density and give the most responsible component of each row."""
        return self.fit(X, y).predict(X)

    def sample(self, n_samples: int = 1) -> tuple[Floats, NDArray[np.intp]]:
        """Draw rows from the density; give them and the component of each."""
        check_is_fitted(self)
        return self.mixture_.sample(n_samples, self.random_state)

    # ---------------------------------------------------------------- settings

    def _structure_settings(self) -> tuple[object, ...]:
        """Give the parameters that must be the same for a fit to be continued."""
        return str(self.covariance_type), self.n_factors, self.n_categorical, self.use_labels

    def _set_up(self, X: Any, weights: Floats | None, *, is_stream: bool) -> None:
        """Set the coordinates; an error where the settings do not fit the columns."""
        choice = one_of(CovarianceChoice, self.covariance_type, "covariance_type")
        if choice is CovarianceChoice.COMMON:
            self._coordinates = self._common_factors(X, weights)
        else:
            kind = CovarianceType.SPHERICAL if choice is CovarianceChoice.SPHERICAL else CovarianceType.FULL
            is_known = isinstance(X, Moments)
            coordinates = Coordinates.of_moments(X, kind) if is_known else Coordinates.of(X, weights, kind)
            self._coordinates = coordinates.with_all_columns() if is_stream else coordinates
        self._structure = self._structure_settings()

    def _common_factors(self, X: Floats, weights: Floats | None) -> CommonFactors:
        """Learn factors that all components share."""
        if not X.shape[1]:
            return CommonFactors.of_no_columns()
        one = VBMixture(
            1,
            covariance_type=CovarianceType.FACTOR,
            n_factors=self.n_factors,
            precision_prior=PrecisionPrior.EVIDENCE,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )
        one.fit(X, sample_weight=weights)
        assert isinstance(one._coordinates, Coordinates), "its factors are not common"
        return CommonFactors.of(one.mixture_, one._coordinates)

    # ---------------------------------------------------------------- results

    def _keep(self, ascent: Ascent) -> None:
        """Set the attributes that describe the end of an ascent."""
        self._ascent = ascent
        self.__dict__.update(self._learned(ascent))

    def _learned(self, ascent: Ascent) -> dict[str, Any]:
        """Give the fitted attributes after some steps of an ascent."""
        learned: dict[str, Any] = {}
        inner = ascent.posterior.mixture()
        tables = list(inner.categories)
        if self.use_labels:
            known = tables.pop()[:, : len(self.classes_)]
            learned["class_table_"] = known / known.sum(axis=1, keepdims=True)
        tables = self._code_columns.outer(tables, ascent.prior.category_concentration, inner.n_components)
        mixture = replace(inner, **self._coordinates.outer(inner), categories=tables)
        return learned | {
            "mixture_": mixture,
            "covariance_type_": str(mixture.covariance_type),
            "n_components_": mixture.n_components,
            "bound_trace_": np.array(ascent.bounds),
            "lower_bound_": float(ascent.bounds[-1]),
            "converged_": ascent.converged,
            "n_iter_": len(ascent.bounds),
        }

    def _learned_facts(self) -> dict[str, str]:
        mixture = self.mixture_
        facts = {
            "Components": f"{mixture.n_components:,} ({self.n_components:,} at the start)",
            "Covariances": str(mixture.covariance_type),
            "Columns": column_counts(mixture.n_continuous, len(mixture.categories)),
            "Rows": f"{self.n_samples_seen_:,}" if hasattr(self, "n_samples_seen_") else "",
            "Evidence bound": f"{self.lower_bound_:,.1f}",
            "Iterations": f"{self.n_iter_:,}, {'converged' if self.converged_ else 'not converged'}",
        }
        return {title: text for title, text in facts.items() if text}

    def complete_parts(self) -> None:
        """Check that the parts of a model file fit together."""
        if hasattr(self, "mixture_"):
            check_width(self, self.mixture_.n_features)
        if hasattr(self, "classes_"):
            self.classes_.flags.writeable = False
            shape = self.mixture_.n_components, len(self.classes_)
            agree(self.class_table_.shape == shape, "classes and components")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
