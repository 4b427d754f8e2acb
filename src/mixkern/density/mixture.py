"""A mixture density: parameters of a fit, without the data, the estimator or the labels."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixkern.density.covariance import CovarianceType
from mixkern.density.gaussians import GAUSSIANS, LOG_2PI, Gaussians, read_only
from mixkern.density.mixture_parameters import check_shapes, check_tables, checked_positions
from mixkern.engine import Metric, RowDensities
from mixkern.errors import MixtureError
from mixkern.gpu_array import gpu_floats, is_cupy, is_gpu_array, like, namespace, on_device, stream_of, to_host
from mixkern.parts import model_part
from mixkern.sampling import check_random_state
from mixkern.typing import Floats
from mixkern.validation import as_floats, at_least, one_of
from mixkern.wording import counted, shown

FAR = 4.0  # standard deviations of a centre from zero, beyond which rows on a GPU are centred first
MOST_CATEGORIES = 2**20  # of one column; larger codes are an error
__all__ = ["LOG_2PI", "Mixture"]


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
        Shape (k, d, d) for ``"full"``, (d, d) for ``"tied"``, (k, d) for ``"diag"``, (k,) for ``"spherical"``. For
        ``"factor"`` the variances of the noise, (k, d).
    covariance_type : {"full", "tied", "diag", "spherical", "factor"}, default="full"
        Type of the covariances, as in scikit-learn's GaussianMixture; ``"factor"`` is a diagonal and a few factors.
    categories : sequence of array-like of shape (k, n_categories), default=()
        One table per categorical column: the probability of each category in each component. Larger codes count as
        its last category, which :class:`~mixkern.VBMixture` reserves for "other".
    loadings : array-like of shape (k, d, q), default=None
        For ``"factor"``: how far each of q factors moves each column. A component's covariance is
        :math:`L_k L_k^T` plus its diagonal. A component with fewer factors has columns of zeros.
    constant : sequence of int, default=()
        Continuous columns that had one value in all rows, by their positions. Their variances have no part in the units
        of distances.

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
    loadings: Floats | None = None
    constant: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        kind = one_of(CovarianceType, self.covariance_type, "covariance_type")
        for name in ("weights", "means", "covariances"):
            object.__setattr__(self, name, _frozen(getattr(self, name), name))
        object.__setattr__(self, "covariance_type", kind)
        object.__setattr__(self, "categories", tuple(_frozen(table, "categories") for table in self.categories))
        if self.loadings is not None:
            object.__setattr__(self, "loadings", _frozen(self.loadings, "loadings"))
        check_shapes(self.weights, self.means, self.covariances, kind, self.loadings)
        check_tables(self.categories, len(self.weights))
        object.__setattr__(self, "constant", checked_positions(self.constant, self.means.shape[1]))
        if kind.has_vectors and not (self.covariances > 0).all():
            raise MixtureError("covariances must be positive: a component has collapsed in some column.")
        _ = self.whiteners  # raises an error if a matrix is not positive definite

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
        return self.row_densities(X).log_joint

    def log_density(self, X: ArrayLike) -> Floats:  # (n,)
        """Logarithm of the density at each row; gaps are integrated out."""
        return self.row_densities(X).log_density

    def responsibilities(self, X: ArrayLike) -> Floats:  # (n, k)
        """Probability that each row comes from each component, rho_k(x) in the paper."""
        return self.row_densities(X).responsibilities

    def conditional_mean(self, X: ArrayLike) -> Floats:
        """Replace each missing number by its expectation, given the row's other values.

        Parameters
        ----------
        X : array-like of shape (n, d + e)
            Rows; NaN is a gap.

        Returns
        -------
        ndarray of shape (n, d + e)
            Missing categories stay missing.
        """
        with stream_of(X):
            rows = self._checked(X)
            filled = self._row_densities(rows, fill=True).filled
            assert filled is not None  # it was asked for
            return like(np.hstack([filled, rows[:, self.n_continuous :]]), X)

    def row_densities(self, X: ArrayLike, *, fill: bool = False) -> RowDensities:
        """Compute joint densities, responsibilities and densities of rows at once.

        A row whose density is zero has the weights as its responsibilities: its category has probability zero in every
        component, or squares overflow.

        Parameters
        ----------
        X : array-like of shape (n, d + e)
            Rows; NaN is a gap. For an array of CuPy or PyTorch on a GPU, the results are such arrays.
        fill : bool, default=False
            Whether to replace each missing number by its expectation as well.

        Returns
        -------
        RowDensities
            With attributes ``log_joint``, ``responsibilities``, ``log_density`` and ``filled``.

        Examples
        --------
        >>> mixture = Mixture([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[1.0]]])
        >>> mixture.row_densities([[0.0]]).responsibilities
        array([[0.5, 0.5]])
        """
        if not is_gpu_array(X):
            return self._row_densities(self._checked(X), fill=fill)
        with stream_of(X):
            return self._row_densities(self._checked(X), fill=fill).converted(lambda part: like(part, X))

    def _row_densities(self, rows: Floats, *, fill: bool) -> RowDensities:
        """Compute densities of rows that have been checked, of the host or of CuPy."""
        is_on_gpu = is_cupy(rows)
        if is_on_gpu and not self._gaussians.is_for_gpu:
            return self._densities_of_host(rows, fill=fill)
        if is_on_gpu and rows.dtype == np.float32 and self.far_centre is not None:
            return self._densities_about(self.far_centre, rows, fill=fill)
        numbers = rows[:, : self.n_continuous]
        offsets = self._log_categories(rows[:, self.n_continuous :]) if self.categories else None
        found = self._gaussians.row_densities(numbers, _log(self.weights), offsets, fill=fill)
        if not found.is_positive:
            _check_infinite(rows)
            is_impossible = ~np.isfinite(found.log_density)
            shares: Any = self.weights / self.weights.sum()
            found.log_density[is_impossible] = -np.inf
            found.responsibilities[is_impossible] = on_device(shares, rows.dtype) if is_on_gpu else shares
            if found.filled is not None:
                known, own = numbers[is_impossible], found.responsibilities[is_impossible]
                filled = self._gaussians.filled(to_host(known, float), to_host(own, float))
                found.filled[is_impossible] = on_device(filled, rows.dtype) if is_on_gpu else filled
        return found

    @cached_property
    def far_centre(self) -> Floats | None:  # (d,)
        """The mean of the mixture, if zero is far away from it in units of its standard deviation, else None.

        With float32, deviations from the means of the components have no digits left there, unless this is subtracted
        first. It is rounded to float32, so that it is the same in every type.
        """
        mean = self.weights @ self.means
        variances = self.weights @ (self.variances + (self.means - mean) ** 2)
        return rounded_centre(mean, np.sqrt(variances))

    def moved(self, centre: Floats) -> "Mixture":
        """Return the density of rows from which a centre (d,) was subtracted; made once for each centre."""
        known: dict[bytes, Mixture] = vars(self).setdefault("_moved", {})
        key = centre.tobytes()
        if key not in known:
            known[key] = replace(self, means=self.means - centre)
        return known[key]

    def _densities_about(self, centre: Floats, rows: Any, *, fill: bool) -> RowDensities:
        """Compute densities of rows on a GPU after a centre was subtracted."""
        of_numbers, numbers = on_device(centre, rows.dtype), rows[:, : self.n_continuous]
        near = np.hstack([numbers - of_numbers, rows[:, self.n_continuous :]])
        found = self.moved(centre)._row_densities(near, fill=fill)  # noqa: SLF001 -- of the same class
        if found.filled is not None:
            found.filled[...] = np.where(np.isnan(numbers), found.filled + of_numbers, numbers)
        return found

    def _densities_of_host(self, rows: Any, *, fill: bool) -> RowDensities:
        """Compute densities of rows on a GPU by the CPU: those of factors in very many columns."""
        host = to_host(rows, float)
        _check_infinite(host)
        found = self._row_densities(host, fill=fill)
        return found.converted(lambda part: on_device(part, rows.dtype))

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
        noise = random.standard_normal((n, d))
        for k in range(self.n_components):
            at = components == k
            X[at, :d] = self.means[k] + self._gaussians.deviations(k, noise[at], random)
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
        covariances, loadings = self._gaussians.marginal(at)
        constant = tuple(np.flatnonzero(np.isin(at, self.constant)).tolist())
        return Mixture(
            self.weights, self.means[:, at], covariances, self.covariance_type, loadings=loadings, constant=constant
        )

    def with_common_categories(self) -> "Mixture":
        r"""Return the same mixture with one category distribution for all components: the marginal distribution.

        Every table is replaced by its mean, weighted by the components' weights. Categories are then independent of
        the component, and responsibilities are those of the continuous columns alone:
        :math:`\rho_k(x) = \pi_k N(x' | \mu_k, \Sigma_k) / \sum_j \pi_j N(x' | \mu_j, \Sigma_j)`. This is how the paper
        writes the RWM kernel of numbers and categories. A row with a category of probability zero in every component
        has the weights as its responsibilities, as in any mixture.

        Examples
        --------
        >>> mixture = Mixture([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[1.0]]], categories=[[[0.9, 0.1], [0.1, 0.9]]])
        >>> mixture.responsibilities([[0.0, 0]])
        array([[0.9, 0.1]])
        >>> mixture.with_common_categories().responsibilities([[0.0, 0]])
        array([[0.5, 0.5]])
        """
        return replace(self, categories=[_common_table(table, self.weights) for table in self.categories])

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
        covariances, loadings = self._gaussians.pooled(self.weights, shares)
        return replace(self, covariances=covariances, loadings=loadings)

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
        m = self._gaussians.n_parameters()
        return self.pooled(m / (self.weights * n_rows + m)) if self.n_continuous else self

    # ---------------------------------------------------------------- forms of the covariances

    @cached_property
    def _gaussians(self) -> Gaussians:
        kind = self.covariance_type
        return GAUSSIANS[kind](kind, self.means, self.covariances, self.loadings)

    @property
    def full_covariances(self) -> Floats:  # (k, d, d)
        """Covariances as matrices, whatever their type."""
        return self._gaussians.full_covariances

    @property
    def variances(self) -> Floats:  # (k, d)
        """Variance of each column in each component."""
        return self._gaussians.variances

    def precision_times(self, k: int, deviations: Floats, observed: NDArray[np.intp]) -> Floats:  # (n, o)
        """Multiply deviations in the observed columns by the inverse of their covariance in component k."""
        return self._gaussians.precision_times(k, deviations, observed)

    @property
    def total_covariance(self) -> tuple[Floats, Floats]:  # (d,), (d, p)
        """Covariance of the whole mixture as a diagonal and loadings, for factors: diag + L L'."""
        assert self.loadings is not None, "only factors have loadings"
        roots = np.sqrt(self.weights)
        centred = self.means - self.weights @ self.means
        within = np.concatenate(list(roots[:, None, None] * self.loadings), axis=1)
        noise = np.broadcast_to(self.covariances, self.means.shape)
        return self.weights @ noise, np.hstack([within, (roots[:, None] * centred).T])

    @property
    def whiteners(self) -> Metric:
        """W with W'W the inverse covariance: (x - m) W' has unit covariance.

        Inverse Cholesky factors (k, d, d), (k, d) if diagonal, and thin matrices for factors of many columns.
        """
        return self._gaussians.whiteners

    def _log_categories(self, codes: Floats) -> Floats:  # (n, k)
        return category_log_densities(codes, self._log_tables, self.n_components)

    @cached_property
    def _log_tables(self) -> tuple[Floats, ...]:
        return tuple(_log(table) for table in self.categories)

    # ---------------------------------------------------------------- identity

    @cached_property
    def key(self) -> str:
        """Hash of the content: equal mixtures have equal keys, in any process."""
        digest = hashlib.sha256(self.covariance_type.encode())
        extra = () if self.loadings is None else (self.loadings,)
        for array in (self.weights, self.means, self.covariances, *self.categories, *extra):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        if self.constant:
            digest.update(repr(self.constant).encode())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mixture) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __getstate__(self) -> dict[str, Any]:  # arrays instead of the lists of to_dict
        arrays = {"weights": self.weights, "means": self.means, "covariances": self.covariances}
        state = {**arrays, "covariance_type": str(self.covariance_type), "categories": list(self.categories)}
        if self.constant:
            state["constant"] = list(self.constant)
        return state if self.loadings is None else {**state, "loadings": self.loadings}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(self.from_dict(state).__dict__)

    def __repr__(self) -> str:
        extra = f", {len(self.categories)} categorical columns" if self.categories else ""
        kind = str(self.covariance_type)
        if self.loadings is not None:
            kind = f"{kind} components with up to {counted(self.loadings.shape[2], 'factor')}"
        else:
            kind = f"{kind} components"
        return f"Mixture({self.n_components} {kind} in {self.n_continuous} columns{extra})"

    # ---------------------------------------------------------------- other forms

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as lists and numbers, for JSON."""
        lists = {name: getattr(self, name).tolist() for name in ("weights", "means", "covariances")}
        categories = [table.tolist() for table in self.categories]
        content = {**lists, "covariance_type": str(self.covariance_type), "categories": categories}
        if self.constant:
            content["constant"] = list(self.constant)
        return content if self.loadings is None else {**content, "loadings": self.loadings.tolist()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Make a mixture from the result of :meth:`to_dict`."""
        d = len(content["means"][0]) if len(content["means"]) else 0
        means = np.reshape(np.asarray(content["means"], dtype=float), (len(content["weights"]), d))
        kind = CovarianceType(content["covariance_type"])
        covariances = np.reshape(np.asarray(content["covariances"], dtype=float), kind.shape(*means.shape))
        loadings = content.get("loadings")
        if loadings is not None:
            loadings = np.reshape(np.asarray(loadings, dtype=float), (*means.shape, -1 if np.size(loadings) else 0))
        return cls(
            content["weights"], means, covariances, kind, content["categories"], loadings, content.get("constant", ())
        )

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
        rows = gpu_floats(X, "X", MixtureError) if is_gpu_array(X) else as_floats(X, "X", MixtureError)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise MixtureError(
                f"X has shape {rows.shape}, but the mixture has {self.n_continuous} continuous and "
                f"{len(self.categories)} categorical columns: expected (n, {self.n_features})."
            )
        if not is_cupy(rows):  # densities of a GPU show whether there are any
            _check_infinite(rows)
        check_codes(rows[:, self.n_continuous :])
        return rows


