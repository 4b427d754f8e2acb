"""A support vector machine that has seen all rows: scikit-learn's on the labelled ones, and everything around it."""

import pickle
import subprocess
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mixkern import LaplacianSVC, Mixture, MixtureSVC, TableEncoder, VBMixture, datasets
from mixkern.errors import OptionError
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import BlendKernel, LaplacianKernel, RBFKernel, RWMKernel, definiteness, repaired
from mixkern.svm import evidence_C, evidence_share
from mixkern.svm.class_calibration import slopes
from mixkern.svm.folds import repeated_left_out_values
from mixkern.svm.libsvm import pairs
from mixkern.svm.one_vs_one import class_probabilities


def blobs(n=90, d=2, c=2, seed=0, gap=2.5):
    """Classes in turn, each around a corner of its own."""
    random = np.random.RandomState(seed)
    y = np.arange(n) % c
    X = random.standard_normal((n, d)) + gap * np.column_stack([y % 2, y // 2, *[y * 0] * d])[:, :d]
    X.flags.writeable = False
    return X, y


def hidden(y, per_class=8):
    """The same labels, all but the first few of each class hidden."""
    few = np.full(len(y), -1)
    for label in np.unique(y):
        few[np.flatnonzero(y == label)[:per_class]] = label
    return few


def mixed(n=60, gaps=False):
    """Two numbers and a text, some of them missing."""
    X, y = blobs(n)
    table = pd.DataFrame(X, columns=["a", "b"], copy=True)
    table["c"] = np.where((np.arange(n) % 4 < 3) == (y == 0), "u", "v")
    if gaps:
        table.loc[::7, "a"] = np.nan
        table.loc[::5, "c"] = None
    return table, y


X2, Y2 = blobs()
X4, Y4 = blobs(120, c=4)
RAW = {"encoder": "passthrough", "density": VBMixture(random_state=0)}


# ---------------------------------------------------------------- it is scikit-learn's machine on the labelled rows


@pytest.mark.parametrize(
    ("X", "y"),
    [(X2, Y2), pytest.param(X4[Y4 < 3], Y4[Y4 < 3], marks=pytest.mark.slow), (X4, Y4)],
    ids=["2", "3", "4"],
)
@pytest.mark.parametrize("class_weight", [None, "balanced", "dict"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weighted"])
def test_rbf_on_rows_as_they_are_is_svc(X, y, class_weight, is_weighted):
    names = np.array(["ant", "bee", "cat", "dog"])
    few = hidden(y)
    few[3] = -1  # so that classes differ in size
    labels = np.array([None if code < 0 else names[code] for code in few], dtype=object)
    labelled = np.flatnonzero(few >= 0)
    weights = np.random.RandomState(0).uniform(0.2, 3, size=len(y)) if is_weighted else None
    how = {"C": 2.0, "gamma": 0.7, "tol": 1e-8, "class_weight": class_weight}
    if class_weight == "dict":
        how["class_weight"] = {"ant": 3.0, "bee": 0.5}
    ours = MixtureSVC("rbf", **RAW, **how, random_state=0).fit(X, labels, weights)
    theirs = SVC(**how, break_ties=True, decision_function_shape="ovr")
    theirs.fit(X[labelled], labels[labelled].astype(str), None if weights is None else weights[labelled])
    np.testing.assert_array_equal(ours.support_, labelled[theirs.support_])
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


@pytest.mark.parametrize("kernel", ["blend", "rwm", "gmm", "rbf"])
def test_a_named_kernel_is_svc_with_that_kernel(kernel):
    few = hidden(Y4)
    labelled = few >= 0
    ours = MixtureSVC(kernel, C=10.0, unlabelled="ignore", tol=1e-8, random_state=0).fit(X4, few)
    rows = ours.encoder_.transform(X4)
    theirs = SVC(kernel=ours.kernel_, C=10.0, break_ties=True, tol=1e-8, decision_function_shape="ovr")
    theirs.fit(rows[labelled], few[labelled])
    np.testing.assert_allclose(ours.decision_function(X4), theirs.decision_function(rows), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X4), theirs.predict(rows))
    default = clone(ours).set_params(unlabelled="auto").fit(X4, few)  # of which it is the SVM
    assert (default.avoiding_share_ > 0) == (kernel == "blend")
    np.testing.assert_array_equal(default.support_, np.flatnonzero(labelled)[theirs.support_])
    np.testing.assert_array_equal(default.dual_coef_, ours.dual_coef_)
    np.testing.assert_array_equal(default.intercept_, ours.intercept_)


# ---------------------------------------------------------------- how much of the mixture labels believe


def blended(codes, **how):
    """Two clusters far apart, and labels by clusters or across them."""
    random = np.random.RandomState(0)
    X = np.vstack([random.normal(-4, 1, size=(40, 2)), random.normal(4, 1, size=(40, 2))])
    y = np.full(80, -1)
    y[::8] = codes(X)[::8]
    return X, y, MixtureSVC(random_state=0, **how).fit(X, y)


def test_labels_that_follow_the_components_believe_in_them():
    _, _, model = blended(lambda X: (X[:, 0] > 0).astype(int))
    assert model.kernel_.share > 0.6


def test_labels_across_the_components_do_not():
    _, _, model = blended(lambda X: (X[:, 0] % 8 > 4).astype(int) ^ (X[:, 0] > 0))
    _, _, other = blended(lambda X: (X[:, 0] > 0).astype(int))
    assert model.kernel_.share < other.kernel_.share


def test_the_share_is_bayes_rule_on_labelled_rows():
    X, y, model = blended(lambda X: (X[:, 0] > 0).astype(int))
    rows, codes = model.encoder_.transform(X)[y >= 0], y[y >= 0]
    plain, mixed = model.kernel_.pair_terms(rows).halves(model.kernel_.gamma)
    assert model.kernel_.share == pytest.approx(evidence_share(0.6, plain, mixed, codes))


def test_training_again_starts_from_the_same_belief():
    X, y, model = blended(lambda X: (X[:, 0] > 0).astype(int))
    share, rows = model.kernel_.share, model.encoder_.transform(X)
    assert model.train(rows, y).kernel_.share == share


def test_a_blend_that_is_given_is_kept_as_it_is():
    _, _, model = blended(lambda X: (X[:, 0] > 0).astype(int), kernel=BlendKernel(gamma=0.1, share=0.3))
    assert model.kernel_.share == 0.3
    assert model.density_.precision_prior == "evidence"


def test_weights_of_labels_count_in_the_belief():
    X, y, model = blended(lambda X: (X[:, 0] > 0).astype(int))
    share = model.kernel_.share
    weighed = model.fit(X, y, sample_weight=np.where(np.arange(80) < 40, 5.0, 1.0)).kernel_.share
    assert weighed != share


def test_labels_say_what_an_error_costs():
    X, y, model = blended(lambda X: (X[:, 0] > 0).astype(int))
    rows, codes = model.encoder_.transform(X)[y >= 0], y[y >= 0]
    assert evidence_C(model.kernel_(rows), codes) == model.C_
    assert model.set_params(C=3.0).fit(X, y).C_ == 3.0
    K = model.kernel_(rows)
    asked, told = MixtureSVC(), MixtureSVC(C=evidence_C(K, codes))  # before any fit
    np.testing.assert_array_equal(asked.solve(K, codes).coefficients, told.solve(K, codes).coefficients)


def test_a_bent_kernel_costs_more_by_itself():
    moons = datasets.load("two_moons")
    model = MixtureSVC("lap", probability=False, random_state=0).fit(moons.X, moons.few_labels(random_state=0))
    assert model.C_ > 100
    assert model.score(moons.X, moons.y) > 0.9


@pytest.mark.slow
def test_the_classifier_of_the_paper():
    model = MixtureSVC.from_paper(random_state=0, alpha=0.5, beta=0.2)
    assert type(model.fit(X2, hidden(Y2)).kernel_) is RWMKernel
    assert (model.kernel_.alpha, model.kernel_.beta) == (0.5, 0.2)
    assert model.density.scoring == "representativity"
    assert model.density_.precision_prior in model.density.precision_prior
    assert LaplacianSVC("blend", random_state=0).fit(X2, hidden(Y2)).kernel_.base.share == 0.6


@pytest.mark.parametrize("machine", [MixtureSVC, LaplacianSVC])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_the_dual_of_two_classes_is_that_of_svc(machine, weight):
    few = hidden(Y2)
    known = np.flatnonzero(few >= 0)
    model = machine(C=3.0, class_weight=weight, random_state=0).fit(X2, few)
    K = model.kernel_(model.encoder_.transform(X2)[known])
    theirs = SVC(kernel="precomputed", C=3.0, class_weight=weight).fit(K, few[known])
    np.testing.assert_array_equal(model.support_, known[theirs.support_])
    np.testing.assert_array_equal(model.n_support_, theirs.n_support_)
    np.testing.assert_allclose(model.dual_coef_, theirs.dual_coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-9)
    assert model.dual_coef_.shape == theirs.dual_coef_.shape == (1, len(model.support_))


def test_the_dual_of_several_classes_unpacks_that_of_svc():
    """SVC has the coefficients of a support vector of class i in row j (j - 1 where j is later) of its table."""
    few = hidden(Y4)
    known = np.flatnonzero(few >= 0)
    model = MixtureSVC("rbf", C=3.0, random_state=0).fit(X4, few)
    K = model.kernel_(model.encoder_.transform(X4)[known])
    theirs = SVC(kernel="precomputed", C=3.0).fit(K, few[known])
    np.testing.assert_array_equal(model.support_, known[theirs.support_])
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-7)
    for s, own in enumerate(few[model.support_]):
        for q, (i, j) in enumerate(pairs(4)):
            other = j if own == i else i
            expected = theirs.dual_coef_[other - (other > own), s] if own in (i, j) else 0.0
            assert model.dual_coef_[q, s] == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("unlabelled", ["ignore", "avoid"])
def test_the_decision_function_is_a_sum_over_support_vectors(unlabelled):
    model = MixtureSVC(unlabelled=unlabelled, random_state=0).fit(X4, hidden(Y4))
    rows = model.encoder_.transform(X4)
    values = model.kernel_(rows, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    assert model.dual_coef_.shape == (6, len(model.support_))
    assert (model.avoiding_share_ > 0) == (unlabelled == "avoid")
    if model.avoiding_share_:  # a mean with the S3VM
        values = (1 - model.avoiding_share_) * values + model.avoiding_values(X4)
    else:
        assert model.avoiding_values(X4) is None
    np.testing.assert_allclose(model.decide(X4), values, rtol=0, atol=1e-12)
    votes = np.zeros((len(X4), 4))
    for q, (i, j) in enumerate(pairs(4)):
        votes[np.arange(len(X4)), np.where(values[:, q] >= 0, i, j)] += 1
    scores = model.decision_function(X4)
    assert (np.abs(scores - votes) < 1 / 3).all()


def test_a_weight_of_zero_is_an_unlabelled_row():
    few = hidden(Y4)
    weights = np.where(np.arange(len(few)) % 5 == 0, 0.0, 1.0)
    a = MixtureSVC(random_state=0).fit(X4, few, weights)
    b = MixtureSVC(random_state=0).fit(X4, np.where(weights > 0, few, -1))
    np.testing.assert_allclose(a.decision_function(X4), b.decision_function(X4), atol=1e-12)
    np.testing.assert_allclose(a.predict_proba(X4), b.predict_proba(X4), atol=1e-12)


# ---------------------------------------------------------------- rows without labels


def test_further_rows_are_rows_without_labels():
    few = hidden(Y4)
    labelled, others = few >= 0, few < 0
    a = MixtureSVC(random_state=0).fit(X4[labelled], few[labelled], X_unlabelled=X4[others])
    stacked = np.vstack([X4[labelled], X4[others]])
    b = MixtureSVC(random_state=0).fit(stacked, np.append(few[labelled], few[others]))
    np.testing.assert_array_equal(a.decision_function(X4), b.decision_function(X4))
    np.testing.assert_array_equal(a.predict_proba(X4), b.predict_proba(X4))
    np.testing.assert_array_equal(a.novelty(X4), b.novelty(X4))
    np.testing.assert_array_equal(a.support_, b.support_)
    assert a.mixture_ == b.mixture_


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_further_rows_in_frames(library):
    table, y = mixed(gaps=True)
    few = hidden(y, 5)
    parts = [table[few >= 0], table[few < 0]]
    expected = MixtureSVC(random_state=0).fit(pd.concat(parts), np.append(few[few >= 0], few[few < 0]))
    if library is pl.DataFrame:
        parts = [pl.from_pandas(part) for part in parts]
    model = MixtureSVC(random_state=0).fit(parts[0], few[few >= 0], X_unlabelled=parts[1])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    np.testing.assert_array_equal(model.decision_function(parts[1]), expected.decision_function(table[few < 0]))


def test_the_density_is_that_of_all_rows():
    few = hidden(Y2, 2)
    model = MixtureSVC(**RAW).fit(X2, few)
    assert model.mixture_ == VBMixture(random_state=0).fit(X2).mixture_
    assert model.mixture_ != MixtureSVC(**RAW).fit(X2[:30], few[:30]).mixture_


def test_unlabelled_rows_help():
    """What the whole idea is: with four labels the other rows say where the classes are."""
    X, y = datasets.make_two_rings(n=400, random_state=0)
    few = hidden(y, 6)
    labelled = few >= 0
    plain = SVC().fit(X[labelled], few[labelled]).score(X, y)
    assert MixtureSVC(random_state=0).fit(X, few).score(X, y) > plain


# ---------------------------------------------------------------- probabilities


@pytest.mark.parametrize("per_class", [1, 2, 3, 8])
@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X4, Y4)], ids=["2", "4"])
def test_probabilities_from_any_number_of_labels(X, y, per_class):
    model = MixtureSVC(random_state=0).fit(X, hidden(y, per_class))
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert p.shape == (len(X), len(model.classes_))
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert model.slope_.shape == (5,)
    assert (model.slope_ > 0).all()
    assert (np.diff(model.slope_) >= 0).all()


