"""Base class of classifiers that learn from unlabelled rows directly, one class against the others."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from mixkern.density import Rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import LabelError
from mixkern.estimators.base import limited
from mixkern.estimators.classifier import MixtureClassifier, Scheme
from mixkern.fitting import Task, all_or_nothing, in_stages
from mixkern.svm import Dual, one_vs_rest
from mixkern.svm.folds import NEVER, fewer_folds, label_folds
from mixkern.svm.one_vs_one import chosen
from mixkern.typing import Floats, Ints, RandomState
from mixkern.validation import POSITIVE
from mixkern.wording import listing

SAFE_FOLDS = 4


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One class against the others."""

    K: Floats  # (n, m), kernel between all rows and some of them
    columns: Ints  # (m,), positions of these
    signs: Ints  # (n,), 1 for the class, -1 for the others, 0 where unlabelled
    share: float  # of the class among the unlabelled rows
    uses_unlabelled: bool
    step: Callable[[], object] | None  # called after each level


class OneVsRestMixtureClassifier(MixtureClassifier):
    """Base class of the transductive classifiers: all rows at once, the shares of the classes, and a safe mode."""

    class_shares: Any
    safe_margin: Any
    max_rows: int
    n_levels: int  # steps of one binary problem, for progress
    _scheme: ClassVar[Scheme] = one_vs_rest

    @abstractmethod
    def _matrix(self, rows: Rows, codes: Ints, random: RandomState) -> tuple[Floats, Ints]:
        """Return the kernel between all rows and some of them, and the positions of these."""

    @abstractmethod
    def _binary(self, problem: BinaryProblem) -> Dual:
        """Train one class against the others, with or without unlabelled rows."""

    @all_or_nothing
    @in_stages(5)
    def fit(self, X: Any, y: Any, *, X_unlabelled: Any = None) -> Self:
        """Fit the density of all rows, then the classifier on the labelled and unlabelled ones together.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            The table: numbers, categories, gaps.
        y : array-like of shape (n,)
            Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows without labels.

        Returns
        -------
        self
        """
        codes, _ = self.read_labels(X, y, None)
        given = self._given_shares()
        rows = self.learn_structure(X, X_unlabelled, codes)
        codes = np.append(codes, np.full(len(rows) - len(codes), UNLABELLED))
        shares = _unlabelled_shares(codes, given, len(self.classes_))
        random = check_random_state(self.random_state)
        kept = limited(len(rows), codes, self.max_rows, random)
        rows, codes = rows[kept], codes[kept]
        K, columns = self._matrix(rows, codes, random)
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        with self._stage("training", "level", n_problems * self.n_levels) as step:
            dual = self._trained(K, columns, codes, shares, _stopping(step))
        is_compared = self.safe_margin is not None and not dual.is_interrupted
        self.fell_back_ = is_compared and self._is_worse(K, columns, codes, given, random)
        if self.fell_back_:
            dual = self._trained(K, columns, codes, shares, None, uses_unlabelled=False)
        self._set_decision(dual, rows)
        self.support_ = kept[dual.support]
        return self

    def _given_shares(self) -> Floats | None:  # (c,)
        """Return the share of each class among all rows, where it is given."""
        if self.class_shares is None:
            return None
        classes = self.classes_.tolist()
        if not isinstance(self.class_shares, dict) or set(self.class_shares) != set(classes):
            raise LabelError(
                f"class_shares must be a dict with a share for each of {listing(classes)}, but is "
                f"{self.class_shares!r}."
            )
        are_positive = all(map(POSITIVE.accepts, self.class_shares.values()))
        shares = np.array([self.class_shares[label] if are_positive else np.nan for label in classes])
        if not np.isclose(shares.sum(), 1):
            raise LabelError(f"class_shares must be positive and add up to one, but they are {self.class_shares!r}.")
        return shares

    def _trained(
        self,
        K: Floats,
        columns: Ints,
        codes: Ints,
        shares: Floats,
        step: Callable[[], object] | None,
        *,
        uses_unlabelled: bool = True,
    ) -> Dual:
        """Solve one binary problem for each class, or one for two classes, and join the functions."""
        n_classes = len(self.classes_)
        duals = []
        for label in [1] if n_classes == 2 else range(n_classes):
            signs = np.where(codes == UNLABELLED, 0, np.where(codes == label, 1, -1))
            dual = self._binary(BinaryProblem(K, columns, signs, float(shares[label]), uses_unlabelled, step))
            duals.append(dual)
            uses_unlabelled = uses_unlabelled and not dual.is_interrupted  # the others are quick then
        return _joined(duals, K.shape[0])

    def _is_worse(self, K: Floats, columns: Ints, codes: Ints, given: Floats | None, random: RandomState) -> bool:
        """Whether the supervised classifier makes fewer errors, on labelled rows that are left out of both."""
        labelled = np.flatnonzero(codes >= 0)
        n_folds = fewer_folds(codes[labelled], SAFE_FOLDS)
        folds = label_folds(codes[labelled], n_folds, random)
        if (folds == NEVER).all():
            return False
        n_wrong = np.zeros(2)
        for fold in range(n_folds):
            out = labelled[folds == fold]
            hidden = np.array(codes)
            hidden[out] = UNLABELLED
            shares = _unlabelled_shares(hidden, given, len(self.classes_))
            for i, uses_unlabelled in enumerate((True, False)):
                dual = self._trained(K, columns, hidden, shares, None, uses_unlabelled=uses_unlabelled)
                if dual.is_interrupted:
                    return False
                scores = one_vs_rest.class_scores(dual.decision(K[out], columns), len(self.classes_))
                n_wrong[i] += (chosen(scores) != codes[out]).sum()
        return bool(n_wrong[0] - n_wrong[1] > self.safe_margin * (folds != NEVER).sum())

    def decision_function(self, X: Any) -> Floats:
        """Compute the score of each class against all others; the highest is predicted.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes one score, positive for the second.
        """
        return super().decision_function(X)


def _unlabelled_shares(codes: Ints, given: Floats | None, n_classes: int) -> Floats:  # (c,)
    """Return the share of each class among the unlabelled rows: what the labelled ones leave of it."""
    counts = np.bincount(codes[codes >= 0], minlength=n_classes)
    n_unlabelled = int((codes == UNLABELLED).sum())
    if given is None or not n_unlabelled:
        return counts / counts.sum()
    left = np.maximum(given * len(codes) - counts, 0.0)
    return left / left.sum() if left.any() else given


def _joined(duals: list[Dual], n: int) -> Dual:
    """Join functions with support rows of their own into one dual."""
    spread = np.zeros((n, len(duals)))
    for q, dual in enumerate(duals):
        spread[dual.support, q] = dual.coefficients[:, 0]
    support = np.flatnonzero(spread.any(axis=1))
    return Dual(
        support,
        spread[support],
        np.concatenate([dual.intercepts for dual in duals]),
        converged=all(dual.converged for dual in duals),
        n_iter=max(1, *(dual.n_iter for dual in duals)),
        change=max(dual.change for dual in duals),
        is_interrupted=any(dual.is_interrupted for dual in duals),
    )


def _stopping(step: Task) -> Callable[[], None]:
    """Report each level; raise KeyboardInterrupt where a callback requests a stop, as Ctrl-C does."""
    levels = count(1)

    def next_step() -> None:
        if step(lambda: f"level {next(levels)}"):
            raise KeyboardInterrupt

    return next_step
