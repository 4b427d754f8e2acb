import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mixkern.encoding.cell import is_gap
from mixkern.encoding.grammar import GAP_WORDS, is_gap_word
from mixkern.encoding.labels import UNLABELLED, Labels, encode_labels
from mixkern.errors import AmbiguousLabelError, LabelError, LabelTypeError, NoLabelsError, OneClassError

NAN = np.nan


def literal_labels(y):
    """Apply the rules in the docstring of the module, label by label; None where a row is unlabelled."""
    found = [None if is_gap(label) or (isinstance(label, str) and is_gap_word(label)) else label for label in y]
    there = [label for label in found if label is not None]
    numbers = [label for label in there if not isinstance(label, (str, bool, np.bool_))]
    if len(numbers) == len(there) < len(found):  # numbers, with gaps
        return found
    return [None if label in numbers and label == -1 and not isinstance(label, str) else label for label in found]


def literal_codes(y, classes):
    """Look up every label in the list of classes, one by one."""
    known = np.asarray(classes).tolist()
    return [-1 if label is None else known.index(label) for label in literal_labels(y)]


# y, the classes, their dtype
LABELS = [
    ([2, 0, -1, 2, 1], [0, 1, 2], "int64"),
    ((2, 0), [0, 2], "int64"),
    ([2, 0, None, NAN], [0, 2], "int64"),
    ([np.int8(2), np.int8(0), -1], [0, 2], "int8"),
    ([2**70, 2**70 + 1], [2**70, 2**70 + 1], object),
    ([10**400, 1], [1, 10**400], object),
    (np.array([3, -1, 1], dtype="int8"), [1, 3], "int8"),
    (np.array([3, 7], dtype="uint16"), [3, 7], "uint16"),
    (np.array([0.0, NAN, 1.0, -1.0]), [-1.0, 0.0, 1.0], "float64"),
    ([1, -1, None], [-1, 1], "int64"),
    (["1", "-1"], ["-1", "1"], object),
    (["1.0", "-1.0", None, "-1.0"], ["-1.0", "1.0"], object),
    (["2", "-1", "", "0"], ["-1", "0", "2"], object),
    (["no", "yes", "", "?", "NA", " n/a "], ["no", "yes"], object),
    (np.array([0, 1], dtype="float32"), [0.0, 1.0], "float32"),
    ([0, 1.0, NAN], [0.0, 1.0], "float64"),
    ([1, 1.0, 2], [1.0, 2.0], "float64"),
    (np.array([True, False]), [False, True], bool),
    ([True, None, False, -1], [False, True], bool),
    ([np.True_, None, np.False_], [False, True], bool),
    (["no", "yes", None], ["no", "yes"], object),
    (["no", "yes", NAN, pd.NA, pd.NaT, -1, -1.0, np.int64(-1)], ["no", "yes"], object),
    ([" ", "none", "no"], ["no", "none"], object),
    (np.array(["yes", "no"]), ["no", "yes"], "<U3"),
    (np.array(["yes", "no", None], dtype=object), ["no", "yes"], object),
    (np.array(["yes", "no"], dtype=np.dtypes.StringDType()), ["no", "yes"], np.dtypes.StringDType()),
    (np.array([[1], [0]]), [0, 1], "int64"),
    (np.ma.masked_array([1, 0, 5], mask=[0, 0, 1]), [0, 1], "int64"),
    (pd.Series(["b", "a", None]), ["a", "b"], object),
    (pd.Series(["b", "a", None], dtype="string"), ["a", "b"], object),
    (pd.Series(["b", -1, "a"], dtype=object), ["a", "b"], object),
    (pd.Series([1, 0, None], dtype="Int64"), [0, 1], "int64"),
    (pd.Series([1, 0, None], dtype="int8[pyarrow]"), [0, 1], "int64"),
    (pd.Series([1.0, 0.0, None]), [0.0, 1.0], "float64"),
    (pd.Series([1, 0, None], dtype="float32"), [0.0, 1.0], "float32"),
    (pd.Series([1, 0, -1], dtype="int8"), [0, 1], "int8"),
    (pd.Series([True, False, None], dtype="boolean"), [False, True], bool),
    (pd.Series([1, 0, -1], index=[7, 7, 7]), [0, 1], "int64"),
    (pd.array([1, 0, None], dtype="Int64"), [0, 1], "int64"),
    (pd.Index(["b", "a"]), ["a", "b"], object),
    (pl.Series(["b", None, "a"]), ["a", "b"], object),
    (pl.Series(["b", None, "a"], dtype=pl.Categorical), ["a", "b"], object),
    (pl.Series([1, None, 0, -1]), [-1, 0, 1], "int64"),
    (pl.Series([1, 0, -1]), [0, 1], "int64"),
    (pl.Series([True, None, False]), [False, True], bool),
]


