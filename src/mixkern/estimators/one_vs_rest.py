"""Machines that push the boundary away from unlabelled rows, one class against the others."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state

from mixkern.encoding import UNLABELLED
from mixkern.errors import LabelError
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.estimators.progress import Progress, Step
from mixkern.estimators.setting import POSITIVE
from mixkern.estimators.subsample import drawn
from mixkern.svm import Dual
from mixkern.svm.folds import NEVER, fewer_folds, label_folds
from mixkern.svm.one_vs_one import chosen
from mixkern.typing import Floats, Ints
from mixkern.wording import listing

SAFE_FOLDS = 4


class OneVsRestMachine(Progress, MixtureClassifier):
    """What transductive machines have in common: all rows at once, the shares of the classes, and a safe mode."""

    class_shares: Any
    safe_margin: Any
    max_rows: int
    n_levels: int  # steps of one binary problem, for progress

    @abstractmethod
    def _matrix(self, rows: Floats, codes: Ints, random: np.random.RandomState) -> tuple[Floats, Ints]:
        """Give the kernel between all rows and some of them, and which these are."""

    @abstractmethod
    def _binary(
        self,
        K: Floats,
        columns: Ints,
        signs: Ints,
        share: float,
        *,
        uses_unlabelled: bool,
        step: Callable[[], object] | None,
    ) -> Dual:
        """Tell one class from the others, with or without the help of unlabelled rows."""

    @with_callbacks
    def fit(self, X: Any, y: Any, *, X_unlabelled: Any = None) -> Self:
        """Learn the density of all rows, then a boundary from the labelled and unlabelled ones together.

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
        known = self._known_shares()
        rows = self.learn_structure(X, X_unlabelled, codes)
        codes = np.append(codes, np.full(len(rows) - len(codes), UNLABELLED))
        shares = _unlabelled_shares(codes, known, len(self.classes_))
        random = check_random_state(self.random_state)
        kept = drawn(len(rows), codes, self.max_rows, random)
        rows, codes = rows[kept], codes[kept]
        K, columns = self._matrix(rows, codes, random)
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        with self._progress("level", n_problems * self.n_levels, X, y) as step:
            dual = self._trained(K, columns, codes, shares, _stopping(step))
        is_compared = self.safe_margin is not None and not dual.is_interrupted
        self.fell_back_ = is_compared and self._is_worse(K, columns, codes, known, random)
        if self.fell_back_:
            dual = self._trained(K, columns, codes, shares, None, uses_unlabelled=False)
        self._keep(dual, rows)
        self.support_ = kept[dual.support]
        return self

    def _known_shares(self) -> Floats | None:  # (c,)
        """Give the share of each class among all rows, where the user knows it."""
        if self.class_shares is None:
            return None
        known = self.classes_.tolist()
        if not isinstance(self.class_shares, dict) or set(self.class_shares) != set(known):
            raise LabelError(
                f"class_shares must be a dict with a share for each of {listing(known)}, but is {self.class_shares!r}."
            )
        given = list(self.class_shares.values())
        shares = np.array([self.class_shares[label] if all(map(POSITIVE[1], given)) else np.nan for label in known])
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
        """Solve one binary problem for each class, or one for two classes; put the functions side by side."""
        n_classes = len(self.classes_)
        duals = []
        for label in [1] if n_classes == 2 else range(n_classes):
            signs = np.where(codes == UNLABELLED, 0, np.where(codes == label, 1, -1))
            dual = self._binary(K, columns, signs, float(shares[label]), uses_unlabelled=uses_unlabelled, step=step)
            duals.append(dual)
            uses_unlabelled = uses_unlabelled and not dual.is_interrupted  # the others are quick then
        return _side_by_side(duals, K.shape[0])

    def _is_worse(
        self, K: Floats, columns: Ints, codes: Ints, known: Floats | None, random: np.random.RandomState
    ) -> bool:
        """Compare with the supervised machine, on labelled rows whose labels neither has seen."""
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
            shares = _unlabelled_shares(hidden, known, len(self.classes_))
            for i, uses_unlabelled in enumerate((True, False)):
                dual = self._trained(K, columns, hidden, shares, None, uses_unlabelled=uses_unlabelled)
                if dual.is_interrupted:
                    return False
                values = K[np.ix_(out, np.searchsorted(columns, dual.support))] @ dual.coefficients + dual.intercepts
                n_wrong[i] += (chosen(_scores(values)) != codes[out]).sum()
        return bool(n_wrong[0] - n_wrong[1] > self.safe_margin * (folds != NEVER).sum())

    def decision_function(self, X: Any) -> Floats:
        """Score the classes, each against all others; the highest is predicted.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes one score, positive for the second.
        """
        values = self._values(X)
        return _scores(values)


def _unlabelled_shares(codes: Ints, known: Floats | None, n_classes: int) -> Floats:  # (c,)
    """Give the share of each class among the unlabelled rows: what the labelled ones leave of it."""
    counts = np.bincount(codes[codes >= 0], minlength=n_classes)
    n_unlabelled = int((codes == UNLABELLED).sum())
    if known is None or not n_unlabelled:
        return counts / counts.sum()
    left = np.maximum(known * len(codes) - counts, 0.0)
    return left / left.sum() if left.any() else known


def _scores(values: Floats) -> Floats:
    return values[:, 0] if values.shape[1] == 1 else values


def _side_by_side(duals: list[Dual], n: int) -> Dual:
    """Put functions with support rows of their own into one dual."""
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


def _stopping(step: Step) -> Callable[[], None]:
    """Turn a callback's wish to stop into what the user's own would be."""

    def next_step() -> None:
        if step():
            raise KeyboardInterrupt

    return next_step