def test_probabilities_where_one_class_has_one_label():
    few = hidden(Y4, 4)
    few[np.flatnonzero(few == 2)[1:]] = -1
    p = MixtureSVC(random_state=0).fit(X4, few).predict_proba(X4)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


def test_of_two_classes_probability_follows_the_decision():
    model = MixtureSVC(random_state=0).fit(X2, hidden(Y2))
    order = np.argsort(model.decision_function(X2))
    assert (np.diff(model.predict_proba(X2)[order, 1]) >= 0).all()


def test_probabilities_are_better_than_shares_of_classes():
    for X, y in ((X2, Y2), (X4, Y4)):
        half = len(y) // 2
        p = MixtureSVC(random_state=0).fit(X[:half], y[:half]).predict_proba(X[half:])
        assert log_loss(y[half:], p) < 0.7 * np.log(len(np.unique(y)))


def test_equal_rows_of_all_classes_agree_with_their_probabilities():
    rows = np.random.RandomState(0).standard_normal((8, 2))
    X, y = np.tile(rows, (3, 1)), np.repeat([0, 1, 2], 8)
    model = MixtureSVC("rbf", gamma=0.5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def test_without_probability_there_is_none():
    model = MixtureSVC(probability=False, random_state=0).fit(X2, hidden(Y2))
    assert not hasattr(model, "predict_proba")
    assert model.slope_ is None
    with pytest.raises(AttributeError, match="predict_proba needs the slope that fit learns with probability=True"):
        model.set_params(probability=True).predict_proba(X2)
    assert model.predict(X2).shape == (90,)


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X4, Y4)], ids=["2", "4"])
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 90)], ids=["equal", "weighted"])
def test_slopes_are_those_of_left_out_labels(X, y, weights):
    few = hidden(y, 5)
    weights = None if weights is None else np.resize(weights, len(y))
    model = MixtureSVC(unlabelled="ignore", C=2.0, random_state=3).fit(X, few, weights)
    labelled = np.flatnonzero(few >= 0)
    K, codes = model.kernel_(model.encoder_.transform(X)[labelled]), few[labelled]
    own = None if weights is None else weights[labelled]

    def train(K, codes, kept):
        return model.solve(K, codes, None if own is None else own[kept], C=2.0)

    left_out = repeated_left_out_values(K, codes, train, 3)
    np.testing.assert_array_equal(model.slope_, slopes(left_out, codes, own))
    expected = [class_probabilities(model.decide(X), slope, len(model.classes_)) for slope in model.slope_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(expected, axis=0), rtol=1e-12)


