"""The report as one HTML file, or as MyST Markdown pages with pictures and every table as a file."""

from collections.abc import Iterator
from pathlib import Path

from mixkern.report.blocks import Block, Bullets, Code, Heading, Paragraph, Section
from mixkern.report.page import page
from mixkern.report.pictures import Picture, png_of
from mixkern.report.table import TextTable, markdown_escaped
from mixkern.whole_file import write_whole
from mixkern_study.report import text
from mixkern_study.report.content import sections
from mixkern_study.result_table import to_csv, to_latex
from mixkern_study.store import Store

FRONT = "index"  # section of the first page


def write_report(store: Store, path: str | Path, *, figures: bool = True) -> Path:
    """Write all tables and figures of a study as one HTML page.

    Parameters
    ----------
    store : Store
        Results, as far as there are any.
    path : str or Path
        The file; an older one is replaced once the new one is whole.
    figures : bool, default=True
        Whether pictures are drawn, which takes a minute and needs matplotlib.

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern_study import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/paper.sqlite")
    ...     write_report(store, f"{folder}/paper.html", figures=False).name
    'paper.html'
    """
    return write_whole(Path(path), page(sections(store, figures=figures), title=text.TITLE))


def write_pages(store: Store, folder: str | Path, *, figures: bool = True) -> list[Path]:
    """Write all tables and figures of a study as Markdown pages for Sphinx with MyST.

    Parameters
    ----------
    store : Store
        Results, as far as there are any.
    folder : str or Path
        Where ``index.md`` and the other pages go, pictures to ``images/``, tables as CSV and LaTeX to ``tables/``.
        Files of the same names are replaced; others stay.
    figures : bool, default=True
        Whether pictures are drawn, which takes a minute and needs matplotlib.

    Returns
    -------
    list of Path
        Of all files.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern_study import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/paper.sqlite")
    ...     [path.name for path in write_pages(store, f"{folder}/pages", figures=False)[:2]]
    ['index.md', 'protocol.md']
    """
    folder = Path(folder)
    chapters = sections(store, figures=figures)
    front = [each for each in chapters if each.name == FRONT]
    others = [each for each in chapters if each.name != FRONT]
    contents = "\n".join(each.name for each in others)
    toctree = f"```{{toctree}}\n:maxdepth: 1\n:caption: The paper's experiments\n\n{contents}\n```\n"
    first = "\n".join(_section(each, level=2) for each in front)
    written = [write_whole(folder / "index.md", f"# {text.TITLE}\n\n{first}\n{toctree}")]
    written += [write_whole(folder / f"{each.name}.md", _section(each, level=1)) for each in others]
    for each in chapters:
        for block in each.blocks:
            written += [write_whole(folder / name, content) for name, content in _files(block)]
    return written


def _section(section: Section, level: int) -> str:
    blocks = (_block(block, level) for block in section.blocks)
    return "\n".join([f"{'#' * level} {section.title}\n", *blocks])


def _block(block: Block, level: int) -> str:
    match block:
        case Paragraph(words):
            return f"{words}\n"
        case Bullets(texts):
            return "".join(f"* {each}\n" for each in texts)
        case Code(lines):
            return f"```python\n{lines}```\n"
        case Heading(words):
            return f"{'#' * (level + 1)} {words}\n"
        case Picture(name=name, title=title, caption=caption):
            title = markdown_escaped(title)
            return f"![{title}](images/{name}.png)\n\n**{title}.** {markdown_escaped(caption)}\n"
        case TextTable(name=name):
            return f"{block.to_markdown()}\nAs a file: [CSV](tables/{name}.csv), [LaTeX](tables/{name}.tex).\n"
        case _:
            raise TypeError(f"A {type(block).__name__} cannot be written as Markdown.")


def _files(block: Block) -> Iterator[tuple[str, str | bytes]]:
    """Yield the path and content of each file that a block needs beside the pages."""
    if isinstance(block, Picture):
        yield f"images/{block.name}.png", png_of(block)
    elif isinstance(block, TextTable):
        yield f"tables/{block.name}.csv", to_csv(block)
        yield f"tables/{block.name}.tex", to_latex(block)
