"""The methods of the leaderboard and of the paper's experiments, by name."""

from collections.abc import Iterable, Mapping

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import ConstantKernel, Matern
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from mixkern.estimators import LaplacianSVC, MixtureSVC, QuasiNewtonS3VC, TransductiveSVC
from mixkern_study.few_label_search import FewLabelSearch
from mixkern_study.method import Method, all_rows, chosen_methods, labels_only, own_estimator
from mixkern_study.optional_method import OPTIONAL, optional_methods, why_left_out
from mixkern_study.protocol import StudyError

TRANSDUCTIVE_ROWS = 1_000  # time grows with the cube of the rows, times the classes
MOST_STEPS = 1_000  # of an iteration that may not converge, such as propagation where a cluster has no label

# Length scales for z-scores of 2 to 1,000 columns, whose distances are 2 to 45. With few labels a large fixed variance
# is better than one by evidence, as a large C is for an SVM: 70 against 67 % on nine of the paper's sets.
GP_KERNEL = ConstantKernel(100.0, "fixed") * Matern(5.0, (0.3, 100.0), nu=1.5)
# Kernel, neighbours, gamma: the usual one first.
SPREADING = (
    ("knn", 7, 1.0),
    ("knn", 3, 1.0),
    ("knn", 15, 1.0),
    ("rbf", 7, 1.0),
    ("rbf", 7, 0.1),
    ("rbf", 7, 0.01),
)

REFERENCE = "mixture_svc"  # the method that others are compared with
LABELS_ONLY = "svc"  # the labels-only baseline

METHODS: Mapping[str, Method] = {
    REFERENCE: own_estimator(MixtureSVC(probability=False), "MixtureSVC"),
    "blend": own_estimator(MixtureSVC(unlabelled="ignore", probability=False), "MixtureSVC, SVM alone"),
    "rwm": own_estimator(MixtureSVC("rwm", unlabelled="ignore", probability=False), "MixtureSVC, RWM"),
    "gmm": own_estimator(MixtureSVC("gmm", unlabelled="ignore", probability=False), "MixtureSVC, GMM"),
    "rbf": own_estimator(MixtureSVC("rbf", unlabelled="ignore", probability=False), "MixtureSVC, RBF"),
    "lap": own_estimator(MixtureSVC("lap", unlabelled="ignore", probability=False), "MixtureSVC, LAP"),
    "laplacian_svc": own_estimator(LaplacianSVC(probability=False), "LaplacianSVC"),
    "transductive_svc": own_estimator(
        TransductiveSVC(max_rows=TRANSDUCTIVE_ROWS, probability=False), "TransductiveSVC"
    ),
    "s3vc": own_estimator(QuasiNewtonS3VC(probability=False), "QuasiNewtonS3VC"),
    # Settings that do better than the defaults with few labels: SVC with C = 1 is four points worse.
    LABELS_ONLY: labels_only(FewLabelSearch(SVC(), "C", (10.0, 1.0, 100.0)), "SVC"),
    "svc_10": labels_only(SVC(C=10.0), "SVC, C = 10"),
    "logistic": labels_only(LogisticRegression(C=10.0, max_iter=MOST_STEPS), "Logistic regression"),
    "lda": labels_only(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), "LDA, shrinkage"),
    "gaussian_process": labels_only(GaussianProcessClassifier(GP_KERNEL), "Gaussian process"),
    "forest": labels_only(RandomForestClassifier(), "Random forest"),
    "neighbours": labels_only(KNeighborsClassifier(1), "Nearest neighbour"),
    "bayes": labels_only(GaussianNB(), "Naive Bayes"),
    "spreading": all_rows(LabelSpreading(kernel="knn"), "Label spreading"),
    "spreading_tuned": all_rows(
        FewLabelSearch(LabelSpreading(), ("kernel", "n_neighbors", "gamma"), SPREADING), "Label spreading, tuned"
    ),
    "propagation": all_rows(LabelPropagation(kernel="knn", max_iter=MOST_STEPS), "Label propagation"),
    "self_training": all_rows(SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=MOST_STEPS)), "Self-training"),
}

# Extra columns of the paper's experiments: others with their default settings.
BASELINES: Mapping[str, Method] = {
    "svc": labels_only(SVC(), "SVC"),
    "forest": METHODS["forest"],
    "spreading": METHODS["spreading"],
    "propagation": all_rows(LabelPropagation(kernel="knn", max_iter=5_000), "Label propagation"),
    "self_training": all_rows(SelfTrainingClassifier(SVC(probability=True)), "Self-training"),
    "laplacian_svm": METHODS["laplacian_svc"],
    "transductive_svm": own_estimator(TransductiveSVC(probability=False), "TransductiveSVC"),
    "s3vm": METHODS["s3vc"],
}


def title_of_method(name: str) -> str:
    """Return the title of a method; other names are their own titles.

    >>> title_of_method("svc"), title_of_method("xgboost"), title_of_method("mine")
    ('SVC', 'XGBoost', 'mine')
    """
    if name in OPTIONAL:
        return OPTIONAL[name].title
    return METHODS[name].title if name in METHODS else name


def leaderboard_methods() -> dict[str, Method]:
    """Return :data:`METHODS`, and those of optional libraries that are installed."""
    return {**METHODS, **optional_methods()}


def chosen_leaderboard_methods(chosen: Mapping[str, Method] | Iterable[str] | None = None) -> dict[str, Method]:
    """Return methods by their names, by default all; the name of one that is not available is an error with the reason.

    >>> list(chosen_leaderboard_methods(["svc", "lda"]))
    ['svc', 'lda']
    """
    known = leaderboard_methods()
    names = list(known if chosen is None else chosen)
    for name in names if not isinstance(chosen, Mapping) else ():
        if name in OPTIONAL and name not in known:
            raise StudyError(why_left_out(name))
    return chosen_methods(chosen if isinstance(chosen, Mapping) else names, known, "method")
