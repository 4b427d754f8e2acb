"""Rows for machines that know neither gaps nor categories."""

import numpy as np

from mixkern.density.mixture import Mixture
from mixkern.typing import Floats


def plain_numbers(mixture: Mixture, rows: Floats) -> Floats:
    """Give rows as machines read them that know neither gaps nor categories.

    Missing numbers are filled by their expectations. Each category becomes a column of zeros and ones; of a missing
    category all are zero.

    Parameters
    ----------
    mixture : Mixture
        The density of the rows.
    rows : ndarray of shape (n, d + e)
        Numbers, then codes; NaN is a gap.

    Returns
    -------
    ndarray of shape (n, d + number of categories)

    Examples
    --------
    >>> mixture = Mixture([1.0], [[2.0]], [[[1.0]]], categories=[[[0.5, 0.5]]])
    >>> plain_numbers(mixture, np.array([[np.nan, 1.0]]))
    array([[2., 0., 1.]])
    """
    filled, d = mixture.conditional_mean(rows), mixture.n_continuous
    columns = [filled[:, :d]]
    for j, table in enumerate(mixture.categories):
        columns.append((filled[:, d + j, None] == np.arange(table.shape[1])).astype(float))
    return np.hstack(columns)
