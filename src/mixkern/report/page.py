"""A report as one HTML page that needs nothing else: no network, no fonts, no scripts."""

import html
import re
from collections.abc import Sequence

from mixkern.report.block import Block, Bullets, Code, Heading, Paragraph, Picture, Section
from mixkern.report.mark import mark
from mixkern.report.panel import named
from mixkern.report.picture import sources
from mixkern.report.sheet import STYLE

# Names in a table may hold anything; these are letters in no page, and halves of letters cannot be written at all.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

# What a browser is told to refuse, whatever a name in a table may say: scripts, and all that comes from elsewhere.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(chapters: Sequence[Section], title: str) -> str:
    """Write sections as a page with a title and a table of contents.

    >>> "<h1>A &amp; B</h1>" in page([Section("all", "All", (Paragraph("There is nothing."),))], title="A & B")
    True
    """
    contents = "".join(f'<li><a href="#{each.name}">{html.escape(each.title)}</a></li>\n' for each in chapters)
    body = "".join(map(_section, chapters))
    title = html.escape(title)
    written = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="light dark">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n'
        f'<body>\n<nav aria-label="Contents">\n<ol>\n{contents}</ol>\n</nav>\n<main>\n<h1>{title}</h1>\n{body}</main>\n'
        "</body>\n</html>\n"
    )
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", written)


def _section(section: Section) -> str:
    blocks = "".join(map(_block, section.blocks))
    return f'<section id="{section.name}">\n<h2>{html.escape(section.title)}</h2>\n{blocks}</section>\n'


def _block(block: Block) -> str:
    match block:
        case Paragraph(words):
            return f"<p>{_inline(words)}</p>\n"
        case Bullets(texts):
            return f"<ul>{''.join(f'<li>{_inline(each)}</li>' for each in texts)}</ul>\n"
        case Code(lines):
            return f'<pre tabindex="0"><code>{html.escape(lines)}</code></pre>\n'
        case Heading(words):
            return f"<h3>{html.escape(words)}</h3>\n"
        case Picture():
            return _picture(block)
        case _:
            return block.to_html()


def _inline(words: str) -> str:
    together = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", html.escape(words))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", together)


def _picture(picture: Picture) -> str:
    light, *dark = sources(picture)
    title = html.escape(picture.title)
    source = f'<source srcset="{dark[0]}" media="(prefers-color-scheme: dark)">' if dark else ""
    image = f'<picture>{source}<img src="{light}" alt="{title}"></picture>'
    key = "".join(f"<li>{mark(each.look)} {named(each.text)}</li>" for each in picture.key)
    names = f'<ul class="key">{key}</ul>\n' if key else ""
    return (
        f'<figure class="picture{" themed" if dark else ""}">\n{image}\n{names}'
        f"<figcaption><b>{title}.</b> {html.escape(picture.caption)}</figcaption>\n</figure>\n"
    )
