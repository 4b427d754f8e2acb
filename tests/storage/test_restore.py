"""A part that is not what it should be is named; parts that are become values again."""

from copy import copy

import numpy as np
import pytest

from mixkern import Mixture, MixtureSVC, VBMixture
from mixkern.encoding import CategoricalColumn, ContinuousColumn
from mixkern.errors import ModelFileError
from mixkern.kernels import LaplacianKernel, RBFKernel
from mixkern.storage.payload import read, written
from mixkern.storage.restore import model_of
from mixkern.storage.state import bare
from mixkern.svm import DecisionFunction


def changed(shell, **parts):
    other = copy(shell)
    vars(other).update(parts)
    return other


@pytest.fixture
def shell(models):
    return read(written(bare(models["svc"])))


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
def test_parts_of_another_kind_are_refused(shell, name, wrong):
    parts = {"kernel_": "kernel", "mixture_": "mixture", "density_": "VBMixture", "encoder_": "TableEncoder"}
    parts |= {"_decision": "decision function", "_novelty": "novelty", "_labels": "type of labels"}
    with pytest.raises(ModelFileError, match=f"its {parts.get(name, name)} is not valid"):
        model_of(changed(shell, **{name: wrong}))


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
def test_settings_that_fit_would_refuse_are_refused(shell, name, wrong):
    with pytest.raises(ModelFileError, match=f"one of its settings cannot be: .*{name}"):
        model_of(changed(shell, **{name: wrong}))


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
def test_columns_of_another_kind_are_refused(shell, wrong):
    first = next(column for column in shell.encoder_.columns_ if isinstance(column, ContinuousColumn))
    encoder = changed(shell.encoder_, columns_=(changed(first, **wrong), *shell.encoder_.columns_[1:]))
    with pytest.raises(ModelFileError, match="its column is not"):
        model_of(changed(shell, encoder_=encoder))


@pytest.mark.parametrize("wrong", [("a", "a"), ["a"], ("a", 1), None])
def test_categories_are_different_texts(shell, wrong):
    first = next(column for column in shell.encoder_.columns_ if isinstance(column, CategoricalColumn))
    encoder = changed(shell.encoder_, columns_=(changed(first, categories=wrong),))
    with pytest.raises(ModelFileError, match="its column is not"):
        model_of(changed(shell, encoder_=encoder))


@pytest.mark.parametrize("wrong", [{"degree": 10**9}, {"n_neighbors": 10**6}, {"degree": "1"}, {"rows": np.ones(3)}])
def test_graphs_that_take_forever_are_refused(shell, wrong):
    kernel = changed(LaplacianKernel(RBFKernel(), np.ones((3, 4))), **wrong)
    with pytest.raises(ModelFileError, match="is not valid"):
        model_of(changed(shell, kernel=kernel))


def test_a_random_state_does_not_read_beyond_its_numbers(shell):
    kind, key, *_ = np.random.RandomState(0).get_state()
    wrong = np.random.RandomState()
    wrong.set_state((kind, key, 100_000))
    with pytest.raises(ModelFileError, match="its random_state is not"):
        model_of(changed(shell, random_state=wrong))


def test_what_is_no_estimator_is_named():
    with pytest.raises(ModelFileError, match=r"it holds a builtins\.dict, which is no estimator of mixkern"):
        model_of({})


def test_settings_that_a_file_does_not_have_are_the_default(shell):
    """As in a file from an older mixkern, which had fewer."""
    older = changed(shell)
    del vars(older)["repair"]
    assert model_of(older).repair == "auto"


def test_attributes_that_nobody_knows_are_not_taken(shell):
    assert "predict" not in vars(model_of(changed(shell, predict=1, unknown=2)))
    assert "unknown" not in vars(model_of(changed(shell, unknown=2)))


def test_a_density_without_a_fit_stays_so(shell):
    assert vars(model_of(changed(shell, density=VBMixture())).density).keys() == vars(VBMixture()).keys()
