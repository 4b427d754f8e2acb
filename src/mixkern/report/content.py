"""The report of a model: its chapters, written as one HTML page."""

import platform
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mixkern.report.blocks import Bar, Bars, Beside, Block, Bullets, Gauge, Heading, Paragraph, Section
from mixkern.report.card import AT_FIT, LABEL_COLUMNS, card_blocks, card_sections, label_rows, write_card
from mixkern.report.columns import GAP, Feature
from mixkern.report.components import component_blocks
from mixkern.report.facts import FitRecord, ModelFacts
from mixkern.report.page import page
from mixkern.report.pictures import confidence_picture, map_picture
from mixkern.report.summary import alerts, help_of_unlabelled, no_estimate, sentences, steps, tiles
from mixkern.report.table import TextTable
from mixkern.report.unusual import unusual_blocks
from mixkern.validation import at_least
from mixkern.whole_file import write_whole
from mixkern.wording import counted, percent

MOST_BARS = 20  # columns of the chart of importances
MOST_VALUES = 6  # columns shown of a row
MOST_COLUMNS = 40  # rows of the table of columns
UNSURE = 0.6  # probability below which a prediction should be checked
LIBRARIES = ("mixkern", "scikit-learn", "numpy", "scipy", "pandas")
NUMBERED = "Rows are counted from 1, without the header."
NO_FIGURES = Paragraph("This was written without figures.")


def write_model_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | Path,
    *,
    source: Any = None,
    target: str = "label",
    title: str | None = None,
    n_suggestions: int = 10,
    figures: bool = True,
    facts: Mapping[str, Any] | None = None,
    command: str = "",
    name: str | None = None,
    written: date | None = None,
    at_fit: FitRecord | None = None,
    row_names: Any = None,
) -> Path:
    """Write what a model has learned from a table as one self-contained HTML page.

    Parameters
    ----------
    model : MixtureSVC or LaplacianSVC
        A fitted classifier.
    X : frame or array-like of shape (n, n_columns)
        The table that the model was fitted on.
    y : array-like of shape (n,)
        Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    path : str or Path
        The file; an older one is replaced once the new one is complete.
    source : array-like of shape (n,), default=None
        How each labelled row was chosen, ``"suggested"`` or ``"random"``, as in
        :func:`~mixkern.advice.estimated_accuracy`; ``None`` where it is not recorded, which counts as random.
    target : str, default="label"
        Name of the column that is predicted.
    title : str, default=None
        Title of the page; by default made of the target's name.
    n_suggestions : int, default=10
        Number of rows to suggest for labelling; fewer where fewer rows are unlabelled.
    figures : bool, default=True
        Whether to draw pictures, which needs matplotlib.
    facts : dict, default=None
        Further lines for the table of settings, such as the name of a file.
    command : str, default=""
        Command that has fitted the model, for the model card.
    name : str, default=None
        Name of the table, such as that of its file; it stands below the title.
    written : datetime.date, default=None
        Date below the title; by default today.
    at_fit : mixkern.report.FitRecord, default=None
        What was recorded when the model was fitted, such as the file of a model has it. Where ``y`` has other labels
        than the model was fitted on, the page has a warning, and the accuracy is the recorded one.
    row_names : series or array-like of shape (n,), default=None
        A text by which each row is recognised, such as a key that the model does not learn from; it stands beside the
        number of the row, below the name of the series.

    Returns
    -------
    Path
        The file.

    Notes
    -----
    Counts are over all rows; pictures show at most 4,000 rows and all labelled ones. The 18 largest components have a
    card. Names and cells of the table are escaped. The page has one script, which sorts and filters tables; browsers
    run no other, by the page's Content-Security-Policy.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import MixtureSVC, datasets
    >>> from mixkern.report import write_model_report
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(per_class=8, random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model_report(model, iris.X, y, f"{folder}/iris.html", target="species", figures=False).name
    'iris.html'
    """
    at_least(0).check(n_suggestions, "n_suggestions")
    found = ModelFacts.of(model, X, y, target, source, at_fit=at_fit, row_names=row_names)
    chapters = sections(found, n_suggestions=n_suggestions, figures=figures, more=facts or {}, command=command)
    about = [f"written on {written or date.today()}", f"mixkern {_version('mixkern')}"]
    about = about if name is None else [name, *about]
    return write_whole(Path(path), page(chapters, title=title or f"Predicting {target}", about=about))


