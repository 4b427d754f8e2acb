"""Parts of a page that are neither text nor picture: figures that matter, tables of texts, cards, a gauge."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from mixkern.report.mark import colour, mark
from mixkern.wording import shortened

LONGEST = 60  # letters of a name; the rest is there for those who point at it
LONGEST_CELL = 200


def named(text: str, longest: int = LONGEST) -> str:
    """Write what users have named: cut where it is long, and whatever way it runs, the rest runs its own.

    >>> named("<b>"), named("abcdef", longest=4)
    ('<bdi>&lt;b&gt;</bdi>', '<bdi title="abcdef">abc…</bdi>')
    """
    short = shortened(text, longest)
    title = "" if short == text else f' title="{html.escape(shortened(text, 20 * longest))}"'
    return f"<bdi{title}>{html.escape(short)}</bdi>"


@dataclass(frozen=True)
class Tile:
    """A figure that matters, and what it is."""

    figure: str
    text: str


@dataclass(frozen=True)
class Tiles:
    """Figures that matter, side by side."""

    tiles: tuple[Tile, ...]

    def to_html(self) -> str:
        """Write them as a list of terms."""
        items = (f"<div><dt>{named(each.text)}</dt><dd>{html.escape(each.figure)}</dd></div>" for each in self.tiles)
        return f'<dl class="tiles">{"".join(items)}</dl>\n'


@dataclass(frozen=True)
class TextTable:
    """A table of texts, of any length and script.

    Attributes
    ----------
    name, title, caption : str
        For links; what it shows; what one has to know to read it.
    columns : tuple of str
        Headings.
    rows : tuple of tuple of str
        Cells; the first one says what the row is about.
    numbers : frozenset of int
        Positions of the columns that hold numbers, which stand below each other.
    looks : tuple of int or None
        Which class each row is about, to be marked as in the pictures; ``None`` where none is.
    """

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    looks: tuple[int, ...] | None = None

    def to_html(self) -> str:
        """Write it as a figure: the caption, and a box in which a wide table can be scrolled."""
        title, caption = html.escape(self.title), html.escape(self.caption)
        head = "".join(f'<th scope="col"{self._side(i)}>{named(text)}</th>' for i, text in enumerate(self.columns))
        body = "".join(map(self._row, range(len(self.rows))))
        return (
            f'<figure class="table texts" id="table-{self.name}">\n<figcaption><b>{title}.</b> {caption}</figcaption>\n'
            f'<div class="scroll" role="region" aria-label="{title}" tabindex="0"><table>\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n</figure>\n"
        )

    def _row(self, i: int) -> str:
        first, *others = self.rows[i]
        sign = "" if self.looks is None else f"{mark(self.looks[i])} "
        cells = "".join(
            f"<td{self._side(j)}>{named(text, LONGEST_CELL)}</td>" for j, text in enumerate(others, start=1)
        )
        return f'<tr><th scope="row"{self._side(0)}>{sign}{named(first)}</th>{cells}</tr>\n'

    def _side(self, i: int) -> str:
        return ' class="number"' if i in self.numbers else ""


@dataclass(frozen=True)
class Share:
    """A part of a bar: which class and how much of the whole, and both as texts."""

    look: int
    share: float
    name: str
    amount: str


@dataclass(frozen=True)
class Card:
    """What there is to say of one group.

    Attributes
    ----------
    title, about : str
        Its name, and how large it is.
    warning : str
        What should be seen at once; empty where nothing is wrong.
    lines : tuple of (str, tuple of Share)
        What is counted by class, each with a bar.
    columns : tuple of str
        Headings of its table.
    rows : tuple of tuple of str
        Cells: a column's name, what is typical here, what is typical elsewhere.
    """

    title: str
    about: str
    warning: str
    lines: tuple[tuple[str, tuple[Share, ...]], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_html(self) -> str:
        """Write it as an article."""
        alarm = f'<p class="warning">{html.escape(self.warning)}</p>' if self.warning else ""
        lines = "".join(f"<p>{html.escape(text)}</p>{_bar(shares)}" for text, shares in self.lines)
        return (
            f'<article class="card{" alarmed" if self.warning else ""}">\n<header><h3>{html.escape(self.title)}</h3>'
            f"<p>{html.escape(self.about)}</p></header>\n{alarm}{lines}\n{self._table()}</article>\n"
        )

    def _table(self) -> str:
        if not self.rows:
            return "<p>No column sets it apart.</p>\n"
        head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in self.columns)
        body = ""
        for first, *others in self.rows:
            cells = "".join(f"<td>{named(text, 40)}</td>" for text in others)
            body += f'<tr><th scope="row">{named(first, 40)}</th>{cells}</tr>'
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"


def _bar(shares: Sequence[Share]) -> str:
    """Draw shares of a whole in the colours of classes, and name them below."""
    parts = "".join(f'<i class="{colour(each.look)}" style="width:{100 * each.share:.2f}%"></i>' for each in shares)
    key = "".join(f"<li>{mark(each.look)} {named(each.name, 40)} ({each.amount})</li>" for each in shares)
    return f'<div class="bar" aria-hidden="true">{parts}</div><ul class="key">{key}</ul>' if shares else ""


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    cards: tuple[Card, ...]

    def to_html(self) -> str:
        """Write them into a grid."""
        return f'<div class="cards">\n{"".join(card.to_html() for card in self.cards)}</div>\n'


@dataclass(frozen=True)
class Gauge:
    """An estimated share with its interval, between nothing and all."""

    value: float
    low: float
    high: float
    text: str

    def to_html(self) -> str:
        """Draw it as a line with a dot on it; the text says the same."""
        low, width, value = (100 * each for each in (self.low, self.high - self.low, self.value))
        return (
            f'<div class="gauge" role="img" aria-label="{html.escape(self.text)}"><span class="track">'
            f'<i style="left:{low:.2f}%;width:{width:.2f}%"></i><b style="left:{value:.2f}%"></b>'
            "</span><ul><li>0 %</li><li>25 %</li><li>50 %</li><li>75 %</li><li>100 %</li></ul></div>\n"
        )
