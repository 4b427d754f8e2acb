"""Exported models predict what their estimators predict: every label, and probabilities to the last digits."""

import json
import warnings
from dataclasses import replace

import numpy as np
import onnx
import pandas as pd
import pytest

from mixkern import (
    LaplacianSVC,
    Mixture,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    TransductiveSVC,
    VBMixture,
    datasets,
)
from mixkern.errors import ExportError, OptionError
from mixkern.export import model as export_model
from mixkern.export.model import label_type, onnx_path
from mixkern.kernels import RBFKernel

TEN = ("australian", "clouds", "credit_a", "credit_g", "ecoli", "glass", "heart", "pima", "vehicle", "wine")


def fitted(estimator, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def few(name, per_class=4, **settings):
    data = datasets.load(name)
    return fitted(MixtureSVC(random_state=0, **settings), data.X, data.few_labels(per_class, random_state=0)), data.X


def rounded(X):
    """A table with numbers as a float32 input has them."""
    if not isinstance(X, pd.DataFrame):
        return np.asarray(X).astype(np.float32).astype(float)
    kept = {name: X[name] if X[name].dtype.kind != "f" else X[name].astype(np.float32) for name in X}
    return pd.DataFrame(kept)


def assert_equal_predictions(model, X, predictions, tol=1e-9, dtype="float64"):
    """Compare labels on every row, probabilities, components and novelties."""
    exported = model.onnx_model(dtype=dtype)
    found = predictions(exported, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = model.rows_of(X if dtype == "float64" else rounded(X))
        expected, shares = model.predict(rows), model.predict_proba(rows)
        novelty = model.novelty(rows)
    np.testing.assert_array_equal(found["label"], np.asarray(expected))
    np.testing.assert_allclose(found["probabilities"], shares, rtol=0, atol=tol)
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), shares.argmax(axis=1))
    largest = rows.responsibilities.max(axis=1)  # two may be equal but for rounding
    np.testing.assert_allclose(rows.responsibilities[np.arange(len(rows)), found["component"]], largest, rtol=1e-9)
    is_known = ~np.isnan(rows.values).any(axis=1)
    # In float32, a rounded training row may be less dense than the row itself.
    np.testing.assert_allclose(found["novelty"][is_known], novelty[is_known], atol=1e-6 if tol < 1e-6 else 0.02)
    assert np.isnan(found["novelty"][~is_known]).all()
    return found


def small(n=60, n_groups=3):
    """A table with gaps in three columns of numbers, with some labels of some groups."""
    random = np.random.RandomState(0)
    group = np.arange(n) % n_groups
    X = random.randn(n, 3) + 2.5 * np.eye(3)[group % 3]
    X[random.rand(n, 3) < 0.1] = np.nan
    return X, np.where(np.arange(n) % 10 < 5, group, -1)


def test_labels_and_probabilities(predictions):
    model, X = few("iris")
    assert model.avoiding_share_ > 0
    assert_equal_predictions(model, X, predictions)
    assert_equal_predictions(model, X, predictions, 1e-5, "float32")


@pytest.mark.slow
@pytest.mark.parametrize("name", TEN)
def test_ten_sets(name, predictions):
    model, X = few(name, 4)
    assert_equal_predictions(model, X, predictions)
    assert_equal_predictions(model, X, predictions, 1e-5, "float32")


@pytest.fixture(scope="module")
def mixed():
    """A model of a table with all kinds of columns and many gaps, and the table."""
    random = np.random.RandomState(0)
    n = 300
    group = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "age": random.randn(n) + 2 * group,
            "income": np.exp(random.randn(n) + group) * 1000,
            "debt": random.randn(n) - group,
            "town": np.array(["Ulm", "Kassel", "Passau"], dtype=object)[(group + (random.rand(n) < 0.2)) % 3],
            "member": (random.rand(n) < 0.3 + 0.2 * group),
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(random.randint(3000, size=n) + 90 * group, unit="D"),
        }
    )
    frame["age"] += 2 * (frame["since"].dt.quarter == 2)
    frame["member"] = frame["member"].astype("boolean")
    for name in frame:
        frame.loc[random.rand(n) < 0.15, name] = None
    y = np.array(["low", "middle", "high"], dtype=object)[group]
    y[np.arange(n) % 10 > 2] = None
    model = fitted(MixtureSVC(random_state=0), frame, y)
    other = frame.copy()
    other.loc[:20, "town"] = "Nowhere"
    other.loc[30] = None  # a row of gaps alone
    return model, other


def test_a_frame_with_gaps_dates_booleans_and_unseen_categories(mixed, predictions):
    model, frame = mixed
    assert any(name.endswith("weekday") for name in model.encoder_.categorical_)
    found = assert_equal_predictions(model, frame, predictions)
    assert np.isnan(found["novelty"]).mean() > 0.3
    patterns = np.unique(pd.isna(frame).to_numpy(), axis=0)
    assert len(patterns) > 15


