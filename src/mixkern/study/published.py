"""Figures that the paper published, as they stand there, slips included."""

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class DatasetFigures:
    """Size and make-up of a data set: one row of the paper's table."""

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
    text = files("mixkern.study").joinpath("data_sets.csv").read_text(encoding="utf-8")
    return [
        DatasetFigures(
            title=row["data_set"],
            n_samples=int(row["n_samples"]),
            n_continuous=int(row["n_continuous"]),
            n_categorical=int(row["n_categorical"]),
            n_classes=int(row["n_classes"]),
            class_percent=tuple(map(float, row["class_distribution_percent"].split())),
        )
        for row in csv.DictReader(text.splitlines())
    ]