def write_model_card(
    model: Any,
    X: Any,
    y: Any,
    path: str | Path,
    *,
    source: Any = None,
    target: str = "label",
    title: str | None = None,
    facts: Mapping[str, Any] | None = None,
    command: str = "",
    at_fit: FitRecord | None = None,
) -> Path:
    """Write a model card, a Markdown file: data, labels, accuracy, what the model must not be used for, versions.

    Parameters
    ----------
    model, X, y, path, source, target, title, facts, at_fit
        As in :func:`write_model_report`.
    command : str, default=""
        Command that has fitted the model; by default, the card has the line of Python.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import MixtureSVC, datasets
    >>> from mixkern.report import write_model_card
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(per_class=8, random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     card = write_model_card(model, iris.X, y, f"{folder}/iris.md", target="species").read_text("utf-8")
    >>> "## What it must not be used for" in card
    True
    """
    found = ModelFacts.of(model, X, y, target, source, at_fit=at_fit)
    settings = replace(_settings(found, facts or {}), title="Settings")
    chapters = card_sections(found, settings, _column_table(found), command)
    return write_card(chapters, title or f"Predicting {target}", Path(path), alerts(found))


def sections(
    facts: ModelFacts, *, n_suggestions: int, figures: bool, more: Mapping[str, Any], command: str = ""
) -> list[Section]:
    """Return all chapters: the summary first, settings last."""
    return [
        Section("summary", "In short", _summary(facts, n_suggestions)),
        Section("map", "Map of the table", (map_picture(facts),) if figures else (NO_FIGURES,)),
        Section("accuracy", "Accuracy", _accuracy(facts)),
        Section("confidence", "Confidence", _confidence(facts, figures)),
        Section("mistaken", "Labels that may be mistaken", _mistaken(facts)),
        Section("next", "Rows to label next", _suggestions(facts, n_suggestions)),
        Section("components", "Components", component_blocks(facts)),
        Section("unusual", "Most unusual rows", unusual_blocks(facts)),
        Section("columns", "Columns", (_importance(facts), _column_table(facts))),
        Section("card", "Model card", card_blocks(facts, command)),
        Section("settings", "Settings and versions", (_settings(facts, more),)),
    ]


def _summary(facts: ModelFacts, n_suggestions: int) -> tuple[Block, ...]:
    todo, texts = steps(facts, n_suggestions), tuple(map(Paragraph, sentences(facts)))
    first: tuple[Block, ...] = (*alerts(facts), tiles(facts))
    if not todo:
        return (*first, *texts)
    return (*first, Beside(texts, (Heading("What to do next"), Bullets(tuple(todo)))))


def _accuracy(facts: ModelFacts) -> tuple[Block, ...]:
    first, *others = help_of_unlabelled(facts)
    now = " This is computed with the labels that the table has now." if facts.has_other_labels else ""
    blocks = [*_estimate(facts), Heading("Do unlabelled rows help?"), Paragraph(f"{first}{now}")]
    return (*blocks, Bullets(tuple(others))) if others else tuple(blocks)


def _estimate(facts: ModelFacts) -> list[Block]:
    estimate = facts.estimate
    if estimate is None:
        return [Paragraph(no_estimate(facts))]
    before: list[Block] = [Paragraph(AT_FIT)] if facts.has_other_labels else []
    if estimate.value is None or estimate.interval is None:
        return [*before, Paragraph(str(estimate))]
    how = (
        f"Labels were left out and predicted from the others, in {estimate.n_folds} parts, "
        f"{counted(estimate.n_repeats, 'time')} over. They show how far the probabilities of predictions are off; the "
        "estimate is the mean of the corrected probabilities over the rows without a label."
    )
    gauge = Gauge(estimate.value, *estimate.interval, text=str(estimate))
    first, *others = estimate.sentences
    return [*before, Paragraph(first), gauge, *map(Paragraph, (*others, how)), _class_table(facts)]


