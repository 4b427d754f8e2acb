"""Scores of Dask collections: those of the same rows in memory."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, r2_score
from tests.distributed.conftest import in_partitions

from mixkern import MixtureSVC, MixtureSVR, TransductiveSVC
from mixkern.distributed import listening
from mixkern.errors import (
    ArgumentError,
    ColumnChoiceWarning,
    ColumnMismatchError,
    EmptyTableError,
    LabelError,
    LabelTypeError,
    LengthError,
    NotATableError,
    UnknownColumnError,
)
from mixkern.estimators.score import NoScoreWarning, TargetMoments

SHORT = (0, 170, 1, 0, 119, 10)


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    group = random.randint(2, size=300)
    frame = pd.DataFrame({"size": random.normal(size=300) + 2 * group, "town": np.array(["a", "b"])[group]})
    frame["label"] = np.array(["no", "yes"], dtype=object)[group]
    frame["number"] = group.astype(float)
    frame["target"] = 1e6 + 3 * frame["size"] + random.normal(size=300)
    frame["weight"] = random.rand(300).round(1)
    frame.loc[frame.index[::7], ["label", "number", "target"]] = None
    frame.loc[frame.index[3], "label"] = "maybe"  # a class that the classifier does not have
    return frame


@pytest.fixture(scope="module")
def models(rows):
    X, few = rows[["size", "town"]], rows.index % 15 == 1
    return (
        MixtureSVC(random_state=0, probability=False).fit(X, rows["label"].where(few)),
        MixtureSVR(random_state=0).fit(X, rows["target"].where(few)),
    )


def test_accuracy(rows, models):
    X, model, parts = rows[["size", "town"]], models[0], in_partitions(rows, SHORT)
    given = rows["label"].notna()
    expected = accuracy_score(rows["label"][given], model.predict(X[given]))
    assert expected < 1
    for y in ("label", parts["label"]):
        table = parts[["size", "town", "label"]] if isinstance(y, str) else parts[["size", "town"]]
        assert model.score(table, y) == model.score(X, rows["label"]) == expected
    weighted = model.score(parts[["size", "town"]], parts["label"], sample_weight=parts["weight"])
    assert weighted == pytest.approx(model.score(X, rows["label"], rows["weight"]), rel=1e-14)
    assert weighted != expected
    assert model.score(parts[["size", "town"]], parts["label"], 2.5) == pytest.approx(expected, rel=1e-14)


def test_coefficient_of_determination(rows, models):
    X, model, parts = rows[["size", "town"]], models[1], in_partitions(rows, SHORT)
    given = rows["target"].notna()
    expected = r2_score(rows["target"][given], model.predict(X[given]))
    assert 0.3 < expected < 1
    assert model.score(parts[["size", "town", "target"]], "target") == pytest.approx(expected, rel=1e-9)
    weighted = model.score(parts[["size", "town"]], parts["target"], parts["weight"])
    assert weighted == pytest.approx(model.score(X, rows["target"], rows["weight"]), rel=1e-9)


def test_it_takes_one_pass(rows, models):
    seen = []
    with listening(lambda name, _: seen.append(name)):
        models[0].score(in_partitions(rows, SHORT)[["size", "town", "label"]], "label")
    assert seen == ["score"]


def test_minus_one_is_what_it_is_in_memory(rows):
    X = rows[["size", "town"]]
    marks = rows["number"].fillna(-1).astype(int)
    few = marks.where(rows.index % 15 == 1, -1)
    model = TransductiveSVC(random_state=0, probability=False).fit(X, few)
    table = X.assign(y=marks)
    assert model.score(in_partitions(table, SHORT), "y") == model.score(X, marks)
    signs = rows["number"].replace(0.0, -1.0)  # with gaps, -1 is a class; a partition has none
    signs.iloc[170] = 1.0
    with pytest.warns(ColumnChoiceWarning, match="so -1 is a class"):
        model = MixtureSVC(random_state=0, probability=False).fit(X, signs.where(rows.index % 15 == 1))
    expected = model.score(X, signs)
    assert expected > 0.6
    assert model.score(in_partitions(X.assign(y=signs), SHORT), "y") == expected


def test_arrays():
    random = np.random.RandomState(1)
    y = random.randint(2, size=200)
    X = random.normal(size=(200, 2)) + y[:, None]
    model = MixtureSVC(random_state=0, probability=False).fit(X, np.where(np.arange(200) < 20, y, -1))
    assert model.score(da.from_array(X, chunks=(37, 1)), da.from_array(y, chunks=37)) == model.score(X, y)


def test_moments_of_parts_add_up_far_from_zero():
    random = np.random.RandomState(0)
    targets, weights = 1e9 + random.normal(size=300), random.rand(300)
    predicted = targets + 0.3 * random.normal(size=300)
    ends = np.cumsum(SHORT)
    parts = [
        TargetMoments.of(n, targets[end - n : end], predicted[end - n : end], weights[end - n : end])
        for end, n in zip(ends, SHORT, strict=True)
    ]
    found = sum(parts, TargetMoments())
    assert found.score() == pytest.approx(r2_score(targets, predicted, sample_weight=weights), rel=1e-7)
    assert (found.n_rows, found.n) == (300, 300)
    for equal, expected in (([2.0, 2.0], 1.0), ([2.0, 3.0], 0.0)):
        both = np.array([2.0, 2.0])
        assert TargetMoments.of(2, both, np.array(equal), None).score() == r2_score(both, equal) == expected


def test_scores_that_are_not_there(rows, models):
    parts = in_partitions(rows.assign(label=None, target=np.nan, zero=0.0), SHORT)
    X = parts[["size", "town"]]
    with pytest.warns(NoScoreWarning, match="None of the 300 rows has a label"):
        assert np.isnan(models[0].score(X, parts["label"]))
    with pytest.warns(NoScoreWarning, match="0 of the 300 rows have a target"):
        assert np.isnan(models[1].score(X, parts["target"]))
    given = in_partitions(rows.assign(zero=0.0), SHORT)
    for model, name in zip(models, ("label", "target"), strict=True):
        with pytest.raises(LabelError, match="labelled rows have a sample weight of zero"):
            model.score(given[["size", "town"]], given[name], given["zero"])


def test_wrong_arguments(rows, models):
    model, parts = models[0], in_partitions(rows, SHORT)
    X = parts[["size", "town"]]
    with pytest.raises(LabelTypeError, match=r'y must be a column of it or the name of one.*Give ddf\["label"\]'):
        model.score(X, rows["label"])
    with pytest.raises(NotATableError, match="X is a table in memory"):
        model.score(rows[["size", "town"]], parts["label"])
    with pytest.raises(UnknownColumnError, match=r"X has no column 'lable'.* Did you mean 'label'"):
        model.score(parts, "lable")
    with pytest.raises(LabelTypeError, match="sample_weight must be a column of it or a number"):
        model.score(X, parts["label"], rows["weight"])
    with pytest.raises(LengthError, match="X has 6 partitions, but sample_weight has 2"):
        model.score(X, parts["label"], parts["weight"].partitions[:2])
    with pytest.raises(LabelError, match=r"^Partition \d \(counted from 1\): sample_weight must hold finite numbers"):
        model.score(X, parts["label"], -parts["weight"])
    with pytest.raises(ColumnMismatchError):
        model.score(parts[["size", "label"]], "label")
    with pytest.raises(EmptyTableError, match="its partitions have 0 sample"):
        model.score(in_partitions(rows[["size", "town", "label"]], (0, 0)), "label")
    with pytest.raises(ArgumentError, match=r"^MixtureSVC\.score has no parameter 'weights'"):
        model.score(X, parts["label"], weights=1)
