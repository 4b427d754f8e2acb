r"""Joachims' transductive SVM: a large margin for labelled and unlabelled rows.

It searches the labels of unlabelled rows that allow the widest margin:

.. math:: \tfrac12 \|w\|^2 + C \sum_{i\,\text{labelled}} \xi_i + C^* \sum_{j\,\text{unlabelled}} \xi_j

There are too many to try, so the search starts with the predictions of the supervised SVM, and switches labels in
pairs, one of each class, as long as the objective falls. Unlabelled rows begin with a small weight, so that the first
switches depend on the labels most.

References
----------
Joachims, T. (1999). Transductive inference for text classification using support vector machines. ICML.
Sindhwani, V. and Keerthi, S. S. (2006). Large scale semi-supervised linear SVMs. SIGIR. Many switches at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from mixkern.errors import InterruptedWarning, hint, ignored_warnings, warn
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import Repair, Repaired, definiteness, repaired
from mixkern.svm.decision import Dual
from mixkern.svm.libsvm import MAX_ITER, classifier, for_given_rows
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of

TRANSDUCTIVE_LEVELS = 11  # each doubles the cost of unlabelled rows; three times as many were no better
FIRST_COST = 1e-3  # as a share of the last
MAX_ROUNDS = 30  # of switches on one level; one in a hundred levels takes more than five


def transductive(
    K: Floats,
    signs: Ints,
    *,
    C: float = 1.0,
    unlabelled_C: float | None = None,
    positive_share: float | None = None,
    sample_weight: Floats | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    repair: str = Repair.AUTO,
    step: Callable[[], object] | None = None,
) -> Dual:
    """Train a binary classifier with a wide margin for labelled and unlabelled rows.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among all rows, labelled or not.
    signs : ndarray of int, shape (n,)
        Class of each row, -1 or 1, and 0 where it is unknown. Both classes occur.
    C : float, default=1.0
        Cost of a labelled row on the wrong side of its margin.
    unlabelled_C : float or None, default=None
        Cost of an unlabelled one, ``C`` if ``None``. Zero leaves these rows out.
    positive_share : float or None, default=None
        Share of the unlabelled rows that belong to the class 1. ``None`` takes that of the labelled rows.
    sample_weight : ndarray of shape (n,), default=None
        Factor of ``C`` for each labelled row, positive. Those of unlabelled rows are not read.
    tol : float, default=1e-3
        Tolerance of each training.
    max_iter : int, default=-1
        Limit for the iterations of libsvm in each training, -1 for a million.
    repair : {"auto", "none", "clip", "flip", "shift"}, default="auto"
        Treatment of a matrix that is not positive semi-definite; see :class:`~mixkern.kernels.Repair`.
    step : callable or None, default=None
        Called without arguments after each of ``TRANSDUCTIVE_LEVELS`` levels, for a progress bar; not called where
        unlabelled rows have no cost.

    Returns
    -------
    Dual
        One function, positive for the class 1.

    Warns
    -----
    InterruptedWarning
        On Ctrl-C after the first training. The last finished level is returned.
    NotConvergedWarning
        Once, where libsvm has stopped at ``max_iter``.

    Notes
    -----
    The number of unlabelled rows in each class never changes: otherwise all of them could end up in one class, where
    margins are widest. The result is a local optimum.

    Examples
    --------
    Rows on a line, the outer ones labelled. The gap between the others is not in the middle.

    >>> x = np.array([0.0, 1.0, 2.0, 3.0, 6.0, 7.0])
    >>> K = np.exp(-0.1 * (x[:, None] - x) ** 2)
    >>> dual = transductive(K, np.array([-1, 0, 0, 0, 0, 1]), positive_share=0.25)
    >>> np.sign(dual.decision(K).ravel())
    array([-1., -1., -1., -1.,  1.,  1.])
    """
    trainer = _Trainer(K, tol, max_iter, one_of(Repair, repair, "repair"))
    costs = np.where(signs == 0, 0.0, C if sample_weight is None else C * sample_weight)  # (n,)
    dual, scores = trainer.trained(signs, costs)
    free = np.flatnonzero(signs == 0)
    unlabelled_C = C if unlabelled_C is None else unlabelled_C
    if len(free) and unlabelled_C > 0:
        n_positive = _n_positive(signs, positive_share)
        guess = signs.copy()
        guess[free] = _ranked(scores[free], n_positive)
        try:
            for level in _levels(n_positive, len(free) - n_positive):
                dual, guess = _settled(trainer, guess, free, costs, unlabelled_C * level)
                if step is not None:
                    step()
        except KeyboardInterrupt:
            dual = replace(dual, is_interrupted=True)
            warn(
                "Stopped before the unlabelled rows had their full cost; the last function is used.", InterruptedWarning
            )
    trainer.report(dual)
    return dual


def share_of_positive(signs: Ints) -> float:
    """Share of the class 1 among the labelled rows, taken for that among the unlabelled ones.

    >>> share_of_positive(np.array([1, 0, -1, -1, 0, -1]))
    0.25
    """
    return float((signs > 0).sum() / (signs != 0).sum())


def _n_positive(signs: Ints, positive_share: float | None) -> int:
    """Count the unlabelled rows of the class 1; each class gets one if there are two or more."""
    n_free = int((signs == 0).sum())
    wanted = round((share_of_positive(signs) if positive_share is None else positive_share) * n_free)
    return wanted if n_free < 2 else min(max(wanted, 1), n_free - 1)


def _ranked(scores: Floats, n_positive: int) -> Ints:
    """Assign the sign 1 to the rows with the highest scores, and -1 to the others."""
    signs = np.full(len(scores), -1)
    signs[np.argsort(-scores, kind="stable")[:n_positive]] = 1
    return signs


def _levels(n_positive: int, n_negative: int) -> Iterator[Floats]:
    """Costs of rows with the current labels -1 and 1, level by level, up to one.

    They start in proportion to the sizes of the classes (Joachims' C*_- and C*_+). Joachims doubles both and cuts them
    at their end; here both reach it at the same time, so that the number of levels is fixed.
    """
    sizes = np.maximum([n_negative, n_positive], 1)
    first = FIRST_COST * sizes / sizes.max()
    for left in np.linspace(1.0, 0.0, TRANSDUCTIVE_LEVELS):
        yield first**left


def _settled(trainer: "_Trainer", guess: Ints, free: Ints, costs: Floats, level: Floats) -> tuple[Dual, Ints]:
    """Train and switch labels until no switch lowers the objective; return the dual and the labels."""
    costs = costs.copy()
    for _ in range(MAX_ROUNDS):
        costs[free] = level[(guess[free] > 0).astype(int)]
        dual, scores = trainer.trained(guess, costs)
        chosen = _switches(guess[free], scores[free], trainer.tol)
        if not len(chosen):
            break
        guess = guess.copy()
        guess[free[chosen]] *= -1
    return dual, guess


def _switches(guess: Ints, scores: Floats, tol: float) -> Ints:
    """Select rows that change their labels, as many positive as negative ones.

    A positive row with slack a and a negative one with slack b change places: the positive one then has 2 - b or zero,
    the negative one 2 - a or zero. Both is less than before if a + b > 2, so the objective falls for any costs of the
    classes, and falls again by the training. Pairs do not share rows, so many may be switched at once.
    """
    slacks = np.maximum(1 - guess * scores, 0)
    order = np.argsort(-slacks, kind="stable")
    positive, negative = order[guess[order] > 0], order[guess[order] < 0]
    n = min(len(positive), len(negative))
    a, b = slacks[positive[:n]], slacks[negative[:n]]
    # Slacks are accurate to the tolerance only: switching on less might not end.
    pays = (a > 0) & (b > 0) & (a + b > 2 + 2 * tol)
    return np.concatenate([positive[:n][pays], negative[:n][pays]])


class _Trainer:
    """Repeated training on one matrix, with at most one repair and one warning."""

    def __init__(self, K: Floats, tol: float, max_iter: int, repair: Repair) -> None:
        self.tol = tol
        self._K, self._max_iter = K, MAX_ITER if max_iter == -1 else max_iter
        self._may_repair = repair is Repair.AUTO
        self._clipped = False
        self._fixed: Repaired | None = None
        if repair not in (Repair.AUTO, Repair.NONE):
            self._fixed = repaired(K, repair)

    def trained(self, signs: Ints, costs: Floats) -> tuple[Dual, Floats]:
        """Train on rows with a positive cost; return the dual and the scores of all rows, (n,)."""
        dual, scores = self._solved(signs, costs)
        if not dual.converged and self._may_repair:
            self._may_repair = False
            if not definiteness(self._K).is_definite:
                self._fixed, self._clipped = repaired(self._K, Repair.CLIP), True
                dual, scores = self._solved(signs, costs)
        return dual, scores

    def report(self, dual: Dual) -> None:
        """Warn once of trainings that did not converge."""
        limit = f"libsvm has not converged after {self._max_iter} iterations"
        if not dual.converged:
            warn(
                f"{limit}. The result so far is used.",
                NotConvergedWarning,
                hint=hint(
                    python="Scale the columns, lower C or raise max_iter; where the kernel matrix is not positive "
                    "semi-definite, repair it: repair='clip'."
                ),
            )
        elif self._clipped:
            warn(
                f"{limit} on a kernel matrix that is not positive semi-definite. Its negative eigenvalues were "
                "clipped, and training went on.",
                NotConvergedWarning,
                hint=hint(python="To clip them at once: repair='clip'."),
            )

    def _solved(self, signs: Ints, costs: Floats) -> tuple[Dual, Floats]:
        matrix = self._K if self._fixed is None else self._fixed.matrix
        rows = np.flatnonzero(costs > 0)
        block = matrix if len(rows) == len(matrix) else matrix[np.ix_(rows, rows)]
        codes = (signs[rows] < 0).astype(np.intp)  # positive values are for the first class
        with ignored_warnings(NotConvergedWarning):
            dual = classifier(
                block, codes, sample_weight=costs[rows], tol=self.tol, max_iter=self._max_iter, repair=Repair.NONE
            )
        dual = replace(dual, support=rows[dual.support])
        scores = dual.decision(matrix)[:, 0]
        return self._for_given_rows(dual), scores

    def _for_given_rows(self, dual: Dual) -> Dual:
        """Convert the dual to the given matrix, where it was trained on a repaired one."""
        if self._fixed is None:
            return dual
        return for_given_rows(dual, self._fixed)