def cells(y):
    return np.ravel(y).tolist() if isinstance(y, np.ndarray) else list(y)


@pytest.mark.parametrize(
    ("y", "classes", "dtype"), LABELS, ids=[f"{type(y).__name__}-{i}" for i, (y, *_) in enumerate(LABELS)]
)
def test_codes_and_classes(y, classes, dtype):
    labels = encode_labels(y)
    assert labels.classes.tolist() == classes
    assert labels.classes.dtype == dtype
    assert labels.codes.dtype == np.intp
    assert labels.codes.tolist() == literal_codes(cells(y), classes)
    assert labels.is_labelled.tolist() == [code != UNLABELLED for code in labels.codes]
    assert labels.n_classes == len(classes)


@pytest.mark.parametrize(
    ("y", "classes", "dtype"), LABELS, ids=[f"{type(y).__name__}-{i}" for i, (y, *_) in enumerate(LABELS)]
)
def test_decoding_gives_back_what_came(y, classes, dtype):
    labels = encode_labels(y)
    decoded = labels.decode(labels.codes[labels.is_labelled])
    assert decoded.dtype == dtype
    there = [label for label in literal_labels(cells(y)) if label is not None]
    assert decoded.tolist() == there
    assert labels.decode([1, 0, 1]).tolist() == [classes[1], classes[0], classes[1]]
    assert labels.decode([]).dtype == dtype


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("wrap", [pd.Series, lambda categorical: categorical], ids=["Series", "Categorical"])
def test_pandas_categories_keep_their_type(wrap, is_ordered):
    y = wrap(pd.Categorical(["high", None, "low", "low"], categories=["low", "mid", "high"], ordered=is_ordered))
    labels = encode_labels(y)
    assert labels.classes.tolist() == ["high", "low"]
    assert labels.codes.tolist() == [0, -1, 1, 1]
    decoded = labels.decode([1, 0])
    assert decoded.dtype == y.dtype
    assert decoded.tolist() == ["low", "high"]


def test_categories_that_are_numbers():
    labels = encode_labels(pd.Series([3, 1, -1, None], dtype="category"))
    assert labels.codes.tolist() == [2, 1, 0, -1]
    assert labels.decode([0]).dtype.name == "category"


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (pd.Series([-1, 1, 1], dtype="category"), [-1, 1]),
        (pd.Categorical([-1, 1, 0]), [-1, 0, 1]),
        (pd.Series(["a", "-1", "b"], dtype="category"), ["-1", "a", "b"]),
        (pl.Series(["a", "-1", "b"], dtype=pl.Categorical), ["-1", "a", "b"]),
        (pa.chunked_array([[-1, 1, 1]]).dictionary_encode(), [-1, 1]),
        (pd.Series([0.5, 1.5, 0.5], dtype="category"), [0.5, 1.5]),
    ],
)
def test_every_category_of_a_categorical_is_a_class(y, classes):
    labels = encode_labels(y)
    assert labels.classes.tolist() == classes
    assert labels.is_labelled.all()


def test_gap_words_are_no_categories():
    labels = encode_labels(pd.Series(["a", "?", "b"], dtype="category"))
    assert labels.codes.tolist() == [0, -1, 1]


@pytest.mark.parametrize("y", [[-1, 1, 1], np.array([-1.0, 1.0, 2.0])])
def test_minus_one_is_a_class_where_the_fitted_classifier_has_it(y):
    assert encode_labels(y, min_classes=0).codes[0] == UNLABELLED
    assert encode_labels(y, min_classes=0, classes=np.array([-1, 1])).codes.tolist()[:2] == [0, 1]
    assert encode_labels(y, min_classes=0, classes=np.array([0, 1])).codes[0] == UNLABELLED
    texts = [str(label) for label in [*y, 7]]
    assert encode_labels(texts, classes=np.array([texts[0], texts[1]])).is_labelled.all()


def test_one_column_of_a_frame():
    for frame in (pd.DataFrame({"y": ["b", None, "a"]}), pl.DataFrame({"y": ["b", None, "a"]})):
        assert encode_labels(frame).codes.tolist() == [1, -1, 0]


@pytest.mark.parametrize("text", ["-1", "-1.0", "NaT"])
@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series])
def test_texts_that_could_mean_unlabelled(text, wrap):
    message = (
        rf"y holds the text '{text}', which could be a class or mark unlabelled rows\. Mark unlabelled rows with None"
        rf".* If it is a class, rename it, for example to 'class {text}', or make the labels categories: .*'\)\.$"
    )
    with pytest.raises(AmbiguousLabelError, match=message):
        encode_labels(wrap(["a", text, "b"]))


