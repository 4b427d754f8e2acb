"""Read rows from JSON as an Arrow table, by the types of the model's columns.

JSON has numbers, texts, booleans and null. A column of numbers takes numbers, a column of dates ISO 8601 texts, a
column of durations seconds, and a column of categories texts, numbers and booleans; null is a gap in all of them.
"""

import datetime as dt
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn

from mixkern.encoding import CategoricalColumn, Kind, TextColumn
from mixkern.encoding.cell import number, text
from mixkern.encoding.column import ContinuousColumn
from mixkern.encoding.inference import TableColumn
from mixkern.imports import pa
from mixkern.serving.request import RequestError
from mixkern.wording import counted, listing, nearest, shortened, shown

SHAPE = "a list of rows, or an object with 'rows' or 'columns'"
NAMES = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}


def read_json(body: bytes, columns: Sequence[TableColumn], most_rows: int) -> tuple[Any, bool]:
    """Return the rows of a body as a pyarrow table with the model's columns, and whether it has them as columns.

    Parameters
    ----------
    body : bytes
        A list of objects, ``{"rows": [...]}`` or ``{"columns": {...}}``.
    columns : sequence of TableColumn
        The columns of the model, in their order; others are left out.
    most_rows : int
        Rows that are allowed.
    """
    given = _rows(_parsed(body))
    known = [column.name for column in columns]
    is_by_column = isinstance(given, dict)
    cells = _columns(given, known, most_rows) if isinstance(given, dict) else _records(given, known, most_rows)
    return pa.table({column.name: _array(column, cells[column.name]) for column in columns}), is_by_column


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except RequestError:
        raise
    except RecursionError:
        raise RequestError("The body is no JSON that can be read: it is nested too deeply.") from None
    except ValueError as error:  # of JSON, of UTF-8 and of numbers with thousands of digits
        raise RequestError(f"The body is no JSON: {shortened(str(error), 200)}.") from None


def _refuse_constant(name: str) -> NoReturn:
    raise RequestError(f"The body is no JSON: {name} is no number. Send null for a gap.")


def _rows(found: Any) -> Any:
    """Return the list of rows, or the dict of columns, of a body."""
    if isinstance(found, list):
        return found
    if not isinstance(found, dict):
        raise RequestError(f"The body must be {SHAPE}, but it is {_name(found)}.")
    if len(found) != 1 or next(iter(found)) not in ("rows", "columns"):
        raise RequestError(f"The body must be {SHAPE}, but it is an object with {shown(list(found)[:5])}.")
    ((key, value),) = found.items()
    kind = list if key == "rows" else dict
    if not isinstance(value, kind):
        raise RequestError(f"{key!r} must be {NAMES[kind]}, but it is {_name(value)}.")
    return value


def check_size(n_rows: int, most_rows: int) -> None:
    """Raise an error for a request without rows, or with too many."""
    if not n_rows:
        raise RequestError("The request has no rows.")
    if n_rows > most_rows:
        raise RequestError(f"The request has {counted(n_rows, 'row')}, and {most_rows:,} are allowed. Send parts.", 413)


def check_columns_sent(given: Collection[str], known: Sequence[str]) -> None:
    """Raise an error for a request that lacks columns of the model; it may have others, in any order."""
    missing = [name for name in known if name not in given]
    if not missing:
        return
    step = f" Add {'it' if len(missing) == 1 else 'them'}; cells of unknown values are null."
    others = [name for name in given if name not in known]
    raise RequestError(
        f"The request lacks {counted(len(missing), 'column')} that the model was fitted on: {listing(missing)}."
        f"{nearest(missing[0], others) or step}"
    )


def _records(rows: list[Any], known: list[str], most_rows: int) -> dict[str, list[Any]]:
    """Return the cells of rows by column; each row must have all columns."""
    check_size(len(rows), most_rows)
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise RequestError(f"A row must be an object with column names, but {{row}} is {_name(row)}.", row=i)
    check_columns_sent(rows[0], known)
    cells: dict[str, list[Any]] = {}
    for name in known:
        try:
            cells[name] = [row[name] for row in rows]
        except KeyError:
            i = next(i for i, row in enumerate(rows) if name not in row)
            raise RequestError(f"{{row}} has no column {name!r}. Send null for a gap.", row=i) from None
    return cells


def _columns(columns: dict[str, Any], known: list[str], most_rows: int) -> dict[str, list[Any]]:
    """Return the cells of columns, which must be lists of the same length."""
    check_columns_sent(columns, known)
    for name in known:
        if not isinstance(columns[name], list):
            raise RequestError(f"Column {name!r} must be a list of cells, but it is {_name(columns[name])}.")
    n_rows = len(columns[known[0]])
    for name in known:
        if len(columns[name]) != n_rows:
            first, other = counted(n_rows, "cell"), counted(len(columns[name]), "cell")
            raise RequestError(
                f"Columns must be of the same length, but {known[0]!r} has {first} and {name!r} {other}."
            )
    check_size(n_rows, most_rows)
    return {name: columns[name] for name in known}


