"""A table in a file: its names at once, its rows when they are asked for."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from mixkern.encoding.column import Column
from mixkern.errors import FileFormatWarning, OptionError, TableFileError
from mixkern.imports import optional
from mixkern.io.source import Progress

N_ROWS = 50_000  # of a block


class TableFile(ABC):
    r"""A table in a file, opened by :func:`mixkern.encoding.table_file`.

    Attributes
    ----------
    name : str
        What messages call the file.
    columns : tuple of str
        The names of the columns, in the file's order.
    notes : tuple of FileFormatWarning
        Signs, encodings and columns that could have been read in another way. Some are found only while rows are read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mixkern.encoding import TableEncoder
    >>> from mixkern.io import table_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;town;churn\n20,5;Kassel;no\n40,5;Passau;\n;Kassel;yes\n")
    ...     file = table_file(path)
    ...     frame = file.frame(text=["churn"])
    ...     encoder = TableEncoder().fit(frame[["age", "town"]])
    ...     kinds = {column.name: column for column in encoder.columns_}
    ...     blocks = [block for block in file.blocks(kinds, n_rows=2, text=["churn"])]
    >>> file.columns, file.line_of(2)
    (('age', 'town', 'churn'), 4)
    >>> frame
        age    town churn
    0  20.5  Kassel    no
    1  40.5  Passau  None
    2   NaN  Kassel   yes
    >>> [len(block) for block in blocks]
    [2, 1]
    """

    def __init__(self, name: str, columns: tuple[str, ...], notes: tuple[FileFormatWarning, ...] = ()) -> None:
        self.name = name
        self.columns = columns
        self._notes = list(notes)

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """What could have been read in another way."""
        return tuple(self._notes)

    @property
    def decimals(self) -> dict[str, str]:
        """The sign before decimals in each column, where numbers are spelled; empty where they are stored."""
        return {}

    @abstractmethod
    def frame(
        self,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        kinds: Mapping[str, Column] | None = None,
    ) -> Any:
        """Read all rows.

        Parameters
        ----------
        text : collection of str, default=()
            Columns whose cells stay texts, ``None`` where they are empty: labels.
        on_progress : callable, default=None
            Called with the number of bytes read and the number in all, which is ``None`` for a pipe.
        kinds : mapping from str to Column, default=None
            What columns are, as in :meth:`blocks`; without it, each column gets the narrowest type that fits its cells.

        Returns
        -------
        pandas.DataFrame
            With the columns ``columns`` and rows that count from 0.
        """

    @abstractmethod
    def blocks(
        self,
        kinds: Mapping[str, Column],
        n_rows: int = N_ROWS,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        with_texts: bool = False,
    ) -> Iterator[Any]:
        """Read rows block by block, never holding all of them.

        What comes of a row does not depend on the others in its block: ``kinds`` says what each column is.

        Parameters
        ----------
        kinds : mapping from str to ContinuousColumn or CategoricalColumn
            From a column's name to what an encoder has learned of it (``TableEncoder.columns_``). Columns that it does
            not name stay texts.
        n_rows : int, default=50_000
            Rows of a block; the last may have fewer.
        text : collection of str, default=()
            Columns that stay texts, even if ``kinds`` has them.
        on_progress : callable, default=None
            Called with the number of bytes read and the number in all, which is ``None`` for a pipe.
        with_texts : bool, default=False
            Whether to give each block twice: converted, and with all cells as the file has them, to be written again.

        Yields
        ------
        pandas.DataFrame, or two of them
            With an index that counts on from block to block.
        """

    def line_of(self, row: int) -> int | None:  # noqa: ARG002
        """Give the line in the file at which a row begins, ``None`` where there are no lines or it was not read yet."""
        return None

    def _note(self, note: FileFormatWarning) -> None:
        """Add a note, once."""
        if str(note) not in map(str, self._notes):
            self._notes.append(note)


def pandas() -> Any:
    """Give pandas, which frames are made of."""
    return optional("pandas", purpose="Reading a table from a file")


def frame_of(cells: Mapping[str, Any], start: int, n_rows: int) -> Any:
    """Make a frame whose rows count from ``start``, each column in the type that it came in."""
    index = pandas().RangeIndex(start, start + n_rows)
    # A series for each, because pandas makes another kind of text, without None, of plain arrays of objects.
    series = {name: pandas().Series(values, index=index, dtype=values.dtype) for name, values in cells.items()}
    return pandas().DataFrame(series)


def checked_rows(n_rows: int) -> int:
    """Refuse blocks without rows."""
    if n_rows < 1:
        raise OptionError(f"A block must have at least 1 row, but n_rows is {n_rows}.")
    return n_rows


def no_rows(name: str) -> TableFileError:
    """Say that a file has names of columns, and nothing else."""
    return TableFileError(f"{name} has a line of column names, but no rows. Expected a line for each row.")
