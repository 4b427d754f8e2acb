"""Decision functions of pairs of classes against functions of single classes: accuracies and log losses.

`python -m benchmarks class_scheme`; takes minutes, and is not part of `make bench`, which measures speed. The tables
are generated: each class is one Gaussian or two, with covariances of their own, in 2 to 20 columns.
"""

import numpy as np

from mixkern import MixtureSVC
from mixkern.svm import scheme

# Classes, Gaussians of each, columns, and the deviation of their means: from hardly to well separated.
TABLES = (120, 2, 5, 2.0), (120, 2, 10, 1.5), (200, 2, 3, 4.0), (150, 1, 2, 8.0), (150, 1, 20, 3.0), (140, 1, 5, 6.0)
N_ROWS = 4_000
N_LABELS = 1, 2, 3, 8  # per class
N_DRAWS = 2


def run(*, tiny: bool = False) -> None:
    """Print mean accuracies and log losses on rows without a label."""
    for n_labels in N_LABELS[1:2] if tiny else N_LABELS:
        found = []
        for settings in TABLES[:1] if tiny else TABLES:
            for seed in range(1 if tiny else N_DRAWS):
                X, y = gaussian_classes(*settings, n=1_000 if tiny else N_ROWS, seed=seed)
                found.append([scores(X, y, n_labels, most_paired) for most_paired in (len(y), 0)])
        (pairs, pair_loss), (single, single_loss) = np.mean(found, axis=0)
        print(
            f"{n_labels} labels per class: pairs {pairs:.1f} %, log loss {pair_loss:.2f}; each class {single:.1f} %, "
            f"log loss {single_loss:.2f}",
            flush=True,
        )


def gaussian_classes(
    n_classes: int, n_each: int, d: int, deviation: float, *, n: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of a mixture whose components belong to classes."""
    random = np.random.RandomState(seed)
    means = deviation * random.standard_normal((n_classes * n_each, d))
    factors = 0.5 * (random.standard_normal((n_classes * n_each, d, d)) + np.eye(d))
    component = random.randint(n_classes * n_each, size=n)
    X = means[component] + np.einsum("nij,nj->ni", factors[component], random.standard_normal((n, d)))
    return X, component // n_each


def scores(X: np.ndarray, y: np.ndarray, n_labels: int, most_paired: int) -> tuple[float, float]:
    """Return the accuracy in percent and the log loss, with pairs of up to so many classes."""
    random = np.random.RandomState(0)
    kept = np.concatenate([random.permutation(np.flatnonzero(y == label))[:n_labels] for label in np.unique(y)])
    few = np.full(len(y), -1)
    few[kept] = y[kept]
    usual, scheme.MOST_PAIRED = scheme.MOST_PAIRED, most_paired
    try:
        model = MixtureSVC(random_state=0).fit(X, few)
    finally:
        scheme.MOST_PAIRED = usual
    others = np.flatnonzero(few < 0)
    shares = model.predict_proba(X[others])
    own = shares[np.arange(len(others)), np.searchsorted(model.classes_, y[others])]
    predicted = model.classes_[shares.argmax(axis=1)]
    return 100 * float((predicted == y[others]).mean()), float(-np.log(np.maximum(own, 1e-6)).mean())
