"""The error tree, one class per cause; a message, and a hint for each surface.

::

    MixkernError
    ├── TableError (ValueError)            a table that cannot be encoded
    │   ├── NotATableError                 not two-dimensional, sparse, lazy, ragged
    │   ├── EmptyTableError                no rows or no columns
    │   ├── ColumnNameError                duplicate names, names that are not text
    │   ├── UnknownColumnError             an override names a column that is not there
    │   ├── ColumnMismatchError            not the columns that the encoder was fitted on
    │   ├── NotNumericError                text in a column of numbers
    │   ├── InfiniteValueError             infinite numbers
    │   ├── TooLargeError                  finite, but too large to be z-scored
    │   ├── CellTypeError                  cells that are neither number, text, boolean nor date
    │   └── TableFileError                 a file that cannot be read as a table
    ├── LabelError (ValueError)            labels that cannot be learned from
    │   ├── NoLabelsError                  every row is unlabelled
    │   ├── OneClassError                  every labelled row has the same label
    │   ├── AmbiguousLabelError            the text "-1", "None" or "": a label, or none?
    │   └── LabelTypeError                 mixed, continuous or unsupported labels
    ├── MixtureError (ValueError)          a density that cannot be, settings that make none, rows that do not fit it
    ├── KernelError (ValueError)           rows or matrices that a kernel cannot take
    │   └── NotBoundError                  a kernel that has no mixture, or no rows, yet
    ├── ModelFileError (ValueError)        a file that is no model, damaged, too new, or not to be trusted
    ├── StudyError (ValueError)            results that cannot be compared, or a store that is not one
    ├── OptionError (ValueError)           a setting that an option does not take
    ├── DatasetError
    │   ├── UnknownDatasetError (ValueError)
    │   ├── DamagedDatasetError (OSError)  a packaged file fails its checksum
    │   ├── DownloadError (OSError)        OpenML cannot be reached, or refuses
    │   └── NoTargetError (ValueError)     an OpenML data set with nothing to predict
    └── MissingExtraError (ImportError)    an optional library is not installed

    MixkernWarning (UserWarning)
    ├── ColumnChoiceWarning                a column could be read in two ways
    ├── UnseenCategoryWarning              categories that were not there at fit time
    ├── IgnoredValuesWarning               values in a column that was empty at fit time
    ├── DensityChoiceWarning               the table's shape decided what kind of density was fitted
    ├── DrawnRowsWarning                   more rows than a machine can take: some were drawn
    ├── InterruptedWarning                 stopped by the user: what was found so far is used
    └── NotConvergedWarning                a solver stopped at its limit (in mixkern.svm: it is scikit-learn's, too)
"""

import inspect
import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

Surface = Literal["python", "cli"]
OWN_MODULES = ("mixkern", "mixkern_study", "sklearn", "joblib")  # whose lines a warning never points to


@dataclass(frozen=True)
class Hint:
    """The next step after an error or a warning, for each surface that may show it. Made by :func:`hint`."""

    python: str = ""
    cli: str = ""


def hint(*, python: str = "", cli: str = "") -> Hint:
    """Give the next step where it differs between Python and the command line; empty means no further step.

    >>> print(TableError("Column 'age' holds text.", hint=hint(python="Drop it: X.drop(columns='age').")))
    Column 'age' holds text. Drop it: X.drop(columns='age').
    """
    return Hint(python, cli)


class Message:
    """One text and a hint for each surface: the base of all errors and warnings.

    Parameters
    ----------
    text : str
        What was expected and what was found; the same on every surface. ``{row}`` stands for the row.
    hint : Hint, default=None
        What to do next, where that differs between surfaces. It follows the text.
    row : int, default=None
        Position of the row that the text is about. Messages count rows from 1, and say so.

    Examples
    --------
    >>> print(TableError("Column 'age' holds 'old' in {row}.", row=3))
    Column 'age' holds 'old' in row 4 (counted from 1).
    """

    def __init__(self, text: str = "", *, hint: Hint | None = None, row: int | None = None) -> None:
        super().__init__(text)
        self.hint = hint or Hint()
        self.row = row

    def on(self, surface: Surface) -> str:
        """Give the text with the hint for a surface."""
        text, step = str(self.args[0]), getattr(self.hint, surface)
        if self.row is not None:
            text = text.replace("{row}", f"row {self.row + 1} (counted from 1)")
        separator = "" if not step or step.startswith("\n") else " "
        return f"{text}{separator}{step}"

    def below(self, n_rows: int) -> Self:
        """Give the same message about a table of which this one begins ``n_rows`` further down."""
        return type(self)(self.args[0], hint=self.hint, row=None if self.row is None else self.row + n_rows)

    def __str__(self) -> str:
        return self.on("python")

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.args[0], self.hint, self.row)


