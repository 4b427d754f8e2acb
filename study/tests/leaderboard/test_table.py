"""Tables that say what the entries say."""

import dataclasses

import pytest

from mixkern_study import Entry
from mixkern_study.leaderboard import leaderboard_tables
from mixkern_study.leaderboard.table import labels_words
from mixkern_study.method_list import title_of_method
from mixkern_study.result_table import text_rows

SCORES = {"mixture_svc": (0.9, 0.8, 0.7), "svc": (0.8, 0.85, 0.6), "forest": (0.7, 0.75, 0.5)}


def entries(*, gain=0.0, **changes):
    plain = {"budget": 4, "choice": "random", "draw": 0, "settings": "", "n_labelled": 8, "n_seen": 2}
    plain |= {"structure_s": 1.0, "learning_s": 0.5, "balanced_accuracy": 0.5}
    return [
        Entry(data_set=name, method=method, accuracy=score + gain, **{**plain, **changes})
        for method, scores in SCORES.items()
        for name, score in zip(("iris", "credit_a", "mine"), scores, strict=True)
    ]


BOTH = [
    *entries(),
    *entries(budget=8, gain=0.05),
    *entries(choice="suggested", gain=0.02),
    *entries(choice="suggested", budget=8, gain=0.06),
]


@pytest.fixture(scope="module")
def tables():
    return {table.name: table for choice in ("random", "suggested") for table in leaderboard_tables(BOTH, choice)}


def test_which_tables_there_are(tables):
    each = ["leaderboard", "comparisons", "budgets", "data_sets"]
    assert list(tables) == [*(f"{n}_random" for n in each), *(f"{n}_suggested" for n in each), "advice"]
    assert [table.name for table in leaderboard_tables(entries())] == [
        "leaderboard_random",
        "comparisons_random",
        "data_sets_random",
    ]


def test_the_ranking(tables):
    table = tables["leaderboard_random"]
    assert table.title == "Leaderboard, 4 or 8 labels per class, random rows"
    first, second, third = text_rows(table)
    assert table.columns[2:4] == ("Balanced", "Rank")  # without probabilities there is no column for them
    assert "calibration" not in table.caption
    assert first == ["MixtureSVC", "82.50", "50.00", "1.333", "2.0", "-5.00", "Credit A", "1.5", "0"]
    assert second[0] == "SVC"
    assert second[5:7] == ["-", "-"]
    assert third[0] == "Random forest"
    assert "3 data sets of 2 draws" in table.caption
    assert "most frequent label" in table.caption


def test_the_best_are_bold(tables):
    assert "| MixtureSVC | **82.50** |" in tables["leaderboard_random"].to_markdown()


def test_calibration_is_beside_accuracy():
    calibrated = [
        dataclasses.replace(each, log_loss=0.25, reliability="[[10,9.0,8]]") if each.method == "forest" else each
        for each in entries()
    ]
    (table, *_) = leaderboard_tables(calibrated)
    assert table.columns[3:5] == ("ECE", "Log loss")
    assert [row[3:5] for row in text_rows(table)] == [["-", "-"], ["-", "-"], ["10.00", "0.250"]]
    assert "| **10.00** | **0.250** |" in table.to_markdown()
    assert "10 bins of equal width" in table.caption


def test_comparisons(tables):
    first, second = text_rows(tables["comparisons_random"])
    assert first[:3] == ["SVC", "+5.00", "+0.67"]
    assert second[:3] == ["Random forest", "+15.00", "+1.00"]


def test_budgets_and_data_sets(tables):
    assert tables["budgets_random"].columns == ("Method", "4", "8")
    assert text_rows(tables["budgets_random"])[0] == ["MixtureSVC", "80.00", "85.00"]
    assert text_rows(tables["data_sets_random"])[1][:2] == ["Credit A", "82.50"]
    assert text_rows(tables["data_sets_random"])[-1][:2] == ["Mean", "82.50"]


def test_what_advice_is_worth(tables):
    assert tables["advice"].columns == ("Method", "4", "8", "All")
    assert text_rows(tables["advice"])[0][1:] == ["+2.00", "+1.00", "+1.50"]


def test_unfinished_data_sets_are_named():
    (table, *_) = leaderboard_tables([*entries(), *entries(draw=1)[:1]])
    assert table.caption.endswith("left out: Iris.")


def test_words():
    assert labels_words([1]) == "1 label per class"
    assert labels_words([2, 16]) == "2 or 16 labels per class"
    assert title_of_method("lap") == "MixtureSVC, LAP"
