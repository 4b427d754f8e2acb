"""How many threads to use: as many as the user, the scheduler and the libraries around us allow."""

import functools
import os
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.cache
def _pools() -> Any:
    """Find the thread pools of the libraries in this process, once: finding takes milliseconds, asking does not."""
    return ThreadpoolController()


def available() -> int:
    """Give the smallest of the processors granted, ``OMP_NUM_THREADS`` and threadpoolctl's limits.

    >>> available() >= 1
    True
    """
    limits = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isdecimal():
        limits.append(int(asked))
    limits += [pool["num_threads"] for pool in _pools().info() if pool.get("num_threads")]
    return max(1, min(limits))
