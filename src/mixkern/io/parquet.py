"""Read tables in Parquet files, block by block."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from mixkern.encoding.cell import text as cell_text
from mixkern.encoding.column import CategoricalColumn, Column
from mixkern.encoding.frame import Kind
from mixkern.encoding.grammar import POINT
from mixkern.errors import FileFormatWarning, MixkernError, TableFileError
from mixkern.imports import optional
from mixkern.io.parsing import LARGEST, converted, objects
from mixkern.io.source import Progress, TableSource
from mixkern.io.table_file import N_ROWS, TableFile, checked_rows, frame_of, no_rows
from mixkern.wording import listing

_ROW_NUMBERS = "__index_level_0__"  # name of an index without a name, written by pandas
_WORDS = (Kind.TEXT, Kind.CATEGORY, Kind.BOOLEAN)
# Errors of pyarrow for damaged files, besides its own classes.
_DAMAGES = (OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, UnicodeError)


class ParquetTable(TableFile):
    """A table in a Parquet file, whose columns have types."""

    def __init__(self, source: TableSource, gaps: Collection[str] = ()) -> None:
        self._source = source
        self._gaps = frozenset(gaps)
        with self._opened() as file:
            names = list(file.schema_arrow.names)
            self._n_rows = file.metadata.num_rows
        kept = tuple(name for name in names if name != _ROW_NUMBERS)
        super().__init__(source.name, kept)
        double = [name for name in dict.fromkeys(kept) if kept.count(name) > 1] if len(set(kept)) < len(kept) else []
        if double or not kept:
            raise TableFileError(
                f"{source.name} has more than one column called {listing(double)}. Give each its own name."
                if double
                else f"{source.name} has no columns."
            )
        if not self._n_rows:
            raise no_rows(source.name)
        if len(kept) < len(names):
            self._note(FileFormatWarning("A column without a name was taken for row numbers, and left out."))

    def frame(
        self,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        kinds: Mapping[str, Column] | None = None,
    ) -> Any:
        """Read all rows; see :meth:`TableFile.frame`."""
        return next(iter(self.blocks(kinds or {}, self._n_rows, text, on_progress)))

    def blocks(
        self,
        kinds: Mapping[str, Column],
        n_rows: int = N_ROWS,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        with_texts: bool = False,
    ) -> Iterator[Any]:
        """Read rows block by block; see :meth:`TableFile.blocks`."""
        start = 0
        with self._opened() as file:
            n_bytes = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
            for table in _tables(file, list(self.columns), checked_rows(n_rows)):
                whole = {
                    name: table[name] if name in text else self._without_gaps(table[name]) for name in self.columns
                }
                try:
                    cells = {name: self._cells(name, whole[name], kinds.get(name), name in text) for name in whole}
                except TableFileError as error:
                    raise error.below(start).prefixed(f"{self.name}: ") from error
                block = frame_of(cells, start, table.num_rows)
                if with_texts:
                    as_they_are = {name: self._cells(name, table[name], None, is_text=False) for name in self.columns}
                    block = block, frame_of(as_they_are, start, table.num_rows)
                start += table.num_rows
                if on_progress is not None:
                    on_progress(n_bytes * start // self._n_rows, n_bytes)
                yield block

    def _without_gaps(self, cells: Any) -> Any:
        """Empty the cells with a text that the user has named as a gap."""
        found = cells.to_pylist() if self._gaps else []
        if not any(cell_text(cell) in self._gaps for cell in found):
            return cells
        arrow = optional("pyarrow", purpose="Parquet")
        kept = [None if cell_text(cell) in self._gaps else cell for cell in found]
        return arrow.chunked_array([arrow.array(kept, type=cells.type)])

    def _cells(self, name: str, cells: Any, column: Column | None, is_text: bool) -> Any:
        """Return an Arrow column as an array of NumPy or pandas, in the type of a fitted column."""
        if is_text:
            return objects([cell_text(cell) or None for cell in cells.to_pylist()])
        types = optional("pyarrow", purpose="Parquet").types
        kind = cells.type
        if types.is_string(kind) or types.is_large_string(kind):
            words = cells.to_pylist()
            if column is None or (isinstance(column, CategoricalColumn) and column.kind in _WORDS):
                return objects(words)
            return converted(name, [word or "" for word in words], column, POINT, lambda _: None)
        if types.is_integer(kind) and cells.null_count:
            whole = cells.to_pylist()
            is_exact = all(abs(cell) < LARGEST for cell in whole if cell is not None)
            return np.array([np.nan if c is None else c for c in whole]) if is_exact else objects(whole)
        return cells.to_pandas().array

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open the file; errors of pyarrow become a TableFileError."""
        parquet = optional("pyarrow.parquet", purpose="Parquet")
        arrow = optional("pyarrow", purpose="Parquet")
        try:
            with self._source.seekable() as raw, parquet.ParquetFile(raw) as file:
                yield file
        except MixkernError:
            raise
        except (arrow.ArrowException, *_DAMAGES) as error:
            message = (str(error) or type(error).__name__).splitlines()[0]
            raise TableFileError(
                f"{self._source.name} is not a Parquet file, or damaged: {message.rstrip('.')}. Write it again."
            ) from error


def _tables(file: Any, names: list[str], n_rows: int) -> Iterator[Any]:
    """Yield tables of ``n_rows`` rows each, whatever the row groups of the file are."""
    table_of = optional("pyarrow", purpose="Parquet").Table.from_batches
    pending: list[Any] = []
    n_pending = 0
    for batch in file.iter_batches(batch_size=min(n_rows, N_ROWS), columns=names):
        pending.append(batch)
        n_pending += batch.num_rows
        while n_pending >= n_rows:
            table = table_of(pending)
            yield table.slice(0, n_rows)
            rest = table.slice(n_rows)
            pending, n_pending = rest.to_batches(), rest.num_rows
    if n_pending:
        yield table_of(pending)
