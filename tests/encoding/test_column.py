import datetime as dt
import pickle
from statistics import fmean, pstdev

import numpy as np
import pandas as pd
import pytest

from mixkern.encoding.cell import Kind
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.raw_column import Coded, RawColumn, raw_columns
from mixkern.errors import CellTypeError, InfiniteValueError, NotNumericError, TooLargeError

NAN = np.nan


def column(cells, dtype=None):
    (raw,) = raw_columns(pd.DataFrame({"a": pd.Series(cells, dtype=dtype)}))
    return raw


# Continuous


@pytest.mark.parametrize(
    "cells",
    [
        [1.0, 2.0, 4.0],
        [-7.5, NAN, 3.25, 3.25],
        [1e9, 1e9 + 1e-6, 1e9 + 2e-6],
        [1e200, 3e200, -2e200],
        [1e-200, 3e-200, 4e-200],
        [2.0**-1015, 2.0**-1010, 0.0],
        [1e307, 8e307, 1e308, 1.5e308],
    ],
)
def test_z_scores_follow_their_definition(cells):
    raw = column(cells)
    there = [cell for cell in cells if cell == cell]
    shifted = [cell - min(there) for cell in there]
    unit = max(shifted)  # the definition, in a unit where squares neither vanish nor overflow
    mean, deviation = fmean(v / unit for v in shifted), pstdev(v / unit for v in shifted)
    expected = [((cell - min(there)) / unit - mean) / deviation for cell in cells]
    np.testing.assert_allclose(ContinuousColumn.fit(raw).encode(raw), expected, rtol=1e-12, atol=1e-13)


def test_values_that_differ_by_the_smallest_float():
    raw = column([0.0, 5e-324, 0.0, 0.0])
    encoded = ContinuousColumn.fit(raw).encode(raw)
    assert np.isfinite(encoded).all()
    assert encoded[1] > encoded[0]


def test_mean_and_deviation_in_own_unit():
    learned = ContinuousColumn.fit(column([20.0, 40.0, NAN]))
    assert (learned.origin + learned.mean, learned.deviation, learned.n_values) == (30.0, 10.0, 2)


def test_one_value_becomes_zero_now_and_a_distance_later():
    learned = ContinuousColumn.fit(column([7.0, 7.0, NAN]))
    assert learned.remark == "one value: becomes 0 in every row"
    np.testing.assert_array_equal(learned.encode(column([7.0, NAN, 9.5])), [0, NAN, 2.5])


def test_no_value_becomes_gaps_now_and_later():
    learned = ContinuousColumn.fit(column([None, None]))
    assert learned.remark == "no value: read as gaps, now and later"
    np.testing.assert_array_equal(learned.encode(column(["a", "b"])), [NAN, NAN])
    np.testing.assert_array_equal(learned.encode(column([1.0])), [NAN])


@pytest.mark.parametrize(
    ("fitted", "came", "n_ignored"),
    [
        ([None, None], ["a", None, "b"], 2),
        ([NAN, NAN], [1.0, NAN], 1),
        ([None, None], [None], 0),
        ([1.0, NAN], [1.0, 2.0], 0),
    ],
)
def test_values_in_a_column_that_was_empty_are_counted(fitted, came, n_ignored):
    assert ContinuousColumn.fit(column(fitted)).n_ignored(column(came)) == n_ignored


@pytest.mark.parametrize(
    "cells", [[1.5, NAN, None], [7.0, NAN, NAN], [1.5, 2.5, NAN], [None, None], ["1", "nan", None]]
)
def test_gaps_are_counted(cells):
    raw = column(cells, object)
    learned = ContinuousColumn.fit(raw)
    assert learned.n_gaps == np.isnan(raw.numbers()).sum()
    assert learned.n_gaps + learned.n_values == len(cells)
    assert CategoricalColumn.fit(raw).n_gaps == raw.texts().count(None)


def test_numbers_come_back():
    raw = column([1.5, NAN, -3.0, 1e6])
    learned = ContinuousColumn.fit(raw)
    np.testing.assert_allclose(learned.decode(learned.encode(raw)), raw.cells, rtol=1e-12)


