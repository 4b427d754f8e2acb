"""The parts of a report as values: texts, figures, cards. Templates turn them into HTML."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

OTHERS = -1  # stands for several classes together, drawn in grey


class Block(Protocol):
    """A part of a section."""

    template: ClassVar[str]
    """Name of the macro that writes the block, in ``templates/blocks.html.jinja``."""


@dataclass(frozen=True)
class Section:
    """A chapter of a page.

    Attributes
    ----------
    name : str
        Used in links and file names.
    title : str
        Heading.
    blocks : tuple of Block
        Content.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Paragraph:
    """Running text; `code` stands between backticks."""

    template: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True)
class Alert:
    """A warning that must not be missed: its first words, and the rest; `code` stands between backticks."""

    template: ClassVar[str] = "alert"
    title: str
    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of short texts; `code` stands between backticks."""

    template: ClassVar[str] = "bullets"
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines of Python."""

    template: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    template: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Tile:
    """A figure, and what it counts."""

    figure: str
    text: str


@dataclass(frozen=True)
class Tiles:
    """Figures side by side."""

    template: ClassVar[str] = "tiles"
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Gauge:
    """An estimated share with its interval, drawn on a line from 0 to 100 %."""

    template: ClassVar[str] = "gauge"
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Share:
    """A part of a bar: the position of its class, its share of the bar, its name and its amount as text."""

    code: int
    share: float
    name: str
    amount: str


@dataclass(frozen=True)
class Card:
    """A description of one group of rows.

    Attributes
    ----------
    title, about : str
        Name and size of the group.
    warning : str
        A warning below the title, empty for none.
    lines : tuple of (str, tuple of Share)
        Texts, each with a bar of shares by class.
    columns : tuple of str
        Headings of the card's table.
    rows : tuple of tuple of str
        Cells: a column's name, its typical value in the group, and in all rows.
    """

    title: str
    about: str
    warning: str
    lines: tuple[tuple[str, tuple[Share, ...]], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    template: ClassVar[str] = "cards"
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Bar:
    """A bar of a chart: its name, its length between 0 and 1, and its amount as text."""

    name: str
    length: float
    amount: str


@dataclass(frozen=True)
class Bars:
    """Bars below each other, with a title and a caption."""

    template: ClassVar[str] = "bars"
    title: str
    caption: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Beside:
    """Two groups of blocks, side by side where there is room."""

    template: ClassVar[str] = "beside"
    left: tuple[Block, ...]
    right: tuple[Block, ...]
