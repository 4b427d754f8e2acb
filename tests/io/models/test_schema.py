"""The JSON schema in the documentation describes model.json, and its limits are those of the code."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mixkern.io.archive import FORMAT, KEYS, MOST_ARRAYS
from mixkern.io.model import MODELS
from mixkern.nodes import DTYPES, MOST_DIMENSIONS

from .damage import described, objects
from .golden import FOLDER

DOCS = Path(__file__).parents[3] / "docs"
SCHEMA = json.loads((DOCS / "model.schema.json").read_text("utf-8"))
NAMES = sorted(path.name for path in FOLDER.glob("*.mixkern"))


@pytest.fixture(scope="module")
def validator():
    Draft202012Validator.check_schema(SCHEMA)
    return Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_golden_files_are_valid(name, validator):
    assert not list(validator.iter_errors(described((FOLDER / name).read_bytes())))


def test_saved_files_are_valid(content, validator):
    assert validator.is_valid(described(content))


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"extra": 1},
        {"arrays": [{"dtype": "|O", "shape": [1]}]},
        {"arrays": [{"dtype": "<f8", "shape": [-1]}]},
        {"model": {"class": "RBFKernel", "parts": {}}},
        {"model": {"class": "MixtureSVC", "parts": {"C": {"unknown": 1}}}},
        {"model": {"class": "MixtureSVC", "parts": {"C": {"class": "os.system", "parts": {}}}}},
        {"shared": [1]},
    ],
)
def test_other_descriptions_are_not(change, content, validator):
    assert not validator.is_valid({**described(content), **change})


def test_the_schema_has_the_limits_of_the_code():
    properties, array = SCHEMA["properties"], SCHEMA["$defs"]["array"]["properties"]
    assert set(properties) == set(SCHEMA["required"]) == set(KEYS)
    assert properties["format"]["const"] == FORMAT
    assert properties["arrays"]["maxItems"] == MOST_ARRAYS
    assert properties["model"]["allOf"][1]["properties"]["class"]["enum"] == sorted(MODELS)
    assert array["dtype"]["enum"] == list(DTYPES)
    assert array["shape"]["maxItems"] == MOST_DIMENSIONS


def test_the_page_describes_every_class_and_part():
    """Another program can read a model file by docs/model_files.md alone."""
    page = (DOCS / "model_files.md").read_text("utf-8")
    found = [each for name in NAMES for each in objects(described((FOLDER / name).read_bytes()))]
    for each in found:
        assert f"`{each['class']}`" in page, each["class"]
        if not each["class"].startswith("sklearn."):
            missing = [part for part in each["parts"] if f"`{part}`" not in page and part.endswith("_")]
            assert not missing, each["class"]
