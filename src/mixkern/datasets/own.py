"""A table of your own, as a data set like the others."""

from pathlib import Path

from mixkern.datasets.dataset import Dataset
from mixkern.encoding.cell import text
from mixkern.errors import TableError
from mixkern.imports import optional
from mixkern.io import table_file
from mixkern.wording import nearest

FEWEST = 2  # rows of a class


def read_table(path: str | Path, target: str | None = None) -> Dataset:
    """Read a CSV, or a table in any other file that :func:`mixkern.encoding.table_file` reads, as a data set.

    Columns of numbers are continuous, all others categorical; empty cells are gaps. Rows without a label are left out,
    because nothing could be tested on them.

    Parameters
    ----------
    path : str or Path
        The file, with a line of column names.
    target : str, default=None
        The column that holds the labels; ``None`` is the last one.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import datasets
    >>> iris = datasets.load("iris")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     iris.X.assign(kind=iris.y).to_csv(f"{folder}/flowers.csv", index=False)
    ...     own = datasets.read_table(f"{folder}/flowers.csv", "kind")
    >>> own.name, own.X.shape, own.classes
    ('flowers', (150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    pandas = optional("pandas", purpose="mixkern.datasets")
    path = Path(path)
    frame = table_file(path).frame()  # without row numbers, which say nothing about a row
    if frame.shape[1] < 2:
        raise TableError(f"{path.name} needs a column of labels and at least one other, but has {frame.shape[1]}.")
    target = str(frame.columns[-1]) if target is None else target
    if target not in frame:
        raise TableError(f"{path.name} has no column {target!r}.{nearest(target, map(str, frame.columns))}")
    frame = frame[frame[target].notna()].reset_index(drop=True)
    dates = frame.select_dtypes("datetime")
    frame = frame.assign(**{name: dates[name].map(text) for name in dates})
    y = frame.pop(target)
    counts = y.value_counts()
    if len(counts) < 2:
        raise TableError(f"Column {target!r} must hold at least two classes, but {len(counts)} came.")
    if counts.max() < FEWEST or (pandas.api.types.is_float_dtype(y) and (y % 1 != 0).any()):
        raise TableError(
            f"Column {target!r} holds {len(counts)} different values in {len(y)} rows rather than classes."
        )
    continuous = [str(c) for c in frame if pandas.api.types.is_numeric_dtype(frame[c])]
    categorical = [str(c) for c in frame if str(c) not in continuous]
    return Dataset(
        name=path.stem,
        title=path.stem,
        X=frame.astype({**dict.fromkeys(continuous, "float64"), **dict.fromkeys(categorical, "category")}),
        y=y,
        continuous=tuple(continuous),
        categorical=tuple(categorical),
        description=f"A table of your own: {path.name}.",
        creators="",
        source=path.name,
        licence="",
    )