@pytest.mark.parametrize(("X", "y"), [(X2, Y2), (X4, Y4)], ids=["2", "4"])
def test_a_single_slope_as_in_earlier_versions(X, y):
    model = MixtureSVC(random_state=0).fit(X, hidden(y))
    model.slope_ = 1.234
    expected = class_probabilities(model.decide(X), 1.234, len(model.classes_))
    assert model.predict_proba(X).tobytes() == expected.tobytes()


def test_a_second_fit_without_probability_forgets_the_first():
    model = MixtureSVC(random_state=0).fit(X2, hidden(Y2))
    model.set_params(probability=False, C=100.0).fit(X2, hidden(Y2))
    assert not hasattr(model, "predict_proba")
    assert model.slope_ is None


# ---------------------------------------------------------------- copies, pipelines, searches


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap", RWMKernel(gamma=0.3) + RBFKernel()], ids=str)
def test_predictions_survive_a_pickle_bit_by_bit(kernel):
    table, y = mixed(gaps=True)
    model = MixtureSVC(kernel, random_state=0).fit(table, hidden(y, 5))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(table), model.decision_function(table))
    np.testing.assert_array_equal(copy.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(copy.novelty(table), model.novelty(table))


def test_settings_and_copies():
    density = VBMixture(n_components=5, random_state=0)
    model = MixtureSVC(RWMKernel(gamma=0.3), density=density, C=3.0)
    assert "kernel=RWMKernel(gamma=0.3)" in repr(model)
    assert "density=VBMixture(n_components=5" in repr(model)
    copy = clone(model)
    assert copy.density is not density
    assert copy.density.n_components == 5
    assert copy.kernel.gamma == 0.3
    assert copy.get_params()["density__n_components"] == 5
    assert copy.set_params(C=9.0, density__n_components=3).C == 9.0
    assert (copy.density.n_components, density.n_components) == (3, 5)
    assert repr(MixtureSVC()) == "MixtureSVC()"


def test_fitting_changes_no_setting():
    density = VBMixture(n_components=5, random_state=0)
    table, y = mixed()
    model = MixtureSVC(density=density, random_state=0)
    before = model.get_params()
    model.fit(table, hidden(y, 4))
    assert model.get_params() == before
    assert not hasattr(density, "mixture_")
    assert density.n_categorical == 0
    assert model.density_ is not density
    assert model.density_.n_categorical == 1


@pytest.mark.slow
def test_a_grid_over_the_density_too():
    grid = {"C": [0.1, 10.0], "density__precision_prior": ["typical", 1.0], "gamma": ["scale", 1.0]}
    model = MixtureSVC("rwm", density=VBMixture(n_components=4, random_state=0), probability=False, random_state=0)
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X2, Y2)
    assert search.best_score_ > 0.85
    assert len(search.cv_results_["params"]) == 8
    assert cross_val_score(MixtureSVC(random_state=0), X2, Y2, cv=3, error_score="raise").mean() > 0.75


