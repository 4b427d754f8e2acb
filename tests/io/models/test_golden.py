"""Golden files of every kind are read, and predict what they predicted when they were written."""

import json
from zipfile import ZipFile

import numpy as np
import pytest

from mixkern import parts
from mixkern.io import read_model, save
from mixkern.io.model import MODELS

from .damage import objects
from .golden import FOLDER, KINDS, fitted, predictions, rows_of

NAMES = sorted(path.stem for path in FOLDER.glob("*.mixkern"))


def test_there_is_a_file_of_each_kind():
    assert sorted(KINDS) == NAMES
    assert all((FOLDER / f"{name}.mixkern").stat().st_size < 20_000 for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_predicts_what_it_did(name):
    file = read_model(FOLDER / f"{name}.mixkern")
    assert file.format == 3
    found = predictions(file.model, rows_of(file.notes))
    assert found.keys() == file.notes["expected"].keys()
    for method, expected in file.notes["expected"].items():
        if method == "predict" and not name.startswith("mixture_svr"):
            assert found[method] == expected, method
        else:
            values = np.array(expected, dtype=float)  # None becomes NaN
            np.testing.assert_allclose(np.array(found[method], dtype=float), values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_with_one_slope_has_the_same_probabilities_as_before(name):
    file = read_model(FOLDER / f"{name}.mixkern")
    model = file.model
    if isinstance(getattr(model, "slope_", None), float):
        rows = rows_of(file.notes)
        expected = model._scheme.class_probabilities(model.decide(rows), model.slope_, len(model.classes_))
        assert model.predict_proba(rows).tobytes() == expected.tobytes()


def test_the_files_have_all_classes():
    """A new class of model files needs a golden file: add a kind to golden.py, and write it."""
    held = set()
    for name in NAMES:
        with ZipFile(FOLDER / f"{name}.mixkern") as archive:
            held |= {each["class"] for each in objects(json.loads(archive.read("model.json")))}
    libraries = ("mixkern", "sklearn", "numpy")  # and not doctests and tests
    registered = {name for name, kind in parts._BY_NAME.items() if kind.cls.__module__.split(".")[0] in libraries}
    assert not registered - held - {"Circle"}  # of the doctest of mixkern.parts
    assert set(MODELS) <= held


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_saved_and_loaded_bit_for_bit(name, tmp_path):
    model, rows = fitted(name), KINDS[name][1]
    again = read_model(save(model, tmp_path / "a.mixkern")).model
    assert predictions_as_bytes(again, rows) == predictions_as_bytes(model, rows)


def predictions_as_bytes(model, rows):
    return {name: np.asarray(values).tobytes() for name, values in predictions(model, rows).items()}
