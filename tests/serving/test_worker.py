"""The process that predicts: messages in and out, errors that were not expected, and what libraries print."""

import io
import json
import subprocess
import sys

import pytest

from mixkern.serving.request import Question
from mixkern.serving.worker import LENGTHS, _read, message

BROKEN = """
import sys
from mixkern.serving import predictor, worker

def answer(self, question, body):
    print("printed by a library")
    if body == b"fail":
        raise KeyError("secret cell")
    return predictor.Answer(200, "application/json", body)

predictor.Predictor.answer = answer
worker.main(sys.argv[1], 10)
"""


@pytest.mark.parametrize("body", [b"", b"x", bytes(range(256)) * 1000])
def test_messages_are_read_as_they_were_written(body):
    source = io.BytesIO(message({"a": "é"}, body) + message({}))
    assert _read(source) == ({"a": "é"}, body)
    assert _read(source) == ({}, b"")
    assert _read(source) is None


def test_half_a_message_is_the_end():
    whole = message({"a": 1}, b"12345")
    for n in (1, LENGTHS.size, LENGTHS.size + 3, len(whole) - 1):
        try:
            assert _read(io.BytesIO(whole[:n])) is None
        except json.JSONDecodeError:
            pytest.fail(f"{n} bytes were taken for a message")


def replies(output):
    source, found = io.BytesIO(output), []
    while (each := _read(source)) is not None:
        found.append(each)
    return found


@pytest.mark.slow
def test_an_error_that_was_not_expected_is_an_answer_and_one_line(path):
    given = b"".join(message(Question().facts(), body) for body in (b"1", b"fail", b"2"))
    command = [sys.executable, "-c", BROKEN, str(path)]
    done = subprocess.run(command, input=given, capture_output=True, timeout=120, check=True)
    ready, first, failed, last = replies(done.stdout)
    assert ready == ({"ready": True}, b"")
    assert (first[1], last[1]) == (b"1", b"2")
    assert failed[0]["status"] == 500
    assert json.loads(failed[1]) == {"error": "The server failed: KeyError."}
    errors = done.stderr.decode()
    assert errors.count("printed by a library") == 4
    assert "mixkern: a request failed: KeyError (<string>, line " in errors
    assert "Traceback" not in errors
    assert "secret" not in errors


@pytest.mark.slow
def test_the_folder_of_a_server_that_has_ended_is_removed(path, tmp_path):
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "model.mixkern").write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "mixkern.serving.worker", str(folder / "model.mixkern"), "10", str(folder)]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    worker.stdout.close()  # its first answer is not read
    _, errors = worker.communicate(timeout=120)
    assert (worker.returncode, errors) == (0, b"")
    assert not folder.exists()
    assert path.exists()
