"""Choose rows to label next."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from mixkern.advice.design import central_rows, greedy_design, uncertainty
from mixkern.advice.source import n_random, random_rows
from mixkern.defaults import AUDIT
from mixkern.density import Mixture
from mixkern.encoding import UNLABELLED, Labels, encode_labels
from mixkern.encoding.lengths import check_length, n_rows_of
from mixkern.errors import LabelError, OptionError, TableError, hint
from mixkern.estimators import MixtureSVC
from mixkern.estimators.kernel_factory import Scale, evidence_kernel, gamma_of, replaced
from mixkern.kernels import BlendKernel
from mixkern.kernels.blend import SHARE as CLASSIFIER_SHARE
from mixkern.partitions import PartitionedValues, learns_partitions
from mixkern.sampling import check_random_state, subsample
from mixkern.svm.decision import values_for
from mixkern.svm.gaussian_process import posterior_covariance
from mixkern.typing import Bools, Floats, Ints, Positions, RandomState
from mixkern.validation import COUNT, FRACTION, as_floats, is_number
from mixkern.wording import counted, shown

MAX_CANDIDATES = 1_500  # rows compared with each other: 18 MB a matrix, some ten milliseconds a suggestion
MAX_KNOWN = 1_000  # labelled or suggested rows that candidates are compared with
MAX_DRAWN = 20_000  # rows without a label of a Dask collection that are considered
MAX_PICKS = 200  # suggestions before other candidates are drawn
SHARE = 0.9  # of the mixture in the kernel without any label: higher than in classifiers
POWER = 2.0  # of the uncertainty about a row's class: larger values prefer rows between classes
CENTRE_SCALE = 4.0  # factor of gamma for the more local kernel that finds the middle of a group


@learns_partitions
def suggest(
    X: Any, n: int, y: Any = None, *, model: Any = None, audit: float = AUDIT, random_state: Any = None
) -> Ints:
    """Choose the rows whose labels are most informative about all others, and some rows at random.

    Without labels, rows in the middle of dense regions are chosen, spread over the whole table. With labels, rows near
    labelled ones count less, and rows whose class is certain count less: rows are compared by the classifier's kernel,
    and the reduction of the uncertainty about all rows is multiplied by the squared uncertainty of the row's own class.
    Rows with gaps count less. Either label all suggested rows at once, or label a few and call the function again.

    One row in five is drawn at random from all rows without a label. Suggested rows are not a sample of the table: some
    are typical, others difficult. The random ones are a sample, and :func:`~mixkern.advice.estimated_accuracy` uses
    them to estimate the accuracy on all rows.

    Parameters
    ----------
    X : frame, array-like of shape (n_rows, n_columns) or Dask collection
        The table: numbers, categories, gaps. Of a Dask collection, 20,000 rows without a label, drawn at random, are
        considered.
    n : int
        How many rows to suggest.
    y : array-like of shape (n_rows,), default=None
        Labels so far; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none. Rows that have one are
        not suggested.
    model : MixtureSVC or LaplacianSVC, default=None
        How to encode the table and to fit its density. Encoder and density of a fitted one, with the same columns as
        ``X``, are used as they are. ``None`` is ``MixtureSVC()``.
    audit : float, default=0.2
        Share of rows that are drawn at random, from 0 to 1. Their number depends on the number of labels so far, so
        that calls with ``n=1`` reach the share as well.
    random_state : int, RandomState or None, default=None
        Controls the start of the density, which rows are compared where there are many, and the random rows.

    Returns
    -------
    ndarray of int, shape (n,)
        Positions of rows, the most important one first, those that are drawn at random last. Of equal rows one is
        suggested, as long as others are left.

    See Also
    --------
    mixkern.advice.suggestion_table : the same rows with reasons, and with the source of each: suggested or random.

    Notes
    -----
    At most 1,500 rows are compared with each other, and with at most 1,000 labelled ones, so that memory does not grow
    with the square of the number of rows. Where there are more, they are drawn at random, anew after every 200
    suggestions.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import suggest
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> rows = suggest(X, 8, random_state=0)
    >>> few = [label if i in rows else None for i, label in enumerate(y)]  # labelled by a person
    >>> more = suggest(X, 8, few, random_state=0)
    >>> len(set(rows) | set(more))
    16

    To record how each row was chosen, take the column ``source`` of :func:`~mixkern.advice.suggestion_table`:

    >>> from mixkern.advice import suggestion_table
    >>> table = suggestion_table(X, 8, random_state=0)
    >>> source = [None] * len(X)
    >>> for position, chosen in zip(table["position"], table["source"]):
    ...     source[position] = chosen
    >>> [source[i] for i in rows[-2:]]
    ['suggested', 'random']
    """
    check_count(n)
    FRACTION.check(audit, "audit")
    labels = labels_so_far(X, y)
    check_n_suggestions(n, labels.codes)
    estimator, rows = learned_structure(X, y, labels, model, random_state)
    codes, drawn = np.asarray(labels.codes), None
    if isinstance(rows, PartitionedValues):
        drawn = drawn_rows(codes, max(MAX_DRAWN, n), check_random_state(random_state))
        rows, codes = rows[drawn], codes[drawn]
    found = np.concatenate(audited_rows(rows, estimator.mixture_, n, codes, audit, random_state))
    return found if drawn is None else drawn[found]


def drawn_rows(codes: Ints, n: int, random: RandomState) -> Positions:
    """Return the positions of all labelled rows, and of n others that are drawn at random, sorted.

    >>> drawn_rows(np.array([-1, 0, -1]), 5, RandomState(0))
    array([0, 1, 2])
    """
    others = subsample(np.flatnonzero(codes == UNLABELLED), n, random)
    return np.sort(np.append(np.flatnonzero(codes != UNLABELLED), others))


def audited_rows(
    rows: Floats, mixture: Mixture, n: int, codes: Ints, audit: float, random_state: Any
) -> tuple[Positions, Positions]:
    """Give rows to label next: those that are suggested, and those that are drawn at random from the others."""
    n_labels = int((codes != UNLABELLED).sum())
    n_drawn = n_random(n_labels, n, audit)
    picks = np.empty(0, dtype=np.intp)
    if n > n_drawn:
        picks = suggested_rows(rows, mixture, n - n_drawn, codes, random_state)
    is_left = codes == UNLABELLED
    is_left[picks] = False
    return picks, random_rows(is_left, n_drawn, n_labels, check_random_state(random_state))


def suggested_rows(
    rows: ArrayLike, mixture: Mixture, n: int, codes: ArrayLike | None = None, random_state: Any = None
) -> Ints:
    """Choose rows to label next from encoded rows and their density; see :func:`suggest`.

    Parameters
    ----------
    rows : array-like of shape (n_rows, d + e)
        Rows as :class:`~mixkern.TableEncoder` encodes them; NaN is a gap.
    mixture : Mixture
        Their density.
    n : int
        How many rows to suggest.
    codes : array-like of int, shape (n_rows,), default=None
        Classes, -1 where unlabelled; ``None`` where all are.
    random_state : int, RandomState or None, default=None
        Controls which rows are compared where there are more than 1,500.

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
    values = as_floats(rows, "rows", TableError)
    classes = np.full(len(values), UNLABELLED) if codes is None else np.asarray(codes)
    if len(values) != len(classes):
        raise LabelError(f"There are {counted(len(values), 'row')}, but {counted(len(classes), 'code')}.")
    check_n_suggestions(n, classes)
    random = check_random_state(random_state)
    return Suggester.of(values, mixture, random).suggested(n, classes, random)


