"""A part of a model file that is not what it should be is named; parts that are become values again."""

import io
import json

import numpy as np
import pytest

from mixkern import VBMixture
from mixkern.errors import ModelFileError
from mixkern.io import load, save

from .damage import array_names, described, members, sealed

NAN = {"float": "nan"}
COLUMN = ("encoder_", "columns_", 0)


def place_of(facts, names):
    """Return the dict or list that holds a part, and its key."""
    place = facts["model"]
    for name in names[:-1]:
        place = step(place, name)
    return (place["parts"] if "parts" in place else place.get("tuple", place)), names[-1]


def step(place, name):
    place = place["parts"] if "parts" in place else place.get("tuple", place)
    return place[name]


def refused(content, facts, folder, arrays=None):
    path = folder / "a.mixkern"
    path.write_bytes(sealed(content, facts, arrays))
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return str(caught.value)


def with_part(content, names, wrong):
    facts = described(content)
    place, key = place_of(facts, names)
    place[key] = wrong
    return facts


@pytest.mark.parametrize(
    ("names", "wrong", "what"),
    [
        ("C_", "1", "C_"),
        ("C_", True, "C_"),
        ("C_", NAN, "C_"),
        ("slope_", [1.0], "slope_"),
        ("slope_", 0.0, "slope_"),
        ("slope_", -1.0, "slope_"),
        ("slope_", "1", "slope_"),
        ("n_iter_", -1, "n_iter_"),
        ("n_iter_", 1.0, "n_iter_"),
        ("n_features_in_", "4", "n_features_in_"),
        ("decision", None, "decision"),
        ("decision", {"class": "RBFKernel", "parts": {}}, "decision"),
        ("support_", [1, 2], "support_"),
        ("feature_names_in_", [0, 1, 2, 3], "feature_names_in_"),
        ("kernel_", "rbf", "kernel_"),
        ("kernel_", None, "kernel_"),
        ("mixture_", None, "mixture_"),
        ("density_", {"class": "RBFKernel", "parts": {}}, "density_"),
        ("encoder_", 1, "encoder_"),
        ("novelty", None, "novelty"),
        ("labels", None, "labels"),
        ("random_state", [0], "random_state"),
        ("random_state", "x", "random_state"),
        ("kernel", ["rwm"], "kernel"),
        ("density", {"tuple": []}, "density"),
        ("encoder", 1, "encoder"),
        ("tol", {"class": "RBFKernel", "parts": {}}, "tol"),
        ("max_iter", {"shared": 0}, "max_iter"),
        ("probability", {"class": "VBMixture", "parts": {}}, "probability"),
        (("labels", "classes"), {"texts": ["a", "a", "b"], "dtype": "object"}, "classes"),
        (("labels", "classes"), {"texts": ["a"], "dtype": "object"}, "classes"),
        (("labels", "classes"), ["a", "b", "c"], "classes"),
        (("labels", "categories"), ["a", "b", "c"], "type of labels"),
        (("labels", "ordered"), False, "type of labels"),
        (("decision", "support"), [[1.0]], "support"),
        (("kernel_",), {"class": "LaplacianKernel", "parts": {"base": None, "degree": 10**9}}, "degree of the graph"),
        (("kernel_",), {"class": "LaplacianKernel", "parts": {"base": None, "n_neighbors": 10**6}}, "number of neigh"),
        (("kernel_",), {"class": "LaplacianKernel", "parts": {"base": None, "rows": [1.0]}}, "graph"),
        (
            ("kernel_",),
            {"class": "LaplacianKernel", "parts": {"base": None, "weights": "warm"}},
            "weights of the graph",
        ),
        (("kernel_",), {"class": "LaplacianKernel", "parts": {"base": None, "weights": [1]}}, "weights of the"),
        (("kernel_",), {"class": "LaplacianKernel", "parts": {"base": None, "normalised": 1}}, "normalisation of the"),
        ((*COLUMN, "mean"), {"float": "inf"}, "mean"),
        ((*COLUMN, "origin"), "0", "origin"),
        ((*COLUMN, "n_values"), 0.5, "n_values"),
        ((*COLUMN, "kind"), "none such", "kind"),
        ((*COLUMN, "kind"), None, "kind"),
        ((*COLUMN, "name"), 1, "name"),
        ((*COLUMN, "remark"), None, "remark"),
        ((*COLUMN, "n_gaps"), 0.5, "n_gaps"),
        (("encoder_", "columns_"), None, "columns_"),
        (("encoder_", "columns_"), {"tuple": []}, "columns_"),
        (("encoder_", "columns_"), {"tuple": [1]}, "columns_"),
        (("encoder_", "fitted_kind"), "csv", "fitted_kind"),
        (("encoder_", "columns_", 2, "categories"), {"tuple": ["a", 1]}, "categories"),
        (("encoder_", "columns_", 2, "categories"), None, "categories"),
    ],
)
def test_parts_of_another_kind_are_refused(names, wrong, what, content, tmp_path):
    names = (names,) if isinstance(names, str) else names
    assert f"its {what}" in (message := refused(content, with_part(content, names, wrong), tmp_path))
    assert "is not valid" in message


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("C", -1.0),
        ("C", "much"),
        ("C", [1.0, 2.0]),
        ("gamma", "none such"),
        ("gamma", {"tuple": [1.0]}),
        ("alpha", None),
        ("beta", NAN),
        ("tol", [1]),
        ("repair", "no such"),
    ],
)
def test_parameters_that_fit_would_refuse_are_refused(name, wrong, content, tmp_path):
    message = refused(content, with_part(content, (name,), wrong), tmp_path)
    assert "one of its parameters is invalid: " in message
    assert name in message


