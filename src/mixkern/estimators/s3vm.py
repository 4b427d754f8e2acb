"""Semi-supervised SVM by quasi-Newton descent, for any kernel and several classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mixkern.density import Rows
from mixkern.estimators.one_vs_rest import BinaryProblem, OneVsRestMixtureClassifier
from mixkern.parts import model_part
from mixkern.svm import Dual
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.s3vm import QUASI_NEWTON_LEVELS, quasi_newton
from mixkern.typing import Floats, Ints, RandomState
from mixkern.validation import COUNT, POSITIVE, Rule

UP_TO_1E100 = Rule("a positive number, 1e100 at most", lambda value: POSITIVE.accepts(value) and value <= 1e100)


@model_part("QuasiNewtonS3VC")
class QuasiNewtonS3VC(OneVsRestMixtureClassifier):
    """Semi-supervised SVM with a smooth loss that pushes the boundary away from unlabelled rows.

    The loss is minimised by a quasi-Newton method (Gieseke, Airola, Pahikkala and Kramer, 2014). Functions are sums
    over some of the rows, so that tens of thousands of rows can be used. The defaults are the kernel of the paper, with
    which it was as accurate as with the blend of :class:`MixtureSVC`, and C = 10, with which it was more accurate than
    with 1 and 100 (docs/estimators.md has the figures).

    Parameters
    ----------
    kernel, density, gamma, alpha, beta, encoder, verbose, random_state
        As in :class:`MixtureSVC`; the default kernel is ``"rwm"``.
    C : float, default=10.0
        Regularization parameter: the penalty of errors.
    unlabelled_weight : float, default=1.0
        Penalty of all unlabelled rows together, as a multiple of the labelled ones; 0 leaves them out.
    class_weight, class_shares, safe_margin, probability
        As in :class:`TransductiveSVC`.
    max_rows : int, default=20000
        Limit for the training rows: with more, all labelled rows and a random sample of the others are used.
    n_landmarks : int, default=500
        Number of rows in the sums: all labelled rows and a random sample of the others.
    tol : float, default=1e-3
        Largest component of the gradient where a descent may end.
    max_iter : int, default=1000
        Limit for the iterations of each descent.

    Attributes
    ----------
    classes_, n_labels_ : ndarray of shape (c,)
        The labels, and the number of labelled rows of each.
    support_, support_vectors_, dual_coef_, intercept_
        The landmarks, and the function of each class against the others (of two classes: of the second).
    slope_ : float or None
        Slope of the sigmoid that turns decisions into probabilities; ``None`` with ``probability=False``.
    fell_back_ : bool
        Whether the safe mode has chosen the supervised classifier.
    encoder_, density_, mixture_, kernel_
        As in :class:`MixtureSVC`.

    Notes
    -----
    Directions in which a kernel is not positive definite are left out.

    Examples
    --------
    >>> from mixkern import QuasiNewtonS3VC, datasets
    >>> moons = datasets.load("two_moons")
    >>> model = QuasiNewtonS3VC(random_state=0).fit(moons.X, moons.few_labels(per_class=4, random_state=0))
    >>> bool(model.score(moons.X, moons.y) > 0.9)
    True
    """

    n_levels = QUASI_NEWTON_LEVELS
    _rules: ClassVar[Mapping[str, Rule]] = {"max_iter": COUNT, "C": UP_TO_1E100}

    def __init__(
        self,
        kernel: Any = "rwm",
        *,
        density: Any = None,
        C: float = 10.0,
        unlabelled_weight: float = 1.0,
        gamma: float | str = "scale",
        alpha: float = 1.0,
        beta: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        class_shares: dict[Any, float] | None = None,
        safe_margin: float | None = None,
        max_rows: int = 20_000,
        n_landmarks: int = 500,
        encoder: Any = None,
        probability: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1_000,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.density = density
        self.C = C
        self.unlabelled_weight = unlabelled_weight
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.class_weight = class_weight
        self.class_shares = class_shares
        self.safe_margin = safe_margin
        self.max_rows = max_rows
        self.n_landmarks = n_landmarks
        self.encoder = encoder
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def _matrix(self, rows: Rows, codes: Ints, random: RandomState) -> tuple[Floats, Ints]:
        labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        n_others = min(len(others), max(0, self.n_landmarks - len(labelled)))
        landmarks = np.sort(np.append(labelled, random.choice(others, n_others, replace=False)))
        return kernel_matrix(self.kernel_, rows, rows[landmarks]), landmarks

    def _prepared(self, K: Floats, columns: Ints) -> LandmarkFeatures:
        return LandmarkFeatures.of(K, columns)

    def _binary(self, problem: BinaryProblem) -> Dual:
        return quasi_newton(
            problem.K,
            problem.columns,
            problem.signs,
            C=self.C,
            unlabelled_weight=self.unlabelled_weight if problem.uses_unlabelled else 0.0,
            positive_share=problem.share,
            sample_weight=problem.weights,
            features=problem.prepared,
            tol=self.tol,
            max_iter=self.max_iter,
            step=problem.step,
        )