@dataclass(frozen=True, eq=False)
class Suggester:
    """What suggestions from some rows have in common, whatever the labels.

    Attributes
    ----------
    rows : ndarray of shape (n, d + e)
        Encoded rows.
    kernel : BlendKernel
        The kernel that they are compared by without labels; see :meth:`kernel_for`.
    groups : ndarray of int, shape (n,)
        Number of each row's group of equal rows.
    """

    rows: Floats
    kernel: BlendKernel
    groups: Ints

    @classmethod
    def of(cls, rows: Floats, mixture: Mixture, random: RandomState) -> Self:
        """Choose the kernel for rows and their density, and group equal rows."""
        return cls(rows, similarity(rows, mixture, random), _groups(rows))

    def suggested(self, n: int, codes: Ints, random: RandomState, is_taken: Bools | None = None) -> Positions:
        """Choose rows to label next; see :func:`suggested_rows`.

        Parameters
        ----------
        n : int
            How many; all that are left, where these are fewer.
        codes : ndarray of int, shape (n_rows,)
            Classes, -1 where unlabelled.
        random : RandomState
            Draws rows where there are many.
        is_taken : ndarray of bool, shape (n_rows,), default=None
            Rows that must not be suggested, besides labelled ones: those that someone is labelling, or has skipped.
        """
        labelled = np.flatnonzero(codes != UNLABELLED)
        pool = Pool(self.groups, (codes != UNLABELLED) | (False if is_taken is None else is_taken))
        n = min(n, int((~pool.is_taken).sum()))
        found = np.empty(0, dtype=np.intp)
        while len(found) < n and len(pool.fresh):
            candidates, counts = pool.candidates(MAX_CANDIDATES, random)
            some = subsample(labelled, MAX_KNOWN, random)
            known = subsample(np.append(some, found), MAX_KNOWN, random)
            kernel = self.kernel_for(some, codes[some])
            worth = _worth(kernel, self.rows[candidates], self.rows[some], codes[some])
            n_picks = min(n - len(found), len(candidates), MAX_PICKS)
            picked = _picked(
                kernel, self.rows[candidates], self.rows[known], counts, worth, n_picks, is_central=not len(some)
            )
            found, pool = np.append(found, candidates[picked]), pool.without(candidates[picked])
        if len(found) < n:
            found = np.append(found, random.choice(pool.copies, n - len(found), replace=False))
        return found

    def kernel_for(self, labelled: Positions, codes: Ints) -> BlendKernel:
        """Give the kernel that rows are compared by: with labels, that of the classifier."""
        if not len(labelled):
            return self.kernel
        if len(np.unique(codes)) < 2:
            own: BlendKernel = replaced(self.kernel, share=CLASSIFIER_SHARE)
            return own
        return evidence_kernel(self.kernel, self.rows[labelled], codes)


