"""The explanation of one label, as a value and as text."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Real
from textwrap import wrap
from typing import Any

import numpy as np

from mixkern.encoding import TextColumn
from mixkern.encoding.cell import jsonable
from mixkern.encoding.frame import PANDAS, make_frame
from mixkern.errors import KernelError, TableError
from mixkern.explain.column_contrast import Beside
from mixkern.explain.contributions import By, Source
from mixkern.explain.table import explanation_columns
from mixkern.wording import brief, counted, percent, shortened

LONGEST = 160  # characters of a label
WIDTH = 80
N_NEIGHBOURS, N_COMPONENTS, N_COLUMNS = 6, 5, 6  # listed for a row
LIKELY = 0.05  # least responsibility of a component that is described
NEGATIVE = -0.005  # a share that is printed as -1 % or less
NOVEL = 0.99  # novelty of a row that is unlike the training rows
REST = {Source.OTHERS: "all others", Source.AVOIDED: "unlabelled rows, avoided", Source.INTERCEPT: "intercept"}


@dataclass(frozen=True, eq=False)
class Explanation:
    """The explanation of the label of one row; ``print`` shows it as text.

    Attributes
    ----------
    row
        Its index in a pandas frame, else its position.
    label, against
        The predicted label, and the runner-up.
    score : float
        The decision between the two; positive for the label.
    probabilities : dict or None
        Of all labels, the most probable one first; ``None`` for a classifier without.
    novelty : float
        Share of the training rows that lie in denser places.
    neighbours, components : pandas.DataFrame
        Results of :meth:`mixkern.MixtureSVC.explain` by label and by component. Their pulls add up to the score.
    columns : pandas.DataFrame or None
        One line per column in which the row differs most from others: ``column`` and ``value``; beside it those of
        the labelled row with the largest pull ``for`` the label, of the one with the largest pull ``against`` it and of
        the ``component``, each with its ``share`` of the squared distance between the two and whether a gap was
        ``filled``. A column of texts has one line, with parts of words that stand out. ``None`` where the
        kernel has no distance.
    beside : dict
        Subjects of the comparison: numbers of the labelled rows, number of the component.

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets
    >>> from mixkern.explain.explanation import Explanation
    >>> iris = datasets.load("iris")
    >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
    >>> why = Explanation.of(model, iris.X[70:71])
    >>> why.row, why.label, why.against
    (70, 'versicolor', 'virginica')
    >>> print(str(why).splitlines()[0])
    Row 70 is predicted as 'versicolor', rather than 'virginica'.
    """

    row: Any
    label: Any
    against: Any
    score: float
    probabilities: dict[Any, float] | None
    novelty: float
    neighbours: Any = field(repr=False)
    components: Any = field(repr=False)
    columns: Any = field(repr=False)
    beside: dict[str, int] = field(repr=False)

    @classmethod
    def of(cls, model: Any, X: Any, *, first: int = 0) -> "Explanation":
        """Explain the label of one row.

        Parameters
        ----------
        model : MixtureSVC
            Fitted.
        X : frame or array-like of shape (1, n_columns)
            A table of one row, such as ``table.iloc[[318]]``.
        first : int, default=0
            Number of the first training row in the explanation.
        """
        if np.shape(X)[0] != 1:
            raise TableError(
                f"An explanation is of one row, but {counted(np.shape(X)[0], 'row')} came. Give one, such as "
                "X.iloc[[0]], or explain them all in a frame: model.explain(X)."
            )
        neighbours = _frame(model, X, By.LABEL, N_NEIGHBOURS)
        columns, beside = _columns(model, X)
        found = list(zip(neighbours["neighbour"], neighbours["source"], strict=True))
        top = neighbours.iloc[0]
        return cls(
            row=_plain(top["row"]),
            label=_plain(top["label"]),
            against=_plain(top["against"]),
            score=float(top["score"]),
            probabilities=_probabilities(model, X) if model.probability else None,
            novelty=float(model.novelty(X)[0]),
            neighbours=neighbours.drop(columns=["row", "label", "against", "score"]).assign(
                neighbour=[at if source != Source.NEIGHBOUR else at + first for at, source in found]
            ),
            components=_frame(model, X, By.COMPONENT, N_COMPONENTS).drop(columns=["row", "label", "against", "score"]),
            columns=columns,
            beside={subject: name + first * (subject != Beside.COMPONENT) for subject, name in beside.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content as texts and numbers, ready for JSON."""
        odds = None if self.probabilities is None else {str(label): p for label, p in self.probabilities.items()}
        return {
            "row": jsonable(self.row),
            "label": jsonable(self.label),
            "against": jsonable(self.against),
            "score": self.score,
            "probabilities": odds,
            "novelty": self.novelty,
            "neighbours": _records(self.neighbours),
            "components": _records(self.components),
            "columns": None if self.columns is None else _records(self.columns),
            "beside": dict(self.beside),
        }

    def __str__(self) -> str:
        parts = [self._decision(), self._pulls(), self._origin()]
        return "\n\n".join("\n".join(lines) for lines in [*map(list, parts), list(self._differences())] if lines)

    def _decision(self) -> Iterator[str]:
        yield from _wrapped(f"Row {self.row} is predicted as {_name(self.label)}, rather than {_name(self.against)}.")
        if self.probabilities is not None:
            most = list(self.probabilities.items())[:3]
            odds = ", ".join(f"{_name(label)} {p:.2f}" for label, p in most)
            yield from _wrapped(f"Probability: {odds}{', ...' if len(self.probabilities) > len(most) else '.'}")
        yield f"Novelty: {100 * self.novelty:.0f} % of the training rows lie in denser places."
        if self.novelty > NOVEL:
            yield "It is unlike the training rows: use the label with caution."

    def _pulls(self) -> Iterator[str]:
        yield from _wrapped(f"Labelled rows that pull it to {_name(self.label)} (+) or to {_name(self.against)} (-):")
        for line in self.neighbours.to_dict("records"):
            if line["source"] == Source.NEIGHBOUR:
                alike = f"similarity {_similarity(line['similarity']):<6}"
                name = f"row {line['neighbour']:<8} {alike} label {_name(line['its_label'])}"
            else:
                name = REST[Source(line["source"])]
            yield from _wrapped(f"  {line['pull']:+6.2f}  {name}", 10)
        yield f"  {self.score:+6.2f}  score"

    def _origin(self) -> Iterator[str]:
        likely = self.components[self.components["responsibility"] >= LIKELY].to_dict("records")
        for line in likely[:2]:
            if line["source"] != Source.COMPONENT:
                continue
            size = f"{percent(line['weight'])} of all rows"
            yield f"It comes from component {line['component']} ({size}), probability {line['responsibility']:.2f}."
            inside = ", ".join(f"{count} labelled {_name(label)}" for label, count in line["support"].items())
            pull = f"rows in it that count pull {line['pull']:+z.2f}: {inside}"
            yield from _wrapped(f"  {pull if inside else 'no labelled row in it counts'}", 4)
            texts = [text for name, text in line.items() if name.startswith("distinct_") and text]
            if texts:
                yield from wrap("; ".join(texts), WIDTH, initial_indent="  typical: ", subsequent_indent="    ")[:2]

    def _differences(self) -> Iterator[str]:
        if self.columns is None:
            return
        yield "Columns in which it differs from them, by their share of the squared distance:"
        titles = {Beside.FOR: "row {} (+)", Beside.AGAINST: "row {} (-)", Beside.COMPONENT: "component {}"}
        heads = [titles[Beside(subject)].format(name) for subject, name in self.beside.items()]
        yield f"  {'column':<14} {'this row':>10}" + "".join(f" {shortened(head, 16):>16}" for head in heads)
        for line in self.columns.to_dict("records"):
            cells = "".join(_cell(line, subject) for subject in self.beside)
            yield f"  {shortened(line['column'], 14):<14} {_text(line['value']):>10}{cells}"
        if any(self.columns[f"{subject}_filled"].any() for subject in self.beside):
            yield "  * a gap: its expected value was compared"
        if any((self.columns[f"{subject}_share"] < NEGATIVE).any() for subject in self.beside):
            yield "  below 0 %: a difference that is likely given those in other columns"


