"""Base class of classifiers that learn from unlabelled rows directly, one class against the others."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np

from mixkern.density import Rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import LabelError, ignored_warnings
from mixkern.estimators.base import limited
from mixkern.estimators.classifier import TOO_MANY_CLASSES, MixtureClassifier
from mixkern.fitting import NotConvergedWarning, Task, all_or_nothing, in_stages
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.sampling import check_random_state
from mixkern.svm import Dual, one_vs_rest
from mixkern.svm.calibration import OwnValues, slope
from mixkern.svm.folds import fewer_folds, label_folds
from mixkern.svm.one_vs_one import chosen
from mixkern.svm.scheme import Scheme
from mixkern.typing import Floats, Ints, RandomState
from mixkern.validation import FLAG, POSITIVE, Rule
from mixkern.wording import listing

MAX_CLASSES = 300  # with 600 labelled rows they take a minute or two
LEFT_OUT_FOLDS = 4  # of labelled rows, for the safe mode and for probabilities: each is a training on all rows


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One class against the others."""

    K: Floats  # (n, m), kernel between all rows and some of them
    columns: Ints  # (m,), positions of these
    signs: Ints  # (n,), 1 for the class, -1 for the others, 0 where unlabelled
    weights: Floats | None  # (n,), factor of C for each labelled row
    share: float  # of the class among the unlabelled rows
    uses_unlabelled: bool
    prepared: Any  # result of _prepared
    step: Callable[[], object] | None  # called after each level


