"""The table of an explanation: its lines, and which of its columns are shown."""

from typing import Any

from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.explain.column_contrast import column_contrasts
from mixkern.explain.contributions import By, ExplainedRows, component_contributions, neighbour_contributions, row_names
from mixkern.validation import one_of

_LINES = {By.LABEL: neighbour_contributions, By.COMPONENT: component_contributions, By.COLUMN: column_contrasts}
SHOWN = {  # columns without details; they fit into 80 characters
    By.LABEL: ("row", "label", "source", "neighbour", "its_label", "similarity", "pull"),
    By.COMPONENT: ("row", "label", "source", "component", "responsibility", "weight", "pull"),
    By.COLUMN: ("row", "beside", "number", "column", "value", "other_value", "part"),
}


def explanation_columns(model: Any, X: Any, by: str, n: int | None) -> dict[str, Any]:
    """Return all columns of the explanation of rows by a fitted classifier."""
    lines = _LINES[one_of(By, by, "by")]
    rows = model.rows_of(X)
    return lines(ExplainedRows(model, row_names(X, len(rows)), rows, model.decide(rows)), n)


def explanation_table(model: Any, X: Any, by: str, n: int | None, *, details: bool) -> Any:
    """Return the explanation as a frame of the kind of ``X``: the columns that are shown, or all of them."""
    columns = explanation_columns(model, X, by, n)
    names = columns if details else SHOWN[By(by)]
    return make_frame({name: columns[name] for name in names}, frame_kind(X), purpose="explain")