def _frame(model: Any, X: Any, by: By, n: int | None) -> Any:
    """All columns of an explanation as a pandas frame, whatever the kind of ``X``."""
    return make_frame(explanation_columns(model, X, by, n), PANDAS, purpose="An explanation")


def _columns(model: Any, X: Any) -> tuple[Any, dict[str, int]]:
    """Columns in which a row differs most from others, one line each, and the subjects of the comparison."""
    try:
        lines = _frame(model, X, By.COLUMN, None)
    except KernelError:
        return None, {}
    tables, beside = [], {}
    for subject in Beside:
        some = lines[lines["beside"] == subject]
        if not len(some):
            continue
        first = some.iloc[0]
        beside[str(subject)] = int(first["number"])
        shares = some["part"] / first["total"] if first["total"] > 0 else 0.0 * some["part"]
        shares = shares.fillna(1.0)  # of a category that its component has never: infinitely far, all of it
        own = {str(subject): some["other_value"], f"{subject}_share": shares, f"{subject}_filled": some["filled"]}
        tables.append(some.assign(**own).set_index("column")[["value", *own]])
    table = tables[0]
    for other in tables[1:]:
        table = table.join(other.drop(columns="value"))
    table = _with_texts(table, model, list(beside))
    sizes = table[[f"{subject}_share" for subject in beside]].abs()
    rank = sizes.div(sizes.sum().replace(0.0, 1.0)).sum(axis=1)  # parts of both signs may each be larger than their sum
    listed = rank[rank > 0].sort_values(ascending=False, kind="stable").index[:N_COLUMNS]
    return table.loc[listed].reset_index(), beside


