"""The report of a model as one HTML page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mixkern.errors import OptionError
from mixkern.estimators.setting import COUNT
from mixkern.io.atomic import write_whole
from mixkern.report.model.content import sections
from mixkern.report.model.fact import ModelFacts
from mixkern.report.page import page


def write_model_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | Path,
    *,
    target: str = "label",
    title: str | None = None,
    n_suggestions: int = 10,
    figures: bool = True,
    facts: Mapping[str, Any] | None = None,
) -> Path:
    """Write what a model has learned of a table as one HTML page, which needs nothing else.

    Parameters
    ----------
    model : MixtureSVC or LaplacianSVC
        A fitted one.
    X : frame or array-like of shape (n, n_columns)
        The table that it belongs to.
    y : array-like of shape (n,)
        Its labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    path : str or Path
        The file; an older one is replaced once the new one is whole.
    target : str, default="label"
        What is predicted: the name of the column of labels.
    title : str, default=None
        What stands above; by default made of the target's name.
    n_suggestions : int, default=10
        How many rows to suggest for labels; fewer where fewer have none.
    figures : bool, default=True
        Whether pictures are drawn, which needs matplotlib.
    facts : dict, default=None
        Further lines for settings and versions, such as the name of a file.

    Returns
    -------
    Path
        Of the file.

    Notes
    -----
    Counts are those of all rows, however many; pictures show at most 4,000 rows and all labelled ones. Cards are
    written for the 18 largest components. Nothing in the table can become code: names and cells are texts of the page.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import MixtureSVC, datasets
    >>> from mixkern.report import write_model_report
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(per_class=8, random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model_report(model, iris.X, y, f"{folder}/iris.html", target="species", figures=False).name
    'iris.html'
    """
    if not (n_suggestions == 0 or COUNT[1](n_suggestions)):
        raise OptionError(f"n_suggestions must be a whole number, 0 or more, but it is {n_suggestions!r}.")
    known = ModelFacts.of(model, X, y, target)
    chapters = sections(known, n_suggestions=n_suggestions, figures=figures, more=facts or {})
    return write_whole(Path(path), page(chapters, title=title or f"Predicting {target}"))
