"""The mean of an SVM and an S3VM that avoids unlabelled rows, against the two of them."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

from mixkern import LaplacianSVC, Mixture, MixtureSVC, SVCSearch, VBMixture, datasets, load, save
from mixkern.density import Rows
from mixkern.errors import ModelFileError, OptionError
from mixkern.estimators.avoiding import Avoiding
from mixkern.estimators.avoiding_problem import MAX_CLASSES, MAX_LABELS, TOL, AvoidingProblem, prior_weight
from mixkern.estimators.kernel_factory import Scale, gamma_of
from mixkern.kernels import RWMKernel
from mixkern.svm import DecisionFunction, label_folds
from mixkern.svm.class_calibration import slopes
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.folds import left_out_values
from mixkern.svm.gaussian_process import class_shares
from mixkern.svm.s3vm import quasi_newton

pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")

IRIS = datasets.load("iris")
MOONS = datasets.load("two_moons")
HEART = datasets.load("heart")


def fitted(data=IRIS, seed=0, **settings):
    y = data.few_labels(per_class=settings.pop("per_class", 4), random_state=seed)
    return MixtureSVC(random_state=0, **settings).fit(data.X, y), y


def svm_values(model, X):
    """Decision values of the SVM alone, from its public attributes."""
    K = model.kernel_(model.rows_of(X), Rows(model.support_vectors_, model.mixture_))
    values = K @ model.dual_coef_.T + model.intercept_
    return -values if len(model.classes_) == 2 else values


# ---------------------------------------------------------------- decisions


@pytest.mark.parametrize("data", [IRIS, MOONS, HEART], ids=lambda data: data.name)
def test_decisions_are_the_weighted_mean_of_both(data):
    model, _ = fitted(data)
    share = model.avoiding_share_
    assert 0.01 < share < 1
    s3vm = model.avoiding_values(data.X) / share
    np.testing.assert_allclose(model.decide(data.X), (1 - share) * svm_values(model, data.X) + share * s3vm, atol=1e-10)


@pytest.mark.parametrize("data", [IRIS, MOONS], ids=lambda data: data.name)
def test_the_svm_is_that_without_the_s3vm(data):
    model, y = fitted(data)
    alone = clone(model).set_params(unlabelled="ignore").fit(data.X, y)
    assert alone.avoiding_share_ == 0.0
    assert alone.avoiding_values(data.X) is None
    np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)
    np.testing.assert_array_equal(model.support_, alone.support_)
    np.testing.assert_allclose(alone.decide(data.X), svm_values(model, data.X), atol=1e-10)


def test_the_s3vm_is_quasi_newton_with_estimated_shares():
    model, y = fitted(MOONS)
    rows, codes = model.rows_of(MOONS.X), codes_of(model, y)
    labelled = np.flatnonzero(codes >= 0)
    kernel = model._avoiding_kernel
    problem = model_problem(model, rows, codes)
    own = problem.rows.values
    np.testing.assert_array_equal(own[: len(labelled)], rows.values[labelled])
    landmarks = np.arange(len(labelled) + 100)
    K = kernel(Rows(own, kernel.mixture), Rows(own[landmarks], kernel.mixture))
    blend = model.kernel_
    unlabelled = Rows(own[len(labelled) :], model.mixture_)
    shares = class_shares(blend(unlabelled, rows[labelled]), blend(rows[labelled]), codes[labelled])
    signs = np.zeros(len(own), dtype=int)
    signs[: len(labelled)] = np.where(codes[labelled] == 1, 1, -1)
    dual = quasi_newton(K, landmarks, signs, C=10.0, positive_share=shares[1], tol=TOL)
    expected = -DecisionFunction.of(kernel, Rows(own, kernel.mixture), dual)(Rows(rows.values, kernel.mixture))
    np.testing.assert_allclose(model.avoiding_values(MOONS.X), model.avoiding_share_ * expected, atol=1e-8)


def codes_of(model, y):
    return clone(model).read_labels(np.empty((len(y), 1)), y, None)[0]


def model_problem(model, rows, codes):
    labelled = np.flatnonzero(codes >= 0)
    K = model.kernel_(rows[labelled])
    return model.avoiding_problem(rows, codes, K)


def test_the_kernel_is_that_of_a_smoother_density():
    model, _ = fitted(HEART)
    values = model.encoder_.transform(HEART.X)
    assert model.density_.precision_prior == "evidence"
    kernel = model._avoiding_kernel
    assert isinstance(kernel, RWMKernel)
    assert kernel.mixture != model.mixture_
    rows = Rows(values, kernel.mixture)
    unit = RWMKernel(kernel.mixture)
    assert kernel.gamma == pytest.approx(gamma_of(Scale.SCALE, unit, rows, np.random.RandomState(0)))


@pytest.mark.parametrize("prior", ["typical", 3.0, np.eye(4)], ids=str)
def test_another_density_is_used_as_it_is(prior):
    model, _ = fitted(density=VBMixture(precision_prior=prior))
    assert model._avoiding_kernel.mixture == model.mixture_


def test_a_given_mixture_is_used_as_it_is():
    density = VBMixture(random_state=0).fit(IRIS.X.to_numpy())
    model, _ = fitted(density=density.mixture_)
    assert isinstance(density.mixture_, Mixture)
    assert model._avoiding_kernel.mixture == density.mixture_


# ---------------------------------------------------------------- when it is used


@pytest.mark.parametrize(
    ("settings", "avoids"),
    [
        ({}, True),
        ({"kernel": "rwm"}, False),
        ({"kernel": "rwm", "unlabelled": "avoid"}, True),
        ({"unlabelled": "ignore"}, False),
    ],
)
def test_auto_avoids_with_the_default_kernel(settings, avoids):
    model, _ = fitted(**settings)
    assert model.avoids_unlabelled is avoids
    assert (model.avoiding_share_ > 0) is avoids


def test_a_laplacian_svm_has_the_graph_instead():
    model = LaplacianSVC("blend", random_state=0).fit(IRIS.X, IRIS.few_labels(per_class=4, random_state=0))
    assert model.avoiding_share_ == 0.0


def test_a_wrong_word_is_an_error_before_any_work():
    with pytest.raises(OptionError, match="unlabelled must be one of 'auto', 'avoid', 'ignore'"):
        fitted(unlabelled="skip")


def test_a_search_rates_svms_alone():
    y = IRIS.few_labels(per_class=4, random_state=0)
    search = SVCSearch(C=[1.0, 10.0], gamma=[0.1], random_state=0).fit(IRIS.X, y)
    assert search.best_estimator_.avoiding_share_ == 0.0
    with pytest.raises(OptionError, match="unlabelled='avoid'"):
        SVCSearch(MixtureSVC(unlabelled="avoid")).fit(IRIS.X, y)


def test_many_labels_need_no_s3vm():
    assert prior_weight(np.repeat([0, 1], 41)) < 0.01 < prior_weight(np.repeat([0, 1], 39))
    model, _ = fitted(MOONS, per_class=50)
    assert model.avoiding_share_ == 0.0
    rows = model.rows_of(MOONS.X)
    for n_labels, n_classes in ((MAX_LABELS + 1, 2), (MAX_CLASSES + 1, MAX_CLASSES + 1)):
        codes = np.arange(len(rows)) % n_classes
        codes[n_labels:] = -1
        assert (
            AvoidingProblem.of(model._avoiding_kernel, (None, None), rows, codes, None, np.random.RandomState(0))
            is None
        )


def test_a_table_with_a_label_in_each_row_has_no_unlabelled_rows():
    y = np.repeat([0, 1], 10)
    X = np.random.RandomState(0).standard_normal((20, 2)) + y[:, None]
    model = MixtureSVC(random_state=0).fit(X, y)
    assert model.avoiding_share_ == 0.0
    assert model.score(X, y) > 0.6


def test_one_label_of_each_class_is_enough():
    model, _ = fitted(per_class=1)
    assert model.avoiding_share_ == pytest.approx(0.8)
    assert model.score(IRIS.X, IRIS.y) > 0.7
    assert model.predict_proba(IRIS.X).sum(axis=1) == pytest.approx(1.0)


def voted(values, n_classes):
    """Return the class with the most votes of pairs, of equal ones that with the larger sum, row by row."""
    found = []
    for row in values:
        votes = np.zeros((n_classes, 2))
        for (first, second), value in zip(combinations(range(n_classes), 2), row, strict=True):
            votes[first if value >= 0 else second, 0] += 1
            votes[first, 1] += value
            votes[second, 1] -= value
        found.append(max(range(n_classes), key=lambda label: tuple(votes[label])))
    return np.array(found)


@pytest.mark.parametrize("data", [IRIS, MOONS], ids=lambda data: data.name)
def test_slopes_and_accuracy_are_those_of_the_mean_of_both(data):
    model, y = fitted(data)
    codes, rows = codes_of(model, y), model.rows_of(data.X)
    labelled = np.flatnonzero(codes >= 0)
    K, known = kernel_matrix(model.kernel_, rows[labelled]), codes[labelled]
    folds, share = label_folds(known, 4, 0), model.avoiding_share_
    own = left_out_values(K, known, folds, lambda K, codes, kept: model.solve(K, codes, C=model.C_))
    other = model.avoiding_problem(rows, codes, K).left_out_values(folds)
    values = (1 - share) * own + share * other
    np.testing.assert_array_equal(model.slope_, slopes(values[None], known))
    assert model.left_out_accuracy_ == pytest.approx(np.mean(voted(values, len(model.classes_)) == known))


def test_weights_of_labels_and_classes_count():
    y = MOONS.few_labels(per_class=4, random_state=0)
    plain = MixtureSVC(random_state=0).fit(MOONS.X, y)
    heavy = MixtureSVC(random_state=0, class_weight={plain.classes_[0]: 3.0}).fit(MOONS.X, y)
    weights = np.where(np.asarray(y) == plain.classes_[0], 3.0, 1.0)
    weighted = MixtureSVC(random_state=0).fit(MOONS.X, y, sample_weight=weights)
    s3vm = [model.avoiding_values(MOONS.X) / model.avoiding_share_ for model in (plain, heavy, weighted)]
    assert not np.allclose(s3vm[0], s3vm[1], atol=1e-3)
    assert not np.allclose(s3vm[0], s3vm[2], atol=1e-3)


def test_a_given_weight_is_used_without_leaving_labels_out():
    model, y = fitted(MOONS, probability=False)
    rows, codes, own = model.rows_of(MOONS.X), codes_of(model, y), clone(model)
    own.read_labels(MOONS.X, y, None)
    own.learn_structure(MOONS.X, None, codes)
    own.train(rows, codes, avoiding_share=0.25)
    assert own.avoiding_share_ == 0.25
    np.testing.assert_allclose(
        own.avoiding_values(MOONS.X) / 0.25, model.avoiding_values(MOONS.X) / model.avoiding_share_
    )


def test_it_says_so_in_a_notebook():
    model, _ = fitted()
    assert "Unlabelled rows" in model._repr_html_()
    assert "avoided, with a weight of" in model._repr_html_()


# ---------------------------------------------------------------- accuracy and files


def test_two_moons_are_divided_where_there_are_no_rows():
    accuracies = []
    for seed in range(3):
        model, y = fitted(MOONS, seed=seed, per_class=3)
        alone = clone(model).set_params(unlabelled="ignore").fit(MOONS.X, y)
        accuracies.append([each.score(MOONS.X, MOONS.y) for each in (model, alone)])
    mean = np.mean(accuracies, axis=0)
    assert mean[0] > mean[1] + 0.03


def test_a_file_has_both(tmp_path):
    model, _ = fitted(HEART)
    save(model, tmp_path / "m.mixkern")
    again = load(tmp_path / "m.mixkern")
    np.testing.assert_array_equal(again.decide(HEART.X), model.decide(HEART.X))
    np.testing.assert_array_equal(again.predict_proba(HEART.X), model.predict_proba(HEART.X))
    assert again.avoiding_share_ == model.avoiding_share_


@pytest.mark.parametrize("change", ["share", "support", "intercepts", "kernel"])
def test_parts_that_do_not_fit_are_an_error(change):
    model, _ = fitted()
    parts = model.to_parts()
    avoiding = parts["avoiding"]
    if change == "kernel":
        parts["avoiding_kernel"] = None
    elif change == "share":
        parts["avoiding"] = Avoiding(avoiding.decision, 1.5)
    else:
        fields = {**vars(avoiding.decision), change: getattr(avoiding.decision, change)[..., :1]}
        fields.pop("_rows", None)
        parts["avoiding"] = Avoiding(DecisionFunction(**fields), 0.5)
    with pytest.raises(ModelFileError):
        MixtureSVC.from_parts(parts)


def test_ctrl_c_leaves_the_model_as_it_was(monkeypatch):
    model, y = fitted()
    before = model.decide(IRIS.X)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("mixkern.estimators.avoiding_problem.quasi_newton", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS.X, y)
    np.testing.assert_array_equal(model.decide(IRIS.X), before)
