"""Threads: their number, a pool of them, and linear algebra in a single thread."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, Thread
from typing import Any

from threadpoolctl import ThreadpoolController


def available_threads() -> int:
    """Return the number of threads to use.

    It is the smallest of the processors of this process, ``OMP_NUM_THREADS`` and the limits set by threadpoolctl.

    >>> available_threads() >= 1
    True
    """
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if wanted.isdecimal():
        limits.append(int(wanted))
    limits += [pool["num_threads"] for pool in _libraries().info() if pool.get("num_threads")]
    return max(1, min(limits))


class ThreadPool(ThreadPoolExecutor):
    """A pool of threads with their number, for functions that start threads of their own.

    An error or Ctrl-C within its context ends it without the tasks that have not begun.
    """

    def __init__(self, n_threads: int) -> None:
        super().__init__(n_threads)
        self.n_threads = n_threads

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(wait=True, cancel_futures=kind is not None)


@contextmanager
def thread_pool() -> Iterator[ThreadPool]:
    """Open a pool of all available threads; while it is open, linear algebra uses one thread."""
    n_threads = available_threads()  # before the limit on linear algebra, which would lower it
    with single_threaded_algebra(), ThreadPool(n_threads) as pool:
        yield pool


@contextmanager
def single_threaded_algebra() -> Iterator[None]:
    """Limit linear algebra to one thread.

    The limit holds for the whole process: of several contexts open at the same time, the first one sets it and the last
    one lifts it.
    """
    with _LOCK:
        _USERS.append(None)
    try:
        with _LOCK:
            if not _LIMITS:
                _in_short_thread(lambda: _LIMITS.append(_libraries().limit(limits=1, user_api="blas")))
        yield
    finally:
        with _LOCK:
            _USERS.pop()
            if _LIMITS and not _USERS:
                _in_short_thread(lambda: _LIMITS.pop().restore_original_limits())


_LOCK = Lock()
_USERS: list[None] = []
_LIMITS: list[Any] = []


def _in_short_thread(work: Callable[[], object]) -> None:
    """Run work in a thread that ends at once.

    While the thread that has set a limit is alive, threadpoolctl ignores limits set by other threads.
    """
    thread = Thread(target=work)
    thread.start()
    thread.join()


@cache
def _libraries() -> ThreadpoolController:
    """Find the thread pools of the libraries in this process, once: it takes milliseconds."""
    return ThreadpoolController()
