"""Methods of optional libraries, by stand-ins where these are not installed."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mixkern import datasets
from mixkern.encoding import UNLABELLED
from mixkern_study import Protocol, TrainingData, optional_method, study_fold
from mixkern_study.optional_method import OPTIONAL, optional_methods, tabpfn_weights, weights_folder, why_left_out


@pytest.fixture(scope="module")
def iris():
    fold = study_fold(datasets.load("iris"), 0, Protocol())
    codes = np.full(len(fold.train), UNLABELLED)
    codes[::4] = fold.train_codes[::4]
    return fold, TrainingData(fold.train, fold.n_categorical, 7), codes


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return a function that installs a stand-in: a naive Bayes classifier that keeps its settings and its labels."""
    monkeypatch.setenv("TABPFN_MODEL_CACHE_DIR", str(tmp_path))

    def install(name):
        optional, calls = OPTIONAL[name], []

        class StandIn(GaussianNB):
            def __init__(self, **settings):
                super().__init__()
                calls.append(settings)

            @classmethod
            def _get_param_names(cls):
                return []

            def fit(self, X, y):
                calls.append(y)
                return super().fit(X[y != UNLABELLED], y[y != UNLABELLED])

        library = optional.module.partition(".")[0]
        monkeypatch.setattr(optional_method, "find_spec", lambda each: each if each == library else None)
        monkeypatch.setattr(optional_method, "version", lambda package: "9.9")
        monkeypatch.setitem(sys.modules, library, SimpleNamespace())
        monkeypatch.setitem(sys.modules, optional.module, SimpleNamespace(**{optional.classifier: StandIn}))
        return calls

    return install


@pytest.mark.parametrize("name", ["xgboost", "catboost", "lightgbm", "activeml_mixture"])
def test_a_method_competes_where_its_library_is_installed(iris, installed, name):
    calls = installed(name)
    found = optional_methods()
    assert list(found) == [name]
    fold, data, codes = iris
    trained = found[name].prepare(data).train(codes, 0)
    assert (trained.predict(fold.test) == fold.test_codes).mean() > 0.8
    assert trained.probabilities(fold.test)[1].shape == (len(fold.test), 3)
    assert calls[0] == OPTIONAL[name].settings
    assert (len(calls[-1]) == len(codes)) == OPTIONAL[name].uses_unlabelled


def test_the_version_is_a_setting(installed):
    installed("xgboost")
    assert optional_methods()["xgboost"].settings == "xgboost 9.9"  # as in results that were stored
    installed("activeml_mixture")
    assert (
        optional_methods()["activeml_mixture"].settings
        == "scikit-activeml 9.9, MixtureModelClassifier(missing_label=-1)"
    )


def test_a_library_that_was_never_installed_has_no_version():
    assert optional_method._version("no_such_library") == ""


def test_tabpfn_is_left_out_without_weights(installed, tmp_path):
    installed("tabpfn")
    assert optional_methods() == {}
    assert f"there are none in {tmp_path}" in why_left_out("tabpfn")
    assert "TABPFN_MODEL_CACHE_DIR" in why_left_out("tabpfn")
    (tmp_path / "tabpfn-v3-regressor-v3_default.ckpt").touch()
    assert optional_methods() == {}


def test_tabpfn_is_given_a_file_of_weights_that_is_there(iris, installed, tmp_path):
    calls = installed("tabpfn")
    (tmp_path / "tabpfn-v2-classifier.ckpt").touch()
    method = optional_methods()["tabpfn"]
    assert why_left_out("tabpfn") == ""
    _, data, codes = iris
    method.prepare(data).train(codes, 0)
    assert calls[0]["model_path"] == str(tmp_path / "tabpfn-v2-classifier.ckpt")  # so that nothing is downloaded
    assert calls[0]["device"] == "cpu"
    assert str(tmp_path) not in method.settings
    assert "model_path='tabpfn-v2-classifier.ckpt'" in method.settings


def test_the_newest_weights_are_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("TABPFN_MODEL_CACHE_DIR", str(tmp_path))
    assert tabpfn_weights() is None
    for name in (
        "tabpfn-v2-classifier.ckpt",
        "tabpfn-v2.5-classifier-v2.5_default.ckpt",
        "tabpfn-v2.5-classifier-v2.5_large-samples.ckpt",
        "tabpfn-v3-regressor-v3_default.ckpt",
        "notes.txt",
    ):
        (tmp_path / name).touch()
    assert tabpfn_weights().name == "tabpfn-v2.5-classifier-v2.5_default.ckpt"
    for name in ("tabpfn-v3.5-fast-20260909.safetensors", "tabpfn-v3.5-20260909.safetensors"):
        (tmp_path / name).touch()
    assert tabpfn_weights().name == "tabpfn-v3.5-20260909.safetensors"


@pytest.mark.parametrize(
    ("platform", "folder"), [("linux", "cache/tabpfn"), ("darwin", "Library/Caches/tabpfn"), ("win32", "data/tabpfn")]
)
def test_the_folder_of_weights_is_the_one_of_tabpfn(monkeypatch, tmp_path, platform, folder):
    monkeypatch.delenv("TABPFN_MODEL_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "platform", platform)
    assert weights_folder() == tmp_path / folder


def test_without_a_library_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(optional_method, "find_spec", lambda name: None)
    assert why_left_out("activeml_mixture") == (
        "Mixture classifier needs scikit-activeml, which is not installed: pip install scikit-activeml."
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPTIONAL)
def test_installed_libraries_learn(iris, name):
    if find_spec(OPTIONAL[name].module.partition(".")[0]) is None or why_left_out(name):
        pytest.skip(f"{name} is not available")
    fold, data, codes = iris
    trained = optional_methods()[name].prepare(data).train(codes, 0)
    assert (trained.predict(fold.test) == fold.test_codes).mean() > 0.6
    assert np.isfinite(trained.probabilities(fold.test)[1]).all()