def _class_table(facts: ModelFacts) -> TextTable:
    assert facts.estimate is not None  # checked by the caller
    estimate = facts.estimate
    ranges = {str(label): _range(share, estimate.class_intervals[label]) for label, share in estimate.per_class.items()}
    rows = tuple((*counts, ranges.get(counts[0], GAP)) for counts in label_rows(facts))
    columns = (facts.target, *LABEL_COLUMNS[facts.has_other_labels], "Its rows that are predicted correctly")
    balanced = _range(estimate.balanced, estimate.balanced_interval)
    caption = (
        f"The mean over the classes, the balanced accuracy, is {balanced}. "
        "A dash stands for a class whose only label cannot be left out"
        f"{', or that the model does not know' if facts.unknown_classes else ''}."
    )
    codes = tuple(range(len(rows)))
    return TextTable("classes", "Class by class", caption, columns, rows, classes=codes, is_stacked=True)


def _range(share: float | None, interval: tuple[float, float] | None) -> str:
    """Write a share and its interval."""
    if share is None or interval is None:
        return GAP
    return f"{100 * share:.0f} % ({100 * interval[0]:.0f} to {100 * interval[1]:.0f} %)"


def _mistaken(facts: ModelFacts) -> tuple[Block, ...]:
    found = facts.mistaken
    if found is None or not found.n_examined:
        return (Paragraph("There are too few labels to compare them with each other."),)
    first = str(found).partition("\n")[0].rstrip(":").rstrip(".") + "."
    if not found.n_standing_out:
        return (Paragraph(first),)
    rows = tuple(
        (*facts.row_cells(line["position"]), str(line["label"]), str(line["likely"]), percent(line["probability"]))
        for line in found.table.to_dict("records")[: found.n_standing_out]
    )
    columns = (*facts.row_headings, "Label", "Predicted by the others", "Probability of a mistake")
    caption = f"The most doubtful first. {NUMBERED}"
    numbers = frozenset({0, len(columns) - 1})
    table = TextTable("mistaken", "Labels to check", caption, columns, rows, numbers=numbers, is_stacked=True)
    return (Paragraph(first), table)


def _confidence(facts: ModelFacts, figures: bool) -> tuple[Block, ...]:
    if facts.probabilities is None:
        return (Paragraph("The model was fitted without probabilities. Fit it with `probability=True` to see them."),)
    n_unsure = int((facts.probabilities.max(axis=1) < UNSURE).sum())
    text = f"Every predicted label has a probability of {100 * UNSURE:.0f} % or more."
    if n_unsure:
        text = (
            f"For {counted(n_unsure, 'row')} ({percent(n_unsure / facts.n_rows)}) the predicted label has a "
            f"probability below {100 * UNSURE:.0f} %: check these predictions before you use them."
        )
    return (confidence_picture(facts) if figures else NO_FIGURES, Paragraph(text))


def _suggestions(facts: ModelFacts, n: int) -> tuple[Block, ...]:
    table = facts.suggestions(n)
    if table is None:
        complete = facts.n_labels == facts.n_rows
        return (Paragraph("Every row has a label." if complete else "No suggestions were requested."),)
    shown = facts.distinct_features(MOST_VALUES)
    rows = tuple(
        (*facts.row_cells(line["position"]), line["reason"], *facts.cells(shown, line["position"]))
        for line in table.to_dict("records")
    )
    columns = (*facts.row_headings, "Why", *(each.name for each in shown))
    numbers = _numeric(shown, len(facts.row_headings) + 1)
    caption = f"The most important row first. {NUMBERED}{_choice(facts, len(shown))}"
    return (TextTable("suggestions", "Suggested rows", caption, columns, rows, numbers=numbers, is_stacked=True),)


