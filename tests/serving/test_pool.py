"""Workers that end, hang or do not start, in place of which small scripts run."""

import asyncio
import logging
import sys

import pytest

from mixkern.serving import pool as pool_module
from mixkern.serving.pool import Pool, WorkerLostError

START = """
import json, os, struct, sys
def write(header, body=b""):
    encoded = json.dumps(header).encode()
    sys.stdout.buffer.write(struct.pack("!II", len(encoded), len(body)) + encoded + body)
    sys.stdout.buffer.flush()
def read():
    lengths = sys.stdin.buffer.read(8)
    if len(lengths) < 8:
        sys.exit()
    n, m = struct.unpack("!II", lengths)
    return json.loads(sys.stdin.buffer.read(n)), sys.stdin.buffer.read(m)
"""
ECHO = (
    START
    + """
write({"ready": True})
while True:
    header, body = read()
    if header.get("die"):
        os._exit(9)
    if header.get("sleep"):
        import time; time.sleep(60)
    write({"pid": os.getpid(), **header}, body)
"""
)


def run(work, script=ECHO, n_workers=1):
    """Run a coroutine with a pool of scripts."""

    async def main():
        pool = Pool("", 0, n_workers)
        pool._command = [sys.executable, "-S", "-c", script]
        pool.start()
        try:
            return await work(pool)
        finally:
            await pool.stop()
            assert pool.n_ready == 0

    return asyncio.run(main())


def test_messages_of_any_size_come_back():
    async def work(pool):
        for n in (0, 1, 70_000, 3_000_000):
            body = bytes(range(256)) * (n // 256) + b"x" * (n % 256)
            header, found = await pool.ask({"n": n}, body)
            assert (header["n"], found) == (n, body)

    run(work)


def test_requests_are_answered_by_all_workers_and_not_mixed_up():
    async def work(pool):
        while pool.n_ready < 3:
            await asyncio.sleep(0.01)
        found = await asyncio.gather(*(pool.ask({"i": i}, str(i).encode()) for i in range(200)))
        assert [(header["i"], body) for header, body in found] == [(i, str(i).encode()) for i in range(200)]
        return {header["pid"] for header, _ in found}

    assert len(run(work, n_workers=3)) > 1


def test_a_request_that_ends_workers_is_an_error_and_others_are_answered(caplog):
    async def work(pool):
        with pytest.raises(WorkerLostError):
            await pool.ask({"die": True}, b"")
        header, _ = await pool.ask({"i": 1}, b"")
        return header["i"], pool.n_ended

    with caplog.at_level(logging.ERROR, "mixkern.web"):
        assert run(work) == (1, pool_module.ATTEMPTS)
    assert all("ended, and is replaced" in each.getMessage() for each in caplog.records)


def test_a_worker_that_is_out_of_time_is_ended_and_its_answer_is_never_seen():
    async def work(pool):
        first, _ = await pool.ask({}, b"")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await pool.ask({"sleep": True}, b"late")
        second, body = await pool.ask({}, b"next")
        assert body == b"next"
        return first["pid"] != second["pid"]

    assert run(work)


def test_a_worker_that_ends_while_it_has_nothing_to_do_is_replaced():
    async def work(pool):
        (first,) = [header["pid"] for header, _ in [await pool.ask({}, b"")]]
        next(iter(pool._workers)).kill()
        header, _ = await pool.ask({}, b"")
        return header["pid"] != first

    assert run(work)


@pytest.mark.slow
def test_a_worker_that_does_not_start_is_tried_again(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(pool_module, "LONGEST_PAUSE_S", 0.01)
    times = tmp_path / "times"
    lines = ["open(path, 'a').write('x')", "if len(open(path).read()) < 2:", "    raise SystemExit(1)"]
    first = "\n".join([f"path = {str(times)!r}", *lines])

    async def work(pool):
        return (await pool.ask({"i": 3}, b""))[0]["i"]

    with caplog.at_level(logging.ERROR, "mixkern.web"):
        assert run(work, first + ECHO) == 3
    assert "did not start" in caplog.records[0].getMessage()


def test_stopping_while_workers_start():
    async def work(pool):
        await asyncio.sleep(0.05)

    run(work, START + "import time; time.sleep(60)", n_workers=2)