def test_a_grid_over_a_kernels_own_gamma():
    model = MixtureSVC(RWMKernel(), probability=False, random_state=0)
    search = GridSearchCV(model, {"kernel__gamma": [1e-4, 0.3]}, cv=2, error_score="raise").fit(X2, Y2)
    assert search.best_estimator_.kernel_.gamma == search.best_params_["kernel__gamma"]


def test_in_a_pipeline():
    X = np.where(np.random.RandomState(0).uniform(size=X2.shape) < 0.1, np.nan, X2)
    model = make_pipeline(SimpleImputer(), StandardScaler(), MixtureSVC(random_state=0)).fit(X, hidden(Y2))
    assert model.score(X, Y2) > 0.7
    assert model.predict_proba(X).shape == (90, 2)


def test_names_of_columns_are_remembered():
    table, y = mixed()
    model = MixtureSVC(random_state=0).fit(table, hidden(y, 4))
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    assert not hasattr(MixtureSVC(random_state=0).fit(X2, hidden(Y2)), "feature_names_in_")
    raw = MixtureSVC(**RAW).fit(table[["a", "b"]], hidden(y, 4))
    assert list(raw.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        raw.predict(table[["b", "a"]])


PROGRAM = """
import numpy as np
from mixkern import MixtureSVC, datasets
X, y = datasets.make_two_moons(n=120, random_state=0)
model = MixtureSVC(random_state=3).fit(X, np.where(np.arange(120) < 12, y, -1))
print(model.decision_function(X).tobytes().hex(), model.slope_.tobytes().hex())
"""


@pytest.mark.slow
def test_the_same_seed_in_another_process():
    X, y = datasets.make_two_moons(n=120, random_state=0)
    model = MixtureSVC(random_state=3).fit(X, np.where(np.arange(120) < 12, y, -1))
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [model.decision_function(X).tobytes().hex(), model.slope_.tobytes().hex()]


def test_a_generator_as_seed():
    few = hidden(Y2)
    a, b = (MixtureSVC(random_state=np.random.RandomState(0)).fit(X2, few) for _ in range(2))
    np.testing.assert_array_equal(a.predict_proba(X2), b.predict_proba(X2))


@pytest.mark.slow
def test_the_seed_reaches_a_density_that_has_none():
    X = np.random.RandomState(5).uniform(size=(400, 3))
    few = hidden(np.arange(400) % 2)
    found = {
        MixtureSVC(density=VBMixture(15), random_state=0, probability=False).fit(X, few).mixture_.key for _ in range(4)
    }
    assert len(found) == 1


# ---------------------------------------------------------------- kernels that are not definite


def wild():
    """Rows, and a mixture of which RWM is far from definite."""
    random = np.random.RandomState(3)
    factors = random.standard_normal((5, 2, 2))
    covariances = factors @ np.swapaxes(factors, 1, 2) + 0.02 * np.eye(2)
    mixture = Mixture(np.full(5, 0.2), 2 * random.standard_normal((5, 2)), covariances)
    X = 3 * random.standard_normal((80, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int), mixture


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
@pytest.mark.parametrize("c", [2, 3])
def test_a_repair_goes_into_the_coefficients(how, c):
    """Against the long way: kernel rows of new rows are repaired, then the plain dual is summed."""
    X, y, mixture = wild()
    y = y + (X[:, 0] > 2) if c == 3 else y
    model = MixtureSVC(RWMKernel(gamma=0.3), density=mixture, repair=how, C=5.0, tol=1e-8, probability=False).fit(X, y)
    K = RWMKernel(mixture, 0.3)(X)
    assert definiteness(K).smallest < -0.1
    fixed = repaired(K, how)
    plain = SVC(kernel="precomputed", C=5.0, tol=1e-8, break_ties=True).fit(fixed.matrix, y)
    new = np.random.RandomState(0).uniform(-5, 5, size=(40, 2))
    rows = fixed.rows(RWMKernel(mixture, 0.3)(new, X))
    np.testing.assert_allclose(model.decision_function(new), plain.decision_function(rows), atol=1e-7)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("auto", r"They were clipped, and the SVM was trained again\. .*To clip them at once: repair='clip'\."),
        ("none", r"The result so far is used\. Repair the matrix: repair='clip'\."),
    ],
)
def test_the_guard_speaks_of_eigenvalues_and_repair(how, told):
    X, y, mixture = wild()
    model = MixtureSVC(RWMKernel(gamma=0.3), density=mixture, repair=how, max_iter=20, probability=False)
    facts = "libsvm has not converged after 20 iterations on a kernel matrix that is not positive semi-definite"
    with pytest.warns(NotConvergedWarning, match=rf"{facts}.*{told}"):
        model.fit(X, y)
    assert model.score(X, y) > 0.7


