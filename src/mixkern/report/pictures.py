"""The pictures of a report, and their files: SVG for drawings of few lines, PNG of limited size for all others."""

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import cKDTree

from mixkern.imports import optional
from mixkern.plot.confidence import coloured_classes, confidence
from mixkern.plot.projection import MOST_ROWS, MapRows
from mixkern.plot.style import DARK, LIGHT, N_STYLES, Theme
from mixkern.plot.table_map import SIZE, draw_map, number_places
from mixkern.report.blocks import OTHERS
from mixkern.report.components import shown_components
from mixkern.report.facts import ModelFacts
from mixkern.report.placement import PlacedName, placed_names
from mixkern.wording import counted

DPI = 100
SHARP_DPI = 180  # of pictures that are as wide as the page
SMALLEST_DPI = 40
LARGEST = 200_000  # bytes
SHADES = 140  # of 256 colours are those of large areas
MOST_KEPT = 64  # pictures in memory: page and pages show the same ones, and some take half a minute
AXES = (0.045, 0.06, 0.95, 0.925)  # of the map: left, bottom, width and height, in those of the picture
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
    names : tuple of PlacedName
        Names of classes that the page writes over the picture.
    """

    template: ClassVar[str] = "picture"
    name: str
    title: str
    caption: str
    draw: Callable[[], Any]
    is_lines: bool = False
    draw_dark: Callable[[], Any] | None = None
    key: tuple[Mark, ...] = ()
    names: tuple[PlacedName, ...] = ()

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
    """Reduce a PNG to 256 colours: those of classes and of the corner exactly, shades of large areas, and others."""
    image = optional("PIL.Image", purpose="A report with figures")  # comes with matplotlib
    with image.open(io.BytesIO(content)) as picture:
        full = picture.convert("RGB")
    pixels = np.asarray(full).reshape(-1, 3)
    distinct, which = np.unique(pixels @ np.array([65536, 256, 1]), return_inverse=True)
    colours = np.column_stack([distinct >> 16, distinct >> 8 & 255, distinct & 255])
    palette = [full.getpixel((0, 0)), *_class_colours(set(distinct.tolist()))]
    for n, method in ((SHADES, image.Quantize.MEDIANCUT), (256 - SHADES, image.Quantize.MAXCOVERAGE)):
        shades = full.quantize(n, method, dither=image.Dither.NONE).getpalette()
        palette += zip(shades[0::3], shades[1::3], shades[2::3], strict=True)
    palette = list(dict.fromkeys(palette))[:256]
    nearest = cKDTree(np.array(palette, dtype=float)).query(colours)[1].astype(np.uint8)
    reduced = image.fromarray(nearest[which].reshape(full.height, full.width), "P")
    reduced.putpalette([value for colour in palette for value in colour])
    out = io.BytesIO()
    reduced.save(out, format="PNG", optimize=True)
    return out.getvalue()


def _class_colours(found: set[int]) -> list[tuple[int, int, int]]:
    """Return the colours of classes that a picture has, given as numbers of 24 bits."""
    codes = [int(colour[1:], 16) for colour in (*LIGHT.classes, *DARK.classes)]
    return [(code >> 16, code >> 8 & 255, code & 255) for code in codes if code in found]


def map_picture(facts: ModelFacts) -> Picture:
    """Return the map: the table in its first two principal components."""
    rows = MapRows.of(facts.model.mixture_, facts.rows, facts.predicted, facts.codes)
    numbered = shown_components(facts)
    some = "" if facts.n_rows <= MOST_ROWS else f" {MOST_ROWS:,} rows are drawn, chosen at random."
    are = "is" if rows.n_far == 1 else "are"
    far = f" {counted(rows.n_far, 'row')} far from the others {are} drawn at the edge." if rows.n_far else ""
    caption = (
        "Small points are rows, in the colour and shape of their predicted label. Large points are rows with a label. "
        f"The background has the colour of most predictions nearby.{some}{far} Lines are contours of the density: they "
        "hold 20, 50, 80 and 95 % of the rows. Numbers in circles are components. The map shows two directions, and "
        "the model uses all columns: a point on another background need not be an error."
    )
    key = tuple(Mark(i, name) for i, name in enumerate(facts.classes[:N_STYLES]))
    light, dark = (partial(_map, rows, numbered, theme) for theme in (LIGHT, DARK))
    names = _names(facts, rows, numbered)
    return Picture("map", "The table in its two main directions", caption, light, draw_dark=dark, key=key, names=names)


def _map(rows: MapRows, numbered: list[int], theme: Theme) -> Any:
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    ax = pyplot.figure(figsize=SIZE).add_axes(AXES)
    return draw_map(rows, named_components=numbered, theme=theme, ax=ax)


def _names(facts: ModelFacts, rows: MapRows, numbered: list[int]) -> tuple[PlacedName, ...]:
    """Return the names of the predicted classes beside their rows, the most frequent classes first."""
    taken = [_in_picture(place) for place in number_places(rows.plane.centres(), numbered, rows.box).values()]
    places = {code: _in_picture(at) for code, at in rows.class_places(len(facts.classes)).items()}
    order = sorted(places, key=lambda code: -facts.predicted_counts[code])
    names = {code: facts.classes[code] for code in order if code < N_STYLES}
    return placed_names(names, places, taken, ratio=SIZE[1] / SIZE[0])


def _in_picture(place: tuple[float, float]) -> tuple[float, float]:
    """Convert a place on the map to shares of the picture's width and height, from the left and the top."""
    left, bottom, width, height = AXES
    return left + width * place[0], 1 - bottom - height * place[1]


def confidence_picture(facts: ModelFacts) -> Picture:
    """Return the histogram of the probabilities of the predicted labels."""
    caption = (
        "The number of rows by the probability of their predicted label, in the colours of the labels. With few "
        "labels, probabilities may be off by several points."
    )
    own, others = coloured_classes(facts.predicted, len(facts.settings.classes_))
    key = tuple(Mark(int(code), facts.classes[code]) for code in own)
    key += (Mark(OTHERS, f"{len(others)} others"),) if len(others) else ()
    light, dark = (partial(_confidence, facts, theme) for theme in (LIGHT, DARK))
    return Picture("confidence", "Probabilities of the predicted labels", caption, light, True, dark, key)


def _confidence(facts: ModelFacts, theme: Theme) -> Any:
    assert facts.probabilities is not None  # there is no picture without probabilities
    return confidence(np.asarray(facts.probabilities), theme=theme, legend=False)
