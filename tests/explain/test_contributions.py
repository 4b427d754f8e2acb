"""Pulls of labelled rows add up to the score, row by row."""

import json
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from mixkern import LaplacianSVC, MixtureSVC, VBMixture, datasets
from mixkern.errors import MixkernWarning, OptionError
from mixkern.explain.contributions import PairDecision, n_lines, row_names
from mixkern.kernels import BlendKernel, RBFKernel, RWMKernel
from mixkern.svm.libsvm import pairs

SMALL = VBMixture(n_components=5, max_iter=30)  # learned in a moment
KERNELS = ["blend", "rwm", "gmm", "rbf", "lap"]


@cache
def table(name):
    """Fitted machines need the same rows and labels in all tests."""
    data = datasets.load(name)
    return data.X, data.few_labels(per_class=10, random_state=0)


def machine(name, kernel="blend", kind=MixtureSVC):
    return fitted(name, kernel, kind)


@cache
def fitted(name, kernel, kind):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)
        return kind(kernel, density=SMALL, probability=False, random_state=0).fit(X, y)


def labels_of(model, y):
    return np.asarray(y)[model.support_]


def slow_pulls(model, X, y, i, label, against):
    """(1 - w) (sum_i a_i k(x, x_i) + b) of one pair, term by term, and the rest of its value; positive for label."""
    classes = model.classes_.tolist()
    a, b = classes.index(label), classes.index(against)
    q = pairs(len(classes)).index((min(a, b), max(a, b)))
    sign = 1 if (a < b) == (len(classes) > 2) else -1  # of two classes, positive is for the second
    sign *= 1 - model.avoiding_share_
    values = model.encoder_.transform(X)[i : i + 1]
    if model.kernel in ("rbf", "lap"):
        values = model.mixture_.conditional_mean(values)
    terms = {}
    for s, (vector, position) in enumerate(zip(model.support_vectors_, model.support_, strict=True)):
        k = float(model.kernel_(values, vector[None])[0, 0])
        if model.dual_coef_[q, s]:
            terms[int(position)] = (sign * model.dual_coef_[q, s] * k, k)
    intercept = sign * model.intercept_[q]
    value = (1 if a < b else -1) * model.decide(X[i : i + 1])[0, q]  # positive for the first of a pair
    return terms, intercept, value - sum(pull for pull, _ in terms.values()) - intercept


def check_rest(model, X, i, mine, intercept, rest, tolerance=1e-12):
    """The last lines of a row: the S3VM, where there is one, and the intercept."""
    assert mine["source"].iloc[-1] == "intercept"
    assert mine["pull"].iloc[-1] == intercept
    assert (mine["source"] == "avoided").sum() == (model.avoiding_share_ > 0)
    if not model.avoiding_share_:
        assert abs(rest) <= tolerance
        return
    line = mine.iloc[-2]
    assert line["source"] == "avoided"
    assert abs(line["pull"] - rest) <= tolerance
    classes = model.classes_.tolist()
    a, b = classes.index(line["label"]), classes.index(line["against"])
    q = pairs(len(classes)).index((min(a, b), max(a, b)))
    # The components that the engine skips may differ between one row and many.
    assert abs(line["pull"] - (1 if a < b else -1) * model.avoiding_values(X[i : i + 1])[0, q]) <= tolerance


# ---------------------------------------------------------------- by label


