"""Run a pass over the partitions of a table: one task for each, whose results are added up in a fixed tree.

The tree depends on the number of partitions alone, so a sum is the same to the last bit, whatever the number of workers
and the order in which they end. The tasks of a pass have its name, which Dask's dashboard shows.
"""

from asyncio import CancelledError
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from operator import add
from time import perf_counter
from typing import Any
from uuid import uuid4

from mixkern.distributed.execution import LISTENER, Listener, Progress, computed, send_event
from mixkern.errors import MixkernError, PartitionError
from mixkern.imports import optional

FAN_IN = 8  # results that are added up at a time


def total(name: str, parts: Sequence[Any], function: Callable[..., Any], shared: Any, own: Sequence[Any]) -> Any:
    """Apply a function to all partitions, and add up what it gives, from the first partition to the last.

    Parameters
    ----------
    name : str
        Name of the pass.
    parts : sequence of Delayed
        The partitions.
    function : callable
        Takes a partition, ``shared`` and the item of ``own``; gives an object with ``+``, or None for nothing.
    shared : object
        What all partitions need: it is sent to a worker once.
    own : sequence
        What one partition needs.
    """
    dask = optional("dask", purpose="A table in partitions")
    prefix = _key(name)
    level = _tasks(prefix, dict(enumerate(parts)), function, shared, own)
    step = 0
    while len(level) > 1:
        step += 1
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        # Nested lists of Delayed objects are found by Dask.
        level = [
            dask.delayed(_added)(group, dask_key_name=(f"{prefix}-sum-{step}", i)) for i, group in enumerate(groups)
        ]
    return _computed(name, prefix, len(parts), level)[0]


def results(
    name: str, parts: Mapping[int, Any], function: Callable[..., Any], shared: Any, own: Mapping[int, Any]
) -> list[Any]:
    """Apply a function to some partitions, and return what it gives for each, in their order."""
    prefix = _key(name)
    return _computed(name, prefix, len(parts), _tasks(prefix, parts, function, shared, own))


def _key(name: str) -> str:
    return f"mixkern-{name.replace(' ', '-')}-{uuid4().hex}"


def _tasks(prefix: str, parts: Mapping[int, Any], function: Callable[..., Any], shared: Any, own: Any) -> list[Any]:
    dask = optional("dask", purpose="A table in partitions")
    common = dask.delayed(shared, name=f"{prefix}-shared", traverse=False)
    # One task for each partition: it does not stay in memory.
    run = dask.delayed(_applied, pure=False, traverse=False)
    topic = None if LISTENER.get() is None else prefix
    return [run(function, i, part, common, own[i], topic, dask_key_name=(prefix, i)) for i, part in parts.items()]


def _applied(
    function: Callable[..., Any], position: int, part: Any, shared: Any, own: Any, reported_as: str | None = None
) -> Any:
    """Apply a function to one partition, and report that it is done; an error has its number."""
    try:
        found = function(part, shared, own)
    except MixkernError as error:
        raise error.prefixed(f"Partition {position + 1} (counted from 1): ") from error
    if reported_as is not None:
        send_event(reported_as, position)
    return found


def _added(parts: list[Any]) -> Any:
    there = [part for part in parts if part is not None]
    return reduce(add, there) if there else None


@contextmanager
def listening(listener: Callable[[str, float], None], progress: Listener | None = None) -> Iterator[None]:
    """Call a function with the name of each pass at its end, and its duration in seconds.

    Parameters
    ----------
    listener : callable
        Called at the end of each pass with its name and its duration in seconds.
    progress : callable, default=None
        Called when a pass begins and at the end of each of its tasks, with the name of the pass, the number of tasks
        that are done and the number of all. On a cluster, it is called in another thread.

    Examples
    --------
    >>> with listening(lambda name, seconds: print(name)):
    ...     pass
    """
    token, other = _LISTENER.set(listener), LISTENER.set(progress)
    try:
        yield
    finally:
        _LISTENER.reset(token)
        LISTENER.reset(other)


_LISTENER: ContextVar[Callable[[str, float], None]] = ContextVar("_LISTENER", default=lambda _name, _seconds: None)


def _computed(name: str, prefix: str, n_parts: int, tasks: list[Any]) -> list[Any]:
    """Compute the tasks of a pass, report its end, and turn errors of other libraries into sentences."""
    start = perf_counter()
    try:
        found = computed(tasks, Progress(name, prefix, n_parts, LISTENER.get()))
    except MixkernError:
        raise
    except (Exception, CancelledError) as error:  # of the library that reads the partitions, or of the cluster
        raise PartitionError(f"The pass {name!r} over the partitions has failed: {_text(error)}") from error
    _LISTENER.get()(name, perf_counter() - start)
    return found


def _text(error: BaseException) -> str:
    """Return the first line of an error's text, or its class where it has none."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
