"""Classifiers and regressors that compute on a GPU."""

from copy import deepcopy
from inspect import ismethod, signature
from threading import get_ident

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone

import mixkern
from mixkern import (
    DensitySearch,
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TransductiveSVC,
    device,
    gpu_array,
)
from mixkern.density import reading
from mixkern.density import rows as density_rows
from mixkern.encoding import frame
from mixkern.errors import InfiniteValueError, LengthError
from mixkern.estimators import classifier
from mixkern.explain import column_importance
from mixkern.kernels import base
from mixkern.svm import decision


@pytest.fixture
def small(monkeypatch):
    """Limits so small that a thousand rows are many."""
    monkeypatch.setattr(classifier, "GPU_ROWS", 128)
    monkeypatch.setattr(classifier, "ENCODED_ROWS", 500)
    monkeypatch.setattr(decision, "GPU_ROWS", 100)
    monkeypatch.setattr(base, "GPU_WORK", 0)
    monkeypatch.setattr(density_rows, "GPU_WORK", 0)


@pytest.fixture(scope="module", params=[2, pytest.param(3, marks=pytest.mark.slow)], ids=lambda c: f"{c} classes")
def data(request):
    random = np.random.default_rng(0)
    y = np.arange(300) % request.param
    X = (random.normal(size=(300, 4)) + 1.5 * y[:, None] + 100).astype(np.float32)
    T = (random.normal(size=(1000, 4)) * 2 + 101).astype(np.float32)
    X[:150, 3] += 8  # two components
    T[:500, 3] += 8
    return X, np.where(random.random(300) < 0.15, y, -1), T


@pytest.fixture(scope="module")
def fitted(data):
    X, y, _ = data
    return MixtureSVC(probability=True, random_state=0).fit(X, y)


