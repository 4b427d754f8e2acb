"""Tables in many Parquet files: read as partitions, and written with predictions, whole or not at all."""

import glob
import json
import shutil
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

from mixkern.distributed.scheduling import results
from mixkern.encoding import ASSESSED, PREFIX
from mixkern.encoding.cell import text as cell_text
from mixkern.errors import OptionError, TableFileError, hint
from mixkern.imports import optional, pa
from mixkern.whole_file import whole_file, write_whole
from mixkern.wording import listing

MOST_BYTES = 2**26  # of the row groups in a partition, decompressed
MANIFEST = "mixkern.json"  # in an unfinished folder: what is written there
UNFINISHED = ".unfinished"  # ending of such a folder
LABELS = ASSESSED[0]  # column of predicted labels
LABEL = b"mixkern_label_column"  # metadata of a written file: the name that this column has there


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a Parquet file: a partition."""

    path: str
    groups: tuple[int, ...]
    n_rows: int


@dataclass(frozen=True)
class ParquetTable:
    """A table in Parquet files that have the same columns.

    Attributes
    ----------
    parts : tuple of ParquetPart
        The partitions, in the order of the files' names.
    schema : pyarrow.Schema
        Names and types of the columns.
    """

    parts: tuple[ParquetPart, ...]
    schema: Any

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    def __len__(self) -> int:
        return sum(part.n_rows for part in self.parts)

    def collection(
        self, columns: Sequence[str] | None = None, *, text: Collection[str] = (), gaps: Collection[str] = ()
    ) -> Any:
        """Return the table as a Dask DataFrame.

        Parameters
        ----------
        columns : sequence of str, default=None
            The columns to read; ``None`` is all.
        text : collection of str
            Columns that are read as texts, such as labels.
        gaps : collection of str
            Texts that mark a gap in these columns.
        """
        read = ParquetReader(tuple(self.names if columns is None else columns), tuple(text), tuple(gaps))
        dd = optional("dask.dataframe", purpose="A table in partitions")
        return dd.from_map(
            read, self.parts, meta=read.frame(self.schema.empty_table().select(read.columns)), label="mixkern-read"
        )


@dataclass(frozen=True)
class ParquetReader:
    """Reads a partition as a frame of pandas; an error has the name of the file."""

    columns: tuple[str, ...]
    text: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def __call__(self, part: ParquetPart) -> Any:
        """Return the rows of a partition."""
        return self.frame(table_of_part(part, self.columns))

    def frame(self, table: Any) -> Any:
        """Return a table of Arrow as a frame of pandas."""
        pandas = optional("pandas", purpose="A table in partitions")
        for name in self.text:
            cells = [cell_text(cell) for cell in table[name].to_pylist()]
            texts = pa.array([None if cell in self.gaps else cell for cell in cells], pa.string())
            table = table.set_column(table.column_names.index(name), name, texts)
        texts_as = {kind: pandas.StringDtype("pyarrow") for kind in (pa.string(), pa.large_string())}
        return table.to_pandas(types_mapper=texts_as.get, date_as_object=False, ignore_metadata=True)


def table_of_part(part: ParquetPart, columns: Sequence[str] | None = None) -> Any:
    """Return the rows of a partition, or some columns of them, as a table of Arrow."""
    parquet = optional("pyarrow.parquet", purpose="A table in partitions")
    try:
        with parquet.ParquetFile(part.path) as file:
            table = file.read_row_groups(
                list(part.groups), columns=None if columns is None else list(columns), use_threads=False
            )
        return table if columns is None else table.select(list(columns))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(part.path) from error


def parquet_table(pattern: str) -> ParquetTable:
    """Open the Parquet files whose names fit a pattern, or those of a folder.

    Only their footers are read. A file that is damaged, or has other columns than the first one, raises an error with
    its name.

    Parameters
    ----------
    pattern : str
        A path in which ``*`` and ``?`` stand for any text and sign, such as ``events/*.parquet``; or a folder.
    """
    parquet = optional("pyarrow.parquet", purpose="A table in partitions")
    is_folder = Path(pattern).is_dir()
    paths = sorted(glob.glob(f"{glob.escape(pattern)}/*.parquet" if is_folder else pattern))  # noqa: PTH207 -- any path
    if not paths:
        raise TableFileError(f"There is no file {pattern}.")
    first, parts = None, []
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                schema, metadata = file.schema_arrow.remove_metadata(), file.metadata
                sizes = [(metadata.row_group(i).total_byte_size, metadata.row_group(i).num_rows) for i in _groups(file)]
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _damaged(path) from error
        first = schema if first is None else first
        _check_same(first, schema, paths[0], path)
        parts += _parts(path, sizes)
    if not parts:
        raise TableFileError(f"The files {pattern} have no rows.")
    return ParquetTable(tuple(parts), first)


def _groups(file: Any) -> range:
    return range(file.metadata.num_row_groups)


def _parts(path: str, sizes: Sequence[tuple[int, int]]) -> list[ParquetPart]:
    """Put row groups together to partitions that are not too large."""
    found: list[ParquetPart] = []
    groups: list[int] = []
    n_bytes = n_rows = 0
    for i, (size, n) in enumerate(sizes):
        if groups and n_bytes + size > MOST_BYTES:
            found.append(ParquetPart(path, tuple(groups), n_rows))
            groups, n_bytes, n_rows = [], 0, 0
        groups, n_bytes, n_rows = [*groups, i], n_bytes + size, n_rows + n
    return [*found, ParquetPart(path, tuple(groups), n_rows)] if n_rows else found


def _damaged(path: str) -> TableFileError:
    step = "Write it again."
    return TableFileError(f"{path} is not a Parquet file, or damaged.", hint=hint(python=step, cli=step))


def _check_same(first: Any, schema: Any, first_path: str, path: str) -> None:
    if schema.equals(first):
        return
    names = sorted(set(first.names) ^ set(schema.names))
    names = names or [name for name in first.names if first.field(name) != schema.field(name)] or list(first.names)
    raise TableFileError(f"{path} and {first_path} differ in the column or its type: {listing(names)}.")


# ---------------------------------------------------------------- predictions


def write_assessed(
    model: Any,
    table: ParquetTable,
    folder: Path,
    *,
    all_classes: bool = False,
    abstain: float | None = None,
    key: str = "",
) -> dict[str, int]:
    """Write a table with label, probability, component and novelty of each row, a file for each partition.

    The files are written to ``folder.unfinished``, each whole or not at all, and that folder gets its name at the end.
    Where such a folder is there from an earlier call with the same model and table, its files are kept.

    Parameters
    ----------
    model : classifier
        The model.
    table : ParquetTable
        The table.
    folder : Path
        The folder to make. With workers on several computers, it must be on a disk that all of them have.
    all_classes : bool, default=False
        Whether to add the probabilities of all classes.
    abstain : float, default=None
        Probability below which a row gets no label; see :meth:`mixkern.MixtureSVC.assess`.
    key : str, default=""
        What identifies the model, such as the checksum of its file.

    Returns
    -------
    dict of int
        Number of rows of each label; rows without one are not counted.
    """
    if folder.exists():
        raise OptionError(f"{folder} exists already. Remove it, or name another folder.")
    unfinished = folder.with_name(folder.name + UNFINISHED)
    _prepare(unfinished, table, {"model": key, "all_classes": all_classes, "abstain": abstain})
    parts = dict(enumerate(table.parts))
    own = {i: str((unfinished / f"part-{i:05}.parquet").resolve()) for i in parts}
    counts: Counter[str] = Counter()
    for each in results("predict", parts, _write_part, (model, all_classes, abstain), own):
        counts.update(each)
    for stray in (unfinished / MANIFEST, *unfinished.glob(".*")):  # of workers that were killed
        stray.unlink(missing_ok=True)
    unfinished.rename(folder)
    return dict(sorted(counts.items()))


def _prepare(unfinished: Path, table: ParquetTable, settings: dict[str, Any]) -> None:
    """Make the folder of unfinished files; remove one that was begun with another model or table."""
    sizes = {part.path: (Path(part.path).stat().st_size, Path(part.path).stat().st_mtime_ns) for part in table.parts}
    files = [[part.path, list(part.groups), *sizes[part.path]] for part in table.parts]
    manifest = json.dumps({**settings, "files": files})
    known = unfinished / MANIFEST
    if not known.is_file() or known.read_text("utf-8") != manifest:
        if unfinished.exists():
            shutil.rmtree(unfinished)
        unfinished.mkdir(parents=True)
        write_whole(known, manifest)


def _write_part(part: ParquetPart, shared: tuple[Any, bool, float | None], own: str) -> dict[str, int]:
    """Write one partition with its predictions, unless it is written; return the number of rows of each label."""
    parquet = optional("pyarrow.parquet", purpose="A table in partitions")
    model, all_classes, abstain = shared
    path = Path(own)
    if not path.exists():
        cells, known = table_of_part(part), tuple(model.feature_names_in_)
        label = _free_name(LABELS, cells.column_names)
        frame = ParquetReader(known).frame(cells.select(known))
        found = model.assess(frame, all_classes=all_classes, abstain=abstain)
        for name in found.columns:
            column = pa.array(found[name])
            if pa.types.is_null(column.type):  # no row has a label; other partitions have some
                column = column.cast(pa.array(model.classes_.tolist()).type)
            cells = cells.append_column(_free_name(name, cells.column_names), column)
        with whole_file(path) as file:
            parquet.write_table(cells.replace_schema_metadata({LABEL: label.encode()}), file)
        return _counts(cells[label])
    with parquet.ParquetFile(path) as file:
        name = file.schema_arrow.metadata[LABEL].decode()
        return _counts(file.read([name])[name])


def _counts(labels: Any) -> dict[str, int]:
    """Count the labels of a column; rows without one are left out."""
    return Counter(str(label) for label in labels.to_pylist() if label is not None)


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for an added column that no other column has."""
    prefixed = f"{PREFIX}{name}"
    names = chain([name, prefixed], (f"{prefixed}_{i}" for i in count(2)))
    return next(each for each in names if each not in taken)
