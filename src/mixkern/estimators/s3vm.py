"""The semi-supervised SVM by continuous descent, for any kernel and several classes."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from mixkern.estimators.one_vs_rest import OneVsRestMachine
from mixkern.estimators.setting import COUNT, Rule
from mixkern.svm import Dual
from mixkern.svm.s3vm import QUASI_NEWTON_LEVELS, quasi_newton
from mixkern.typing import Floats, Ints


class QuasiNewtonS3VC(OneVsRestMachine):
    """Classify a table by a smooth boundary that avoids unlabelled rows.

    A continuous loss pushes the boundary away from unlabelled rows, and a quasi-Newton method finds where it comes to
    rest (Gieseke, Airola, Pahikkala and Kramer, 2014). Functions are sums over some of the rows, so that tens of
    thousands can be learned from.

    Parameters
    ----------
    kernel, density, gamma, alpha, beta, encoder, random_state
        As in :class:`MixtureSVC`.
    C : float, default=10.0
        What errors cost, against the smoothness of the function.
    unlabelled_weight : float, default=1.0
        What all unlabelled rows together cost, as a multiple of the labelled ones; 0 leaves them out.
    class_shares : dict, default=None
        Share of each label among all rows; ``None`` takes that among the labelled rows.
    safe_margin : float, default=None
        With a number, the machine is compared with the supervised one on labelled rows that are left out, fold by
        fold. Where it makes more errors, by more than this share of these rows, the supervised machine is used.
    max_rows : int, default=20000
        Rows that are learned from: with more, all labelled ones and some others, drawn at random.
    n_landmarks : int, default=500
        Rows that functions are sums over: all labelled ones and others, drawn at random.
    tol : float, default=1e-3
        Largest slope where a descent may end.
    max_iter : int, default=1000
        Most iterations of each descent.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
        The labels.
    support_, support_vectors_, dual_coef_, intercept_
        The landmarks, and the function of each class against the others (of two classes: of the second).
    fell_back_ : bool
        Whether the safe mode has chosen the supervised machine.
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
    _own_rules: ClassVar[Mapping[str, Rule]] = {"max_iter": COUNT}

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
        class_shares: dict[Any, float] | None = None,
        safe_margin: float | None = None,
        max_rows: int = 20_000,
        n_landmarks: int = 500,
        encoder: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1_000,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.density = density
        self.C = C
        self.unlabelled_weight = unlabelled_weight
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.class_shares = class_shares
        self.safe_margin = safe_margin
        self.max_rows = max_rows
        self.n_landmarks = n_landmarks
        self.encoder = encoder
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _matrix(self, rows: Floats, codes: Ints, random: np.random.RandomState) -> tuple[Floats, Ints]:
        labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
        n_others = min(len(others), max(0, self.n_landmarks - len(labelled)))
        landmarks = np.sort(np.append(labelled, random.choice(others, n_others, replace=False)))
        return self.kernel_(rows, rows[landmarks]), landmarks

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
        return quasi_newton(
            K,
            columns,
            signs,
            C=self.C,
            unlabelled_weight=self.unlabelled_weight if uses_unlabelled else 0.0,
            positive_share=share,
            tol=self.tol,
            max_iter=self.max_iter,
            step=step,
        )
