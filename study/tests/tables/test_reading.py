"""The readings side by side, against plain loops."""

import math
import statistics

import pytest

from mixkern_study import KERNELS, Store, critical_value, readings_table
from mixkern_study.ranking import standings

from .example import READINGS, SETS, cells_of, fold_means, ranks_and_wins, result


def test_readings_stand_side_by_side(store):
    store.add([result("wine", "rbf", fold, 0.99, reading="ceiling", repeat=r) for fold in range(5) for r in range(2)])
    table = readings_table(store, 1)
    means = [[statistics.mean(fold_means(d, m)) for m in KERNELS] for d in SETS]
    row = cells_of(table, "RBF accuracy")
    assert row["optimistic"].value == pytest.approx(statistics.mean(each[2] for each in means))
    assert row["ceiling"].value == pytest.approx((means[0][2] + 99 + means[2][2]) / 3)
    found = standings(store, 1)
    assert cells_of(table, "RWM ahead of RBF")["published"].value == pytest.approx(
        found["published"].means["rwm"] - found["published"].means["rbf"]
    )
    assert cells_of(table, "RWM mean rank")["optimistic"].value == pytest.approx(
        ranks_and_wins([[round(v, 9) for v in row] for row in means])[0][0]
    )
    assert cells_of(table, "Critical difference at 0.05")["ceiling"].value == pytest.approx(
        critical_value(4) * math.sqrt(4 * 5 / (6 * 3))
    )
    assert cells_of(table, "its p-value")["published"].value == found["published"].test.iman_davenport_p


def test_with_one_data_set_there_is_no_test(tmp_path):
    store = Store(tmp_path / "one.sqlite")
    store.add(result("iris", m, fold, 0.9, reading=r) for m in ("rwm", "rbf") for fold in range(5) for r in READINGS)
    table = readings_table(store, 1)
    assert cells_of(table, "RWM accuracy")["optimistic"].value == pytest.approx(90)
    assert cells_of(table, "Friedman's chi-square")["optimistic"].to_text() == "-"
    assert "1 data set of" in table.caption
    assert [row[0].value for row in table.rows[:3]] == ["RWM accuracy", "RBF accuracy", "RWM ahead of RBF"]
