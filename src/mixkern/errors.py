"""Errors and warnings, one class per cause; each message has a hint for Python and one for the command line.

All errors derive from :class:`MixkernError` and, except :class:`DatasetError`, from the built-in error that fits. All
warnings derive from :class:`MixkernWarning`; ``NotConvergedWarning`` is defined in ``mixkern.fitting``.
"""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

Surface = Literal["python", "cli"]
LIBRARIES = ("mixkern", "mixkern_study", "sklearn", "joblib")  # warnings do not point to lines in these


@dataclass(frozen=True)
class Hint:
    """The next step after an error or a warning, in Python and on the command line. Made by :func:`hint`."""

    python: str = ""
    cli: str = ""


def hint(*, python: str = "", cli: str = "") -> Hint:
    """Return the next step for Python and for the command line; empty where there is none.

    >>> print(TableError("Column 'age' holds text.", hint=hint(python="Drop it: X.drop(columns='age').")))
    Column 'age' holds text. Drop it: X.drop(columns='age').
    """
    return Hint(python, cli)


class Message(Exception):  # noqa: N818 -- the base of warnings, too
    """Base of all errors and warnings: one text, with a hint for Python and one for the command line.

    Parameters
    ----------
    text : str
        What was expected and what was found. ``{row}`` is replaced by the number of the row.
    hint : Hint, default=None
        What to do next; it follows the text.
    row : int, default=None
        Position of the row that the text is about, from 0. The message counts from 1.

    Examples
    --------
    >>> print(TableError("Column 'age' holds 'old' in {row}.", row=3))
    Column 'age' holds 'old' in row 4 (counted from 1).
    """

    def __init__(self, text: str = "", *, hint: Hint | None = None, row: int | None = None) -> None:
        super().__init__(text)
        self.hint = hint or Hint()
        self.row = row

    @property
    def text(self) -> str:
        """The text, without a hint."""
        text = str(self.args[0])
        return text if self.row is None else text.replace("{row}", f"row {self.row + 1} (counted from 1)")

    def on(self, surface: Surface) -> str:
        """Return the text, followed by the hint for Python or for the command line."""
        text, step = self.text, getattr(self.hint, surface)
        separator = "" if not step or step.startswith("\n") else " "
        return f"{text}{separator}{step}"

    def below(self, n_rows: int) -> Self:
        """Return the message with its row moved down by ``n_rows``: its number in a table with that many rows above."""
        return type(self)(self.args[0], hint=self.hint, row=None if self.row is None else self.row + n_rows)

    def prefixed(self, start: str) -> Self:
        """Return the message with a text before it.

        >>> print(TableError("it is empty.").prefixed("people.csv: "))
        people.csv: it is empty.
        """
        return type(self)(f"{start}{self.args[0]}", hint=self.hint, row=self.row)

    def __str__(self) -> str:
        return self.on("python")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args[0], self.hint, self.row)


def _rebuild(category: Any, text: str, hint: Hint, row: int | None) -> Any:
    """Restore a pickled message."""
    return category(text, hint=hint, row=row)


class MixkernError(Message):
    """Base of all errors that mixkern raises on purpose."""


class TableError(MixkernError, ValueError):
    """A table that cannot be encoded."""


class NotATableError(TableError):
    """Something that is not a table in memory: not two-dimensional, sparse, lazy or ragged."""


class EmptyTableError(TableError):
    """A table without rows or without columns."""


class PartitionError(TableError):
    """A pass over the partitions of a table that has failed: a partition that cannot be read, or lost workers."""


class ColumnNameError(TableError):
    """Column names that are not unique, or not text."""


class UnknownColumnError(TableError):
    """A column that was named is not in the table."""


class ColumnMismatchError(TableError):
    """A table whose columns are not those at fit time."""


class NotNumericError(TableError):
    """Text in a column of numbers."""


class NotEncodedError(NotNumericError, TypeError):
    """Texts, dates or other objects in a table that must be encoded already."""


class InfiniteValueError(TableError):
    """Infinite numbers in a column."""


class TooLargeError(TableError):
    """Finite numbers that overflow when they are z-scored."""


class CellTypeError(TableError):
    """Cells that are neither number, text, boolean, category nor date."""


class TableFileError(TableError):
    """A file that cannot be read as a table: missing, damaged, ragged, in another encoding."""


class LabelError(MixkernError, ValueError):
    """Labels that cannot be learned from."""


class LengthError(LabelError):
    """An argument with one value for each row is of another length than the table."""