def similarity(rows: Floats, mixture: Mixture, random: RandomState) -> BlendKernel:
    """Give the kernel that rows are compared by: the default one, with a larger share of the mixture."""
    kernel = BlendKernel(mixture, share=SHARE)
    scaled: BlendKernel = replaced(kernel, gamma=gamma_of(Scale.SCALE, kernel, rows, random))
    return scaled


def learned_structure(X: Any, y: Any, labels: Labels, model: Any, random_state: Any) -> tuple[MixtureSVC, Floats]:
    """Give an estimator with a fitted density of the table, and the encoded rows."""
    if model is not None and not isinstance(model, MixtureSVC):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise OptionError(f"model must be None, a MixtureSVC or a LaplacianSVC, but it is {name}. Pass an instance.")
    if model is not None and hasattr(model, "mixture_"):
        return model, model.rows_of(X).values
    estimator = MixtureSVC() if model is None else clone(model)
    if estimator.random_state is None:
        estimator.set_params(random_state=random_state)
    codes = estimator.read_labels(X, y, None)[0] if labels.n_classes > 1 else None
    rows = estimator.learn_structure(X, None, codes)
    is_partitioned = isinstance(rows.values, PartitionedValues)
    return estimator, rows.values if is_partitioned else values_for(estimator.kernel_, rows)


def labels_so_far(X: Any, y: Any, classes: Iterable[Any] = ()) -> Labels:
    """Encode labels, where all rows may be unlabelled; ``classes`` are those of a fitted classifier."""
    if y is None:
        return Labels(np.full(n_rows_of(X), UNLABELLED), np.empty(0, dtype=object))
    labels = encode_labels(y, min_classes=0, classes=classes)
    check_length(n_rows_of(X), len(labels.codes))
    return labels


def check_count(n: Any) -> None:
    """Check a number of suggestions; where labels were given in its place, the error has the order of the arguments."""
    if not COUNT.accepts(n):
        step = "" if is_number(n) else "The number of rows comes before the labels: suggest(X, n, y)."
        raise OptionError(f"n must be {COUNT.description}, but it is {shown(n)}.", hint=hint(python=step))


