"""Why one row has its label, as a text and as JSON."""

import json
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF

from mixkern import MixtureSVC, VBMixture, datasets
from mixkern.errors import MixkernWarning, TableError
from mixkern.explain.explanation import N_NEIGHBOURS, WIDTH, Explanation


@cache
def table(name):
    data = datasets.load(name)
    return data.X, data.few_labels(per_class=10, random_state=0)


@cache
def machine(name):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)
        return MixtureSVC(density=VBMixture(n_components=5, max_iter=30), random_state=0).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "credit_a", "heart"])
def test_the_text_fits_a_screen_and_the_content_is_json(name):
    X, _ = table(name)
    for i in range(0, len(X), len(X) // 6):
        why = Explanation.of(machine(name), X.iloc[[i]])
        lines = str(why).splitlines()
        assert len(lines) <= 32
        assert max(map(len, lines)) <= WIDTH
        assert str(why) == "\n".join(lines)
        content = json.loads(json.dumps(why.to_dict(), allow_nan=False))
        assert content["row"] == i
        assert content["label"] == machine(name).predict(X.iloc[[i]])[0]


def test_it_says_what_the_machine_says():
    X, _ = table("heart")
    model = machine("heart")
    why = Explanation.of(model, X.iloc[[71]])
    odds = model.predict_proba(X.iloc[[71]])[0]

    assert why.probabilities == dict(sorted(zip(model.classes_, odds, strict=True), key=lambda pair: -pair[1]))
    assert why.label == next(iter(why.probabilities))
    assert why.novelty == model.novelty(X.iloc[[71]])[0]
    assert abs(why.neighbours["pull"].sum() - why.score) < 1e-12
    assert abs(why.components["pull"].sum() - why.score) < 1e-12
    assert (why.neighbours["source"] == "neighbour").sum() == N_NEIGHBOURS
    columns = model.explain(X.iloc[[71]], by="column", n=None, details=True)
    for word in ("for", "against", "component"):
        part = columns[columns["beside"] == word].set_index("column")
        shares = why.columns.set_index("column")[f"{word}_share"]
        np.testing.assert_allclose(shares, (part["part"] / part["total"])[shares.index])


def test_it_reads_like_this():
    X, _ = table("heart")
    why = Explanation.of(machine("heart"), X.iloc[[71]])
    lines = str(why).splitlines()

    assert lines[0] == "Row 71 is predicted as 'absent', rather than 'present'."
    assert (
        lines[1]
        == f"Probability: 'absent' {why.probabilities['absent']:.2f}, 'present' {why.probabilities['present']:.2f}."
    )
    assert "Labelled rows that pull it to 'absent' (+) or to 'present' (-):" in lines
    assert f"  {why.score:+6.2f}  score" in lines
    assert any(line.startswith("It comes from component ") for line in lines)
    head = f"  column           this row {'row %d (+)':>16} {'row %d (-)':>16}      component %d"
    assert any(line.split() == (head % tuple(why.beside.values())).split() for line in lines)
    assert any(line.split()[:2] == ["chol", "354"] for line in lines)


def test_a_strange_row_is_called_so():
    X, _ = table("heart")
    strange = X.iloc[[0]].assign(chol=2000.0)

    assert "It is unlike the training rows: use the label with caution." in str(
        Explanation.of(machine("heart"), strange)
    )
    assert "caution" not in str(Explanation.of(machine("heart"), X.iloc[[71]]))


def test_a_gap_is_shown_and_told_what_was_compared():
    X, _ = table("heart")
    gap = X.iloc[[71]].assign(age=np.nan, chol=np.nan, max_hr=np.nan, rest_bp=np.nan)
    why = Explanation.of(machine("heart"), gap)
    filled = why.columns[why.columns["for_filled"] | why.columns["against_filled"]]

    assert len(filled)
    assert filled["value"].isna().all()
    assert "(gap)" in str(why)
    assert "  * a gap: its expected value was compared" in str(why)


def test_machines_without_probabilities_or_distances_are_explained():
    X, y = table("iris")
    model = MixtureSVC(RBF(2.0), probability=False, random_state=0).fit(X, y)
    why = Explanation.of(model, X.iloc[[71]])

    assert why.probabilities is None
    assert why.columns is None
    assert "Probability" not in str(why)
    assert "Columns" not in str(why)
    assert why.to_dict()["columns"] is None


def test_long_names_dates_and_numbers_as_labels_fit_too():
    random = np.random.RandomState(0)
    y = np.arange(60) % 3
    X = pd.DataFrame(random.standard_normal((60, 2)) * 1e6 + 3e6 * y[:, None], columns=["a", "b" * 70])
    X["when"] = pd.Timestamp("2024-03-01") + pd.to_timedelta(random.randint(0, 900, 60), unit="D")
    X["text"] = np.where(random.rand(60) < 0.5, "a category with a long name", "another one with a long name")
    X.index = [f"customer {i}" for i in range(60)]
    model = MixtureSVC(random_state=0).fit(X, y)
    why = Explanation.of(model, X.iloc[[7]])

    assert max(map(len, str(why).splitlines())) <= WIDTH
    assert str(why).startswith("Row customer 7 is predicted as ")
    content = json.loads(json.dumps(why.to_dict(), allow_nan=False))
    assert (content["row"], type(content["label"])) == ("customer 7", int)


def test_several_rows_are_refused():
    X, _ = table("iris")
    with pytest.raises(TableError, match=r"^An explanation is of one row, but 2 rows came\. Give one, such as X\.iloc"):
        Explanation.of(machine("iris"), X[:2])


def test_rows_of_the_training_are_counted_from_wherever_one_likes():
    model, (X, _) = machine("iris"), table("iris")
    zero, one = Explanation.of(model, X[70:71]), Explanation.of(model, X[70:71], first=1)
    is_row = zero.neighbours["source"] == "neighbour"
    assert (one.neighbours["neighbour"][is_row] - zero.neighbours["neighbour"][is_row] == 1).all()
    assert one.beside == {**{word: who + 1 for word, who in zero.beside.items()}, "component": zero.beside["component"]}
    assert f"row {one.beside['for']} (+)" in str(one)