def test_the_guard_clips_as_repair_would():
    X, y, mixture = wild()
    how = {"density": mixture, "max_iter": 20, "probability": False}
    with pytest.warns(NotConvergedWarning, match="clipped"):
        auto = MixtureSVC(RWMKernel(gamma=0.3), **how).fit(X, y)
    with pytest.warns(
        NotConvergedWarning, match=r"has not converged after 20 iterations\. The result so far is used\. Scale"
    ):
        clipped = MixtureSVC(RWMKernel(gamma=0.3), repair="clip", **how).fit(X, y)
    np.testing.assert_array_equal(auto.decision_function(X), clipped.decision_function(X))


def test_a_kernel_under_a_laplacian_is_repaired_too():
    X, y, mixture = wild()
    base = RWMKernel(mixture, 0.3)
    settings = {"C": 10.0, "repair": "clip", "tol": 1e-8, "probability": False}
    model = MixtureSVC(LaplacianKernel(base, ratio=1.0), density=mixture, **settings)
    model.fit(X, y)
    fixed = repaired(model.kernel_(X), "clip")
    plain = SVC(kernel="precomputed", C=10.0, tol=1e-8).fit(fixed.matrix, y)
    new = np.random.RandomState(0).uniform(-5, 5, size=(20, 2))
    expected = plain.decision_function(fixed.rows(model.kernel_(new, X)))
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "rwm"])
def test_labels_that_count_next_to_nothing_do_not_spoil_probabilities(kernel):
    """Half of the labels are wrong, at a weight of one in a thousand million: the slope is that without them."""
    X, y = datasets.make_two_moons(n=120, random_state=0)
    half = np.arange(120) % 2 == 0
    density = VBMixture(4, random_state=0).fit(X).mixture_
    how = {"density": density, "gamma": 1.0, "random_state": 0}
    wrong, weights = np.where(half, 1 - y, y), np.where(half, 1e-9, 1.0)
    found = MixtureSVC(kernel, **how).fit(X, wrong, weights)
    expected = MixtureSVC(kernel, **how).fit(X, np.where(half, -1, y))
    spoilt = MixtureSVC(kernel, **how).fit(X, wrong)
    np.testing.assert_allclose(found.slope_, expected.slope_, rtol=0.2)  # the folds are others
    assert (spoilt.slope_ < found.slope_ / 2).all()
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=0.1)


