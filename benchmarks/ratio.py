"""Times, and ratios of times."""

import statistics
import time
from collections.abc import Callable


def seconds(call: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratio(ours: Callable[[], object], peer: Callable[[], object], repeats: int = 5) -> float:
    """Give the median of our time over the peer's, in alternating repeats, so that other load slows both."""
    ours(), peer()  # the first use of memory and caches is not counted
    return statistics.median(seconds(ours) / seconds(peer) for _ in range(repeats))