def _choice(facts: ModelFacts, n_shown: int) -> str:
    """Return a sentence about the columns that are shown, empty where all are."""
    if n_shown == len(facts.features):
        return ""
    return f" The {n_shown} columns that differ most between components are shown."


def _numeric(shown: list[Feature], start: int) -> frozenset[int]:
    """Return the positions of numbers: of the row, and among the shown columns, which begin at ``start``."""
    return frozenset({0, *(j for j, each in enumerate(shown, start) if each.is_number)})


def _importance(facts: ModelFacts) -> Bars:
    ranked = sorted(facts.importances.items(), key=lambda item: -item[1])[:MOST_BARS]
    longest = max(ranked[0][1], 1e-9)
    what = "probabilities" if facts.probabilities is not None else "labels"
    caption = (
        f"The mean change of the predicted {what} when the cells of a column are exchanged between rows, for up to 500 "
        "rows. A column near 0 % hardly matters to the classifier. Of columns with nearly the same content, one may "
        "stand for the others."
    )
    if len(ranked) < len(facts.importances):
        caption = f"The {len(ranked)} most important of {len(facts.importances):,} columns. {caption}"
    bars = tuple(Bar(name, share / longest, _points(share)) for name, share in ranked)
    return Bars("Importance of the columns", caption, bars)


def _points(share: float) -> str:
    """Write a share in per cent, small ones with one decimal.

    >>> _points(0.313), _points(0.0042), _points(0.0)
    ('31 %', '0.4 %', '0 %')
    """
    return f"{100 * share:.1f} %" if 0.0005 <= share < 0.0995 else f"{100 * share:.0f} %"


def _column_table(facts: ModelFacts) -> TextTable:
    shown = facts.distinct_features(MOST_COLUMNS)
    caption = (
        "Importance: the mean change of predictions when the cells of a column are exchanged between rows. Numbers: "
        "smallest to largest, and the median. Categories: the most frequent ones."
    )
    if len(shown) < len(facts.features):
        n = f"{len(facts.features):,}"
        caption = f"The {len(shown)} of {n} columns that differ most between components. {caption}"
    described = [each.description(facts.rows[:, each.position]) for each in shown]
    weights = [_points(facts.importances[each.name]) if each.name in facts.importances else GAP for each in shown]
    rows = tuple((name, share, *others) for (name, *others), share in zip(described, weights, strict=True))
    columns: tuple[str, ...] = ("Column", "Importance", "Kind", "Gaps", "Values", "Remark")
    if not any(each.remark for each in shown):
        columns, rows = columns[:-1], tuple(row[:-1] for row in rows)
    numbers = frozenset({1, 3})
    return TextTable("columns", "Values of the columns", caption, columns, rows, numbers=numbers, is_stacked=True)


def _settings(facts: ModelFacts, more: Mapping[str, Any]) -> TextTable:
    model, mixture = facts.settings, facts.model.mixture_
    gamma = getattr(model.kernel_, "gamma", None)
    lines = {
        **{str(name): str(value) for name, value in more.items()},
        **({"Labels": facts.at_fit.origin} if facts.at_fit.origin else {}),
        "Target": facts.target,
        "Model": " ".join(repr(model).split()),
        "Kernel": type(model.kernel_).__name__,
        **({} if gamma is None else {"gamma": f"{gamma:.4g}"}),
        "C": f"{model.C_:.4g}",
        "Support vectors": f"{len(model.support_vectors_):,}",
        "Density": f"{counted(mixture.n_components, 'component')}, {mixture.covariance_type} covariances",
        **{name: found for name in LIBRARIES if (found := _version(name))},
        "Python": platform.python_version(),
    }
    columns = ("Setting", "Value")
    return TextTable("settings", "Settings of this report", "", columns, tuple(lines.items()), numbers=frozenset())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # not installed as a distribution
        return ""
