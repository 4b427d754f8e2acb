"""Encode labels as class codes.

A gap marks an unlabelled row: ``None``, NaN, ``pandas.NA``, and the texts that are gaps in files, such as ``""``,
``"?"`` and ``"NA"``. -1 marks one too, as in scikit-learn, unless something else does:

===========================  ==================================================================================
-1 in ``y``                  is
===========================  ==================================================================================
number, ``y`` has no gaps    unlabelled
number, ``y`` has gaps       a class, if all labels are numbers; unlabelled beside texts and booleans
text, beside other numbers   a class, if ``y`` has gaps or one other class only; an error otherwise
text, beside other texts     an error: NumPy turns the number -1 into a text there
category of a categorical    a class
===========================  ==================================================================================
"""

import numbers
import shlex
from collections.abc import Hashable, Iterable, Iterator, Mapping, MappingView, Sequence, Set
from dataclasses import dataclass
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixkern.encoding.cell import parsed
from mixkern.encoding.grammar import is_gap_word
from mixkern.encoding.raw_column import Coded
from mixkern.errors import (
    AmbiguousLabelError,
    ColumnChoiceWarning,
    LabelError,
    LabelTypeError,
    NoLabelsError,
    OneClassError,
    hint,
    warn,
)
from mixkern.gpu_array import on_host
from mixkern.imports import optional
from mixkern.partitions import PartitionedLabels
from mixkern.parts import CLASSES, Parts, model_part, require
from mixkern.typing import Bools, Ints
from mixkern.wording import counted, listing

UNLABELLED = -1
_FOLD = "If this is a training fold of a cross-validation, use cv=SemiSupervisedSplit()."

_NO_DATE = "NaT"  # the text of a gap among dates, which files do not have
# Types of pandas categories that model files keep.
_CATEGORY_TYPES = ("object", "str", "string", "bool", "int8", "int16", "int32", "int64", "float32", "float64")
_NO_COLUMN = (str, bytes, Mapping, MappingView, Set, Iterator)


