"""Entries of the leaderboard, and the file that keeps them: one transaction each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from mixkern.errors import StudyError
from mixkern_study.database import Database, marks
from mixkern_study.leaderboard.label_draw import Deal


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One method with one handful of labels.

    Attributes
    ----------
    data_set, budget, choice, draw, method
        Which one it is; see :class:`Deal`.
    settings : str
        Of the method, all of them.
    accuracy, balanced_accuracy : float
        On the test fold: the share of right labels, and its mean over the classes of the fold. Those of the most
        frequent label, where the method has failed.
    n_labelled, n_seen : int
        Labels, and how many classes are among them.
    structure_s, learning_s : float
        Seconds of one core: for what needs no label, and for fit and predict.
    error : str
        Why the method has failed; empty where it has not.
    seed : int
        Of the labels.
    """

    data_set: str
    budget: int
    choice: str
    draw: int
    method: str
    settings: str
    accuracy: float
    balanced_accuracy: float
    n_labelled: int
    n_seen: int
    structure_s: float
    learning_s: float
    error: str = ""
    seed: int = 0

    @property
    def deal(self) -> Deal:
        """The labels."""
        return Deal(self.budget, self.choice, self.draw)

    @property
    def seconds(self) -> float:
        """One fit from nothing: structure, fit, predict."""
        return self.structure_s + self.learning_s


_ENTRY = [field.name for field in fields(Entry)]

_TABLES = f"""
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, started TEXT, host TEXT, versions TEXT, protocol TEXT);
CREATE TABLE IF NOT EXISTS data_set (name TEXT PRIMARY KEY, key TEXT);
CREATE TABLE IF NOT EXISTS entry (
    protocol TEXT, {", ".join(_ENTRY)}, run INTEGER,
    PRIMARY KEY (protocol, data_set, budget, choice, draw, method));
"""


class LeaderboardStore(Database):
    """Entries of a leaderboard in one file.

    Parameters
    ----------
    path : str or Path
        The SQLite file; it is made where there is none.
    protocol : Protocol, default=None
        Number of folds and seed; ``None`` is ``Protocol()``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LeaderboardStore(f"{folder}/leaderboard.sqlite").entries()
    []
    """

    tables = _TABLES

    def add(self, entries: Iterable[Entry]) -> None:
        """Keep entries, together or not at all; those of the same labels and method are replaced."""
        run = self.begin()
        rows = [(self._key, *(getattr(entry, name) for name in _ENTRY), run) for entry in entries]
        with self._open() as db:
            db.executemany(f"INSERT OR REPLACE INTO entry VALUES ({marks(len(_ENTRY) + 2)})", rows)  # noqa: S608

    def entries(self, **wanted: Any) -> list[Entry]:
        """Give entries, all of them or those that have some values: ``entries(budget=4, method="rwm")``."""
        strange = [name for name in wanted if name not in _ENTRY]
        if strange:
            raise StudyError(f"Entries have no {strange[0]!r}; they have {', '.join(_ENTRY)}.")
        return [Entry(**row) for row in self._rows("entry", _ENTRY, wanted)]

    def done(self, settings: Mapping[str, str]) -> set[tuple[str, Deal, str]]:
        """Give data set, labels and method of the entries whose method had these settings, by its name."""
        names = ["data_set", "budget", "choice", "draw", "method", "settings"]
        return {
            (row["data_set"], Deal(row["budget"], row["choice"], row["draw"]), row["method"])
            for row in self._rows("entry", names, {})
            if settings.get(row["method"]) == row["settings"]
        }

    def count(self) -> int:
        """Give the number of entries."""
        with self._open() as db:
            sql = "SELECT count(*) FROM entry WHERE protocol = ?"
            return int(db.execute(sql, (self._key,)).fetchone()[0])
