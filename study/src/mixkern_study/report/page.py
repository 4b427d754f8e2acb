"""A study as one HTML page."""

from pathlib import Path

from mixkern.io.writer import write_whole
from mixkern.report.page import page
from mixkern_study.report import text
from mixkern_study.report.content import sections
from mixkern_study.store import Store


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
