"""A support vector machine that has seen all rows before it sees a label."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from mixkern.errors import LabelError
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.estimators.kernel_factory import KernelName, replaced
from mixkern.estimators.setting import AUTO_OR_POSITIVE, POSITIVE, Rule
from mixkern.explain.case import By, Case, row_names
from mixkern.explain.contrast import contrasts
from mixkern.explain.pull import pulls_by_component, pulls_by_neighbour
from mixkern.imports import optional
from mixkern.kernels.blend import SHARE, BlendKernel
from mixkern.svm import Dual, classifier, evidence_C, evidence_share
from mixkern.svm.calibration import cross_fitted, slope
from mixkern.svm.dual import NotConvergedWarning
from mixkern.svm.folds import Train
from mixkern.svm.gaussian_process import evidence_rows
from mixkern.svm.one_vs_one import chosen, class_probabilities, class_scores
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of
from mixkern.wording import listing

ANSWERS = ("label", "probability", "component", "novelty")  # columns of what MixtureSVC.assess gives


class MixtureSVC(MixtureClassifier):
    """Classify a table from a handful of labels, by a kernel that has learned from all its rows.

    The table is encoded, a mixture density is fitted to every row, labelled or not, and a support vector machine is
    trained on the labelled rows with a kernel that measures distances in the units of the components.

    Parameters
    ----------
    kernel : {"blend", "rwm", "gmm", "rbf", "lap"} or Kernel, default="blend"
        How alike two rows are: by the components that are responsible for them (``"rwm"``, the kernel of the paper),
        by all components (``"gmm"``), by Euclidean distance (``"rbf"``), that distance bent along the graph of all
        rows (``"lap"``), or by a blend of the first, of whether they belong to the same components, and of Euclidean
        distance, as much of each as the labels believe (``"blend"``; :class:`~mixkern.kernels.BlendKernel`).
        Or any kernel of mixkern or scikit-learn, sums and products included; it is bound to the mixture where it has
        none, and reads rows as ``encoder_`` gives them.
    density : VBMixture or Mixture, default=None
        How to learn the density; ``VBMixture(use_labels=True)`` lets it see the labels too. A :class:`Mixture` is used
        as it is: ``X`` must then be encoded rows, as the mixture describes them. ``None`` is a ``VBMixture`` with
        the prior that suits the kernel (``"evidence"`` for the blend, ``"typical"`` for others), and with diagonal
        covariances where the table is too wide for full ones.
    C : float or "auto", default="auto"
        What an error on a labelled row costs. With ``"auto"`` the labels say how noisy they are
        (:func:`~mixkern.svm.evidence_C`); it is about 10 where they are few.
    gamma : float, "scale" or "local", default="scale"
        How local the kernel is: ``"scale"`` is one over the median squared distance between rows, ``"local"`` ten times
        as much.
    alpha, beta : float, default=1.0
        Weights of the continuous columns and of the number of differing categories.
    class_weight : dict or "balanced", default=None
        What multiplies ``C`` for each label; ``"balanced"`` makes up for different numbers of labels.
    encoder : TableEncoder or "passthrough", default=None
        How to read the table; ``None`` is ``TableEncoder()``. With ``"passthrough"`` the rows are taken as they are,
        and ``density.n_categorical`` says how many columns hold codes.
    probability : bool, default=True
        Whether to learn what :meth:`predict_proba` needs: some fifteen more trainings on the labelled rows.
    repair : {"auto", "none", "clip", "flip", "shift"}, default="auto"
        What to do about negative eigenvalues of the kernel matrix; ``"auto"`` clips them if libsvm does not converge.
    tol : float, default=1e-3
        When libsvm has converged.
    max_iter : int, default=-1
        After how many iterations it gives up; -1 is a million, because an indefinite kernel may keep it busy forever.
    random_state : int, RandomState or None, default=None
        Which start the density has, and which folds :meth:`predict_proba` is learned from.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
        The labels.
    encoder_ : TableEncoder or None
        How the table was read.
    mixture_ : Mixture
        The density of all rows.
    density_ : VBMixture or None
        Who learned it.
    kernel_ : Kernel
        The kernel, with its mixture and its gamma.
    C_ : float
        What an error has cost.
    support_ : ndarray of int, shape (s,)
        Positions of the support vectors in ``X``.
    support_vectors_ : ndarray of shape (s, d + e)
        The encoded rows themselves.
    n_support_ : ndarray of int, shape (c,)
        How many there are of each class.
    dual_coef_, intercept_ : ndarray of shape (s, q) and (q,)
        The decision functions of the q pairs of classes, positive for the first of a pair.
    slope_ : float or None
        Of the sigmoid that turns decisions into probabilities; ``None`` without ``probability``.
    repair_change_ : float
        How much of the kernel matrix a repair has changed, as a share; 0 without one.

    See Also
    --------
    mixkern.LaplacianSVC : with any kernel bent along the graph of all rows.
    mixkern.search.SVCSearch : finds C and gamma.

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets
    >>> clouds = datasets.load("clouds")
    >>> y = clouds.few_labels(per_class=4, random_state=0)  # eight labels, 4992 rows without
    >>> model = MixtureSVC(random_state=0).fit(clouds.X, y)
    >>> bool(model.score(clouds.X, clouds.y) > 0.7)
    True
    """

    _own_rules: ClassVar[Mapping[str, Rule]] = {"C": AUTO_OR_POSITIVE}

    def __init__(
        self,
        kernel: Any = "blend",
        *,
        density: Any = None,
        C: float | str = "auto",
        gamma: float | str = "scale",
        alpha: float = 1.0,
        beta: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        encoder: Any = None,
        probability: bool = True,
        repair: str = "auto",
        tol: float = 1e-3,
        max_iter: int = -1,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.density = density
        self.C = C
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.class_weight = class_weight
        self.encoder = encoder
        self.probability = probability
        self.repair = repair
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def from_paper(cls, **settings: Any) -> Self:
        """Make a machine with the kernel of the paper: RWM alone, on a smooth density.

        C and gamma are still found without a search. The paper searches them on grids:
        ``SVCSearch(MixtureSVC.from_paper())``.

        >>> MixtureSVC.from_paper(C=1.0)
        MixtureSVC(C=1.0, kernel='rwm')
        """
        return cls(**{"kernel": "rwm", **settings})

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_unlabelled: Any = None) -> Self:
        """Learn the density of all rows, then the machine from the labelled ones.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            The table: numbers, categories, gaps.
        y : array-like of shape (n,)
            Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
        sample_weight : array-like of shape (n,), default=None
            How much each label counts. A row whose label counts nothing is an unlabelled row.
        X_unlabelled : frame or array-like of shape (m, n_columns), default=None
            Further rows without labels.

        Returns
        -------
        self
        """
        codes, weights = self.read_labels(X, y, sample_weight)
        self._class_weights()  # refuses what is wrong before any work is done
        return self.train(self.learn_structure(X, X_unlabelled, codes), codes, weights)

    def train(self, rows: Floats, codes: Ints, weights: Floats | None = None) -> Self:
        """Train on the labelled rows, once the structure is known: the second half of :meth:`fit`.

        Parameters
        ----------
        rows : ndarray of shape (n, d + e)
            As :meth:`learn_structure` gives them.
        codes, weights : ndarray of shape (n,)
            As :meth:`read_labels` gives them; rows beyond their length are unlabelled.

        Returns
        -------
        self
        """
        labelled = np.flatnonzero(codes >= 0)
        rows, codes = rows[labelled], codes[labelled]
        counts = None if weights is None else weights[labelled]
        self.kernel_ = self._evidence_kernel(rows, codes, counts)
        K = self.kernel_(rows)
        self.C_ = self._cost(K, codes, counts)

        def train(K: Floats, codes: Ints, kept: Ints) -> Dual:
            return self._solved(K, codes, None if counts is None else counts[kept], self.C_)

        dual = train(K, codes, np.arange(len(codes)))
        self._keep(dual, rows)
        self.support_ = labelled[dual.support]
        self.n_support_ = np.bincount(codes[dual.support], minlength=len(self.classes_))
        self.slope_ = self._slope(K, codes, train, counts) if self.probability else None
        return self

    def _evidence_kernel(self, rows: Floats, codes: Ints, weights: Floats | None) -> Any:
        """Give the kernel, after labelled rows have said how much of the mixture they believe."""
        kernel = self.kernel_
        if self.kernel != KernelName.BLEND or not isinstance(kernel, BlendKernel):  # given as it is, or bent
            return kernel
        some = evidence_rows(codes)
        plain, mixed = kernel.pair_terms(rows[some]).halves(kernel.gamma, kernel.alpha, kernel.beta)
        counts = None if weights is None else weights[some]
        return replaced(kernel, share=evidence_share(SHARE, plain, mixed, codes[some], counts))

    def _cost(self, K: Floats, codes: Ints, weights: Floats | None) -> float:
        """Give C, or ask the labels for it."""
        if not isinstance(self.C, str):
            return float(self.C)
        some = evidence_rows(codes)
        counts = None if weights is None else weights[some]
        return evidence_C(K[np.ix_(some, some)], codes[some], counts)

    def _slope(self, K: Floats, codes: Ints, train: Train, weights: Floats | None) -> float:
        with warnings.catch_warnings():  # the training on all labels has said it already
            warnings.simplefilter("ignore", NotConvergedWarning)
            return slope(cross_fitted(K, codes, train, self.random_state, weights))

    def _class_weights(self) -> dict[int, float] | str | None:
        """Give the weights of classes by their codes."""
        given = self.class_weight
        if given is None or given == "balanced":
            return given
        if not isinstance(given, dict):
            raise LabelError(f"class_weight must be None, 'balanced' or a dict of labels, but it is {given!r}.")
        known = self.classes_.tolist()
        strange = [label for label in given if label not in known]
        if strange:
            raise LabelError(f"class_weight names {listing(strange)}, but the labels are {listing(known)}.")
        wrong = [weight for weight in given.values() if not POSITIVE[1](weight)]
        if wrong:
            raise LabelError(f"class_weight must hold positive numbers, but it holds {wrong[0]!r}.")
        return {known.index(label): float(weight) for label, weight in given.items()}

    def solve(self, K: Floats, codes: Ints, weights: Floats | None = None) -> Dual:
        """Train on a kernel matrix among labelled rows, and keep nothing."""
        return self._solved(K, codes, weights, self._cost(K, codes, weights))

    def _solved(self, K: Floats, codes: Ints, weights: Floats | None, C: float) -> Dual:
        return classifier(
            K,
            codes,
            C=C,
            sample_weight=weights,
            class_weight=self._class_weights(),
            tol=self.tol,
            max_iter=self.max_iter,
            remedy=self.repair,
        )

    def decision_function(self, X: Any) -> Floats:
        """Score the classes; the highest is predicted.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes one score, positive for the second. For more: votes of all pairs of classes, and less than
            a third of a vote for how clear they were, as in scikit-learn's ``SVC``.
        """
        values = self._values(X)
        return class_scores(values, len(self.classes_))

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any) -> Floats:
        """Say how probable each class is; the predicted label is always the most probable one.

        Sigmoids of the decisions between pairs of classes, all with one slope, learned from decisions on labelled rows
        that were left out of the training (but not of the choice of the kernel's share and of C), and coupled in
        closed form. With few labels the slope stays near a prior:
        take the probabilities for a ranking rather than for frequencies.

        Returns
        -------
        ndarray of shape (n, c)
            Columns in the order of ``classes_``.
        """
        return self._probabilities(self._values(X))

    def _probabilities(self, decisions: Floats) -> Floats:  # (n, c)
        if self.slope_ is None:
            raise AttributeError("predict_proba needs what probability=True learns in fit. Fit again.")
        return class_probabilities(decisions, self.slope_, len(self.classes_))

    def assess(self, X: Any, *, all_classes: bool = False) -> Any:
        """Say of each row which label it gets, how probable that is, and where in the density it lies.

        Rows are encoded once for all of it.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        all_classes : bool, default=False
            Whether to give the probabilities of all classes too, in columns named ``probability_`` and the class.

        Returns
        -------
        pandas.DataFrame
            With the index of ``X``: ``label``; ``probability`` of it, NaN for a machine without; ``component``, the
            number of the most responsible one in ``mixture_``; ``novelty``, the share of training rows in denser
            places.

        Examples
        --------
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
        >>> model.assess(iris.X[:2])["label"].tolist()
        ['setosa', 'setosa']
        """
        pandas = optional("pandas", purpose="MixtureSVC.assess")
        values = self._known(X)
        decisions = self._decisions(values)
        labels = self._labels.decode(chosen(class_scores(decisions, len(self.classes_))))
        odds = (
            self._probabilities(decisions) if self.probability else np.full((len(values), len(self.classes_)), np.nan)
        )
        component = self.mixture_.responsibilities(values).argmax(axis=1)
        novelty = self._novelty.of_rows(values, self.mixture_)
        columns = dict(zip(ANSWERS, (labels, odds.max(axis=1), component, novelty), strict=True))
        if all_classes:
            columns |= {f"probability_{label}": odds[:, i] for i, label in enumerate(self.classes_.tolist())}
        return pandas.DataFrame(columns, index=row_names(X, len(values)))

    def explain(self, X: Any, by: str = "label", n: int | None = 5) -> Any:
        """Say why rows get their labels: by which labelled rows, which components, which columns.

        Nothing is estimated. A score is a sum over support vectors, and a distance is one over components and columns;
        the lines of a row always add up.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        by : {"label", "component", "column"}, default="label"
            What to explain labels by.
        n : int or None, default=5
            How many labelled rows, components or columns have lines of their own; ``None`` is all. The rest has one
            line together.

        Returns
        -------
        pandas.DataFrame
            Several lines for each row, in the order of ``X``. All begin with ``row`` (its index in a pandas frame, else
            its position), its predicted ``label``, and ``against``: the class that was next.

            By ``"label"``, the strongest pull first: ``score``, the decision between these two classes, positive for
            the label (of three classes or more it is negative in the rare case that other pairs outvoted this one);
            ``source``, whether the line is about a labelled ``"neighbour"``, all ``"others"`` together or the
            ``"intercept"``; ``neighbour``, its position in the ``X`` of :meth:`fit`; ``neighbour_label``;
            ``similarity``, the kernel between the two, and, if it is a blend, how much of it is ``euclidean``,
            ``mixture`` and ``membership``; ``pull``, what is added to the score.

            By ``"component"``, the most responsible one first: ``score`` and ``source`` as above; ``component``,
            its number in ``mixture_``; ``responsibility`` for the row; ``weight``, its share of all rows; ``pull``,
            what the labelled rows in it add to the score, each as far as the component is responsible for it;
            ``support``, how many support vectors of each label lie in it; ``distinct_1``, ..., what distinguishes it.

            By ``"column"``, the largest part first: ``beside``, whether the row is compared with the ``neighbour`` that
            speaks most ``"for"`` its label or most ``"against"`` it, or with the mean and the most frequent categories
            of its most likely ``"component"``; ``column``, with ``"(others)"`` for all that are not told; ``value`` of
            the row and ``other_value``, None for a gap; ``filled``, whether one of the two is a gap whose expectation
            was compared; ``part``, what the column adds to ``total``, the squared distance between the two. If the
            kernel is a blend, that is the mean of the squares of two distances, whose parts are ``mixture`` and
            ``euclidean``. From a component, it is the squared Mahalanobis distance plus twice the log ratio of the most
            frequent category's probability to that of the row's. A part is negative where the columns'
            correlation makes a difference likely.

        Notes
        -----
        A bent kernel (``"lap"``, :class:`~mixkern.LaplacianSVC`) is bent once more in the first call, in as much time
        as the training took, and keeps its matrices; its columns are those of the distance that it is bent from. The
        kernel ``"rbf"`` has filled the gaps of labelled rows before it was trained: their expectations are shown.

        Examples
        --------
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> y = iris.few_labels(per_class=4, random_state=0)
        >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
        >>> lines = model.explain(iris.X[:1], n=2)
        >>> lines["source"].tolist()
        ['neighbour', 'neighbour', 'others', 'intercept']
        >>> bool(abs(lines["pull"].sum() - lines["score"][0]) < 1e-12)
        True
        """
        explained = {By.LABEL: pulls_by_neighbour, By.COMPONENT: pulls_by_component, By.COLUMN: contrasts}
        table = explained[one_of(By, by, "by")]
        values = self._known(X)
        case = Case(self, row_names(X, len(values)), values, self._as_read(values), self._decisions(values))
        return table(case, n)
