"""Processes that predict, as the server sees them: started, asked, and replaced when they end."""

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mixkern.serving.worker import LENGTHS, message
from mixkern.threads import available_threads

ATTEMPTS = 3  # processes that are asked, if they end while they compute an answer
START_S = 120.0  # for a process to read its model
STOP_S = 2.0
LONGEST_PAUSE_S = 30.0  # before a process is started again that did not start

_log = logging.getLogger("mixkern.web")


class WorkerLostError(Exception):
    """A process has ended before it has answered."""


class Worker:
    """A process that predicts, one request at a time."""

    def __init__(self, process: Process) -> None:
        self.process = process

    @classmethod
    async def started(cls, command: Sequence[str], n_threads: int) -> "Worker":
        """Start a process, and wait until it has read its model."""
        own = {"OMP_NUM_THREADS": str(n_threads), "OPENBLAS_NUM_THREADS": str(n_threads)}
        # In a session of its own: Ctrl-C on the terminal is for the server alone.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, start_new_session=True, env={**os.environ, **own}
        )
        worker = cls(process)
        try:
            async with asyncio.timeout(START_S):
                await worker._read()
        except BaseException:
            await worker.end()
            raise
        return worker

    async def ask(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Send a request, and return the answer; raise an error if the process ends before it."""
        assert self.process.stdin is not None  # a pipe
        try:
            self.process.stdin.write(message(header, body))
            await self.process.stdin.drain()
        except OSError as error:
            raise WorkerLostError from error
        return await self._read()

    async def _read(self) -> tuple[dict[str, Any], bytes]:
        assert self.process.stdout is not None  # a pipe
        try:
            n_header, n_body = LENGTHS.unpack(await self.process.stdout.readexactly(LENGTHS.size))
            header = await self.process.stdout.readexactly(n_header)
            return json.loads(header), await self.process.stdout.readexactly(n_body)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise WorkerLostError from error

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            self.process.kill()

    async def end(self) -> None:
        """End the process at once, and wait until it has ended."""
        self.kill()
        await self.process.wait()

    async def stop(self) -> None:
        """Close the input of the process, upon which it ends."""
        assert self.process.stdin is not None  # a pipe
        self.process.stdin.close()
        try:
            async with asyncio.timeout(STOP_S):
                await self.process.wait()
        except TimeoutError:
            await self.end()


class Pool:
    """Processes that predict. A process that ends is replaced, and its request is passed to another one.

    Parameters
    ----------
    path : str
        File of the model.
    most_rows : int
        Rows of a request.
    n_workers : int
        Number of processes.
    folder : str, default=""
        Folder with the copy of the model, which the processes remove when the server has ended; empty for none.

    Attributes
    ----------
    n_ready : int
        Processes that can be asked.
    n_ended : int
        Processes that have ended, and were replaced.
    """

    def __init__(self, path: str, most_rows: int, n_workers: int, folder: str = "") -> None:
        self._command = [sys.executable, "-m", "mixkern.serving.worker", path, str(most_rows), folder]
        self._n_workers = n_workers
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._workers: set[Worker] = set()
        self._keepers: list[asyncio.Task[None]] = []
        self.n_ended = 0

    @property
    def n_ready(self) -> int:
        """Processes that can be asked."""
        return len(self._workers)

    @property
    def processes(self) -> list[int]:
        """Numbers of the processes that can be asked."""
        return [worker.process.pid for worker in self._workers]

    def start(self) -> None:
        """Start all processes; requests wait until one of them is ready."""
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(self._n_workers)]

    async def stop(self) -> None:
        """End all processes."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        await asyncio.gather(*(worker.stop() for worker in self._workers))
        self._workers.clear()

    async def _keep(self) -> None:
        """Start a process, and another one when it ends; wait longer and longer where it does not start."""
        n_threads, pause = max(1, available_threads() // self._n_workers), 1.0
        while True:
            try:
                worker = await Worker.started(self._command, n_threads)
            except (WorkerLostError, TimeoutError, OSError):
                _log.error("mixkern: a worker did not start; the next attempt is in %g s.", pause)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
                continue
            pause = 1.0
            self._workers.add(worker)
            self._idle.put_nowait(worker)
            await worker.process.wait()
            self._workers.discard(worker)
            self.n_ended += 1
            _log.error("mixkern: worker %d ended, and is replaced.", worker.process.pid)

    async def ask(self, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Return the answer of a process; if it ends before, that of another one.

        Raises
        ------
        WorkerLostError
            If several processes have ended with this request.
        """
        for _ in range(ATTEMPTS):
            worker = await self._free()
            try:
                found = await worker.ask(header, body)
            except WorkerLostError:
                worker.kill()
                continue
            except BaseException:  # out of time: its answer must not be taken for that of the next request
                worker.kill()
                raise
            self._idle.put_nowait(worker)
            return found
        raise WorkerLostError

    async def _free(self) -> Worker:
        """Return a process that has nothing to do, and has not ended."""
        while True:
            worker = await self._idle.get()
            if worker.process.returncode is None:
                return worker
