"""The description of a served model: columns, classes, versions, the hash of the file, and an example."""

import json
import platform
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from mixkern.encoding import ASSESSED, CategoricalColumn
from mixkern.encoding.cell import jsonable
from mixkern.encoding.inference import TableColumn
from mixkern.io import ModelFile
from mixkern.serving.json_table import example_cell, json_kind
from mixkern.serving.predictor import served_columns
from mixkern.serving.request import JSON
from mixkern.wording import counted, shortened

MOST_CATEGORIES = 100  # named for each column
SHOWN_CATEGORIES = 8  # on the page


@dataclass(frozen=True)
class ModelDescription:
    """A model that is served.

    Attributes
    ----------
    name : str
        Name of its file.
    sha256 : str
        Of the file.
    facts : dict
        What ``GET /model`` answers.
    example : dict
        A row that could be asked for.
    """

    name: str
    sha256: str
    facts: dict[str, Any]
    example: dict[str, Any]

    @classmethod
    def of(cls, file: ModelFile, name: str, sha256: str) -> "ModelDescription":
        """Describe the model in a file."""
        model = file.model
        columns = served_columns(model)
        target = file.notes.get("target")
        counts = getattr(model, "n_labels_", None)  # not in files of earlier versions
        classes = jsonable(model.classes_.tolist())
        facts = {
            "file": name,
            "sha256": sha256,
            "bytes": file.n_bytes,
            "created": file.created,
            "model": type(model).__name__,
            "target": target if isinstance(target, str) else None,
            "classes": classes,
            "labels": None if counts is None else [int(n) for n in counts],
            "has_probabilities": bool(model.probability),
            "columns": [_column(column) for column in columns],
            "answer": list(ASSESSED),
            "written_by": {"mixkern": file.version, **file.versions},
            "served_by": {"mixkern": version("mixkern"), "python": platform.python_version()},
        }
        return cls(name, sha256, facts, _example(columns))

    @property
    def title(self) -> str:
        """Heading of the page."""
        target = self.facts["target"]
        return self.name if target is None else f"Predicting {shortened(target, 60)}"

    def command(self, url: str, *, has_token: bool) -> str:
        """Return a command that asks for the label of the example."""
        body = json.dumps([self.example], ensure_ascii=False)
        token = " -H 'Authorization: Bearer TOKEN'" if has_token else ""
        return f"curl {url}predict -H 'Content-Type: {JSON}'{token} \\\n  -d {shlex.quote(body)}"


def example_body(model: Any) -> bytes:
    """Return the body of a request for the label of a typical row."""
    return json.dumps([_example(served_columns(model))]).encode()


def _example(columns: tuple[TableColumn, ...]) -> dict[str, Any]:
    return {column.name: example_cell(column) for column in columns}


def _column(column: TableColumn) -> dict[str, Any]:
    """Describe a column: its name, its type in JSON, an example, gaps at fit time, and categories."""
    found: dict[str, Any] = {
        "name": column.name,
        "type": json_kind(column),
        "example": example_cell(column),
        "gaps_at_fit": column.n_gaps,
    }
    if isinstance(column, CategoricalColumn):
        found["n_categories"] = len(column.categories)
        found["categories"] = list(column.categories[:MOST_CATEGORIES])
    return found


def in_words(column: dict[str, Any]) -> str:
    """Return the type of a described column, with its first categories.

    >>> in_words({"type": "number"})
    'number'
    >>> in_words({"type": "category", "n_categories": 2, "categories": ["Kassel", "Ulm"]})
    'category: Kassel, Ulm'
    """
    names = column.get("categories")
    if column["type"] != "category" or not names:
        return str(column["type"])
    first = ", ".join(shortened(name, 30) for name in names[:SHOWN_CATEGORIES])
    rest = column["n_categories"] - SHOWN_CATEGORIES
    return f"category: {first}" + (f" and {counted(rest, 'other')}" if rest > 0 else "")
