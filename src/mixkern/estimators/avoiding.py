"""An S3VM beside an SVM: decision functions that avoid dense regions, and their weight in the mean of both.

The weight, and the slopes of probabilities, follow from labels that are left out of both.
"""

from copy import copy
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.defaults import KernelName
from mixkern.density import Rows
from mixkern.density.priors import PrecisionPrior
from mixkern.errors import ignored_warnings
from mixkern.estimators.avoiding_problem import LEAST_WEIGHT, AvoidingProblem, prior_weight
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.estimators.kernel_factory import Scale, gamma_of, replaced
from mixkern.estimators.score import accuracy
from mixkern.fitting import NotConvergedWarning, all_or_nothing, quiet
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.kernels import RWMKernel
from mixkern.parts import Parts, agree, instance, model_part, require
from mixkern.sampling import check_random_state, subsample
from mixkern.svm import DecisionFunction, label_folds
from mixkern.svm.class_calibration import slopes
from mixkern.svm.folds import FOLDS, Train, fewer_folds, left_out_values
from mixkern.svm.one_vs_one import chosen, pair_values
from mixkern.svm.one_vs_rest import n_functions
from mixkern.svm.scheme import scheme_of
from mixkern.svm.stacking import stacked_share
from mixkern.typing import Floats, Ints
from mixkern.validation import FRACTION, NONE, Rule, one_of
from mixkern.wording import percent

ESTIMATE = "estimated_accuracy(model, X, y)"  # takes longer than fit, so it is not computed for a notebook
MAX_DENSITY_ROWS = 10_000  # that a density is continued with


class Unlabelled(StrEnum):
    """How a decision uses the unlabelled rows."""

    AUTO = "auto"  # avoids them with the default kernel
    AVOID = "avoid"  # it does not pass through regions with many of them
    IGNORE = "ignore"  # only the density of the table does


@model_part("Avoiding")
@dataclass(frozen=True, eq=False)
class Avoiding:
    """A trained S3VM, and its weight in the mean with the SVM.

    Attributes
    ----------
    decision : DecisionFunction
        One function for each class against the others, for two classes one, positive for the second.
    share : float
        Weight of the S3VM, between 0 and 1.
    """

    decision: DecisionFunction
    share: float

    def blended(self, values: Floats, rows: Rows) -> Floats:
        """Return the weighted mean of the SVM's values of pairs and of those of the S3VM."""
        return (1 - self.share) * values + self.share * self.pair_values(rows)

    def pair_values(self, rows: Rows) -> Floats:  # (n, c (c - 1) / 2)
        """Evaluate the S3VM on rows, for each pair of classes."""
        mixture = self.decision.kernel.mixture
        own = rows if rows.mixture == mixture else rows.under(mixture)
        n = len(self.decision.intercepts)
        return pair_values(self.decision(own), 2 if n == 1 else n)

    def weighted(self) -> DecisionFunction:
        """Return the functions of :meth:`pair_values`, times the weight."""
        n = len(self.decision.intercepts)
        pairs = self.share * pair_values(np.eye(n), 2 if n == 1 else n)  # (n, q)
        coefficients, intercepts = self.decision.coefficients @ pairs, self.decision.intercepts @ pairs
        return replace(self.decision, coefficients=coefficients, intercepts=intercepts)

    def check(self, n_features: int, n_classes: int) -> None:
        """Raise an error for parts of a model file that do not fit together."""
        decision = self.decision
        require(FRACTION.accepts(self.share), "share")
        agree(decision.kernel.mixture.n_features == n_features == decision.support.shape[1], "S3VM and columns")
        agree(decision.coefficients.shape == (len(decision.support), len(decision.intercepts)), "S3VM and its rows")
        agree(len(decision.intercepts) == n_functions(n_classes), "S3VM and classes")


