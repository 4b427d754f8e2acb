"""The machine that knows nothing but the labelled rows: what unlabelled rows have to beat."""

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from mixkern.density import Mixture

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

C = 10.0  # what an error costs; untuned, as it is for the machine that it is compared with


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


def predicted(numbers: Floats, codes: Ints, kept: Ints, out: Ints) -> Ints:
    """Train scikit-learn's SVC on the rows that are kept, and give the classes of those left out."""
    return np.asarray(SVC(C=C).fit(numbers[kept], codes[kept]).predict(numbers[out]), dtype=np.intp)