@pytest.mark.parametrize(
    "name", ["iris", *(pytest.param(each, marks=pytest.mark.slow) for each in ("credit_a", "heart"))]
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_all_pulls_are_the_terms_of_the_formula(name, kernel):
    X, y = table(name)
    model = machine(name, kernel)
    rows = [0, 57, 101]
    lines = model.explain(X.iloc[rows], n=None, details=True)

    assert lines["row"].unique().tolist() == X.index[rows].tolist()
    assert lines.drop_duplicates("row")["label"].tolist() == model.predict(X.iloc[rows]).tolist()
    for i in rows:
        mine = lines[lines["row"] == X.index[i]]
        terms, intercept, rest = slow_pulls(model, X, y, i, mine["label"].iloc[0], mine["against"].iloc[0])
        told = mine[mine["source"] == "neighbour"]
        assert sorted(told["neighbour"]) == sorted(terms)
        tolerance = 1e-6 if kernel == "lap" else 1e-12  # the bent kernel's own digits
        np.testing.assert_allclose(told["pull"], [terms[s][0] for s in told["neighbour"]], rtol=0, atol=tolerance)
        np.testing.assert_allclose(told["similarity"], [terms[s][1] for s in told["neighbour"]], rtol=0, atol=tolerance)
        assert (model.avoiding_share_ > 0) == (kernel == "blend")
        check_rest(model, X, i, mine, intercept, rest, tolerance)


@pytest.mark.parametrize("name", ["credit_a", pytest.param("heart", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_lines_add_up_to_the_decision_of_two_classes(name, kernel):
    X, _ = table(name)
    model = machine(name, kernel)
    decision = np.abs(model.decision_function(X))
    for n in (1, 5, None):
        lines = model.explain(X, n=n, details=True)
        total = lines.groupby("row", sort=False)["pull"].sum()
        score = lines.groupby("row", sort=False)["score"].first()
        np.testing.assert_allclose(total, score, rtol=0, atol=1e-12)
        np.testing.assert_allclose(score, decision, rtol=0, atol=1e-7 if kernel == "lap" else 1e-12)


def test_lines_add_up_to_the_decision_between_the_two_classes_that_came_first():
    X, _ = table("iris")
    model = machine("iris")
    lines = model.explain(X, n=2, details=True)
    first = lines.groupby("row", sort=False).first()
    np.testing.assert_allclose(lines.groupby("row", sort=False)["pull"].sum(), first["score"], rtol=0, atol=1e-12)

    scores = model.decision_function(X)
    order = np.argsort(-scores, axis=1)
    assert first["label"].tolist() == model.classes_[order[:, 0]].tolist()
    assert first["against"].tolist() == model.classes_[order[:, 1]].tolist()
    wins_all = np.rint(scores.max(axis=1)) == 2
    assert (first["score"].to_numpy()[wins_all] > 0).all()


def test_neighbours_are_labelled_rows_and_the_strongest_come_first():
    X, y = table("heart")
    model = machine("heart")
    lines = model.explain(X, n=4, details=True)
    told = lines[lines["source"] == "neighbour"]

    assert told.groupby("row").size().unique().tolist() == [4]
    assert told["its_label"].tolist() == np.asarray(y)[told["neighbour"].to_numpy(dtype=int)].tolist()
    assert ((told["pull"] > 0) == (told["its_label"] == told["label"])).all()
    assert (told.groupby("row")["pull"].apply(lambda pull: pull.abs().is_monotonic_decreasing)).all()
    assert lines[lines["source"] != "neighbour"]["neighbour"].isna().all()


@pytest.mark.parametrize("name", ["iris", "heart"])
def test_support_vectors_are_sorted_by_class(name):
    _, y = table(name)
    model = machine(name)
    expected = np.repeat(model.classes_, model.n_support_)

    assert labels_of(model, y).tolist() == expected.tolist()


def test_a_blend_says_what_each_of_its_kernels_adds():
    X, _ = table("credit_a")
    model = machine("credit_a")
    lines = model.explain(X[:50], details=True).query("source == 'neighbour'")
    parts = lines[["euclidean", "mixture", "membership"]]
    np.testing.assert_allclose(parts.sum(axis=1), lines["similarity"], rtol=0, atol=1e-12)
    assert (parts >= 0).all(axis=None)
    assert "membership" not in machine("credit_a", "rwm").explain(X[:1], details=True).columns


def test_blocks_change_nothing(monkeypatch):
    X, _ = table("heart")
    model = machine("heart")
    whole = {by: model.explain(X, by=by, details=True) for by in ("label", "component", "column")}
    monkeypatch.setattr("mixkern.explain.contributions.CELLS", 7 * len(model.support_))
    for by, frame in whole.items():
        pd.testing.assert_frame_equal(model.explain(X, by=by, details=True), frame, rtol=1e-12)


def test_labels_keep_their_type_and_arrays_their_positions():
    random = np.random.RandomState(0)
    y = np.arange(60) % 3
    X = random.standard_normal((60, 2)) + 3 * y[:, None]
    model = MixtureSVC(probability=False, random_state=0).fit(X, y)
    lines = model.explain(X[5:8], details=True)

    assert lines["row"].unique().tolist() == [0, 1, 2]
    assert lines["label"].dtype.kind == "i"
    told = lines[lines["source"] == "neighbour"]
    assert {type(label) for label in told["its_label"]} == {int}
    assert model.set_params(probability=True).explain(X[5:8], details=True).equals(lines)  # takes effect in fit


def test_tables_of_other_libraries_are_explained():
    X, y = table("iris")
    frame = pl.DataFrame({name: X[name].to_list() for name in X.columns})
    model = MixtureSVC(density=SMALL, probability=False, random_state=0).fit(frame, y)
    found, expected = model.explain(frame[:3], details=True), machine("iris").explain(X[:3], details=True)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == list(expected.columns)
    for name in found.columns:
        assert found[name].to_list() == [None if pd.isna(cell) else cell for cell in expected[name]]


@pytest.mark.parametrize("base", ["rwm", "rbf", "blend"])
def test_a_laplacian_machine_is_explained(base):
    X, _ = table("heart")
    model = machine("heart", base, LaplacianSVC)
    lines = model.explain(X, n=3, details=True)
    total = lines.groupby("row", sort=False)["pull"].sum()
    np.testing.assert_allclose(total, np.abs(model.decision_function(X)), rtol=0, atol=1e-6)
    assert lines.drop_duplicates("row")["label"].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("kernel", [RBF(2.0), ConstantKernel(0.5) * RWMKernel(gamma=0.2) + RBFKernel(0.1)])
def test_kernels_of_scikit_learn_are_explained(kernel):
    X, y = table("iris")
    model = MixtureSVC(kernel, probability=False, random_state=0).fit(X, y)
    for by in ("label", "component"):
        lines = model.explain(X[::10], by=by, n=2, details=True)
        sums = lines.groupby("row", sort=False)["pull"].sum()
        np.testing.assert_allclose(sums, lines.groupby("row", sort=False)["score"].first(), rtol=0, atol=1e-12)


# ---------------------------------------------------------------- by component


@pytest.mark.parametrize("name", ["iris", "credit_a", "heart"])
def test_pulls_of_components_are_those_of_their_labelled_rows(name):
    X, y = table(name)
    model = machine(name)
    lines = model.explain(X.iloc[[3, 120]], by="component", n=None, details=True)
    rho = model.mixture_.responsibilities(model.support_vectors_)
    at = {int(position): s for s, position in enumerate(model.support_)}
    for i in (3, 120):
        mine = lines[lines["row"] == X.index[i]]
        terms, intercept, rest = slow_pulls(model, X, y, i, mine["label"].iloc[0], mine["against"].iloc[0])
        for line in mine[mine["source"] == "component"].itertuples():
            expected = sum(rho[at[s], line.component] * pull for s, (pull, _) in terms.items())
            assert abs(line.pull - expected) < 1e-12
        assert abs(mine["pull"].sum() - mine["score"].iloc[0]) < 1e-12
        assert model.avoiding_share_ > 0
        check_rest(model, X, i, mine, intercept, rest)


def test_components_are_told_with_what_they_are():
    X, y = table("credit_a")
    model = machine("credit_a")
    lines = model.explain(X, by="component", n=2, details=True)
    shares = model.responsibilities(X)
    first = lines.groupby("row", sort=False).first()

    assert first["component"].tolist() == shares.argmax(axis=1).tolist()
    np.testing.assert_array_equal(first["responsibility"], shares.max(axis=1))
    sums = lines.groupby("row", sort=False)[["responsibility", "weight"]].sum()
    np.testing.assert_allclose(sums, 1.0, rtol=1e-12)
    assert lines["source"].unique().tolist() == ["component", "others", "avoided", "intercept"]
    assert lines[lines["source"].isin(["avoided", "intercept"])]["component"].isna().all()
    assert first["distinct_1"].str.len().gt(0).all()

    where = model.mixture_.responsibilities(model.support_vectors_).argmax(axis=1)
    for k in first["component"].unique():
        found = first[first["component"] == k]["support"].iloc[0]
        expected = pd.Series(labels_of(model, y)[where == k]).value_counts().to_dict()
        assert found == expected


def test_components_of_gaps_are_those_of_what_is_there():
    X, _ = table("credit_a")
    model = machine("credit_a", "rbf")  # whose rows have no gaps any more
    some = X[X.isna().any(axis=1)]
    first = model.explain(some, by="component", details=True).groupby("row", sort=False).first()
    np.testing.assert_array_equal(first["responsibility"], model.responsibilities(some).max(axis=1))


# ---------------------------------------------------------------- what cannot be explained


def test_wrong_words_are_refused_before_any_work():
    with pytest.raises(OptionError, match=r"^by must be one of 'label', 'component', 'column', but it is 'columns'\. "):
        MixtureSVC().explain([[0.0]], by="columns", details=True)
    with pytest.raises(OptionError, match=r"^n must be a whole number, 1 or more or None, but it is 0"):
        machine("iris").explain(table("iris")[0], n=0, details=True)


@pytest.mark.parametrize("repair", ["clip", "flip", "shift"])
def test_after_a_repair_neighbours_have_their_own_labels(repair):
    X, y = table("iris")
    order = np.random.RandomState(0).permutation(len(X))
    X, y = X.iloc[order].reset_index(drop=True), np.asarray(y)[order]
    density = VBMixture(n_components=3, tol=0.1)
    model = MixtureSVC(density=density, repair=repair, probability=False, random_state=0).fit(X, y)
    lines = model.explain(X[:9], n=None)
    neighbours = lines[lines["source"] == "neighbour"]
    assert neighbours["its_label"].tolist() == y[neighbours["neighbour"].to_numpy(dtype=int)].tolist()


def test_a_machine_that_is_not_fitted_explains_nothing():
    with pytest.raises(NotFittedError):
        MixtureSVC().explain([[0.0]], details=True)


def test_contributions_add_up_to_the_kernel():
    X, _ = table("heart")
    model = machine("heart")
    rows = model.encoder_.transform(X)[:40]
    kernel = model.kernel_
    assert isinstance(kernel, BlendKernel)
    np.testing.assert_allclose(sum(kernel.contributions(rows).values()), kernel(rows), rtol=0, atol=1e-12)
    np.testing.assert_allclose(sum(kernel.contributions(rows, rows[:3]).values()), kernel(rows, rows[:3]), atol=1e-12)


def test_frames_can_be_written_as_json():
    X, _ = table("credit_a")
    for by in ("label", "component", "column"):
        lines = machine("credit_a").explain(X[:3], by=by, details=True)
        assert len(json.loads(lines.to_json(orient="records"))) == len(lines)


# ---------------------------------------------------------------- the two classes of a row


def test_two_classes_are_against_each_other():
    decided = PairDecision.of(np.array([[0.4], [-0.3], [0.0]]), 2)  # positive speaks for the first

    assert decided.label.tolist() == [0, 1, 0]
    assert decided.against.tolist() == [1, 0, 1]
    assert decided.pair.tolist() == [0, 0, 0]
    assert decided.sign.tolist() == [1.0, -1.0, 1.0]


def test_the_next_of_several_classes_is_the_runner_up_of_the_votes():
    decisions = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]])  # of (0, 1), (0, 2), (1, 2)
    decided = PairDecision.of(decisions, 3)

    assert decided.label.tolist() == [0, 2, 1]
    assert decided.against.tolist() == [1, 1, 0]
    assert decided.pair.tolist() == [0, 2, 0]
    assert decided.sign.tolist() == [1.0, -1.0, -1.0]


def test_the_runner_up_is_the_most_probable_other_class():
    decisions = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
    decided = PairDecision.of(decisions, 3, np.array([[0.5, 0.2, 0.3], [0.2, 0.5, 0.3]]))
    assert decided.label.tolist() == [0, 1]
    assert decided.against.tolist() == [2, 2]
    assert decided.pair.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["wine", "glass"])
def test_the_runner_up_of_a_model_is_second_in_its_probabilities(name):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)
        model = MixtureSVC(density=SMALL, random_state=0).fit(X, y)
    found = model.explain(X, details=True).drop_duplicates("row")
    others = model.predict_proba(X)
    others[np.arange(len(X)), others.argmax(axis=1)] = -1
    assert found["against"].tolist() == model.classes_[others.argmax(axis=1)].tolist()


def test_rows_have_the_names_of_their_index_or_positions():
    assert row_names(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), 2) == ["x", "y"]
    assert row_names(np.zeros((2, 1)), 2) == [0, 1]
    assert row_names([[0.0], [1.0]], 2) == [0, 1]  # a list has an index, too, which is none


def test_the_number_of_lines():
    assert (n_lines(None, 7), n_lines(3, 7), n_lines(30, 7), n_lines(np.int64(2), 7)) == (7, 3, 7, 2)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "all"])
def test_a_wrong_number_of_lines(wrong):
    message = f"^n must be a whole number, 1 or more or None, but it is {wrong!r}\\.$"
    with pytest.raises(OptionError, match=message):
        n_lines(wrong, 7)
