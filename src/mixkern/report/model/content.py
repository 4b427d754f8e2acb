"""What stands in the report of a model, chapter by chapter."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from mixkern.report.block import Block, Bullets, Heading, Paragraph, Section
from mixkern.report.model.columns import cells, column_table, telling
from mixkern.report.model.component import component_blocks
from mixkern.report.model.fact import ModelFacts
from mixkern.report.model.feature import GAP
from mixkern.report.model.picture import confidence_picture, map_picture
from mixkern.report.model.summary import help_of_unlabelled, sentences, steps, tiles
from mixkern.report.model.word import many, number
from mixkern.report.panel import Gauge, TextTable
from mixkern.typing import Ints
from mixkern.wording import percent

N_UNUSUAL = 8
MOST_VALUES = 6  # columns of a row that are shown
UNSURE = 0.6
LIBRARIES = ("mixkern", "scikit-learn", "numpy", "scipy", "pandas")
NUMBERED = "Rows are counted from 1, the header not counted."
NO_FIGURES = Paragraph("This was written without figures.")


def sections(facts: ModelFacts, *, n_suggestions: int, figures: bool, more: Mapping[str, Any]) -> list[Section]:
    """Give the whole report: what matters first, settings last."""
    return [
        Section("summary", "In short", _summary(facts, n_suggestions)),
        Section("map", "The table at a glance", (map_picture(facts),) if figures else (NO_FIGURES,)),
        Section("accuracy", "How accurate it is", _accuracy(facts)),
        Section("confidence", "How sure it is", _confidence(facts, figures)),
        Section("next", "The labels to ask for next", _suggestions(facts, n_suggestions)),
        Section("components", "Components", component_blocks(facts)),
        Section("unusual", "The most unusual rows", _unusual(facts)),
        Section("columns", "Columns", (column_table(facts),)),
        Section("settings", "Settings and versions", (_settings(facts, more),)),
    ]


def _summary(facts: ModelFacts, n_suggestions: int) -> tuple[Block, ...]:
    todo = steps(facts, n_suggestions)
    blocks: list[Block] = [tiles(facts), *map(Paragraph, sentences(facts))]
    return (*blocks, Heading("What to do next"), Bullets(tuple(todo))) if todo else tuple(blocks)


# ---------------------------------------------------------------- accuracy


def _accuracy(facts: ModelFacts) -> tuple[Block, ...]:
    blocks = _estimate(facts)
    blocks.append(Heading("Do unlabelled rows help?"))
    first, *others = help_of_unlabelled(facts)
    blocks.append(Paragraph(first))
    return (*blocks, Bullets(tuple(others))) if others else tuple(blocks)


def _estimate(facts: ModelFacts) -> list[Block]:
    estimate = facts.estimate
    if estimate is None:
        return [
            Paragraph("The density of this model has seen the labels, so that none can be left out to judge it by.")
        ]
    if estimate.value is None or estimate.interval is None:
        return [Paragraph(str(estimate))]
    how = (
        f"Labels were left out and predicted from the others, in {estimate.n_folds} parts, "
        f"{many(estimate.n_repeats, 'time')} over. The interval is as wide as {many(estimate.n_labels, 'label')} make "
        "it. It is about rows like the labelled ones: if these were picked because they are easy, or some classes more "
        "often than they come, the accuracy on all rows will be another."
    )
    gauge = Gauge(estimate.value, *estimate.interval, text=str(estimate))
    return [Paragraph(str(estimate)), gauge, Paragraph(how), _class_table(facts)]


def _class_table(facts: ModelFacts) -> TextTable:
    estimate = facts.estimate
    assert estimate is not None  # asked before
    right = {str(label): share for label, share in estimate.per_class.items()}
    rows = tuple(
        (name, number(n_labels), number(n_rows), _share(right.get(name)))
        for name, n_labels, n_rows in zip(facts.classes, facts.label_counts, facts.predicted_counts, strict=True)
    )
    columns = (facts.target, "Labels", "Rows predicted", "Labels found when left out")
    caption = "A dash stands for a class whose only label cannot be left out."
    looks = tuple(range(len(rows)))
    return TextTable("classes", "Class by class", caption, columns, rows, frozenset({1, 2, 3}), looks)


def _share(share: float | None) -> str:
    return GAP if share is None else percent(share)


def _confidence(facts: ModelFacts, figures: bool) -> tuple[Block, ...]:
    if facts.probabilities is None:
        return (Paragraph("The model was fitted without probabilities: fit it with `probability=True` to see them."),)
    unsure = int((facts.probabilities.max(axis=1) < UNSURE).sum())
    text = (
        f"Every predicted label has a probability of {100 * UNSURE:.0f} % or more."
        if not unsure
        else (
            f"For {many(unsure, 'row')} ({percent(unsure / facts.n_rows)}) the predicted label has a probability below "
            f"{100 * UNSURE:.0f} %: have a look before you rely on it."
        )
    )
    return (confidence_picture(facts), Paragraph(text)) if figures else (NO_FIGURES, Paragraph(text))


# ---------------------------------------------------------------- rows


def _suggestions(facts: ModelFacts, n: int) -> tuple[Block, ...]:
    table = facts.suggestions(n)
    if table is None:
        complete = facts.n_labels == facts.n_rows
        return (Paragraph("Every row has a label." if complete else "No suggestions were asked for."),)
    shown = telling(facts, MOST_VALUES)
    rows = tuple(
        (number(line["position"] + 1), *cells(shown, facts.rows[line["position"]]), line["reason"])
        for line in table.to_dict("records")
    )
    columns = ("Row", *(each.name for each in shown), "Why")
    caption = f"The most important one first. {NUMBERED}{_part(facts, len(shown))}"
    return (TextTable("suggestions", "Rows to label next", caption, columns, rows, _numeric(shown)),)


def _unusual(facts: ModelFacts) -> tuple[Block, ...]:
    shown = telling(facts, MOST_VALUES)
    picks = _strangest(facts)
    rows = tuple(
        (
            number(i + 1),
            *cells(shown, facts.rows[i]),
            facts.classes[facts.predicted[i]],
            f"component {facts.components[i]}",
            percent(facts.novelty[i]),
        )
        for i in picks
    )
    columns = ("Row", *(each.name for each in shown), "Predicted", "Nearest", "Novelty")
    caption = (
        "Novelty is the share of rows that lie in denser places. Where it is near 100 %, a row may be an error, or "
        f"something that no label knows of. {NUMBERED}{_part(facts, len(shown))}"
    )
    numbers = _numeric(shown) | {len(columns) - 1}
    return (TextTable("unusual", "Rows unlike all others", caption, columns, rows, frozenset(numbers)),)


def _strangest(facts: ModelFacts) -> Ints:
    """Give the rows of highest novelty; of those that are equal, the least probable first."""
    n = min(N_UNUSUAL, facts.n_rows)
    limit = np.partition(facts.novelty, facts.n_rows - n)[facts.n_rows - n]
    some = np.flatnonzero(facts.novelty >= limit)
    order = np.lexsort((facts.model.mixture_.log_density(facts.rows[some]), -facts.novelty[some]))
    return some[order][:n]


def _part(facts: ModelFacts, n_shown: int) -> str:
    if n_shown == len(facts.features):
        return ""
    return f" Of the columns, the {n_shown} are shown that differ most from component to component."


def _numeric(shown: list[Any]) -> frozenset[int]:
    return frozenset({0, *(j for j, each in enumerate(shown, start=1) if each.categories is None)})


# ---------------------------------------------------------------- settings


def _settings(facts: ModelFacts, more: Mapping[str, Any]) -> TextTable:
    model, mixture = facts.settings, facts.model.mixture_
    gamma = getattr(model.kernel_, "gamma", None)
    told = {
        **{str(name): str(value) for name, value in more.items()},
        "Target": facts.target,
        "Model": " ".join(repr(model).split()),
        "Kernel": type(model.kernel_).__name__,
        **({} if gamma is None else {"gamma": f"{gamma:.4g}"}),
        "C": f"{model.C_:.4g}",
        "Support vectors": number(len(model.support_vectors_)),
        "Density": f"{many(mixture.n_components, 'component')}, {mixture.covariance_type} covariances",
        **{name: found for name in LIBRARIES if (found := _version(name))},
        "Python": platform.python_version(),
    }
    return TextTable("settings", "What this was made with", "", ("What", "Value"), tuple(told.items()))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # run from a folder, or left out
        return ""