class AvoidingClassifier(MixtureClassifier):
    """Base class of a classifier with an SVM, whose decisions may be averaged with those of an S3VM."""

    alpha: float
    beta: float
    unlabelled: str
    _fitted_parts: ClassVar[dict[str, Rule]] = {
        "_avoiding_kernel": NONE | instance(RWMKernel),
        "_avoiding": NONE | instance(Avoiding),
        "left_out_accuracy_": NONE | FRACTION,
    }
    _avoiding_kernel: RWMKernel | None = None  # of the S3VM; None where unlabelled rows are ignored
    _avoiding: Avoiding | None = None
    left_out_accuracy_: float | None = None  # not in files of earlier versions

    def check_parameters(self) -> None:
        """Raise an error for a parameter that has a wrong value."""
        super().check_parameters()
        one_of(Unlabelled, self.unlabelled, "unlabelled")

    @property
    def avoids_unlabelled(self) -> bool:
        """Whether decisions avoid unlabelled rows: what ``unlabelled`` means for the kernel."""
        chosen = one_of(Unlabelled, self.unlabelled, "unlabelled")
        return chosen is Unlabelled.AVOID or (chosen is Unlabelled.AUTO and self.kernel == KernelName.BLEND)

    @all_or_nothing
    @on_gpu_of_rows
    def learn_structure(self, X: Any, X_unlabelled: Any = None, codes: Any = None) -> Rows:
        """Encode every row, fit the density, make the kernel: the first half of ``fit``.

        Parameters and result are those of other estimators; see :meth:`train` for the second half.
        """
        self._avoiding_kernel = None
        rows = super().learn_structure(X, X_unlabelled, codes)
        if self.avoids_unlabelled:
            mixture = self.mixture_ if self._avoiding_kernel is None else self._avoiding_kernel.mixture
            kernel = RWMKernel(mixture, alpha=self.alpha, beta=self.beta)
            gamma = gamma_of(Scale.SCALE, kernel, Rows(rows.values, mixture), check_random_state(self.random_state))
            self._avoiding_kernel = replaced(kernel, gamma=gamma)
        return rows

    def _continue_density(self, rows: Floats, labels: Any) -> None:
        """Continue a density with the prior "evidence" for the RWM kernel of the S3VM, which needs a smoother one."""
        density = self.density_
        if not self.avoids_unlabelled or density is None:
            return
        prior = density.precision_prior
        if not isinstance(prior, str) or prior != PrecisionPrior.EVIDENCE:  # it may be a matrix
            return
        smoother = copy(density).set_params(precision_prior=str(PrecisionPrior.TYPICAL), warm_start=True, verbose=0)
        some = subsample(np.arange(len(rows)), MAX_DENSITY_ROWS, check_random_state(self.random_state))
        with quiet(), ignored_warnings(NotConvergedWarning):  # a rough one is enough
            smoother.set_callbacks().fit(rows[some], None if labels is None else [labels[at] for at in some])
        self._avoiding_kernel = RWMKernel(smoother.mixture_)

    def avoiding_problem(
        self, rows: Rows, codes: Ints, K: Floats, weights: Floats | None = None
    ) -> AvoidingProblem | None:
        """Return what the semi-supervised SVM is trained on; None where the SVM decides alone.

        Parameters
        ----------
        rows : Rows
            All rows, as :meth:`learn_structure` returns them.
        codes : ndarray of int
            Classes of the first rows, -1 where unlabelled.
        K : ndarray of shape (l, l)
            Kernel of the SVM among the labelled rows.
        weights : ndarray of shape (l,), default=None
            Weights of the labels.
        """
        if not self.avoids_unlabelled or self._avoiding_kernel is None:
            return None
        own_weights = self._label_weights(codes[codes >= 0], weights)
        random = check_random_state(self.random_state)
        return AvoidingProblem.of(self._avoiding_kernel, (self.kernel_, K), rows, codes, own_weights, random)

    def _avoid(
        self,
        problem: AvoidingProblem,
        K: Floats,
        codes: Ints,
        train: Train,
        weights: Floats | None,
        share: float | None,
    ) -> None:
        """Train the S3VM; find its weight, and the slopes of the mean of both, by labels that are left out of both."""
        if share is None or self.probability:
            folds = label_folds(codes, fewer_folds(codes, FOLDS), self.random_state)
            with ignored_warnings(NotConvergedWarning):  # the training on all labels issues the same
                own = left_out_values(K, codes, folds, train)
            other = problem.left_out_values(folds)
            share = stacked_share(prior_weight(codes), own, other, codes, weights) if share is None else share
        if self.probability:
            self._calibrate(((1 - share) * own + share * other)[None], codes, weights)
        if share >= LEAST_WEIGHT:
            self._avoiding = Avoiding(problem.decision(), share)
            self._note(f"training: unlabelled rows avoided, with a weight of {percent(share)}")

    def _calibrate(self, left_out: Floats, codes: Ints, weights: Floats | None) -> None:
        """Set slopes of probabilities and the accuracy, by decision values of labels that were left out, (r, n, q)."""
        scheme, c = scheme_of(left_out.shape[2], len(self.classes_)), len(self.classes_)
        self.slope_ = slopes(left_out, codes, weights, scheme.own_probabilities)
        shares = [accuracy(codes, chosen(scheme.class_scores(values, c)), weights) for values in left_out]
        self.left_out_accuracy_ = float(np.mean(shares))
        self._note(f"calibration: slope {self.slope_[len(self.slope_) // 2]:.4g}")

    @property
    def avoiding_share_(self) -> float:
        """Weight of the semi-supervised SVM in the decisions; 0 for an SVM alone."""
        check_is_fitted(self)
        return 0.0 if self._avoiding is None else self._avoiding.share

    @on_gpu_of_rows
    def decide(self, X: Any) -> Floats:  # (n, q)
        """Evaluate the decision functions, one for each pair of classes, positive for the first of the pair.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Rows
            Rows.
        """
        check_is_fitted(self, "_decision")
        rows = self.rows_of(X)
        values = super().decide(rows)
        return values if self._avoiding is None else self._avoiding.blended(values, rows)

    @on_gpu_of_rows
    def avoiding_values(self, X: Any) -> Floats | None:  # (n, q)
        """Compute the part of the semi-supervised SVM in the decision values, its weight included; None without one."""
        return None if self._avoiding is None else self._avoiding.share * self._avoiding.pair_values(self.rows_of(X))

    def _exported_parts(self) -> dict[str, Any]:
        parts = super()._exported_parts()
        if self._avoiding is None:
            return parts
        share, own = 1 - self._avoiding.share, self._decision
        scaled = replace(own, coefficients=share * own.coefficients, intercepts=share * own.intercepts)
        return {**parts, "decisions": [scaled, self._avoiding.weighted()]}

    def _learned_facts(self) -> dict[str, str]:
        facts = super()._learned_facts()
        if self._avoiding is not None:
            facts["Unlabelled rows"] = f"avoided, with a weight of {percent(self._avoiding.share)}"
        if self.left_out_accuracy_ is not None:
            facts["Accuracy"] = f"{percent(self.left_out_accuracy_)} of left-out labels; for other rows: {ESTIMATE}"
        return facts

    def to_parts(self) -> Parts:
        """Return parameters and fitted attributes, for a model file."""
        parts = super().to_parts()
        if self._avoiding is None:
            return parts
        decision = replace(self._avoiding.decision, kernel=None)  # its kernel is a part
        return {**parts, "avoiding": replace(self._avoiding, decision=decision)}

    def complete_parts(self) -> None:
        """Give the S3VM its kernel, then as in other classifiers."""
        if self._avoiding is not None:
            agree(self._avoiding_kernel is not None, "S3VM and its kernel")
            decision = replace(self._avoiding.decision, kernel=self._avoiding_kernel)
            self._avoiding = replace(self._avoiding, decision=decision)
            self._avoiding.check(self.mixture_.n_features, len(self._labels.classes))
        super().complete_parts()
