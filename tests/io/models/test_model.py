"""What is saved is what is loaded, in a new process too; what cannot be saved is refused before a file appears."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, PairwiseKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import mixkern
from mixkern import DensitySearch, Mixture, MixtureSVC, SVCSearch, TableEncoder, VBMixture
from mixkern.density import BoundRecorder
from mixkern.errors import MixtureError, ModelFileError
from mixkern.io import ModelFile, load, model, read_model, save
from mixkern.io.archive import FORMAT
from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel

from .example import answers, assert_same, density, fitted, labels, numbers, table

MIXED = {
    "rwm": MixtureSVC("rwm", C=1.0),
    "gmm": MixtureSVC("gmm", gamma="local"),
    "rbf": MixtureSVC("rbf", C=np.float64(2.0), probability=False),
    "lap": MixtureSVC("lap"),
    "blend object": MixtureSVC(BlendKernel(gamma=0.3, share=0.5)),
    "sum and product": MixtureSVC(0.5 * RBFKernel() + RWMKernel() * GMMKernel(gamma=0.1) + WhiteKernel()),
    "sum with a graph": MixtureSVC(LaplacianKernel(RBFKernel(), ratio=10.0) + RWMKernel()),
    "weights": MixtureSVC(class_weight={"a": 2, "b": 1, "c": np.float64(3)}),
    "encoder": MixtureSVC(encoder=TableEncoder(categorical=["town"])),
    "random state": MixtureSVC(random_state=np.random.RandomState(3)),
    "no random state": MixtureSVC(random_state=None),
}
NUMBERS = {
    "passthrough": MixtureSVC(encoder="passthrough"),
    "kernels of scikit-learn": MixtureSVC(RBF([1.0, 2.0, 3.0]) * Matern(nu=1.5) + DotProduct() ** 2),
    "pairwise kernel": MixtureSVC(PairwiseKernel(metric="polynomial", pairwise_kernels_kwargs={"degree": 2})),
    "diagonal": MixtureSVC(density=density(covariance_type="diag", precision_prior=0.5, mean_prior=[0.0, 0.0, 1.0])),
    "labels in the density": MixtureSVC(density=density(use_labels=True)),
}
LABELS = {
    "int": np.where(np.arange(90) % 9 < 4, np.arange(90) % 3, -1),
    "int8": np.where(np.arange(90) % 9 < 4, np.arange(90) % 3, -1).astype(np.int8),
    "bool": [bool(i % 2) if i % 9 < 4 else None for i in range(90)],
    "fixed-width text": np.where(np.arange(90) % 2, "yes", "no"),
    "categories": pd.Series(pd.Categorical(labels(), categories=["z", "c", "b", "a"], ordered=True)),
    "categories of integers": pd.Categorical(np.where(np.arange(90) % 9 < 4, np.arange(90) % 3, np.nan)),
}


def again(estimator, folder, **kwargs):
    return load(save(estimator, folder / "a.mixkern", **kwargs))


def unfitted(estimator):
    return clone(estimator).set_params(density=clone(estimator.density) if estimator.density else density())


@pytest.mark.slow
@pytest.mark.parametrize("name", MIXED)
def test_estimators_on_mixed_tables_predict_the_same(name, tmp_path):
    estimator = fitted(unfitted(MIXED[name]))
    assert_same(answers(again(estimator, tmp_path), table()), answers(estimator, table()))


@pytest.mark.parametrize("name", NUMBERS)
def test_estimators_on_arrays_predict_the_same(name, tmp_path):
    estimator = fitted(unfitted(NUMBERS[name]), numbers())
    assert_same(answers(again(estimator, tmp_path), numbers()), answers(estimator, numbers()))


@pytest.mark.parametrize("name", LABELS)
def test_labels_come_back_as_what_they_were(name, tmp_path):
    estimator = fitted(MixtureSVC("rbf", density=density(), random_state=0), numbers(), LABELS[name])
    found, expected = again(estimator, tmp_path).predict(numbers()), estimator.predict(numbers())
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


def test_a_mixture_as_density(tmp_path):
    mixture = Mixture([0.5, 0.5], [[0.0, 0, 0], [1.0, 1, 1]], [1.0, 2.0], "spherical")
    estimator = fitted(MixtureSVC(density=mixture, random_state=0), numbers())
    found = again(estimator, tmp_path)
    assert found.density == mixture
    assert found.density is found.mixture_ is found.kernel_.mixture
    assert_same(answers(found, numbers()), answers(estimator, numbers()))


@pytest.mark.slow
def test_a_new_process_gives_the_same_answers_bit_for_bit(models, tmp_path):
    for name, estimator in models.items():
        save(estimator, tmp_path / f"{name}.mixkern")
    code = f"""