# ---------------------------------------------------------------- assess


@pytest.fixture(scope="module")
def heart():
    return datasets.load("heart")


@pytest.fixture(scope="module")
def encoder(heart):
    return TableEncoder(continuous=list(heart.continuous), categorical=list(heart.categorical))


@pytest.fixture(scope="module")
def heart_model(heart, encoder):
    return MixtureSVC(encoder=encoder, random_state=0).fit(heart.X, heart.few_labels(per_class=10, random_state=0))


def test_assess_agrees_with_the_single_methods(heart_model, heart):
    X = heart.X[::3]
    found = heart_model.assess(X, all_classes=True)
    assert found["label"].tolist() == heart_model.predict(X).tolist()
    odds = heart_model.predict_proba(X)
    assert (found["probability"] == odds.max(axis=1)).all()
    assert (found[[f"probability_{label}" for label in heart_model.classes_]].to_numpy() == odds).all()
    assert (found["component"] == heart_model.responsibilities(X).argmax(axis=1)).all()
    assert (found["novelty"] == heart_model.novelty(X)).all()
    assert found.index.tolist() == X.index.tolist()


def test_arrays_have_no_names():
    rows = np.random.RandomState(0).normal(size=(30, 2))
    model = MixtureSVC(random_state=0).fit(rows, [0] * 5 + [1] * 5 + [-1] * 20)
    assert model.assess(rows[:4]).index.tolist() == [0, 1, 2, 3]


