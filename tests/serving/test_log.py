"""The log of requests: lines that can be read by machines, without what is secret, and errors of the disk."""

import json
import logging
import re
from datetime import UTC, datetime, timedelta
from queue import Queue

import pytest

from mixkern.errors import OptionError
from mixkern.serving.log import LONGEST_PATH, ROWS, RequestLog


def scope(**facts):
    return {"method": "POST", "path": "/predict", "client": ("10.0.0.7", 4321), ROWS: 3, **facts}


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_one_line_for_each_request(tmp_path):
    log = RequestLog(tmp_path / "log")
    log.write(scope(query_string=b"secret"), 200, 0.01234)
    log.write({"method": "GET", "path": "/a\nb", "client": None}, 404, 0.0)
    log.close()
    first, second = lines(tmp_path / "log")
    time = datetime.fromisoformat(first.pop("time"))
    assert timedelta(0) <= datetime.now(UTC) - time < timedelta(minutes=5)
    assert first == {
        "method": "POST",
        "path": "/predict",
        "status": 200,
        "rows": 3,
        "milliseconds": 12.3,
        "client": "10.0.0.7",
    }
    assert (second["path"], second["rows"], second["client"]) == ("/a\nb", 0, None)
    assert "secret" not in (tmp_path / "log").read_text()
    log.close()  # once more does nothing


def test_lines_are_appended(tmp_path):
    for status in (200, 400):
        log = RequestLog(str(tmp_path / "log"))
        log.write(scope(), status, 0.0)
        log.close()
    assert [each["status"] for each in lines(tmp_path / "log")] == [200, 400]


def test_standard_error(capsys):
    log = RequestLog("-")
    log.write(scope(), 200, 0.0)
    log.close()
    assert json.loads(capsys.readouterr().err)["status"] == 200


def test_long_paths_and_methods_are_shortened(tmp_path):
    log = RequestLog(tmp_path / "log")
    log.write(scope(path="/" + "x" * 10_000, method="M" * 100), 404, 0.0)
    log.close()
    (line,) = lines(tmp_path / "log")
    assert len(line["path"]) <= LONGEST_PATH
    assert len(line["method"]) <= 20


def test_files_that_cannot_be_written(tmp_path):
    with pytest.raises(OptionError, match=re.escape(f"{tmp_path}, cannot be written: Is a directory. Choose another")):
        RequestLog(tmp_path)
    with pytest.raises(OptionError, match="must be a text or a Path"):
        RequestLog(3)


class Full:
    """A file on a full disk."""

    def __init__(self, file):
        self._file = file

    def write(self, _line):
        raise OSError("no space left on device")

    def close(self):
        self._file.close()


def test_a_full_disk_is_logged_once_and_stops_nothing(tmp_path, caplog):
    log = RequestLog(tmp_path / "log")
    log._file = Full(log._file)
    with caplog.at_level(logging.ERROR, "mixkern.web"):
        for _ in range(3):
            log.write(scope(), 200, 0.0)
        log.close()
    assert [each.getMessage() for each in caplog.records] == [
        "mixkern: the log of requests cannot be written: OSError."
    ]


def test_lines_beyond_the_memory_are_left_out(tmp_path):
    log = RequestLog(tmp_path / "log")
    log._lines = Queue(1)
    log._thread = object()  # writes nothing
    for _ in range(3):
        log.write(scope(), 200, 0.0)
    assert log._lines.qsize() == 1
    log._thread = None
    log.close()
