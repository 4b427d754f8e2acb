"""Fewer rows, for machines that need matrices as large as there are rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.errors import DrawnRowsWarning, warn


def drawn(n: int, codes: Any, limit: int, random: np.random.RandomState) -> NDArray[np.intp]:
    """Give positions of at most ``limit`` of n rows: all labelled ones, and others at random.

    Parameters
    ----------
    n : int
        How many rows there are.
    codes : ndarray of int or None
        Class codes of the first of them, -1 where unlabelled; what comes after is unlabelled.
    limit : int
        How many to give; the labelled ones are kept even if they are more.
    random : RandomState
        Which ones.
    """
    if n <= limit:
        return np.arange(n)
    is_labelled = np.zeros(n, dtype=bool)
    if codes is not None:
        is_labelled[: len(codes)] = np.asarray(codes) >= 0
    others = np.flatnonzero(~is_labelled)
    n_others = max(0, min(len(others), limit - int(is_labelled.sum())))
    warn(
        f"There are {n} rows, and matrices of that size would be needed: all {int(is_labelled.sum())} labelled rows "
        f"and {n_others} others, drawn at random, are used. The density and predictions know all rows. max_rows= sets "
        "the limit of LaplacianSVC, TransductiveSVC and QuasiNewtonS3VC.",
        DrawnRowsWarning,
    )
    return np.sort(np.concatenate([np.flatnonzero(is_labelled), random.choice(others, n_others, replace=False)]))