def _with_texts(table: Any, model: Any, subjects: list[str]) -> Any:
    """Put one line for each column of texts in the place of those that encode it: parts of words, and all shares."""
    columns = () if model.encoder_ is None else model.encoder_.columns_
    for column in columns:
        if not isinstance(column, TextColumn):
            continue
        own = table.loc[[part.name for part in column.parts]]
        values = own[["value", *subjects]].T.to_numpy(dtype=float)
        words = [
            None if np.isnan(row).all() else text
            for row, text in zip(values, column.typical_words(values), strict=True)
        ]
        line: dict[str, Any] = dict(zip(["value", *subjects], words, strict=True))
        line |= {f"{subject}_share": own[f"{subject}_share"].sum() for subject in subjects}
        line |= {f"{subject}_filled": bool(own[f"{subject}_filled"].any()) for subject in subjects}
        table = table.drop(index=own.index).astype(dict.fromkeys(["value", *subjects], object))
        table.loc[column.name] = line
    return table


def _probabilities(model: Any, X: Any) -> dict[Any, float]:
    pairs = zip(model.classes_.tolist(), model.predict_proba(X)[0].tolist(), strict=True)
    return dict(sorted(pairs, key=lambda pair: -pair[1]))


def _name(label: Any) -> str:
    """Write a label; of a very long one the beginning."""
    return shortened(repr(label), LONGEST)


def _wrapped(text: str, indent: int = 2) -> list[str]:
    """Divide a line that is too long; its further lines are indented.

    >>> _wrapped("a line that is not too long")
    ['a line that is not too long']
    """
    lines = wrap(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False, drop_whitespace=True)
    return [text] if len(lines) < 2 else lines


def _similarity(value: float) -> str:
    """Format a similarity; those of a deformed kernel are small.

    >>> _similarity(0.8351), _similarity(0.00512)
    ('0.84', '0.005')
    """
    return f"{value:.2f}" if abs(value) >= 0.095 else f"{value:.1g}"


def _cell(line: dict[str, Any], subject: str) -> str:
    """Format another row's value and its share of the distance, in 17 characters."""
    star = "*" if line[f"{subject}_filled"] else " "
    return f" {_text(line[subject]):>10}{star}{100 * line[f'{subject}_share']:z3.0f} %"


def _text(value: Any) -> str:
    """Format a cell in at most ten characters.

    >>> _text(63.0), _text(1.23456), _text(12345.6), _text(None), _text("a long category")
    ('63', '1.235', '12346', '(gap)', 'a long ca…')
    """
    if value is None or value != value:
        return "(gap)"
    if isinstance(value, Real):
        return brief(float(value))
    return shortened(value.strftime("%Y-%m-%d") if hasattr(value, "strftime") else str(value), 10)


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar to Python's own type."""
    return value.item() if isinstance(value, np.generic) else value


def _records(frame: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = jsonable(frame.to_dict("records"))
    return records
