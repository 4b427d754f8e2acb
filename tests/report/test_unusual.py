"""The most unusual rows, and why they are unusual."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC, datasets
from mixkern.errors import ColumnChoiceWarning
from mixkern.report.facts import ModelFacts
from mixkern.report.unusual import unusual_blocks
from mixkern.wording import percent


@pytest.fixture(scope="module")
def heart():
    data = datasets.load("heart")
    y = data.few_labels(per_class=15, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnChoiceWarning)
        return ModelFacts.of(MixtureSVC(random_state=0).fit(data.X, y), data.X, y, "disease")


def test_the_cell_that_makes_a_row_unusual_is_shown(heart):
    (table,) = unusual_blocks(heart)
    lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    (line,) = (line for line in lines if line["Row"] == "2")
    assert line["chol"] == "564"
    assert re.match(r"chol 564 \(\d+ to \d+\)", line["Unusual cells"])
    low, high = map(int, re.findall(r"chol 564 \((\d+) to (\d+)\)", line["Unusual cells"])[0])
    assert 100 < low < high < 500


def test_a_component_of_one_row_does_not_make_it_usual(heart):
    """The row of highest cholesterol has a component of its own, and so a high density."""
    k = heart.components[1]
    assert heart.sizes[k] == 1
    assert heart.novelty[1] < 0.95
    (table,) = unusual_blocks(heart)
    assert table.rows[0][0] == "2"
    others = np.delete(np.arange(heart.model.mixture_.n_components), k)
    joint = heart.model.mixture_.log_joint(heart.rows)[:, others]
    density = np.log(np.exp(joint).sum(axis=1))
    for row in table.rows:
        share = (density > density[int(row[0]) - 1]).mean()
        assert row[1] == percent(share)


def test_categories_have_their_share_and_ranges_stay_within_the_column(heart):
    (table,) = unusual_blocks(heart)
    cells = "; ".join(row[4] for row in table.rows)
    assert re.search(r"(sex|thal|chest_pain|rest_ecg) \d \((< )?\d+ %\)", cells)
    for low, high in re.findall(r"oldpeak [\d.]+ \((-?[\d.]+) to (-?[\d.]+)\)", cells):
        assert 0 <= float(low) <= float(high) <= 6.2


def test_texts_and_gaps(commented):
    (table,) = unusual_blocks(ModelFacts.of(*commented, "about"))
    assert len(table.rows) == 10
    assert any("the words of note" in row[4] for row in table.rows)


def test_a_combination_may_be_unusual_without_a_single_cell():
    random = np.random.RandomState(0)
    X = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"]).clip(-1, 1)
    y = np.where(np.arange(60) < 10, np.arange(60) % 2, -1)
    (table,) = unusual_blocks(ModelFacts.of(MixtureSVC(random_state=0).fit(X, y), X, y, "label"))
    assert all(row[4].startswith("no single cell, but their combination; most of all ") for row in table.rows)
