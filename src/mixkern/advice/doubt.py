"""How undecided the labels leave a row."""

import numpy as np

from mixkern.typing import Floats, Ints

NOISE = 0.1  # variance of a label in the regression on the classes


def doubt(to_labelled: Floats, among_labelled: Floats, codes: Ints) -> Floats:  # (m,)
    """Give one less the margin between the two most plausible classes: 1 for a row on the boundary, or far away.

    The classes are regressed on, one by one, with the kernel as covariance and their shares of the labels as mean.

    Parameters
    ----------
    to_labelled, among_labelled : ndarray of shape (m, s) and (s, s)
        Kernel between the rows and the labelled ones, and among these.
    codes : ndarray of int, shape (s,)
        Classes of the labelled rows.

    Examples
    --------
    >>> X, labelled = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [2.0]])
    >>> doubt(np.exp(-(X - labelled.T) ** 2), np.exp(-(labelled - labelled.T) ** 2), np.array([0, 1])).round(1)
    array([0.1, 1. , 0.1])
    """
    classes, codes = np.unique(codes, return_inverse=True)
    if len(classes) < 2:
        return np.ones(len(to_labelled))
    targets = np.eye(len(classes))[codes]  # (s, c)
    mean = targets.mean(axis=0)
    values, vectors = np.linalg.eigh(among_labelled)
    solved = vectors / (np.maximum(values, 0) + NOISE) @ (vectors.T @ (targets - mean))
    scores = np.sort(mean + to_labelled @ solved, axis=1)
    return 1 - np.clip(scores[:, -1] - scores[:, -2], 0, 1)
