"""Train an S3VM beside an SVM: on the labelled rows and a sample of the others, with the RWM kernel.

The shares of the classes among the unlabelled rows are estimated with the kernel of the SVM.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from mixkern.density import Rows
from mixkern.errors import InterruptedWarning, ignored_warnings
from mixkern.fitting import NotConvergedWarning
from mixkern.sampling import subsample
from mixkern.svm import DecisionFunction, Dual
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.gaussian_process import class_shares
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.one_vs_one import n_functions, pair_values
from mixkern.svm.s3vm import quasi_newton
from mixkern.typing import Floats, Ints, Positions, RandomState

# Sizes with which twenty tables were as accurate as with 20,000 rows, 500 landmarks and a tolerance of 0.001:
MAX_ROWS = 1_000  # rows that the S3VM is trained on, labelled ones included
N_LANDMARKS = 100  # unlabelled rows that its functions are sums over, besides the labelled ones
TOL = 0.1
C = 10.0

USUAL_LABELS = 4.0  # labels per class with which both classifiers have the same weight before any is left out
FEWEST_LABELS = 2.0  # per class; with fewer the weight is the same
LEAST_WEIGHT = 0.01  # below it the S3VM is not trained
MAX_LABELS = 500  # with more labels it is not trained either: all of them are landmarks
MAX_CLASSES = 20  # nor with more classes: each has a function, in all folds


def prior_weight(codes: Ints) -> float:
    """Return the weight of the S3VM before labels are left out, by the number of labels.

    Its odds are (4 / m)^2 for m labels per class: the more labels there are, the better is the SVM without the
    assumption that classes are divided by sparse regions.

    >>> [round(prior_weight(np.repeat([0, 1], m)), 2) for m in (1, 2, 4, 16, 64)]
    [0.8, 0.8, 0.5, 0.06, 0.0]
    """
    per_class = max(len(codes) / len(np.unique(codes)), FEWEST_LABELS)
    return 1 / (1 + (per_class / USUAL_LABELS) ** 2)


@dataclass(frozen=True, eq=False)
class AvoidingProblem:
    """What an S3VM is trained on.

    Attributes
    ----------
    kernel : RWMKernel
        Its kernel.
    rows : Rows
        Labelled rows, then the sample of unlabelled ones, with the mixture of the kernel.
    codes : ndarray of int, shape (l,)
        Classes of the labelled rows.
    weights : ndarray of shape (l,) or None
        Their weights, those of classes included.
    to_labelled, among_labelled : ndarray of shape (u, l) and (l, l)
        Kernel of the SVM between the unlabelled rows and the labelled ones, and among these.
    """

    kernel: Any
    rows: Rows
    codes: Ints
    weights: Floats | None
    to_labelled: Floats
    among_labelled: Floats

    @classmethod
    def of(
        cls, kernel: Any, svm: tuple[Any, Floats], rows: Rows, codes: Ints, weights: Floats | None, random: RandomState
    ) -> Self | None:
        """Draw unlabelled rows; None where there are none, or where labels or classes are too many.

        Parameters
        ----------
        kernel, weights
            As in the class.
        svm : tuple
            Kernel of the SVM, and its matrix among the labelled rows.
        rows : Rows
            All rows, with the mixture of the SVM.
        codes : ndarray of int
            Classes of the first rows, -1 where unlabelled; further rows are unlabelled.
        random : RandomState
            Random number generator.
        """
        labelled = np.flatnonzero(codes >= 0)
        is_large = len(labelled) > MAX_LABELS or len(np.unique(codes[labelled])) > MAX_CLASSES
        if is_large or prior_weight(codes[labelled]) < LEAST_WEIGHT or len(labelled) == len(rows):
            return None
        unlabelled = np.append(np.flatnonzero(codes < 0), np.arange(len(codes), len(rows)))
        others = random.permutation(subsample(unlabelled, max(MAX_ROWS - len(labelled), N_LANDMARKS), random))
        some = rows[np.append(labelled, others)]
        own = Rows(some.values, kernel.mixture)
        to_labelled = kernel_matrix(svm[0], some[len(labelled) :], some[: len(labelled)])
        return cls(kernel, own, codes[labelled], weights, to_labelled, svm[1])

    @property
    def landmarks(self) -> Positions:
        """Positions of the rows that decision functions are sums over: the labelled ones and some others."""
        return np.arange(min(len(self.rows), len(self.codes) + N_LANDMARKS))

    @cached_property
    def matrix(self) -> Floats:
        """Kernel between all rows and the landmarks."""
        return kernel_matrix(self.kernel, self.rows, self.rows[self.landmarks])

    @cached_property
    def _features(self) -> LandmarkFeatures:
        return LandmarkFeatures.of(self.matrix, self.landmarks)

    def decision(self) -> DecisionFunction:
        """Train on all labels."""
        return DecisionFunction.of(self.kernel, self.rows, self.trained(np.arange(len(self.codes))))

    def left_out_values(self, folds: Ints) -> Floats:  # (l, c (c - 1) / 2)
        """Compute the values of pairs for each labelled row without the labels of its fold; NaN for rows in no fold."""
        n_classes = len(np.unique(self.codes))
        values = np.full((len(self.codes), n_functions(n_classes)), np.nan)
        for fold in range(int(folds.max(initial=-1)) + 1):
            out = np.flatnonzero(folds == fold)
            dual = self.trained(np.flatnonzero(folds != fold))
            values[out] = pair_values(dual.decision(self.matrix[out], self.landmarks), n_classes)
        return values

    def trained(self, kept: Ints) -> Dual:
        """Train one function for each class, for two classes one, with some of the labels."""
        K, landmarks, n_classes = self.matrix, self.landmarks, len(np.unique(self.codes))
        shares = class_shares(self.to_labelled[:, kept], self.among_labelled[np.ix_(kept, kept)], self.codes[kept])
        weights = None if self.weights is None else np.append(self.weights, np.ones(len(K) - len(self.codes)))
        duals = []
        for label in [1] if n_classes == 2 else range(n_classes):
            signs = np.zeros(len(K), dtype=np.intp)
            signs[kept] = np.where(self.codes[kept] == label, 1, -1)
            with ignored_warnings(NotConvergedWarning), ignored_warnings(InterruptedWarning):
                dual = quasi_newton(
                    K,
                    landmarks,
                    signs,
                    C=C,
                    positive_share=float(shares[label]),
                    sample_weight=weights,
                    features=self._features,
                    tol=TOL,
                )
            if dual.is_interrupted:
                raise KeyboardInterrupt
            duals.append(dual)
        coefficients = np.hstack([dual.coefficients for dual in duals])
        return Dual(landmarks, coefficients, np.concatenate([dual.intercepts for dual in duals]))
