"""Many labels: landmarks against an SVM on the whole kernel matrix, and time and memory of 100,000 labels.

`python -m benchmarks many_labels`; takes minutes and 4 GB, and is not part of `make bench`. The exact SVM has the
kernel and C of the other, so that accuracies differ by the landmarks and the smoothed hinge alone.
"""

import resource
import time
from dataclasses import dataclass

import numpy as np

from mixkern import MixtureSVC, datasets
from mixkern.density import Rows
from mixkern.svm import classifier
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.one_vs_one import chosen
from mixkern.svm.scheme import class_scores

PACKAGED = "phoneme", "page_blocks", "satimage"  # three rows of four are labelled, the others are predicted
# Classes, Gaussians of each, columns, and the deviation of their means: of 20,000 labels.
GENERATED = (2, 4, 10, 0.4), (3, 4, 10, 0.6), (5, 4, 10, 0.6), (10, 3, 10, 0.8), (5, 10, 3, 1.0), (20, 2, 5, 1.5)
N_LABELS, N_TEST = 20_000, 10_000
LARGE = 100_000
BLOCK = 2_048  # rows of the exact kernel matrix that are computed at a time


@dataclass(frozen=True)
class Table:
    """Labelled rows and test rows."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def run(*, tiny: bool = False) -> None:
    """Print time and memory of many labels, then accuracies."""
    print_large(2_000 if tiny else LARGE, max_labels=1_000 if tiny else 5_000)
    print("Accuracy in percent of landmarks and of the exact SVM on test rows, and seconds of their training")
    settings = {"max_labels": 500, "n_landmarks": 200} if tiny else {"max_labels": 1}
    n = 1_000 if tiny else N_LABELS
    tables = [generated(*each, n=n) for each in (GENERATED[:1] if tiny else GENERATED)]
    for table in [*(packaged(name) for name in PACKAGED[: 1 if tiny else None]), *tables]:
        print(f"  {compared(table, settings)}", flush=True)


def print_large(n: int, max_labels: int) -> None:
    """Print seconds and the peak of memory, of a process that has done nothing else before."""
    for n_classes in (2, 5):
        table = generated(n_classes, 4, 10, 0.6, n=n)
        start, cpu = time.perf_counter(), time.process_time()
        model = MixtureSVC(random_state=0, max_labels=max_labels).fit(table.X, table.y)
        fitted, cpu = time.perf_counter(), time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        model.predict(table.X)
        predicted = time.perf_counter()
        print(
            f"{n:,} labels of {n_classes} classes in 10 columns: fit {fitted - start:.1f} s (of cores {cpu:.1f} s), "
            f"peak {peak:.2f} GB; "
            f"predict {predicted - fitted:.1f} s; accuracy {100 * model.score(table.X_test, table.y_test):.2f} %; "
            f"{model.n_landmarks_:,} landmarks",
            flush=True,
        )
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"  peak after the prediction {after:.2f} GB   target 4 GB, 120 s", flush=True)


def compared(table: Table, settings: dict[str, int]) -> str:
    """Return a line with both accuracies."""
    start = time.perf_counter()
    model = MixtureSVC(random_state=0, probability=False, **settings)
    codes, _ = model.read_labels(table.X, table.y, None)
    rows = model.learn_structure(table.X, None, codes)
    learned = time.perf_counter()
    model.train(rows, codes)
    trained = time.perf_counter()
    own = 100 * model.score(table.X_test, table.y_test)
    line = f"{table.name}, {len(table.y):,} labels, {len(model.classes_)} classes: landmarks {own:.2f}"
    started = time.perf_counter()
    exact = exact_accuracy(model, rows, codes, table)
    seconds = time.perf_counter() - started
    return (
        f"{line}, exact {exact:.2f}, difference {own - exact:+.2f}; {trained - learned:.1f} and {seconds:.1f} s; "
        f"density {learned - start:.1f} s; {model.scheme_}"
    )


def exact_accuracy(model: MixtureSVC, rows: Rows, codes: np.ndarray, table: Table) -> float:
    """Return the accuracy of libsvm on the kernel matrix of all labels, with a function for each pair of classes."""
    kernel, C = model.kernel_, model.C_
    if model.scheme_ != "one-vs-one":  # the kernel and C of pairs
        few = np.where(np.arange(len(codes)) < 5_000, codes, -1)
        usual = MixtureSVC(random_state=0, probability=False, density=model.mixture_).fit(rows.values, few)
        kernel, C = usual.kernel_, usual.C_
    K = np.empty((len(rows), len(rows)))
    for start in range(0, len(rows), BLOCK):
        K[start : start + BLOCK] = kernel_matrix(kernel, rows[start : start + BLOCK], rows)
    dual = classifier(K, codes, C=C)
    del K
    test, support = model.rows_of(table.X_test), rows[dual.support]
    values = [
        kernel_matrix(kernel, test[start : start + BLOCK], support) @ dual.coefficients + dual.intercepts
        for start in range(0, len(test), BLOCK)
    ]
    predicted = model.classes_[chosen(class_scores(np.vstack(values), len(model.classes_)))]
    return 100 * float((predicted == table.y_test).mean())


def packaged(name: str) -> Table:
    """Load a packaged table; three rows of four are labelled."""
    data = datasets.load(name)
    order = np.random.RandomState(0).permutation(len(data.y))
    first, last = np.split(order, [3 * len(order) // 4])
    X, y = np.asarray(data.X), np.asarray(data.y)
    return Table(name, X[first], y[first], X[last], y[last])


def generated(n_classes: int, n_each: int, d: int, deviation: float, *, n: int) -> Table:
    """Draw rows of a mixture whose components belong to classes."""
    random = np.random.RandomState(0)
    k = n_classes * n_each
    means, factors = deviation * random.standard_normal((k, d)), 0.4 * random.standard_normal((k, d, d)) + np.eye(d)
    own = random.randint(k, size=n + N_TEST)
    X = means[own] + np.einsum("nij,nj->ni", factors[own], random.standard_normal((len(own), d)))
    y = own % n_classes
    return Table(f"generated in {d} columns", X[:n], y[:n], X[n:], y[n:])
