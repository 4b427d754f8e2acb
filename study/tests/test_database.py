"""A file of a known layout, whoever opens it first."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from mixkern.errors import StudyError
from mixkern_study import LeaderboardStore, Store
from mixkern_study.database import Database, equal, layout_of, marks


class Notes(Database):
    tables = """
    CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, started TEXT, host TEXT, versions TEXT, protocol TEXT);
    CREATE TABLE IF NOT EXISTS data_set (name TEXT PRIMARY KEY, key TEXT);
    CREATE TABLE IF NOT EXISTS note (protocol TEXT, text TEXT, size REAL);
    """


def test_rows_come_back_and_gaps_are_nan(tmp_path):
    notes = Notes(tmp_path / "n.sqlite")
    with notes._open() as db:
        db.execute(f"INSERT INTO note VALUES ({marks(3)})", (notes.protocol.key, "a", None))
        db.execute("INSERT INTO note VALUES ('of another protocol', 'b', 1.0)")
    (row,) = notes._rows("note", ["text", "size"], {"text": "a"})
    assert row["text"] == "a"
    assert row["size"] != row["size"]
    assert equal(["text"]) == "text = ?"


def test_a_change_that_fails_leaves_nothing(tmp_path):
    notes = Notes(tmp_path / "n.sqlite")
    with pytest.raises(sqlite3.OperationalError), notes._open() as db:  # the second of two statements is wrong
        list(map(db.execute, ["INSERT INTO note VALUES ('', 'lost', 1.0)", "INSERT INTO nowhere VALUES (1)"]))
    with notes._open() as db:
        assert db.execute("SELECT count(*) FROM note").fetchone() == (0,)


def test_stores_of_different_kinds_refuse_each_other(tmp_path):
    Store(tmp_path / "paper.sqlite")
    with pytest.raises(StudyError, match="a database of something else"):
        LeaderboardStore(tmp_path / "paper.sqlite")


def test_the_layout_is_written_with_the_tables(tmp_path):
    path = Notes(tmp_path / "n.sqlite").path
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (layout_of(Notes.tables),)
    db.close()


def test_many_may_be_the_first(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: Notes(tmp_path / f"{i // 8}.sqlite"), range(64)))
    assert len(made) == 64


def test_files_of_earlier_versions_are_still_read():
    assert layout_of(Store.tables) == 160001149
