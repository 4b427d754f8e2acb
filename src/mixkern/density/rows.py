"""Encoded rows with what a mixture density gives for them, computed once."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.density.mixture import Mixture
from mixkern.typing import Codes, Floats

COMPUTED = ("log_joint", "responsibilities", "log_density", "numbers", "codes")  # carried on to parts of the rows


class Rows:
    """Encoded rows; responsibilities, log densities and filled gaps are computed when first read, and kept.

    Estimators make one from a table; kernel, decision function, components and novelty read it. As an array
    (``np.asarray(rows)``) it is :attr:`filled`: what a kernel without a density can read.

    Parameters
    ----------
    values : ndarray of shape (n, d + e)
        Numbers, then category codes, as :class:`~mixkern.TableEncoder` gives them; NaN is a gap.
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
        return part

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
        found = self._density().row_densities(self.values, fill=self.has_gaps)
        known = vars(self)
        known.update(log_joint=found.log_joint, responsibilities=found.responsibilities, log_density=found.log_density)
        if found.filled is not None:
            known["numbers"] = found.filled
        return known[name]

    def _density(self) -> Mixture:
        assert self.mixture is not None, "rows without a mixture have no density"
        return self.mixture

    @property
    def has_gaps(self) -> bool:
        """Whether a number is missing."""
        return bool(np.isnan(self.values[:, : self.n_continuous]).any())

    @cached_property
    def numbers(self) -> Floats:  # (n, d)
        """Continuous columns; a gap is its expectation under the mixture given the row's other values."""
        return self._computed("numbers") if self.has_gaps else np.ascontiguousarray(self.values[:, : self.n_continuous])

    @cached_property
    def codes(self) -> Codes | None:  # (n, e)
        """Category codes as integers, -1 for a gap; None where there are no categorical columns."""
        codes = self.values[:, self.n_continuous :]
        return np.where(np.isnan(codes), -1, codes).astype(np.int32) if self.n_categorical else None

    @property
    def filled(self) -> Floats:  # (n, d + e)
        """The values with numbers in place of their gaps; missing categories stay missing."""
        return np.hstack([self.numbers, self.values[:, self.n_continuous :]]) if self.has_gaps else self.values
