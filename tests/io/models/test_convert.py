"""Files of formats 1 and 2, written with skops, become files of the present format with the same predictions."""

import json
import os
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from mixkern import io
from mixkern.cli.convert import convert
from mixkern.density import Rows
from mixkern.errors import MissingExtraError, ModelFileError
from mixkern.io import read_model
from mixkern.svm.decision import kernel_matrix

from .damage import zipped

OLD = Path(__file__).parent / "data"
NAMES = sorted(path.stem for path in OLD.glob("format_*.mixkern"))


@pytest.mark.parametrize("name", NAMES)
def test_old_files_are_converted(name, tmp_path):
    path = convert(OLD / f"{name}.mixkern", str(tmp_path / "new.mixkern"))
    file = read_model(path)
    assert (path, file.format) == (tmp_path / "new.mixkern", 3)
    notes, model = file.notes, file.model
    rows = pd.DataFrame({"age": np.array(notes["age"], dtype=float), "town": notes["town"]})
    np.testing.assert_allclose(model.decision_function(rows), notes["decision"], rtol=1e-10)
    np.testing.assert_allclose(model.novelty(rows), notes["novelty"], rtol=1e-10)
    if "labels" in notes:
        assert np.asarray(model.predict(rows)).tolist() == notes["labels"]
    # dual_coef_ and intercept_, which the old files have transposed and with the sign of the first class
    K = kernel_matrix(model.kernel_, model.rows_of(rows), Rows(model.support_vectors_, model.mixture_))
    sums = K @ model.dual_coef_.T + model.intercept_
    expected = model.decide(rows) * (-1 if len(model.classes_) == 2 else 1)
    np.testing.assert_allclose(sums, expected, rtol=1e-6, atol=1e-8)


def test_there_are_files_of_both_formats():
    formats = [json.loads(ZipFile(OLD / f"{name}.mixkern").read("mixkern.json"))["format"] for name in NAMES]
    assert set(formats) == {1, 2}


def test_other_files_are_refused(models, tmp_path):
    new = tmp_path / "new.mixkern"
    present = io.save(models["encoder"], tmp_path / "present.mixkern")
    (tmp_path / "text").write_text("no model")
    for old, message in (
        (present, "is no model of format 1 or 2, but of the present format: use it as it is"),
        (tmp_path / "text", "is no model of format 1 or 2, or damaged"),
        (tmp_path / "none", "there is no such file"),
        (tmp_path, "there is no such file"),
    ):
        with pytest.raises(ModelFileError, match=message):
            convert(old, new)
    assert not new.exists()


class Trap:
    def __init__(self, marker):
        self.marker = str(marker)

    def __setstate__(self, state):
        Path(state["marker"]).touch()


def test_only_types_of_models_are_restored(tmp_path):
    marker, new = tmp_path / "ran", tmp_path / "new.mixkern"
    for thing in (Trap(marker), os.system, LogisticRegression(), {"model": Trap(marker)}, [1]):
        members = {"mixkern.json": json.dumps({"notes": {}}), "model.skops": skops.io.dumps(thing)}
        (tmp_path / "old.mixkern").write_bytes(zipped(members))
        with pytest.raises(ModelFileError, match=r"is no model of format 1 or 2|Only a fitted estimator"):
            convert(tmp_path / "old.mixkern", new)
    assert not marker.exists()
    assert not new.exists()


def test_without_skops(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingExtraError, match=r"needs skops.*mixkern\[convert\]"):
        convert(OLD / "format_1_svc.mixkern", tmp_path / "new.mixkern")
