"""Threads for blocks of rows, and none for the matrix products within a block."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, Thread
from typing import Any

from threadpoolctl import ThreadpoolController

from mixkern.engine.threads import available


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads; until it is given back, linear algebra keeps to one thread."""
    n_threads = available()  # asked before the limit is set, because it heeds limits
    with single_threaded_algebra(), ThreadPoolExecutor(n_threads) as pool:
        yield pool


@contextmanager
def single_threaded_algebra() -> Iterator[None]:
    """Keep linear algebra to one thread: a limit of the whole process, so the first sets it and the last lifts it."""
    with _LOCK:
        _USERS.append(None)
        if len(_USERS) == 1:
            _in_passing(lambda: _LIMITS.append(_libraries().limit(limits=1, user_api="blas")))
    try:
        yield
    finally:
        with _LOCK:
            _USERS.pop()
            if not _USERS:
                _in_passing(lambda: _LIMITS.pop().restore_original_limits())


_LOCK = Lock()
_USERS: list[None] = []
_LIMITS: list[Any] = []


def _in_passing(work: Callable[[], object]) -> None:
    """Work in a thread that ends at once: threadpoolctl heeds nobody else while a thread lives that has set a limit."""
    passing = Thread(target=work)
    passing.start()
    passing.join()


@cache
def _libraries() -> ThreadpoolController:
    """Look for the libraries once: it takes as long as a few iterations on a small table."""
    return ThreadpoolController()
