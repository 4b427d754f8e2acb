"""A CSV as a data set."""

import pytest

from mixkern import datasets
from mixkern.errors import TableError


def written(tmp_path, text, name="mine.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


MIXED = "age,colour,kind\n1,red,a\n2,,b\n,blue,a\n4,red,\n5,blue,b\n"


def test_kinds_of_columns_gaps_and_rows_without_a_label(tmp_path):
    own = datasets.read_table(written(tmp_path, MIXED), "kind")
    assert (own.name, own.title, own.continuous, own.categorical) == ("mine", "mine", ("age",), ("colour",))
    assert own.X.shape == (4, 2)
    assert own.y.tolist() == ["a", "b", "a", "b"]
    assert own.X.isna().sum().tolist() == [1, 1]
    assert list(own.X.index) == [0, 1, 2, 3]


def test_the_last_column_is_the_target(tmp_path):
    assert datasets.read_table(written(tmp_path, MIXED)).y.name == "kind"


def test_any_column_may_be_the_target(tmp_path):
    own = datasets.read_table(written(tmp_path, MIXED), "colour")
    assert own.classes == ("blue", "red")
    assert own.continuous == ("age",)


@pytest.mark.parametrize(
    ("text", "target", "why"),
    [
        (MIXED, "knid", "has no column 'knid'. Did you mean 'kind'?"),
        ("", None, "mine.csv is empty"),
        ("a,b\n1\n", None, "line 2: 1 field, but the header has 2"),
        ("a\n1\n2\n", None, "needs a column of labels and at least one other"),
        ("a,b\n1,x\n2,x\n", None, "at least two classes, but 1 came"),
        ("a,b\n1,x\n2,y\n", None, "holds 2 different values in 2 rows rather than classes"),
        ("a,b\n1,0.5\n2,0.25\n3,0.5\n", None, "rather than classes"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, target, why):
    with pytest.raises(TableError, match=why.replace("?", r"\?")):
        datasets.read_table(written(tmp_path, text), target)


def test_row_numbers_and_whole_numbers_with_gaps(tmp_path):
    own = datasets.read_table(written(tmp_path, ",age,kind\n0,1,1\n1,2,\n2,3,2\n3,4,2\n4,5,3\n"))
    assert list(own.X) == ["age"]
    assert own.classes == (1.0, 2.0, 3.0)


def test_dates_are_categories_and_other_delimiters_are_found(tmp_path):
    own = datasets.read_table(written(tmp_path, "since;size;kind\n2024-05-01;1,5;a\n;2,5;b\n2024-05-02;3;a\n"))
    assert (own.continuous, own.categorical) == (("size",), ("since",))
    assert own.X["since"].tolist()[0] == "2024-05-01"
    assert own.X["size"].tolist() == [1.5, 2.5, 3.0]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match=r"no\.csv cannot be read"):
        datasets.read_table(tmp_path / "no.csv")
