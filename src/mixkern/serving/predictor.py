"""Answer requests for predictions: from the bytes of a body to those of an answer."""

import json
import warnings
from dataclasses import dataclass
from typing import Any

from mixkern.encoding.cell import jsonable
from mixkern.encoding.inference import TableColumn
from mixkern.errors import ColumnNamesWarning, MixkernError, MixkernWarning, ModelFileError, hint
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.io.archive import FIT
from mixkern.serving.arrow_table import arrow_bytes, read_arrow
from mixkern.serving.json_table import read_json
from mixkern.serving.request import ARROW, JSON, Question, RequestError

NO_MEMORY = "There is not enough memory for this request. Send fewer rows."


@dataclass(frozen=True)
class Answer:
    """The answer to a request: status, format, body, and the number of rows that were predicted."""

    status: int
    media_type: str
    body: bytes
    n_rows: int = 0

    @classmethod
    def error(cls, status: int, text: str) -> "Answer":
        """Return an error as JSON."""
        return cls(status, JSON, _json({"error": text}))


class Predictor:
    """Answers requests by the method ``assess`` of a model.

    Parameters
    ----------
    model : estimator
        A fitted classifier of mixkern with an encoder.
    most_rows : int
        Rows of a request.
    """

    def __init__(self, model: Any, most_rows: int) -> None:
        self._model, self._most_rows = model, most_rows
        self._columns = served_columns(model)
        self._names = [column.name for column in self._columns]

    def answer(self, question: Question, body: bytes) -> Answer:
        """Return the answer to a request; an error that a client can mend is one with status 4xx."""
        try:
            return self._answer(question, body)
        except RequestError as error:
            return Answer.error(error.status, error.text)
        except MixkernError as error:
            return Answer.error(400, error.text)
        except MemoryError:
            return Answer.error(503, NO_MEMORY)

    def _answer(self, question: Question, body: bytes) -> Answer:
        by_column = False
        if question.given == ARROW:
            table = read_arrow(body, self._names, self._most_rows)
        else:
            table, by_column = read_json(body, self._columns, self._most_rows)
        found, notes = self._assessed(table, question)
        if question.wanted == ARROW:
            return Answer(200, ARROW, arrow_bytes(found, notes), table.num_rows)
        predictions = jsonable(found.to_pydict() if by_column else found.to_pylist())
        return Answer(200, JSON, _json({"predictions": predictions, "notes": notes}), table.num_rows)

    def _assessed(self, table: Any, question: Question) -> tuple[Any, list[str]]:
        """Return the predictions, and the warnings of the library."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = self._model.assess(table, all_classes=question.all_classes, abstain=question.abstain)
        messages = [each.message for each in caught if isinstance(each.message, MixkernWarning)]
        notes = [each.text for each in messages if not isinstance(each, ColumnNamesWarning)]
        return found, notes


def served_columns(model: Any) -> tuple[TableColumn, ...]:
    """Return the columns of a model that can be served, or raise an error."""
    encoder = getattr(model, "encoder_", None)
    if not isinstance(model, MixtureClassifier) or encoder is None:
        kind = f"{type(model).__name__}{' for encoded rows' * isinstance(model, MixtureClassifier)}"
        raise ModelFileError(
            f"Only a classifier that was fitted on a table can be served, but this is a {kind}.",
            hint=hint(python="Fit a MixtureSVC on a frame, and save it.", cli=f"This writes a model: {FIT}"),
        )
    return tuple(encoder.columns_)


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
