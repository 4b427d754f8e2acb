"""Figures that the paper published, unchanged, errors included."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

KERNELS = ("rwm", "gmm", "rbf", "lap")  # in the paper's order


@dataclass(frozen=True)
class DatasetFigures:
    """Size and composition of a data set: one row of the paper's table."""

    title: str
    n_samples: int
    n_continuous: int
    n_categorical: int
    n_classes: int
    class_percent: tuple[float, ...]


def published_data_sets() -> list[DatasetFigures]:
    """Read the paper's table of data sets.

    >>> published_data_sets()[8]
    DatasetFigures(title='Iris', n_samples=150, n_continuous=4, n_categorical=0, n_classes=3,
        class_percent=(33.3, 33.3, 33.3))
    """
    return [
        DatasetFigures(
            title=row["data_set"],
            n_samples=int(row["n_samples"]),
            n_continuous=int(row["n_continuous"]),
            n_categorical=int(row["n_categorical"]),
            n_classes=int(row["n_classes"]),
            class_percent=tuple(map(float, row["class_distribution_percent"].split())),
        )
        for row in _rows("data_sets.csv")
    ]


@dataclass(frozen=True)
class Accuracy:
    """One cell of the paper's tables of results: a kernel on a data set.

    Attributes
    ----------
    percent, deviation : float
        Mean and standard deviation over five folds, in percentage points.
    n_support : float
        Mean number of support vectors.
    is_best : bool
        Whether the paper prints it in bold: the best of its row, or a tie.
    """

    percent: float
    deviation: float
    n_support: float
    is_best: bool


def published_accuracies(experiment: int) -> dict[str, dict[str, Accuracy]]:
    """Read the paper's results: by title of the data set, then by kernel.

    Parameters
    ----------
    experiment : {1, 2, 3}
        Four labels per class, a tenth of the training rows labelled, all of them labelled.

    Examples
    --------
    >>> published_accuracies(1)["Wine"]["rwm"]
    Accuracy(percent=96.05, deviation=2.539, n_support=11.8, is_best=True)
    """
    best = {row["data_set"]: row["best"].split() for row in _rows("best.csv") if row["experiment"] == str(experiment)}
    table = _rows(f"accuracy_exp{experiment}.csv")
    return {
        row["data_set"]: {kernel: _accuracy(row, kernel, best[row["data_set"]]) for kernel in KERNELS}
        for row in table
        if row["data_set"] != "Mean"
    }


@dataclass(frozen=True)
class RunTimes:
    """One row of the paper's table of run-times, in seconds.

    Attributes
    ----------
    model_estimation : float
        Fitting the density.
    building, training, testing : dict of float
        Computing the kernel matrix, training on a tenth of the labels, and predicting; by kernel.
    """

    model_estimation: float
    building: Mapping[str, float]
    training: Mapping[str, float]
    testing: Mapping[str, float]


def published_run_times() -> dict[str, RunTimes]:
    """Read the paper's run-times, by title of the data set.

    >>> published_run_times()["Satimage"].building["lap"]
    926.585
    """
    return {row["data_set"]: _run_times(row) for row in _rows("run_times.csv") if row["data_set"] != "Mean"}


def published_mean_run_times() -> RunTimes:
    """Read the last row of the paper's table of run-times, its means; they are not the means of the rows above.

    >>> published_mean_run_times().model_estimation
    13.43
    """
    return next(_run_times(row) for row in _rows("run_times.csv") if row["data_set"] == "Mean")


@dataclass(frozen=True)
class PublishedStatistics:
    """Ranks, wins and tests in the paper, in the order of :data:`KERNELS`.

    Attributes
    ----------
    ranks, wins : tuple of float
        From the last rows of its tables.
    chi_square, chi_square_limit : float
        Friedman's statistic and its critical value.
    alpha : float
        Level of significance.
    critical_value, critical_difference : float
        Nemenyi's.
    """

    ranks: tuple[float, ...]
    wins: tuple[float, ...]
    chi_square: float
    chi_square_limit: float
    alpha: float
    critical_value: float
    critical_difference: float


PUBLISHED_STATISTICS: Mapping[int, PublishedStatistics] = {
    1: PublishedStatistics((1.375, 2.750, 2.825, 3.050), (14.5, 2.5, 2.0, 1.0), 20.83, 11.1, 0.01, 3.275, 1.337),
    2: PublishedStatistics((1.500, 2.500, 2.475, 3.525), (13.2, 2.8, 3.2, 0.8), 24.62, 6.24, 0.1, 2.351, 0.960),
    3: PublishedStatistics((2.250, 2.025, 2.025, 3.700), (5.5, 6.8, 6.8, 0.8), 23.44, 6.24, 0.1, 2.351, 0.960),
}


def _run_times(row: Mapping[str, str]) -> RunTimes:
    parts = (
        {kernel: float(row[f"{kernel}_{part}"]) for kernel in KERNELS} for part in ("building", "training", "testing")
    )
    return RunTimes(float(row["model_estimation"]), *parts)


def _accuracy(row: Mapping[str, str], kernel: str, best: list[str]) -> Accuracy:
    percent, deviation, n_support = (float(row[f"{kernel}_{part}"]) for part in ("accuracy", "std", "n_support"))
    return Accuracy(percent, deviation, n_support, kernel in best)


@cache
def _rows(name: str) -> tuple[Mapping[str, str], ...]:
    text = files("mixkern_study").joinpath("data", name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))