def check_n_suggestions(n: Any, codes: Any) -> None:
    """Refuse to suggest more rows than there are without a label."""
    check_count(n)
    n_open = int((np.asarray(codes) == UNLABELLED).sum())
    if n > n_open:
        raise OptionError(
            f"n is {n}, but of {counted(len(codes), 'row')} {n_open} {'has' if n_open == 1 else 'have'} no label. "
            + (f"At most {n_open} can be suggested." if n_open else "There is nothing left to suggest.")
        )


def _picked(
    kernel: BlendKernel, rows: Floats, known: Floats, counts: Floats, worth: Floats, n: int, *, is_central: bool
) -> Positions:
    """Pick the rows that reduce the uncertainty about all of them most, given labels of other rows.

    Without any label they are moved to the middle of their groups. With labels they are between classes, and stay.
    """
    apart, near = kernel.pair_terms(rows), CENTRE_SCALE * kernel.gamma
    covariance, to_known = apart.kernel(kernel.gamma), np.empty((len(rows), 0))
    if len(known):
        apart_known = kernel.pair_terms(rows, known)
        covariance = posterior_covariance(covariance, apart_known.kernel(kernel.gamma), kernel(known))
        to_known = apart_known.kernel(near)
    picks = greedy_design(covariance, counts, worth, n)
    return central_rows(apart.kernel(near), to_known, counts, worth, picks) if is_central else picks


def _worth(kernel: BlendKernel, rows: Floats, labelled: Floats, codes: Ints) -> Floats:
    """Compute a factor for each row: larger where its class is uncertain, smaller where it has gaps."""
    complete = 1 - np.isnan(rows).mean(axis=1)
    if not len(labelled):
        return complete
    return complete * uncertainty(kernel(rows, labelled), kernel(labelled), codes) ** POWER


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows in groups of equal rows, and which of them are taken: labelled, or suggested already.

    Attributes
    ----------
    groups : ndarray of int, shape (n,)
        Number of each row's group.
    is_taken : ndarray of bool, shape (n,)
        Mask of the rows that are taken.
    """

    groups: Ints
    is_taken: Bools

    @classmethod
    def of(cls, rows: Floats, is_taken: Bools) -> Self:
        """Group equal rows; gaps are equal to gaps."""
        return cls(_groups(rows), is_taken)

    @property
    def fresh(self) -> Positions:
        """Positions of the rows that are not equal to any taken row."""
        has_taken = np.zeros(self.groups.max(initial=0) + 1, dtype=bool)
        has_taken[self.groups[self.is_taken]] = True
        return np.flatnonzero(~has_taken[self.groups])

    @property
    def copies(self) -> Positions:
        """Positions of the rows that are not taken, but equal to a taken row."""
        return np.setdiff1d(np.flatnonzero(~self.is_taken), self.fresh)

    def without(self, rows: Positions) -> Self:
        """Give a pool in which these rows are taken, too."""
        is_taken = self.is_taken.copy()
        is_taken[rows] = True
        return replace(self, is_taken=is_taken)

    def candidates(self, limit: int, random: RandomState) -> tuple[Positions, Floats]:
        """Draw at most ``limit`` fresh rows; give one position for each group, and the number of its rows drawn.

        >>> pool = Pool.of(np.array([[1.0], [2.0], [1.0], [3.0]]), np.array([False, False, False, True]))
        >>> pool.candidates(10, RandomState(0))
        (array([0, 1]), array([2., 1.]))
        """
        some = np.sort(subsample(self.fresh, limit, random))
        _, first, counts = np.unique(self.groups[some], return_index=True, return_counts=True)
        by_position = np.argsort(first)
        return some[first[by_position]], counts[by_position].astype(float)


def _groups(rows: Floats) -> Ints:
    """Give each row the number of its group of equal rows, which are compared byte by byte."""
    values = np.where(np.isnan(rows), np.nan, rows) + 0.0  # one kind of gap, one kind of zero
    cells = np.ascontiguousarray(values).view(f"V{values.itemsize * values.shape[1]}").ravel()
    return np.unique(cells, return_inverse=True)[1].astype(np.intp).ravel()