@dataclass(frozen=True, eq=False)
class _TrainingRows:
    """Kernel and labels of the rows that a classifier is trained on."""

    K: Floats  # (n, m), between all rows and some of them
    columns: Ints  # (m,), positions of these
    codes: Ints  # (n,), -1 where unlabelled
    weights: Floats | None  # (n,), of labels
    shares: Floats  # (c,), of the classes among the unlabelled rows
    prepared: Any  # result of _prepared


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Decision values of labelled rows, by classifiers that were trained without their labels."""

    rows: Ints  # (m,)
    values: Sequence[Floats]  # (m, q) each: with unlabelled rows; in the safe mode, also without
    is_complete: bool  # False after Ctrl-C


class OneVsRestMixtureClassifier(MixtureClassifier):
    """Base class of the transductive classifiers: all rows at once, the shares of the classes, and a safe mode."""

    class_shares: Any
    safe_margin: Any
    max_rows: int
    n_levels: int  # steps of one binary problem, for progress
    _fitted_parts: ClassVar[dict[str, Rule]] = {"fell_back_": FLAG}

    @property
    def _scheme(self) -> Scheme:
        return one_vs_rest

    @abstractmethod
    def _matrix(self, rows: Rows, codes: Ints, random: RandomState) -> tuple[Floats, Ints]:
        """Return the kernel between all rows and some of them, and the positions of these."""

    def _prepared(self, K: Floats, columns: Ints) -> Any:  # noqa: ARG002
        """Return what depends on the kernel alone, and is equal in the problems of all classes and folds."""
        return None

    @abstractmethod
    def _binary(self, problem: BinaryProblem) -> Dual:
        """Train one class against the others, with or without unlabelled rows."""

    @all_or_nothing
    @in_stages(5)
    @on_gpu_of_rows
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:
        """Fit the density of all rows, then the classifier on the labelled and unlabelled ones together.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            The table: numbers, categories, gaps.
        y : array-like of shape (n,)
            Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
        sample_weight : array-like of shape (n,), default=None
            Weight of each label, a factor of ``C``. A row with weight 0 is an unlabelled row.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows without labels.

        Returns
        -------
        self
        """
        codes, weights = self.read_labels(X, y, sample_weight)
        self._class_weights()  # raises an error before any work is done
        given = self._given_shares()
        rows = self._own_structure(X, X_unlabelled, codes)
        codes = _extended(codes, len(rows), UNLABELLED)
        weights = None if weights is None else _extended(weights, len(rows), 1.0)
        shares = _unlabelled_shares(codes, given, len(self.classes_))
        random = check_random_state(self.random_state)
        kept = limited(len(rows), codes, self.max_rows, random)
        rows, codes = rows[kept], codes[kept]
        weights = None if weights is None else weights[kept]
        K, columns = self._matrix(rows, codes, random)
        training = _TrainingRows(K, columns, codes, weights, shares, self._prepared(K, columns))
        folds = self._folds(codes, random)
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        with self._stage("training", "level", n_problems * self.n_levels) as step:
            dual = self._trained(training, _stopping(step, "training"))
        with self._stage("calibration", "level", len(folds) * n_problems * self.n_levels) as step:
            left_out = self._left_out(training, [] if dual.is_interrupted else folds, _stopping(step, "calibration"))
        self.fell_back_ = self._is_worse(left_out, codes)
        if self.fell_back_:
            dual = self._trained(training, None, uses_unlabelled=False)
        self._set_decision(dual, rows)
        self.support_ = kept[dual.support]
        self.slope_ = self._slope(left_out, codes, weights) if self.probability else None
        return self

    def _check_size(self, n_classes: int, n_labels: int) -> None:  # noqa: ARG002
        if n_classes > MAX_CLASSES:
            raise LabelError(
                f"The labels are of {n_classes:,} classes. A decision function is trained on all rows for each class, "
                f"and there may be at most {MAX_CLASSES} of them.",
                hint=TOO_MANY_CLASSES,
            )

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
        self, training: _TrainingRows, step: Callable[[], object] | None, *, uses_unlabelled: bool = True
    ) -> Dual:
        """Solve one binary problem for each class, or one for two classes, and join the functions."""
        K, columns, codes, n_classes = training.K, training.columns, training.codes, len(self.classes_)
        weights = self._label_weights(codes, training.weights)
        duals = []
        for label in [1] if n_classes == 2 else range(n_classes):
            signs = np.where(codes == UNLABELLED, 0, np.where(codes == label, 1, -1))
            share = float(training.shares[label])
            prepared = training.prepared
            dual = self._binary(BinaryProblem(K, columns, signs, weights, share, uses_unlabelled, prepared, step))
            duals.append(dual)
            uses_unlabelled = uses_unlabelled and not dual.is_interrupted  # the others are quick then
        return _joined(duals, K.shape[0])

    # ---------------------------------------------------------------- labelled rows that are left out

    def _folds(self, codes: Ints, random: RandomState) -> list[Ints]:
        """Return the labelled rows of each fold; no folds where their decision values are not needed."""
        if self.safe_margin is None and not self.probability:
            return []
        labelled = np.flatnonzero(codes >= 0)
        n_folds = fewer_folds(codes[labelled], LEFT_OUT_FOLDS)
        folds = label_folds(codes[labelled], n_folds, random)
        return [labelled[folds == fold] for fold in range(n_folds) if (folds == fold).any()]

    def _left_out(self, training: _TrainingRows, folds: Sequence[Ints], step: Callable[[], object]) -> _LeftOut:
        """Train without the labels of each fold, until the end or Ctrl-C."""
        modes = (True,) if self.safe_margin is None else (True, False)
        n_functions = 1 if len(self.classes_) == 2 else len(self.classes_)
        rows, values = np.empty(0, dtype=np.intp), [np.empty((0, n_functions)) for _ in modes]
        for out in folds:
            part = self._without(training, out)
            with ignored_warnings(NotConvergedWarning):  # the training on all labels issues the same
                duals = [self._trained(part, step if mode else None, uses_unlabelled=mode) for mode in modes]
            if any(dual.is_interrupted for dual in duals):
                return _LeftOut(rows, values, is_complete=False)
            rows = np.append(rows, out)
            found = [dual.decision(training.K[out], training.columns) for dual in duals]
            values = [np.vstack(pair) for pair in zip(values, found, strict=True)]
        return _LeftOut(rows, values, is_complete=True)

    def _without(self, training: _TrainingRows, out: Ints) -> _TrainingRows:
        """Return the same rows without the labels of some."""
        codes = np.array(training.codes)
        codes[out] = UNLABELLED
        return replace(
            training, codes=codes, shares=_unlabelled_shares(codes, self._given_shares(), len(self.classes_))
        )

    def _is_worse(self, left_out: _LeftOut, codes: Ints) -> bool:
        """Whether the supervised classifier makes fewer errors, on labelled rows that are left out of both."""
        if self.safe_margin is None or not left_out.is_complete:
            return False
        n_wrong = [
            (chosen(one_vs_rest.class_scores(values, len(self.classes_))) != codes[left_out.rows]).sum()
            for values in left_out.values
        ]
        return bool(n_wrong[0] - n_wrong[1] > self.safe_margin * len(left_out.rows))

    def _slope(self, left_out: _LeftOut, codes: Ints, weights: Floats | None) -> float:
        """Return the slope of the sigmoid, by the classifier that is used."""
        values, rows = left_out.values[1 if self.fell_back_ else 0], left_out.rows
        own: OwnValues = one_vs_rest.own_values(values, codes[rows], None if weights is None else weights[rows])
        learned = slope([own])
        self._note(f"calibration: slope {learned:.4g}")
        return learned


def _extended(values: Any, n: int, filler: float) -> Any:  # (n,)
    """Return values of the first rows, and the same value for all further ones."""
    return np.append(values, np.full(n - len(values), filler, dtype=values.dtype))


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


def _stopping(step: Task, stage: str) -> Callable[[], None]:
    """Report each level; raise KeyboardInterrupt where a callback requests a stop, as Ctrl-C does."""
    levels = count(1)

    def next_step() -> None:
        if step(lambda: f"{stage}: level {next(levels)}"):
            raise KeyboardInterrupt

    return next_step