@pytest.fixture
def model(fitted):
    """Without what was put on a GPU in other tests."""
    return deepcopy(fitted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_predictions_of_rows_of_the_host(gpu, small, data, model, dtype):
    T = data[2]
    expected = model.predict(T), model.decision_function(T), model.predict_proba(T)
    with mixkern.config(device="cuda", dtype=dtype):
        found = model.predict(T), model.decision_function(T), model.predict_proba(T)
        assessed = model.assess(T)
    error = 1e-4 if dtype == "float32" else 1e-9
    assert (found[0] == expected[0]).mean() >= (0.998 if dtype == "float32" else 1)
    for one, other in zip(found[1:], expected[1:], strict=True):
        assert type(one) is np.ndarray
        np.testing.assert_allclose(one, other, atol=error)
    np.testing.assert_allclose(assessed["novelty"], model.assess(T)["novelty"], atol=0.01)


@pytest.mark.parametrize("kernel", ["rbf", "rwm", "gmm", "lap"])
def test_kernels(gpu, small, data, kernel):
    X, y, T = data
    fitted = MixtureSVC(kernel, random_state=0).fit(X, y)
    expected = fitted.decision_function(T)
    with mixkern.config(device="cuda", dtype="float64"):
        np.testing.assert_allclose(fitted.decision_function(T), expected, atol=1e-8)


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_arrays_on_a_gpu(gpu, small, data, model, kind):
    T = data[2]
    put = (gpu.array, gpu.tensor)[kind]
    scores = model.decision_function(put(T))
    assert isinstance(scores, gpu.types[kind])
    np.testing.assert_allclose(gpu.host(scores), model.decision_function(T), atol=1e-4)
    labels = model.predict(put(T))
    assert isinstance(labels, gpu.types[kind])
    assert (gpu.host(labels) == model.predict(T)).mean() > 0.998
    for method in ("responsibilities", "novelty"):
        found = getattr(model, method)(put(T))
        assert isinstance(found, gpu.types[kind])
        np.testing.assert_allclose(gpu.host(found), getattr(model, method)(T), atol=1e-3)
    assert model.mixture_.n_components > 1


@pytest.fixture
def transfers(monkeypatch):
    """The type of each array that is copied to a GPU, and the thread that copies it."""
    found, to_gpu = [], gpu_array.to_gpu

    def recorded(array, dtype, *how):
        found.append((np.dtype(dtype).name, get_ident()))
        return to_gpu(array, dtype, *how)

    for module in (gpu_array, reading):
        monkeypatch.setattr(module, "to_gpu", recorded)
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_a_fit_to_arrays_on_a_gpu_computes_there(gpu, small, data, transfers, kind, dtype):
    """Whatever the settings are, which stay."""
    put, (X, y, T) = (gpu.array, gpu.tensor)[kind], data
    expected = MixtureSVC(random_state=0).fit(X, y, sample_weight=np.ones(len(y)))
    assert not transfers
    values, agreement = put(X.astype(dtype)), 0.98 if dtype == "float32" else 1
    for target in (y, put(y)):
        fitted = MixtureSVC(random_state=0).fit(X=values, y=target, sample_weight=put(np.ones(len(y))))
        assert {each for each, _ in transfers} == {dtype}
        transfers.clear()
        assert (fitted.predict(T) == expected.predict(T)).mean() >= agreement
        if dtype == "float64":
            np.testing.assert_allclose(fitted.decision_function(T), expected.decision_function(T), atol=1e-6)
        assert not transfers  # of rows of the host
        assert fitted.score(values, target) == pytest.approx(expected.score(X, y), abs=0.05)
        assert transfers
        transfers.clear()


@pytest.mark.parametrize(
    "estimator", [MixtureSVC(), MixtureSVR(), MixtureOneClassSVM()], ids=lambda each: type(each).__name__
)
def test_a_table_is_copied_to_the_host_once(gpu, data, monkeypatch, estimator):
    """To encode it; its shape is known without a copy."""
    copies, on_host = [], frame.on_host
    monkeypatch.setattr(frame, "on_host", lambda given: copies.append(gpu_array.is_gpu_array(given)) or on_host(given))
    X, y, _ = data
    fitted = clone(estimator).fit(gpu.array(X), y)
    assert sum(copies) == 1
    copies.clear()
    if isinstance(fitted, MixtureSVC):
        fitted.assess(gpu.array(X))
        assert sum(copies) == 1


def test_a_fit_that_fails_leaves_the_settings(gpu, small, data):
    with pytest.raises(LengthError):
        MixtureSVC().fit(gpu.array(data[0]), data[1][1:])
    assert device.current_settings() == device.Settings()


def test_arrays_on_a_gpu_that_are_encoded_on_the_host(gpu, small, data, fitted, transfers):
    """A mixture as the density means that rows are encoded; the settings reach the threads that predict them."""
    X, y, T = data
    scores = fitted.encoder_.transform(X), fitted.encoder_.transform(T)
    own = MixtureSVC(density=fitted.mixture_, random_state=0).fit(scores[0], y)
    expected = own.decision_function(scores[1])
    found = own.decision_function(gpu.array(scores[1]))
    assert isinstance(found, gpu.types[0])
    np.testing.assert_allclose(gpu.host(found), expected, atol=1e-8)
    assert transfers
    transfers.clear()
    assessed = own.assess(gpu.array(scores[1]))
    np.testing.assert_allclose(assessed["probability"], own.assess(scores[1])["probability"], atol=1e-8)
    assert {thread for _, thread in transfers} - {get_ident()}
    transfers.clear()
    own.predict(gpu.array(scores[1]))
    assert {thread for _, thread in transfers} - {get_ident()}


FITTED = {"random_state": 0}
ESTIMATORS = [
    MixtureSVC(**FITTED),
    pytest.param(LaplacianSVC(**FITTED), marks=pytest.mark.slow),
    TransductiveSVC(**FITTED),
    pytest.param(QuasiNewtonS3VC(**FITTED), marks=pytest.mark.slow),
    MixtureSVR(**FITTED),
    MixtureOneClassSVM(**FITTED),
    SVCSearch(C=[1], gamma=[1], scoring="f1_macro", **FITTED),
]
OF_THE_HOST = {"rows_of", "read_labels"}  # rows are encoded, or counted


def methods_of_rows(fitted):
    """Public methods with a parameter X, and whether they have a parameter y as well."""
    for name in dir(fitted):
        if name.startswith("_") or name in OF_THE_HOST or not ismethod(getattr(fitted, name, None)):
            continue
        names = signature(getattr(fitted, name)).parameters
        if "X" in names and (name != "avoiding_values" or fitted.avoiding_share_):
            yield name, "y" in names


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_all_methods_of_rows_on_a_gpu_compute_there(gpu, small, data, transfers, estimator):
    X, y, _ = data
    fitted = clone(estimator).fit(gpu.array(X), y, X_unlabelled=gpu.array(X[:9]))
    assert transfers
    names = dict(methods_of_rows(fitted))
    assert {"fit", "predict"} <= set(names)
    for name, has_labels in names.items():
        transfers.clear()
        found = getattr(deepcopy(fitted), name)(gpu.array(X), *([y] if has_labels else []))  # nothing is there already
        assert transfers, name
        assert type(found) is not np.ndarray, name


def test_further_rows_on_a_gpu(gpu, small, data, transfers):
    """Few labelled rows of the host, and many others."""
    X, y, T = data
    MixtureSVC(random_state=0).fit(X, y, X_unlabelled=T)
    assert not transfers
    fitted = MixtureSVC(random_state=0).fit(X, y, X_unlabelled=gpu.tensor(T))
    assert {dtype for dtype, _ in transfers} == {"float32"}
    assert isinstance(fitted.predict(T), np.ndarray)


def test_sums_of_scores(gpu, small, data):
    X, y, _ = data
    columns = (X, y, np.ones(len(y)))
    classifier, regressor = MixtureSVC(random_state=0).fit(X, y), MixtureSVR(random_state=0).fit(X, X[:, 0])
    expected, found = classifier.score_sums(*columns), classifier.score_sums(*map(gpu.tensor, columns))
    assert found.score(np.array) == pytest.approx(expected.score(np.array), abs=0.01)
    columns = (X, X[:, 0], np.ones(len(y)))
    expected, found = regressor.score_sums(*columns), regressor.score_sums(*map(gpu.tensor, columns))
    assert found.score() == pytest.approx(expected.score(), abs=1e-4)


def test_labels_that_are_texts_are_of_the_host(gpu, small, data):
    X, y, T = data
    names = np.array([None, "Kassel", "Passau", "Ulm"], dtype=object)[y + 1]
    fitted = MixtureSVC(random_state=0).fit(gpu.array(X), names)
    labels = fitted.predict(gpu.array(T))
    assert isinstance(labels, np.ndarray)
    assert (labels == fitted.predict(T)).mean() > 0.998


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_other_estimators_return_the_given_kind(gpu, small, data, kind):
    put, (X, _, T) = (gpu.array, gpu.tensor)[kind], data
    regressor = MixtureSVR(random_state=0).fit(put(X), put(X[:, 0]))
    assert isinstance(regressor.predict(put(T)), gpu.types[kind])
    np.testing.assert_allclose(gpu.host(regressor.predict(put(T))), regressor.predict(T), atol=1e-3)
    assert regressor.score(put(X), put(X[:, 0])) == pytest.approx(regressor.score(X, X[:, 0]), abs=1e-4)
    detector = MixtureOneClassSVM(random_state=0).fit(put(X))
    for method in ("decision_function", "score_samples", "predict"):
        found = getattr(detector, method)(put(T))
        assert isinstance(found, gpu.types[kind])
        expected = getattr(detector, method)(T)
        if method == "predict":
            assert (gpu.host(found) == expected).mean() > 0.99
        else:
            np.testing.assert_allclose(gpu.host(found), expected, atol=1e-3)


@pytest.mark.parametrize("most", [100, 999, 1000])
def test_rows_of_one_block_and_of_several(gpu, small, data, model, monkeypatch, most):
    """Both are encoded on the GPU."""
    placed, T = [], data[2]
    monkeypatch.setattr(classifier, "GPU_ROWS", most)
    scores = type(model.encoder_).gpu_scores
    monkeypatch.setattr(type(model.encoder_), "gpu_scores", lambda *given: placed.append(given) or scores(*given))
    with mixkern.config(device="cuda"):
        found = model.decision_function(T)
    assert len(placed) == -(-len(T) // most)
    np.testing.assert_allclose(found, model.decision_function(T), atol=1e-4)
    placed.clear()
    with mixkern.config(device="cuda"):
        model.decision_function(T[:499])
    assert not placed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_predictions_are_equal(gpu, small, data, model, dtype):
    T = data[2].astype(dtype)
    with mixkern.config(device="cuda", dtype=dtype):
        for method in (model.predict, model.decision_function, model.predict_proba):
            np.testing.assert_array_equal(method(T), method(T))
    for method in (model.decision_function, model.predict_proba):
        np.testing.assert_array_equal(gpu.host(method(gpu.array(T))), gpu.host(method(gpu.array(T))))


def test_fit(gpu, small, data, model):
    X, y, T = data
    with mixkern.config(device="cuda"):
        fitted = MixtureSVC(probability=True, random_state=0).fit(X, y)
    assert (fitted.predict(T) == model.predict(T)).mean() > 0.98


def test_frames_and_categories(gpu, small, data):
    pd = pytest.importorskip("pandas")
    X, y, T = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(town=np.where(X[:, 0] > 101, "Kassel", "Passau"))
    other = pd.DataFrame(T, columns=list("abcd")).assign(town="Kassel")
    other.loc[3, "b"] = np.nan
    fitted = MixtureSVC(random_state=0).fit(frame, y)
    expected = fitted.decision_function(other)
    with mixkern.config(device="cuda", dtype="float64"):
        np.testing.assert_allclose(fitted.decision_function(other), expected, atol=1e-8)


def test_gaps(gpu, small, data, model):
    T = data[2].copy()
    T[::7, 2] = np.nan
    expected = model.decision_function(T)
    with mixkern.config(device="cuda", dtype="float64"):
        np.testing.assert_allclose(model.decision_function(T), expected, atol=1e-8)


def test_an_error_names_the_row(gpu, small, data, model):
    T = data[2].copy()
    T[700, 2] = np.inf
    with (
        mixkern.config(device="cuda"),
        pytest.raises(InfiniteValueError, match=r"Column 'x2' holds 1 infinite value, the first in row 701"),
    ):
        model.predict(T)


def test_other_estimators(gpu, small, data):
    X, _, T = data
    for estimator, y in ((MixtureSVR(random_state=0), X[:, 0]), (MixtureOneClassSVM(random_state=0), None)):
        fitted = estimator.fit(X, y)
        expected = fitted.predict(T)
        with mixkern.config(device="cuda", dtype="float64"):
            np.testing.assert_allclose(fitted.predict(T), expected, atol=1e-6)


@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_searches(gpu, small, data, transfers, monkeypatch, backend):
    """The best estimators return arrays of the kind of the rows."""
    monkeypatch.setattr(reading, "GPU_ROWS", 100)
    X, y, T = data
    with parallel_config(backend, n_jobs=2):
        search = SVCSearch(C=[1], gamma=[0.1, 1], random_state=0).fit(gpu.tensor(X), gpu.tensor(y))
        assert isinstance(search.predict(gpu.tensor(T)), gpu.types[1])
        transfers.clear()
        found = DensitySearch(precision_prior=[1.0, 2.0], cv=2, random_state=0).fit(gpu.tensor(X - 100))
    assert len(transfers) >= 4  # two settings in two folds
    assert isinstance(found.predict(gpu.tensor(T)), gpu.types[1])


@pytest.mark.slow
def test_advice_takes_arrays_on_a_gpu(gpu, data, fitted):
    """It computes on the host, unless the settings have a GPU."""
    X, y, _ = data
    given, labels = gpu.array(X), gpu.array(y)
    np.testing.assert_array_equal(
        mixkern.suggest(given, 5, labels, model=fitted, random_state=0),
        mixkern.suggest(X, 5, y, model=fitted, random_state=0),
    )
    assert mixkern.advise(given, labels, random_state=0).accuracy == mixkern.advise(X, y, random_state=0).accuracy
    found, expected = (mixkern.estimated_accuracy(fitted, *each) for each in ((given, labels), (X, y)))
    assert found == expected
    found, expected = (mixkern.mistaken_labels(*each, model=fitted).table for each in ((given, labels), (X, y)))
    assert found.equals(expected)
    found, expected = (column_importance(fitted, each) for each in (given, X))
    assert found.equals(expected)
