"""A mixture density: parameters of a fit, without the data, the estimator or the labels."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from mixkern.density.block import BLOCK, gap_patterns
from mixkern.density.covariance import CovarianceType
from mixkern.errors import MixtureError
from mixkern.parts import model_part
from mixkern.sampling import check_random_state
from mixkern.typing import Floats
from mixkern.validation import as_floats, at_least, one_of
from mixkern.wording import shown

LOG_2PI = float(np.log(2 * np.pi))
MOST_CATEGORIES = 2**20  # of one column; larger codes are an error
KEPT_BYTES = 1 << 24  # of factors for rows with gaps


@model_part("Mixture", is_shared=True)
@dataclass(frozen=True, eq=False)
class Mixture:
    r"""A mixture density of numbers and categories: each component is a Gaussian times categorical distributions.

    .. math:: p(x, z) = \sum_k \pi_k \, N(x | \mu_k, \Sigma_k) \prod_e \theta_{k e z_e}

    Mixtures are immutable, so that kernels, plots and worker processes can share one. Mixtures with equal content are
    equal, and :attr:`key` identifies the content.

    Parameters
    ----------
    weights : array-like of shape (k,)
        Weight of each component; they add up to one.
    means : array-like of shape (k, d)
        Centres of the components in the continuous columns.
    covariances : array-like
        Shape (k, d, d) for ``"full"``, (d, d) for ``"tied"``, (k, d) for ``"diag"``, (k,) for ``"spherical"``.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Type of the covariances, as in scikit-learn's GaussianMixture.
    categories : sequence of array-like of shape (k, n_categories), default=()
        One table per categorical column: the probability of each category in each component. Larger codes count as
        its last category, which :class:`~mixkern.VBMixture` reserves for "other".

    Notes
    -----
    Rows are d continuous columns followed by categorical codes, as :class:`~mixkern.TableEncoder` encodes them. NaN is
    a gap, and the density is that of the other columns.

    Examples
    --------
    >>> mixture = Mixture(weights=[0.5, 0.5], means=[[-1.0], [1.0]], covariances=[[[0.1]], [[0.1]]])
    >>> mixture.responsibilities([[-1.0], [0.0], [float("nan")]]).round(2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0.5, 0.5]])
    """

    weights: Floats
    means: Floats
    covariances: Floats
    covariance_type: CovarianceType = CovarianceType.FULL
    categories: Sequence[Floats] = field(default=())

    def __post_init__(self) -> None:
        kind = one_of(CovarianceType, self.covariance_type, "covariance_type")
        for name in ("weights", "means", "covariances"):
            object.__setattr__(self, name, _frozen(getattr(self, name), name))
        object.__setattr__(self, "covariance_type", kind)
        object.__setattr__(self, "categories", tuple(_frozen(table, "categories") for table in self.categories))
        self._check()

    # ---------------------------------------------------------------- sizes

    @property
    def n_components(self) -> int:
        """Number of components, k."""
        return len(self.weights)

    @property
    def n_continuous(self) -> int:
        """Number of continuous columns, d."""
        return self.means.shape[1]

    @property
    def n_features(self) -> int:
        """Number of columns of a row, continuous and categorical."""
        return self.n_continuous + len(self.categories)

    # ---------------------------------------------------------------- densities

    def log_joint(self, X: ArrayLike) -> Floats:
        """Logarithm of each component's weight times its density at each row: log p(x, k).

        Parameters
        ----------
        X : array-like of shape (n, d + e)
            Rows; NaN is a gap.

        Returns
        -------
        ndarray of shape (n, k)
        """
        rows = self._checked(X)
        log_joint = np.empty((len(rows), self.n_components))
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            out = log_joint[start : start + BLOCK]
            out[:] = _log(self.weights)
            for at, observed, _ in gap_patterns(block[:, : self.n_continuous]):
                out[at] += self._log_gaussians(block[np.ix_(at, observed)], observed)
            out += self._log_categories(block[:, self.n_continuous :])
        return log_joint

    def log_density(self, X: ArrayLike) -> Floats:  # (n,)
        """Logarithm of the density at each row; gaps are integrated out."""
        log_density: Floats = logsumexp(self.log_joint(X), axis=1)
        return log_density

    def responsibilities(self, X: ArrayLike) -> Floats:  # (n, k)
        """Probability that each row comes from each component, rho_k(x) in the paper."""
        return responsibilities_of(self.log_joint(X), self.weights)

    def conditional_mean(self, X: ArrayLike, responsibilities: Floats | None = None) -> Floats:
        """Replace each missing number by its expectation, given the row's other values.

        Parameters
        ----------
        X : array-like of shape (n, d + e)
            Rows; NaN is a gap.
        responsibilities : ndarray of shape (n, k), default=None
            Responsibilities of the rows, if they are known; by default they are computed.

        Returns
        -------
        ndarray of shape (n, d + e)
            Missing categories stay missing.
        """
        rows = self._checked(X).copy()
        shares = self.responsibilities(rows) if responsibilities is None else responsibilities
        for at, observed, missing in gap_patterns(rows[:, : self.n_continuous]):
            if len(missing):
                filled = self._conditional_means(rows[np.ix_(at, observed)], observed, missing)  # (k, rows, missing)
                rows[np.ix_(at, missing)] = np.einsum("nk,knm->nm", shares[at], filled)
        return rows

    def sample(self, n: int, random_state: Any = None) -> tuple[Floats, NDArray[np.intp]]:
        """Draw rows from the mixture.

        Returns
        -------
        X : ndarray of shape (n, d + e)
        components : ndarray of shape (n,)
            The component that each row was drawn from.
        """
        at_least(0).check(n, "n", MixtureError)
        d, random = self.n_continuous, check_random_state(random_state)
        components = random.choice(self.n_components, size=n, p=self.weights / self.weights.sum())
        X = np.empty((n, self.n_features))
        factors = None if self.covariance_type.is_diagonal else np.linalg.cholesky(self.full_covariances)
        noise = random.standard_normal((n, d))
        for k in range(self.n_components):
            at = components == k
            spread = noise[at] * np.sqrt(self.variances[k]) if factors is None else noise[at] @ factors[k].T
            X[at, :d] = self.means[k] + spread
            for e, table in enumerate(self.categories):
                X[at, d + e] = random.choice(table.shape[1], size=at.sum(), p=table[k] / table[k].sum())
        return X, components

    def marginal(self, columns: Iterable[int]) -> "Mixture":
        """Return the density of some continuous columns; the other columns are integrated out."""
        try:
            at = np.fromiter(columns, dtype=np.intp)
        except (TypeError, ValueError):
            raise MixtureError(f"columns must be positions of columns, but they are {shown(columns)}.") from None
        if len(at) and not 0 <= at.min() <= at.max() < self.n_continuous:
            raise MixtureError(f"columns must lie between 0 and {self.n_continuous - 1}, but they are {at.tolist()}.")
        covariances = self.covariances
        if self.covariance_type is CovarianceType.DIAG:
            covariances = covariances[:, at]
        elif self.covariance_type is not CovarianceType.SPHERICAL:
            covariances = covariances[..., at[:, None], at]
        return Mixture(self.weights, self.means[:, at], covariances, self.covariance_type)

    def pooled(self, share: ArrayLike) -> "Mixture":
        """Return the same mixture with covariances shrunk towards their weighted mean.

        The covariance of a component with few rows is noisy; shrinkage reduces the noise.

        Parameters
        ----------
        share : float or array-like of shape (k,)
            From 0 (unchanged) to 1 (the mean covariance): one for all components, or one for each.

        Examples
        --------
        >>> mixture = Mixture([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[3.0]]])
        >>> mixture.pooled(0.5).covariances.ravel()
        array([1.5, 2.5])
        >>> mixture.pooled([0.0, 1.0]).covariances.ravel()
        array([1., 2.])
        """
        shares = np.asarray(share, dtype=float)
        if shares.shape not in ((), self.weights.shape) or not ((shares >= 0) & (shares <= 1)).all():
            raise MixtureError(
                f"share must be a number from 0 to 1, or one for each of {self.n_components} components, but it is "
                f"{share!r}."
            )
        if self.covariance_type is CovarianceType.TIED or not shares.any():
            return self
        mean = np.tensordot(self.weights, self.covariances, axes=1)
        if shares.ndim:
            shares = shares.reshape(-1, *(1,) * mean.ndim)
        return replace(self, covariances=(1 - shares) * self.covariances + shares * mean)

    def steadied(self, n_rows: float) -> "Mixture":
        r"""Return the same mixture with covariances of components with few rows :meth:`pooled`.

        With :math:`n_k` rows in a component and :math:`m` free parameters in its covariance, the share is
        :math:`m / (n_k + m)`: one half with as many rows as parameters, near zero with thousands of rows.

        Parameters
        ----------
        n_rows : float
            Number of rows that the mixture was fitted to.

        Examples
        --------
        >>> mixture = Mixture([0.1, 0.9], [[-1.0], [1.0]], [[[1.0]], [[3.0]]])
        >>> mixture.steadied(10).covariances.ravel()  # one row, nine rows; one parameter
        array([1.9 , 2.98])
        """
        d = self.n_continuous
        m = {CovarianceType.DIAG: d, CovarianceType.SPHERICAL: 1}.get(self.covariance_type, d * (d + 1) / 2)
        return self.pooled(m / (self.weights * n_rows + m)) if d else self

    # ---------------------------------------------------------------- forms of the covariances

    @cached_property
    def full_covariances(self) -> Floats:  # (k, d, d)
        """Covariances as matrices, whatever their type."""
        k, d = self.means.shape
        if self.covariance_type is CovarianceType.FULL:
            return self.covariances
        if self.covariance_type is CovarianceType.TIED:
            return np.broadcast_to(self.covariances, (k, d, d))
        return _read_only(self.variances[:, :, None] * np.eye(d))

    @cached_property
    def variances(self) -> Floats:  # (k, d)
        """Variance of each column in each component."""
        k, d = self.means.shape
        if self.covariance_type is CovarianceType.SPHERICAL:
            return np.broadcast_to(self.covariances[:, None], (k, d))
        if self.covariance_type is CovarianceType.DIAG:
            return self.covariances
        return np.diagonal(self.full_covariances, axis1=1, axis2=2)

    @cached_property
    def whiteners(self) -> Floats:
        """Inverse Cholesky factors W: (x - m) W' has unit covariance. (k, d, d), or (k, d) if diagonal."""
        if self.covariance_type.is_diagonal:
            return _read_only(1 / np.sqrt(self.variances))
        if self.covariance_type is CovarianceType.TIED:
            return np.broadcast_to(_whiteners(self.covariances[None]), self.full_covariances.shape)
        return _read_only(_whiteners(self.covariances))

    @cached_property
    def _known_whiteners(self) -> dict[bytes, Floats]:
        return {}

    def _whiteners_of(self, observed: NDArray[np.intp]) -> Floats:  # (k, o, o)
        """Whiteners of some columns; kept while there are few, because blocks of rows have the same gaps."""
        known, key = self._known_whiteners, observed.tobytes()
        found = known.get(key)
        if found is None:
            found = _whiteners(self.full_covariances[:, observed][:, :, observed])
            if len(known) * self.full_covariances.nbytes < KEPT_BYTES:
                known[key] = found
        return found

    def _log_gaussians(self, values: Floats, observed: NDArray[np.intp]) -> Floats:  # (n, k)
        """Log density of the observed columns under each component; the missing ones are integrated out."""
        d = len(observed)
        if self.covariance_type.is_diagonal:
            scales = self.whiteners[:, observed]
            log_det = np.log(scales).sum(axis=1)
        else:
            scales = self._whiteners_of(observed) if d < self.n_continuous else self.whiteners
            log_det = np.log(np.diagonal(scales, axis1=1, axis2=2)).sum(axis=1)
        sq_distance = np.empty((len(values), self.n_components))
        for k in range(self.n_components):
            # Not by the expanded square, which loses all digits for a narrow component far from the origin.
            with np.errstate(over="ignore", invalid="ignore"):  # the square overflows
                difference = values - self.means[k, observed]
                white = difference * scales[k] if scales.ndim == 2 else difference @ scales[k].T
                sq_distance[:, k] = np.einsum("ij,ij->i", white, white)
        sq_distance[np.isnan(sq_distance)] = np.inf
        return log_det - 0.5 * (d * LOG_2PI + sq_distance)

    def _log_categories(self, codes: Floats) -> Floats:  # (n, k)
        total = np.zeros((len(codes), self.n_components))
        for e, table in enumerate(self.categories):
            at = ~np.isnan(codes[:, e])
            total[at] += _log(table)[:, category_slots(codes[at, e], table.shape[1])].T
        return total

    def _conditional_means(
        self, values: Floats, observed: NDArray[np.intp], missing: NDArray[np.intp]
    ) -> Floats:  # (k, n, missing)
        """Compute the expected values of the missing columns under each component, given the observed ones."""
        means = np.broadcast_to(self.means[:, None, missing], (self.n_components, len(values), len(missing))).copy()
        if self.covariance_type.is_diagonal or not len(observed):
            return means
        for k, covariance in enumerate(self.full_covariances):
            gain = np.linalg.solve(covariance[np.ix_(observed, observed)], covariance[np.ix_(observed, missing)])
            means[k] += (values - self.means[k, observed]) @ gain
        return means

    # ---------------------------------------------------------------- identity

    @cached_property
    def key(self) -> str:
        """Hash of the content: equal mixtures have equal keys, in any process."""
        digest = hashlib.sha256(self.covariance_type.encode())
        for array in (self.weights, self.means, self.covariances, *self.categories):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mixture) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __getstate__(self) -> dict[str, Any]:  # arrays instead of the lists of to_dict
        arrays = {"weights": self.weights, "means": self.means, "covariances": self.covariances}
        return {**arrays, "covariance_type": str(self.covariance_type), "categories": list(self.categories)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(self.from_dict(state).__dict__)

    def __repr__(self) -> str:
        extra = f", {len(self.categories)} categorical columns" if self.categories else ""
        return f"Mixture({self.n_components} {self.covariance_type} components in {self.n_continuous} columns{extra})"

    # ---------------------------------------------------------------- other forms

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as lists and numbers, for JSON."""
        lists = {name: getattr(self, name).tolist() for name in ("weights", "means", "covariances")}
        categories = [table.tolist() for table in self.categories]
        return {**lists, "covariance_type": str(self.covariance_type), "categories": categories}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Make a mixture from the result of :meth:`to_dict`."""
        d = len(content["means"][0]) if len(content["means"]) else 0
        means = np.reshape(np.asarray(content["means"], dtype=float), (len(content["weights"]), d))
        kind = CovarianceType(content["covariance_type"])
        covariances = np.reshape(np.asarray(content["covariances"], dtype=float), kind.shape(*means.shape))
        return cls(content["weights"], means, covariances, kind, content["categories"])

    @classmethod
    def from_sklearn(cls, model: Any) -> Self:
        """Make a mixture from a fitted GaussianMixture, BayesianGaussianMixture or KMeans of scikit-learn.

        KMeans gives equal weights, and one variance for all components and columns: the mean squared distance of a row
        to its centre, per column. The most responsible component is then the nearest centre.
        """
        if hasattr(model, "cluster_centers_"):
            k, d = model.cluster_centers_.shape
            variance = model.inertia_ / (len(model.labels_) * d)
            if not variance > 0:  # every row is a centre: use a variance far below that of the centres
                variance = np.finfo(float).eps * model.cluster_centers_.var(axis=0).mean() or 1.0
            return cls(np.full(k, 1 / k), model.cluster_centers_, np.full(k, variance), CovarianceType.SPHERICAL)
        if not hasattr(model, "covariances_"):
            raise MixtureError(
                f"Expected a fitted GaussianMixture, BayesianGaussianMixture or KMeans, but {type(model).__name__} "
                "has no covariances. Fit it first."
            )
        return cls(model.weights_, model.means_, model.covariances_, CovarianceType(model.covariance_type))

    def _checked(self, X: ArrayLike) -> Floats:
        rows = as_floats(X, "X", MixtureError)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise MixtureError(
                f"X has shape {rows.shape}, but the mixture has {self.n_continuous} continuous and "
                f"{len(self.categories)} categorical columns: expected (n, {self.n_features})."
            )
        if np.isinf(rows).any():
            raise MixtureError("X holds infinite values. Replace them by numbers, or by NaN for a gap.")
        check_codes(rows[:, self.n_continuous :])
        return rows

    def _check(self) -> None:
        k = len(self.weights)
        if self.weights.ndim != 1 or k == 0 or (self.weights < 0).any() or not np.isclose(self.weights.sum(), 1):
            raise MixtureError(
                f"weights must be non-negative and add up to one, but they are {self.weights} "
                f"(sum {self.weights.sum():.6g})."
            )
        if self.means.ndim != 2 or len(self.means) != k:
            raise MixtureError(f"means must have shape ({k}, d), one row per weight, but it is {self.means.shape}.")
        expected = self.covariance_type.shape(*self.means.shape)
        if self.covariances.shape != expected:
            raise MixtureError(
                f"covariances must have shape {expected} for covariance_type={str(self.covariance_type)!r}, "
                f"but it is {self.covariances.shape}."
            )
        if not self.covariance_type.is_diagonal and not _is_symmetric(self.covariances):
            raise MixtureError("covariances must be symmetric matrices.")
        if any(
            t.ndim != 2 or len(t) != k or (t < 0).any() or not np.allclose(t.sum(axis=1), 1) for t in self.categories
        ):
            raise MixtureError(f"categories must be tables of {k} rows of probabilities, each row adding up to one.")
        if self.covariance_type.is_diagonal and not (self.covariances > 0).all():
            raise MixtureError("covariances must be positive: a component has collapsed in some column.")
        _ = self.whiteners  # raises an error if a matrix is not positive definite


def responsibilities_of(log_joint: Floats, weights: Floats) -> Floats:  # (n, k)
    """Return responsibilities from the log joint density; the weights where the density of a row is zero.

    >>> responsibilities_of(np.log([[0.1, 0.3]]), np.array([0.5, 0.5]))
    array([[0.25, 0.75]])
    """
    # Density zero under every component: a category of probability zero, or squares that overflow.
    is_impossible = np.asarray(np.isneginf(log_joint).all(axis=1))
    if is_impossible.any():
        log_joint = np.where(is_impossible[:, None], _log(weights), log_joint)
    # The maximum is subtracted, because far from all components every density underflows, but their ratios do not.
    shares = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def check_codes(codes: Floats) -> None:
    """Check that categorical columns hold codes: whole numbers from 0, or NaN."""
    given = codes[~np.isnan(codes)]
    wrong = given[(given < 0) | (given >= MOST_CATEGORIES) | (given != np.floor(given))]
    if len(wrong):
        raise MixtureError(
            f"The categorical columns must hold whole numbers from 0 to {MOST_CATEGORIES - 1}, or NaN for a gap, "
            f"but they hold {wrong[0]:g}. TableEncoder makes such codes."
        )


def category_slots(codes: Floats, n_slots: int) -> NDArray[np.intp]:
    """Convert codes to columns of a table whose last column stands for all other categories.

    >>> category_slots(np.array([0.0, 2.0, 7.0]), 3)
    array([0, 2, 2])
    """
    return np.clip(codes, 0, n_slots - 1).astype(np.intp)


def _frozen(values: Any, name: str) -> Floats:
    """Copy values to a read-only array, and check that they are finite."""
    # -0.0 becomes 0.0, so that equal values have equal bytes for the key.
    array = np.atleast_1d(as_floats(values, name, MixtureError)) + 0.0
    if not np.isfinite(array).all():
        raise MixtureError(f"{name} must be finite numbers.")
    return _read_only(array)


def _read_only(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def _log(probabilities: Floats) -> Floats:
    """Logarithm, minus infinity at zero."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def _is_symmetric(matrices: Floats) -> bool:
    """Return whether matrices are symmetric up to rounding."""
    asymmetry = np.abs(matrices - np.swapaxes(matrices, -1, -2)).max(initial=0.0)
    return bool(asymmetry <= 1e-6 * np.abs(matrices).max(initial=0.0))


def _whiteners(covariances: Floats) -> Floats:  # (k, d, d)
    """Invert the Cholesky factor of each covariance."""
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError as error:
        raise MixtureError(
            "A covariance matrix is not positive definite: a component has collapsed in some direction. "
            "Add a small variance to its diagonal."
        ) from error
    inverse: Floats = np.linalg.solve(factors, np.broadcast_to(np.eye(factors.shape[-1]), factors.shape))
    return np.tril(inverse)