class NoLabelsError(LabelError):
    """Every row is unlabelled."""


class OneClassError(LabelError):
    """Every labelled row has the same label."""


class AmbiguousLabelError(LabelError):
    """A text that could be a label or mark an unlabelled row: "-1", "None" or an empty text."""


class LabelTypeError(LabelError):
    """Labels of mixed, continuous or unsupported type."""


class MixtureError(MixkernError, ValueError):
    """Invalid parameters of a density, or rows that do not fit it."""


class KernelError(MixkernError, ValueError):
    """Invalid rows, parameters or matrices of a kernel."""


class NotBoundError(KernelError):
    """A kernel without its mixture, or without the rows of its graph."""


class EngineError(KernelError):
    """Arrays or numbers that the engine cannot compute with."""


class EngineTypeError(EngineError, TypeError):
    """Arguments of another type than the engine takes."""


class ModelFileError(MixkernError, ValueError):
    """A file that is not a model, is damaged, comes from a newer version, or holds types that are not trusted."""


class ExportError(MixkernError, ValueError):
    """A model that cannot be written in another format: it has a part that the format cannot express."""


class JournalError(MixkernError, ValueError):
    """A file that is no journal of labels, or an answer that it cannot record."""


class OptionError(MixkernError, ValueError):
    """A parameter has a value that is not allowed."""


class ArgumentError(OptionError, TypeError):
    """A method was called with an argument that it does not take, or without one that it needs."""


class DatasetError(MixkernError):
    """A data set that cannot be loaded."""


class UnknownDatasetError(DatasetError, ValueError):
    """No data set has this name."""


class DamagedDatasetError(DatasetError, OSError):
    """A packaged file fails its checksum."""


class DownloadError(DatasetError, OSError):
    """OpenML cannot be reached, or has no such data set."""


class NoTargetError(DatasetError, ValueError):
    """A data set without a column of labels."""


class MissingExtraError(MixkernError, ImportError):
    """An optional library is not installed."""


class MixkernWarning(Message, UserWarning):
    """Base of all warnings that mixkern issues."""


class ColumnChoiceWarning(MixkernWarning):
    """A column could be read in two ways; the message names the one that was chosen."""


class UnusedColumnWarning(MixkernWarning):
    """Columns of a table were left out, because they cannot help to predict a label."""


class FileFormatWarning(MixkernWarning):
    """A file, or a column of it, could be read in two ways; see ``TableFile.notes``."""


class ColumnNamesWarning(MixkernWarning):
    """Column names could not be compared with those in fit, because one of the tables has none."""


class UnseenCategoryWarning(MixkernWarning):
    """Categories that were absent at fit time were encoded as "other"."""


class IgnoredValuesWarning(MixkernWarning):
    """Values in a column that was empty at fit time were read as gaps."""


class DensityChoiceWarning(MixkernWarning):
    """The kind of density was chosen by the shape of the table."""


class DrawnRowsWarning(MixkernWarning):
    """There are more rows than an estimator can use, and a subsample was drawn."""


class PresetGammaWarning(MixkernWarning):
    """A kernel object with the preset gamma is nearly zero between most rows of the table."""


class DeviceWarning(MixkernWarning):
    """No GPU can be used, or not for a computation; the CPU does the work."""


class InterruptedWarning(MixkernWarning):
    """Stopped by Ctrl-C or a callback; the result so far is used."""


def warn(text: str, category: type[Warning], *, hint: Hint | None = None) -> None:
    """Issue a warning that points to the user's line, even from deep inside a pipeline; see :func:`issue`."""
    issue(category(text, hint=hint) if issubclass(category, MixkernWarning) else category(text))


def issue(message: Warning) -> None:
    """Issue a warning that points to the user's line.

    The line is the first one on the stack outside of mixkern, scikit-learn and joblib. A worker process (``n_jobs``
    above 1) has no such line: there, the warning points to where the worker was started.
    """
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


@contextmanager
def ignored_warnings(category: type[Warning]) -> Iterator[None]:
    """Ignore warnings of a category, also where several threads do so at the same time.

    ``warnings.catch_warnings`` restores the filters that it found: of two threads, the one that ends last may restore
    those of the other, which then stay.

    >>> with ignored_warnings(UserWarning):
    ...     warnings.warn("not shown")
    """
    filters: Any = warnings.filters
    entry = ("ignore", None, category, None, 0)
    filters.insert(0, entry)
    try:
        yield
    finally:
        filters.remove(entry)
