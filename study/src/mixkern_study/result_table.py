"""Cells of tables of results, and their formats beyond Markdown and HTML: LaTeX and CSV."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from mixkern.report.table import TextTable

DASH = "-"  # in an empty cell
PERCENT, RANK, WINS, COUNT, SECONDS, SMALL = ".2f", ".3f", ".1f", ".0f", ".3g", ".2g"
IN_PARENTHESES = "In parentheses: as published."


@dataclass(frozen=True)
class Cell:
    """One cell of a table of results.

    Attributes
    ----------
    value : float, str or None
        Our value; None where there is none.
    deviation : float or None
        Its standard deviation.
    published : float, str or None
        The paper's value.
    spec : str
        Format of numbers, as in ``format``.
    is_best, is_published_best : bool
        Whether our value, or the paper's, is the best of its row.
    is_partial : bool
        Whether our value is the mean of fewer folds than the protocol has.

    Examples
    --------
    >>> Cell(82.5, deviation=5.75, published=82.46, spec=".1f").to_text()
    '82.5 ± 5.8 (82.5)'
    """

    value: float | str | None = None
    deviation: float | None = None
    published: float | str | None = None
    spec: str = PERCENT
    is_best: bool = False
    is_published_best: bool = False
    is_partial: bool = False

    @property
    def text(self) -> str:
        """Our value as text."""
        text = _written(self.value, self.spec) + ("*" if self.is_partial else "")
        return f"{text} ± {_written(self.deviation, self.spec)}" if is_there(self.deviation) else text

    @property
    def note(self) -> str:
        """The published value as text, empty where there is none."""
        return f"({_written(self.published, self.spec)})" if is_there(self.published) else ""

    @property
    def is_note_best(self) -> bool:
        """Whether the published value is the best of its row."""
        return self.is_published_best

    def to_text(self, escape: Callable[[str], str] = str, strong: Callable[[str], str] = str) -> str:
        """Write our value and the published one, the best ones marked by ``strong``."""
        text, note = escape(self.text), escape(self.note)
        text = strong(text) if self.is_best else text
        note = strong(note) if self.is_published_best else note
        return f"{text} {note}" if note else text


def text_rows(table: TextTable) -> list[list[str]]:
    """Return all cells of a table as plain text, those of the footer last."""
    return [[cell.to_text() for cell in row] for row in cells_of(table)]


def to_latex(table: TextTable) -> str:
    r"""Return a table as a float with a plain tabular, which needs no package.

    >>> table = TextTable("t", "Two sets", "", ("Data set", "RWM"), ((Cell("Iris"), Cell(96.0, is_best=True)),))
    >>> to_latex(table).splitlines()[7]
    'Iris & \\textbf{96.00} \\\\'
    """
    lines = [
        r"\begin{table}",
        rf"\caption{{\textbf{{{latex_escaped(table.title)}.}} {latex_escaped(table.caption)}}}",
    ]
    lines += [r"\centering", rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}", r"\hline"]
    lines += [_latex_row(map(latex_escaped, table.columns)), r"\hline"]
    rows = [_latex_row(cell.to_text(latex_escaped, r"\textbf{{{}}}".format) for cell in row) for row in cells_of(table)]
    for part in (rows[: len(table.rows)], rows[len(table.rows) :]):
        lines += [*part, r"\hline"] if part else []
    return "\n".join([*lines, r"\end{tabular}", r"\end{table}"]) + "\n"


def to_csv(table: TextTable) -> str:
    r"""Return a table as CSV, with a column each for deviations and published values, empty where there are none.

    >>> table = TextTable("t", "Two sets", "", ("Data set", "RWM"), ((Cell("Iris"), Cell(96.0, published=95.5)),))
    >>> to_csv(table)
    'Data set,RWM,RWM published\nIris,96,95.5\n'
    """
    rows = cells_of(table)
    parts = [
        (i, part)
        for i in range(len(table.columns))
        for part in ("value", "deviation", "published")
        if part == "value" or any(is_there(getattr(row[i], part)) for row in rows)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([table.columns[i] if part == "value" else f"{table.columns[i]} {part}" for i, part in parts])
    writer.writerows([[_plain(getattr(row[i], part)) for i, part in parts] for row in rows])
    return out.getvalue()


def cells_of(table: TextTable) -> list[tuple[Cell, ...]]:
    """Return the cells of all rows of a table of results, those of the footer last."""
    return cast("list[tuple[Cell, ...]]", [*table.rows, *table.footer])


_LATEX = {
    **{letter: "\\" + letter for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
}


def latex_escaped(text: str) -> str:
    r"""Escape a text so that LaTeX shows it as it is.

    >>> print(latex_escaped("A & B <c>: 5 % ± 1"))
    A \& B \textless{}c\textgreater{}: 5 \% $\pm$ 1
    """
    escaped = "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", escaped)  # a minus is longer than a hyphen


def _latex_row(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def is_there(value: float | str | None) -> bool:
    """Whether there is a value: neither None nor NaN."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _written(value: float | str | None, spec: str) -> str:
    if not is_there(value):
        return DASH
    return value if isinstance(value, str) else format(value, spec)


def _plain(value: float | str | None) -> str:
    if not is_there(value):
        return ""
    return value if isinstance(value, str) else format(value, ".6g")
