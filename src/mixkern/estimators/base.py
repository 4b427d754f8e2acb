"""From a table to a kernel: what all machines do before they are trained, and whenever they predict."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mixkern.density import Mixture, VBMixture
from mixkern.density.preprocessing import jitter
from mixkern.encoding import TableEncoder, stacked
from mixkern.errors import KernelError, LabelError, LabelTypeError, MixtureError, OptionError, warn
from mixkern.estimators.default_density import suited_density, suited_prior
from mixkern.estimators.kernel_factory import (
    KernelName,
    Scale,
    bound,
    fills_gaps,
    gamma_of,
    named,
    replaced,
    sums,
    with_graph,
)
from mixkern.estimators.novelty import Novelty
from mixkern.estimators.setting import POSITIVE, Rule, check_settings
from mixkern.estimators.subsample import drawn
from mixkern.kernels import LaplacianKernel
from mixkern.svm import Dual, Remedy
from mixkern.typing import Floats
from mixkern.validation import one_of

MOST_ROWS = 5_000  # of a graph: matrices of that size take 200 MB each


class MixtureMachine(BaseEstimator):
    """What all machines have in common: an encoder, a density of all rows, a kernel, and sums over support vectors.

    Attributes
    ----------
    encoder_ : TableEncoder or None
        How the table was read; ``None`` where it came encoded.
    density_ : VBMixture or None
        The estimator of the density; ``None`` where a mixture was given.
    mixture_ : Mixture
        The density of all rows.
    kernel_ : Kernel
        The kernel with all that it needs.
    """

    kernel: Any
    density: Any
    gamma: Any
    alpha: Any
    beta: Any
    encoder: Any
    random_state: Any
    _own_rules: ClassVar[Mapping[str, Rule]] = {}

    # ---------------------------------------------------------------- learning the structure of a table

    def learn_structure(self, X: Any, X_unlabelled: Any = None, codes: Any = None) -> Floats:
        """Encode every row, fit the density, bind the kernel: the first half of ``fit``.

        Parameters
        ----------
        X, X_unlabelled : frame or array-like
            The table, and further rows.
        codes : ndarray of int, shape (n,), default=None
            Classes of the rows of ``X``, -1 where unlabelled, for a density that uses them.

        Returns
        -------
        ndarray of shape (n, d + e)
            All rows as the kernel reads them, those of ``X`` first.
        """
        self.check_settings()
        table = X if X_unlabelled is None else stacked(X, X_unlabelled)
        values = self._encoded(table)
        self._learn_density(values, codes)
        random = check_random_state(self.random_state)
        self._novelty = Novelty.of(values, self.mixture_, random)
        filled = self._filled(values)
        kernel = self._bound_kernel(values, filled, random)
        rows = values if fills_gaps(kernel) else filled
        self.kernel_ = self._bent(kernel, rows, codes, random)
        return rows

    def check_settings(self) -> None:
        """Refuse settings that cannot be: the first thing that ``fit`` does, before any work."""
        check_settings(self, self._own_rules)
        if isinstance(self.kernel, str):
            one_of(KernelName, self.kernel, "kernel")
        if self.gamma not in tuple(Scale) and not POSITIVE[1](self.gamma):
            words = " or ".join(repr(str(word)) for word in Scale)
            raise OptionError(f"gamma must be {words} or a positive number, but it is {self.gamma!r}.")
        if hasattr(self, "repair"):
            one_of(Remedy, self.repair, "repair")

    def _encoded(self, table: Any) -> Floats:
        """Read a table for the first time."""
        if isinstance(self.density, Mixture) or self.encoder == "passthrough":
            if isinstance(self.encoder, TableEncoder):
                raise MixtureError(
                    "A mixture is a density of encoded rows, so X must be encoded already and encoder be None. Give "
                    "density=VBMixture(...) to learn one from the table."
                )
            self.encoder_ = None
            return self._numbers(table, reset=True)
        if self.encoder is not None and not isinstance(self.encoder, TableEncoder):
            raise OptionError(f"encoder must be None, a TableEncoder or 'passthrough', but it is {self.encoder!r}.")
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        values: Floats = encoder.fit_transform(table)
        validate_data(self, table, skip_check_array=True)
        self.encoder_ = encoder
        return values

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        values: Floats = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        return values

    def _learn_density(self, values: Floats, codes: Any) -> None:
        if isinstance(self.density, Mixture):
            if values.shape[1] != self.density.n_features:
                raise MixtureError(
                    f"X has {values.shape[1]} columns, but the mixture describes {self.density.n_features}. Encode the "
                    "table as the mixture's rows were: encoder.transform(X)."
                )
            self.density_, self.mixture_ = None, self.density
            return
        if self.density is not None and not isinstance(self.density, VBMixture):
            raise MixtureError(
                f"density must be None, a VBMixture or a Mixture, but it is a {type(self.density).__name__}. "
                "A fitted mixture of scikit-learn becomes one so: Mixture.from_sklearn(model)."
            )
        density = self._default_density(values) if self.density is None else clone(self.density)
        if density.random_state is None:
            density.set_params(random_state=self.random_state)
        if self.encoder_ is not None:
            density.set_params(n_categorical=len(self.encoder_.categorical_))
        labels = None
        if codes is not None and density.use_labels:
            known = [*self.classes_.tolist(), None]  # code -1 is the last
            labels = [known[code] for code in codes] + [None] * (len(values) - len(codes))
        n_continuous = values.shape[1] - density.n_categorical
        self.density_ = density.fit(jitter(values, n_continuous, check_random_state(self.random_state)), labels)
        self.mixture_ = self.density_.mixture_

    def _default_density(self, values: Floats) -> VBMixture:
        """Give the density for a table that nobody has said anything about."""
        d = values.shape[1] - (0 if self.encoder_ is None else len(self.encoder_.categorical_))
        return suited_density(str(suited_prior(self.kernel)), len(values), d, self.random_state)

    def _bound_kernel(self, values: Floats, filled: Floats, random: np.random.RandomState) -> Any:
        """Give the kernel, bound to all that it needs."""
        if isinstance(self.kernel, str):
            name = one_of(KernelName, self.kernel, "kernel")
            kernel = named(name, self.mixture_, self.alpha, self.beta)
            kernel = replaced(kernel, gamma=self._gamma(kernel, values if fills_gaps(kernel) else filled, random))
        else:
            self._refuse_settings()
            kernel = bound(self.kernel, self.mixture_)
        return kernel

    def _bent(self, kernel: Any, rows: Floats, codes: Any, random: np.random.RandomState) -> Any:
        """Bind a kernel to the graph of the rows, where it has one."""
        if self.kernel == KernelName.LAP:
            kernel = LaplacianKernel(kernel)
        return with_graph(kernel, lambda: rows[drawn(len(rows), codes, MOST_ROWS, random)])

    def _refuse_settings(self) -> None:
        """Refuse settings of a kernel that brings its own."""
        given = {"gamma": self.gamma not in tuple(Scale), "alpha": self.alpha != 1.0, "beta": self.beta != 1.0}
        wrong = [name for name, is_given in given.items() if is_given]
        if wrong:
            raise KernelError(
                f"{wrong[0]} is set beside a kernel that has its own. Set it there: kernel={type(self.kernel).__name__}"
                f"({wrong[0]}={getattr(self, wrong[0])!r})."
            )

    def _gamma(self, kernel: Any, rows: Floats, random: np.random.RandomState) -> float:
        return gamma_of(Scale(self.gamma), kernel, rows, random) if isinstance(self.gamma, str) else self.gamma

    # ---------------------------------------------------------------- reading rows once it is known

    def _filled(self, values: Floats) -> Floats:
        """Replace missing numbers by their expectations."""
        has_gaps = np.isnan(values[:, : self.mixture_.n_continuous]).any()
        return self.mixture_.conditional_mean(values) if has_gaps else values

    def _known(self, X: Any) -> Floats:
        """Encode rows of a table that is known."""
        check_is_fitted(self)
        return self._numbers(X, reset=False) if self.encoder_ is None else self.encoder_.transform(X)

    # ---------------------------------------------------------------- sums over support vectors

    def _keep(self, dual: Dual, rows: Floats) -> None:
        """Remember the decision functions as sums of the kernel, or of the one that it is bent from."""
        self._sum_kernel, self._sum_rows, self._sum_coefficients = self.kernel_, rows[dual.support], dual.coefficients
        if isinstance(self.kernel_, LaplacianKernel):
            self._sum_kernel = self.kernel_.base
            self._sum_rows, self._sum_coefficients = self.kernel_.base_representation(self._sum_rows, dual.coefficients)
            self.kernel_ = replaced(self.kernel_)  # without the matrices, which no prediction needs
        self.support_vectors_ = rows[dual.support]
        self.dual_coef_ = dual.coefficients
        self.intercept_ = dual.intercepts
        self.n_iter_ = dual.n_iter
        self.repair_change_ = dual.change

    def _values(self, X: Any) -> Floats:  # (n, q)
        """Evaluate the decision functions."""
        return self._decisions(self._known(X))

    def _decisions(self, values: Floats) -> Floats:  # (n, q)
        """Evaluate the decision functions of encoded rows."""
        rows = self._as_read(values)
        return sums(self._sum_kernel, rows, self._sum_rows, self._sum_coefficients) + self.intercept_

    def _as_read(self, values: Floats) -> Floats:
        """Give encoded rows as the kernel reads them."""
        return values if fills_gaps(self.kernel_) else self._filled(values)

    # ---------------------------------------------------------------- what the density says

    def responsibilities(self, X: Any) -> Floats:
        """Say how probable it is that a row comes from a component of the density.

        Returns
        -------
        ndarray of shape (n, k)
        """
        rows = self._known(X)
        return self.mixture_.responsibilities(rows)

    def novelty(self, X: Any) -> Floats:
        """Say how unlike the training rows a row is: the share of them that lie in denser places.

        Rows like those of the training spread evenly between 0 and 1, so refusing what is above 0.99 refuses about one
        in a hundred of them (some more, where few rows of many columns were learned from), and nearly everything that
        comes from nowhere. Of a row with gaps, what is there is compared; one without any value is not new.

        Returns
        -------
        ndarray of shape (n,)
        """
        rows = self._known(X)
        return self._novelty.of_rows(rows, self.mixture_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def one_column(y: Any, machine: object) -> Any:
    """Refuse a ``y`` that is not there, and mention a column that could be a vector, as scikit-learn does."""
    if y is None:
        raise LabelTypeError(
            f"{type(machine).__name__} requires y to be passed, but the target y is None. Give one label per row, None "
            "where there is none."
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        warn("A column-vector y was passed when a 1d array was expected. Pass y.ravel().", DataConversionWarning)
    return y


def weights_of(sample_weight: Any, n: int) -> Floats | None:
    """Read how much each label counts."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise LabelError(
            f"Sample weights must be 1D array or scalar, one number per row, but have shape {weights.shape}."
        )
    check_consistent_length(weights, np.empty(n))
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise LabelError("sample_weight must hold finite numbers that are not negative.")
    if not weights.any():
        raise LabelError("All sample weights are zero: nothing is left to learn from.")
    return weights
