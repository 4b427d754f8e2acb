"""Write sections as one HTML page that needs nothing else: no network, no fonts, one script of its own."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from mixkern.imports import optional
from mixkern.plot.style import DARK, LIGHT
from mixkern.report.blocks import OTHERS, Block, Section
from mixkern.wording import shortened

# Control characters and halves of surrogate pairs, which a table may hold but a page cannot.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

# Browsers run the script with this checksum, which sorts and filters tables, and refuse all others and everything from
# elsewhere, whatever a table holds.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{checksum}'"
SCRIPT = "table.js"


def page(sections: Sequence[Section], title: str, about: Sequence[str] = ()) -> str:
    """Return a page with a title, a table of contents and sections.

    Parameters
    ----------
    sections : sequence of Section
        The chapters.
    title : str
        Heading of the page.
    about : sequence of str, default=()
        Texts below the heading, such as the name of a file and a date.

    Examples
    --------
    >>> from mixkern.report.blocks import Paragraph
    >>> "<h1>A &amp; B</h1>" in page([Section("all", "All", (Paragraph("No rows."),))], title="A & B")
    True
    """
    script = table_script()
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    written = (
        _environment()
        .get_template("page.html.jinja")
        .render(
            title=title,
            about=about,
            sections=sections,
            policy=POLICY.format(checksum=checksum),
            script=script,
            light=LIGHT,
            dark=DARK,
        )
    )
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", written)


def table_script() -> str:
    """Return the script that sorts and filters tables, as it stands in every page."""
    environment = _environment()
    source: str = environment.loader.get_source(environment, SCRIPT)[0]
    return source


def render(block: Block) -> str:
    r"""Return one block as HTML.

    >>> from mixkern.report.blocks import Heading
    >>> render(Heading("A & B"))
    '<h3>A &amp; B</h3>\n'
    """
    macros = _environment().get_template("blocks.html.jinja").module
    return str(getattr(macros, block.template)(block))


@cache
def _environment() -> Any:
    jinja2 = optional("jinja2", purpose="A report")
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("mixkern.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    found.filters |= {
        "colour": _colour,
        "html": lambda block: optional("markupsafe", purpose="A report").Markup(render(block)),
        "marker": _marker,
        "parts": _parts,
        "percentage": lambda share: f"{100 * share:.2f}%",
        "shortened": shortened,
        "together": _together,
        "words": lambda text: re.split(r"[ \t\r\n]+", text),
    }
    return found


def _parts(text: str) -> list[str]:
    """Split a text into words and code, in turns; percent signs stay beside their numbers.

    >>> _parts("Use `C`.")
    ['Use ', 'C', '.']
    """
    return re.split(r"`([^`]+)`", _together(text))


def _together(text: str) -> str:
    """Join percent signs to their numbers by spaces where no line is broken."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)


def _colour(code: int) -> str:
    """Return the CSS class with the colour of a class.

    >>> _colour(1), _colour(OTHERS)
    ('c1', 'others')
    """
    return "others" if code == OTHERS else f"c{code % len(LIGHT.classes)}"


def _marker(code: int) -> str:
    """Return the marker of a class, in matplotlib's letters."""
    return "s" if code == OTHERS else LIGHT.marker_style(code)["marker"]