@pytest.mark.parametrize(
    ("names", "wrong", "what"),
    [
        ((*COLUMN, "deviation"), 0.0, "column 'height' are not valid"),
        ((*COLUMN, "deviation"), -1.0, "column 'height' are not valid"),
        ((*COLUMN, "n_values"), -1, "column 'height' are not valid"),
        ((*COLUMN, "n_gaps"), -1, "column 'height' are not valid"),
        (("encoder_", "columns_", 2, "categories"), {"tuple": ["a", "a"]}, "column 'town' are not valid"),
        (("encoder_", "columns_", 1, "name"), "height", "names of columns"),
        (("encoder_", "columns_", 1, "name"), "other", "names of columns"),
        ("n_features_in_", 5, "number of columns"),
        ("feature_names_in_", {"texts": ["a"], "dtype": "object"}, "names of columns"),
        (("labels", "classes"), {"texts": ["a", "b"], "dtype": "object"}, "S3VM and classes"),
        ("mixture_", {"class": "Mixture", "parts": {}}, "missing 3 required"),
        ("class_weight", {"dict": [["a", [1, 2]]]}, "class_weight must hold positive numbers"),
        ("class_weight", [1, 2], "class_weight must be None, 'balanced' or a dict"),
    ],
)
def test_parts_must_fit_together(names, wrong, what, content, tmp_path):
    names = (names,) if isinstance(names, str) else names
    assert what in refused(content, with_part(content, names, wrong), tmp_path)


def array_of(content, *names):
    """Return the number of an array."""
    place, key = place_of(described(content), names)
    return place[key]["array"]


@pytest.mark.parametrize(
    ("names", "array", "what"),
    [
        (("support_",), np.arange(2), "support vectors and decision function"),
        (("support_",), np.zeros(3), "its support_ is not valid"),
        (("slope_",), np.array([1.0, 0.0]), "its slope_ is not valid"),
        (("slope_",), np.array([1.0, np.inf]), "its slope_ is not valid"),
        (("slope_",), np.ones((1, 5)), "its slope_ is not valid"),
        (("slope_",), np.ones(5, dtype=int), "its slope_ is not valid"),
        (("slope_",), np.ones(0), "its slope_ is not valid"),
        (("n_labels_",), np.ones(2, dtype=int), "labels and classes"),
        (("n_support_",), np.zeros(4, dtype=int), "support vectors and classes"),
        (("decision", "support"), np.zeros((2, 4)), "support vectors and decision function"),
        (("decision", "support"), np.full((12, 4), np.inf), "its decision function is not valid"),
        (("decision", "support"), np.zeros((12, 3)), "support vectors and mixture"),
        (("decision", "coefficients"), np.zeros((1, 3)), "rows and coefficients"),
        (("decision", "coefficients"), np.full((12, 3), np.nan), "its decision function is not valid"),
        (("decision", "coefficients"), np.zeros((12, 2)), "coefficients and classes"),
        (("decision", "intercepts"), np.zeros(2), "coefficients and classes"),
        (("decision", "intercepts"), np.zeros((1, 1)), "its decision function is not valid"),
        (("decision", "intercepts"), np.zeros(3, dtype=np.float32), "its intercepts is not valid"),
        (("novelty", "rows"), np.zeros((2, 1)), "training rows and mixture"),
        (("novelty", "rows"), np.zeros((0, 4)), "its novelty is not valid"),
        (("novelty", "rows"), np.full((2, 4), np.inf), "its novelty is not valid"),
    ],
)
def test_arrays_must_fit_together(names, array, what, models, content, tmp_path):
    n = len(models["svc"].support_)
    if array.shape[:1] == (12,):
        array = np.resize(array, (n, *array.shape[1:]))
    number = array_of(content, *names)
    facts = described(content)
    facts["arrays"][number] = {"dtype": array.dtype.str, "shape": list(array.shape)}
    np.save(buffer := io.BytesIO(), array)
    message = refused(content, facts, tmp_path, {array_names(content)[number]: buffer.getvalue()})
    assert what in message