@pytest.mark.parametrize("n", [0, 1, 2, 61, 127])
def test_any_number_of_rows(mixed, predictions, monkeypatch, n):
    model, frame = mixed
    monkeypatch.setattr(export_model, "BLOCK_CELLS", 1)
    monkeypatch.setattr(export_model, "FEWEST_ROWS", 60)  # 61 rows are two blocks, with padding
    exported = model.onnx_model()
    found, whole = predictions(exported, frame.head(n)), predictions(exported, frame)
    for name, values in found.items():
        assert len(values) == n
        if name != "probabilities":
            np.testing.assert_array_equal(values, whole[name][:n])
        else:
            np.testing.assert_allclose(values, whole[name][:n], atol=1e-12)


def test_gaps_where_there_were_none_in_fit(predictions):
    model, X = few("iris")
    random = np.random.RandomState(0)
    X = np.array(X, dtype=float)
    X[random.rand(*X.shape) < 0.3] = np.nan
    assert_equal_predictions(model, X, predictions)


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap"])
@pytest.mark.slow
def test_kernels(kernel, predictions):
    X, y = small()
    model = fitted(MixtureSVC(kernel, unlabelled="avoid", random_state=0), X, y)
    assert_equal_predictions(model, X, predictions)


@pytest.mark.parametrize("estimator", [LaplacianSVC, TransductiveSVC, QuasiNewtonS3VC])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.slow
def test_other_classifiers(estimator, n_groups, predictions):
    X, y = small(n_groups=n_groups)
    assert_equal_predictions(fitted(estimator(random_state=0), X, y), X, predictions)


def test_regression(predictions):
    X = np.random.RandomState(0).randn(120, 3)
    model = fitted(MixtureSVR(random_state=0), X, X[:, 0] ** 2 + X[:, 1])
    X[::5, 0] = np.nan
    found = predictions(model.onnx_model(), X)
    np.testing.assert_allclose(found["prediction"], model.predict(X), atol=1e-10)
    assert list(found) == ["prediction", "component", "novelty"]


def test_one_class(predictions):
    X, _ = datasets.make_two_moons(n=200, random_state=0)
    model = MixtureOneClassSVM(nu=0.1, random_state=0).fit(X)
    found = predictions(model.onnx_model(), X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["score"], model.decision_function(X), atol=1e-10)
    assert list(found) == ["label", "score", "component", "novelty"]


@pytest.mark.slow
def test_wide_tables(predictions):
    random = np.random.RandomState(0)
    group = np.arange(150) % 2
    X = (random.randn(150, 4) + 2 * group[:, None]) @ random.randn(4, 40) + 0.5 * random.randn(150, 40)
    y = np.where(np.arange(150) % 5, -1, group)
    model = fitted(MixtureSVC(random_state=0), X, y)
    assert model.mixture_.covariance_type == "common"
    X[random.rand(*X.shape) < 0.05] = np.nan
    assert_equal_predictions(model, X, predictions)


@pytest.mark.slow
def test_many_classes(predictions):
    random = np.random.RandomState(0)
    y = np.repeat(np.arange(120), 4)
    X = 3 * random.randn(120, 4)[y] + 0.3 * random.randn(480, 4)
    model = fitted(MixtureSVC(random_state=0), X, y)
    assert model.scheme_ == "one-vs-rest"
    assert_equal_predictions(model, X, predictions)


def test_many_labels(predictions):
    X, y = small(120)
    model = fitted(MixtureSVC(max_labels=30, n_landmarks=20, random_state=0), X, y)
    assert model.n_landmarks_ == 20
    assert_equal_predictions(model, X, predictions)


def test_rows_that_are_encoded_already(predictions):
    random = np.random.RandomState(0)
    mixture = Mixture([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[0.5]]], categories=[[[0.9, 0.1], [0.2, 0.8]]])
    X = mixture.sample(60, random)[0]
    X[::7] = np.nan
    model = fitted(MixtureSVC(density=mixture, random_state=0), X, np.arange(60) % 2)
    exported = model.onnx_model()
    assert [(each.name, each.holds) for each in exported.inputs] == [("X", "z-scores, then category codes")]
    assert_equal_predictions(model, X, predictions)


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [(["no", "yes"], "string"), ([3, 7], "int64"), ([False, True], "bool"), (pd.Categorical(["b", "a"]), "string")],
)
def test_types_of_labels(labels, dtype, predictions):
    X = np.random.RandomState(0).randn(40, 2)
    X[::2] += 3
    y = pd.Categorical(list(labels) * 20) if isinstance(labels, pd.Categorical) else np.array(labels * 20)
    model = MixtureSVC(random_state=0).fit(X, y)
    assert label_type(model.classes_) == dtype
    found = predictions(model.onnx_model(), X)
    assert found["label"].tolist() == np.asarray(model.predict(X)).tolist()