import sys, types, pickle
from pathlib import Path
package = types.ModuleType("models")
package.__path__ = [{str(Path(__file__).parent)!r}]
sys.modules["models"] = package
from models.example import answers, numbers, table
from mixkern import load
folder = Path({str(tmp_path)!r})
found = {{p.stem: answers(load(p), numbers() if p.stem == "density" else table()) for p in folder.glob("*.mixkern")}}
(folder / "found").write_bytes(pickle.dumps(found))
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    found = pd.read_pickle(tmp_path / "found")
    assert found.keys() == models.keys()
    for name, estimator in models.items():
        assert_same(found[name], answers(estimator, numbers() if name == "density" else table()))


@pytest.mark.parametrize("name", ["svc", "laplacian", "transductive", "s3vc", "svr", "oneclass", "encoder", "density"])
def test_every_learned_attribute_is_there(models, name, tmp_path):
    """A new attribute that predictions need must be declared in _fitted_parts of its class, with a rule."""
    dropped = {"_ascent", "_code_columns", "_coordinates", "_early", "_n_seen", "_n_slots", "_precision", "_structure"}
    found = again(models[name], tmp_path)
    assert set(vars(found)) == set(vars(models[name])) - dropped
    assert type(found) is type(models[name])
    assert repr(found) == repr(models[name]).replace("<CovarianceType.FULL: 'full'>", "'full'")


def test_values_stay_values(models, tmp_path):
    found = again(models["svc"], tmp_path)
    mixture = found.mixture_
    assert mixture == models["svc"].mixture_
    arrays = (mixture.weights, mixture.means, mixture.covariances, *mixture.categories)
    assert not any(array.flags.writeable for array in arrays)
    assert mixture is found.kernel_.mixture is found.density_.mixture_
    assert not vars(found)["_labels"].classes.flags.writeable
    assert found.classes_.flags.writeable
    assert found.encoder_.columns_ == models["svc"].encoder_.columns_
    assert not np.shares_memory(found.support_vectors_, vars(found)["_decision"].support)  # equal: one in the file


def test_equal_models_make_equal_files_apart_from_the_time(models, tmp_path):
    estimator = models["svc"]
    one = save(estimator, tmp_path / "one.mixkern")
    answers(estimator, table())  # fills caches
    other = save(load(one), tmp_path / "other.mixkern")
    with ZipFile(one) as a, ZipFile(other) as b:
        facts = [archive.read("model.json") for archive in (a, b)]
        arrays = [{name: archive.read(name) for name in archive.namelist()[1:-1]} for archive in (a, b)]
    times = [json.loads(each)["created"] for each in facts]
    assert facts[0].replace(times[0].encode(), b"") == facts[1].replace(times[1].encode(), b"")
    assert arrays[0] == arrays[1]


def test_the_header_of_a_file(models, tmp_path):
    notes = {
        "target": "town",
        "rows": np.int64(90),
        "accuracy": np.float64(0.5),
        "classes": ["a", "b"],
        "deep": {"x": None},
    }
    path = save(models["svc"], str(tmp_path / "a.mixkern"), notes=notes)
    file = read_model(path)
    assert isinstance(file, ModelFile)
    assert file.notes == {**notes, "rows": 90}
    assert (file.version, file.format) == (mixkern.__version__, FORMAT)
    assert set(file.versions) == {"python", "numpy", "scikit-learn", "scipy"}
    assert file.versions["numpy"] == np.__version__
    assert pd.Timestamp(file.created).utcoffset().total_seconds() == 0
    assert len(file.checksum) == 64
    assert file.n_bytes == path.stat().st_size
    assert isinstance(file.model, MixtureSVC)
    assert read_model(save(models["encoder"], path)).notes == {}


def test_a_loaded_estimator_can_be_fitted_again(models, tmp_path):
    found = again(models["svc"], tmp_path)
    assert_same(answers(fitted(found), table()), answers(models["svc"], table()))


def test_a_loaded_density_does_not_go_on_by_mistake(models, tmp_path):
    found = again(models["density"], tmp_path)
    with pytest.raises(MixtureError, match=r"Start again: clone\(density\)"):
        found.partial_fit(numbers(), labels())
    assert not found.classes_.flags.writeable


