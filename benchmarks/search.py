"""A search over 36 settings in 4 folds, against its unavoidable parts: distances and 144 fits by libsvm."""

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
TINY_TABLES = {"wine": 4}


def run(*, tiny: bool = False) -> None:
    """Print the times for some tables; the density is fitted before."""
    print("SVCSearch, 36 settings x 4 folds, density fitted before: time over that of distances and 144 fits by libsvm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, per_class in (TINY_TABLES if tiny else TABLES).items():
            _measure(name, per_class, repeats=1 if tiny else 3)


def _measure(name: str, per_class: int, repeats: int) -> None:
    data = datasets.load(name)
    rows = TableEncoder().fit_transform(data.X)
    mixture = VBMixture(random_state=0).fit(rows).mixture_
    y = data.few_labels(per_class=per_class, random_state=0)
    labels = encode_labels(y)
    codes, labelled, kernel = labels.codes[labels.is_labelled], rows[labels.is_labelled], RWMKernel(mixture)
    search = SVCSearch(MixtureSVC(density=mixture, probability=False), random_state=0)
    distances = min(seconds(lambda: kernel.pair_terms(labelled)) for _ in range(5))
    fits = min(_fit_seconds(kernel, labelled, codes) for _ in range(repeats))
    whole = min(seconds(lambda: search.fit(rows, y)) for _ in range(repeats))
    print(
        f"  {name:8s} {len(codes):4d} labels   distances {1e3 * distances:.1f} ms   libsvm {1e3 * fits:.0f} ms   "
        f"search {1e3 * whole:.0f} ms   ratio {whole / (distances + fits):.2f}   target 3.00",
        flush=True,
    )


def _fit_seconds(kernel: RWMKernel, rows: np.ndarray, codes: np.ndarray) -> float:
    """Time the fits alone, each on a matrix that was computed before."""
    terms, folds, total = kernel.pair_terms(rows), label_folds(codes, 4, 0), 0.0
    for gamma in DECADES:
        K = terms.kernel(gamma)
        for fold in range(4):
            kept = np.flatnonzero(folds != fold)
            part, labels = K[np.ix_(kept, kept)], codes[kept]
            total += seconds(lambda: [SVC(kernel="precomputed", C=C).fit(part, labels) for C in DECADES])  # noqa: B023
    return total
