"""Where results are kept, one by one, so that nothing is lost and nothing is computed twice.

One SQLite file. A cell (data set, fold, method) is written in one transaction once it is done: a run that is killed at
any moment loses the cell in work and no other, and the next run goes on behind it.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from mixkern.density import Mixture
from mixkern.errors import StudyError
from mixkern.search import SearchTrial
from mixkern_study.database import Database, equal, marks


@dataclass(frozen=True, kw_only=True)
class Result:
    """One machine on one test fold, by one reading.

    Attributes
    ----------
    experiment, data_set, fold, repeat, method, reading
        Which one it is; ``repeat`` counts draws of labels.
    accuracy : float
        Share of right labels on the test fold.
    n_labelled, n_support : int
        Labels, and support vectors of the machine; -1 for machines that have none.
    C, gamma, alpha, beta, ratio : float
        The chosen settings; NaN where there is no such thing.
    density : str
        Which density; empty for methods without.
    n_components : int
        Of the density.
    rated_error : float
        What the choice was made by.
    n_trials : int
        Settings that were tried.
    smallest_eigenvalue, negative_mass : float
        Of the kernel matrix among labelled rows (at most 2,000 of them); NaN where nobody asked.
    search_s, building_s, training_s, testing_s : float
        Seconds: all trials; the kernel matrix; the machine; the predictions.
    seed : int
        Of the draw of labels.
    """

    experiment: int
    data_set: str
    fold: int
    repeat: int
    method: str
    reading: str
    accuracy: float
    n_labelled: int
    n_support: int = -1
    C: float = float("nan")
    gamma: float = float("nan")
    alpha: float = float("nan")
    beta: float = float("nan")
    ratio: float = float("nan")
    density: str = ""
    n_components: int = 0
    rated_error: float = float("nan")
    n_trials: int = 0
    smallest_eigenvalue: float = float("nan")
    negative_mass: float = float("nan")
    search_s: float = 0.0
    building_s: float = 0.0
    training_s: float = 0.0
    testing_s: float = 0.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Run-times of one fold, in seconds, as the paper's table has them.

    Attributes
    ----------
    data_set, fold, method
        Which; of method ``"density"`` there is only ``building_s``, the estimation of the model, and of
        ``"rbf_kernel"`` (scikit-learn's function on the same rows) as well.
    n_rows, n_labelled, n_test : int
        Rows of the kernel matrix, labels, and unlabelled rows that are predicted.
    building_s, training_s, testing_s : float
        The kernel matrix among all training rows (of a bent kernel: the graph and the base kernel of all, and the
        matrix among labelled ones), the machine on a tenth of them, the predictions of the unlabelled others.
    grid_s : float
        All ratios of a bent kernel at one gamma; NaN for others.
    """

    data_set: str
    fold: int
    method: str
    n_rows: int
    n_labelled: int
    n_test: int
    building_s: float
    training_s: float = float("nan")
    testing_s: float = float("nan")
    grid_s: float = float("nan")


@dataclass(frozen=True)
class CellKey:
    """What one cell of an experiment is about."""

    experiment: int
    data_set: str
    fold: int
    repeat: int
    method: str


_RESULT = [field.name for field in fields(Result)]
_TIMING = [field.name for field in fields(Timing)]
_KEY = [field.name for field in fields(CellKey)]
_TRIAL = [field.name for field in fields(SearchTrial) if field.name != "rating"]

_TABLES = f"""
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, started TEXT, host TEXT, versions TEXT, protocol TEXT);
CREATE TABLE IF NOT EXISTS data_set (name TEXT PRIMARY KEY, key TEXT);
CREATE TABLE IF NOT EXISTS density (
    protocol TEXT, data_set TEXT, fold INTEGER, name TEXT, mixture TEXT, seconds REAL, run INTEGER,
    PRIMARY KEY (protocol, data_set, fold, name));
CREATE TABLE IF NOT EXISTS result (
    protocol TEXT, {", ".join(_RESULT)}, run INTEGER, PRIMARY KEY (protocol, {", ".join(_KEY)}, reading));
CREATE TABLE IF NOT EXISTS trial (protocol TEXT, {", ".join(_KEY)}, density TEXT, {", ".join(_TRIAL)});
CREATE TABLE IF NOT EXISTS timing (
    protocol TEXT, {", ".join(_TIMING)}, run INTEGER, PRIMARY KEY (protocol, data_set, fold, method));
CREATE INDEX IF NOT EXISTS trials ON trial (protocol, {", ".join(_KEY)});
"""


