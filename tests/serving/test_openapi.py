"""The description in the format of OpenAPI: its links lead somewhere, and requests and answers are as it says."""

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

from mixkern.io import read_model
from mixkern.serving.app import PATHS
from mixkern.serving.description import ModelDescription
from mixkern.serving.limits import Limits
from mixkern.serving.openapi import openapi
from mixkern.serving.request import OPTIONS, Question


@pytest.fixture(scope="module")
def described(path):
    return ModelDescription.of(read_model(path), "people.mixkern", "ab" * 32)


@pytest.fixture(scope="module")
def document(described):
    return json.loads(json.dumps(openapi(described, Limits(rows=200), has_token=False)))


def nodes(node):
    """Give all objects of a document."""
    if isinstance(node, dict):
        yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(each)


def check(document, name, value):
    """Validate a value by one of the schemas."""
    own = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    Draft202012Validator(own).validate(value)


def test_all_links_lead_to_valid_schemas(document):
    schemas = document["components"]["schemas"]
    links = {each["$ref"] for each in nodes(document) if "$ref" in each}
    assert links == {f"#/components/schemas/{name}" for name in schemas}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def test_addresses_and_options_are_those_of_the_server(document):
    assert document["openapi"].startswith("3.1.")
    assert {"title", "version"} <= set(document["info"])
    assert set(document["paths"]) == set(PATHS) - {"/", "/openapi.json"}
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert all(answer["description"] for each in operations for answer in each["responses"].values())
    predict = document["paths"]["/predict"]["post"]
    assert tuple(each["name"] for each in predict["parameters"]) == OPTIONS


@pytest.mark.parametrize("options", [{}, {"all_classes": True}, {"abstain": 1.0}])
def test_requests_and_answers_are_as_described(document, described, predictor, table, records, options):
    rows = records(table[:40])
    by_column = {"columns": {name: [row[name] for row in rows] for name in table}}
    check(document, "Row", described.example)
    for body in (rows, {"rows": rows}, by_column):
        check(document, "Request", body)
        answer = predictor.answer(Question(**options), json.dumps(body).encode())
        assert answer.status == 200
        check(document, "Answer", json.loads(answer.body))


@pytest.mark.parametrize("body", [{}, {"data": []}, [{}], [{"age": 3}], {"rows": {}}, 3, []])
def test_what_the_server_refuses_is_not_described(document, predictor, body):
    with pytest.raises(ValidationError):
        check(document, "Request", body)
    answer = predictor.answer(Question(), json.dumps(body).encode())
    assert answer.status == 400
    check(document, "Error", json.loads(answer.body))


@pytest.mark.parametrize(("name", "cell"), [("age", "31"), ("age", True), ("wait", "1 h"), ("since", 5), ("note", 3)])
def test_cells_of_another_type_are_not_described(document, records, table, name, cell):
    with pytest.raises(ValidationError):
        check(document, "Row", {**records(table[:1])[0], name: cell})


def test_a_token_is_described_but_for_health(described):
    found = openapi(described, Limits(), has_token=True)
    assert found["components"]["securitySchemes"][next(iter(found["security"][0]))]["scheme"] == "bearer"
    closed = {path for path, each in found["paths"].items() if "security" not in next(iter(each.values()))}
    assert closed == {"/predict", "/model", "/metrics"}
