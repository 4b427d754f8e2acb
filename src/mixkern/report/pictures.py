"""The pictures of a report, and their files: SVG for drawings of few lines, PNG of limited size for all others."""

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from mixkern.imports import optional
from mixkern.plot.confidence import coloured_classes, confidence
from mixkern.plot.projection import MOST_ROWS, projection
from mixkern.plot.style import DARK, LIGHT, N_STYLES, Theme
from mixkern.report.blocks import OTHERS
from mixkern.report.components import shown_components
from mixkern.report.facts import ModelFacts

DPI = 100
SHARP_DPI = 180  # of pictures that are as wide as the page
SMALLEST_DPI = 40
LARGEST = 200_000  # bytes
SHADES = 160  # of 256 colours; the others are spread evenly, so that classes with few dots keep theirs
MOST_KEPT = 64  # pictures in memory: page and pages show the same ones, and some take half a minute
SALT = "mixkern"  # makes the names inside an SVG the same in every run


@dataclass(frozen=True)
class Mark:
    """An entry of a picture's key: the position of a class, which gives its colour and shape, and a text."""

    code: int
    text: str


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when it is written.

    Attributes
    ----------
    name : str
        Name of its file.
    title, caption : str
        What the picture shows, also for screen readers, and what to notice.
    draw : callable
        Returns a figure or axes of matplotlib.
    is_lines : bool
        Whether the picture has few lines, and is written as SVG.
    draw_dark : callable or None
        The same for a dark page; without it, the picture is white there too.
    key : tuple of Mark
        What the colours stand for. Names that users chose stand here and not in the picture: a page can show any script
        and length.
    """

    template: ClassVar[str] = "picture"
    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    is_lines: bool = False
    draw_dark: Callable[[], Any] | None = None
    key: tuple[Mark, ...] = ()

    def sources(self) -> list[str]:
        """Return data addresses of the picture for a light page and, where there is one, for a dark page."""
        kind, write = ("svg+xml", svg_of) if self.is_lines else ("png", png_of)
        pictures = [self]
        if self.draw_dark is not None:
            pictures.append(replace(self, draw=self.draw_dark))
            write = svg_of if self.is_lines else new_png_of  # a picture of a user's table is not kept in memory
        return [f"data:image/{kind};base64,{base64.b64encode(write(each)).decode()}" for each in pictures]


def svg_of(picture: Picture) -> bytes:
    """Draw a picture as SVG."""
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    out = io.BytesIO()
    with pyplot.rc_context({"svg.hashsalt": SALT}):
        figure = _figure(picture)
        figure.savefig(out, format="svg", metadata={"Date": None}, facecolor=_background(picture, figure))
    pyplot.close(figure)
    return out.getvalue()


@lru_cache(maxsize=MOST_KEPT)
def png_of(picture: Picture, largest: int = LARGEST) -> bytes:
    """Return a picture as PNG, drawn once and then kept in memory."""
    return new_png_of(picture, largest)


def new_png_of(picture: Picture, largest: int = LARGEST) -> bytes:
    """Draw a picture as PNG; where the file is too large, with fewer colours and then fewer dots."""
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    figure = _figure(picture)
    dpi, background = float(DPI if picture.draw_dark is None else SHARP_DPI), _background(picture, figure)
    content = _png(figure, dpi, background)
    while len(content) > largest:
        content = _with_few_colours(content)
        if len(content) <= largest or dpi <= SMALLEST_DPI:
            break
        dpi *= 0.85
        content = _png(figure, dpi, background)
    pyplot.close(figure)
    return content


def _figure(picture: Picture) -> Any:
    return picture.draw().figure  # a figure is its own figure


def _background(picture: Picture, figure: Any) -> Any:
    return "white" if picture.draw_dark is None else figure.get_facecolor()


def _png(figure: Any, dpi: float, background: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, facecolor=background, metadata={"Software": None})
    return out.getvalue()


def _with_few_colours(content: bytes) -> bytes:
    """Reduce a PNG to 256 colours: that of its corner, shades of large areas, and colours of few dots."""
    image = optional("PIL.Image", purpose="A report with figures")  # comes with matplotlib
    with image.open(io.BytesIO(content)) as picture:
        full = picture.convert("RGB")
    corner = full.getpixel((0, 0))
    palette = [*corner]
    for n, method in ((SHADES, image.Quantize.MEDIANCUT), (255 - SHADES, image.Quantize.MAXCOVERAGE)):
        palette += full.quantize(n, method, dither=image.Dither.NONE).getpalette()[: 3 * n]
    colours = image.new("P", (1, 1))
    colours.putpalette(palette)
    reduced = full.quantize(palette=colours, dither=image.Dither.NONE)
    # Colours are matched roughly; the background must be exactly that of the page.
    is_corner = np.all(np.asarray(full) == corner, axis=2)
    reduced.paste(0, mask=image.fromarray(np.where(is_corner, 255, 0).astype(np.uint8)))
    out = io.BytesIO()
    reduced.save(out, format="PNG", optimize=True)
    return out.getvalue()


def map_picture(facts: ModelFacts) -> Picture:
    """Return the map: the table in its first two principal components."""
    some = " " if facts.n_rows <= MOST_ROWS else f" ({MOST_ROWS:,} of them, drawn at random) "
    caption = (
        f"Small points are rows{some}in the colour of their predicted label, large points are labelled rows. Grey "
        "contours hold 20, 50, 80 and 95 % of the rows by the density; numbers are those of components. The background "
        "has the colour of most predictions nearby, paler where they differ. The model uses all columns and the map "
        "shows two directions only, so a row on the background of another label need not be an error."
    )
    key = tuple(Mark(i, name) for i, name in enumerate(facts.classes[:N_STYLES]))
    light, dark = (partial(_map, facts, theme) for theme in (LIGHT, DARK))
    return Picture("map", "The table in its two main directions", caption, light, draw_dark=dark, key=key)


def _map(facts: ModelFacts, theme: Theme) -> Any:
    named = shown_components(facts)
    return projection(
        facts.model.mixture_, facts.rows, facts.predicted, facts.codes, named_components=named, theme=theme
    )


def confidence_picture(facts: ModelFacts) -> Picture:
    """Return the histogram of the probabilities of the predicted labels."""
    caption = (
        "The number of rows by the probability of their predicted label, stacked by label. With few labels, "
        "probabilities may be off by several points."
    )
    own, others = coloured_classes(facts.predicted, len(facts.settings.classes_))
    key = tuple(Mark(int(code), facts.classes[code]) for code in own)
    key += (Mark(OTHERS, f"{len(others)} others"),) if len(others) else ()
    light, dark = (partial(_confidence, facts, theme) for theme in (LIGHT, DARK))
    return Picture("confidence", "Probabilities of the predicted labels", caption, light, True, dark, key)


def _confidence(facts: ModelFacts, theme: Theme) -> Any:
    assert facts.probabilities is not None  # there is no picture without probabilities
    return confidence(np.asarray(facts.probabilities), theme=theme, legend=False)