@pytest.mark.parametrize(
    "kernel",
    [
        {"class": "RBFKernel", "parts": {"n_categorical": 0}},
        {"class": "RBFKernel", "parts": {"gamma": "x"}},
        {"class": "RWMKernel", "parts": {}},
        {"class": "RWMKernel", "parts": {"mixture": 1}},
        {"class": "sklearn.RBF", "parts": {"length_scale": "x"}},
        {"class": "sklearn.Sum", "parts": {"k1": 1, "k2": 2}},
        {"class": "sklearn.Sum", "parts": {}},
    ],
)
def test_a_kernel_that_cannot_read_the_rows_is_found_by_trying(kernel, content, tmp_path):
    message = refused(content, with_part(content, ("kernel_",), kernel), tmp_path)
    assert "its model cannot be used (" in message or "is not valid" in message


def test_the_density_is_that_of_the_mixture(content, tmp_path):
    facts = described(content)
    text = json.dumps(facts["shared"][0])
    n = len(facts["arrays"])
    other = json.loads(text)
    arrays = members(content)
    added = {}
    for i, part in enumerate(("weights", "means", "covariances")):
        old = other["parts"][part]["array"]
        other["parts"][part] = {"array": n + i}
        facts["arrays"].append(facts["arrays"][old])
        added[f"arrays/{n + i}.npy"] = arrays[f"arrays/{old}.npy"]
    tables = other["parts"]["categories"]["tuple"]
    for i, table in enumerate(tables):
        facts["arrays"].append(facts["arrays"][table["array"]])
        added[f"arrays/{n + 3 + i}.npy"] = arrays[f"arrays/{table['array']}.npy"]
        table["array"] = n + 3 + i
    means = np.load(io.BytesIO(added[f"arrays/{n + 1}.npy"])) + 1
    np.save(buffer := io.BytesIO(), means)
    added[f"arrays/{n + 1}.npy"] = buffer.getvalue()
    facts["shared"].append(other)
    facts["model"]["parts"]["density_"]["parts"]["mixture_"] = {"shared": 1}
    assert "density and mixture" in refused(content, facts, tmp_path, added)


def test_parameters_that_a_file_does_not_have_are_the_default(content, tmp_path):
    """As in a file from an older mixkern, which had fewer."""
    facts = described(content)
    del facts["model"]["parts"]["repair"]
    (tmp_path / "a.mixkern").write_bytes(sealed(content, facts))
    assert load(tmp_path / "a.mixkern").repair == "auto"


def test_a_density_without_a_fit_stays_so(models, tmp_path):
    model = models["svc"]
    again = load(save(model, tmp_path / "a.mixkern"))
    assert vars(again.density).keys() == vars(VBMixture()).keys()


def test_a_model_that_is_not_fitted_is_refused(content, tmp_path):
    for lost in ("decision", "mixture_", "kernel_", "novelty", "labels", "support_"):
        facts = described(content)
        del facts["model"]["parts"][lost]
        message = refused(content, facts, tmp_path)
        assert "cannot be used" in message or "refers to" in message
    model = {"class": "MixtureSVC", "parts": {"C": 1.0}}
    assert "cannot be used" in refused(content, {**described(content), "model": model}, tmp_path)
