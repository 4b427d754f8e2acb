"""The journal of a labelling session: an SQLite file of labels, skips, undos and renamed classes, never changed."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from threading import RLock
from typing import Any

from mixkern.errors import JournalError, hint

FORMAT = 2
READ_FORMATS = ("1", "2")  # events of format 1 have no column renames
MAGIC = "mixkern labels"
WAIT_S = 30.0  # for another process that is writing
SUFFIX = ".labels"

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    user TEXT NOT NULL,
    action TEXT NOT NULL,
    request TEXT NOT NULL,
    row_key TEXT NOT NULL DEFAULT '',
    row INTEGER NOT NULL DEFAULT -1,
    label TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    seconds REAL,
    undoes TEXT NOT NULL DEFAULT '',
    renames TEXT NOT NULL DEFAULT '',
    UNIQUE (user, request, row_key)
) STRICT;
CREATE TABLE estimate (
    n_labels INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    value REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL
) STRICT;
"""


class Action(StrEnum):
    """What an event of the journal records."""

    LABEL = "label"
    SKIP = "skip"  # perhaps later
    UNSURE = "unsure"  # the person cannot tell
    UNDO = "undo"  # of all events of an earlier request
    CLASS = "class"  # a new class, which has no label yet
    RENAME = "rename"  # of a class: all its labels have another name from now on


ANSWERS = (Action.LABEL, Action.SKIP, Action.UNSURE)


class Source(StrEnum):
    """How a row came to be labelled."""

    SUGGESTED = "suggested"
    RANDOM = "random"  # drawn from all rows without a label
    CHOSEN = "chosen"  # by the person: on the map, in a list
    SECOND = "second"  # another person has labelled it before
    COMPONENT = "component"  # with many others of its component
    SELECTION = "selection"  # with others that were selected on the map
    TYPED = "typed"  # in a table that was merged


@dataclass(frozen=True, kw_only=True)
class Event:
    """One row of the journal.

    Attributes
    ----------
    user : str
        Who.
    action : Action
        What was done.
    request : str
        Identifies what a person has sent together: a request that is repeated is recorded once, and undone as a whole.
    row_key, row : str and int
        The row: its content key, and its position when the event was recorded.
    label : str
        The label, the name of a new class, or the new name of a class.
    source, reason : str
        How the row came to be labelled, and the sentence that was shown.
    seconds : float or None
        How long the person looked at it.
    undoes : str
        The request that is undone.
    renames : str
        The former name of a class that is renamed.
    at : str
        When it was recorded, UTC.
    id : int
        Number in the journal.
    """

    user: str
    action: str
    request: str
    row_key: str = ""
    row: int = -1
    label: str = ""
    source: str = ""
    reason: str = ""
    seconds: float | None = None
    undoes: str = ""
    renames: str = ""
    at: str = ""
    id: int = 0


_STORED = [field.name for field in fields(Event) if field.name != "id"]
_INSERT = (
    f"INSERT INTO event ({', '.join(_STORED)}) VALUES ({', '.join('?' * len(_STORED))}) "  # noqa: S608
    "ON CONFLICT (user, request, row_key) DO NOTHING"
)


@dataclass(frozen=True)
class EstimatePoint:
    """An estimated accuracy and its interval, at a number of labels."""

    n_labels: int
    value: float
    low: float
    high: float


