"""One SQLite file of a known layout: what all stores of results have in common.

Each change is a transaction of its own, all of it or nothing, so that a run that is killed at any moment loses what it
was at work on and nothing else. Several processes may write: they wait for each other.
"""

import json
import os
import platform
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar
from zlib import crc32

from mixkern.errors import StudyError
from mixkern_study.protocol import Protocol

WAIT = 120.0  # seconds for another process to finish its writing
LIBRARIES = ("mixkern", "numpy", "scipy", "scikit-learn", "pandas")


class Database:
    """A file of results that knows its layout, its runs and its tables of data.

    Subclasses say which tables there are. Two of them must be ``run (id, started, host, versions, protocol)`` and
    ``data_set (name, key)``; all others begin with the column ``protocol``.

    Parameters
    ----------
    path : str or Path
        The file; it is made where there is none.
    protocol : Protocol, default=None
        Whose results are read and written; ``None`` is ``Protocol()``.
    """

    tables: ClassVar[str]  # SQL that makes them; a file made by other SQL is refused

    def __init__(self, path: str | Path, protocol: Protocol | None = None) -> None:
        self.path = Path(path)
        self.protocol = Protocol() if protocol is None else protocol
        self._run: int | None = None
        self._prepare()

    def _prepare(self) -> None:
        own = layout_of(self.tables)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as db:
                # In this order: another process may be making the tables, and makes them with the layout's number.
                n_tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                layout = db.execute("PRAGMA user_version").fetchone()[0]
                if layout != own and (layout or n_tables):
                    raise StudyError(
                        f"{self.path.name} is a database of something else, or of another version of mixkern. Name "
                        "another file."
                    )
                db.execute("PRAGMA journal_mode=WAL")
                db.executescript(f"BEGIN IMMEDIATE; {self.tables}; PRAGMA user_version={own}; COMMIT;")
        except (OSError, sqlite3.OperationalError) as error:
            raise StudyError(f"{self.path} cannot be written: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise StudyError(f"{self.path.name} is not a store of results: {error}. Name another file.") from error

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Give a connection whose changes are all kept, or none."""
        with closing(sqlite3.connect(self.path, timeout=WAIT)) as db, db:
            yield db

    def begin(self) -> int:
        """Begin a run, under whose number versions and host are kept, unless one has begun; give the number."""
        if self._run is None:
            row = (
                datetime.now(UTC).isoformat(timespec="seconds"),
                json.dumps(host_facts()),
                json.dumps({name: version(name) for name in LIBRARIES}),
                self.protocol.to_json(),
            )
            with self._open() as db:
                sql = "INSERT INTO run (started, host, versions, protocol) VALUES (?, ?, ?, ?)"
                self._run = int(db.execute(sql, row).lastrowid or 0)
        return self._run

    def runs(self) -> list[dict[str, Any]]:
        """Give when, where and with what versions results of this protocol were computed."""
        sql = "SELECT started, host, versions FROM run WHERE protocol = ? ORDER BY id"
        with self._open() as db:
            rows = db.execute(sql, (self.protocol.to_json(),)).fetchall()
        return [{"started": row[0], "host": json.loads(row[1]), "versions": json.loads(row[2])} for row in rows]

    def add_data_set(self, name: str, key: str) -> None:
        """Remember which table a name stands for, and refuse another of the same name."""
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO data_set VALUES (?, ?)", (name, key))
            known = db.execute("SELECT key FROM data_set WHERE name = ?", (name,)).fetchone()[0]
        if known != key:
            raise StudyError(
                f"{self.path.name} has results of another table that is called {name!r}. Name another store, or give "
                "the table another name."
            )

    def _rows(self, table: str, names: list[str], wanted: dict[str, Any]) -> list[dict[str, Any]]:
        where = equal(["protocol", *wanted])
        sql = f"SELECT {', '.join(names)} FROM {table} WHERE {where} ORDER BY rowid"  # noqa: S608
        with self._open() as db:
            found = db.execute(sql, (self._key, *wanted.values())).fetchall()
        nan = float("nan")  # SQLite keeps NaN as NULL
        return [{n: nan if v is None else v for n, v in zip(names, row, strict=True)} for row in found]

    @property
    def _key(self) -> str:
        return self.protocol.key


def layout_of(tables: str) -> int:
    """Give the number by which a file says what tables it has."""
    return crc32(tables.encode()) & 0x7FFFFFFF


def host_facts() -> dict[str, Any]:
    """Say what kind of machine this is, and not which one."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def equal(names: Iterable[str]) -> str:
    """Write the condition that columns have given values.

    >>> equal(["fold", "method"])
    'fold = ? AND method = ?'
    """
    return " AND ".join(f"{name} = ?" for name in names)


def marks(n: int) -> str:
    """Write places for n values.

    >>> marks(3)
    '?, ?, ?'
    """
    return ", ".join("?" * n)
