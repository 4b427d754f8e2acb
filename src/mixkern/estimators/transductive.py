"""Joachims' transductive SVM, for any kernel and several classes."""

from typing import Any

import numpy as np

from mixkern.density import Rows
from mixkern.estimators.one_vs_rest import BinaryProblem, OneVsRestMixtureClassifier
from mixkern.parts import model_part
from mixkern.svm import Dual
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.transductive import TRANSDUCTIVE_LEVELS, transductive
from mixkern.typing import Floats, Ints, RandomState


@model_part("TransductiveSVC")
class TransductiveSVC(OneVsRestMixtureClassifier):
    """Transductive SVM: the widest margin between labelled and unlabelled rows.

    The unlabelled rows are given labels, as many of each class as its share demands, and labels are switched in pairs
    while the margin grows (Joachims, 1999). New rows can be predicted as by any other classifier. The defaults are the
    kernel of the paper and the C of scikit-learn's ``SVC``: the blend of :class:`MixtureSVC` and a larger C were about
    as accurate (docs/estimators.md has the figures).

    Parameters
    ----------
    kernel, density, gamma, alpha, beta, encoder, repair, tol, max_iter, verbose, random_state
        As in :class:`MixtureSVC`; the default kernel is ``"rwm"``.
    C : float, default=1.0
        Regularization parameter: the penalty of an error on a labelled row.
    unlabelled_C : float, default=0.1
        Penalty of an unlabelled row within the margin; 0 leaves these rows out.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for the labelled rows of each class; ``"balanced"`` is inversely proportional to the number of
        labels. A row has the factor of its own class in the problems of all classes against the others.
    class_shares : dict, default=None
        Share of each label among all rows; ``None`` takes that among the labelled rows.
    safe_margin : float, default=None
        With a number, the classifier is compared with the supervised one on labelled rows that are left out, fold by
        fold. Where it makes more errors, by more than this share of these rows, the supervised one is used.
    max_rows : int, default=2000
        Limit for the training rows: with more, all labelled rows and a random sample of the others are used.
    probability : bool, default=True
        Whether to enable :meth:`predict_proba`, by up to four more trainings, each without the labels of some rows.
        With ``safe_margin`` they are those of the comparison.

    Attributes
    ----------
    classes_, n_labels_ : ndarray of shape (c,)
        The labels, and the number of labelled rows of each.
    support_, support_vectors_, dual_coef_, intercept_
        The support vectors, and the function of each class against the others (of two classes: of the second).
    slope_ : float or None
        Slope of the sigmoid that turns decisions into probabilities; ``None`` with ``probability=False``.
    fell_back_ : bool
        Whether the safe mode has chosen the supervised classifier.
    encoder_, density_, mixture_, kernel_
        As in :class:`MixtureSVC`.

    Notes
    -----
    Right where classes are apart, wrong where they overlap or where the shares of the classes are wrong: then rows are
    pressed into the wrong class. Time grows with the cube of the number of rows.

    Examples
    --------
    >>> from mixkern import TransductiveSVC, datasets
    >>> moons = datasets.load("two_moons")
    >>> model = TransductiveSVC(random_state=0).fit(moons.X, moons.few_labels(per_class=4, random_state=0))
    >>> bool(model.score(moons.X, moons.y) > 0.9)
    True
    """

    n_levels = TRANSDUCTIVE_LEVELS

    def __init__(
        self,
        kernel: Any = "rwm",
        *,
        density: Any = None,
        C: float = 1.0,
        unlabelled_C: float = 0.1,
        gamma: float | str = "scale",
        alpha: float = 1.0,
        beta: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        class_shares: dict[Any, float] | None = None,
        safe_margin: float | None = None,
        max_rows: int = 2_000,
        encoder: Any = None,
        probability: bool = True,
        repair: str = "auto",
        tol: float = 1e-3,
        max_iter: int = -1,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.density = density
        self.C = C
        self.unlabelled_C = unlabelled_C
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.class_weight = class_weight
        self.class_shares = class_shares
        self.safe_margin = safe_margin
        self.max_rows = max_rows
        self.encoder = encoder
        self.probability = probability
        self.repair = repair
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def _matrix(self, rows: Rows, codes: Ints, random: RandomState) -> tuple[Floats, Ints]:  # noqa: ARG002
        return kernel_matrix(self.kernel_, rows), np.arange(len(rows))

    def _binary(self, problem: BinaryProblem) -> Dual:
        return transductive(
            problem.K,
            problem.signs,
            C=self.C,
            unlabelled_C=self.unlabelled_C if problem.uses_unlabelled else 0.0,
            positive_share=problem.share,
            sample_weight=problem.weights,
            tol=self.tol,
            max_iter=self.max_iter,
            repair=self.repair,
            step=problem.step,
        )