def test_without_probabilities(heart, encoder):
    y = heart.few_labels(per_class=10, random_state=0)
    model = MixtureSVC(encoder=encoder, random_state=0, probability=False).fit(heart.X, y)
    assert model.assess(heart.X)["probability"].isna().all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_unsure_rows_have_no_label(heart_model, heart, kind):
    frames = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    X = frames[kind](heart.X[::3].reset_index(drop=True))
    whole, found = heart_model.assess(X), heart_model.assess(X, abstain=0.8)
    probability, labels = np.asarray(whole["probability"]), list(nw.from_native(found, eager_only=True)["label"])
    expected = nw.from_native(whole, eager_only=True)["label"].to_list()
    assert 0 < (probability < 0.8).sum() < len(probability)
    for label, other, share in zip(labels, expected, probability, strict=True):
        assert (label is None) if share < 0.8 else (label == other)
    for name in ("probability", "component", "novelty"):
        assert np.array_equal(np.asarray(found[name]), np.asarray(whole[name]))
    none, all_labels = (nw.from_native(heart_model.assess(X, abstain=share), eager_only=True) for share in (1.0, 1e-9))
    assert none["label"].is_null().all()
    assert all_labels["label"].to_list() == expected
    if kind != "pandas":  # blocks of one table have the same types
        assert none.schema["label"] == all_labels.schema["label"] == nw.String


