"""A part that is not what it should be is named; parts that are become values again."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from mixkern import Mixture, MixtureSVC, VBMixture
from mixkern.encoding import CategoricalColumn, ContinuousColumn
from mixkern.errors import ModelFileError
from mixkern.kernels import LaplacianKernel, RBFKernel, RWMKernel
from mixkern.storage.archive import payload_of, read_payload
from mixkern.storage.restore import check_model, restore_model
from mixkern.storage.state import state_of
from mixkern.svm import DecisionFunction


def changed(model, **parts):
    other = copy(model)
    vars(other).update(parts)
    return other


@pytest.fixture
def state(models):
    return read_payload(payload_of(state_of(models["svc"])))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("C_", "1"),
        ("C_", True),
        ("C_", float("nan")),
        ("slope_", [1.0]),
        ("n_iter_", -1),
        ("n_iter_", 1.0),
        ("n_features_in_", "4"),
        ("intercept_", np.ones((1, 1))),
        ("intercept_", np.ones(3, dtype=np.float32)),
        ("intercept_", np.full(3, np.inf)),
        ("intercept_", [0.0, 0.0, 0.0]),
        ("_decision", DecisionFunction(None, np.full((1, 4), np.inf), np.ones((1, 3)), np.zeros(3))),
        ("_decision", DecisionFunction(None, np.ones((1, 4)), np.full((1, 3), np.nan), np.zeros(3))),
        ("_decision", None),
        ("support_", np.zeros(3)),
        ("classes_", np.array(["a", "a", "b"], dtype=object)),
        ("classes_", np.array(["a"], dtype=object)),
        ("classes_", np.array(["a", 1, None], dtype=object)),
        ("feature_names_in_", np.arange(4)),
        ("fell_back_", 0),
        ("kernel_", "rbf"),
        ("kernel_", None),
        ("mixture_", None),
        ("mixture_", Mixture.__new__(Mixture)),
        ("density_", MixtureSVC()),
        ("encoder_", 1),
        ("_novelty", None),
        ("random_state", object()),
        ("random_state", [0]),
        ("C", [1.0, 2.0]),
        ("C", np.ones(3)),
        ("gamma", (1.0,)),
        ("tol", RBFKernel()),
        ("max_iter", Mixture.__new__(Mixture)),
        ("probability", VBMixture()),
        ("kernel", ["rwm"]),
        ("class_weight", [("a", [1, 2])]),
        ("class_weight", [("a", 1), 2]),
        ("class_weight", [("a",)]),
        ("_labels", [("categories", ["a", "b", "c"])]),
        ("_labels", "category"),
        ("_labels", [("categories", ["a"]), ("ordered", False), ("of", "object")]),
    ],
)
def test_parts_of_another_kind_are_refused(state, name, wrong):
    parts = {"kernel_": "kernel", "mixture_": "mixture", "density_": "VBMixture", "encoder_": "TableEncoder"}
    parts |= {"_decision": "decision function", "_novelty": "novelty", "_labels": "type of labels"}
    with pytest.raises(ModelFileError, match=f"its {parts.get(name, name)} is not valid"):
        restore_model(changed(state, **{name: wrong}))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("C", -1.0),
        ("C", "much"),
        ("gamma", "none such"),
        ("alpha", None),
        ("beta", float("nan")),
        ("repair", "no such"),
    ],
)
def test_settings_that_fit_would_refuse_are_refused(state, name, wrong):
    with pytest.raises(ModelFileError, match=f"one of its parameters is invalid: .*{name}"):
        restore_model(changed(state, **{name: wrong}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"deviation": 0.0},
        {"deviation": -1.0},
        {"mean": float("inf")},
        {"origin": "0"},
        {"n_values": -1},
        {"kind": "none such"},
        {"kind": None},
        {"name": 1},
        {"remark": None},
        {"n_gaps": 0.5},
    ],
)
def test_columns_of_another_kind_are_refused(state, wrong):
    first = next(column for column in state.encoder_.columns_ if isinstance(column, ContinuousColumn))
    encoder = changed(state.encoder_, columns_=(changed(first, **wrong), *state.encoder_.columns_[1:]))
    with pytest.raises(ModelFileError, match="its column is not"):
        restore_model(changed(state, encoder_=encoder))


@pytest.mark.parametrize("wrong", [("a", "a"), ["a"], ("a", 1), None])
def test_categories_are_different_texts(state, wrong):
    first = next(column for column in state.encoder_.columns_ if isinstance(column, CategoricalColumn))
    encoder = changed(state.encoder_, columns_=(changed(first, categories=wrong),))
    with pytest.raises(ModelFileError, match="its column is not"):
        restore_model(changed(state, encoder_=encoder))


@pytest.mark.parametrize("wrong", [{"degree": 10**9}, {"n_neighbors": 10**6}, {"degree": "1"}, {"rows": np.ones(3)}])
def test_graphs_that_take_forever_are_refused(state, wrong):
    kernel = changed(LaplacianKernel(RBFKernel(), np.ones((3, 4))), **wrong)
    with pytest.raises(ModelFileError, match="is not valid"):
        restore_model(changed(state, kernel=kernel))


def test_a_random_state_does_not_read_beyond_its_numbers(state):
    kind, key, *_ = np.random.RandomState(0).get_state()
    wrong = np.random.RandomState()
    wrong.set_state((kind, key, 100_000))
    with pytest.raises(ModelFileError, match="its random_state is not"):
        restore_model(changed(state, random_state=wrong))


def test_what_is_no_estimator_is_named():
    with pytest.raises(ModelFileError, match=r"it holds a builtins\.dict, which is no estimator of mixkern"):
        restore_model({})


def test_settings_that_a_file_does_not_have_are_the_default(state):
    """As in a file from an older mixkern, which had fewer."""
    older = changed(state)
    del vars(older)["repair"]
    assert restore_model(older).repair == "auto"


def test_unknown_attributes_are_ignored(state):
    assert "predict" not in vars(restore_model(changed(state, predict=1, unknown=2)))
    assert "unknown" not in vars(restore_model(changed(state, unknown=2)))


def test_a_density_without_a_fit_stays_so(state):
    assert vars(restore_model(changed(state, density=VBMixture())).density).keys() == vars(VBMixture()).keys()


def test_fitted_models_pass_all_checks(models):
    for model in models.values():
        before = set(vars(model))
        check_model(model)
        assert set(vars(model)) == before


@pytest.mark.parametrize(
    ("name", "part", "what"),
    [
        ("n_features_in_", 5, "number of columns"),
        ("feature_names_in_", np.array(["a"], dtype=object), "names of columns"),
        ("support_", np.arange(2), "support vectors and mixture"),
        ("dual_coef_", np.zeros((3, 1)), "support vectors and coefficients"),
        ("intercept_", np.zeros(2), "coefficients"),
        ("classes_", np.array(["a", "b"], dtype=object), "labels and classes"),
        ("n_labels_", np.ones(2, dtype=int), "labels and classes"),
        ("n_support_", np.zeros(4, dtype=int), "support vectors and classes"),
        ("mixture_", Mixture([1.0], [[0.0]], [[[1.0]]]), "encoder and mixture"),
    ],
)
def test_shapes_must_agree(models, name, part, what):
    with pytest.raises(ModelFileError, match=f"do not fit together: .*{what}"):
        check_model(changed(models["svc"], **{name: part}))


@pytest.mark.parametrize("part", [{"support": np.zeros((2, 4))}, {"coefficients": np.zeros((1, 3))}])
def test_the_decision_function_has_a_coefficient_for_each_row(models, part):
    decision = replace(vars(models["svc"])["_decision"], **part)
    with pytest.raises(ModelFileError, match="do not fit together: rows and coefficients"):
        check_model(changed(models["svc"], _decision=decision))


def test_the_density_is_that_of_the_mixture(models):
    mixture = models["svc"].mixture_
    other = replace(mixture, means=mixture.means + 1)
    with pytest.raises(ModelFileError, match="density and mixture"):
        check_model(changed(models["svc"], mixture_=other))


def test_novelty_has_the_columns_of_the_mixture(models):
    novelty = replace(vars(models["svc"])["_novelty"], rows=np.zeros((2, 1)))
    with pytest.raises(ModelFileError, match="training rows and mixture"):
        check_model(changed(models["svc"], _novelty=novelty))


@pytest.mark.parametrize("order", [[0, 1, 2, 2], [3, 2, 1, 0], [], [0, 1, 2, 9]])
def test_the_order_of_columns(models, order):
    with pytest.raises(ModelFileError, match="order of columns"):
        check_model(changed(models["encoder"], _order=order))


def test_columns_have_names_of_their_own(models):
    encoder = models["encoder"]
    twice = (encoder.columns_[0], *encoder.columns_[:3])
    with pytest.raises(ModelFileError, match="order of columns"):
        check_model(changed(encoder, columns_=twice))


@pytest.mark.parametrize("kernel", [RBFKernel(n_categorical=0), RBFKernel(gamma="x"), RWMKernel()])
def test_a_kernel_that_cannot_read_the_rows_is_found_by_trying(models, kernel):
    decision = replace(vars(models["svc"])["_decision"], kernel=kernel)
    with pytest.raises(Exception, match=r"codes|gamma|no mixture|features|gaps|NaN"):
        check_model(changed(models["svc"], _decision=decision, kernel_=kernel))


def test_an_unfitted_model_is_an_error(models):
    model = changed(models["svc"])
    del vars(model)["mixture_"]
    with pytest.raises(AttributeError):
        check_model(model)
