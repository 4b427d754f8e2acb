"""The one place where ``y`` becomes class codes and a labelled mask."""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixkern.errors import AmbiguousLabelError, LabelError, LabelTypeError, NoLabelsError, OneClassError, listing
from mixkern.optional import optional
from mixkern.table.gap import is_gap

UNLABELLED = -1

# What NumPy makes of -1, NaN and pandas.NA once it has turned them into text together with the labels.
_AMBIGUOUS = ("-1", "nan", "<NA>", "")


@dataclass(frozen=True, eq=False)
class Labels:
    """Class codes of the labelled rows, and the way back from codes to labels.

    Attributes
    ----------
    codes : ndarray of int, shape (n_samples,)
        Position of each row's label in ``classes``, -1 where the row is unlabelled.
    classes : ndarray, shape (n_classes,)
        The labels that occur, sorted, in the type that they came in.
    dtype : pandas.CategoricalDtype or None
        What the labels were, if they were pandas categories.
    """

    codes: NDArray[np.intp]
    classes: NDArray[Any]
    dtype: Any = None

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """Mask of the labelled rows."""
        mask: NDArray[np.bool_] = self.codes != UNLABELLED
        return mask

    @property
    def n_classes(self) -> int:
        """Number of classes that occur."""
        return len(self.classes)

    def decode(self, codes: ArrayLike) -> Any:
        """Turn class codes into labels of the type that ``y`` had: what ``predict`` returns.

        >>> encode_labels(["no", None, "yes"]).decode([1, 1, 0])
        array(['yes', 'yes', 'no'], dtype=object)
        """
        positions = np.asarray(codes, dtype=np.intp)
        if positions.size and not 0 <= positions.min() <= positions.max() < self.n_classes:
            raise LabelError(
                f"Codes must lie between 0 and {self.n_classes - 1}, but they lie between {positions.min()} and "
                f"{positions.max()}. -1 stands for no label, and has none to give back."
            )
        values = self.classes[positions]
        if self.dtype is None:
            return values
        return optional("pandas", purpose="Categorical labels").Categorical(values, dtype=self.dtype)


def encode_labels(y: Any) -> Labels:
    """Turn labels, most of them missing, into class codes.

    Unlabelled are ``None``, NaN and ``pandas.NA`` whatever the labels are, and -1 where the labels are numbers
    (or where it stands as a number beside other labels, as scikit-learn's semi-supervised machines have it).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Texts, integers, booleans or categories.

    Returns
    -------
    Labels

    Raises
    ------
    NoLabelsError, OneClassError
        Where there is nothing to learn from.
    AmbiguousLabelError
        For the texts "-1", "nan", "<NA>" and "".
    LabelTypeError
        For fractions, mixtures of types, and everything else.

    Examples
    --------
    >>> labels = encode_labels([0, 1, -1, -1, 1])
    >>> labels.codes
    array([ 0,  1, -1, -1,  1])
    >>> labels.is_labelled
    array([ True,  True, False, False,  True])
    """
    cells, array_type = _cells(y)
    is_labelled = np.fromiter((not _is_unlabelled(cell) for cell in cells), dtype=bool, count=len(cells))
    labelled = [cell for cell, is_one in zip(cells, is_labelled, strict=True) if is_one]
    _check_types(labelled)
    distinct = sorted(set(labelled))
    _check_classes(distinct, len(cells), len(labelled))
    code = {label: i for i, label in enumerate(distinct)}
    codes = np.full(len(cells), UNLABELLED, dtype=np.intp)
    codes[is_labelled] = [code[label] for label in labelled]
    dtype = getattr(y, "dtype", None)
    is_category = type(dtype).__name__ == "CategoricalDtype"
    return Labels(codes, np.array(distinct, dtype=array_type(labelled)), dtype if is_category else None)


def _cells(y: Any) -> tuple[list[Any], Any]:
    """Give the labels as Python objects, and a function that tells in which dtype they go back."""
    if isinstance(getattr(y, "dtype", None), np.dtype):  # a pandas series too keeps its own kind of integers
        y = np.asanyarray(y)
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series.to_list(), _dtype_of
    # As objects, because an array of integers and gaps, or of texts and gaps, would become floats, or texts.
    array = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise LabelTypeError(
            f"y must be one column of labels, but it has shape {array.shape}. "
            "Give one label per row; for one-hot columns, y.argmax(axis=1)."
        )
    if array.dtype.kind in "mM":  # in nanoseconds, tolist() would turn them into integers
        raise _unsupported(array.dtype.name)
    if array.dtype == object:
        return array.tolist(), _dtype_of
    return array.tolist(), lambda _: array.dtype


def _dtype_of(labelled: list[Any]) -> Any:
    """Texts stay objects; numbers and booleans take their own dtype."""
    if not labelled or isinstance(labelled[0], str):
        return object
    return np.asarray(labelled).dtype


def _is_unlabelled(cell: Any) -> bool:
    return is_gap(cell) or bool(isinstance(cell, numbers.Real) and cell == UNLABELLED)


def _check_types(labelled: list[Any]) -> None:
    types = {_type_name(cell) for cell in labelled}
    if len(types) > 1:
        raise LabelTypeError(
            f"y mixes labels of several types: {', '.join(sorted(types))}. "
            "Use one: for texts, y.astype(str) on the labelled rows."
        )
    if types == {"text"}:
        wrong = sorted(set(labelled) & set(_AMBIGUOUS))
        if wrong:
            raise AmbiguousLabelError(
                f"y holds the text {wrong[0]!r}, which could be a class or an unlabelled row. "
                "Mark unlabelled rows with None, NaN or pandas.NA (or with -1, if the labels are numbers)."
            )
    if types == {"number"}:
        fractions = [c for c in labelled if not (isinstance(c, numbers.Integral) or float(c).is_integer())]
        if fractions:
            raise LabelTypeError(
                f"y holds {listing(sorted(set(fractions)), limit=3)}: continuous values, not classes. "
                "Bin them for a classifier, or use a regressor. Unknown label type: continuous."
            )


def _type_name(cell: Any) -> str:
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, numbers.Real):
        return "number"
    raise _unsupported(type(cell).__name__)


def _unsupported(name: str) -> LabelTypeError:
    return LabelTypeError(f"y holds labels of type {name}, but they must be texts, integers, booleans or categories.")


def _check_classes(distinct: Iterable[Any], n_rows: int, n_labelled: int) -> None:
    classes = list(distinct)
    if not classes:
        raise NoLabelsError(f"None of the {n_rows} rows is labelled. Label at least one row of each of two classes.")
    if len(classes) == 1:
        raise OneClassError(
            f"All {n_labelled} labelled rows have the same label, {classes[0]!r}: one class only, and a "
            "classifier needs two. Label a row of another class; to tell one class from everything else, use a "
            "one-class machine."
        )