class Journal:
    """An open journal. Events are on disk when :meth:`add` returns.

    Parameters
    ----------
    path : str or Path
        The file; it is created where there is none.
    read_only : bool, default=False
        Whether to read a file that exists: nothing is written, and the right to write it is not needed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Journal(f"{folder}/a.labels") as journal:
    ...     event = Event(user="anna", action="label", request="1", row_key="x", row=0, label="yes")
    ...     journal.add([event]), journal.add([event]), [each.label for each in journal.events()]
    (1, 0, ['yes'])
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self._lock = RLock()
        is_new = not self.path.exists()
        if is_new and read_only:
            raise JournalError(f"There is no {self.path.name}.", hint=hint(cli="Next: mixkern label TABLE"))
        if is_new and not self.path.absolute().parent.is_dir():
            raise JournalError(f"{self.path.name} cannot be written: there is no folder {str(self.path.parent)!r}.")
        try:
            self._connection = sqlite3.connect(
                _address(self.path, read_only=read_only),
                uri=True,
                timeout=WAIT_S,
                isolation_level=None,
                check_same_thread=False,
            )
            self._open(read_only=read_only)
        except sqlite3.Error as error:
            raise JournalError(f"{self.path.name} cannot be read as a journal of labels: {error}.") from error

    def _open(self, *, read_only: bool) -> None:
        """Create the tables, or check that the file is a journal."""
        run = self._connection.execute
        has_tables = run("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
        if has_tables or read_only:
            names = {name for (name,) in run("SELECT name FROM sqlite_master")}
            kind = dict(run("SELECT name, value FROM meta")) if {"meta", "event", "estimate"} <= names else {}
            if kind.get("kind") != MAGIC:
                raise JournalError(f"{self.path.name} is an SQLite file, but no journal of labels. Name another file.")
            if kind.get("format") not in READ_FORMATS:
                raise JournalError(
                    f"{self.path.name} has format {kind.get('format')}, but this version of mixkern reads formats "
                    f"up to {FORMAT}. Install the version that has written it, or a later one."
                )
        if read_only:
            return
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")  # what is recorded survives a loss of power, too
        if not has_tables:
            with self._transaction():
                if not run("SELECT count(*) FROM sqlite_master").fetchone()[0]:  # another process may have been first
                    for statement in filter(str.strip, _SCHEMA.split(";")):
                        run(statement)
                    self._connection.executemany(
                        "INSERT INTO meta VALUES (?, ?)", [("kind", MAGIC), ("format", str(FORMAT))]
                    )

    def _upgrade(self) -> None:
        """Bring an older file to the present format; called when it is written, so that reading changes nothing."""
        if self.meta()["format"] == str(FORMAT):
            return
        self._connection.execute("ALTER TABLE event ADD COLUMN renames TEXT NOT NULL DEFAULT ''")
        self._connection.execute("UPDATE meta SET value = ? WHERE name = 'format'", (str(FORMAT),))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException as error:
                if self._connection.in_transaction:  # SQLite itself has rolled back where the disk is full
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise JournalError(f"{self.path.name} cannot be written: {error}. Nothing was recorded.") from error
                raise

    def add(self, events: Iterable[Event]) -> int:
        """Record events, all or none; return how many were new."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        rows = [[getattr(event, name) if name != "at" else event.at or at for name in _STORED] for event in events]
        with self._transaction():
            self._upgrade()
            before = self._connection.total_changes
            self._connection.executemany(_INSERT, rows)
            return self._connection.total_changes - before

    def events(self, after: int = 0) -> list[Event]:
        """Return the events with larger numbers than ``after``, in their order."""
        return self._found("SELECT * FROM event WHERE id > ? ORDER BY id", after)

    def of_request(self, user: str, request: str) -> list[Event]:
        """Return the events of one request of a person."""
        return self._found("SELECT * FROM event WHERE user = ? AND request = ? ORDER BY id", user, request)

    def _found(self, query: str, *values: Any) -> list[Event]:
        """Return the events of a query; columns that an older file does not have keep their presets."""
        with self._lock:
            cursor = self._connection.execute(query, values)
            names = [column[0] for column in cursor.description]
            return [Event(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]

    def meta(self) -> dict[str, str]:
        """Return facts about the session: target, table, columns of the content keys."""
        with self._lock:
            return dict(self._connection.execute("SELECT name, value FROM meta"))

    def set_meta(self, **values: str) -> None:
        """Record facts about the session."""
        with self._transaction():
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def add_estimate(self, point: EstimatePoint) -> None:
        """Record an estimated accuracy; one for each number of labels."""
        at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        with self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO estimate VALUES (?, ?, ?, ?, ?)",
                (point.n_labels, at, point.value, point.low, point.high),
            )

    def estimates(self) -> list[EstimatePoint]:
        """Return the recorded estimates by number of labels."""
        with self._lock:
            found: Sequence[Any] = self._connection.execute(
                "SELECT n_labels, value, low, high FROM estimate ORDER BY n_labels"
            ).fetchall()
        return [EstimatePoint(*row) for row in found]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _address(path: Path, *, read_only: bool) -> str:
    """Return the address by which SQLite opens a file.

    A file is read in mode rw where that is possible, because SQLite then removes its own files beside it at the end.
    Where it cannot be written, and no other process has written since the last complete state, it is taken as it is.
    """
    found = path.absolute().as_uri()
    if not read_only:
        return found
    if os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK):
        return f"{found}?mode=rw"
    has_log = path.with_name(f"{path.name}-wal").exists()
    return f"{found}?mode=ro" if has_log else f"{found}?immutable=1"
