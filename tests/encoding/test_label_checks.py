"""The column of labels: what holds classes, what marks unlabelled rows, and which labels are noted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import MixtureSVC, prepare_table
from mixkern.encoding import encode_labels, label_column
from mixkern.encoding.cell import is_gap
from mixkern.encoding.label_checks import label_notes
from mixkern.errors import ColumnChoiceWarning, LabelError, LabelTypeError

SERIES = {
    "pandas": lambda cells: pd.Series(cells, dtype=object),
    "polars": lambda cells: pl.Series("churn", cells),
    "pyarrow": lambda cells: pa.chunked_array([cells]),
}


def test_categories_lose_the_marks():
    y = label_column(pd.Series(["a", "?", "b", None], dtype="category"), "?")
    assert y.cat.categories.tolist() == ["a", "b"]
    assert y.isna().tolist() == [False, True, False, True]
    found = label_column(pl.Series(["a", "?", "b"], dtype=pl.Categorical), "?")
    assert (found.dtype, found.to_list()) == (pl.Categorical, ["a", None, "b"])


@pytest.mark.parametrize(
    "dtype", ["category", pd.CategoricalDtype(["b ", "?", " a", "a", "c"], ordered=True), pl.Categorical, "enum"]
)
def test_categories_that_differ_by_spaces_are_one_class(dtype):
    labels = [" a", "a", "b ", "?"] * 5
    if dtype in ("enum", pl.Categorical):
        y = pl.Series("kind", labels, dtype=pl.Enum(["b ", "?", " a", "a"]) if dtype == "enum" else dtype)
    else:
        y = pd.Series(labels, dtype=dtype)
    found = label_column(y, "?")
    assert [None if is_gap(each) else each for each in found][:4] == ["a", "a", "b", None]
    assert type(found.dtype) is type(y.dtype)
    if dtype == "enum":
        assert found.dtype.categories.to_list() == ["b", "a"]
    if isinstance(dtype, pd.CategoricalDtype):
        assert (found.cat.categories.tolist(), found.cat.ordered) == (["b", "a"], True)


def test_lists_are_no_labels_even_beside_texts_with_spaces():
    with pytest.raises(LabelTypeError, match="holds labels of type list"):
        label_column(pd.Series([" a", [1]], dtype=object))


def test_categories_that_are_numbers():
    assert label_column(pd.Series([1, 2, 9] * 4, dtype="category"), 9).cat.categories.tolist() == [1, 2]


@pytest.mark.parametrize("column", [["a", "b"], np.array(["a", "b"]), None, "churn", pd.DataFrame({"a": [1]})])
def test_label_column_takes_a_series(column):
    with pytest.raises(LabelTypeError, match="A column of a frame is needed, but it is of type"):
        label_column(column)


@pytest.mark.parametrize("marks", ["x", ["x"], ("x", None), {"x": 1}, np.array(["x"]), pd.Series(["x"])])
def test_marks_of_unlabelled_rows(marks):
    column = pd.Series(["a", " x ", None, "b"])
    assert label_column(column, marks).isna().tolist() == [False, True, True, False]
    assert label_column(column, None).notna().tolist() == [True, True, False, True]


def numbers(n_labelled, n_values):
    return [f"{i % n_values}.5" for i in range(n_labelled)]


@pytest.mark.parametrize(
    "labels",
    [
        numbers(60, 5),
        numbers(300, 30),
        list("abcdefgh"),
        numbers(5, 5),
        ["1.0", "2.0"],
        [3, 1, 2] * 4,
        [True, False],
        list(range(10)),
        [str(i) for i in range(10)],
        [f"{i}.0" for i in range(40)],
        list(range(50)),
        ["1", "-1"],
    ],
)
def test_classes(labels):
    column = pd.Series([*labels, *[None] * 20], dtype=object)
    assert label_column(column).notna().sum() == len(labels)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (numbers(60, 7), LabelError, "7 different values in 60 labelled rows .*numbers, not classes"),
        (numbers(600, 51), LabelError, "51 different"),
        (numbers(60, 31), LabelError, "31 different values in 60 labelled rows .*numbers, not classes"),
        (
            numbers(6, 6),
            LabelError,
            r"6 different values in 6 labelled rows \('0\.5', '1\.5', '2\.5', \.\.\.\): .*MixtureSVR",
        ),
        (
            list(range(51)),
            LabelError,
            r"numbers, not classes\. If they are classes: categorical=\['churn'\]\. Otherwise",
        ),
        ([f"n{i}" for i in range(51)], LabelError, "more than a column of classes has"),
        (list(range(100, 160)), LabelError, "numbers, not classes"),
        (["no", "-1"], LabelError, "Column 'churn' holds the text '-1', which could be a class"),
        ([1.5, 2.5], LabelTypeError, "Column 'churn' holds 1.5, 2.5: continuous values"),
        ([1, "a"], LabelTypeError, "Column 'churn' mixes labels of several types: number, text"),
        ([pd.Timestamp("2024-05-01")], LabelTypeError, "Column 'churn' holds labels of type Timestamp"),
    ],
)
def test_no_classes(labels, error, message):
    column = pd.Series([*labels, *[None] * 20], dtype=object, name="churn")
    with pytest.raises(error, match=message):
        label_column(column)


@pytest.mark.parametrize(
    ("n_values", "n_labels", "is_noted"), [(20, 40, False), (21, 42, True), (45, 450, False), (45, 449, True)]
)
def test_many_whole_numbers_are_noted(n_values, n_labels, is_noted):
    labels = pd.Series([str(i % n_values) for i in range(n_labels)])
    found = [note for note in label_notes(labels, "power") if "different numbers" in str(note)]
    text = f"Column 'power' holds {n_values} different numbers in {n_labels} labelled rows, and each is a class."
    step = "If they are measurements, sort them into groups, such as low and high; from Python, MixtureSVR predicts"
    assert [note.on("cli") for note in found] == is_noted * [f"{text} {step} numbers."]
    assert not label_notes(labels, "power", categorical=True)


def test_a_class_with_one_label_may_be_a_typo():
    def rare(labels):
        return [str(note) for note in label_notes(pd.Series(labels), "country") if "one label" in str(note)]

    labels = ["Europe"] * 2 + ["Japan"] * 6 + ["USA"] * 21
    (note,) = rare([*labels, "Jpan"])
    assert note.startswith("This class has one label, of 30 in column 'country': 'Jpan'.")
    (note,) = rare(["Japan"] * 3 + ["USA"] * 3 + ["Jpan"])  # also where other classes have few
    assert "'Jpan'" in note
    assert rare(["male"] * 3 + ["female"]) == []  # not alike enough
    assert rare(["grade 1"] * 3 + ["grade 2"]) == []
    assert rare(["normal"] * 3 + ["abnormal"]) == []  # opposites
    assert rare(["yes"] * 6 + ["no"]) == []  # one of two classes
    assert len(rare(["yes"] * 6 + ["no"] * 6 + ["maybe"])) == 1


@pytest.mark.parametrize("labels", [numbers(60, 31), [f"n{i}" for i in range(51)], ["-1.0", "1.0", "0"], ["NaT", "a"]])
def test_errors_on_the_command_line_name_the_options(labels):
    with pytest.raises(LabelError) as caught:
        label_column(pa.chunked_array([labels]), name="churn")
    found = caught.value.on("cli")
    assert "Column 'churn' holds" in found
    assert "--target" in found or "--unlabelled" in found
    assert "--categorical" in found


@pytest.mark.parametrize("make", SERIES.values(), ids=SERIES)
@pytest.mark.parametrize(
    "labels",
    [numbers(60, 31), [f"n{i}" for i in range(51)], ["-1.0", "1.0", "0"], list(range(100, 160)), [1.5, 2.5], [-1, 1]],
    ids=["measurements", "names", "minus one as text", "whole numbers", "floats", "minus one"],
)
def test_each_value_of_a_categorical_target_is_a_class(make, labels):
    y = label_column(make(labels), name="churn", categorical=True)
    found = encode_labels(y)
    assert found.is_labelled.all()
    assert found.n_classes == len(set(labels))


def test_a_categorical_target_keeps_gaps_and_marks():
    y = label_column(pd.Series(["a", "?", "", "x", None]), "x", categorical=True)
    assert y.dtype == pd.CategoricalDtype(["a"])
    assert y.isna().tolist() == [False, True, True, True, True]
    assert label_column(y, categorical=True) is y


def test_classes_of_a_fitted_classifier_are_classes():
    texts = pd.Series([f"{i}.5" for i in range(60)])
    assert label_column(texts, classes=["0.5", "1.5"]) is texts
    minus_one = pd.Series(["a", "-1"])
    assert label_column(minus_one, classes=["-1", "a"]) is minus_one


@pytest.mark.parametrize("make", SERIES.values(), ids=SERIES)
def test_gap_words_are_gaps(make):
    y = label_column(make(["yes", "?", "n/a ", "", "NA", "no"]))
    assert [None if is_gap(each) else each for each in nw_list(y)] == ["yes", None, None, None, None, "no"]


def nw_list(y):
    return y.to_pylist() if isinstance(y, pa.ChunkedArray) else list(y)


# ---------------------------------------------------------------- notes


def notes(labels, surface="cli"):
    return [note.on(surface) for note in label_notes(label_column(pd.Series(labels, dtype=object)), "churn")]


def test_usual_labels_have_no_notes():
    assert notes(["yes", "no", None] * 5) == []
    assert notes(list(range(10))) == []
    assert notes(["a"] * 4 + ["b"]) == []
    assert notes(["yes", "yes ", " yes"]) == []  # spaces around a text do not count


def test_labels_that_are_the_same_number():
    (note,) = notes(["1"] * 3 + ["1.0"] * 2 + ["2", "02"])
    text = "Labels of column 'churn' are the same number: '1' (3) and '1.0' (2). They are different classes."
    assert str(note).startswith(text)


def test_spellings_that_differ_in_capital_letters_or_spaces():
    labels = ["Genuine"] * 3 + ["genuine"] * 2 + ["forged", "very  odd", "very odd"]
    text = (
        "Labels of column 'churn' differ in capital letters or spaces only: 'Genuine' (3) and 'genuine' (2); "
        "'very  odd' (1) and 'very odd' (1). They are different classes. If they are one class, write them in the same "
        "way"
    )
    assert notes(labels) == [f"{text} in all rows."]
    assert notes(labels, "python") == [f"{text}: y.str.lower().str.split().str.join(' ')."]
    assert notes(pd.Series(labels).str.lower().str.split().str.join(" ")) == []


def test_labels_that_read_like_gaps():
    labels = ["none", "mild", "N/a", "unknown", "mild"]
    text = (
        "Labels of column 'churn' that read like gaps are classes: 'N/a' (1), 'none' (1), 'unknown' (1). If they mark"
    )
    assert notes(labels) == [f"{text} unlabelled rows: --unlabelled N/a --unlabelled none --unlabelled unknown"]
    assert notes(labels, "python") == [f"{text} unlabelled rows: unlabelled=['N/a', 'none', 'unknown']."]


def test_a_class_with_one_label_among_many():
    text = "This class has one label, of 51 in column 'churn': 'genuin'. If it is a slip, correct it; if it marks"
    labels = ["genuine"] * 30 + ["forged"] * 20 + ["genuin"]
    assert notes(labels) == [f"{text} unlabelled rows: --unlabelled genuin"]
    assert notes(labels, "python") == [f"{text} unlabelled rows: unlabelled=['genuin']."]
    assert notes([1, 2, 3] * 5 + [7, 8])[0].startswith("These classes have one label, of 17 in column 'churn': 7, 8.")
    (spelling, single) = notes(
        ["yes"] * 20 + ["no"] * 18 + ["Yes", "ja"]
    )  # no more than half of the classes are frequent
    assert "capital letters" in spelling
    assert single.startswith("This class has one label, of 40 in column 'churn': 'ja'.")
    assert notes(["no"] * 39 + ["yes"]) == []  # one of two classes


def test_the_number_minus_one_is_unlabelled_with_a_warning():
    frame = table(churn=[-1, 0, 1] * 20)
    message = "20 rows of column 'churn' hold -1, which means unlabelled. If -1 is a class, recode it"
    with pytest.warns(ColumnChoiceWarning, match=message) as caught:
        prepared = prepare_table(frame, "churn")
    assert caught[0].message.on("cli").endswith("If -1 is a class: --categorical churn")
    assert prepared.y.tolist() == frame["churn"].tolist()
    marked = prepare_table(frame, "churn", unlabelled=-1)
    assert marked.notes == ()
    assert marked.y.isna().sum() == 20
    with pytest.warns(ColumnChoiceWarning, match=r"20 rows of column 'churn' hold -1, which is a class\."):
        prepared = prepare_table(frame, "churn", categorical=["churn"])
    assert encode_labels(prepared.y).classes.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("labels", [[-1, 1, None], ["-1.0", "1.0", ""], ["-1", "1", "1"], [-1.0, 1.0, np.nan]])
def test_minus_one_is_a_class_with_a_warning_where_something_else_marks_unlabelled_rows(labels):
    mark = labels[0] if isinstance(labels[0], str) else "-1"
    message = rf"20 rows of column 'churn' hold {mark}, which is a class\. If it marks unlabelled rows: unlabelled="
    with pytest.warns(ColumnChoiceWarning, match=message) as caught:
        prepared = prepare_table(table(churn=labels * 20), "churn")
    assert caught[0].message.on("cli").endswith(f"If it marks unlabelled rows: --unlabelled {mark}")
    assert encode_labels(prepared.y).classes.tolist() == labels[:2]
    assert len(prepare_table(table(churn=labels * 20), "churn", unlabelled=[mark]).notes) == 0


def table(**more):
    group = np.arange(60) % 3
    return pd.DataFrame({"age": 30.5 + 4 * group + np.arange(60) % 5, **more})


@pytest.mark.parametrize("classes", [[-1, 1], ["-1", "1"], [-1.0, 1.0], list(range(10)), [str(i) for i in range(10)]])
def test_estimators_learn_numeric_classes(classes):
    n = 6 * len(classes)
    X = np.column_stack([np.arange(n) % len(classes) + np.linspace(0, 0.2, n), np.linspace(0, 1, n)])
    y = [classes[i % len(classes)] if i < 2 * len(classes) else None for i in range(n)]
    model = MixtureSVC(random_state=0)
    if classes[0] == -1 and not isinstance(classes[0], str):
        with pytest.warns(ColumnChoiceWarning, match=r"y has gaps, which mark unlabelled rows, so -1 is a class\. If"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.classes_.tolist() == sorted(classes)
    true = [classes[i % len(classes)] for i in range(n)]
    assert model.score(X, true) == np.mean(np.array(model.predict(X).tolist()) == np.array(true)) > 0.9


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", "\ud800"], r"Column 'churn' holds the text '\\ud800', which is no valid Unicode\. Correct the label\."),
        (["a", (1, 2)], "Column 'churn' holds labels of type tuple"),
        (["a", b"b"], "Column 'churn' holds labels of type bytes"),
    ],
)
def test_labels_of_other_types_are_no_error_of_pandas(cells, message, categorical):
    with pytest.raises(LabelTypeError, match=message):
        label_column(pd.Series(cells, dtype=object), name="churn", categorical=categorical)


def test_objects_of_polars_become_categories():
    found = label_column(pl.Series("churn", ["a", "b", pd.NA], dtype=pl.Object), categorical=True)
    assert found.to_list() == ["a", "b", None]
