"""Check the column of labels in a table, and note labels that may be slips.

A column holds classes if its values are few. Numbers that are not whole are measurements unless they are few. The user
has the last word: a target that is named as categorical holds classes.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding.cell import is_gap, not_numbers, parsed, text
from mixkern.encoding.grammar import GAP_WORDS, is_gap_word, number
from mixkern.encoding.labels import encode_labels, is_minus_one, label_cells, n_minus_one
from mixkern.errors import ColumnChoiceWarning, LabelError, LabelTypeError, MixkernWarning, hint
from mixkern.wording import counted, listing, names_argument, shortened

MOST_CLASSES = 50  # more different values are taken for names or measurements
FEW_NUMBERS = 5  # more different numbers with decimals, with few labels each, are taken for measurements
LABELS_OF_NUMBER = 10  # on average, for numbers with decimals to be taken for classes
MANY_NUMBERS = 20  # more different whole numbers, with few labels each, are noted
LIKE_A_TYPO = 0.82  # similarity of two names: Jpan and Japan have 0.89, normla and normal 0.83, male and female 0.8
MANY_LABELS, MOST = 5, 0.8  # where classes with as many labels have this share of all, a single label may be a slip

# Besides gap words in other letters; they may be classes, so they are only noted.
_LIKE_GAPS = frozenset(
    (
        *("-", "--", ".", "unknown", "missing", "unlabelled", "unlabeled", "tbd"),
        *(word.casefold() for word in GAP_WORDS),
    )
)

_SAME_WORDS = "y.str.lower().str.split().str.join(' ')"


def label_column(
    column: Any,
    unlabelled: Any = (),
    *,
    name: str | None = None,
    categorical: bool = False,
    classes: Iterable[Any] = (),
) -> Any:
    """Return a column of labels with gaps for unlabelled rows; raise an error where it holds no classes.

    Parameters
    ----------
    column : series of pandas, polars or another library, or pyarrow.ChunkedArray
        Texts, whole numbers, booleans or categories.
    unlabelled : object or list, default=()
        Labels that mark unlabelled rows, compared as texts.
    name : str, default=None
        Name of the column in messages; by default that of the series.
    categorical : bool, default=False
        Whether each value is a class, also -1, measurements, and more values than a column of classes has. The result
        is categorical then.
    classes : iterable, default=()
        The classes of a fitted classifier; -1 and numbers that are among them are classes.

    Returns
    -------
    series
        Like ``column``: without spaces around texts, and with a gap for a mark, an empty text, ``"?"`` and other texts
        that are gaps in files.

    Examples
    --------
    >>> import pandas as pd
    >>> label_column(pd.Series(["yes ", "", "?", "no"]), unlabelled="?").tolist()
    ['yes', None, None, 'no']
    """
    series = nw.from_native(column, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        raise LabelTypeError(
            f"A column of a frame is needed, but it is of type {type(column).__name__}.",
            hint=hint(python="Make it a series: pd.Series(y)."),
        )
    given = [unlabelled] if isinstance(unlabelled, str) or not isinstance(unlabelled, Collection) else unlabelled
    marks = {"", *(str(text(mark)).strip() for mark in given if not is_gap(mark))}
    cells = label_cells(column, name)
    found = [_label(cell, marks) for cell in cells.distinct]
    is_same = all(new is old or new == old for new, old in zip(found, cells.distinct, strict=True))
    y = column if is_same else _with_cells(series, cells.taken(found, None, object).tolist())
    y = _as_categories(y) if categorical else y
    name = name or str(series.name or "") or "y"
    classes = list(classes)
    labels = encode_labels(y, min_classes=0, name=name, classes=classes)
    if not categorical and not {str(label) for label in labels.classes} & {str(label) for label in classes}:
        _check_classes(labels.classes.tolist(), int(labels.is_labelled.sum()), name)
    return y


def _label(cell: Any, marks: Collection[str]) -> Any:
    """Return a label without spaces around it, ``None`` for a mark of unlabelled rows."""
    if cell is None:
        return None
    if isinstance(cell, str):
        label = cell.strip()
        return None if label in marks or is_gap_word(label) else label
    return None if not is_gap(cell) and str(text(cell)) in marks else cell


def _as_categories(y: Any) -> Any:
    """Return a series as a categorical one of its library; in polars, whose categories are texts, of texts."""
    series = nw.from_native(y, series_only=True)
    if isinstance(series.dtype, (nw.Categorical, nw.Enum)):
        return y
    if nw.dependencies.is_pandas_like_series(y):
        return y.astype("category")
    if nw.dependencies.is_pyarrow_chunked_array(y):
        return y.dictionary_encode()
    if isinstance(series.dtype, nw.Object):
        series = nw.new_series(series.name, [text(cell) for cell in series.to_list()], backend=series.implementation)
    return series.cast(nw.String).cast(nw.Categorical).to_native()


def _with_cells(series: nw.Series[Any], cells: list[Any]) -> Any:
    """Return a series of the same library and, where it can hold gaps, of the same type."""
    native, dtype = nw.to_native(series), series.dtype
    if not nw.dependencies.is_pandas_like_series(native):
        dtype = nw.Enum(_categories(dtype.categories, series, cells)) if isinstance(dtype, nw.Enum) else dtype
        return nw.new_series(series.name, cells, dtype, backend=series.implementation).to_native()
    # As objects, because integers with gaps would become floats.
    found = type(native)(cells, index=native.index, name=native.name, dtype=object)
    if not isinstance(dtype, (nw.Categorical, nw.Enum)):
        return found
    categories = _categories(native.cat.categories, series, cells)
    return found.astype(type(native.dtype)(categories, ordered=native.cat.ordered))


def _categories(before: Iterable[Any], series: nw.Series[Any], cells: list[Any]) -> list[Any]:
    """Return the categories that are left after the cells of a series were replaced, in the same order."""
    new = dict(zip(series.to_list(), cells, strict=True))
    return [each for each in dict.fromkeys(map(new.get, before)) if each is not None]


def _check_classes(classes: Sequence[Any], n_labelled: int, name: str) -> None:
    """Raise an error for labels that differ in nearly every row: measurements, names, keys."""
    n_classes = len(classes)
    are_numbers = not not_numbers(classes)
    is_whole = are_numbers and all(float(parsed(each) or 0).is_integer() for each in classes)
    if are_numbers and not is_whole:
        limit = max(FEW_NUMBERS, min(MOST_CLASSES, n_labelled // LABELS_OF_NUMBER))
    else:
        limit = max(MOST_CLASSES, n_labelled // 2)
    if n_classes <= limit:
        return
    examples = ", ".join(repr(shortened(each, 20) if isinstance(each, str) else each) for each in classes[:3])
    override = hint(python=f"categorical=[{name!r}]", cli=f"--categorical {names_argument([name])}")
    step = "target, or sort its values into groups"
    python, cli = f"Otherwise name another {step}", f"Otherwise name another --{step}"
    if are_numbers:
        python += ", such as low and high. To predict numbers, drop the column here, and fit MixtureSVR on it"
        cli += ", such as low and high. Numbers can be predicted from Python only"
    raise LabelError(
        f"Column {name!r} holds {counted(n_classes, 'different value')} in {n_labelled} labelled rows "
        f"({examples}, ...): {'numbers, not classes' if are_numbers else 'more than a column of classes has'}.",
        hint=hint(
            python=f"If they are classes: {override.python}. {python}.",
            cli=f"If they are classes: {override.cli}. {cli}.",
        ),
    )


def label_notes(y: Any, name: str, *, categorical: bool = False) -> list[MixkernWarning]:
    """Return notes about labels that may be slips, may mark unlabelled rows, or may be measurements.

    Parameters
    ----------
    y : series
        Labels, as :func:`label_column` returns them.
    name : str
        Name of the column.
    categorical : bool, default=False
        Whether the labels are known to be classes, so that numbers are not noted as possible measurements.

    Examples
    --------
    >>> import pandas as pd
    >>> for note in label_notes(pd.Series(["Genuine", "genuine", "forged", "forged", "genuine"]), "note"):
    ...     print(note.on("cli"))
    Labels of column 'note' differ in capital letters or spaces only: 'Genuine' (1) and 'genuine' (2). They are
    different classes. If they are one class, write them in the same way in all rows.
    """
    labels = encode_labels(y, min_classes=0, name=name)
    n_of = np.bincount(labels.codes[labels.is_labelled], minlength=labels.n_classes)
    counts = dict(zip(labels.classes.tolist(), n_of.tolist(), strict=True))
    texts = {label: n for label, n in counts.items() if isinstance(label, str)}
    alike, same = same_words(texts), _same_numbers(texts)
    like_gaps = [label for label in texts if label.strip().casefold() in _LIKE_GAPS]
    noted = {*like_gaps, *(label for group in [*alike, *same] for label in group)}
    return [
        *_minus_one_notes(y, counts, name),
        *_spelling_notes(alike, texts, name, "differ in capital letters or spaces only", _SAME_WORDS),
        *_spelling_notes(same, texts, name, "are the same number", "pd.to_numeric(y)"),
        *_gap_like_notes(like_gaps, texts, name),
        *([] if categorical else _number_notes(counts, name)),
        *_rare_notes(counts, noted, name),
    ]


def same_words(texts: Iterable[str]) -> list[list[str]]:
    """Return groups of texts that differ in capital letters or spaces only.

    >>> same_words(["basic", "premium", "BASIC", "Basic"])
    [['basic', 'BASIC', 'Basic']]
    """
    return _groups((" ".join(text.casefold().split()), text) for text in texts)


def _same_numbers(labels: Iterable[str]) -> list[list[str]]:
    """Return groups of labels that are the same number; those with leading zeros are codes.

    >>> _same_numbers(["1", "1.0", "2", "02", "no"])
    [['1', '1.0']]
    """
    found = ((number(label), label) for label in labels)
    return _groups((Decimal(value.plain), label) for value, label in found if value and not value.is_padded)


def _groups(pairs: Iterable[tuple[Any, str]]) -> list[list[str]]:
    """Return the labels with the same key, where there are several."""
    groups: dict[Any, list[str]] = {}
    for key, label in pairs:
        groups.setdefault(key, []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def _minus_one_notes(y: Any, counts: Mapping[Any, int], name: str) -> list[MixkernWarning]:
    """Return a note if -1 is among labels: it is a class, or marks unlabelled rows."""
    column = f"of column {name!r}"
    found = next((label for label in counts if is_minus_one(label)), None)
    if found is not None:
        n, mark = counts[found], str(text(found))
        what = f"{counted(n, 'row')} {column} {'holds' if n == 1 else 'hold'} {mark}, which is a class."
        step = "If it marks unlabelled rows"
        cli = f"{step}: --unlabelled {shlex.quote(mark)}"
        return [ColumnChoiceWarning(what, hint=hint(python=f"{step}: unlabelled=[{mark!r}].", cli=cli))]
    n = n_minus_one(label_cells(y, name))
    if not n:
        return []
    what = f"{counted(n, 'row')} {column} {'holds' if n == 1 else 'hold'} -1, which means unlabelled."
    step = "If -1 is a class"
    cli = f"{step}: --categorical {names_argument([name])}"
    python = f"{step}, recode it, for example as 0, or make the labels categories: categorical=[{name!r}]."
    return [ColumnChoiceWarning(what, hint=hint(python=python, cli=cli))]


def _spelling_notes(
    groups: list[list[str]], counts: Mapping[str, int], name: str, manner: str, code: str
) -> list[MixkernWarning]:
    """Return a note about labels that may be one class, and the code that makes them one."""
    if not groups:
        return []
    shown = "; ".join(" and ".join(f"{shortened(label)!r} ({counts[label]})" for label in group) for group in groups)
    step = "If they are one class, write them in the same way"
    return [
        ColumnChoiceWarning(
            f"Labels of column {name!r} {manner}: {shown}. They are different classes.",
            hint=hint(python=f"{step}: {code}.", cli=f"{step} in all rows."),
        )
    ]


def _gap_like_notes(found: list[str], counts: Mapping[str, int], name: str) -> list[MixkernWarning]:
    """Return a note about labels that read like a gap."""
    if not found:
        return []
    shown = ", ".join(f"{label!r} ({counts[label]})" for label in found)
    step = "If they mark unlabelled rows"
    return [
        ColumnChoiceWarning(
            f"Labels of column {name!r} that read like gaps are classes: {shown}.",
            hint=hint(python=f"{step}: unlabelled={found}.", cli=f"{step}: {_options('--unlabelled', found)}"),
        )
    ]


def _number_notes(counts: Mapping[Any, int], name: str) -> list[MixkernWarning]:
    """Return a note about many different whole numbers, which may be measurements."""
    n = sum(counts.values())
    if len(counts) <= max(MANY_NUMBERS, n // LABELS_OF_NUMBER) or not_numbers(list(counts)):
        return []
    step = "If they are measurements"
    python = f"{step}, predict them with MixtureSVR."
    cli = f"{step}, sort them into groups, such as low and high; from Python, MixtureSVR predicts numbers."
    return [
        ColumnChoiceWarning(
            f"Column {name!r} holds {len(counts)} different numbers in {n} labelled rows, and each is a class.",
            hint=hint(python=python, cli=cli),
        )
    ]


def _rare_notes(counts: Mapping[Any, int], noted: Collection[Any], name: str) -> list[MixkernWarning]:
    """Return a note about classes with one label, where other classes have many."""
    frequent = [n for n in counts.values() if n >= MANY_LABELS]
    rare = [label for label, n in counts.items() if n == 1 and label not in noted]
    if len(frequent) < 2 or sum(frequent) < MOST * sum(counts.values()):
        # One label each is nothing unusual: only a name that may be a typo is.
        rare = [label for label in rare if _resembles(label, counts)]
    if not rare:
        return []
    what = "This class has" if len(rare) == 1 else "These classes have"
    step = "If it is a slip, correct it; if it marks unlabelled rows"
    return [
        ColumnChoiceWarning(
            f"{what} one label, of {sum(counts.values())} in column {name!r}: {listing(rare)}.",
            hint=hint(python=f"{step}: unlabelled={rare[:1]}.", cli=f"{step}: {_options('--unlabelled', rare[:1])}"),
        )
    ]


def _resembles(label: Any, counts: Mapping[Any, int]) -> bool:
    """Return whether a label is nearly the name of a class with more labels, but not its opposite.

    >>> [_resembles(label, {label: 1, "normal": 3}) for label in ("normla", "Normal ", "abnormal")]
    [True, True, False]
    """
    if not isinstance(label, str) or any(sign.isdigit() for sign in label):  # "grade 1" and "grade 2" are no typos
        return False
    own = label.casefold()
    others = [other.casefold() for other, n in counts.items() if isinstance(other, str) and n > 1]
    close = get_close_matches(own, others, n=len(others) or 1, cutoff=LIKE_A_TYPO)
    return any(not (own.endswith(other) or other.endswith(own)) for other in close)  # "un-", "ab-" make opposites


def _options(option: str, labels: Sequence[Any]) -> str:
    """Return an option of a command, once for each label."""
    return " ".join(f"{option} {shlex.quote(str(label))}" for label in labels)
