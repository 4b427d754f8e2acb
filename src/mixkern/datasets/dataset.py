"""A data set: a table with labels and their origin."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from mixkern.errors import LabelError, hint
from mixkern.sampling import check_random_state
from mixkern.validation import COUNT


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with labels and their origin.

    Attributes
    ----------
    name : str
        Name in ``load(name)``.
    title : str
        Name in the paper.
    X : pandas.DataFrame
        Features: numbers as float, categories as pandas categories, gaps as NaN.
    y : pandas.Series
        Labels, integers or text; a gap where a row has none, which only tables from outside the package have.
    continuous, categorical : tuple of str
        Names of the two kinds of columns.
    description, creators, source, licence : str
        Content of the table, its authors, where it was taken from, and its licence.
    """

    name: str
    title: str
    X: Any = field(repr=False)
    y: Any = field(repr=False)
    continuous: tuple[str, ...]
    categorical: tuple[str, ...]
    description: str
    creators: str
    source: str
    licence: str

    @classmethod
    def from_frame(cls, X: Any, y: Any, continuous: Sequence[str], **facts: str) -> Self:
        """Return a data set whose columns have the documented types; columns that are not continuous are categorical.

        Parameters
        ----------
        X : pandas.DataFrame
            Features.
        y : pandas.Series
            Labels.
        continuous : list of str
            Names of the continuous columns.
        **facts
            Name, title, description, creators, source and licence.
        """
        categorical = [str(column) for column in X if column not in continuous]
        types = {**dict.fromkeys(continuous, "float64"), **dict.fromkeys(categorical, "category")}
        return cls(X=X.astype(types), y=y, continuous=tuple(continuous), categorical=tuple(categorical), **facts)

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels that occur, sorted."""
        return tuple(self.class_percent)

    @property
    def key(self) -> str:
        """A short hash of the content.

        Numbers are rounded to eight digits, so that a computed table, such as Satimage's principal components, has the
        same key on every computer.

        >>> from mixkern import datasets
        >>> datasets.load("iris").key == datasets.load("iris").key != datasets.load("wine").key
        True
        """
        text = (
            self.X.to_csv(index=False, float_format="%.8g")
            + self.y.to_csv(index=False)
            + repr((self.continuous, self.categorical))
        )
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def class_percent(self) -> dict[Any, float]:
        """Share of each class among the labelled rows, in per cent."""
        shares = self.y.value_counts(normalize=True).sort_index()
        return {label: 100 * float(share) for label, share in shares.items()}

    def labelled(self) -> Self:
        """Return the data set without the rows that have no label, for tests that need all labels.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from mixkern import datasets
        >>> iris = datasets.load("iris")
        >>> partly = replace(iris, y=iris.y.where(iris.y != "setosa"))
        >>> partly.n_samples, partly.labelled().n_samples
        (150, 100)
        """
        has_label = self.y.notna().to_numpy()
        if has_label.all():
            return self
        return replace(self, X=self.X[has_label].reset_index(drop=True), y=self.y[has_label].reset_index(drop=True))

    def few_labels(self, per_class: int = 4, random_state: Any = None) -> Any:
        """Return the labels with all but a few per class hidden.

        Parameters
        ----------
        per_class : int, default=4
            Number of labels to keep of each class; all of a class that has fewer.
        random_state : int, RandomState or None, default=None
            Seed or generator that draws the labels to keep.

        Returns
        -------
        pandas.Series
            Like ``y``, with -1 (integer labels) or a gap (texts) where the label is hidden, or missing in ``y``.

        Examples
        --------
        >>> from mixkern import datasets
        >>> y = datasets.load("iris").few_labels(per_class=2, random_state=0)
        >>> y.value_counts().to_dict()
        {'setosa': 2, 'versicolor': 2, 'virginica': 2}
        >>> int(y.isna().sum())
        144
        """
        COUNT.check(per_class, "per_class")
        if -1 in self.classes:
            raise LabelError(
                "-1 is a class here, but it marks unlabelled rows.",
                hint=hint(
                    python="Rename the class first: y.replace(-1, 0).",
                    cli="Write all labels, without the option --labels.",
                ),
            )
        random = check_random_state(random_state)
        keep = np.zeros(len(self.y), dtype=bool)
        for label in self.classes:
            rows = np.flatnonzero((self.y == label).fillna(False).to_numpy(dtype=bool))
            keep[random.permutation(rows)[:per_class]] = True
        is_number = np.issubdtype(np.asarray(self.classes).dtype, np.number)
        return self.y.where(keep, -1 if is_number else None)
