"""How long we take, as a share of what a peer takes."""

import statistics
import time
from collections.abc import Callable


def seconds(call: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def ratio(ours: Callable[[], object], peer: Callable[[], object], repeats: int = 5) -> float:
    """Give the median of our time over the peer's, in interleaved repeats, so that a busy machine slows both."""
    ours(), peer()  # first touch of memory and caches belongs to neither
    return statistics.median(seconds(ours) / seconds(peer) for _ in range(repeats))