@pytest.mark.parametrize("y", [["0", "1", "-1"], ["-1.0", "-1.0"], ["a", "-1"], ["a", "b", "-1", None]])
def test_minus_one_as_text_that_could_mean_unlabelled(y):
    with pytest.raises(AmbiguousLabelError, match=r"y holds the text '-1") as caught:
        encode_labels(y)
    found = caught.value.on("cli")
    assert "If it marks unlabelled rows: --unlabelled -1" in found
    assert found.endswith("or name the column of labels in --categorical.")
    assert len(encode_labels(pd.Series(y, dtype="category"), min_classes=0).classes) == len(set(y) - {None})


@pytest.mark.parametrize("text", sorted(GAP_WORDS))
@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, pl.Series])
def test_gap_words_are_unlabelled(text, wrap):
    assert encode_labels(wrap(["a", text, "b"])).codes.tolist() == [0, -1, 1]


def test_what_numpy_makes_of_a_number_beside_texts():
    with pytest.raises(AmbiguousLabelError, match="y holds the text '-1'"):
        encode_labels(np.array(["a", "b", -1]))


@pytest.mark.parametrize(
    "y", [[-1, -1], [None, NAN], [], np.array([NAN, NAN]), pd.Series([None, None], dtype="string")]
)
def test_no_labelled_row(y):
    message = rf"None of the {len(y)} rows is labelled\. Label at least one row of each of two classes\."
    with pytest.raises(NoLabelsError, match=message):
        encode_labels(y)


@pytest.mark.parametrize(
    ("y", "label"), [([5, 5, -1], "5"), (["a", None, "a"], "'a'"), (np.array([True, True]), "True")]
)
def test_one_class(y, label):
    message = rf"All labelled rows \(2\) have the same label, {label}: one class only, and a classifier needs two"
    with pytest.raises(OneClassError, match=message):
        encode_labels(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            [0.5, 1.0],
            (
                r"y holds 0\.5: continuous values, not classes\. Unknown label type: continuous\. Bin .* If they are "
                r"classes, make the labels categories: pd\.Series\(y, dtype='category'\)\.$"
            ),
        ),
        (np.linspace(0, 0.9, 6), r"y holds 0\.18, 0\.36, .* and 2 more: continuous"),
        ([0.0, np.inf], r"y holds inf: continuous values"),
        (
            ["a", 1],
            r"types: number, text\. Convert .*: y = pd\.Series\(y, dtype=object\); y\.where\(y\.isna\(\), y\.ast",
        ),
        (pd.Series(["a", 1]), r"keep the gaps: y\.where\(y\.isna\(\), y\.astype\(str\)\)\.$"),
        (pd.Series(["a", 1, -1]), r"y\.where\(y\.isna\(\) \| \(y == -1\), y\.astype\(str\)\)\.$"),
        ([True, 1], r"y mixes labels of several types: boolean, number\."),
        ([True, "a", 0], r"boolean, number, text"),
        (np.zeros((3, 2)), r"y must be one column of labels, but it has shape \(3, 2\)\..*y\.argmax\(axis=1\)"),
        (pd.DataFrame({"a": [1], "b": [2]}), r"shape \(1, 2\)"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        (None, r"y must be one column of labels \(a list, an array or a series\), but it is None\. Give one label per"),
        ("abc", r"but it is of type str\. Give one label per row, None where there is none\."),
        ({"a": 1}, r"but it is of type dict\."),
        ({"a": 1}.values(), r"but it is of type dict_values\."),
        ({"a", "b"}, r"but it is of type set\."),
        (3, r"but it is of type int\."),
        (np.array(3), r"shape \(\)"),
        ((label for label in "ab"), r"but it is of type generator\. Read it first: list\(y\)\."),
        ([[1, 2], [3]], r"y holds labels of type list, but they must be texts, integers, booleans or categories\."),
        ([b"a", b"b"], "y holds labels of type bytes"),
        (np.array([b"a", b"b"]), "y holds labels of type bytes"),
        ([1j, 2j], "y holds labels of type complex"),
        ([decimal.Decimal(1), decimal.Decimal(2)], "y holds labels of type Decimal"),
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], "y holds labels of type date"),
        (np.array(["2020", "2021"], dtype="datetime64[ns]"), r"y holds labels of type datetime64\[ns\]"),
        (np.array([1, 2], dtype="timedelta64[s]"), r"y holds labels of type timedelta64\[s\]"),
        (pd.Series(pd.to_datetime(["2020", "2021"])), r"y holds labels of type datetime64\[[un]s\]"),
        (pd.Series(pd.to_datetime(["2020", "2021"], utc=True)), "y holds labels of type Timestamp"),
        (pl.Series([[1], [2]]), "y holds labels of type list"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_labels_of_the_wrong_type(y, message):
    with pytest.raises(LabelTypeError, match=message):
        encode_labels(y)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.one_of(
        st.lists(st.integers() | st.none()),
        st.lists(st.text() | st.none() | st.just(-1)),
        st.lists(st.booleans() | st.just(np.nan)),
    )
)
def test_any_labels_are_encoded_or_refused(y):
    try:
        labels = encode_labels(y)
    except LabelError:
        assume(False)
    assert labels.codes.tolist() == literal_codes(y, labels.classes)
    assert sorted(labels.classes.tolist()) == labels.classes.tolist()


