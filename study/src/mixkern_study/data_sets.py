"""Data sets of the studies by name, and the paper's twenty beside their published figures."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern_study.other_sets import OUTSIDE, WIDE, title_of_other
from mixkern_study.protocol import StudyError
from mixkern_study.published import DatasetFigures, published_accuracies, published_data_sets
from mixkern_study.store import Store

SHARE_TOLERANCE = 0.1  # percentage points: the paper rounds some shares and truncates others
OTHERS = {**OUTSIDE, **WIDE}

# Errors in the paper's table, and the evidence for each.
SLIPS = {
    "Clouds": "the paper's shares, 52.2 and 50.0, exceed 100 %; the set is half and half",
    "Pima": "the paper counts its 8 measurements as categorical; they are continuous",
    "Satimage": "the paper's 6345 transposes two digits (its |L| = 5147 belongs to 6435); its shares are off, too",
    "Vowel": "the paper counts the 528 training rows only; its |L| = 792 is four fifths of 990",
    "Yeast": "the paper's shares add up to 98.0 %; two of them are misprinted",
}


# ---------------------------------------------------------------- the paper's twenty


@dataclass(frozen=True)
class DatasetComparison:
    """One data set, as published and as loaded."""

    published: DatasetFigures
    ours: DatasetFigures
    name: str

    @property
    def differences(self) -> tuple[str, ...]:
        """Names of the figures that differ."""
        fields = ("n_samples", "n_continuous", "n_categorical", "n_classes")
        found = [field for field in fields if getattr(self.ours, field) != getattr(self.published, field)]
        if self.largest_share_difference > SHARE_TOLERANCE:
            found.append("class_percent")
        return tuple(found)

    @property
    def largest_share_difference(self) -> float:
        """Largest difference between class shares, in percentage points.

        Shares are compared in descending order: the paper does not name their classes.
        """
        ours, paper = (sorted(each.class_percent, reverse=True) for each in (self.ours, self.published))
        # to one decimal, as published: 5.9 and 6.0 differ by 0.1, not by 0.0999999
        return round(max(abs(a - b) for a, b in zip_longest(ours, paper, fillvalue=0.0)), 1)

    @property
    def slip(self) -> str:
        """Why the paper's figures differ from ours, if they do."""
        return SLIPS.get(self.published.title, "")


def compare_data_sets() -> list[DatasetComparison]:
    """Compare each of the twenty data sets with its row in the paper."""
    published = {row.title: row for row in published_data_sets()}
    loaded = [datasets.load(name) for name in datasets.names()]
    return [DatasetComparison(published[each.title], _figures(each), each.name) for each in loaded]


def _figures(dataset: Dataset) -> DatasetFigures:
    return DatasetFigures(
        title=dataset.title,
        n_samples=dataset.n_samples,
        n_continuous=len(dataset.continuous),
        n_categorical=len(dataset.categorical),
        n_classes=len(dataset.classes),
        class_percent=tuple(round(share, 1) for share in dataset.class_percent.values()),
    )


# ---------------------------------------------------------------- all of them


def title_of(name: str) -> str:
    """Return the title of a data set, in the paper or here; other names are their own titles.

    >>> title_of("two_rings"), title_of("credit_a"), title_of("my_own")
    ('Two Rings', 'Credit A', 'my_own')
    """
    return title_of_other(name) if name in OTHERS else paper_titles().get(name, name)


@cache
def paper_titles() -> dict[str, str]:
    """Return the paper's titles of its data sets, by our names."""
    return {title.lower().replace(" ", "_"): title for title in published_accuracies(1)}


def load_tables(store: Store, chosen: Iterable[str | Dataset]) -> list[Dataset]:
    """Load data sets by name, from the paper or outside it, and register them in a store; tables are kept as given."""
    tables: dict[str, Dataset] = {}
    for each in chosen:
        table = load_data_set(each) if isinstance(each, str) else each
        if tables.setdefault(table.name, table).key != table.key:
            raise StudyError(f"Two tables are called {table.name!r}. Give one of them another name.")
    for table in tables.values():
        store.add_data_set(table.name, table.key)
    return list(tables.values())


def load_data_set(name: str) -> Dataset:
    """Load a data set of :data:`OUTSIDE` or :data:`WIDE`, or any of :func:`mixkern.datasets.load`.

    >>> load_data_set("breast_cancer").X.shape, load_data_set("iris").X.shape
    ((569, 30), (150, 4))
    """
    return OTHERS[name]() if name in OTHERS else datasets.load(name)
