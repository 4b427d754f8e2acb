"""Calibration of probabilities: reliability bins, their expected calibration error, and the log loss."""

import json
import math
from collections.abc import Iterable

import numpy as np

from mixkern.typing import Floats, Ints

N_BINS = 10  # of equal width
SMALLEST = 1e-6  # smaller probabilities count as this in the log loss: one row costs at most 13.8
NO_PROBABILITIES = "[]"  # reliability of a method without

Bins = list[list[float]]  # rows, sum of confidences, correct rows


def reliability(classes: Ints, probabilities: Floats, truth: Ints) -> Bins:
    """Count rows by their confidence, the probability of the most probable class.

    Parameters
    ----------
    classes : ndarray of int, shape (c,)
        Codes of the classes.
    probabilities : ndarray of shape (n, c)
        Their probabilities.
    truth : ndarray of int, shape (n,)
        True classes.

    Returns
    -------
    list of list
        For each of ten bins of equal width from 0 to 1: the number of rows, the sum of their confidences, and how many
        of them are correct.

    Examples
    --------
    >>> reliability(np.array([0, 1]), np.array([[0.75, 0.25], [0.1, 0.9], [0.2, 0.8]]), np.array([0, 1, 0]))[7:]
    [[1, 0.75, 1], [1, 0.8, 0], [1, 0.9, 1]]
    """
    confidence = probabilities.max(axis=1)
    is_correct = classes[probabilities.argmax(axis=1)] == truth
    bins = np.clip((confidence * N_BINS).astype(int), 0, N_BINS - 1)
    sums = np.bincount(bins, confidence, N_BINS).round(6).tolist()
    counts, correct = np.bincount(bins, minlength=N_BINS), np.bincount(bins[is_correct], minlength=N_BINS)
    return [list(each) for each in zip(counts.tolist(), sums, correct.tolist(), strict=True)]


def expected_calibration_error(tables: Iterable[Bins]) -> float:
    r"""Compute the expected calibration error of rows that are counted in bins, those of several draws added up.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \left|\mathrm{accuracy}_b - \mathrm{confidence}_b\right|

    Draws are added up before the error is computed: of a few test rows, the accuracy of a bin is mostly noise, and the
    error would be large for any method.

    Returns
    -------
    float
        From 0 to 1; NaN where there are no rows.

    Examples
    --------
    >>> expected_calibration_error([[[1, 0.75, 1], [1, 0.8, 0]]])
    0.525
    """
    counted = [np.array(table, dtype=float) for table in tables if table]
    if not counted:
        return math.nan
    n, confidence, n_correct = np.sum(counted, axis=0).T
    return float(np.abs(confidence - n_correct).sum() / n.sum())


def mean_log_loss(classes: Ints, probabilities: Floats, truth: Ints) -> float:
    """Compute the mean of -log(probability of the true class), over rows whose class is among ``classes``.

    No method knows a class without a label, so rows of such a class are left out. The logarithm is natural, and
    probabilities below 0.000001 count as that.

    >>> round(mean_log_loss(np.array([0, 2]), np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([2, 1])), 4)
    0.6931
    """
    is_known = np.isin(truth, classes)
    if not is_known.any():
        return math.nan
    column = np.searchsorted(classes, truth[is_known])
    of_truth = probabilities[is_known, column]
    return abs(float(np.log(np.maximum(of_truth, SMALLEST)).mean()))  # not -0.0 where all are certain


def checked_probabilities(probabilities: Floats) -> Floats:
    """Return probabilities with rows that are not numbers replaced by equal ones, as of rows without any neighbour.

    >>> checked_probabilities(np.array([[0.25, 0.75], [np.nan, np.nan]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    is_whole = np.isfinite(probabilities).all(axis=1, keepdims=True)
    return np.where(is_whole, probabilities, 1.0 / probabilities.shape[1])


def bins_text(bins: Bins) -> str:
    """Return bins as text for a record.

    >>> bins_text([[1, 0.75, 1]])
    '[[1,0.75,1]]'
    """
    return json.dumps(bins, separators=(",", ":"))