def test_callbacks_stay_behind(tmp_path):
    estimator = VBMixture(n_components=2, random_state=0).set_callbacks(BoundRecorder()).fit(numbers())
    assert not hasattr(again(estimator, tmp_path), "_skl_callbacks")


class OwnKernel(RBF):
    pass


class OwnEstimator(MixtureSVC):
    pass


def refused(thing, path, **kwargs):
    with pytest.raises(ModelFileError) as caught:
        save(thing, path, **kwargs)
    assert not list(path.parent.iterdir())
    return str(caught.value)


def test_what_is_no_fitted_model_is_refused(models, tmp_path):
    path = tmp_path / "a.mixkern"
    for thing in (MixtureSVC(), TableEncoder(), VBMixture()):
        assert "is not fitted, so there is nothing to save. Fit it first" in refused(thing, path)
    for thing in (LogisticRegression(), make_pipeline(models["svc"]), MixtureSVC, None, "text"):
        assert "Only a fitted estimator of mixkern (VBMixture," in refused(thing, path)
    assert "this is a OwnEstimator" in refused(fitted(OwnEstimator(density=density())), path)
    for search in (SVCSearch(), DensitySearch()):
        assert "save(search.best_estimator_, path)" in refused(search, path)


def test_kernels_of_ones_own_are_refused(tmp_path):
    estimator = fitted(MixtureSVC(OwnKernel(), density=density()), numbers())
    message = refused(estimator, tmp_path / "a.mixkern")
    assert message.startswith("This MixtureSVC cannot be saved: the model holds a ")
    assert "OwnKernel" in message
    estimator = fitted(
        MixtureSVC(PairwiseKernel(metric=lambda a, b, gamma: float(a @ b)), density=density()), numbers()
    )
    assert "function" in refused(estimator, tmp_path / "a.mixkern")


def test_notes_that_json_does_not_have_are_refused(models, tmp_path):
    path = tmp_path / "a.mixkern"
    assert "notes must be a dict, but they are a list" in refused(models["encoder"], path, notes=[1])
    assert "they hold a set" in refused(models["encoder"], path, notes={"a": {1}})
    assert "notes must be" in refused(models["encoder"], path, notes={"a": float("nan")})


def test_a_failure_leaves_the_old_file_as_it_was(models, tmp_path, monkeypatch):
    path = save(models["encoder"], tmp_path / "a.mixkern")
    old = path.read_bytes()
    with pytest.raises(ModelFileError):
        save(models["encoder"], path, notes={"a": object()})
    monkeypatch.setattr(model, "check_is_fitted", lambda each: 1 / (each is models["encoder"]))  # of what is read back
    with pytest.raises(ModelFileError, match="cannot be saved: its model cannot be used"):
        save(models["encoder"], path)
    assert path.read_bytes() == old
    assert [file.name for file in tmp_path.iterdir()] == ["a.mixkern"]


def test_a_place_that_cannot_be_written_is_a_sentence(models, tmp_path):
    with pytest.raises(ModelFileError, match="cannot be written"):
        save(models["encoder"], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_model_needs_not_be_given_as_a_path(models, tmp_path):
    assert save(models["encoder"], str(tmp_path / "deep" / "a.mixkern")) == tmp_path / "deep" / "a.mixkern"
    assert isinstance(load(str(tmp_path / "deep" / "a.mixkern")), TableEncoder)


def test_a_search_saves_what_it_has_found(tmp_path):
    search = fitted(SVCSearch(MixtureSVC(density=density()), C=[1, 10], gamma=[0.1], cv=2, random_state=0), numbers())
    assert_same(answers(again(search.best_estimator_, tmp_path), numbers()), answers(search.best_estimator_, numbers()))


@pytest.mark.parametrize("inner", [None, VBMixture(3, random_state=1)], ids=["default", "given"])
def test_a_density_search_is_a_parameter_like_others(tmp_path, inner):
    search = DensitySearch(
        inner, precision_prior=(1.0, "typical"), scoring="bound", mean_precision_prior=np.array([2.0])
    )
    estimator = fitted(MixtureSVC("rwm", density=search, random_state=0), numbers())
    loaded = again(estimator, tmp_path)
    assert_same(answers(loaded, numbers()), answers(estimator, numbers()))
    assert repr(loaded.density) == repr(search)
    assert loaded.density_.mixture_ == estimator.density_.mixture_
    refit = fitted(loaded, numbers())
    assert refit.density_.mixture_ == estimator.density_.mixture_