def rounded_centre(centre: Floats, deviations: Floats) -> Floats | None:
    """Return a centre of rows, rounded to float32, so that it is the same in every type.

    None where zero is near, in units of the standard deviations, or where the centre is beyond float32.
    """
    if not (np.abs(centre) > FAR * deviations).any() or np.abs(centre).max() > np.finfo(np.float32).max:
        return None
    return centre.astype(np.float32).astype(float)


def _check_infinite(rows: Floats) -> None:
    if np.isinf(rows).any():
        raise MixtureError("X holds infinite values. Replace them by numbers, or by NaN for a gap.")


def category_log_densities(codes: Floats, tables: Sequence[Floats], n_components: int) -> Floats:  # (n, k)
    """Add up the logarithms of the probabilities (k, n_categories) of each row's categories; a gap adds nothing."""
    library = namespace(codes)
    total: Floats = library.zeros((len(codes), n_components), dtype=codes.dtype)
    gaps = library.asarray([table.shape[1] for table in tables])
    slots = np.where(np.isnan(codes), gaps, np.minimum(codes, gaps - 1)).astype(np.int32)
    for e, table in enumerate(tables):
        with_gap = np.vstack([table.T, np.zeros(n_components)])  # a row for each category, then one for gaps
        total += np.take(library.asarray(with_gap, dtype=codes.dtype), slots[:, e], axis=0)
    return total