@model_part("Labels", names=("classes", "categories", "ordered", "category_type"))
@dataclass(frozen=True, eq=False)
class Labels:
    """Class codes of rows, and their classes. The arrays are read-only.

    Attributes
    ----------
    codes : ndarray of int, shape (n_samples,)
        Position of each row's label in ``classes``, -1 where the row is unlabelled.
    classes : ndarray, shape (n_classes,)
        The distinct labels, sorted, in the type of ``y``.
    dtype : pandas.CategoricalDtype or None
        The type of ``y``, if it holds pandas categories.
    """

    codes: Ints
    classes: NDArray[Any]
    dtype: Any = None

    def __post_init__(self) -> None:
        for name in ("codes", "classes"):
            view = getattr(self, name).view()  # the array itself may belong to the caller and stays writeable
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @property
    def is_labelled(self) -> Bools:
        """Mask of the labelled rows."""
        mask: Bools = self.codes != UNLABELLED
        return mask

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def codes_in(self, classes: NDArray[Any], *, unlabelled: int = UNLABELLED) -> Ints:  # (n,)
        """Return the position of each label in other classes: -1 for one that is not there, and ``unlabelled``.

        >>> encode_labels(["no", None, "yes", "maybe"]).codes_in(np.array(["yes", "no"]), unlabelled=-2)
        array([ 1, -2,  0, -1])
        """
        known = {label: i for i, label in enumerate(classes.tolist())}
        positions = [known.get(label, UNLABELLED) for label in self.classes.tolist()]
        codes: Ints = np.array([*positions, unlabelled], dtype=np.intp)[self.codes]
        return codes

    def decode(self, codes: ArrayLike) -> Any:
        """Return the labels of class codes, in the type of ``y``.

        >>> encode_labels(["no", None, "yes"]).decode([1, 1, 0])
        array(['yes', 'yes', 'no'], dtype=object)
        """
        positions = _positions(codes)
        if positions.size and not self.n_classes:
            raise LabelError("No row was labelled, so there are no classes to decode to.")
        if positions.size and not 0 <= positions.min() <= positions.max() < self.n_classes:
            raise LabelError(
                f"Codes must lie between 0 and {self.n_classes - 1}, but they lie between {positions.min()} and "
                f"{positions.max()}. -1 stands for no label."
            )
        values = self.classes[positions]
        if self.dtype is None:
            return values
        return optional("pandas", purpose="Categorical labels").Categorical(values, dtype=self.dtype)

    def to_parts(self) -> Parts:
        """Return the classes and the type of ``y``, without the codes, for a model file."""
        if self.dtype is None:
            return {"classes": self.classes}
        known = self.dtype.categories
        kind = {"categories": known.tolist(), "ordered": bool(self.dtype.ordered), "category_type": str(known.dtype)}
        return {"classes": self.classes, **kind}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Make labels without rows; pandas categories need pandas."""
        no_codes, classes = np.empty(0, dtype=np.intp), parts.get("classes")
        require(CLASSES.accepts(classes), "classes")
        assert isinstance(classes, np.ndarray)  # by the rule
        if set(parts) == {"classes"}:
            return cls(no_codes, classes)
        known, ordered = parts.get("categories"), parts.get("ordered")
        is_plain = type(known) is list and all(isinstance(each, (bool, int, float, str)) for each in known)
        require(is_plain and type(ordered) is bool and set(classes.tolist()) <= set(known or ()), "type of labels")
        pandas, of = optional("pandas", purpose="A model of categorical labels"), parts.get("category_type")
        index = pandas.Index(known, dtype=of if of in _CATEGORY_TYPES else None)
        return cls(no_codes, classes, pandas.CategoricalDtype(index, ordered=ordered))


def encode_labels(y: Any, *, min_classes: int = 2, name: str | None = None, classes: Iterable[Any] = ()) -> Labels:
    """Encode labels, most of which may be missing, as class codes.

    A row is unlabelled if its label is a gap: ``None``, NaN, ``pandas.NA``, or one of the texts that are gaps in files,
    such as ``""``, ``"?"`` and ``"NA"``. Without any gap, the number -1 marks unlabelled rows, as in scikit-learn's
    semi-supervised estimators. Where ``y`` has gaps, and where it is categorical, -1 is a class like any other number.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Texts, integers, booleans or categories.
    min_classes : 0, 1 or 2, default=2
        The least number of classes. A classifier needs two; with 0, it is no error if all rows are unlabelled.
    name : str, default=None
        Name of the column in messages; by default that of a series.
    classes : iterable, default=()
        The classes of a fitted classifier, if ``y`` is compared with its predictions. If -1 is one of them, it is a
        class in ``y`` too, with gaps or without.

    Returns
    -------
    Labels

    Raises
    ------
    NoLabelsError, OneClassError
        If there are fewer than ``min_classes``.
    AmbiguousLabelError
        For the texts "-1" and "-1.0" beside texts that are no numbers, or beside several other numbers without a gap;
        for the text "NaT".
    LabelTypeError
        For fractions, mixed types, and anything but one column of labels.

    Examples
    --------
    >>> labels = encode_labels([0, 1, -1, -1, 1])
    >>> labels.codes
    array([ 0,  1, -1, -1,  1])
    >>> labels.is_labelled
    array([ True,  True, False, False,  True])
    >>> encode_labels([-1, 1, None]).classes
    array([-1,  1])
    """
    y = on_host(y)
    if isinstance(y, PartitionedLabels):
        found, of_rows = y.read(lambda some: _with_codes(some, min_classes, name, classes), UNLABELLED)
        return Labels(of_rows, found.classes, found.dtype)
    if min_classes not in (0, 1, 2):
        raise LabelError(f"min_classes must be 0, 1 or 2, but it is {min_classes!r}.")
    what = subject(y, name)
    cells, array_type = _cells(y, what)
    is_category = _is_categorical(y)
    keeps_minus_one = is_category or any(map(_is_minus_one, classes))
    is_label = _are_labels(cells, keeps_minus_one=keeps_minus_one)
    labelled = [cell for cell, is_one in zip(cells.distinct, is_label, strict=True) if is_one]
    _check_types(labelled, cells.distinct, y, what, is_category=is_category)
    distinct = sorted(set(labelled))
    code = {label: i for i, label in enumerate(distinct)}
    of_cell = [code[cell] if is_one else UNLABELLED for cell, is_one in zip(cells.distinct, is_label, strict=True)]
    codes: Ints = cells.taken(of_cell, UNLABELLED, np.intp)
    n_labelled = int((codes != UNLABELLED).sum())
    if distinct and isinstance(distinct[0], str):
        known = distinct if is_category else classes
        _check_texts(distinct, what, known=known, has_gaps=n_labelled < len(codes))
    if len(distinct) < min_classes:
        raise _too_few(distinct, cells, n_labelled, y)
    dtype = getattr(y, "dtype", None)
    is_pandas = type(dtype).__name__ == "CategoricalDtype"
    return Labels(codes, np.array(distinct, dtype=array_type(labelled)), dtype if is_pandas else None)


def _with_codes(y: Any, min_classes: int, name: str | None, classes: Iterable[Any]) -> tuple[Labels, Ints]:
    labels = encode_labels(y, min_classes=min_classes, name=name, classes=classes)
    return labels, labels.codes.astype(np.int16 if labels.n_classes < 2**15 else np.int32)


def _are_labels(cells: Coded, *, keeps_minus_one: bool) -> list[bool]:
    """Return whether each distinct cell is a label: no word for a gap, and no -1 that marks unlabelled rows."""
    is_there = [not (isinstance(cell, str) and is_gap_word(cell)) for cell in cells.distinct]
    has_gaps = not all(is_there) or cells.n_gaps() > 0
    types = {type(cell) for cell, there in zip(cells.distinct, is_there, strict=True) if there}
    if all(map(_is_number, types)) and (keeps_minus_one or has_gaps):
        return is_there
    return [there and not _is_minus_one(cell) for cell, there in zip(cells.distinct, is_there, strict=True)]


def warn_of_minus_one(labels: Labels) -> None:
    """Issue a warning if the number -1 is a class because ``y`` has gaps."""
    if labels.dtype is not None or labels.is_labelled.all() or not any(map(_is_minus_one, labels.classes.tolist())):
        return
    warn(
        "y has gaps, which mark unlabelled rows, so -1 is a class.",
        ColumnChoiceWarning,
        hint=hint(python="If -1 marks unlabelled rows, too, make gaps of it: np.where(y == -1, np.nan, y)."),
    )


def _positions(codes: ArrayLike) -> Ints:
    """Return codes as integers; other numbers and NaN are errors."""
    array = np.asarray(codes)
    if array.dtype.kind in "biu":
        return array.astype(np.intp)
    try:
        values = array.astype(float)
    except (TypeError, ValueError):
        raise LabelError(f"Codes must be whole numbers, but they are of type {array.dtype}.") from None
    wrong = values[~np.isfinite(values) | (values != np.rint(values))]
    if wrong.size:
        raise LabelError(f"Codes must be whole numbers, but they hold {listing(wrong.tolist(), limit=3)}.")
    return values.astype(np.intp)


def subject(y: Any, name: str | None, parameter: str = "y") -> str:
    """Return what labels are called in messages: the column of a table by its name, everything else ``y``."""
    given = getattr(y, "name", None) if name is None else name
    return f"Column {given!r}" if isinstance(given, str) and given else parameter


def label_cells(y: Any, name: str | None = None, parameter: str = "y") -> Coded:
    """Return labels, with those that mark unlabelled rows, as codes of the distinct ones."""
    what = subject(y, name, parameter)
    cells, _ = _cells(y, what)
    for cell in {type(each): each for each in cells.distinct}.values():
        _type_name(cell, what)
    _check_unicode((cell for cell in cells.distinct if isinstance(cell, str)), what)
    return cells


def _cells(y: Any, what: str) -> tuple[Coded, Any]:
    """Return the labels, and a function from labels to the dtype of their classes."""
    _check_is_column(y, what)
    if isinstance(getattr(y, "dtype", None), np.dtype):  # also for a pandas series, to keep its type of integers
        y = np.asanyarray(y)
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        is_coded = isinstance(series.dtype, (nw.String, nw.Categorical, nw.Enum, nw.Boolean))
        return Coded.of_series(series) if is_coded else _of_objects(series.to_list(), what), _dtype_of
    # As objects, because integers with gaps would become floats, and texts with gaps would become texts.
    array = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise LabelTypeError(
            f"{what} must be one column of labels, but it has shape {array.shape}.",
            hint=hint(python="Give one label per row; for one-hot columns, y.argmax(axis=1)."),
        )
    if array.dtype.kind in "mM":  # in nanoseconds, tolist() would turn them into integers
        raise _unsupported(array.dtype.name, what)
    if array.dtype == object:
        return _of_objects(array.tolist(), what), _dtype_of
    cells = Coded.of_array(array) if array.dtype.kind in "biuf" else Coded.of_cells(array.tolist())
    return cells, lambda _: array.dtype


def _of_objects(cells: list[Any], what: str) -> Coded:
    """Return the codes of labels; an error for objects that cannot be labels, because they have no hash."""
    try:
        return Coded.of_cells(cells)
    except TypeError:
        wrong = next(cell for cell in cells if not isinstance(cell, Hashable))
        raise _unsupported(type(wrong).__name__, what) from None


def _dtype_of(labelled: list[Any]) -> Any:
    """Return object for texts, the dtype of NumPy for numbers and booleans."""
    if not labelled or isinstance(labelled[0], str):
        return object
    return np.asarray(labelled).dtype


def _check_is_column(y: Any, what: str) -> None:
    if not isinstance(y, _NO_COLUMN) and (hasattr(y, "__len__") or hasattr(y, "__array__")):
        return
    given = "None" if y is None else f"of type {type(y).__name__}"
    is_iterator = isinstance(y, Iterator)
    step = "Read it first: list(y)." if is_iterator else "Give one label per row, None where there is none."
    raise LabelTypeError(
        f"{what} must be one column of labels (a list, an array or a series), but it is {given}.",
        hint=hint(python=step),
    )


def _is_categorical(y: Any) -> bool:
    """Return whether ``y`` is a categorical column, whose categories are all classes."""
    if type(getattr(y, "dtype", None)).__name__ == "CategoricalDtype":
        return True
    series = nw.from_native(y, series_only=True, pass_through=True)
    return isinstance(series, nw.Series) and isinstance(series.dtype, (nw.Categorical, nw.Enum))


def _is_number(kind: type) -> bool:
    return issubclass(kind, numbers.Real) and not issubclass(kind, (bool, np.bool_))


def _is_minus_one(cell: Any) -> bool:
    return type(cell) is not str and isinstance(cell, numbers.Real) and bool(cell == UNLABELLED)


def n_minus_one(cells: Coded) -> int:
    """Return the number of rows that hold the number -1."""
    return len(cells.rows_of([i for i, cell in enumerate(cells.distinct) if _is_minus_one(cell)]))


def is_minus_one(label: Any) -> bool:
    """Return whether a label is the number -1, or a text of it.

    >>> [is_minus_one(label) for label in (-1, -1.0, "-1", "-1.0", 1, "1", "a")]
    [True, True, True, True, False, False, False]
    """
    return _is_minus_one(parsed(label) if isinstance(label, str) else label)


def _check_types(labelled: list[Any], distinct: list[Any], y: Any, what: str, *, is_category: bool) -> None:
    types = {_type_name(cell, what) for cell in {type(each): each for each in labelled}.values()}
    if len(types) > 1:
        has_minus_one = any(map(_is_minus_one, distinct))
        raise LabelTypeError(
            f"{what} mixes labels of several types: {', '.join(sorted(types))}.",
            hint=hint(
                python=f"Convert them to texts, and keep the gaps: {_as_texts(y, has_minus_one=has_minus_one)}.",
                cli="Write all labels of the column as texts.",
            ),
        )
    if types == {"number"} and not is_category:
        fractions = [c for c in labelled if not (isinstance(c, numbers.Integral) or float(c).is_integer())]
        if fractions:
            raise LabelTypeError(
                f"{what} holds {listing(sorted(set(fractions)), limit=3)}: continuous values, not classes. "
                "Unknown label type: continuous.",
                hint=hint(
                    python="Bin them for a classifier, or use a regressor. If they are classes, make the labels "
                    "categories: pd.Series(y, dtype='category').",
                    cli="Sort its values into groups. If they are classes, name the column of labels in --categorical.",
                ),
            )


def _as_texts(y: Any, *, has_minus_one: bool) -> str:
    """Return the Python code that converts labels to texts and keeps unlabelled rows."""
    is_series = type(y).__name__ == "Series" and hasattr(y, "where")
    unlabelled = "y.isna() | (y == -1)" if has_minus_one else "y.isna()"
    return f"{'' if is_series else 'y = pd.Series(y, dtype=object); '}y.where({unlabelled}, y.astype(str))"


def _check_texts(labels: Sequence[str], what: str, *, known: Iterable[Any], has_gaps: bool) -> None:
    """Raise an error for texts that could be classes or mark unlabelled rows, unless they are known classes."""
    unclear = [label for label in labels if label == _NO_DATE]
    are_numbers = all(parsed(label) is not None for label in labels)
    if not (are_numbers and (has_gaps or len(labels) == 2)):
        unclear += filter(is_minus_one, labels)
    wrong = sorted(set(unclear) - {label for label in known if isinstance(label, str)})
    if wrong:
        step = f"If it is a class, rename it, for example to {'class ' + wrong[0]!r}"
        raise AmbiguousLabelError(
            f"{what} holds the text {wrong[0]!r}, which could be a class or mark unlabelled rows.",
            hint=hint(
                python="Mark unlabelled rows with None, NaN or pandas.NA (or with -1, if the labels are numbers). "
                f"{step}, or make the labels categories: pd.Series(y, dtype='category').",
                cli=f"If it marks unlabelled rows: --unlabelled {shlex.quote(wrong[0])}. {step}, or name the column of "
                "labels in --categorical.",
            ),
        )
    _check_unicode(labels, what)


def _check_unicode(labels: Iterable[str], what: str) -> None:
    """Raise an error for a text that cannot be written to a file, because it has half a surrogate pair."""
    for label in labels:
        try:
            label.encode()
        except UnicodeEncodeError:
            raise LabelTypeError(
                f"{what} holds the text {label!r}, which is no valid Unicode. Correct the label."
            ) from None


def _type_name(cell: Any, what: str = "y") -> str:
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, numbers.Real):
        return "number"
    raise _unsupported(type(cell).__name__, what)


def _unsupported(name: str, what: str) -> LabelTypeError:
    more = " Complex data not supported." if name.startswith("complex") else ""
    return LabelTypeError(
        f"{what} holds labels of type {name}, but they must be texts, integers, booleans or categories.{more}"
    )


def _too_few(classes: Sequence[Any], cells: Coded, n_labelled: int, y: Any) -> LabelError:
    minus_one = _minus_one_hint(classes, n_minus_one(cells), y)
    if not classes:
        return NoLabelsError(
            f"None of the {counted(len(cells), 'row')} is labelled. Label at least one row of each of two classes.",
            hint=hint(python=f"{_FOLD} {minus_one}".rstrip()),
        )
    return OneClassError(
        f"All labelled rows ({n_labelled}) have the same label, {classes[0]!r}: one class only, and a "
        "classifier needs two. Label a row of another class.",
        hint=hint(python=f"To detect rows unlike one class, use MixtureOneClassSVM. {_FOLD} {minus_one}".rstrip()),
    )


def _minus_one_hint(classes: Sequence[Any], n_minus_one: int, y: Any) -> str:
    """Return a hint for labels in which -1 may be a class."""
    if not n_minus_one or any(_type_name(label) != "number" for label in classes):
        return ""
    free = next(number for number in (0, 1) if number not in classes)
    array = "y" if hasattr(y, "dtype") else "np.asarray(y)"
    return (
        f"{counted(n_minus_one, 'row')} {'holds' if n_minus_one == 1 else 'hold'} -1, which means unlabelled. "
        f"If -1 is a class, recode it: np.where({array} == -1, {free}, y)."
    )