@pytest.mark.parametrize(
    ("classes", "expected"),
    [([3, 7], [3, pd.NA]), ([1.0, 2.0], [1.0, np.nan]), ([False, True], [False, None]), (["a", "b"], ["a", None])],
)
def test_empty_labels_of_any_type(classes, expected):
    rows = np.array([[0.0], [0.1], [5.0], [5.1], [2.55]])
    y = pd.Series([classes[0]] * 2 + [classes[1]] * 2 + [None], dtype=object)
    model = MixtureSVC(density=VBMixture(2, random_state=0), random_state=0).fit(rows, y)
    shares = model.assess(rows)["probability"]
    labels = model.assess(rows[[0, 4]], abstain=(shares[0] + shares[4]) / 2)["label"]
    assert shares[4] < shares[0]
    assert labels[0] == expected[0]
    assert labels.isna().tolist() == [False, True]
    categories = MixtureSVC(density=VBMixture(2, random_state=0), random_state=0).fit(rows, y.astype("category"))
    found = categories.assess(rows[[0, 4]], abstain=(shares[0] + shares[4]) / 2)["label"]
    assert found.dtype == y.astype("category").dtype
    assert found.isna().tolist() == [False, True]


def test_what_cannot_abstain(heart_model, heart, encoder):
    for wrong in (0, -0.1, 1.1, "0.8", True):
        with pytest.raises(OptionError, match="abstain must be a number above 0, and 1 at most or None, but it is"):
            heart_model.assess(heart.X, abstain=wrong)
    y = heart.few_labels(per_class=10, random_state=0)
    model = MixtureSVC(encoder=encoder, random_state=0, probability=False).fit(heart.X, y)
    with pytest.raises(OptionError, match=r"fitted without them\. Fit it with probability=True\."):
        model.assess(heart.X, abstain=0.8)


# ---------------------------------------------------------------- accuracy stated in README


DRAWS = 20


@pytest.mark.slow
def test_eight_labels_on_clouds():
    """README: 82 % by MixtureSVC, 72 % by a random forest, 67 % by an SVM on labelled rows; 77 % without the S3VM."""
    clouds = datasets.load("clouds")
    rows, y = TableEncoder().fit_transform(clouds.X), clouds.y.to_numpy()
    models = [MixtureSVC(probability=False, random_state=0, unlabelled=each) for each in ("auto", "ignore")]
    for model in models:
        model.read_labels(clouds.X, clouds.y, None)
        model.learn_structure(clouds.X)  # reads no label
    right = []
    for draw in range(DRAWS):
        few = clouds.few_labels(per_class=4, random_state=draw).to_numpy()
        known = few != -1
        machines = [SVC(), RandomForestClassifier(random_state=0)]
        codes = np.where(known, np.searchsorted(models[0].classes_, few), -1)
        ours = [model.train(rows, codes).score(clouds.X[~known], y[~known]) for model in models]
        theirs = [machine.fit(rows[known], y[known]).score(rows[~known], y[~known]) for machine in machines]
        right.append([*ours, *theirs])
    np.testing.assert_allclose(np.mean(right, axis=0), [0.82, 0.77, 0.67, 0.72], atol=0.01)
