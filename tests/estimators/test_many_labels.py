"""More labels than fit into a kernel matrix: functions over landmarks."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mixkern import LaplacianSVC, Mixture, MixtureOneClassSVM, MixtureSVC, MixtureSVR, VBMixture, load, save
from mixkern.advice import estimated_accuracy, mistaken_labels
from mixkern.density import Rows
from mixkern.errors import DrawnRowsWarning, LabelError, OptionError
from mixkern.estimators import many_labels
from mixkern.estimators.many_labels import MAX_LABELS, landmark_rows, most_labels
from mixkern.search import SVCSearch
from mixkern.svm import evidence_C
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.gaussian_process import evidence_rows

SMALL = VBMixture(n_components=4, tol=1e-2, random_state=0)


@cache
def table(n=400, c=3, n_unlabelled=60):
    """Classes around two points each, in no order; the last rows are unlabelled."""
    random = np.random.RandomState(0)
    centres, own = 2 * random.standard_normal((2 * c, 3)), random.randint(2 * c, size=n + n_unlabelled)
    X, y = centres[own] + random.standard_normal((len(own), 3)), own % c
    few = np.where(np.arange(len(y)) < n, y, -1)
    for array in (X, y, few):
        array.flags.writeable = False
    return X, y, few


def fitted(kind=MixtureSVC, c=3, **settings):
    X, _, few = table(c=c)
    return kind(**{"density": SMALL, "max_labels": 100, "n_landmarks": 80, "random_state": 0, **settings}).fit(X, few)


# ---------------------------------------------------------------- the switch


def test_the_number_of_labels_decides():
    exact, model = fitted(max_labels=400), fitted(max_labels=399)
    assert exact.n_landmarks_ == 0
    assert "Landmarks" not in exact._repr_html_()
    assert model.n_landmarks_ == 80
    assert "80 labelled rows, which decision functions are sums over" in model._repr_html_()
    assert MixtureSVC().max_labels == MAX_LABELS == 5_000
    assert MixtureSVC().get_params()["n_landmarks"] == 1_000


@pytest.mark.parametrize("kernel", ["blend", "rwm", "gmm", "rbf", "lap"])
def test_predictions_are_about_those_of_all_labels(kernel):
    X, y, _ = table()
    exact, model = fitted(kernel=kernel, max_labels=400), fitted(kernel=kernel)
    assert model.n_landmarks_ == 80
    np.testing.assert_allclose(model.C_, exact.C_)
    assert (model.predict(X) == exact.predict(X)).mean() > 0.9
    assert abs(model.score(X, y) - exact.score(X, y)) < 0.03
    assert np.abs(model.predict_proba(X) - exact.predict_proba(X)).mean() < 0.06


def test_support_vectors_are_the_landmarks():
    X, _, few = table()
    model = fitted()
    assert len(model.support_) == len(set(model.support_.tolist())) == 80
    assert model.dual_coef_.shape == (3, 80)
    np.testing.assert_array_equal(model.n_support_, np.bincount(few[model.support_]))
    assert (np.diff(few[model.support_]) >= 0).all()  # sorted by class, as explanations need them
    np.testing.assert_allclose(model.support_vectors_, model.rows_of(X[model.support_]).values)
    K = kernel_matrix(model.kernel_, model.rows_of(X), model.rows_of(X[model.support_]))
    np.testing.assert_allclose(K @ model.dual_coef_.T + model.intercept_, model.decide(X), atol=1e-8)


@pytest.mark.parametrize("c", [2, 3, 21])
def test_explanations_add_up(c):
    X, _, _ = table(c=c)
    model = fitted(c=c)
    assert model.scheme_ == ("one-vs-rest" if c == 21 else "one-vs-one")
    for by in ("label", "component"):
        lines = model.explain(X[:3], by=by, details=True)
        for row in range(3):
            own = lines[lines["row"] == row]
            assert own["pull"].sum() == pytest.approx(own["score"].iloc[0], abs=1e-6)


def test_many_labels_of_more_classes_have_a_function_each():
    X, y, _ = table(c=21)
    exact, model = fitted(c=21, max_labels=400), fitted(c=21, n_landmarks=150)
    assert (exact.scheme_, model.scheme_) == ("one-vs-one", "one-vs-rest")
    assert model.intercept_.shape == (21,)
    assert model.score(X, y) > exact.score(X, y) - 0.05
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_c_is_that_of_the_evidence_of_some_labels():
    X, _, few = table()
    model, labelled = fitted(), np.flatnonzero(few >= 0)
    some = labelled[evidence_rows(few[labelled])]
    assert evidence_C(kernel_matrix(model.kernel_, model.rows_of(X[some])), few[some]) == model.C_
    assert fitted(C=7.0).C_ == 7.0


# ---------------------------------------------------------------- weights and labels


def test_a_row_of_weight_two_counts_as_two():
    X, _, few = table()
    labelled = np.flatnonzero(few >= 0)
    twice = np.append(labelled, labelled[:100])
    weights = np.append(np.full(100, 2.0), np.ones(300))
    settings = {"density": fitted().mixture_, "max_labels": 50, "n_landmarks": 1_000, "C": 3.0, "kernel": "rbf"}
    own = fitted().rows_of(X).values
    one = MixtureSVC(**settings, gamma=0.1, random_state=0).fit(own[labelled], few[labelled], weights)
    two = MixtureSVC(**settings, gamma=0.1, random_state=0).fit(own[twice], few[twice])
    np.testing.assert_allclose(one.decide(own), two.decide(own), atol=2e-2)


def test_class_weights_move_the_boundary():
    X, _, _ = table(c=2)
    model, heavy = fitted(c=2), fitted(c=2, class_weight={1: 20.0})
    assert (heavy.predict(X) == 1).sum() > (model.predict(X) == 1).sum()


def test_labels_may_be_texts_in_a_frame_with_categories_and_gaps():
    X, y, few = table()
    frame = pd.DataFrame(X, columns=list("abc")).assign(town=np.array(["x", "y", None], dtype=object)[y % 3])
    frame.loc[::7, "a"] = np.nan
    names = np.array(["no", "yes", "never", None], dtype=object)[few]
    model = MixtureSVC(density=SMALL, max_labels=100, n_landmarks=60, random_state=0).fit(frame, names)
    assert model.score(frame, names) > 0.9
    assert model.n_landmarks_ == 60


def test_of_too_many_labels_some_of_all_classes_are_used(monkeypatch):
    monkeypatch.setattr(many_labels, "MAX_FEATURES", 80 * 200)
    assert most_labels(80) == 200
    X, y, _ = table()
    model = fitted()
    assert model.n_labels_.sum() == 400
    assert model.score(X, y) > 0.7


def test_many_labels_are_not_refused():
    random = np.random.RandomState(0)
    codes = random.randint(120, size=20_000)
    MixtureSVC()._check_size(120, len(codes))
    MixtureSVC()._check_size(60, 1_000_000)
    with pytest.raises(LabelError, match="at most 16,384 labels"):
        MixtureSVC(max_labels=100_000)._check_size(120, 20_000)


# ---------------------------------------------------------------- parameters, files, threads, failures


@pytest.mark.parametrize("name", ["max_labels", "n_landmarks"])
@pytest.mark.parametrize("kind", [MixtureSVC, MixtureSVR])
@pytest.mark.parametrize("value", [0, -1, 2.5, "many", None])
def test_numbers_are_checked(kind, name, value):
    X, _, few = table()
    with pytest.raises(OptionError, match=f"{name} must be a whole number, 1 or more, but it is {value!r}"):
        kind(**{name: value}).fit(X, few)


@pytest.mark.slow
@pytest.mark.parametrize("c", [2, 3, 21])
@pytest.mark.parametrize("kind", [MixtureSVC, LaplacianSVC])
def test_a_file_predicts_the_same(kind, c, tmp_path):
    X, _, few = table(c=c)
    settings = {"max_labels": 100, "n_landmarks": 80} if kind is MixtureSVC else {}
    model = kind(density=SMALL, random_state=0, **settings).fit(X, few)
    again = load(save(model, tmp_path / "a.mixkern"))
    assert again.n_landmarks_ == model.n_landmarks_
    assert again.scheme_ == model.scheme_
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


@pytest.mark.slow
def test_the_number_of_threads_does_not_matter():
    X, _, _ = table()
    for c in (2, 3, 21):
        with threadpool_limits(1):
            one = fitted(c=c)
        two = fitted(c=c)
        assert one.decide(X).tobytes() == two.decide(X).tobytes()


def test_the_same_seed_gives_the_same_model():
    X, _, _ = table()
    assert fitted().decide(X).tobytes() == fitted().decide(X).tobytes()
    assert set(fitted().support_) != set(fitted(random_state=1).support_)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_fit_that_fails_changes_nothing(error, monkeypatch):
    X, _, few = table()
    model = fitted(max_labels=400)
    before = model.decide(X).tobytes()

    def failing(*_, **__):
        raise error

    monkeypatch.setattr("mixkern.estimators.svc.pair_functions", failing)
    model.set_params(max_labels=100)
    with pytest.raises(error):
        model.fit(X, few)
    assert model.decide(X).tobytes() == before
    assert model.n_landmarks_ == 0


def test_a_new_training_with_few_labels_has_no_landmarks():
    X, _, few = table()
    model = fitted()
    fewer = np.where(np.arange(len(few)) < 90, few, -1)
    assert model.fit(X, fewer).n_landmarks_ == 0
    assert clone(model).set_params(max_labels=80).fit(X, fewer).n_landmarks_ == 80


# ---------------------------------------------------------------- what builds on it


def test_accuracy_and_mistakes_are_estimated():
    X, _, few = table()
    model = fitted()
    y = [None if label < 0 else int(label) for label in few]
    assert 0.6 < estimated_accuracy(model, X, y, random_state=0).value < 1
    assert mistaken_labels(X, y, model=model) is not None


def test_a_search_compares_on_some_labels_and_trains_on_all():
    X, y, few = table()
    search = SVCSearch(
        MixtureSVC(density=SMALL, max_labels=100, n_landmarks=80), C=[1, 10], gamma=[0.1], random_state=0
    )
    with pytest.warns(DrawnRowsWarning, match="There are 400 labels, .* compared on 100 of them, drawn at random"):
        search.fit(X, few)
    assert search.best_estimator_.n_landmarks_ == 80
    assert search.best_estimator_.n_labels_.sum() == 400
    assert search.score(X, y) > 0.8


# ---------------------------------------------------------------- landmarks


def test_landmarks_are_of_all_components():
    mixture = Mixture([0.9, 0.09, 0.01], [[0.0], [10.0], [20.0]], [1.0, 1.0, 1.0], "spherical")
    values = np.repeat([0.0, 10.0, 20.0], [900, 90, 9])[:, None]
    rows, component = Rows(values, mixture), np.repeat([0, 1, 2], [900, 90, 9])
    found = landmark_rows(rows, 100, np.random.RandomState(0))
    assert len(set(found.tolist())) == 100
    assert (np.diff(found) > 0).all()
    assert np.bincount(component[found]).tolist() == [71, 22, 7]  # about 30 to 9.5 to 3, as square roots are
    np.testing.assert_array_equal(landmark_rows(rows[:50], 100, np.random.RandomState(0)), np.arange(50))


# ---------------------------------------------------------------- regression and one class


def test_a_regression_with_landmarks():
    X, _, few = table()
    targets = np.where(few < 0, np.nan, np.sin(X[:, 0]) + X[:, 1])
    exact = MixtureSVR(density=SMALL, random_state=0).fit(X, targets)
    model = MixtureSVR(density=SMALL, max_labels=100, n_landmarks=150, random_state=0).fit(X, targets)
    assert (exact.n_landmarks_, model.n_landmarks_) == (0, 150)
    np.testing.assert_array_equal(np.sort(model.support_), model.support_)
    assert np.corrcoef(model.predict(X), exact.predict(X))[0, 1] > 0.99
    assert "Landmarks" in model._repr_html_()


def test_one_class_is_trained_on_some_rows():
    X, _, _ = table()
    with pytest.warns(DrawnRowsWarning, match="There are 460 rows, .* needed: 200 of them, drawn at random, are used"):
        model = MixtureOneClassSVM(nu=0.1, density=SMALL, max_rows=200, random_state=0).fit(
            X, sample_weight=np.ones(460)
        )
    np.testing.assert_allclose(model.support_vectors_, model.rows_of(X[model.support_]).values)
    assert 0.03 < (model.predict(X) < 0).mean() < 0.2
