"""What a report is made of, whatever it is written in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Paragraph:
    """Running text; `code` stands between backticks, and nothing else is marked."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """Short texts, one below the other."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Python to copy."""

    text: str


@dataclass(frozen=True)
class Heading:
    """The beginning of a part of a section."""

    text: str


@dataclass(frozen=True)
class Mark:
    """What stands for a class in a picture, told beside it: the number of its colour and shape, and a text."""

    look: int
    text: str


@dataclass(frozen=True)
class Picture:
    """Something to be drawn.

    Attributes
    ----------
    name : str
        Of its file.
    title, caption : str
        What it shows, for those who do not see it as well, and what is to be noticed.
    draw : callable
        Gives a figure of matplotlib, or axes of one.
    is_lines : bool
        Whether it is a drawing of few lines, which stays sharp at every size.
    draw_dark : callable or None
        The same for a dark page; without, a white sheet lies on it.
    key : tuple of Mark
        What its colours mean, where users have named it: a page writes names of any script and length.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    is_lines: bool = False
    draw_dark: Callable[[], Any] | None = None
    key: tuple[Mark, ...] = ()


class Written(Protocol):
    """What can write itself, such as a table."""

    def to_html(self) -> str:
        """Write it as a part of a page."""


Block = Paragraph | Bullets | Code | Heading | Picture | Written


@dataclass(frozen=True)
class Section:
    """A chapter of the page, or a page of the site.

    Attributes
    ----------
    name : str
        For links and files.
    title : str
        Its heading.
    blocks : tuple of Block
        What stands in it.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
