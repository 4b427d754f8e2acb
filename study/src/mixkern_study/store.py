"""Records of studies in one SQLite file.

Each call of :meth:`Store.add` is one transaction: a run that is killed loses the cell in work and no other, and the
next run continues from there. Several processes may write at once; they wait for each other.
"""

import json
import os
import platform
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import asdict, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar, cast

from mixkern.density import Mixture
from mixkern_study.protocol import Protocol, StudyError, digest
from mixkern_study.record import (
    CELL,
    FOLDS,
    RECORDS,
    CellKey,
    Entry,
    FoldDensity,
    Record,
    Result,
    Timing,
    Trial,
    columns,
)

LAYOUT = 5
# Files of the paper's experiments and of the leaderboard from before they shared a layout, files with entries that have
# no probabilities, and files whose records have the key of the whole protocol. Columns that their tables lack are
# added, and entries get their present key; results of the paper's experiments are computed again.
EARLIER_LAYOUTS = (160001149, 1150523984, 3, 4)
EARLIER_REVISION = 2  # in the keys of these files
WAIT = 120.0  # seconds for another process to finish its writing
LIBRARIES = ("mixkern", "numpy", "scipy", "scikit-learn", "pandas")

R = TypeVar("R", bound=Record)


class Store:
    """Records of studies in one file.

    Parameters
    ----------
    path : str or Path
        The SQLite file; it is made where there is none.
    protocol : Protocol, default=None
        Whose records are read and written; ``None`` is ``Protocol()``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(f"{folder}/paper.sqlite").results()
    []
    """

    def __init__(self, path: str | Path, protocol: Protocol | None = None) -> None:
        self.path = Path(path)
        self.protocol = Protocol() if protocol is None else protocol
        self._run: int | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Make the tables, where another process has not made them."""
        deadline = monotonic() + WAIT
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            while not self._has_tables():
                if monotonic() > deadline:
                    raise StudyError(f"{self.path} cannot be written: another process has locked it for {WAIT} s.")
                sleep(0.02)
        except (OSError, sqlite3.OperationalError) as error:
            raise StudyError(f"{self.path} cannot be written: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise StudyError(f"{self.path.name} is not a store of results: {error}. Name another file.") from error

    def _has_tables(self) -> bool:
        """Make the tables; False where another process is changing the journal, for which SQLite does not wait."""
        try:
            with self._open() as db:
                # In this order: another process may be making the tables, and sets the layout together with them.
                n_tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                layout = db.execute("PRAGMA user_version").fetchone()[0]
                if layout not in (LAYOUT, *EARLIER_LAYOUTS) and (layout or n_tables):
                    raise StudyError(
                        f"{self.path.name} is a database of something else, or of another version of mixkern. Name "
                        "another file."
                    )
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("BEGIN IMMEDIATE")
                for statement in _TABLES:
                    db.execute(statement)
                _add_columns(db)
                if layout in EARLIER_LAYOUTS:
                    _renew_entry_keys(db)
                db.execute(f"PRAGMA user_version={LAYOUT}")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection whose changes are all kept, or none."""
        with closing(sqlite3.connect(self.path, timeout=WAIT)) as db, db:
            yield db

    # ---------------------------------------------------------------- runs and data sets

    def begin(self) -> int:
        """Return the number of this run, under which versions and host are kept; the first call begins it."""
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

    def with_protocol(self, protocol: Protocol) -> "Store":
        """Return the same file with another protocol; what is added belongs to the same run."""
        other = copy(self)
        other.protocol = protocol
        return other

    def runs(self) -> list[dict[str, Any]]:
        """Return when, where and with which versions the records of this protocol were computed."""
        found: set[int] = set()
        with self._open() as db:
            for kind in RECORDS:
                if kind.is_unique:
                    keys = list(_keys(kind, self.protocol).values())
                    sql = f"SELECT DISTINCT run FROM {kind.table} WHERE {_among('protocol', keys)}"  # noqa: S608
                    found |= {row[0] for row in db.execute(sql, keys)}
            sql = f"SELECT started, host, versions FROM run WHERE {_among('id', found)} ORDER BY id"  # noqa: S608
            rows = db.execute(sql, list(found)).fetchall()
        return [{"started": row[0], "host": json.loads(row[1]), "versions": json.loads(row[2])} for row in rows]

    def add_data_set(self, name: str, key: str) -> None:
        """Keep the key of the table that a name stands for, and refuse another table of the same name."""
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO data_set VALUES (?, ?)", (name, key))
            kept = db.execute("SELECT key FROM data_set WHERE name = ?", (name,)).fetchone()[0]
        if kept != key:
            raise StudyError(
                f"{self.path.name} has results of another table that is called {name!r}. Name another store, or give "
                "the table another name."
            )

    # ---------------------------------------------------------------- records of any kind

    def add(self, *groups: Iterable[Record]) -> None:
        """Keep records, all of them or none; they replace records with the same key."""
        run = self.begin()
        with self._open() as db:
            by_kind: dict[type[Record], list[Record]] = defaultdict(list)
            for group in groups:
                for record in group:
                    by_kind[type(record)].append(record)
            for kind, records in by_kind.items():
                own = _keys(kind, self.protocol)
                keys = {(own[record.scope], *_values(record, kind.key)) for record in records}
                db.executemany(f"DELETE FROM {kind.table} WHERE {_equal(['protocol', *kind.key])}", keys)  # noqa: S608
                end = {"run": run} if kind.is_unique else {}
                names = ["protocol", *columns(kind), *end]
                rows = [(own[record.scope], *_values(record, columns(kind)), *end.values()) for record in records]
                places = ", ".join("?" * len(names))
                db.executemany(f"INSERT INTO {kind.table} ({', '.join(names)}) VALUES ({places})", rows)  # noqa: S608

    def read(self, kind: type[R], **wanted: Any) -> list[R]:
        """Return records of one kind, all of them or those with the given values, in the order of their writing."""
        names = columns(kind)
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise StudyError(f"{kind.__name__} has no {unknown[0]!r}; it has {', '.join(names)}.")
        return [kind(**dict(zip(names, row, strict=True))) for row in self._select(kind, names, wanted)]

    def distinct(self, kind: type[Record], names: Iterable[str]) -> set[tuple[Any, ...]]:
        """Return the distinct values of some columns of all records of one kind."""
        return set(self._select(kind, list(names), {}))

    def count(self, kind: type[Record]) -> int:
        """Return the number of records of one kind."""
        keys = list(_keys(kind, self.protocol).values())
        sql = f"SELECT count(*) FROM {kind.table} WHERE {_among('protocol', keys)}"  # noqa: S608
        with self._open() as db:
            return int(db.execute(sql, keys).fetchone()[0])

    def _select(self, kind: type[Record], names: list[str], wanted: dict[str, Any]) -> list[tuple[Any, ...]]:
        keys = list(_keys(kind, self.protocol).values())
        where = " AND ".join([_among("protocol", keys), *(f"{name} = ?" for name in wanted)])
        sql = f"SELECT {', '.join(names)} FROM {kind.table} WHERE {where} ORDER BY rowid"  # noqa: S608
        with self._open() as db:
            found = db.execute(sql, (*keys, *wanted.values())).fetchall()
        nan = float("nan")  # SQLite keeps NaN as NULL
        return [tuple(nan if value is None else value for value in row) for row in found]

    # ---------------------------------------------------------------- records of each kind

    def results(self, **wanted: Any) -> list[Result]:
        """Return results, all of them or those with the given values: ``results(experiment=1, method="rwm")``."""
        return self.read(Result, **wanted)

    def entries(self, **wanted: Any) -> list[Entry]:
        """Return entries, all of them or those with the given values: ``entries(budget=4, method="rwm")``."""
        return self.read(Entry, **wanted)

    def timings(self) -> list[Timing]:
        """Return all run-times."""
        return self.read(Timing)

    def trials(self, cell: CellKey) -> list[Trial]:
        """Return all settings that were tried for a cell."""
        return self.read(Trial, **asdict(cell))

    def done(self) -> set[CellKey]:
        """Return the cells that have results."""
        return {CellKey(*row) for row in self.distinct(Result, CELL)}

    def add_density(self, data_set: str, fold: int, name: str, mixture: Mixture, seconds: float) -> None:
        """Keep a density."""
        text = json.dumps(mixture.to_dict())
        self.add([FoldDensity(data_set=data_set, fold=fold, name=name, mixture=text, seconds=seconds)])

    def density(self, data_set: str, fold: int, name: str) -> Mixture | None:
        """Return a density, None where there is none."""
        found = self.read(FoldDensity, data_set=data_set, fold=fold, name=name)
        return Mixture.from_dict(json.loads(found[0].mixture)) if found else None

    def density_names(self) -> set[tuple[str, int, str]]:
        """Return data set, fold and name of all densities."""
        return self.distinct(FoldDensity, FoldDensity.key)


