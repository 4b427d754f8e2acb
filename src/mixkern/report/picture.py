"""Pictures as files: drawings of lines as SVG, all others as PNG that are not too large."""

import io
from functools import lru_cache
from typing import Any

from mixkern.optional import optional
from mixkern.report.block import Picture

DPI = 100
SMALLEST_DPI = 40
LARGEST = 200_000  # bytes
FEW_COLOURS = 256
MOST_KEPT = 64  # pictures: page and pages show the same ones, and some take half a minute
SALT = "mixkern"  # names inside an SVG are the same in every run


def svg_of(picture: Picture) -> bytes:
    """Draw a picture as SVG."""
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    out = io.BytesIO()
    with pyplot.rc_context({"svg.hashsalt": SALT}):
        figure = _drawn(picture)
        figure.savefig(out, format="svg", metadata={"Date": None}, facecolor="white")
    pyplot.close(figure)
    return out.getvalue()


@lru_cache(maxsize=MOST_KEPT)
def png_of(picture: Picture, largest: int = LARGEST) -> bytes:
    """Draw a picture as PNG, with fewer colours and then fewer dots where it would be too large a file."""
    pyplot = optional("matplotlib.pyplot", purpose="A report with figures")
    figure = _drawn(picture)
    dpi = float(DPI)
    content = _png(figure, dpi)
    while len(content) > largest:
        content = _with_few_colours(content)
        if len(content) <= largest or dpi <= SMALLEST_DPI:
            break
        dpi *= 0.85
        content = _png(figure, dpi)
    pyplot.close(figure)
    return content


def _drawn(picture: Picture) -> Any:
    return picture.draw().figure  # a figure is its own figure


def _png(figure: Any, dpi: float) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, facecolor="white", metadata={"Software": None})
    return out.getvalue()


def _with_few_colours(content: bytes) -> bytes:
    image = optional("PIL.Image", purpose="A report with figures")  # comes with matplotlib
    out = io.BytesIO()
    with image.open(io.BytesIO(content)) as picture:
        picture.convert("RGB").quantize(FEW_COLOURS, dither=image.Dither.NONE).save(out, format="PNG", optimize=True)
    return out.getvalue()
