"""A search over 36 settings in 4 folds, against what it cannot do without: distances, and 144 trainings by libsvm."""

import warnings

import numpy as np
from sklearn.svm import SVC

from benchmarks.ratio import seconds
from mixkern import MixtureSVC, SVCSearch, TableEncoder, VBMixture, datasets
from mixkern.encoding import encode_labels
from mixkern.kernels import RWMKernel
from mixkern.search.svc import DECADES
from mixkern.svm import label_folds

TABLES = {"wine": 12, "vehicle": 40, "pima": 80}  # labels per class


def run() -> None:
    """Print the breakdown for some tables, on a density that is fitted already."""
    warnings.simplefilter("ignore")
    print("SVCSearch, 36 settings x 4 folds, density fitted before: time over distances and 144 libsvm trainings alone")
    for name, per_class in TABLES.items():
        _measure(name, per_class)


def _measure(name: str, per_class: int) -> None:
    data = datasets.load(name)
    rows = TableEncoder().fit_transform(data.X)
    mixture = VBMixture(random_state=0).fit(rows).mixture_
    y = data.few_labels(per_class=per_class, random_state=0)
    labels = encode_labels(y)
    codes, labelled, kernel = labels.codes[labels.is_labelled], rows[labels.is_labelled], RWMKernel(mixture)
    search = SVCSearch(MixtureSVC(density=mixture, probability=False), random_state=0)
    distances = min(seconds(lambda: kernel.pair_terms(labelled)) for _ in range(5))
    trainings = min(_trainings(kernel, labelled, codes) for _ in range(3))
    whole = min(seconds(lambda: search.fit(rows, y)) for _ in range(3))
    print(
        f"  {name:8s} {len(codes):4d} labels   distances {1e3 * distances:.1f} ms   libsvm {1e3 * trainings:.0f} ms   "
        f"search {1e3 * whole:.0f} ms   ratio {whole / (distances + trainings):.2f}   target 3.00",
        flush=True,
    )


def _trainings(kernel: RWMKernel, rows: np.ndarray, codes: np.ndarray) -> float:
    """Time nothing but the trainings, each on a matrix that lies ready."""
    separation, folds, total = kernel.pair_terms(rows), label_folds(codes, 4, 0), 0.0
    for gamma in DECADES:
        K = separation.kernel(gamma)
        for fold in range(4):
            kept = np.flatnonzero(folds != fold)
            part, labels = K[np.ix_(kept, kept)], codes[kept]
            total += seconds(lambda: [SVC(kernel="precomputed", C=C).fit(part, labels) for C in DECADES])  # noqa: B023
    return total
