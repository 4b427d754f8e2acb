"""Read tables in Parquet and Arrow IPC (Feather) files, whose columns have types."""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from mixkern.encoding.cell import Kind
from mixkern.encoding.cell import text as cell_text
from mixkern.encoding.column import CategoricalColumn
from mixkern.encoding.grammar import POINT
from mixkern.encoding.inference import TableColumn
from mixkern.encoding.written import LARGEST
from mixkern.errors import TableFileError
from mixkern.imports import optional, pa, pc
from mixkern.io.blocks import TableFile, no_rows
from mixkern.io.columns import converted, mapped
from mixkern.io.dialect import Dialect
from mixkern.io.source import Progress, TableSource
from mixkern.wording import listing

ROW_NUMBERS = "__index_level_0__"  # name of an index without a name, written by pandas
_NAMES = {"parquet": "a Parquet", "arrow": "an Arrow", "excel": "an Excel"}
N_ROWS = 1 << 16  # read at a time
_WORDS = (Kind.TEXT, Kind.CATEGORY, Kind.BOOLEAN)
# Errors of pyarrow for damaged files, besides its own classes.
_DAMAGES = (OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, UnicodeError)


class ArrowFile(TableFile):
    """A table in a Parquet or Arrow IPC file."""

    def __init__(self, source: TableSource, format: str, gaps: Collection[str] = ()) -> None:  # noqa: A002
        self._source, self._format = source, format
        with self._batches() as (names, _, batches):
            is_empty = not any(batch.num_rows for batch in batches)
        double = [name for name, count in Counter(names).items() if count > 1]
        if double or not set(names) - {ROW_NUMBERS}:
            raise TableFileError(
                f"{source.name} has more than one column called {listing(double)}. Give each its own name."
                if double
                else f"{source.name} has no columns."
            )
        if is_empty:
            raise no_rows(source.name)
        super().__init__(source, Dialect(format), names, gaps, ROW_NUMBERS if ROW_NUMBERS in names else None)

    def _parts(self, on_progress: Progress | None) -> Iterator[Any]:
        n_read = 0
        with self._batches() as (_, n_bytes, batches):
            for batch in batches:
                if batch.num_rows:
                    yield pa.Table.from_batches([batch])
                n_read += batch.get_total_buffer_size()
                if on_progress is not None:
                    on_progress(min(n_read, n_bytes), n_bytes)
        if on_progress is not None:
            on_progress(n_bytes, n_bytes)

    def _index_note(self) -> str:
        if self._numbered != ROW_NUMBERS:
            return super()._index_note()
        return f"{ROW_NUMBERS!r}, the row numbers or names of pandas, was not learned from."

    def _labels(self, name: str, cells: Any) -> Any:  # noqa: ARG002
        return mapped(cells, lambda cell: cell_text(cell) or None, pa.string())

    def _inferred(self, name: str, cells: Any) -> Any:  # noqa: ARG002
        cells = self._without_gaps(cells)
        if not pa.types.is_integer(cells.type) or not cells.null_count:
            return cells
        extremes = pc.min_max(cells).as_py().values()
        is_exact = all(abs(extreme) < LARGEST for extreme in extremes if extreme is not None)
        return cells.cast(pa.float64()) if is_exact else cells

    def _converted(self, name: str, cells: Any, column: TableColumn, start: int) -> Any:
        is_text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
        if not is_text or (isinstance(column, CategoricalColumn) and column.kind in _WORDS):
            return self._inferred(name, cells)
        sign = self.dialect.decimals.get(name, POINT)
        try:
            return converted(name, self._without_gaps(cells).cast(pa.string()), column, sign, lambda _: None)
        except TableFileError as error:
            raise error.below(start).prefixed(f"{self.name}: ") from error

    def _without_gaps(self, cells: Any) -> Any:
        """Empty the cells with a text that was named as a gap."""
        if not self._gaps:
            return cells
        return mapped(cells, lambda cell: None if cell_text(cell) in self._gaps else cell, cells.type)

    def _typed(self, *arguments: Any) -> Any:
        with self._guarded():
            return super()._typed(*arguments)

    @contextmanager
    def _batches(self) -> Iterator[tuple[list[str], int, Iterator[Any]]]:
        """Open the file: column names, size in bytes, batches of rows."""
        with self._guarded(), self._source.seekable() as raw:
            if self._format == "parquet":
                with optional("pyarrow.parquet", purpose="A table in a file").ParquetFile(raw) as file:
                    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
                    n_bytes = sum(group.total_byte_size for group in groups)
                    yield list(file.schema_arrow.names), n_bytes, file.iter_batches(batch_size=N_ROWS)
            else:
                file = pa.ipc.open_file(raw)
                yield list(file.schema.names), raw.seek(0, 2), _checked_batches(file)

    def _guarded(self) -> Any:
        """Convert errors of pyarrow to a TableFileError."""
        what = f"is not {_NAMES[self._format]} file, or damaged"
        return self._source.guarded((pa.ArrowException, *_DAMAGES), what, "Write it again")


def _checked_batches(file: Any) -> Iterator[Any]:
    """Yield the batches of an Arrow file, whose buffers may be damaged: reading them unchecked could crash."""
    for i in range(file.num_record_batches):
        batch = file.get_batch(i)
        batch.validate(full=True)
        yield batch