@pytest.mark.parametrize(
    "cells",
    [
        pd.to_datetime(["2020-02-29 12:34:56.789012", None, "1950-01-01 00:00:00"], format="ISO8601"),
        pd.to_timedelta(["1D 00:00:00.000001", None, "-3h"]),
    ],
    ids=["dates", "durations"],
)
def test_moments_come_back_to_the_microsecond(cells):
    raw = column(cells)
    learned = ContinuousColumn.fit(raw)
    decoded = learned.decode(learned.encode(raw))
    assert decoded.dtype == ("datetime64[us]" if raw.kind is Kind.DATE else "timedelta64[us]")
    np.testing.assert_array_equal(decoded, cells.to_numpy().astype(decoded.dtype))


def test_moments_beyond_the_calendar_come_back_as_gaps():
    learned = ContinuousColumn.fit(column(pd.to_datetime(["2020-01-01", "2020-01-02"])))
    assert np.isnat(learned.decode(np.array([1e12, -1e12, NAN]))).all()


def test_infinite_values():
    message = r"'a' holds 2 infinite values, the first in row 2 .*\. Replace them by numbers, or by gaps: X\.replace"
    with pytest.raises(InfiniteValueError, match=message):
        ContinuousColumn.fit(column([1.0, np.inf, -np.inf]))
    with pytest.raises(InfiniteValueError, match=message):
        ContinuousColumn.fit(column([1.0, 2.0])).encode(column([1.0, np.inf, np.inf]))


def test_too_large_values():
    message = r"'a' holds numbers up to 1e\+308, too large .* Express the column in a larger unit"
    with pytest.raises(TooLargeError, match=message):
        ContinuousColumn.fit(column([1e308, -1e308, 0.0]))
    with pytest.raises(TooLargeError, match=message):
        ContinuousColumn.fit(column([0.0, 1e-5])).encode(column([0.0, 1e308]))


def test_a_number_whose_distances_overflow_is_refused_before_any_is_computed():
    fitted = ContinuousColumn.fit(column([0.0, 1.0, 2.0]))
    assert fitted.encode(column([1e99]))[0] > 1e98
    with pytest.raises(TooLargeError, match=r"'a' holds numbers up to 1e\+200, too large"):
        fitted.encode(column([1.0, -1e200]))


@pytest.mark.parametrize(
    ("fitted", "came", "message"),
    [
        ([1.0, 2.0], [dt.date(2020, 1, 1)], "fitted as number, but is date"),
        ([dt.date(2020, 1, 1)], [18262.0], "fitted as date, but is number"),
        ([dt.timedelta(1)], [dt.date(2020, 1, 1)], "fitted as duration, but is date"),
        ([dt.timedelta(1)], [1], "fitted as duration, but is integer"),
    ],
)
def test_moments_and_numbers_are_not_confused(fitted, came, message):
    learned = ContinuousColumn.fit(column(fitted))
    with pytest.raises(CellTypeError, match=rf"{message} now\. Convert it to the type that it had\.$"):
        learned.encode(column(came))


@pytest.mark.parametrize(
    ("fitted", "came", "kind", "converter"),
    [
        ([dt.date(2020, 1, 1)], ["01/02/2020"], "date", "to_datetime"),
        ([dt.date(2020, 1, 1)], pd.Categorical(["soon"]), "date", "to_datetime"),
        ([dt.timedelta(1)], ["1"], "duration", "to_timedelta"),
    ],
)
def test_moments_that_come_as_text(fitted, came, kind, converter):
    message = rf"was fitted as {kind}, but is .* that it had: X\['a'\] = pd\.{converter}\(X\['a'\]\)\.$"
    with pytest.raises(CellTypeError, match=message):
        ContinuousColumn.fit(column(fitted)).encode(column(came))


@pytest.mark.parametrize("day", ["2020-01-02", "02.01.2020", "2020/01/02 00:00"])
def test_dates_that_are_written_in_one_way_will_do(day):
    learned = ContinuousColumn.fit(column([dt.date(2020, 1, 1), dt.date(2020, 1, 3)]))
    np.testing.assert_array_equal(learned.encode(column([day, "?", None])), [0, NAN, NAN])


def test_other_types_of_numbers_will_do():
    learned = ContinuousColumn.fit(column([1.0, 3.0]))
    for cells in ([3, 1], ["3", "1"], [True]):
        assert learned.encode(column(cells))[-1] == -1.0
    np.testing.assert_array_equal(learned.encode(column([None, None])), [NAN, NAN])


