"""Run-times as the paper measures them: density, kernel matrix, training, testing; and their table."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from mixkern.defaults import KernelName
from mixkern.density import Mixture, Rows
from mixkern.estimators.kernel_factory import named_kernel
from mixkern.kernels import LaplacianKernel
from mixkern.report.table import TextTable
from mixkern.svm import DecisionFunction, classifier
from mixkern.svm.decision import values_for
from mixkern.typing import Floats, Ints
from mixkern.wording import counted
from mixkern_study.data_sets import title_of
from mixkern_study.evaluation import compact, laplacian_kernel, ratios
from mixkern_study.fold import StudyFold, fitted_density
from mixkern_study.protocol import Protocol
from mixkern_study.published import KERNELS, RunTimes, published_mean_run_times, published_run_times
from mixkern_study.record import Timing
from mixkern_study.result_table import IN_PARENTHESES, SECONDS, Cell, is_there
from mixkern_study.store import Store

RATIO = 1.0  # of the Laplacian kernel: the time does not depend on it
LEAST_S = 0.05  # shorter work is repeated
MOST_TIMES = 20
PARTS = ("building", "training", "testing")


# ---------------------------------------------------------------- measurement


def fold_timings(fold: StudyFold, mixture: Mixture, labelled: Ints, protocol: Protocol) -> list[Timing]:
    """Measure one fold: kernels with gamma 1, classifiers with C 1, predictions of the test fold.

    The paper's U has two and a half times as many rows as are labelled, which is a quarter of the training rows: the
    size of a fold.
    """
    size: dict[str, Any] = {
        "data_set": fold.data_set,
        "fold": fold.number,
        "n_rows": len(fold.train),
        "n_labelled": len(labelled),
        "n_test": len(fold.test),
    }
    estimation = quickest(lambda: fitted_density(fold, protocol.density, protocol))
    numbers = np.nan_to_num(mixture.conditional_mean(fold.train))  # a missing category is a number like any other
    baseline_s = quickest(lambda: rbf_kernel(numbers, gamma=1.0))
    return [
        Timing(method="density", building_s=estimation, **size),
        Timing(method="rbf_kernel", building_s=baseline_s, **size),
        *(
            Timing(method=name, **size, **_kernel_times(fold, mixture, labelled, KernelName(name), protocol))
            for name in KERNELS
        ),
    ]


def quickest(work: Callable[[], object]) -> float:
    """Return the seconds that a function takes; a short one is repeated, and the smallest time counts."""
    taken: list[float] = []
    while not taken or (sum(taken) < LEAST_S and len(taken) < MOST_TIMES):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return min(taken)


def _kernel_times(
    fold: StudyFold, mixture: Mixture, labelled: Ints, name: KernelName, protocol: Protocol
) -> dict[str, Any]:
    base = named_kernel(name, mixture)
    train = values_for(base, Rows(fold.train, mixture))
    test = values_for(base, Rows(fold.test, mixture))
    codes = compact(fold.train_codes[labelled])

    def kernel() -> Any:
        if name is not KernelName.LAP:
            return base
        return laplacian_kernel(base, train, protocol).with_ratio(RATIO)

    # A Laplacian kernel uses all rows whichever it is evaluated at; the labelled ones are needed for training.
    evaluated = train[labelled] if name is KernelName.LAP else train
    found = {"building_s": quickest(lambda: kernel()(evaluated))}
    if name is KernelName.LAP:
        found["grid_s"] = quickest(lambda: _all_ratios(kernel(), evaluated, protocol))
    K = kernel()(train[labelled])
    dual = classifier(K, codes)
    support = train[labelled][dual.support]
    found["training_s"] = quickest(lambda: classifier(K, codes))
    built = kernel()
    built(train[:1])  # what a deformed kernel computes once was counted as building
    decision = DecisionFunction(built, support, dual.coefficients, dual.intercepts)
    found["testing_s"] = quickest(lambda: decision(test))
    return found


def _all_ratios(kernel: LaplacianKernel, rows: Floats, protocol: Protocol) -> None:
    for ratio, _ in ratios(protocol):
        kernel = kernel.with_ratio(ratio)
        kernel(rows)


# ---------------------------------------------------------------- table


def run_time_table(store: Store) -> TextTable:
    """Return run-times beside the published ones, and beside scikit-learn's RBF kernel on the same rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_time_table(Store(f"{folder}/paper.sqlite")).rows[0][1].to_text()
    '- (2.7)'
    """
    ours, published = _mean_times(store.timings()), published_run_times()
    columns = _time_columns()
    titles = [*published, *(title for title in ours if title not in published)]
    complete = [
        title for title in ours if title in published and not any(map(math.isnan, _times(ours[title], columns)))
    ]
    rows = [_time_row(title, ours.get(title, {}), published.get(title), columns) for title in titles]
    done = [row for row, title in zip(rows, titles, strict=True) if title in complete]
    return TextTable(
        name="run_times",
        title="Run-times in seconds",
        caption=(
            "Mean over folds: the density; the kernel matrix among all training rows; training on a tenth of the "
            f"labels; the predictions of the test fold, which has about as many rows as the paper tests. "
            f"{IN_PARENTHESES} Those were measured on another computer, so compare them with each other and not with "
            "ours. rbf_kernel is scikit-learn's function on the same rows, and RWM / rbf_kernel how many times as long "
            "RWM's matrix takes. LAP grid is LAP's matrix for all ratios of the grid at one gamma. The mean is over "
            f"{counted(len(done), 'data set')} of the paper that have all figures; its ratio is the mean of ratios. "
            f"{_mean_note(published)}"
        ),
        columns=("Data set", *(heading for heading, *_ in columns)),
        rows=tuple(rows),
        footer=(_mean_row(done, columns),),
    )


_Time = tuple[str, Callable[[Mapping[str, float]], float], Callable[[RunTimes], float] | None]


def _time_columns() -> list[_Time]:
    """Return the heading of each column, and functions of our times and of the published ones."""

    def of_kernel(kernel: str, part: str) -> _Time:
        key = f"{kernel} {part}"
        return (
            f"{kernel.upper()} {part}",
            lambda times: times.get(key, math.nan),
            lambda paper: getattr(paper, part)[kernel],
        )

    def ratio(times: Mapping[str, float]) -> float:
        return times.get("rwm building", math.nan) / times.get("rbf_kernel building", math.nan)

    return [
        ("Density", lambda times: times.get("density building", math.nan), lambda paper: paper.model_estimation),
        *(of_kernel(kernel, part) for part in PARTS for kernel in KERNELS),
        ("rbf_kernel", lambda times: times.get("rbf_kernel building", math.nan), None),
        ("RWM / rbf_kernel", ratio, None),
        ("LAP grid", lambda times: times.get("lap grid", math.nan), None),
    ]


def _mean_times(timings: Iterable[Timing]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for timing in timings:
        for part in (*PARTS, "grid"):
            seconds = getattr(timing, f"{part}_s")
            if not math.isnan(seconds):
                found[title_of(timing.data_set)][f"{timing.method} {part}"].append(seconds)
    return {title: {key: float(np.mean(each)) for key, each in times.items()} for title, times in found.items()}


def _times(ours: Mapping[str, float], columns: Sequence[_Time]) -> list[float]:
    return [value(ours) for _, value, _ in columns]


def _time_row(
    title: str, ours: Mapping[str, float], paper: RunTimes | None, columns: Sequence[_Time]
) -> tuple[Cell, ...]:
    cells = (
        Cell(value(ours), published=None if paper is None or theirs is None else theirs(paper), spec=SECONDS)
        for _, value, theirs in columns
    )
    return (Cell(title), *cells)


def _mean_row(rows: Sequence[tuple[Cell, ...]], columns: Sequence[_Time]) -> tuple[Cell, ...]:
    """Return our means, beside the means that the paper prints."""
    paper, cells = published_mean_run_times(), [Cell("Mean")]
    for j, (_, _, theirs) in enumerate(columns, 1):
        there = [value for row in rows if isinstance(value := row[j].value, float) and is_there(value)]
        mean = float(np.mean(there)) if there else None
        cells.append(Cell(mean, published=None if theirs is None else theirs(paper), spec=SECONDS))
    return tuple(cells)


def _mean_note(published: Mapping[str, RunTimes]) -> str:
    """Say that the means that the paper prints are not those of its rows."""
    paper = published_mean_run_times()

    def means(value: Callable[[RunTimes], float]) -> str:
        return f"{value(paper):.3f} ({np.mean([value(each) for each in published.values()]):.3f})"

    return (
        "The published means are those that the paper prints for all twenty; they are not the means of its rows, which "
        f"are in parentheses here: {means(lambda each: each.model_estimation)} for the density, "
        f"{means(lambda each: each.building['rwm'])} for RWM's matrix, {means(lambda each: each.building['lap'])} for "
        "LAP's."
    )
