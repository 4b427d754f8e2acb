"""Hundreds of classes with three labels each: fit and predict_proba, against SVC on the same labels."""

import numpy as np
from sklearn.svm import SVC

from benchmarks.ratio import ratio
from mixkern import MixtureSVC

# Classes, rows without a label, and the target: the largest ratio.
TABLES = (300, 0, 10.0), (300, 20_000, 20.0), (1_000, 0, 2.0)
TINY_TABLES = ((101, 0, 100.0),)


def run(*, tiny: bool = False) -> None:
    """Print ratios to scikit-learn's SVC, which trains pairs of classes, and predicts labels without probabilities."""
    print("MixtureSVC, fit and predict_proba, three labels per class, over fit and predict of SVC")
    for n_classes, n_unlabelled, target in TINY_TABLES if tiny else TABLES:
        X, y = blobs(n_classes, n_unlabelled)
        few, own = X[y >= 0], y[y >= 0]
        found = ratio(
            lambda X=X, y=y: MixtureSVC(random_state=0).fit(X, y).predict_proba(X),
            lambda few=few, own=own: SVC().fit(few, own).predict(few),
            repeats=1 if tiny else 3,
        )
        print(f"  {n_classes:,} classes, {len(X):,} rows: {found:.2f}   target {target}", flush=True)


def blobs(n_classes: int, n_unlabelled: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes around points in five columns, three labelled rows of each, and rows without a label."""
    random = np.random.RandomState(0)
    centres = 4 * random.standard_normal((n_classes, 5))
    own = np.append(np.repeat(np.arange(n_classes), 3), random.randint(n_classes, size=n_unlabelled))
    X = centres[own] + 0.1 * random.standard_normal((len(own), 5))
    return X, np.where(np.arange(len(own)) < 3 * n_classes, own, -1)
