"""Encoded rows with what a mixture density gives for them, computed once."""

from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern import device, gpu_array
from mixkern.density.mixture import Mixture, rounded_centre
from mixkern.typing import Codes, Floats
from mixkern.validation import is_finite

GPU_WORK = 2**19  # rows times components from which on a GPU computes densities of rows of the host
COMPUTED = ("log_joint", "responsibilities", "log_density", "numbers", "codes")  # carried on to parts of the rows


class Rows:
    """Encoded rows; responsibilities, log densities and filled gaps are computed when first read, and kept.

    Estimators make one from a table; kernel, decision function, components and novelty read it. As an array
    (``np.asarray(rows)``) it is ``filled``: what a kernel without a density can read.

    Parameters
    ----------
    values : ndarray of shape (n, d + e)
        Numbers, then category codes, as :class:`~mixkern.TableEncoder` gives them; NaN is a gap. With an array of CuPy
        all that is computed is one, too.
    mixture : Mixture, default=None
        Density of the rows. Without one there are no responsibilities, and gaps among numbers cannot be filled.
    n_categorical : int, default=0
        Number of categorical columns, e, where there is no mixture.

    Examples
    --------
    >>> mixture = Mixture([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], [0.1, 0.1], "spherical")
    >>> rows = Rows(np.array([[-1.0, 0.0], [np.nan, 0.0]]), mixture)
    >>> rows.responsibilities.round(2)
    array([[1. , 0. ],
           [0.5, 0.5]])
    >>> rows[1:].numbers
    array([[0., 0.]])
    """

    def __init__(self, values: Floats, mixture: Mixture | None = None, *, n_categorical: int = 0) -> None:
        self.values = values
        self.mixture = mixture
        self.n_categorical = n_categorical if mixture is None else len(mixture.categories)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values, (n, d + e)."""
        return self.values.shape

    @property
    def n_continuous(self) -> int:
        """Number of continuous columns, d."""
        return self.values.shape[1] - self.n_categorical

    def __getitem__(self, at: slice | NDArray[Any]) -> "Rows":
        """Return some of the rows, by a slice, positions or a mask, with what is computed."""
        part = Rows(self.values[at], self.mixture, n_categorical=self.n_categorical)
        for name in COMPUTED:
            computed = vars(self).get(name)
            if computed is not None:
                vars(part)[name] = computed[at]
        return _finite_as(self, part)

    @property
    def is_on_gpu(self) -> bool:
        """Whether the values are on a GPU."""
        return gpu_array.is_cupy(self.values)

    @cached_property
    def centre(self) -> Floats | None:  # (d,)
        """A point in the middle of the rows, if zero is far away from them; None where no digits would be gained."""
        if self.mixture is not None:
            return self.mixture.far_centre
        numbers = self.values[:, : self.n_continuous]
        if not numbers.size:
            return None
        means, deviations = (gpu_array.to_host(part, float) for part in (numbers.mean(axis=0), numbers.std(axis=0)))
        return rounded_centre(means, deviations)

    def on_gpu(self, centre: Floats | None = None, dtype: DTypeLike | None = None) -> "Rows":
        """Return the rows on a GPU, where everything is computed for them; made once.

        Parameters
        ----------
        centre : ndarray of shape (d,), default=None
            Subtracted from the numbers, and from the means of the mixture. Distances and densities do not depend on it,
            but with numbers far from zero float32 would have no digits left for their differences.
        dtype : dtype, default=None
            Type of rows of the host there; ``None`` is that of the settings.
        """
        if self.is_on_gpu and centre is None:
            return self
        dtype = self.values.dtype if self.is_on_gpu else np.dtype(device.gpu_dtype() if dtype is None else dtype)
        key = dtype.name, None if centre is None else centre.tobytes(), gpu_array.current_gpu()
        with _LOCK:
            known: dict[Any, Rows] = vars(self).setdefault("_on_gpu", {})
            if key not in known:
                known[key] = self._placed(dtype, centre)
            return known[key]

    def _placed(self, dtype: Any, centre: Floats | None) -> "Rows":
        mixture = self.mixture
        if centre is not None:
            mixture = None if mixture is None else mixture.moved(centre)
            centre = np.append(centre, np.zeros(self.n_categorical))
        if self.is_on_gpu:
            values = self.values - gpu_array.on_device(centre, dtype)
        else:
            values = gpu_array.to_gpu(self.values, dtype, centre)
        gpu_array.wait()
        return _finite_as(self, Rows(values, mixture, n_categorical=self.n_categorical))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_on_gpu"}  # other machines may have none

    def under(self, mixture: Mixture) -> "Rows":
        """Return the same rows with another mixture; a copy of their values on a GPU is shared."""
        other = _finite_as(self, Rows(self.values, mixture))
        for key, placed in vars(self).get("_on_gpu", {}).items():
            if key[1] is None:
                vars(other).setdefault("_on_gpu", {})[key] = Rows(placed.values, mixture)
        return other

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        filled = np.asarray(self.filled, dtype=dtype)
        return filled.copy() if copy else filled

    @cached_property
    def log_joint(self) -> Floats:  # (n, k)
        """Logarithm of each component's share of the density."""
        return self._computed("log_joint")

    @cached_property
    def responsibilities(self) -> Floats:  # (n, k)
        """Probability that a row comes from a component."""
        return self._computed("responsibilities")

    @cached_property
    def log_density(self) -> Floats:  # (n,)
        """Logarithm of the density; gaps are marginalised."""
        return self._computed("log_density")

    def _computed(self, name: str) -> Floats:
        """Compute all that the density gives, keep it, and return one part."""
        mixture = self._density()
        if not self.is_on_gpu and device.on_gpu() and len(self) * mixture.n_components >= GPU_WORK:
            return self._from_gpu(name)
        found = mixture.row_densities(self.values, fill=self.has_gaps)
        if self.is_on_gpu:
            gpu_array.wait()  # other threads read the result in other streams
        known = vars(self)
        known.update(log_joint=found.log_joint, responsibilities=found.responsibilities, log_density=found.log_density)
        if found.filled is not None:
            known["numbers"] = found.filled
        return known[name]

    def _from_gpu(self, name: str) -> Floats:
        """Compute all that the density gives on a GPU, and keep one part of it."""
        centre = self.centre
        found = gpu_array.to_host(getattr(self.on_gpu(centre), name), float)
        if name == "numbers" and centre is not None:
            found += centre
        vars(self)[name] = found
        return found

    def _density(self) -> Mixture:
        assert self.mixture is not None, "rows without a mixture have no density"
        return self.mixture

    @cached_property
    def is_finite(self) -> bool:
        """Whether the values have neither gaps nor infinite numbers."""
        return is_finite(self.values)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a number is missing."""
        return not self.is_finite and bool(np.isnan(self.values[:, : self.n_continuous]).any())

    @cached_property
    def numbers(self) -> Floats:  # (n, d)
        """Continuous columns; a gap is its expectation under the mixture given the row's other values."""
        if self.has_gaps:
            return self._computed("numbers")
        numbers: Floats = gpu_array.namespace(self.values).ascontiguousarray(self.values[:, : self.n_continuous])
        return self._finished(numbers)

    @cached_property
    def codes(self) -> Codes | None:  # (n, e)
        """Category codes as integers, -1 for a gap; None where there are no categorical columns."""
        codes = self.values[:, self.n_continuous :]
        return self._finished(np.where(np.isnan(codes), -1, codes).astype(np.int32)) if self.n_categorical else None

    def _finished(self, part: Any) -> Any:
        """Return a copy of some columns when it is complete: threads with other streams read it, too."""
        if self.is_on_gpu and self.n_categorical:
            gpu_array.wait()
        return part

    @property
    def filled(self) -> Floats:  # (n, d + e)
        """The values with numbers in place of their gaps; missing categories stay missing."""
        return np.hstack([self.numbers, self.values[:, self.n_continuous :]]) if self.has_gaps else self.values


_LOCK = RLock()


def _finite_as(rows: Rows, part: Rows) -> Rows:
    """Keep that rows are finite for a part or a copy of them."""
    if vars(rows).get("is_finite"):
        vars(part)["is_finite"] = True
    return part