# ---------------------------------------------------------------- cells


def _array(column: TableColumn, cells: list[Any]) -> Any:
    """Return the cells of a column as an Arrow array of the type that the model reads."""
    if isinstance(column, TextColumn):
        return _texts(column.name, _read(column.name, cells, _text, "a text"))
    if isinstance(column, CategoricalColumn) or not column.n_values:
        return _texts(column.name, _read(column.name, cells, _category, "a text, a number or a boolean"))
    if column.spelling is not None and any(isinstance(cell, str) for cell in cells):
        return _texts(column.name, _read(column.name, cells, _text, "a text, as in the other rows"))
    if column.kind is Kind.DATE:
        wanted = "a date as text, such as '2024-05-31' or '2024-05-31T12:00:00'"
        return pa.array(_read(column.name, cells, _date, wanted), pa.timestamp("us"))
    if column.kind is Kind.DURATION:
        return pa.array(_read(column.name, cells, _duration, "a number of seconds"), pa.duration("us"))
    return pa.array(_read(column.name, cells, _number, "a number"), pa.float64())


def _read(name: str, cells: list[Any], convert: Callable[[Any], Any], wanted: str) -> list[Any]:
    """Convert all cells but gaps; raise an error that names column, row and cell for the first that is of no use."""
    found = []
    for i, cell in enumerate(cells):
        value = None if cell is None else convert(cell)
        if value is None and cell is not None:
            shown_cell = _name(cell) if isinstance(cell, (dict, list)) else shortened(json.dumps(cell))
            raise RequestError(f"Column {name!r} must hold {wanted}, but {{row}} holds {shown_cell}.", row=i)
        found.append(value)
    return found


def _texts(name: str, cells: list[str | None]) -> Any:
    try:
        return pa.array(cells, pa.large_string())
    except UnicodeEncodeError:  # a half of a surrogate pair, which JSON can escape
        i = next(i for i, cell in enumerate(cells) if cell is not None and not _is_unicode(cell))
        raise RequestError(f"Column {name!r} holds a text in {{row}} that is no valid Unicode.", row=i) from None


def _is_unicode(cell: str) -> bool:
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _number(cell: Any) -> float | None:
    return number(cell) if isinstance(cell, (int, float)) and not isinstance(cell, bool) else None


def _text(cell: Any) -> str | None:
    return cell if isinstance(cell, str) else None


def _category(cell: Any) -> str | None:
    return text(cell) if isinstance(cell, (str, int, float)) else None


def _date(cell: Any) -> dt.datetime | None:
    """Return a date in UTC; one without a time zone is taken as UTC."""
    try:
        found = dt.datetime.fromisoformat(cell) if isinstance(cell, str) else None
        return found.astimezone(dt.UTC).replace(tzinfo=None) if found is not None and found.tzinfo else found
    except (ValueError, OverflowError):
        return None


def _duration(cell: Any) -> dt.timedelta | None:
    seconds = _number(cell)
    try:
        return None if seconds is None else dt.timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None


def _name(value: Any) -> str:
    return "null" if value is None else NAMES.get(type(value), "another value")


def json_kind(column: TableColumn) -> str:
    """Return what the cells of a column are in JSON.

    >>> json_kind(CategoricalColumn("smoker", Kind.BOOLEAN, ("False", "True")))
    'boolean'
    """
    if isinstance(column, TextColumn):
        return "text"
    if isinstance(column, CategoricalColumn):
        return "boolean" if column.kind is Kind.BOOLEAN else "category"
    if not column.n_values:
        return "not used: empty at fit time"
    kinds: Mapping[Kind, str] = {Kind.DATE: "date", Kind.DURATION: "seconds"}
    return kinds.get(column.kind, "number")


def example_cell(column: TableColumn) -> Any:
    """Return a typical cell of a column, as it is in JSON."""
    if isinstance(column, TextColumn):
        return f"{column.ngrams[0].strip()} ..."
    if isinstance(column, CategoricalColumn):
        first = column.categories[0] if column.categories else None
        return first == "True" if column.kind is Kind.BOOLEAN and first is not None else first
    assert isinstance(column, ContinuousColumn)  # the only other kind
    if not column.n_values:
        return None
    middle = column.origin + column.mean
    if column.kind is Kind.DATE:
        return (dt.date(1970, 1, 1) + dt.timedelta(days=round(middle))).isoformat()
    if column.kind is Kind.DURATION:
        return round(middle * 86_400, 3)
    return float(f"{middle:.4g}") if column.kind is Kind.NUMBER or abs(middle) >= 1e15 else round(middle)
