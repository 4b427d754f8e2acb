"""``mixkern export``: an ONNX file that predicts as the model does."""

import hashlib
import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from mixkern import VBMixture, load, save
from mixkern.cli import export
from mixkern.io import read_model


def test_the_file_predicts_as_the_model_does(run, model, table, tmp_path):
    output = tmp_path / "people.onnx"
    done = run("export", model, "-o", output)
    assert f"ONNX model: {output}\n" in done.stdout
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "2 inputs" in lines
    assert "age float64 number NaN" in lines
    assert "town string text, a category an empty text, or a word for a gap such as NA" in lines
    assert "probabilities float64 [N, 2] probability of each class" in lines
    frame = pd.read_csv(table)
    feed = {"age": frame[["age"]].to_numpy(float), "town": frame[["town"]].fillna("").to_numpy(object)}
    session = onnxruntime.InferenceSession(output, providers=["CPUExecutionProvider"])
    label, shares = session.run(["label", "probabilities"], feed)
    fitted = load(model)
    np.testing.assert_array_equal(label, fitted.predict(frame[["age", "town"]]))
    np.testing.assert_allclose(shares, fitted.predict_proba(frame[["age", "town"]]), atol=1e-9)
    assert [each.name for each in tmp_path.iterdir()] == ["people.onnx"]


def test_json_has_inputs_and_outputs(run, model, tmp_path):
    found = json.loads(run("export", model, "-o", tmp_path / "a.onnx", "--dtype", "float32", "--json").stdout)
    assert found["bytes"] == (tmp_path / "a.onnx").stat().st_size
    assert [(each["name"], each["dtype"]) for each in found["inputs"]] == [("age", "float32"), ("town", "string")]
    assert [each["name"] for each in found["outputs"]] == ["label", "probabilities", "component", "novelty"]
    assert found["notes"] == []


def test_the_file_can_be_traced_to_its_model(run, model, tmp_path):
    found = json.loads(run("export", model, "-o", tmp_path / "a.onnx", "--json").stdout)
    run("export", model, "-o", tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    session = onnxruntime.InferenceSession(tmp_path / "a.onnx", providers=["CPUExecutionProvider"])
    facts = session.get_modelmeta().custom_metadata_map
    expected = {
        "model_sha256": hashlib.sha256(model.read_bytes()).hexdigest(),
        "model_created": read_model(model).created,
        "target": "churn",
    }
    assert {name: facts[f"mixkern.{name}"] for name in expected} == expected
    assert {name: found[name] for name in expected} == expected


def test_a_model_without_a_target(run, model, tmp_path):
    save(load(model), tmp_path / "plain.mixkern")
    found = json.loads(run("export", tmp_path / "plain.mixkern", "--json").stdout)
    assert "target" not in found
    assert "model_sha256" in found


def test_the_default_output_is_beside_the_model(run, model, tmp_path):
    copy = tmp_path / "mine.mixkern"
    copy.write_bytes(model.read_bytes())
    run("export", copy)
    assert (tmp_path / "mine.onnx").is_file()


def test_many_inputs_are_shortened(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "SHOWN", 1)
    printed = run("export", model, "-o", tmp_path / "a.onnx").stdout
    assert "2 inputs, the first 1\n" in printed
    assert "town" not in printed


def test_another_suffix_is_refused_and_nothing_is_written(run, model, tmp_path):
    done = run("export", model, "-o", tmp_path / "people.pb", code=1)
    assert "must end with .onnx, the format of the export, but it is 'people.pb'. Name it 'people.onnx'." in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_named(run, model, tmp_path):
    done = run("export", model, "-o", tmp_path / "no" / "a.onnx", code=1)
    assert "there is no folder" in done.stderr


def test_models_without_a_decision_are_refused(run, tmp_path):
    save(VBMixture(random_state=0).fit(np.random.RandomState(0).randn(30, 2)), tmp_path / "density.mixkern")
    done = run("export", tmp_path / "density.mixkern", code=1)
    assert "only models that predict labels or numbers can be exported. Fit one: mixkern fit TABLE" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["density.mixkern"]


def test_free_texts_are_refused_with_an_option(run, written, tmp_path):
    words = ["the parcel came late again", "works as it should", "slow answer of the service", "very good indeed now"]
    random = np.random.RandomState(0)
    texts = [f"{words[i % 4]} {random.randint(1000)} {words[i % 3]}" for i in range(60)]
    frame = pd.DataFrame({"comment": texts, "size": random.randn(60).round(2), "churn": ["no", "yes"] * 30})
    run("fit", written(frame), "--target", "churn")
    done = run("export", tmp_path / "mine.mixkern", code=1)
    assert "Fit a model without it: mixkern fit ... --drop comment. Or use mixkern predict." in done.stderr
    assert not (tmp_path / "mine.onnx").exists()


@pytest.mark.parametrize("dtype", ["float16", "double"])
def test_other_types_are_refused(run, model, dtype, tmp_path):
    done = run("export", model, "-o", tmp_path / "a.onnx", "--dtype", dtype, code=2)
    assert "is not one of 'float64', 'float32'" in done.stderr
