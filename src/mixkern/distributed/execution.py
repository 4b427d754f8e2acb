"""Compute the tasks of a pass on a Dask cluster or in this process, report how many are done, and end without workers.

On a cluster, each task sends an event when it is done; in this process, Dask's callbacks count them. Neither keeps the
results of tasks in memory. A cluster that has had no worker for the time ``mixkern.worker-timeout`` of Dask's
configuration ends the pass with an error.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Any

from mixkern.errors import OptionError, PartitionError, hint
from mixkern.imports import optional
from mixkern.wording import shown

TOPIC = "mixkern-progress"  # of the events that tasks send
STEP = 1.0  # seconds between two looks at the workers
# Within it, clusters that grow and shrink with their work have started a worker, as a rule.
WORKER_TIMEOUT = ("mixkern.worker-timeout", "5 minutes")
ENVIRONMENT = "DASK_MIXKERN__WORKER_TIMEOUT"  # the same setting, by Dask's rules

Listener = Callable[[str, int, int], None]
LISTENER: ContextVar[Listener | None] = ContextVar("LISTENER", default=None)


@dataclass
class Progress:
    """The tasks of a pass over partitions: their number, and those that are done."""

    name: str
    prefix: str  # of their keys
    n: int
    listener: Listener | None

    def __post_init__(self) -> None:
        self._done: set[int] = set()  # a task that ran twice, because a worker was lost, is counted once
        if self.listener is not None and self.n:
            self.listener(self.name, 0, self.n)

    def end_of(self, prefix: str, position: int) -> None:
        """Count a task that is done."""
        if self.listener is not None and prefix == self.prefix and position not in self._done:
            self._done.add(position)
            self.listener(self.name, len(self._done), self.n)


def computed(tasks: Sequence[Any], progress: Progress) -> list[Any]:
    """Compute tasks on the workers of the present client, or with Dask's default scheduler."""
    if not tasks:
        return []
    dask = optional("dask", purpose="A table in partitions")
    client = _client(dask)
    if client is None:
        with _counted_here(progress):
            return list(dask.compute(*tasks))
    with _counted_by_events(client, progress):
        return _on_cluster(client, tasks, progress.name)


def send_event(prefix: str, position: int) -> None:
    """Send the event that a task is done, from a worker of a cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        worker = distributed.get_worker()
    except ValueError:  # a scheduler in this process
        return
    worker.log_event(TOPIC, {"prefix": prefix, "position": position})


def _client(dask: Any) -> Any:
    """Return the client that Dask would use; None for a scheduler in this process, and within a task of a cluster."""
    distributed, chosen = sys.modules.get("distributed"), dask.config.get("scheduler", None)
    if distributed is None or chosen not in (None, "dask.distributed", "distributed"):
        return None
    try:
        distributed.get_worker()
    except ValueError:
        pass
    else:
        return None  # Dask frees the thread of a task that waits for others
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    return None if client.asynchronous else client


@contextmanager
def _counted_here(progress: Progress) -> Iterator[None]:
    """Count tasks by Dask's callbacks."""
    if progress.listener is None:
        yield
        return
    callbacks = optional("dask.callbacks", purpose="A table in partitions")

    def done(key: Any, *_: Any) -> None:
        if isinstance(key, tuple) and len(key) == 2:
            progress.end_of(*key)

    with callbacks.Callback(posttask=done):
        yield


@contextmanager
def _counted_by_events(client: Any, progress: Progress) -> Iterator[None]:
    """Count tasks by the events that they send."""
    if progress.listener is None:
        yield
        return
    client.subscribe_topic(TOPIC, lambda event: progress.end_of(event[1]["prefix"], event[1]["position"]))
    try:
        yield
    finally:
        client.unsubscribe_topic(TOPIC)


def _on_cluster(client: Any, tasks: Sequence[Any], name: str) -> list[Any]:
    """Wait until all tasks are done or one has failed; Ctrl-C and errors cancel the others."""
    workers = _Workers(client, name)
    futures = client.compute(list(tasks))
    try:
        end, pending = Event(), set(futures)

        def done(future: Any) -> None:  # called in one other thread
            pending.discard(future)
            if not pending or future.status != "finished":
                end.set()

        for future in futures:
            future.add_done_callback(done)
        while not end.wait(STEP):
            workers.check()
        return list(client.gather(futures))
    finally:
        for future in futures:
            future.release()


class _Workers:
    """The workers of a cluster, and since when there have been none."""

    def __init__(self, client: Any, name: str) -> None:
        self._client, self._name, self._limit = client, name, _worker_timeout()
        self._since: float | None = None

    def check(self) -> None:
        """Raise an error where there has been no worker for too long."""
        if self._client.nthreads():
            self._since = None
            return
        self._since = monotonic() if self._since is None else self._since
        if monotonic() - self._since < self._limit:
            return
        setting = WORKER_TIMEOUT[0]
        raise PartitionError(
            f"The pass {self._name!r} over the partitions was ended: the Dask cluster has had no worker for "
            f"{self._limit:g} s.",
            hint=hint(
                python="Start workers, and call it again. To wait longer for them: "
                f'dask.config.set({{"{setting}": "1 hour"}}).',
                cli="Start workers, and run the command again. To wait longer for them, set the environment variable "
                f"{ENVIRONMENT} to a time such as '1 hour'.",
            ),
        )


def _worker_timeout() -> float:
    """Return the number of seconds to wait for a worker, from Dask's configuration."""
    given = optional("dask", purpose="A table in partitions").config.get(*WORKER_TIMEOUT)
    try:
        return float(optional("dask.utils", purpose="A table in partitions").parse_timedelta(given))
    except (KeyError, TypeError, ValueError):
        raise OptionError(
            f"{WORKER_TIMEOUT[0]} in Dask's configuration must be a time such as '1 hour', but it is {shown(given)}."
        ) from None
