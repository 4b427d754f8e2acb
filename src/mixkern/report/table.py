"""Tables of texts, written as Markdown or HTML."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

from mixkern.report.page import render


class MarkedCell(Protocol):
    """A cell with a note beside its text; either may be the best of its row, and is then printed in bold."""

    @property
    def text(self) -> str:
        """The text of the cell."""

    @property
    def note(self) -> str:
        """A note such as a published value, empty where there is none."""

    @property
    def is_best(self) -> bool:
        """Whether the text is in bold."""

    @property
    def is_note_best(self) -> bool:
        """Whether the note is in bold."""


Row = tuple[str | MarkedCell, ...]


@dataclass(frozen=True)
class TextTable:
    """A table of texts of any length and script.

    Attributes
    ----------
    name : str
        Used in links and file names.
    title, caption : str
        What the table shows, and what is needed to read it.
    columns : tuple of str
        Headings.
    rows, footer : tuple of tuple of str or MarkedCell
        One cell for each column; the first is the heading of its row.
    numbers : frozenset of int or None
        Positions of the columns that are aligned to the right; ``None`` for all but the first.
    classes : tuple of int or None
        The class that each row is about, marked as in pictures; ``None`` for no marks.
    is_stacked : bool
        Whether the cells of a row stand below each other on a phone; otherwise a wide table is scrolled there.

    Examples
    --------
    >>> print(TextTable("t", "Two sets", "", ("Data set", "Accuracy"), (("Iris", "96.00"),)).to_markdown())
    **Two sets.**
    <BLANKLINE>
    | Data set | Accuracy |
    | :--- | ---: |
    | Iris | 96.00 |
    <BLANKLINE>
    """

    template: ClassVar[str] = "table"
    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    footer: tuple[Row, ...] = ()
    numbers: frozenset[int] | None = None
    classes: tuple[int, ...] | None = None
    is_stacked: bool = False

    def is_number(self, column: int) -> bool:
        """Whether a column is aligned to the right."""
        return column > 0 if self.numbers is None else column in self.numbers

    def to_html(self) -> str:
        """Write a figure with a caption, and a box in which a wide table can be scrolled."""
        return render(self)

    def to_markdown(self) -> str:
        """Write a table of MyST or GitHub; the first cells of the footer are in italics."""
        sides = ("---:" if self.is_number(j) else ":---" for j in range(len(self.columns)))
        lines = [
            f"**{markdown_escaped(self.title)}.** {markdown_escaped(self.caption)}".rstrip(),
            "",
            _markdown_row(map(markdown_escaped, self.columns)),
            _markdown_row(sides),
        ]
        lines += [_markdown_row(map(_markdown_cell, row)) for row in self.rows]
        lines += [_markdown_row([f"*{_markdown_cell(row[0])}*", *map(_markdown_cell, row[1:])]) for row in self.footer]
        return "\n".join(lines) + "\n"


def markdown_escaped(text: str) -> str:
    r"""Escape a text so that Markdown, MyST's dollars included, shows it as it is.

    >>> print(markdown_escaped("A & B <c> | $5"))
    A \& B \<c\> \| \$5
    """
    return "".join("\\" + letter if letter in r"\`*_{}[]<>|$&~#^" else letter for letter in " ".join(text.split()))


def _markdown_cell(cell: str | MarkedCell) -> str:
    if isinstance(cell, str):
        return markdown_escaped(cell)
    text = _bold(markdown_escaped(cell.text), cell.is_best)
    return f"{text} {_bold(markdown_escaped(cell.note), cell.is_note_best)}" if cell.note else text


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def _markdown_row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"
