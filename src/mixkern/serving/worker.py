"""A process that predicts: it reads requests from standard input, and writes answers to standard output.

A message has two lengths (4 bytes each), a header as JSON, and a body. The process ends when its input does, so that it
does not outlive the server; it then removes the server's copy of the model, which a server that was killed has left.
Nothing is shared with other requests: a process that is killed costs no more than the request that it computes, which
the server passes to another one.
"""

import json
import os
import shutil
import signal
import struct
import sys
from contextlib import suppress
from typing import Any, BinaryIO

LENGTHS = struct.Struct("!II")


def message(header: dict[str, Any], body: bytes = b"") -> bytes:
    r"""Return the bytes of a message.

    >>> message({"a": 1}, b"xy")
    b'\x00\x00\x00\x08\x00\x00\x00\x02{"a": 1}xy'
    """
    encoded = json.dumps(header).encode()
    return LENGTHS.pack(len(encoded), len(body)) + encoded + body


def _read(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read a message; None at the end of the input."""
    lengths = source.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    n_header, n_body = LENGTHS.unpack(lengths)
    header, body = source.read(n_header), source.read(n_body)
    return (json.loads(header), body) if len(header) == n_header and len(body) == n_body else None


def main(path: str, most_rows: int, folder: str = "") -> None:
    """Answer requests to the model in a file until the input ends, then remove a folder, if one is given."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print must not be taken for an answer
    try:
        _answer_all(path, most_rows, answers)
    except BrokenPipeError:  # the server has ended before the answer
        with suppress(BrokenPipeError):
            answers.close()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _answer_all(path: str, most_rows: int, answers: BinaryIO) -> None:
    """Write an answer to each request until the input ends."""
    from mixkern.io import load
    from mixkern.serving.description import example_body
    from mixkern.serving.predictor import Answer, Predictor
    from mixkern.serving.request import Question

    model = load(path)
    predictor = Predictor(model, most_rows)
    predictor.answer(Question(), example_body(model))  # imports what the first request needs
    answers.write(message({"ready": True}))
    answers.flush()
    while (found := _read(sys.stdin.buffer)) is not None:
        header, body = found
        try:
            answer = predictor.answer(Question(**header), body)
        except Exception as error:
            answer = Answer.error(500, _failed(error))
        facts = {"status": answer.status, "media_type": answer.media_type, "rows": answer.n_rows}
        answers.write(message(facts, answer.body))
        answers.flush()


def _failed(error: Exception) -> str:
    """Log an error that was not expected in one line, and return the text for the client."""
    from mixkern.web.guard import failure, in_one_line

    sys.stderr.write(f"mixkern: a request failed: {in_one_line(error)}\n")
    return failure(error)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
