"""Tables on a GPU as a density reads them: checks, sums over columns, random orders and counts of categories.

Sums are computed in float64, some rows at a time, so that temporaries stay small. They are added up in an order that
does not change: results are the same in every run.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mixkern.gpu_array import namespace, on_device, to_host
from mixkern.typing import Floats, RandomState

CELLS = 2**25  # numbers that are held in float64 at a time: 256 MiB
STRIP = 1024  # rows that are added up by themselves: few columns alone would leave most of a GPU idle
COUNTED = 2**16  # rows at a time, of which categories are counted in the type of the table


def column_moments(X: Any, weights: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the weighted count, smallest value, mean above it and squared deviations of each column, without gaps."""
    xp, d = namespace(X), X.shape[1]
    lows = xp.full(d, np.inf)
    for part, _ in _parts(X):
        lows = np.minimum(lows, _reduced(np.where(np.isnan(part), np.inf, part), "min"))
    origins = np.where(np.isfinite(lows), lows, 0.0)  # 0 for a column of gaps
    counts, sums, squares = xp.zeros(d), xp.zeros(d), xp.zeros(d)
    for part, at in _parts(X):
        shares = _shares(part, weights, at)
        counts += _reduced(shares, "sum")
        sums += _reduced(shares * np.nan_to_num(part - origins), "sum")
    means = sums / np.maximum(counts, np.finfo(float).tiny)
    for part, at in _parts(X):
        deviations = np.nan_to_num(part - origins - means)
        squares += _reduced(_shares(part, weights, at) * deviations * deviations, "sum")
    found = [to_host(each, float) for each in (counts, lows, means, squares)]
    return found[0], found[1], found[2], found[3]


def column_counts(X: Any, weights: Any) -> Floats:  # (d,)
    """Count the values of each column, with the weights of their rows."""
    counts = namespace(X).zeros(X.shape[1])
    for part, at in _parts(X):
        counts += _reduced(_shares(part, weights, at), "sum")
    return to_host(counts, float)


def scaled(X: Any, centre: Floats, scale: Floats) -> Any:  # (n, d)
    """Subtract a centre, and divide by a scale, in float64; the result has the type of X."""
    found = namespace(X).empty(X.shape, dtype=X.dtype)
    on_gpu = on_device(centre, np.float64), on_device(scale, np.float64)
    for part, at in _parts(X):
        found[at] = (part - on_gpu[0]) / on_gpu[1]
    return found


def largest(X: Any) -> float:
    """Return the largest absolute value, infinity included; gaps are left out."""
    found = 0.0
    for part, _ in _parts(X):
        found = max(found, float(np.where(np.isnan(part), 0.0, np.abs(part)).max())) if part.size else found
    return found


def random_order(table: Any, random: RandomState) -> Any:  # (n,)
    """Return the positions of all rows of a table in a random order, drawn on its GPU."""
    xp = namespace(table)
    keys = xp.random.RandomState(int(random.randint(2**31))).random_sample(len(table))
    return xp.argsort(keys)


def category_counts(codes: Any, shares: Any, n_slots: tuple[int, ...]) -> tuple[Floats, ...]:
    """Count the categories of each column (n, e), each row with its shares (n, k)."""
    xp, found = namespace(codes), []
    for e, n in enumerate(n_slots):
        slots = np.clip(codes[:, e], 0, n - 1)  # a gap is in no slot
        counts = xp.zeros((shares.shape[1], n))
        names = xp.arange(n).astype(codes.dtype)
        step = max(1, min(COUNTED, CELLS // n))
        for start in range(0, len(codes), step):
            at = slice(start, start + step)
            is_one = (slots[at, None] == names).astype(shares.dtype)
            counts += shares[at].T @ is_one
        found.append(to_host(counts, float))
    return tuple(found)


def _parts(X: Any) -> Iterator[tuple[Any, slice]]:
    """Give some rows at a time, in float64."""
    step = max(STRIP, CELLS // max(1, X.shape[1]) // STRIP * STRIP)
    for start in range(0, len(X), step):
        at = slice(start, start + step)
        yield X[at].astype(np.float64), at


def _shares(part: Any, weights: Any, at: slice) -> Any:
    there = (~np.isnan(part)).astype(np.float64)
    return there if weights is None else there * weights[at, None].astype(np.float64)


def _reduced(values: Any, how: str) -> Any:  # (d,)
    """Add up rows, or take their smallest values, first within strips of them."""
    n, d = values.shape
    whole = n // STRIP * STRIP
    strips = getattr(values[:whole].reshape(n // STRIP, STRIP, d), how)(axis=1)
    return getattr(np.concatenate([strips, values[whole:]]), how)(axis=0)
