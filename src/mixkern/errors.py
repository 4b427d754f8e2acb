"""Everything that can go wrong, one class per cause.

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
    └── NotConvergedWarning                a solver stopped at its limit
"""

import inspect
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from sklearn.exceptions import ConvergenceWarning

_Option = TypeVar("_Option", bound=StrEnum)


class MixkernError(Exception):
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


class MixkernWarning(UserWarning):
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


class NotConvergedWarning(MixkernWarning, ConvergenceWarning):
    """A solver stopped at its limit; says why, and what was done."""


def nearest(name: object, known: Iterable[str]) -> str:
    """End an error message with the known name that a typo was closest to.

    >>> nearest("irsi", ["iris", "wine"])
    " Did you mean 'iris'?"
    >>> nearest("WINE", ["iris", "wine"])
    " Did you mean 'wine'?"
    >>> nearest("zebra", ["iris", "wine"])
    ''
    """
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(str(name).lower(), list(by_lower), n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def one_of(options: type[_Option], given: object, name: str) -> _Option:
    """Give the option that a word stands for; the enum is the one place where the words are spelled.

    >>> Season = StrEnum("Season", ["SUMMER", "WINTER"])
    >>> one_of(Season, "winter", "season")
    <Season.WINTER: 'winter'>
    """
    try:
        return options(str(given))
    except ValueError:
        known = [str(option) for option in options]
        raise OptionError(
            f"{name} must be one of {', '.join(map(repr, known))}, but it is {given!r}.{nearest(given, known)}"
        ) from None


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Name the first few items and count the rest, so that no message fills a screen.

    >>> listing(["a", "b"])
    "'a', 'b'"
    >>> listing(range(8), limit=3)
    '0, 1, 2 and 5 more'
    """
    shown = [repr(item) for item in items]
    rest = len(shown) - limit
    return ", ".join(shown) if rest <= 0 else f"{', '.join(shown[:limit])} and {rest} more"


def counted(n: int, noun: str) -> str:
    """Write a number and what it counts, one or several.

    >>> counted(1, "row"), counted(1200, "cell")
    ('1 row', '1200 cells')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def percent(share: float) -> str:
    """Write a share; neither what is little is called nothing, nor what is not quite all is called all.

    >>> percent(0.184), percent(0.001), percent(0.999), percent(1.0)
    ('18 %', '< 1 %', '> 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def few_lines(lines: Sequence[str], limit: int = 5) -> list[str]:
    """Keep the first few lines, one for each column, and count the rest.

    >>> few_lines(["'a': 1 value", "'b': 2 values", "'c': 5 values"], limit=2)
    ["'a': 1 value", "'b': 2 values", 'and 1 more column']
    """
    rest = len(lines) - limit
    return [*lines[:limit], *([f"and {counted(rest, 'more column')}"] if rest > 0 else [])]


def shortened(text: str, width: int = 40) -> str:
    """Cut a long text, so that one cell of a table does not fill a message.

    >>> shortened("short"), shortened("a rather long story", width=8)
    ('short', 'a rathe…')
    """
    return text if len(text) <= width else text[: width - 1] + "…"


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the user's own line, however deep in a pipeline the code works.

    The line is found on the stack of the process. A worker (joblib with ``n_jobs`` above 1) has no line of the user
    on its stack: there, the warning points to where the worker was started.
    """
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in ("mixkern", "sklearn", "joblib"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