def test_text_where_numbers_were():
    learned = ContinuousColumn.fit(column([1.0, 3.0]))
    with pytest.raises(NotNumericError, match=r"'a' is a column of numbers, but row 2 .* holds 'high'"):
        learned.encode(column(["1", "high"]))


# Categorical


@pytest.mark.parametrize(
    ("cells", "dtype", "categories"),
    [
        (["b", "a", None, "b"], None, ("a", "b")),
        ([10, 9, 10], None, ("9", "10")),
        ([0.5, -2.0, 10.0, NAN], None, ("-2", "0.5", "10")),
        (["10", "9"], None, ("10", "9")),
        ([True, False], None, ("False", "True")),
        ([True, 2, 10], object, ("2", "10", "True")),
        (pd.Categorical(["b", "a"], categories=["c", "b", "a"]), None, ("a", "b")),
        (pd.to_datetime(["2020-01-02", "2020-01-01"]), None, ("2020-01-01", "2020-01-02")),
        ([dt.timedelta(10), dt.timedelta(9)], None, ("9", "10")),
        ([None, None], object, ()),
    ],
)
def test_categories(cells, dtype, categories):
    assert CategoricalColumn.fit(column(cells, dtype)).categories == categories


@pytest.mark.parametrize("cells", [["b", "a", None, "c", "b"], [3, 1, NAN, 2.5], [True, None, False]])
def test_codes_are_positions_among_the_sorted_categories(cells):
    raw = column(cells, object)
    learned = CategoricalColumn.fit(raw)
    expected = [NAN if t is None else learned.categories.index(t) for t in raw.texts()]
    np.testing.assert_array_equal(learned.encode(raw), expected)


def test_unseen_categories_get_the_code_after_the_last():
    learned = CategoricalColumn.fit(column(["a", "b"]))
    later = column(["c", "a", None, "d", "c"])
    np.testing.assert_array_equal(learned.encode(later), [2, 0, NAN, 2, 2])
    assert learned.unseen(later) == {"c": 2, "d": 1}
    assert list(learned.unseen(later)) == ["c", "d"]


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([1, 0, None], object),
        ([1.0, 0.0, NAN], None),
        (["1", "0", None], None),
        (["1.0", "0.0", None], None),
        (["true", "false", None], None),
        (["TRUE", "FALSE", None], "category"),
        (["True", "False", None], None),
        ([True, False, None], object),
        ([True, False, None], "boolean"),
    ],
)
def test_booleans_however_they_are_written(cells, dtype):
    learned = CategoricalColumn.fit(column([False, True]))
    np.testing.assert_array_equal(learned.encode(column(cells, dtype)), [1, 0, NAN])
    assert learned.unseen(column(cells, dtype)) == {}


def test_what_is_no_boolean_stays_what_it_is():
    learned = CategoricalColumn.fit(column([False, True]))
    assert learned.unseen(column(["yes", "TRUE", 2])) == {"yes": 1, "2": 1}
    assert CategoricalColumn.fit(column(["False", "True"])).unseen(column([1, 0])) == {"1": 1, "0": 1}


def test_every_category_is_unseen_where_none_was_there():
    learned = CategoricalColumn.fit(column([None, None], object))
    np.testing.assert_array_equal(learned.encode(column(["a", None])), [0, NAN])
    assert learned.unseen(column(["a", None])) == {"a": 1}


def test_one_category_is_remarked():
    assert CategoricalColumn.fit(column(["a", "a"])).remark == "one category: the same in every row"
    assert CategoricalColumn.fit(column(["a", "a"]), "chosen").remark == "chosen"


def test_categories_come_back_as_text():
    learned = CategoricalColumn.fit(column(["b", "a"]))
    assert learned.decode(np.array([0, 1, NAN, 2, 7, -3, 0.9])).tolist() == [
        "a",
        "b",
        None,
        "(other)",
        "(other)",
        "a",
        "b",
    ]


@pytest.mark.parametrize("column_type", [ContinuousColumn, CategoricalColumn])
def test_columns_are_values(column_type):
    raw = RawColumn("a", Kind.INTEGER, Coded.of_cells([1, 2, 3]))
    assert pickle.loads(pickle.dumps(column_type.fit(raw))) == column_type.fit(raw)
    assert hash(column_type.fit(raw)) == hash(column_type.fit(raw))