class Store(Database):
    """Results of studies in one file.

    Parameters
    ----------
    path : str or Path
        The SQLite file; it is made where there is none.
    protocol : Protocol, default=None
        Whose results are read and written; ``None`` is ``Protocol()``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Store(f"{folder}/paper.sqlite").results()
    []
    """

    tables = _TABLES

    # ---------------------------------------------------------------- writing

    def add_density(self, data_set: str, fold: int, name: str, mixture: Mixture, seconds: float) -> None:
        """Keep a density."""
        row = (self._key, data_set, fold, name, json.dumps(mixture.to_dict()), seconds, self.begin())
        with self._open() as db:
            db.execute(f"INSERT OR REPLACE INTO density VALUES ({marks(len(row))})", row)  # noqa: S608

    def add(self, results: Iterable[Result], trials: Iterable[tuple[CellKey, str, SearchTrial]] = ()) -> None:
        """Keep the results of a cell with all its trials, together or not at all."""
        run = self.begin()
        with self._open() as db:
            for result in results:
                values = [self._key, *(getattr(result, name) for name in _RESULT), run]
                db.execute(f"INSERT OR REPLACE INTO result VALUES ({marks(len(values))})", values)  # noqa: S608
            rows = [
                (self._key, *asdict(key).values(), density, *(getattr(trial, name) for name in _TRIAL))
                for key, density, trial in trials
            ]
            if rows:
                cells = {row[: len(_KEY) + 1] for row in rows}
                db.executemany(f"DELETE FROM trial WHERE protocol = ? AND {equal(_KEY)}", cells)  # noqa: S608
                db.executemany(f"INSERT INTO trial VALUES ({marks(len(rows[0]))})", rows)  # noqa: S608

    def add_timings(self, timings: Iterable[Timing]) -> None:
        """Keep run-times of a fold."""
        run = self.begin()
        with self._open() as db:
            for timing in timings:
                values = [self._key, *(getattr(timing, name) for name in _TIMING), run]
                db.execute(f"INSERT OR REPLACE INTO timing VALUES ({marks(len(values))})", values)  # noqa: S608

    # ---------------------------------------------------------------- reading

    def density(self, data_set: str, fold: int, name: str) -> Mixture | None:
        """Give a density that was kept, None where there is none."""
        sql = "SELECT mixture FROM density WHERE protocol = ? AND data_set = ? AND fold = ? AND name = ?"
        with self._open() as db:
            row = db.execute(sql, (self._key, data_set, fold, name)).fetchone()
        return None if row is None else Mixture.from_dict(json.loads(row[0]))

    def density_names(self) -> set[tuple[str, int, str]]:
        """Give data set, fold and name of all densities."""
        with self._open() as db:
            found = db.execute("SELECT data_set, fold, name FROM density WHERE protocol = ?", (self._key,))
            return {tuple(row) for row in found}

    def done(self) -> set[CellKey]:
        """Give the cells that have results."""
        sql = f"SELECT DISTINCT {', '.join(_KEY)} FROM result WHERE protocol = ?"  # noqa: S608
        with self._open() as db:
            return {CellKey(*row) for row in db.execute(sql, (self._key,))}

    def results(self, **wanted: Any) -> list[Result]:
        """Give results, all of them or those that have some values: ``results(experiment=1, method="rwm")``."""
        strange = [name for name in wanted if name not in _RESULT]
        if strange:
            raise StudyError(f"Results have no {strange[0]!r}; they have {', '.join(_RESULT)}.")
        return [Result(**row) for row in self._rows("result", _RESULT, wanted)]

    def timings(self) -> list[Timing]:
        """Give all run-times."""
        return [Timing(**row) for row in self._rows("timing", _TIMING, {})]

    def trials(self, key: CellKey) -> list[tuple[str, SearchTrial]]:
        """Give all settings that were tried for a cell, each with its density."""
        rows = self._rows("trial", ["density", *_TRIAL], asdict(key))
        return [(row.pop("density"), SearchTrial(**row, rating="validation")) for row in rows]

    def density_seconds(self) -> dict[tuple[str, int, str], float]:
        """Give how long each density took."""
        rows = self._rows("density", ["data_set", "fold", "name", "seconds"], {})
        return {(row["data_set"], row["fold"], row["name"]): row["seconds"] for row in rows}