@pytest.mark.parametrize(
    ("y", "hint"),
    [
        ([5, -1, -1], r"2 rows hold -1, which means .* recode it: np\.where\(np\.asarray\(y\) == -1, 0, y\)\.$"),
        (
            np.array([1, -1.0]),
            r"1 row holds -1, which means unlabelled\. If -1 is a class, .*np\.where\(y == -1, 0, y\)\.$",
        ),
        (pd.Series([0, -1]), r"np\.where\(y == -1, 1, y\)\.$"),
        (np.array([-1, -1]), r"2 rows hold -1, .*np\.where\(y == -1, 0, y\)\.$"),
        ([5, 5, None], r"use MixtureOneClassSVM\. If this is a training fold .*SemiSupervisedSplit\(\)\.$"),
        (["a", -1], r"use MixtureOneClassSVM\. If this is a training fold .*SemiSupervisedSplit\(\)\.$"),
    ],
)
def test_minus_one_that_may_have_been_meant_as_a_class(y, hint):
    with pytest.raises((NoLabelsError, OneClassError), match=hint):
        encode_labels(y)


def test_the_advice_for_minus_one_works():
    y = np.array([0, -1, 0])
    assert encode_labels(np.where(y == -1, 1, y)).codes.tolist() == [0, 1, 0]


def test_the_advice_for_mixed_types_works():
    y = pd.Series(["a", 1, -1, None, NAN, 2.0], dtype=object)
    assert encode_labels(y.where(y.isna() | (y == -1), y.astype(str))).codes.tolist() == [2, 0, -1, -1, -1, 1]


@pytest.mark.parametrize("y", [[], [-1, -1], [None, "?"], ["a", "a"], [3, -1]])
def test_any_number_of_classes_will_do_where_nothing_is_learned(y):
    labels = encode_labels(y, min_classes=0)
    assert labels.codes.tolist() == literal_codes(y, labels.classes)


def test_at_least_one_class():
    assert encode_labels(["a", None], min_classes=1).n_classes == 1
    with pytest.raises(NoLabelsError, match="None of the 1 row is labelled"):
        encode_labels([None], min_classes=1)


@pytest.mark.parametrize("min_classes", [-1, 3, None])
def test_impossible_numbers_of_classes(min_classes):
    with pytest.raises(LabelError, match=f"min_classes must be 0, 1 or 2, but it is {min_classes}"):
        encode_labels(["a", "b"], min_classes=min_classes)


def test_arrays_are_read_only():
    labels = encode_labels([0, 1, -1])
    for array in (labels.codes, labels.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_only_the_views_are_read_only():
    codes = np.array([0, 1])
    Labels(codes, np.array(["a", "b"]))
    codes[0] = 1


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 0.5], r"Codes must be whole numbers, but they hold 0\.5\."),
        ([NAN], r"but they hold nan\."),
        ([0, None], r"but they hold nan\."),
        ([np.inf], r"but they hold inf\."),
        (["a"], r"Codes must be whole numbers, but they are of type <U1\."),
    ],
)
def test_codes_that_are_no_whole_numbers(codes, message):
    with pytest.raises(LabelError, match=message):
        encode_labels(["a", "b"]).decode(codes)


def test_whole_floats_are_codes():
    assert encode_labels(["a", "b"]).decode(np.array([1.0, 0.0])).tolist() == ["b", "a"]


def test_no_class_to_decode_to():
    with pytest.raises(LabelError, match="No row was labelled, so there are no classes to decode to"):
        encode_labels([None], min_classes=0).decode([0])


@pytest.mark.parametrize("codes", [[-1], [0, 2], [5]])
def test_codes_without_a_label_are_refused(codes):
    labels = encode_labels(["a", None, "b"])
    with pytest.raises(LabelError, match=r"Codes must lie between 0 and 1, .* -1 stands for no label"):
        labels.decode(codes)
