"""Data sets from outside the package: table files, and OpenML."""

from pathlib import Path
from typing import Any
from urllib.error import URLError

from mixkern.datasets.dataset import Dataset
from mixkern.encoding import PreparedTable, prepare_table
from mixkern.encoding.cell import text
from mixkern.encoding.overrides import ColumnNames, column_positions
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import DownloadError, NoTargetError, TableError, TableFileError, hint
from mixkern.imports import optional
from mixkern.io.table import pandas_frame, table_file
from mixkern.validation import as_path

OPENML = "openml:"  # prefix of a name
FEWEST = 2  # rows of the largest class
OTHER_TARGET = hint(python="Name another target.", cli="Name another --target.")


def read_dataset(
    path: str | Path,
    target: str | None = None,
    *,
    drop: ColumnNames = (),
    keep: ColumnNames = (),
    continuous: ColumnNames = (),
    categorical: ColumnNames = (),
    unlabelled: Any = (),
) -> Dataset:
    """Read a CSV, or any other file that :func:`mixkern.io.table_file` reads, as a data set.

    Columns of numbers are continuous, all others categorical; empty cells are gaps. Identifiers, columns with one value
    and earlier predictions are left out, with a warning, by :func:`mixkern.prepare_table`. Rows without a label stay
    in; :meth:`Dataset.labelled` leaves them out.

    Parameters
    ----------
    path : str or Path
        The file, with a header line of column names.
    target : str, default=None
        Column of labels; ``None`` is the last one.
    drop, keep, continuous, categorical : str or list of str, default=()
        Columns to leave out, to keep in any case, and to read as numbers or as categories.
    unlabelled : object or list, default=()
        Labels that mark unlabelled rows, such as ``"?"``, besides empty cells.

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
    ...     flowers = datasets.read_dataset(f"{folder}/flowers.csv", "kind")
    >>> flowers.name, flowers.X.shape, flowers.classes
    ('flowers', (150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    path = as_path(path, TableFileError)
    choices: dict[str, Any] = {"drop": drop, "keep": keep, "continuous": continuous, "categorical": categorical}
    file = table_file(path)
    if len(file.columns) < 2:
        raise TableError(f"{path.name} needs a column of labels and at least one other, but has {len(file.columns)}.")
    target = file.columns[-1] if target is None else target
    column_positions(file.columns, {"target": target, **choices}, table=path.name)  # before the rows are read
    try:
        table = prepare_table(pandas_frame(file.table()), target, **choices, unlabelled=unlabelled, parse_texts=False)
    except TableError as error:
        raise error.prefixed(f"{path.name}: ") from error
    _check_classes(table.y)
    X, numbers = _typed(table)
    return Dataset.from_frame(
        X,
        table.y,
        numbers,
        name=path.stem,
        title=path.stem,
        description=f"The table {path.name}.",
        creators="",
        source=path.name,
        licence="",
    )


def _typed(table: PreparedTable) -> tuple[Any, list[str]]:
    """Return the columns to learn from, with texts in place of dates, and the names of the continuous ones."""
    pandas = optional("pandas", purpose="mixkern.datasets")
    choices: dict[str, Any] = table.encoder.get_params()
    chosen, others = choices["continuous"] or [], choices["categorical"] or []
    X = table.X.assign(**{raw.name: raw.numbers() for raw in (raw_columns(table.X[chosen]) if chosen else [])})
    dates = X.select_dtypes("datetime")
    X = X.assign(**{name: dates[name].map(text) for name in dates})
    types = pandas.api.types
    numbers = [name for name in X if types.is_numeric_dtype(X[name]) and not types.is_bool_dtype(X[name])]
    return X, [str(name) for name in numbers if name not in others]


def _check_classes(y: Any) -> None:
    """Raise an error where a column holds fewer than two classes, or none of them twice."""
    counts = y.value_counts()
    if len(counts) < 2:
        raise TableError(
            f"Column {y.name!r} must hold at least two classes, but it holds {len(counts)}.", hint=OTHER_TARGET
        )
    if counts.max() < FEWEST:
        found = f"{len(counts)} different values in {counts.sum()} labelled rows"
        raise TableError(f"Column {y.name!r} holds {found} rather than classes.", hint=OTHER_TARGET)


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
