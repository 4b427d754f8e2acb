"""The facts of a model's report: counts, predictions, components and advice, each computed once."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.advice import suggestion_table
from mixkern.advice.accuracy import AccuracyEstimate, estimated_accuracy
from mixkern.advice.advice import Verdict, verdict
from mixkern.advice.cross_validation import is_testable
from mixkern.advice.gain import Gain, cross_validated_gain
from mixkern.advice.mistaken import MistakenLabels, mistaken_labels
from mixkern.advice.purity import Purity, purity
from mixkern.advice.source import label_sources
from mixkern.advice.suggest import labels_so_far
from mixkern.density import Rows, one_hot_rows
from mixkern.encoding import UNLABELLED
from mixkern.encoding.cell import is_gap
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import OptionError
from mixkern.estimators import MixtureSVC
from mixkern.explain.importance import importances
from mixkern.report.columns import GAP, Feature, features
from mixkern.sampling import check_random_state
from mixkern.typing import Floats, Ints, Objects
from mixkern.wording import shortened, shown

CONFIDENCE = 0.95
LONGEST_TEXT = 120  # characters
LONGEST_NAME = 30  # characters of the name of a row
MANY_COLUMNS = 200  # beyond which their importances are computed more roughly
N_MISTAKEN = 10  # labels that are listed at most


@dataclass(frozen=True)
class FitRecord:
    """What was recorded when a model was fitted, for a report that is written later.

    Attributes
    ----------
    labels : dict
        Number of labels of each class; empty if unknown.
    estimate : AccuracyEstimate or None
        The estimated accuracy.
    journal : str
        Name of the journal that the labels come from, empty where there was none.
    entry, entry_now : int or None
        The journal's last entry when the model was fitted, and by now.
    """

    labels: Mapping[str, int] = field(default_factory=dict)
    estimate: AccuracyEstimate | None = None
    journal: str = ""
    entry: int | None = None
    entry_now: int | None = None

    @property
    def origin(self) -> str:
        """The journal and its last entry, empty where there was none.

        >>> FitRecord(journal="customers.labels", entry=1230).origin
        'customers.labels up to entry 1,230'
        """
        return f"{self.journal} up to entry {self.entry:,}" if self.journal and self.entry is not None else ""

    @property
    def has_grown(self) -> bool:
        """Whether the journal has other entries by now."""
        return bool(self.origin) and self.entry_now is not None and self.entry_now != self.entry


@dataclass(frozen=True, eq=False)
class ModelFacts:
    """A fitted model and its table.

    Attributes
    ----------
    model : MixtureSVC
        The same model for encoded rows: a large table is encoded once.
    settings : MixtureSVC
        The model as the user passed it.
    table : Rows
        The encoded table, with responsibilities and densities computed once.
    y : list
        Labels, ``None`` where there is none.
    classes : tuple of str
        Names of all classes: first those of the model, then others among the labels.
    codes : ndarray of int, shape (n,)
        Position of each label among the classes, -1 where there is none.
    features : tuple of Feature
        Columns in the order of the table.
    texts : dict
        The cells of each column of texts, ``None`` for gaps.
    target : str
        Name of the column that is predicted.
    source : ndarray of shape (n,)
        How each row was chosen, ``None`` where it is not recorded; see :class:`mixkern.advice.LabelSource`.
    at_fit : FitRecord
        What was recorded when the model was fitted.
    row_heading, row_names : str and tuple of str
        Heading and cells of a column by which rows are recognised; empty for none.
    """

    model: MixtureSVC
    settings: MixtureSVC
    table: Rows
    y: list[Any]
    classes: tuple[str, ...]
    codes: Ints
    features: tuple[Feature, ...]
    texts: dict[str, list[str | None]]
    target: str
    source: Objects
    at_fit: FitRecord = FitRecord()
    row_heading: str = ""
    row_names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        target: str,
        source: Any = None,
        *,
        at_fit: FitRecord | None = None,
        row_names: Any = None,
    ) -> Self:
        """Encode a table and its labels."""
        if not isinstance(model, MixtureSVC):
            raise OptionError(f"model must be a fitted MixtureSVC or LaplacianSVC, but it is {shown(model)}.")
        check_is_fitted(model)
        labels = labels_so_far(X, y, model.classes_)
        own = model.classes_.tolist()
        classes = [*own, *(label for label in labels.classes.tolist() if label not in own)]
        positions = np.array([*(classes.index(label) for label in labels.classes.tolist()), -1], dtype=np.intp)
        cells = [*labels.classes.tolist(), None]  # a code of -1 finds the last
        heading, names = _row_names(row_names, len(labels.codes))
        return cls(
            model=_without_encoder(model),
            settings=model,
            table=model.rows_of(X),
            y=[cells[code] for code in labels.codes],
            classes=tuple(map(str, classes)),
            codes=positions[labels.codes],
            features=tuple(features(model)),
            texts=_texts(features(model), X),
            target=target,
            source=label_sources(source, len(labels.codes)),
            at_fit=at_fit or FitRecord(),
            row_heading=heading,
            row_names=names,
        )

    @property
    def rows(self) -> Floats:  # (n, d + e)
        """Encoded values."""
        return self.table.values

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.table)

    @property
    def n_columns(self) -> int:
        """Number of columns of the table, without those that are derived from them."""
        encoder = self.settings.encoder_
        return len(self.features) if encoder is None else len(encoder.columns_)

    @property
    def n_labels(self) -> int:
        """Number of rows with a label."""
        return int((self.codes >= 0).sum())

    @cached_property
    def label_counts(self) -> Ints:  # (c,)
        """Number of labels of each class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.classes))

    @property
    def known_classes(self) -> tuple[str, ...]:
        """Classes of the model, which it predicts."""
        return self.classes[: len(self.settings.classes_)]

    @property
    def unknown_classes(self) -> tuple[str, ...]:
        """Classes among the labels that the model does not know, and never predicts."""
        return self.classes[len(self.settings.classes_) :]

    @cached_property
    def fitted_counts(self) -> Ints | None:  # (c,)
        """Number of labels of each class when the model was fitted; None where it is not recorded."""
        own = getattr(self.settings, "n_labels_", None)  # not in files of earlier versions
        if own is not None:
            return np.append(own, np.zeros(len(self.unknown_classes), dtype=np.intp)).astype(np.intp)
        counts = self.at_fit.labels
        return np.array([counts.get(name, 0) for name in self.classes], dtype=np.intp) if counts else None

    @property
    def has_other_labels(self) -> bool:
        """Whether a class is unknown to the model, or has another number of labels than when the model was fitted.

        Labels that were moved to other rows of the same classes are not noticed.
        """
        if self.unknown_classes:
            return True
        return self.fitted_counts is not None and not np.array_equal(self.fitted_counts, self.label_counts)

    @property
    def row_headings(self) -> tuple[str, ...]:
        """Headings of the columns that identify a row: its number, and its name where there is one."""
        return ("Row", self.row_heading) if self.row_names else ("Row",)

    def row_cells(self, i: int) -> tuple[str, ...]:
        """Return the cells that identify a row, which is counted from 1."""
        number = f"{i + 1:,}"
        return (number, shortened(self.row_names[i] or GAP, LONGEST_NAME)) if self.row_names else (number,)

    def distinct_features(self, most: int) -> list[Feature]:
        """Return the columns that differ most between components, in the order of the table."""
        if len(self.features) <= most:
            return list(self.features)
        mixture = self.model.mixture_
        spread = mixture.weights @ (mixture.means - mixture.weights @ mixture.means) ** 2  # (d,)
        shares = [float((mixture.weights @ (each - mixture.weights @ each) ** 2).sum()) for each in mixture.categories]
        differences = np.array([*spread, *shares])
        of_columns = [differences[list(each.positions or (each.position,))].max() for each in self.features]
        best = np.sort(np.argsort(-np.array(of_columns), kind="stable")[:most])
        return [self.features[j] for j in best]

    def cells(self, shown: Sequence[Feature], i: int) -> tuple[str, ...]:
        """Write some cells of a row: numbers with all digits, long texts cut."""
        return tuple(
            each.exact_text(float(self.rows[i, each.position]))
            if each.texts is None
            else shortened(self.texts[each.name][i] or GAP, LONGEST_TEXT)
            for each in shown
        )

    @cached_property
    def probabilities(self) -> Floats | None:  # (n, c)
        """Probability of each class; None where the model was fitted without probabilities."""
        has_probabilities = self.model.probability and self.model.slope_ is not None
        return self.model.predict_proba(self.table) if has_probabilities else None

    @cached_property
    def predicted(self) -> Ints:  # (n,)
        """Predicted class of each row."""
        if self.probabilities is not None:
            return self.probabilities.argmax(axis=1)
        scores = self.model.decision_function(self.table)
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    @cached_property
    def predicted_counts(self) -> Ints:  # (c,)
        """Number of rows predicted for each class."""
        return np.bincount(self.predicted, minlength=len(self.classes))

    @cached_property
    def components(self) -> Ints:  # (n,)
        """Component with the largest responsibility for each row."""
        return self.table.responsibilities.argmax(axis=1)

    @cached_property
    def sizes(self) -> Ints:  # (k,)
        """Number of rows of each component."""
        return np.bincount(self.components, minlength=self.model.mixture_.n_components)

    @cached_property
    def novelty(self) -> Floats:  # (n,)
        """Novelty of each row: the share of rows in denser places."""
        return self.model.novelty(self.table)

    @cached_property
    def importances(self) -> dict[str, float]:
        """Importance of each column of the table; see :func:`mixkern.explain.column_importance`."""
        n_repeats = 2 if self.n_columns <= MANY_COLUMNS else 1
        names, changes = importances(self.settings, self.table, n_repeats=n_repeats)
        return dict(zip(names, changes.tolist(), strict=True))

    @property
    def _is_unsupervised(self) -> bool:
        """Whether the density was fitted without labels, so that labels can be left out."""
        return not getattr(self.settings.density, "use_labels", False)

    @cached_property
    def estimate(self) -> AccuracyEstimate | None:
        """Estimated accuracy of the model.

        None where its density was fitted with labels, and where it was fitted on other labels than those of the table
        and the estimate of then is not recorded.
        """
        if self.has_other_labels:
            return self.at_fit.estimate
        labels = dict(zip(self.classes, self.label_counts.tolist(), strict=True))
        if not self._is_unsupervised:
            return None
        if (self.label_counts > 0).sum() < 2:
            return AccuracyEstimate.unknown(labels, CONFIDENCE)
        return estimated_accuracy(self.model, self.rows, self.y, source=self.source, confidence=CONFIDENCE)

    @cached_property
    def gain(self) -> Gain | None:
        """Gain in accuracy by unlabelled rows; None where it cannot be estimated."""
        labelled = np.flatnonzero(self.codes >= 0)
        present, own = np.unique(self.codes[labelled], return_inverse=True)
        if not self._is_unsupervised or len(present) < 2 or not is_testable(own) or len(labelled) == self.n_rows:
            return None
        trainer = copy(self.model).set_params(probability=False)
        trainer.read_labels(self.rows, self.y, None)
        numbers = one_hot_rows(trainer.mixture_, self.table[labelled].values)
        codes = np.full(self.n_rows, UNLABELLED)
        codes[labelled] = own
        trainer.train(self.table, codes)
        return cross_validated_gain(trainer, self.table, numbers, codes, check_random_state(0), CONFIDENCE)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether unlabelled rows help."""
        return verdict(self.gain, is_complete=self.n_labels == self.n_rows)

    @cached_property
    def purity(self) -> Purity | None:
        """Purity of the components; None without labels."""
        return purity(self.table.responsibilities, self.codes) if self.n_labels else None

    def suggestions(self, n: int) -> Any:
        """Return at most n rows to label next; None where every row has a label."""
        n = min(n, self.n_rows - self.n_labels)
        if n < 1:
            return None
        return suggestion_table(self.rows, n, self.y, model=self.model, random_state=0)

    @cached_property
    def mistaken(self) -> MistakenLabels | None:
        """Labels that others contradict; None where there are labels of fewer than two classes."""
        if (self.label_counts > 0).sum() < 2:
            return None
        return mistaken_labels(self.rows, self.y, N_MISTAKEN, model=self.model)


def _texts(columns: Sequence[Feature], X: Any) -> dict[str, list[str | None]]:
    """Return the cells of the columns of texts."""
    names = {each.name for each in columns if each.texts is not None}
    return {raw.name: raw.texts() for raw in raw_columns(X) if raw.name in names} if names else {}


def _row_names(names: Any, n: int) -> tuple[str, tuple[str, ...]]:
    """Return the heading and the cells of a column of names; empty for none."""
    if names is None:
        return "", ()
    cells = ["" if is_gap(cell) else str(cell) for cell in names]
    if len(cells) != n:
        raise OptionError(f"row_names must have a name for each of the {n:,} rows, but it has {len(cells):,}.")
    heading = getattr(names, "name", None)
    return "Name" if heading is None else str(heading), tuple(cells)


def _without_encoder(model: MixtureSVC) -> MixtureSVC:
    """Return a copy of a model that takes encoded rows."""
    own = copy(model)
    own.encoder_ = None
    own.n_features_in_ = model.mixture_.n_continuous + len(model.mixture_.categories)
    if hasattr(own, "feature_names_in_"):
        del own.feature_names_in_  # encoded rows have no names
    return own
