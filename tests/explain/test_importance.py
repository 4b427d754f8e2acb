"""Importance of columns, compared with its definition, one cell after the other."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mixkern import MixtureOneClassSVM, MixtureSVC, TransductiveSVC, VBMixture
from mixkern.errors import OptionError
from mixkern.explain import column_importance
from mixkern.explain.importance import column_positions, importances

RANDOM = np.random.RandomState(0)
GROUP = np.arange(60) % 2
TABLE = pd.DataFrame(
    {
        "noise": RANDOM.normal(size=60),
        "size": 4.0 * GROUP + RANDOM.normal(size=60),
        "town": np.where(RANDOM.uniform(size=60) < 0.2, "Ulm", np.where(GROUP == 1, "Kassel", "Passau")),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(RANDOM.randint(0, 300, 60), unit="D"),
    }
)
TABLE.loc[RANDOM.permutation(60)[:12], "size"] = np.nan
TABLE.loc[RANDOM.permutation(60)[:6], "town"] = None
Y = np.where(np.arange(60) < 16, np.array(["a", "b"])[GROUP], None)


def fitted(machine=MixtureSVC, **settings):
    return machine(density=VBMixture(3, random_state=0), random_state=0, **settings).fit(TABLE, Y)


@pytest.fixture(scope="module")
def model():
    return fitted()


def literal(model, table, n_repeats, seed):
    """Exchange cells in the table itself, row by row, in the order in which the function draws rows and partners."""
    random = np.random.RandomState(seed)
    order = random.permutation(len(table))
    some = table.iloc[order].reset_index(drop=True)
    before, turns = model.predict_proba(some), random.permutation(len(some))
    found = dict.fromkeys(table.columns, 0.0)
    for _ in range(n_repeats):
        step = random.randint(1, len(some))
        for name in table.columns:
            other = some.copy()
            for i in range(len(some)):
                other.loc[turns[i], name] = some.loc[turns[i - step], name]
            after = model.predict_proba(other)
            for i in range(len(some)):
                found[name] += sum(abs(after[i] - before[i])) / 2 / len(some) / n_repeats
    return found


def test_it_is_the_mean_change_of_the_probabilities(model):
    found = column_importance(model, TABLE, n_repeats=2, random_state=3)
    expected = literal(model, TABLE, 2, 3)
    assert dict(zip(found["column"], found["importance"], strict=True)) == pytest.approx(expected, abs=1e-9)
    assert found["importance"].is_monotonic_decreasing
    assert set(found["column"]) == set(TABLE)  # days and weekdays are one column
    assert found["column"][0] in ("size", "town")


def test_equal_cells_have_no_importance(model):
    found = column_importance(model, TABLE.assign(size=1.5)).set_index("column")["importance"]
    assert found["size"] == 0
    assert (found.drop("size") > 0).all()
    assert found.max() < 1


def test_without_probabilities_labels_are_compared():
    model = fitted(probability=False)
    found = column_importance(model, TABLE, n_rows=20)
    shares = found["importance"].to_numpy() * 40  # 20 rows, twice
    np.testing.assert_allclose(shares, shares.round(), atol=1e-9)


def test_classifiers_of_one_class_against_others_and_of_three_classes():
    three = np.where(np.arange(60) < 18, np.array(["a", "b", "c"])[np.arange(60) % 3], None)
    for machine in (MixtureSVC, TransductiveSVC):
        model = machine(density=VBMixture(3, random_state=0), random_state=0).fit(TABLE, three)
        assert column_importance(model, TABLE, n_rows=30)["importance"].between(0, 1).all()


def test_encoded_rows_and_other_frames(model):
    rows = np.column_stack([RANDOM.normal(size=60), 4 * GROUP + RANDOM.normal(size=60)])
    encoded = MixtureSVC(encoder=None, density=VBMixture(2, random_state=0)).fit(rows, Y)
    assert column_importance(encoded, rows)["column"].tolist() == ["x1", "x0"]
    assert list(column_positions(encoded)) == ["x0", "x1"]
    frame = pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1]})
    found = column_importance(MixtureSVC(density=VBMixture(2, random_state=0)).fit(frame, Y), frame)
    assert isinstance(found, pl.DataFrame)
    assert found["column"].to_list() == ["b", "a"]


def test_one_row_has_no_other(model):
    assert column_importance(model, TABLE.iloc[:1])["importance"].tolist() == [0.0] * 4


def test_a_wide_table_has_fewer_rows(monkeypatch):
    monkeypatch.setattr("mixkern.explain.importance.MOST_CELLS", 300)
    monkeypatch.setattr("mixkern.explain.importance.FEWEST_ROWS", 5)
    sizes = []
    model = fitted()
    predict = model.predict_proba
    monkeypatch.setattr(model, "predict_proba", lambda rows: sizes.append(len(rows)) or predict(rows), raising=False)
    importances(model, model.rows_of(TABLE))
    assert set(sizes) == {300 // (model.rows_of(TABLE).shape[1] * 4)}


@pytest.mark.parametrize(("name", "wrong"), [("n_rows", 0), ("n_repeats", 0), ("n_repeats", None)])
def test_wrong_numbers_are_refused(model, name, wrong):
    with pytest.raises(OptionError, match=f"{name} must be a whole number, 1 or more"):
        column_importance(model, TABLE, **{name: wrong})


def test_other_models_are_refused():
    with pytest.raises(OptionError, match="model must be a fitted classifier of mixkern"):
        column_importance(MixtureOneClassSVM(random_state=0).fit(TABLE), TABLE)
