"""What a server tells about its model."""

import json
import shlex

import pytest

from mixkern.io import read_model
from mixkern.serving.description import ModelDescription, example_body, in_words
from mixkern.serving.request import Question


@pytest.fixture(scope="module")
def description(path):
    return ModelDescription.of(read_model(path), path.name, "0" * 64)


def test_columns_have_types_and_examples(description):
    found = {column["name"]: column for column in description.facts["columns"]}
    assert {name: column["type"] for name, column in found.items()} == {
        "age": "number",
        "town": "category",
        "smoker": "boolean",
        "since": "date",
        "wait": "seconds",
        "note": "text",
    }
    assert found["town"]["categories"] == ["Kassel", "Pässau", "Ulm"]
    assert found["age"]["gaps_at_fit"] == 11
    assert 25 < found["age"]["example"] < 40
    assert found["smoker"]["example"] is False


def test_the_example_can_be_asked_for(model, predictor, description):
    answer = predictor.answer(Question(), example_body(model))
    assert answer.status == 200
    assert json.loads(example_body(model)) == [description.example]


def test_the_command_can_be_pasted(description):
    words = shlex.split(description.command("http://127.0.0.1:8000/", has_token=True).replace("\\\n", ""))
    assert words[:2] == ["curl", "http://127.0.0.1:8000/predict"]
    assert json.loads(words[-1]) == [description.example]
    assert "Authorization: Bearer TOKEN" in words
    assert "Authorization" not in description.command("http://127.0.0.1:8000/", has_token=False)


def test_facts_are_json(description):
    assert json.loads(json.dumps(description.facts, allow_nan=False)) == description.facts
    assert description.title == "Predicting churn"


def test_many_categories_are_cut():
    column = {"type": "category", "n_categories": 30, "categories": [f"c{i}" for i in range(30)]}
    assert in_words(column) == "category: c0, c1, c2, c3, c4, c5, c6, c7 and 22 others"
    assert in_words({"type": "boolean", "n_categories": 2, "categories": ["False", "True"]}) == "boolean"
