"""Which rows to label next."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from mixkern.advice.design import central_rows, greedy_design, uncertainty
from mixkern.advice.pool import Pool
from mixkern.density import Mixture
from mixkern.encoding import UNLABELLED, Labels, encode_labels
from mixkern.errors import LabelError, NotATableError, OptionError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.kernel_factory import Scale, gamma_of, replaced
from mixkern.estimators.setting import COUNT
from mixkern.kernels import BlendKernel
from mixkern.svm.gaussian_process import posterior_covariance
from mixkern.typing import Floats, Ints
from mixkern.wording import counted

MOST_ROWS = 1_500  # that are compared with each other: 18 MB a matrix, some ten milliseconds a suggestion
MOST_KNOWN = 1_000  # rows with a label, or suggested already, that these are compared with
MOST_PICKED = 200  # before other rows are drawn
SHARE = 0.9  # of the kernel that is the mixture's: without labels, it is all that is known of the table's structure
SHARPER = 4.0  # times as local is the kernel that says where the middle of a group is


def suggest(X: Any, n: int, y: Any = None, *, model: Any = None, random_state: Any = None) -> Ints:
    """Give the rows to label next: those that say most about all the others.

    Without labels, the mixture alone decides: rows in the middle of dense places, spread over all that the table holds.
    With labels, rows near them have less to say, and those that the labels leave undecided are worth up to twice as
    much as others. Rows with gaps are worth less. Ask for all the rows that you can label in one go, or for some, label
    them, and ask again.

    Parameters
    ----------
    X : frame or array-like of shape (n_rows, n_columns)
        The table: numbers, categories, gaps.
    n : int
        How many rows to suggest.
    y : array-like of shape (n_rows,), default=None
        Labels so far; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none. Rows that have one are
        not suggested.
    model : MixtureSVC or LaplacianSVC, default=None
        How to read the table and to learn its density. A fitted one, which knows the columns of ``X`` already, lends
        its density and nothing is learned again. ``None`` is ``MixtureSVC()``.
    random_state : int, RandomState or None, default=None
        Which start the density has, and which rows are compared where there are many.

    Returns
    -------
    ndarray of int, shape (n,)
        Positions of rows, the most important one first. Of equal rows one is suggested, as long as there are others.

    See Also
    --------
    mixkern.advice.suggestion_table : says why.

    Notes
    -----
    At most 1,500 rows are compared with each other, and with at most 1,000 that have labels, so memory does not grow
    with the square of the table. Where there are more, they are drawn at random, and drawn anew after every 200
    suggestions.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import suggest
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> rows = suggest(X, 8, random_state=0)
    >>> few = [label if i in rows else None for i, label in enumerate(y)]  # asked of somebody who knows
    >>> more = suggest(X, 8, few, random_state=0)
    >>> len(set(rows) | set(more))
    16
    """
    labels = labels_so_far(X, y)
    check_room(n, labels.codes)
    machine, rows = structure(X, y, labels, model, random_state)
    return suggested_rows(rows, machine.mixture_, n, labels.codes, random_state)


def suggested_rows(
    rows: ArrayLike, mixture: Mixture, n: int, codes: ArrayLike | None = None, random_state: Any = None
) -> Ints:
    """Give the rows to label next, where the density is known: what :func:`suggest` does with encoded rows.

    Parameters
    ----------
    rows : array-like of shape (n_rows, d + e)
        Rows as :class:`~mixkern.TableEncoder` gives them; NaN is a gap.
    mixture : Mixture
        Their density.
    n : int
        How many rows to suggest.
    codes : array-like of int, shape (n_rows,), default=None
        Classes, -1 where unlabelled; ``None`` where all are.
    random_state : int, RandomState or None, default=None
        Which rows are compared where there are more than 1,500.

    Returns
    -------
    ndarray of int, shape (n,)
        Positions, the most important one first.

    Examples
    --------
    >>> from mixkern import Mixture
    >>> mixture = Mixture([0.5, 0.5], [[-5.0], [5.0]], [[[1.0]], [[1.0]]])
    >>> rows = [[-5.5], [-5.0], [-4.5], [4.5], [5.0], [5.5]]
    >>> sorted(suggested_rows(rows, mixture, 2) < 3)  # one on either side
    [np.False_, np.True_]
    >>> int(suggested_rows(rows, mixture, 1, codes=[-1, 0, -1, -1, -1, -1])[0]) > 2
    True
    """
    values = np.asarray(rows, dtype=float)
    classes = np.full(len(values), UNLABELLED) if codes is None else np.asarray(codes)
    if len(values) != len(classes):
        raise LabelError(f"There are {counted(len(values), 'row')}, but {counted(len(classes), 'code')}.")
    check_room(n, classes)
    random = check_random_state(random_state)
    kernel = similarity(values, mixture, random)
    labelled = np.flatnonzero(classes != UNLABELLED)
    pool = Pool.of(values, classes != UNLABELLED)
    found = np.empty(0, dtype=np.intp)
    while len(found) < n and len(pool.fresh):
        candidates, counts = pool.drawn(MOST_ROWS, random)
        judges = _some(labelled, random)
        known = _some(np.append(judges, found), random)
        worth = _worth(kernel, values[candidates], values[judges], classes[judges])
        n_picks = min(n - len(found), len(candidates), MOST_PICKED)
        picks = candidates[_picked(kernel, values[candidates], values[known], counts, worth, n_picks)]
        found, pool = np.append(found, picks), pool.without(picks)
    if len(found) < n:
        found = np.append(found, random.choice(pool.copies, n - len(found), replace=False))
    return found


def similarity(rows: Floats, mixture: Mixture, random: np.random.RandomState) -> BlendKernel:
    """Give the kernel by which rows tell of each other: that of machines, with more of the mixture in it."""
    kernel = BlendKernel(mixture, share=SHARE)
    scaled: BlendKernel = replaced(kernel, gamma=gamma_of(Scale.SCALE, kernel, rows, random))
    return scaled


def structure(X: Any, y: Any, labels: Labels, model: Any, random_state: Any) -> tuple[MixtureSVC, Floats]:
    """Give a machine that knows the density of a table, and the encoded rows."""
    if model is not None and not isinstance(model, MixtureSVC):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise OptionError(f"model must be None, a MixtureSVC or a LaplacianSVC, but it is {name}. Pass an instance.")
    if model is not None and hasattr(model, "mixture_"):
        return model, np.asarray(X, dtype=float) if model.encoder_ is None else model.encoder_.transform(X)
    machine = MixtureSVC() if model is None else clone(model)
    if machine.random_state is None:
        machine.set_params(random_state=random_state)
    codes = machine.read_labels(X, y, None)[0] if labels.n_classes > 1 else None
    return machine, machine.learn_structure(X, None, codes)


def labels_so_far(X: Any, y: Any) -> Labels:
    """Read labels, of which there may be none."""
    if not (hasattr(X, "shape") or hasattr(X, "__len__")):
        raise NotATableError(f"X must be a table, such as a frame or an array, but it is of type {type(X).__name__}.")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if y is None:
        return Labels(np.full(n_rows, UNLABELLED), np.empty(0, dtype=object))
    labels = encode_labels(y, min_classes=0)
    if len(labels.codes) != n_rows:
        raise LabelError(
            f"X has {counted(n_rows, 'row')}, but y has {len(labels.codes)}. Give one label per row, None where there "
            "is none."
        )
    return labels


def check_room(n: Any, codes: Any) -> None:
    """Refuse to suggest more rows than there are without a label."""
    if not COUNT[1](n):
        raise OptionError(f"n must be {COUNT[0]}, but it is {n!r}.")
    n_open = int((np.asarray(codes) == UNLABELLED).sum())
    if n > n_open:
        raise OptionError(
            f"n is {n}, but of {counted(len(codes), 'row')} {n_open} {'has' if n_open == 1 else 'have'} no label. "
            + (f"Ask for {n_open} at most." if n_open else "There is nothing left to suggest.")
        )


def _some(rows: Ints, random: np.random.RandomState) -> Ints:
    return rows if len(rows) <= MOST_KNOWN else random.choice(rows, MOST_KNOWN, replace=False)


def _picked(kernel: BlendKernel, rows: Floats, known: Floats, counts: Floats, worth: Floats, n: int) -> Ints:
    """Pick rows that say most about all of them, beyond what known ones say."""
    apart, near = kernel.pair_terms(rows), SHARPER * kernel.gamma
    covariance, to_known = apart.kernel(kernel.gamma), np.empty((len(rows), 0))
    if len(known):
        apart_known = kernel.pair_terms(rows, known)
        covariance = posterior_covariance(covariance, apart_known.kernel(kernel.gamma), kernel(known))
        to_known = apart_known.kernel(near)
    return central_rows(apart.kernel(near), to_known, counts, worth, greedy_design(covariance, counts, worth, n))


def _worth(kernel: BlendKernel, rows: Floats, judges: Floats, codes: Ints) -> Floats:
    """Say what rows are worth, besides being among many others: more if labels leave them undecided, less with gaps."""
    there = 1 - np.isnan(rows).mean(axis=1)
    if not len(judges):
        return there
    return there * (1 + uncertainty(kernel(rows, judges), kernel(judges), codes)) / 2
