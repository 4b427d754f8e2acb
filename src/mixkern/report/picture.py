"""Pictures as files: drawings of lines as SVG, all others as PNG that are not too large."""

import base64
import io
from dataclasses import replace
from functools import lru_cache
from typing import Any

from mixkern.imports import optional
from mixkern.report.block import Picture

DPI = 100
SHARP_DPI = 180  # of pictures that are as wide as the page
SMALLEST_DPI = 40
LARGEST = 200_000  # bytes
FEW_COLOURS = 256
MOST_KEPT = 64  # pictures: page and pages show the same ones, and some take half a minute
SALT = "mixkern"  # names inside an SVG are the same in every run


def sources(picture: Picture) -> list[str]:
    """Give a picture as addresses that hold it, for a light page and, where it has one, for a dark page."""
    kind, written = ("svg+xml", svg_of) if picture.is_lines else ("png", png_of)
    pictures = [picture]
    if picture.draw_dark is not None:
        pictures.append(replace(picture, draw=picture.draw_dark))
        written = svg_of if picture.is_lines else fresh_png_of  # of a user's table, which nothing should keep in memory
    return [f"data:image/{kind};base64,{base64.b64encode(written(each)).decode()}" for each in pictures]


def svg_of(picture: Picture) -> bytes:
    """Draw a picture as SVG."""
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    out = io.BytesIO()
    with pyplot.rc_context({"svg.hashsalt": SALT}):
        figure = _drawn(picture)
        figure.savefig(out, format="svg", metadata={"Date": None}, facecolor=_ground(picture, figure))
    pyplot.close(figure)
    return out.getvalue()


@lru_cache(maxsize=MOST_KEPT)
def png_of(picture: Picture, largest: int = LARGEST) -> bytes:
    """Give a picture as PNG, drawn once however often it is asked for."""
    return fresh_png_of(picture, largest)


def fresh_png_of(picture: Picture, largest: int = LARGEST) -> bytes:
    """Draw a picture as PNG, with fewer colours and then fewer dots where it would be too large a file."""
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    figure = _drawn(picture)
    dpi, ground = float(DPI if picture.draw_dark is None else SHARP_DPI), _ground(picture, figure)
    content = _png(figure, dpi, ground)
    while len(content) > largest:
        content = _with_few_colours(content)
        if len(content) <= largest or dpi <= SMALLEST_DPI:
            break
        dpi *= 0.85
        content = _png(figure, dpi, ground)
    pyplot.close(figure)
    return content


def _drawn(picture: Picture) -> Any:
    return picture.draw().figure  # a figure is its own figure


def _ground(picture: Picture, figure: Any) -> Any:
    """Give the colour of the sheet: the picture's own, where it knows of dark pages."""
    return "white" if picture.draw_dark is None else figure.get_facecolor()


def _png(figure: Any, dpi: float, ground: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, facecolor=ground, metadata={"Software": None})
    return out.getvalue()


def _with_few_colours(content: bytes) -> bytes:
    image = optional("PIL.Image", purpose="A report with figures")  # comes with matplotlib
    out = io.BytesIO()
    with image.open(io.BytesIO(content)) as picture:
        picture.convert("RGB").quantize(FEW_COLOURS, dither=image.Dither.NONE).save(out, format="PNG", optimize=True)
    return out.getvalue()
