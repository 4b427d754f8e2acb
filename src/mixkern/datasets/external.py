"""Data sets from outside the package: table files, and OpenML."""

from pathlib import Path
from typing import Any
from urllib.error import URLError

from mixkern.datasets.dataset import Dataset
from mixkern.encoding.cell import text
from mixkern.errors import DownloadError, NoTargetError, TableError, hint
from mixkern.imports import optional
from mixkern.io import table_file
from mixkern.wording import nearest

OPENML = "openml:"  # prefix of a name
FEWEST = 2  # rows of the largest class


def read_table(path: str | Path, target: str | None = None) -> Dataset:
    """Read a CSV, or any other file that :func:`mixkern.io.table_file` reads, as a data set.

    Columns of numbers are continuous, all others categorical; empty cells are gaps. Rows without a label are left out:
    a data set is for tests, and a prediction for such a row cannot be tested.

    Parameters
    ----------
    path : str or Path
        The file, with a header line of column names.
    target : str, default=None
        Column of labels; ``None`` is the last one.

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
    ...     flowers = datasets.read_table(f"{folder}/flowers.csv", "kind")
    >>> flowers.name, flowers.X.shape, flowers.classes
    ('flowers', (150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    pandas = optional("pandas", purpose="mixkern.datasets")
    path = Path(path)
    frame = table_file(path).frame()
    if frame.shape[1] < 2:
        raise TableError(f"{path.name} needs a column of labels and at least one other, but has {frame.shape[1]}.")
    target = str(frame.columns[-1]) if target is None else target
    if target not in frame:
        raise TableError(f"{path.name} has no column {target!r}.{nearest(target, map(str, frame.columns))}")
    frame = frame[frame[target].notna()].reset_index(drop=True)
    dates = frame.select_dtypes("datetime")
    frame = frame.assign(**{name: dates[name].map(text) for name in dates})
    y = frame.pop(target)
    _check_classes(y, is_fraction=pandas.api.types.is_float_dtype(y) and (y % 1 != 0).any())
    continuous = [str(c) for c in frame if pandas.api.types.is_numeric_dtype(frame[c])]
    return Dataset.from_frame(
        frame,
        y,
        continuous,
        name=path.stem,
        title=path.stem,
        description=f"The table {path.name}.",
        creators="",
        source=path.name,
        licence="",
    )


def _check_classes(y: Any, *, is_fraction: bool) -> None:
    """Raise an error where a column holds fewer than two classes, or measurements."""
    counts = y.value_counts()
    if len(counts) < 2:
        raise TableError(f"Column {y.name!r} must hold at least two classes, but it holds {len(counts)}.")
    if counts.max() < FEWEST or is_fraction:
        raise TableError(
            f"Column {y.name!r} holds {len(counts)} different values in {len(y)} rows rather than classes."
        )


def load_openml(name: str, data_home: str | None = None) -> Dataset:
    """Download a data set from OpenML; scikit-learn keeps a copy, so that the second time needs no network.

    Parameters
    ----------
    name : str
        ``"openml:61"`` or ``"openml:iris"``. A name stands for its oldest active version; a number is exact.
    data_home : str, default=None
        Folder of the copies; by default scikit-learn's own.
    """
    from sklearn.datasets import fetch_openml

    optional("pandas", purpose="mixkern.datasets")
    key = name.removeprefix(OPENML).strip()
    if not key:
        raise DownloadError("'openml:' is followed by a number or a name, as in 'openml:61' or 'openml:iris'.")
    which: dict[str, Any] = {"data_id": int(key)} if key.isdigit() else {"name": key}
    try:
        bunch = fetch_openml(**which, as_frame=True, parser="liac-arff", data_home=data_home)
    except (URLError, TimeoutError) as error:
        offline = hint(
            python="The data sets of mixkern.datasets.names() need none.",
            cli="The data sets that mixkern datasets lists need none.",
        )
        raise DownloadError(
            f"OpenML could not be reached for {name!r} ({error}). Check the network.", hint=offline
        ) from error
    except ValueError as error:  # an unknown name, or a table that scikit-learn cannot read
        raise DownloadError(f"OpenML has no table for {name!r}: {error}") from error
    return _openml_dataset(name, bunch)


def _openml_dataset(name: str, bunch: Any) -> Dataset:
    if bunch.target is None or getattr(bunch.target, "ndim", 1) != 1:
        raise NoTargetError(
            f"{name!r} does not define a single column of labels.",
            hint=hint(python="Choose one: sklearn.datasets.fetch_openml(..., target_column=...)."),
        )
    details = bunch.details
    return Dataset.from_frame(
        bunch.data,
        bunch.target.rename("class"),
        [c for c in bunch.data.columns if bunch.data[c].dtype.kind in "iuf"],
        name=name,
        title=str(details["name"]),
        description=str(bunch.DESCR),
        creators=str(details.get("creator", "not stated")),
        source=f"OpenML data set {details['id']}, version {details['version']}",
        licence=str(details.get("licence", "not stated")),
    )
