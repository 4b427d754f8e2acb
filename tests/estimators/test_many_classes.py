"""More than a hundred classes: one function for each, with gamma and C by left-out labels."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from mixkern import LaplacianSVC, MixtureSVC, VBMixture, load, save
from mixkern.advice import estimated_accuracy, mistaken_labels
from mixkern.density import Rows
from mixkern.errors import LabelError
from mixkern.estimators.many_classes import COSTS, FACTORS, MAX_LABELS, check_many, chosen_cost, chosen_settings
from mixkern.kernels import RBFKernel
from mixkern.search import SVCSearch
from mixkern.svm import least_squares, scheme
from mixkern.svm.class_calibration import log_likelihood, slopes

SMALL = VBMixture(n_components=5, tol=1e-2, random_state=0)


@cache
def table(c=101, per_class=3, n_unlabelled=200, noise=0.4):
    """Classes around points in the plane, in no order; the last rows are unlabelled."""
    random = np.random.RandomState(0)
    centres = 5 * random.standard_normal((c, 2))
    y = np.append(random.permutation(np.repeat(np.arange(c), per_class)), random.randint(c, size=n_unlabelled))
    X = centres[y] + noise * random.standard_normal((len(y), 2))
    few = np.where(np.arange(len(y)) < c * per_class, y, -1)
    for array in (X, y, few):
        array.flags.writeable = False
    return X, y, few


def gamma_by_scale(model, X):
    """One over the median squared distance."""
    exponents = model.kernel_.pair_terms(model.rows_of(X)).exponent()
    return 1 / float(np.median(exponents[np.triu_indices(len(X), 1)]))


@cache
def fitted(kind=MixtureSVC, **settings):
    X, _, few = table()
    return kind(density=SMALL, random_state=0, **settings).fit(X, few)


# ---------------------------------------------------------------- the switch


def test_the_number_of_classes_decides():
    X, _, few = table()
    pairs = MixtureSVC(density=SMALL, probability=False).fit(X, np.where(few == 100, -1, few))
    assert pairs.scheme_ == "one-vs-one"
    assert len(pairs.intercept_) == 100 * 99 // 2
    model = fitted()
    assert model.scheme_ == "one-vs-rest"
    assert model.dual_coef_.shape == (101, 303)
    assert model.intercept_.shape == (101,)
    np.testing.assert_array_equal(model.n_support_, model.n_labels_)
    assert "Decision functions" in model._repr_html_()
    assert "Decision functions" not in pairs._repr_html_()


def test_a_progress_line_names_the_switch(capsys):
    X, _, few = table()
    MixtureSVC(density=SMALL, verbose=1, random_state=0).fit(X, few)
    assert "training: each of 101 classes against the others" in capsys.readouterr().out


def test_one_vs_rest_is_as_accurate_as_pairs(monkeypatch):
    X, y, few = table()
    accuracy = fitted().score(X[303:], y[303:])
    monkeypatch.setattr(scheme, "MOST_PAIRED", 101)
    pairs = MixtureSVC(density=SMALL, probability=False, random_state=0).fit(X, few)
    assert pairs.scheme_ == "one-vs-one"
    assert accuracy > pairs.score(X[303:], y[303:]) - 0.03
    assert accuracy > 0.6


@pytest.mark.parametrize("kind", [MixtureSVC, LaplacianSVC])
def test_predictions_agree_with_each_other(kind):
    X, y, _ = table()
    model = fitted(kind)
    scores, shares, predicted = model.decision_function(X), model.predict_proba(X), model.predict(X)
    assert scores.shape == shares.shape == (len(X), 101)
    np.testing.assert_array_equal(scores, model.decide(X))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], predicted)
    np.testing.assert_array_equal(shares.argmax(axis=1), scores.argmax(axis=1))
    np.testing.assert_array_equal(model.assess(X)["label"], predicted)
    assert (predicted == y)[303:].mean() > 0.6


def test_decisions_are_those_of_the_solver():
    X, _, few = table()
    model = fitted()
    rows, codes = model.rows_of(X[:303]), few[:303]
    found = least_squares.trained(model.kernel_(rows), codes, C=model.C_)
    np.testing.assert_array_equal(model.support_, found.dual.support)
    np.testing.assert_allclose(model.dual_coef_, found.dual.coefficients.T, atol=1e-12)
    np.testing.assert_allclose(model.decide(rows), found.dual.decision(model.kernel_(rows)), atol=1e-10)
    np.testing.assert_array_equal(
        model.slope_, slopes(found.left_out[None], codes, own=least_squares.own_probabilities)
    )


def test_texts_with_gaps_and_a_class_with_one_label():
    X, _, few = table()
    frame = pd.DataFrame(X, columns=["a", "b"], copy=True)
    frame.loc[::7, "a"] = np.nan
    frame["c"] = np.where(X[:, 0] > 0, "u", "v")
    y = np.array([None if code < 0 else f"class {code}" for code in few], dtype=object)
    y[np.flatnonzero(y == "class 7")[1:]] = None
    model = MixtureSVC(density=SMALL, random_state=0).fit(frame, y)
    assert model.n_labels_[model.classes_.tolist().index("class 7")] == 1
    assert set(model.predict(frame)) <= set(y[:303])


def test_one_label_per_class_is_learned_from():
    X, y, few = table(per_class=1, noise=0.1)
    model = MixtureSVC(density=SMALL, random_state=0).fit(X, few)
    assert (model.kernel_.gamma, model.C_) == (pytest.approx(FACTORS[0] * gamma_by_scale(model, X)), COSTS[0])
    assert (model.predict(X) == y).mean() > 0.75
    assert np.isfinite(model.predict_proba(X)).all()


def test_without_probabilities_no_slope_is_learned():
    X, _, _ = table()
    model = fitted(probability=False)
    assert model.slope_ is None
    np.testing.assert_array_equal(model.predict(X), fitted().predict(X))


# ---------------------------------------------------------------- weights


def test_weights_are_factors_of_c():
    X, _, few = table()
    weights = np.random.RandomState(1).uniform(0.5, 2.0, size=len(X))
    options = {"density": SMALL, "C": 3.0, "gamma": 1.0, "probability": False, "random_state": 0}
    model = MixtureSVC("rbf", **options).fit(X, few, sample_weight=weights)
    rows = model.rows_of(X[:303])
    found = least_squares.trained(model.kernel_(rows), few[:303], C=3.0, sample_weight=weights[:303])
    np.testing.assert_allclose(model.intercept_, found.dual.intercepts, atol=1e-12)
    heavy = MixtureSVC("rbf", class_weight={5: 4.0}, **options).fit(X, few)
    by_rows = MixtureSVC("rbf", **options).fit(X, few, sample_weight=np.where(few == 5, 4.0, 1.0))
    np.testing.assert_allclose(heavy.dual_coef_, by_rows.dual_coef_)


# ---------------------------------------------------------------- gamma and C


def test_gamma_and_c_are_those_of_the_most_likely_left_out_labels():
    X, _, few = table()
    model = fitted(kernel="rbf")
    rows, codes = model.rows_of(X[:303]), few[:303]
    gamma = gamma_by_scale(model, X)
    found = {
        (factor, C): log_likelihood(
            least_squares.trained(RBFKernel(factor * gamma)(rows), codes, C=C).left_out[None],
            codes,
            own=least_squares.own_probabilities,
        )
        for factor in FACTORS
        for C in COSTS
    }
    factor, C = max(found, key=found.get)
    assert factor > 1
    assert model.kernel_.gamma == pytest.approx(factor * gamma)
    assert model.C_ == C


def test_what_is_given_is_kept():
    assert fitted(gamma=0.7).kernel_.gamma == 0.7
    assert fitted(gamma=0.7).C_ in COSTS
    assert fitted(C=7.0).C_ == 7.0
    X, _, few = table()
    own = MixtureSVC(RBFKernel(0.3), density=SMALL, C=2.0, probability=False).fit(X, few)
    assert (own.kernel_.gamma, own.C_) == (0.3, 2.0)
    local = fitted(kernel="rbf", gamma="local").kernel_.gamma
    assert any(local == pytest.approx(10 * fitted(kernel="rbf").kernel_.gamma / factor) for factor in FACTORS)


def test_a_second_training_chooses_anew():
    X, _, few = table()
    model = MixtureSVC(density=SMALL, random_state=0)
    codes, weights = model.read_labels(X, few, None)
    rows = model.learn_structure(X, None, codes)
    first = model.train(rows, codes, weights).kernel_.get_params()
    assert model.train(rows, codes, weights).kernel_.get_params() == first


def test_c_is_for_a_kernel_of_scale_one():
    X, _, few = table()
    codes = few[:303]
    K = RBFKernel(2.0)(X[:303])
    assert chosen_cost(8 * K, codes, None) == pytest.approx(chosen_cost(K, codes, None) / 8)
    kernel, C = chosen_settings(RBFKernel(2.0), Rows(X[:303]), codes, None, factors=(1.0,), costs=COSTS)
    assert (kernel.gamma, C) == (2.0, chosen_cost(K, codes, None))


def test_an_indefinite_kernel_gets_a_c_with_a_minimum():
    X, _, few = table()
    K = RBFKernel(2.0)(X[:303])
    values, vectors = np.linalg.eigh(K)
    K = (vectors * np.where(np.arange(303) == 300, -0.5, values)) @ vectors.T
    assert chosen_cost((K + K.T) / 2, few[:303], np.ones(303)) == pytest.approx(1.0, rel=0.1)


@pytest.mark.slow
def test_of_very_many_labels_some_classes_decide():
    n = MAX_LABELS + 400
    codes = np.arange(n) // 2
    X = np.column_stack([codes, np.arange(n) % 2 * 0.1])
    kernel, C = chosen_settings(RBFKernel(1.0), Rows(X), codes, None, factors=(1e-9, 1.0), costs=(10.0,))
    assert (kernel.gamma, C) == (1.0, 10.0)


# ---------------------------------------------------------------- limits


def test_labels_that_need_too_much_memory_are_refused():
    check_many(1000, 3000)
    with pytest.raises(LabelError, match=r"20,000 labels of 150 classes\. .* at most 16,384 labels\. Learn from some"):
        check_many(150, 20_000)
    with pytest.raises(
        LabelError, match=r"each class, and classes times labels may be at most 67,108,864\. Merge rare"
    ):
        check_many(9_000, 9_000)


# ---------------------------------------------------------------- model files


def test_a_model_file_predicts_the_same(tmp_path):
    X, _, _ = table()
    for model in (fitted(), fitted(LaplacianSVC)):
        again = load(save(model, tmp_path / "model.mixkern"))
        assert again.scheme_ == "one-vs-rest"
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.slow
def test_pairs_of_many_classes_in_a_file_stay_pairs(tmp_path, monkeypatch):
    X, _, few = table()
    with monkeypatch.context() as patch:
        patch.setattr(scheme, "MOST_PAIRED", 101)  # as all versions were that had no other scheme
        model = MixtureSVC(density=SMALL, random_state=0).fit(X, few)
        expected, path = model.predict_proba(X), save(model, tmp_path / "model.mixkern")
    again = load(path)
    assert again.scheme_ == "one-vs-one"
    np.testing.assert_array_equal(again.predict_proba(X), expected)
    assert again.fit(X, few).scheme_ == "one-vs-rest"


# ---------------------------------------------------------------- other layers


@pytest.mark.parametrize("kind", [MixtureSVC, LaplacianSVC])
def test_contributions_add_up_to_half_the_difference_of_two_classes(kind):
    X, _, _ = table()
    model = fitted(kind)
    lines = model.explain(X[303:310], n=None, details=True)
    decided = model.decide(X[303:310])
    for row, mine in lines.groupby("row"):
        label, against = mine["label"].iloc[0], mine["against"].iloc[0]
        order = np.argsort(decided[row])
        assert (label, against) == (order[-1], order[-2])
        expected = (decided[row, label] - decided[row, against]) / 2
        assert mine["pull"].sum() == pytest.approx(expected, abs=1e-9)
        neighbours = mine[mine["source"] == "neighbour"]
        assert (table()[2][neighbours["neighbour"].astype(int)] == neighbours["its_label"].astype(int)).all()


def test_the_estimated_accuracy_is_about_right():
    X, y, few = table()
    model = fitted()
    found = estimated_accuracy(model, X, few, random_state=0)
    assert found.value == pytest.approx((model.predict(X) == y)[303:].mean(), abs=0.1)
    assert len(found.per_class) == 101


def test_a_wrong_label_is_found():
    X, _, few = table(noise=0.05)
    wrong = np.array(few)
    wrong[11] = (few[11] + 50) % 101
    found = mistaken_labels(X, wrong, model=MixtureSVC(density=SMALL, random_state=0).fit(X, wrong)).table
    assert found["position"].tolist()[0] == 11


def test_a_search_scores_the_same_scheme():
    X, y, few = table()
    search = SVCSearch(MixtureSVC("rbf", density=SMALL, random_state=0), C=[1.0, 10.0], gamma=[0.1, 3.0], cv=3)
    search.fit(X, few)
    assert search.best_estimator_.scheme_ == "one-vs-rest"
    assert search.best_params_["gamma"] == 3.0
    assert search.score(X[303:], y[303:]) > 0.6
