"""The description of a server in the format of OpenAPI, from which clients are generated."""

from typing import Any

from mixkern.serving.description import ModelDescription
from mixkern.serving.limits import Limits
from mixkern.serving.request import ARROW, JSON

VERSION = "3.1.0"
CELL = ["string", "number", "boolean", "null"]
TYPES = {"number": ["number", "null"], "seconds": ["number", "null"], "text": ["string", "null"]}
TYPES["date"] = TYPES["text"]  # ISO 8601, with or without a time
TEXT = {"type": "string"}
NUMBER = {"type": TYPES["number"]}


def openapi(model: ModelDescription, limits: Limits, *, has_token: bool) -> dict[str, Any]:
    """Return the description of all addresses for machines, and of the rows and predictions of a model.

    Parameters
    ----------
    model : ModelDescription
        What is served.
    limits : Limits
        What is accepted.
    has_token : bool
        Whether requests need a token.
    """
    found: dict[str, Any] = {
        "openapi": VERSION,
        "info": {"title": model.title, "version": model.sha256[:12], "description": f"Predictions of {model.name}."},
        "paths": {
            "/predict": {"post": _predict(limits)},
            "/model": {"get": _get("Columns, classes, versions and limits.", JSON, {"type": "object"})},
            "/health": {"get": _get("Whether a worker is ready: 200, or 503.", JSON, {"type": "object"})},
            "/health/live": {"get": _get("That the server runs.", JSON, {"type": "object"})},
            "/metrics": {"get": _get("Counts and times for Prometheus.", "text/plain", {"type": "string"})},
        },
        "components": {"schemas": _schemas(model, limits)},
    }
    if has_token:
        found["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
        for path in ("/health", "/health/live"):
            found["paths"][path]["get"]["security"] = []
    return found


def _predict(limits: Limits) -> dict[str, Any]:
    text = f"At most {limits.rows} rows and {limits.body_mib} MiB. Columns that the model does not know are left out."
    bodies = {JSON: {"schema": _link("Request")}, ARROW: {}}
    answers = {JSON: {"schema": _link("Answer")}, ARROW: {}}
    header = {"description": "SHA-256 of the model file.", "schema": {"type": "string"}}
    return {
        "operationId": "predict",
        "summary": "Label, probability, component and novelty of rows.",
        "parameters": [
            _option("all_classes", {"type": "boolean", "default": False}, "Add the probability of each class."),
            _option("abstain", {"type": "number", "minimum": 0, "maximum": 1}, "No label below this probability."),
        ],
        "requestBody": {"required": True, "description": text, "content": bodies},
        "responses": {
            "200": {"description": "Predictions.", "headers": {"X-Model-SHA256": header}, "content": answers},
            **_errors(),
        },
    }


def _get(summary: str, media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    answer = {"description": summary, "content": {media_type: {"schema": schema}}}
    return {"summary": summary, "responses": {"200": answer, **_errors()}}


def _errors() -> dict[str, Any]:
    error = {"description": "An error.", "content": {JSON: {"schema": _link("Error")}}}
    return {"4XX": error, "5XX": error}


def _option(name: str, schema: dict[str, Any], about: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "description": about}


def _link(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas(model: ModelDescription, limits: Limits) -> dict[str, Any]:
    """Return what rows, requests, answers and errors are in JSON."""
    columns = model.facts["columns"]
    cells = {each["name"]: _cell(each) for each in columns}
    lists = {name: {"type": "array", "items": cell} for name, cell in cells.items()}
    rows = {"type": "array", "items": _link("Row"), "minItems": 1, "maxItems": limits.rows}
    prediction = {
        "label": {"enum": [*model.facts["classes"], None]},
        "probability": NUMBER,
        "component": {"type": "integer"},
        "novelty": NUMBER,
    }
    by_column = {name: {"type": "array", "items": schema} for name, schema in prediction.items()}
    predictions = [{"type": "array", "items": _object(prediction)}, _object(by_column)]
    return {
        "Row": {**_object(cells), "examples": [model.example]},
        "Request": {"oneOf": [rows, _object({"rows": rows}), _object({"columns": _object(lists)})]},
        "Answer": _object({"predictions": {"oneOf": predictions}, "notes": {"type": "array", "items": TEXT}}),
        "Error": _object({"error": TEXT}),
    }


def _cell(column: dict[str, Any]) -> dict[str, Any]:
    """Return what a cell of a described column is; null is a gap."""
    return {"type": TYPES.get(column["type"], CELL), "description": column["type"], "examples": [column["example"]]}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return an object with properties that must be there; others are allowed."""
    return {"type": "object", "properties": properties, "required": list(properties)}
