"""Threads for blocks of rows, and none for the matrix products within a block."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from mixkern.engine.threads import available


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads; until it is given back, linear algebra keeps to one thread."""
    n_threads = available()  # asked before the limit is set, because it heeds limits
    with _SingleThreadedAlgebra.shared(), ThreadPoolExecutor(n_threads) as pool:
        yield pool


class _SingleThreadedAlgebra:
    """A limit that belongs to the whole process: the first of several fits sets it, the last one lifts it."""

    _lock = Lock()
    _n_users = 0
    _limit: Any = None

    @classmethod
    @contextmanager
    def shared(cls) -> Iterator[None]:
        with cls._lock:
            cls._n_users += 1
            if cls._n_users == 1:
                cls._limit = _libraries().limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with cls._lock:
                cls._n_users -= 1
                if cls._n_users == 0:
                    cls._limit.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    """Look for the libraries once: it takes as long as a few iterations on a small table."""
    return ThreadpoolController()