def host_facts() -> dict[str, Any]:
    """Return the kind of computer, without anything that identifies it."""
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def _keys(kind: type[Record], protocol: Protocol) -> Mapping[str, str]:
    """Return the key of the records of each scope: a digest of the settings that they depend on."""
    return {scope: protocol.key_of(f"{kind.table} {scope}", names) for scope, names in kind.scopes.items()}


def _among(name: str, values: Collection[object]) -> str:
    """Return the SQL condition that a column has one of several values."""
    return f"{name} IN ({', '.join('?' * len(values))})"


def _equal(names: Iterable[str]) -> str:
    """Return the SQL condition that columns have given values."""
    return " AND ".join(f"{name} = ?" for name in names)


def _values(record: Record, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in names)


def _tables(kind: type[Record]) -> list[str]:
    """Return the SQL that makes the table of one kind of record."""
    start = f"CREATE TABLE IF NOT EXISTS {kind.table} (protocol TEXT, {', '.join(columns(kind))}"
    key = f"(protocol, {', '.join(kind.key)})"
    if kind.is_unique:
        return [f"{start}, run INTEGER, PRIMARY KEY {key})"]
    return [f"{start})", f"CREATE INDEX IF NOT EXISTS {kind.table}s ON {kind.table} {key}"]


def _add_columns(db: sqlite3.Connection) -> None:
    """Add the columns that a table of an earlier version lacks, with the default of the field."""
    for kind in RECORDS:
        found = {row[1] for row in db.execute(f"PRAGMA table_info({kind.table})")}
        for field in fields(cast(Any, kind)):
            if field.name not in found:
                default = " DEFAULT ''" if field.default == "" else ""  # NULL is read as NaN
                db.execute(f"ALTER TABLE {kind.table} ADD COLUMN {field.name}{default}")


def _renew_entry_keys(db: sqlite3.Connection) -> None:
    """Give entries of an earlier layout their present key: they do not depend on most settings of the protocol."""
    for (text,) in db.execute("SELECT DISTINCT protocol FROM run").fetchall():
        settings = json.loads(text)
        protocol = Protocol(**{name: settings[name] for name in FOLDS})
        new, old = _keys(Entry, protocol), digest(f"{EARLIER_REVISION} {text}")
        db.execute("UPDATE OR REPLACE entry SET protocol = ? WHERE protocol = ?", (*new.values(), old))


_TABLES = [
    "CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, started, host, versions, protocol)",
    "CREATE TABLE IF NOT EXISTS data_set (name TEXT PRIMARY KEY, key TEXT)",
    *(statement for kind in RECORDS for statement in _tables(kind)),
]
