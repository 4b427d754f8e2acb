"""Dates as days, season and weekday."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mixkern import MixtureSVC, TableEncoder, load, save
from mixkern.encoding import CategoricalColumn, ContinuousColumn, DateColumn
from mixkern.encoding.date import NAMES, SAMPLE, season_evidence, seasons, weekdays
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import CellTypeError, TableError, UnseenCategoryWarning

EPOCH = dt.date(1970, 1, 1)


def days_of(dates):
    return np.array([(date - EPOCH).days for date in dates], dtype=float)


def orders(n=300, *, effect=True, seed=0):
    """Orders over three years; the amount depends on the season."""
    random = np.random.RandomState(seed)
    when = pd.Timestamp("2021-01-01") + pd.to_timedelta(random.randint(0, 1095, n), unit="D")
    amount = random.randn(n) + 2 * effect * np.isin(when.quarter, (2, 3))
    return pd.DataFrame({"amount": amount, "when": when, "size": random.randn(n)})


def column_of(cells):
    return DateColumn.fit(raw_columns(pd.DataFrame({"when": cells}))[0])


# ---------------------------------------------------------------- the calendar


def test_weekdays_and_seasons_are_those_of_the_calendar():
    dates = [dt.date(1899, 12, 31) + dt.timedelta(days=13 * i) for i in range(9000)]
    days = days_of(dates)
    assert weekdays(days).tolist() == [date.weekday() for date in dates]
    assert seasons(days).tolist() == [(date.month - 1) // 3 for date in dates]
    assert weekdays(days + 0.999).tolist() == weekdays(days).tolist()


def test_gaps_have_no_weekday():
    assert weekdays(np.array([np.nan])).tolist() == seasons(np.array([np.nan])).tolist() == [-1]


@pytest.mark.parametrize(
    ("dates", "season", "weekday"),
    [
        (pd.date_range("2021-01-01", periods=700), True, True),
        (pd.date_range("2021-01-01", "2021-12-31"), False, True),  # no season of a second year
        (pd.date_range("2021-11-01", "2022-03-31"), False, True),  # two seasons, each in one winter
        (pd.date_range("2021-01-01", "2022-03-31"), False, True),  # only one season in both years
        (pd.date_range("2021-01-01", "2022-04-01"), True, True),
        (pd.date_range("2021-01-04", periods=7), False, False),
        (pd.date_range("2021-01-04", periods=8), False, False),
        (pd.date_range("2021-01-04", periods=9), False, True),
        (pd.date_range("2021-01-04", periods=70, freq="7D"), True, False),  # Mondays
        (pd.date_range("2021-01-01", periods=40, freq="MS"), True, False),  # figures by month
        (pd.to_datetime(["2021-05-01", None, "2021-05-01"]), False, False),
        (pd.to_datetime([None, None]), False, False),
    ],
)
def test_where_season_and_weekday_vary(dates, season, weekday):
    column = column_of(dates)
    assert isinstance(column, DateColumn) == (season or weekday)
    extra = column.extra if isinstance(column, DateColumn) else {}
    assert ("season" in extra, "weekday" in extra) == (season, weekday)


def test_weekdays_stand_in_the_order_of_the_week():
    column = column_of(pd.bdate_range("2024-01-03", periods=30))
    assert column.weekday.categories == NAMES["weekday"][:5]
    assert (column.weekday.name, column.weekday.remark) == ("when: weekday", "of 'when'")


# ---------------------------------------------------------------- encoded


def test_a_date_becomes_days_season_and_weekday():
    table = orders()
    table.loc[3, "when"] = pd.NaT
    encoder = TableEncoder().fit(table)
    names = ["amount", "when", "size", "when: season", "when: weekday"]
    assert encoder.get_feature_names_out().tolist() == names
    assert [column.name for column in encoder.columns_] == list(table) == encoder.feature_names_in_.tolist()
    assert encoder.n_features_in_ == 3
    assert (encoder.continuous_, encoder.categorical_) == (names[:3], names[3:])
    encoded = encoder.transform(table)
    assert np.isnan(encoded[3]).tolist() == [False, True, False, True, True]
    there = np.arange(len(table)) != 3
    as_before = TableEncoder(continuous=["when"]).fit_transform(table)
    np.testing.assert_array_equal(encoded[:, :3], as_before)
    when = table["when"][there]
    seen = [encoder.columns_[1].season.categories[int(code)] for code in encoded[there, 3]]
    assert seen == [NAMES["season"][quarter - 1] for quarter in when.dt.quarter]
    assert [encoder.columns_[1].weekday.categories[int(code)] for code in encoded[there, 4]] == list(when.dt.day_name())


def test_dates_come_back_from_their_days():
    table = orders()
    encoder = TableEncoder().fit(table)
    back = encoder.inverse_transform(encoder.transform(table))
    assert list(back) == list(table)
    assert abs(back["when"] - table["when"]).max() < pd.Timedelta("1ms")


@pytest.mark.parametrize("make", [pd.DataFrame, lambda table: pl.DataFrame(table.to_dict("series"))])
def test_frames_of_both_libraries(make):
    table = orders()
    expected = TableEncoder().fit_transform(table)
    np.testing.assert_array_equal(TableEncoder().fit_transform(make(table)), expected)


def test_a_date_that_is_named_as_continuous_is_one_number():
    table = orders()
    encoder = TableEncoder(continuous=["when"]).fit(table)
    assert encoder.get_feature_names_out().tolist() == list(table)
    assert type(encoder.columns_[1]) is ContinuousColumn


def test_a_weekday_that_was_absent_is_another_one():
    table = pd.DataFrame({"when": pd.bdate_range("2024-01-03", periods=30), "size": np.arange(30) % 7 + 0.5})
    encoder = TableEncoder().fit(table)
    later = table[:2].assign(when=pd.to_datetime(["2024-02-10", "2024-02-12"]))
    assert encoder.unseen(later) == {"when: weekday": {"Saturday": 1}}
    with pytest.warns(UnseenCategoryWarning, match="'when: weekday': 'Saturday' \\(1\\)"):
        encoded = encoder.transform(later)
    assert encoded[:, -1].tolist() == [5.0, 0.0]


def test_numbers_are_no_dates():
    table = orders()
    with pytest.raises(CellTypeError, match="Column 'when' was fitted as date, but is number now"):
        TableEncoder().fit(table).transform(table.assign(when=1.5))


def test_names_that_the_table_has_already():
    table = orders().assign(**{"when: weekday": "a", "when: season": "b"})
    encoder = TableEncoder().fit(table)
    assert set(encoder.categorical_) == {"when: weekday", "when: season", "when: weekday (2)", "when: season (2)"}
    assert encoder.transform(table).shape == (300, 7)


def test_names_that_are_given_later():
    encoder = TableEncoder().fit(orders().to_numpy())
    assert encoder.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c", "b: season", "b: weekday"]


def test_described_in_a_row_for_each_column_of_the_table():
    found = TableEncoder().fit(orders()).describe()
    assert found.index.tolist() == ["amount", "when", "size"]
    assert found.loc["when", "read_as"] == "continuous"


def test_blocks_of_rows_are_encoded_like_the_whole_table():
    table = orders()
    encoder = TableEncoder().fit(table)
    whole = encoder.transform(table)
    np.testing.assert_array_equal(np.vstack([encoder.transform(table[:7]), encoder.transform(table[7:])]), whole)


# ---------------------------------------------------------------- whether the season matters


def literal_evidence(values, days):
    """Twice the difference of the logarithms of the likelihood of two linear models, less the penalty of BIC."""
    n, codes = len(values), seasons(days)
    trend = np.column_stack([np.ones(n), days])
    rest = values - trend @ np.linalg.solve(trend.T @ trend, trend.T @ values)
    fitted = np.array([rest[codes == code].mean() for code in codes])
    log_likelihood = [-n / 2 * np.log(np.mean((rest - mean) ** 2)) for mean in (0.0, fitted)]
    return 2 * (log_likelihood[1] - log_likelihood[0]) - (len(set(codes)) - 1) * np.log(n)


def test_evidence_of_numbers():
    random = np.random.RandomState(0)
    days = random.uniform(0, 1500, 200)
    for values in (random.randn(200), random.randn(200) + np.cos(days / 58), days / 100 + random.randn(200)):
        found = season_evidence(values, days, is_categorical=False)
        assert found == pytest.approx(literal_evidence(values, days), rel=1e-6)


def test_evidence_of_categories():
    random = np.random.RandomState(0)
    days = random.uniform(0, 1500, 200)
    codes = (random.rand(200) + (seasons(days) > 1) > 1).astype(float)
    table = pd.crosstab(codes, seasons(days)).to_numpy() / 200
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    information = sum(p * np.log(p / q) for p, q in zip(table.flat, expected.flat, strict=True) if p > 0)
    found = season_evidence(codes, days, is_categorical=True)
    assert found == pytest.approx(2 * 200 * information - 3 * np.log(200))
    assert found > 0
    assert season_evidence(random.randint(0, 2, 200).astype(float), days, is_categorical=True) < 0


@pytest.mark.parametrize(
    ("more", "has_season"),
    [
        ({}, False),
        ({"trend": lambda table: table["when"].astype("int64") / 1e15}, False),
        ({"warm": lambda table: np.cos(table["when"].dt.day_of_year / 58)}, True),
        ({"coat": lambda table: np.where(table["when"].dt.quarter < 3, "thick", "thin")}, True),
        ({"one": 1.5}, False),
    ],
)
def test_a_season_is_there_if_another_column_varies_with_it(more, has_season):
    table = orders(effect=False).assign(**more)
    assert ("when: season" in TableEncoder().fit(table).categorical_) == has_season


def test_a_table_of_dates_alone_keeps_the_season():
    assert TableEncoder().fit(orders()[["when"]]).categorical_ == ["when: season", "when: weekday"]


def test_a_season_without_weekday_leaves_plain_days():
    table = pd.DataFrame({"when": pd.date_range("2021-01-04", periods=70, freq="7D"), "a": np.arange(70) % 2 + 0.5})
    assert type(TableEncoder().fit(table).columns_[0]) is ContinuousColumn


def test_many_rows_are_sampled():
    table = orders(SAMPLE + 500)
    assert "when: season" in TableEncoder().fit(table).categorical_


# ---------------------------------------------------------------- models


@pytest.mark.parametrize("kernel", ["blend", "rwm", "rbf"])
def test_a_weekly_pattern_is_learned_and_saved(kernel, tmp_path):
    table = orders(200, effect=False)
    y = np.where(table["when"].dt.day_of_week >= 5, "weekend", "week").astype(object)
    few = np.where(np.arange(200) < 60, y, None)
    model = MixtureSVC(kernel, random_state=0).fit(table, few)
    blind = MixtureSVC(kernel, encoder=TableEncoder(continuous=["when"]), random_state=0).fit(table, few)
    assert model.score(table[60:], y[60:]) > blind.score(table[60:], y[60:])
    again = load(save(model, tmp_path / "a.mixkern"))
    assert again.encoder_.columns_ == model.encoder_.columns_
    assert again.predict_proba(table).tobytes() == model.predict_proba(table).tobytes()
    assert pickle.loads(pickle.dumps(model)).predict_proba(table).tobytes() == model.predict_proba(table).tobytes()
    columns = set(model.explain(table[:3], by="column")["column"])
    assert columns <= {*model.encoder_.get_feature_names_out(), "(others)"}
    assert "when: weekday" in columns


def test_parts_of_other_columns_are_refused():
    column = column_of(pd.date_range("2021-01-01", periods=700))
    wrong = CategoricalColumn("when: weekday", column.weekday.kind, ("Montag",))
    fields = {name: getattr(column, name) for name in ("name", "kind", "n_values", "origin", "mean", "deviation")}
    with pytest.raises(TableError, match="The season and weekday of column 'when' are not valid"):
        DateColumn(**fields, weekday=wrong)