def check_codes(codes: Floats) -> None:
    """Check that categorical columns hold codes: whole numbers from 0, or NaN."""
    if not codes.shape[1]:
        return
    given = codes[~np.isnan(codes)]
    wrong = given[(given < 0) | (given >= MOST_CATEGORIES) | (given != np.floor(given))]
    if len(wrong):
        raise MixtureError(
            f"The categorical columns must hold whole numbers from 0 to {MOST_CATEGORIES - 1}, or NaN for a gap, "
            f"but they hold {float(wrong[0]):g}. TableEncoder makes such codes."
        )


def category_slots(codes: Floats, n_slots: int) -> NDArray[np.intp]:
    """Convert codes to columns of a table whose last column stands for all other categories.

    >>> category_slots(np.array([0.0, 2.0, 7.0]), 3)
    array([0, 2, 2])
    """
    return np.clip(codes, 0, n_slots - 1).astype(np.intp)


def _common_table(table: Floats, weights: Floats) -> Floats:  # (k, n_categories)
    """Table with the weighted mean of its rows in every row."""
    if (table == table[0]).all():  # without rounding, so that a second call changes nothing
        return table
    return np.tile(np.average(table, axis=0, weights=weights), (len(weights), 1))


def _frozen(values: Any, name: str) -> Floats:
    """Copy values to a read-only array, and check that they are finite."""
    # -0.0 becomes 0.0, so that equal values have equal bytes for the key.
    array = np.atleast_1d(as_floats(values, name, MixtureError)) + 0.0
    if not np.isfinite(array).all():
        raise MixtureError(f"{name} must be finite numbers.")
    return read_only(array)


def _log(probabilities: Floats) -> Floats:
    """Logarithm, minus infinity at zero."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)
