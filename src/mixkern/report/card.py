"""The model card: data, labels, accuracy, what a model must not be used for, files and versions; a Markdown file."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from mixkern.io.model import file_sha256
from mixkern.report.blocks import Alert, Block, Bullets, Code, Heading, Paragraph, Section
from mixkern.report.columns import GAP
from mixkern.report.components import without_label
from mixkern.report.facts import ModelFacts
from mixkern.report.page import UNPRINTABLE
from mixkern.report.summary import no_estimate
from mixkern.report.table import TextTable, markdown_escaped
from mixkern.whole_file import write_whole
from mixkern.wording import counted, joined, percent, shortened

FEW_LABELS = 10  # of a class: fewer say little about it
WEAK = 0.5  # share of a class's rows that are predicted correctly
WIDE = 0.2  # length of an interval
UNSURE = 0.6  # probability below which a prediction should be checked
UNUSUAL = 0.99  # novelty
SMALL = 0.01  # share of rows that is not worth a sentence
MOST_RANGES = 6  # columns whose range is named

# Columns beside the class, by whether the labels are others than the model was fitted on.
LABEL_COLUMNS = (("Labels", "Rows predicted"), ("Labels when fitted", "Labels now", "Rows predicted"))
AT_FIT = "This was estimated when the model was fitted, with the labels of that time:"
ISOLATES = re.compile("[\N{FIRST STRONG ISOLATE}\N{POP DIRECTIONAL ISOLATE}]")  # around names, for browsers
GENERAL = (
    "The predictions are estimates from few labels. Do not let them alone decide about persons, for example about "
    "credit, work, health, insurance or law: a person who knows the case should check them, and the rules that apply "
    "to such decisions hold for this model, too. The model has learned which values occur together, not what causes "
    "what: it does not tell what would happen if a value were changed."
)


def card_blocks(facts: ModelFacts, command: str = "") -> tuple[Block, ...]:
    """Return the chapter of the HTML report: what other chapters do not have."""
    return (
        Heading("What it must not be used for"),
        Paragraph(GENERAL),
        Bullets(tuple(limits_of_use(facts))),
        Heading("Labels"),
        Paragraph(_choice_of_labels(facts)),
        Heading("How to fit it again"),
        *_reproduction(facts, command),
    )


def card_sections(facts: ModelFacts, settings: TextTable, columns: TextTable, command: str = "") -> list[Section]:
    """Return the chapters of a model card.

    Parameters
    ----------
    facts : ModelFacts
        A fitted model and its table.
    settings, columns : TextTable
        Files, settings and versions; the columns of the table.
    command : str, default=""
        Command that has fitted the model; by default, the code.
    """
    headings = ("Class", *LABEL_COLUMNS[facts.has_other_labels])
    labels = TextTable("labels", "Labels by class", "", headings, label_rows(facts))
    limits = Bullets(tuple(limits_of_use(facts)))
    return [
        Section("data", "Data", (Paragraph(_size(facts)), columns)),
        Section("labels", "Labels", (Paragraph(_choice_of_labels(facts)), labels)),
        Section("accuracy", "Estimated accuracy", _accuracy(facts)),
        Section("use", "What it must not be used for", (Paragraph(GENERAL), limits)),
        Section("reproduce", "How to fit it again", _reproduction(facts, command)),
        Section("versions", "Files, settings and versions", (settings,)),
    ]


def write_card(sections: Sequence[Section], title: str, path: Path, alerts: Sequence[Alert] = ()) -> Path:
    """Write chapters as a Markdown file, with warnings above them."""
    day = datetime.now(UTC).date().isoformat()
    parts = [f"# {markdown_escaped(title)}", f"Model card, written {day}.", *map(_markdown, alerts)]
    for section in sections:
        parts += [f"## {section.title}", *(_markdown(block).strip() for block in section.blocks)]
    return write_whole(path, UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", "\n\n".join(parts)) + "\n")


def file_facts(**paths: str | Path) -> dict[str, str]:
    """Return name and SHA-256 of files, in lines for the table of settings; what is no file has a name alone.

    >>> file_facts(table="-")
    {'Table': '-'}
    """
    found = {}
    for what, each in paths.items():
        path, name = Path(each), what.replace("_", " ")
        found[name.capitalize()] = path.name
        if path.is_file():
            found[f"SHA-256 of the {name}"] = file_sha256(path)
    return found


# ---------------------------------------------------------------- sentences


def limits_of_use(facts: ModelFacts) -> list[str]:
    """Return what the model must not be used for, as far as it follows from the model and its table."""
    found = [
        *_classes(facts),
        *_doubtful_accuracy(facts),
        *_unsure_rows(facts),
        f"Rows unlike those of the table: check predictions with a novelty above {UNUSUAL}.",
        *_ranges(facts),
        _dependence(facts),
    ]
    empty = without_label(facts) if facts.n_labels else []
    share = float(facts.sizes[empty].sum()) / facts.n_rows if len(empty) else 0.0
    if share >= SMALL:
        which = f"component {empty[0]}" if len(empty) == 1 else f"components {joined([str(k) for k in empty])}"
        found.append(
            f"Rows of {which} ({percent(share)} of the table): no row there has a label, so that predictions rest on "
            "other components."
        )
    return found


def _classes(facts: ModelFacts) -> list[str]:
    """Return a sentence each about other classes, those with few labels, and those that are mostly missed."""
    known, unknown = ([_quoted(name) for name in names] for names in (facts.known_classes, facts.unknown_classes))
    others = f", and so not {joined(unknown)}" if unknown else ""
    found = [f"Other classes than {joined(known)}: it predicts no others{others}."]
    at_fit = facts.fitted_counts if facts.has_other_labels else facts.label_counts
    counts = [] if at_fit is None else list(zip(facts.known_classes, at_fit.tolist(), strict=False))
    few = [f"{_quoted(name)} ({n})" for name, n in counts if n < FEW_LABELS]
    if few:
        found.append(f"Decisions that rest on classes with fewer than {FEW_LABELS} labels: {joined(few)}.")
    per_class = {} if facts.estimate is None else facts.estimate.per_class
    weak = [_quoted(str(name)) for name, share in per_class.items() if share is not None and share < WEAK]
    if weak:
        found.append(f"Finding the rows of {joined(weak)}: most of them are predicted as another class.")
    return found


def _doubtful_accuracy(facts: ModelFacts) -> list[str]:
    estimate = facts.estimate
    if estimate is None or estimate.interval is None:
        return ["Anything that needs a known accuracy: it could not be estimated."]
    low, high = estimate.interval
    if high - low <= WIDE:
        return []
    span = f"from {100 * low:.0f} to {100 * high:.0f} %"
    return [f"Anything that needs an accuracy of more than {100 * low:.0f} %: the estimate is {span}."]


def _unsure_rows(facts: ModelFacts) -> list[str]:
    if facts.probabilities is None:
        return ["Decisions by probability: the model was fitted without probabilities."]
    share = float((facts.probabilities.max(axis=1) < UNSURE).mean())
    if share < SMALL:
        return []
    which = f"Rows whose label has a probability below {100 * UNSURE:.0f} %, {percent(share)} of the table"
    return [f"{which}, without a check by a person."]


def _ranges(facts: ModelFacts) -> list[str]:
    """Return a sentence about values that the table does not have."""
    numbers = [each for each in facts.features if each.is_number and not np.isnan(facts.rows[:, each.position]).all()]
    numbers.sort(key=lambda each: -facts.importances.get(each.name, 0.0))  # the most important first
    texts = []
    for each in numbers[:MOST_RANGES]:
        values = facts.rows[:, each.position]
        low, high = each.text(float(np.nanmin(values))), each.text(float(np.nanmax(values)))
        texts.append(f"{_quoted(each.name)} from {low} to {high}")
    if not texts:
        return ["Categories that the table does not have: they are all read as the same other category."]
    rest = f"; and those of {counted(len(numbers) - len(texts), 'other column')}" if len(numbers) > len(texts) else ""
    return [f"Values outside those of the table ({'; '.join(texts)}{rest}), and categories that it does not have."]


def _dependence(facts: ModelFacts) -> str:
    names = list(dict.fromkeys(each.name for each in facts.features))
    used = joined([_quoted(name) for name in names], most=12)
    return (
        f"Decisions that must not depend on one of its columns: it uses {used}. If one of them must have no influence, "
        "such as sex or age, fit a model without it, and consider that others may stand for it."
    )


def _size(facts: ModelFacts) -> str:
    return (
        f"The table has {counted(facts.n_rows, 'row')} and {counted(facts.n_columns, 'column')} that the model learns "
        f"from. It predicts {_quoted(facts.target)}."
    )


def label_rows(facts: ModelFacts) -> tuple[tuple[str, ...], ...]:
    """Return each class with its numbers of labels and of predicted rows, as ``LABEL_COLUMNS`` has them."""
    now = [f"{n:,}" for n in facts.label_counts.tolist()]
    predicted = [f"{n:,}" for n in facts.predicted_counts.tolist()]
    if not facts.has_other_labels:
        return tuple(zip(facts.classes, now, predicted, strict=True))
    n_known = len(facts.known_classes)
    predicted[n_known:] = ["never: unknown to the model"] * len(facts.unknown_classes)
    before = [GAP] * n_known if facts.fitted_counts is None else [f"{n:,}" for n in facts.fitted_counts[:n_known]]
    before += ["none"] * len(facts.unknown_classes)
    return tuple(zip(facts.classes, before, now, predicted, strict=True))


def _choice_of_labels(facts: ModelFacts) -> str:
    """Return how many rows are labelled, and how they were chosen."""
    if not facts.n_labels:
        return "No row of this table has a label."
    sources = [None if each is None else str(each) for each in facts.source[facts.codes >= 0]]
    names = {
        "random": "drawn at random",
        "suggested": "suggested by mixkern",
        "component": "labelled with many others by one answer, and not counted in the accuracy",
        None: "chosen in a way that is not recorded",
    }
    parts = [f"{n:,} {name}" for kind, name in names.items() if (n := sources.count(kind))]
    have = "row has" if facts.n_labels == 1 else "rows have"
    now = " now" if facts.has_other_labels else ""
    text = f"{facts.n_labels:,} of {facts.n_rows:,} {have} a label{now}: {joined(parts)}."
    if not facts.has_other_labels:
        return f"{text} They come from {facts.at_fit.origin}." if facts.at_fit.origin else text
    counts = facts.fitted_counts
    before = "other labels" if counts is None else f"{counted(int(counts.sum()), 'label')}, and not on these"
    return f"The model was fitted on {before}. {text}"


def _accuracy(facts: ModelFacts) -> tuple[Block, ...]:
    estimate = facts.estimate
    if estimate is None:
        return (Paragraph(no_estimate(facts)),)
    blocks: list[Block] = [Paragraph(AT_FIT)] if facts.has_other_labels else []
    blocks += map(Paragraph, estimate.sentences)
    if estimate.value is not None:
        shares = {
            str(label): f"{100 * share:.0f} % ({100 * ends[0]:.0f} to {100 * ends[1]:.0f} %)"
            for label, share in estimate.per_class.items()
            if share is not None and (ends := estimate.class_intervals[label]) is not None
        }
        rows = tuple((name, shares.get(name, GAP)) for name in facts.known_classes)
        columns = ("Class", "Its rows that are predicted correctly")
        blocks.append(
            TextTable("recall", "Class by class", f"{100 * estimate.confidence:g} % intervals.", columns, rows)
        )
    return tuple(blocks)


def _reproduction(facts: ModelFacts, command: str) -> tuple[Block, ...]:
    code = command or f"{' '.join(repr(facts.settings).split())}.fit(X, y)"
    what, record = "command" if command else "line", facts.at_fit
    labels = f"the labels of {record.origin}" if record.origin else "these labels"
    if facts.has_other_labels:
        then = f"with {labels}" if record.origin else "with the labels of that time"
        text = f"This {what} has fitted the model, {then}. With the labels that the table has now, it fits another one:"
    elif record.has_grown:
        text = (
            f"This {what} has fitted the model, with {labels}. The journal is at entry {record.entry_now:,} by now, "
            "so that it may fit another one:"
        )
    else:
        text = f"This {what}, with the same table, {labels}, and the same versions, gives the same model:"
    return (Paragraph(text), Code(code))


def _quoted(text: str) -> str:
    return f"\N{LEFT DOUBLE QUOTATION MARK}{shortened(text.replace('`', chr(39)))}\N{RIGHT DOUBLE QUOTATION MARK}"


# ---------------------------------------------------------------- Markdown


def _markdown(block: Block) -> str:
    """Return a block as Markdown."""
    match block:
        case TextTable():
            return block.to_markdown()
        case Alert():
            return f"> **Warning: {markdown_escaped(block.title)}** {markdown_escaped(ISOLATES.sub('', block.text))}"
        case Bullets():
            return "\n".join(f"- {markdown_escaped(text)}" for text in block.texts)
        case Code():
            fence = "```"
            return f"{fence}text\n{block.text.replace(fence, '')}\n{fence}"
        case Heading():
            return f"### {markdown_escaped(block.text)}"
        case Paragraph():
            return markdown_escaped(block.text)
        case _:
            raise TypeError(f"A card has no block of type {type(block).__name__}.")
