"""A log of requests: one line of JSON for each, without cells, queries and tokens."""

import json
import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from queue import Full, Queue
from threading import Thread
from typing import Any, TextIO

from mixkern.errors import OptionError
from mixkern.validation import as_path
from mixkern.wording import shortened

STANDARD_ERROR = "-"
ROWS = "mixkern.rows"  # in the scope of a request: rows that were predicted
MOST_WAITING = 10_000  # lines in memory; further ones are left out, so that a disk that hangs stops no answer
LONGEST_PATH = 200
CLOSE_S = 5.0  # for lines that wait when the server stops

_log = logging.getLogger("mixkern.web")


class RequestLog:
    """A file to which a thread writes one line of JSON for each request.

    Parameters
    ----------
    place : str or Path
        The file, to which lines are appended; ``"-"`` is standard error.
    """

    def __init__(self, place: str | PathLike[str]) -> None:
        self._file = sys.stderr if place == STANDARD_ERROR else _opened(place)
        self._lines: Queue[str | None] = Queue(MOST_WAITING)
        self._thread: Thread | None = None
        self._is_failing = False

    def write(self, scope: Any, status: int, seconds: float) -> None:
        """Log a request that took some seconds; this only puts a line into a queue."""
        if self._thread is None:
            self._thread = Thread(target=self._work, daemon=True, name="mixkern request log")
            self._thread.start()
        facts = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "method": shortened(scope["method"], 20),
            "path": shortened(scope["path"], LONGEST_PATH),
            "status": status,
            "rows": scope.get(ROWS, 0),
            "milliseconds": round(1000 * seconds, 1),
            "client": (scope.get("client") or [None])[0],
        }
        with suppress(Full):
            self._lines.put_nowait(json.dumps(facts) + "\n")

    def close(self) -> None:
        """Write the lines that wait, and close the file; again, it does nothing."""
        if self._thread is not None:
            with suppress(Full):
                self._lines.put(None, timeout=CLOSE_S)
            self._thread.join(CLOSE_S)
            self._thread = None
        if self._file is not sys.stderr:
            with suppress(OSError):
                self._file.close()

    def _work(self) -> None:
        """Write lines until the end; an error, as on a full disk, is logged once."""
        while (line := self._lines.get()) is not None:
            try:
                self._file.write(line)
                self._file.flush()
                self._is_failing = False
            except (OSError, ValueError) as error:
                if not self._is_failing:
                    _log.error("mixkern: the log of requests cannot be written: %s.", type(error).__name__)
                self._is_failing = True


def _opened(place: str | PathLike[str]) -> TextIO:
    path = as_path(place, OptionError)
    try:
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise OptionError(
            f"The log of requests, {path}, cannot be written: {error.strerror or error}. Choose another file."
        ) from error