def test_without_probabilities(predictions):
    model, X = few("iris", probability=False)
    found = predictions(model.onnx_model(), X)
    assert list(found) == ["label", "component", "novelty"]
    np.testing.assert_array_equal(found["label"], model.predict(X))


def test_columns_with_names_of_outputs_and_without_a_name(predictions):
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"label": random.randn(60), "": random.randn(60), "add_1": random.randn(60)})
    frame["label"] += 4 * (np.arange(60) % 2)
    model = MixtureSVC(random_state=0).fit(frame, np.arange(60) % 2)
    exported = model.onnx_model()
    assert [each.name for each in exported.inputs] == ["label", "column 2", "add_1"]
    assert [each.name for each in exported.outputs] == ["mixkern_label", "probabilities", "component", "novelty"]
    np.testing.assert_array_equal(predictions(exported, frame)["mixkern_label"], model.predict(frame))


def test_what_the_file_says(mixed, tmp_path, session):
    model, _ = mixed
    path = model.to_onnx(tmp_path / "deep" / "mixed.onnx", dtype="float32")
    proto = onnx.load(path)
    facts = {each.key: each.value for each in proto.metadata_props}
    assert proto.producer_name == "mixkern"
    assert (facts["mixkern.estimator"], facts["mixkern.dtype"]) == ("MixtureSVC", "float32")
    assert proto.producer_version == facts["mixkern.version"]
    assert json.loads(facts["mixkern.classes"]) == ["high", "low", "middle"]
    inputs = json.loads(facts["mixkern.inputs"])
    assert [each["column"] for each in inputs] == list(model.feature_names_in_)
    assert inputs[3] == {
        "name": "town",
        "column": "town",
        "dtype": "string",
        "holds": "text, a category",
        "gap": "an empty text, or a word for a gap such as NA",
    }
    assert inputs[5]["holds"] == "days since 1970-01-01 in UTC"
    types = {each.name: each.type for each in session(proto).get_inputs()}
    assert (types["age"], types["town"]) == ("tensor(float)", "tensor(string)")
    domains = {each.domain for each in proto.opset_import}
    assert domains == {"", "ai.onnx.ml"}


def test_further_facts_are_in_the_metadata_and_the_file_is_the_same_again(mixed):
    model, _ = mixed
    first, again = (model.onnx_model(metadata={"target": "income"}).proto for _ in range(2))
    assert {each.key: each.value for each in first.metadata_props}["mixkern.target"] == "income"
    assert first.SerializeToString() == again.SerializeToString()
    with pytest.raises(OptionError, match="metadata cannot have 'dtype': the graph has it already"):
        model.onnx_model(metadata={"dtype": "float16"})


def test_a_file_with_another_suffix_is_refused(mixed, tmp_path):
    with pytest.raises(ExportError, match=r"must end with .onnx, .* but it is 'model.pb'. Name it 'model.onnx'"):
        mixed[0].to_onnx(tmp_path / "model.pb")
    assert not list(tmp_path.iterdir())
    assert onnx_path("a.ONNX").name == "a.ONNX"


def test_an_unknown_dtype_is_refused(mixed, tmp_path):
    with pytest.raises(OptionError, match=r"dtype must be .*'float64'.*'float32'.*'float16'"):
        mixed[0].to_onnx(tmp_path / "model.onnx", dtype="float16")
    assert not list(tmp_path.iterdir())


def test_kernels_of_others_are_refused(tmp_path):
    model = fitted(MixtureSVC(RBFKernel() + RBFKernel(), probability=False, random_state=0), *small())
    with pytest.raises(ExportError, match="kernel Sum cannot be exported"):
        model.to_onnx(tmp_path / "iris.onnx")
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_table():
    model = fitted(MixtureSVR(random_state=0), *small())
    parts = model._exported_parts()
    for n, expected in ((10, 4096), (100, 655), (5000, 64)):
        decision = replace(parts["decisions"][0], coefficients=np.zeros((n, 3)))
        assert export_model._block_rows(export_model.Predictor(**{**parts, "decisions": [decision]})) == expected


def test_densities_are_shared_by_kernels_of_the_same_mixture():
    own = fitted(MixtureSVC(density=VBMixture(precision_prior="typical"), random_state=0), *small())
    two = fitted(MixtureSVC(random_state=0), *small())
    assert [n_nodes(each.onnx_model().proto.graph, "Unique") for each in (own, two)] == [1, 2]


def n_nodes(graph, kind):
    """Number of nodes of a kind in a graph and its bodies."""
    bodies = (attribute.g for node in graph.node for attribute in node.attribute if attribute.type == attribute.GRAPH)
    return sum(node.op_type == kind for node in graph.node) + sum(n_nodes(body, kind) for body in bodies)