def _remade(category: Any, text: str, hint: Hint, row: int | None) -> Any:
    """Make a message again in another process."""
    return category(text, hint=hint, row=row)


class MixkernError(Message, Exception):
    """Base of all errors that mixkern raises on purpose."""


class TableError(MixkernError, ValueError):
    """A table that cannot be encoded."""


class NotATableError(TableError):
    """Something that is not a two-dimensional table in memory."""


class EmptyTableError(TableError):
    """A table without rows or without columns."""


class ColumnNameError(TableError):
    """Column names that are not unique, or not text."""


class UnknownColumnError(TableError):
    """A column that was asked for is not in the table."""


class ColumnMismatchError(TableError):
    """A table with other columns than the one that was fitted."""


class NotNumericError(TableError):
    """Text in a column of numbers."""


class InfiniteValueError(TableError):
    """Infinite numbers in a column."""


class TooLargeError(TableError):
    """Finite numbers that overflow when they are z-scored."""


class CellTypeError(TableError):
    """Cells that are neither number, text, boolean, category nor date."""


class TableFileError(TableError):
    """A file that cannot be read as a table: damaged, ragged, of another encoding, not there."""


class LabelError(MixkernError, ValueError):
    """Labels that cannot be learned from."""


class NoLabelsError(LabelError):
    """Every row is unlabelled."""


class OneClassError(LabelError):
    """Every labelled row has the same label."""


class AmbiguousLabelError(LabelError):
    """A text that could be a label or the absence of one."""


class LabelTypeError(LabelError):
    """Labels of mixed, continuous or unsupported type."""


class MixtureError(MixkernError, ValueError):
    """A density that cannot be, settings that make none, or rows that do not fit it."""


class KernelError(MixkernError, ValueError):
    """Rows, settings or matrices that a kernel cannot take."""


class NotBoundError(KernelError):
    """A kernel that has no mixture, or no rows for its graph, yet."""


class ModelFileError(MixkernError, ValueError):
    """A file that is no model, is damaged, comes from a newer version, or holds what is not to be trusted."""


class StudyError(MixkernError, ValueError):
    """Results that cannot be compared, settings that make no study, or a file that is no store."""


class OptionError(MixkernError, ValueError):
    """A setting, word or number, that an option does not take."""


class DatasetError(MixkernError):
    """A data set that cannot be had."""


class UnknownDatasetError(DatasetError, ValueError):
    """No data set has this name."""


class DamagedDatasetError(DatasetError, OSError):
    """A packaged file is not the one that was packaged."""


class DownloadError(DatasetError, OSError):
    """OpenML could not be reached, or has no such data set."""


class NoTargetError(DatasetError, ValueError):
    """A data set without a column of labels."""


class MissingExtraError(MixkernError, ImportError):
    """An optional library is not installed."""


class MixkernWarning(Message, UserWarning):
    """Base of all warnings that mixkern gives."""


class ColumnChoiceWarning(MixkernWarning):
    """A column could be read in two ways; says which was taken and how to take the other."""


class UnseenCategoryWarning(MixkernWarning):
    """Categories that were not there at fit time were coded as "other"."""


class IgnoredValuesWarning(MixkernWarning):
    """Values in a column that was empty at fit time were read as gaps."""


class DensityChoiceWarning(MixkernWarning):
    """The shape of the table decided what kind of density was fitted."""


class DrawnRowsWarning(MixkernWarning):
    """There are more rows than a machine can take, and some were drawn."""


class InterruptedWarning(MixkernWarning):
    """The user has stopped long work, and what was found so far is used."""


def warn(text: str, category: type[Warning], *, hint: Hint | None = None) -> None:
    """Warn at the user's own line, however deep in a pipeline the code works.

    The line is found on the stack of the process. A worker (joblib with ``n_jobs`` above 1) has no line of the user
    on its stack: there, the warning points to where the worker was started.
    """
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in OWN_MODULES:
        level, frame = level + 1, frame.f_back
    message = category(text, hint=hint) if issubclass(category, MixkernWarning) else category(text)
    warnings.warn(message, stacklevel=level)
