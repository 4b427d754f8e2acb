r"""Which components the compiled core may skip, and the order of the rows.

Component k stretches any difference at most kappa_k times as much as the component that stretches it least:

.. math:: \Delta_k \le \kappa_k \min_{k'} \Delta_{k'}, \qquad \kappa_k = \max_{k'} \|W_k W_{k'}^{-1}\|.

A row may drop components while the sum of rho_k kappa_k over those dropped is at most rtol / 2 of the sum of its
responsibilities; here each of k components may use up a k-th of that. A pair loses only what both its rows drop: with
D an average of the Delta_k with weights (rho_ik + rho_jk) / 2, the loss is at most (rtol / 2) D, and exp(-gamma D^2)
then errs by at most 0.37 rtol, whatever gamma is.

The core skips what two groups of rows drop. Rows are ordered so that those of one group drop the same: first the rows
that keep one component, by that component, then the others by their two main ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.engine.check import Pairs, Side
from mixkern.typing import Floats

GROUP = 32  # rows that skip the same components; the core's kGroup
# In a matrix, columns are brought back to their order at the end. That takes as long as so many multiply-adds per pair
# (measured), twice as many where half of the pairs are mirrored. A component takes d of them, and PER_COMPONENT more.
UNSORTING, PER_COMPONENT = 65, 9
# Without that, sorting rows must save this share of the work.
WORTHWHILE = 0.9
# Large tiles whiten less often, which matters for many columns; small ones divide a small matrix among threads.
# Multiples of GROUP.
LARGE_TILE, TILE, SMALL_TILE = 288, 192, 96
SMALL = 2**19  # size of a matrix below which it is cut into small tiles
# Up to this many squares of differences, about a millisecond, one thread is used. Threads of BLAS go on spinning after
# a product, and a second thread of ours that waits for their core would delay the end (measured: a third of the time
# of calls that alternate with products).
LITTLE_WORK = 30_000_000
MANY_FEATURES = 8  # columns beyond which it is cut into large ones
# Whitened coordinates of both sides of a tile that are held at a time: half of a second-level cache of one megabyte.
WHITENED = 2**16


@dataclass(frozen=True)
class Order:
    """The order of the rows of one side, and the components that each group of them keeps."""

    rows: NDArray[np.int64]  # (n)
    keep: NDArray[np.uint8]  # (groups, k)


@dataclass(frozen=True)
class Plan:
    """Tiles, chunks and orders for one matrix."""

    tile: int  # rows of a tile, a multiple of 32
    chunk: int  # components whitened at a time
    a: Order | None
    b: Order | None
    is_little: bool = False  # too little work for several threads


def stretches(whiteners: Floats) -> Floats:
    """Give kappa, one for each component, from above: ||W_k W_k'^-1|| is at most the product of both Frobenius norms.

    A factor of ten more matters little: responsibilities fall exponentially.
    """
    if whiteners.ndim == 2:
        sizes = np.abs(whiteners)
        with np.errstate(all="ignore"):  # a metric that ignores a column bounds no other: infinite
            return np.asarray((sizes / sizes.min(axis=0)).max(axis=1))
    try:
        inverses = np.linalg.inv(whiteners)
    except np.linalg.LinAlgError:
        return np.full(len(whiteners), np.inf)  # one ignores a direction, and bounds no other metric there
    return np.asarray(np.linalg.norm(whiteners, axis=(1, 2)) * np.linalg.norm(inverses, axis=(1, 2)).max())


def kept(side: Side, kappa: Floats, rtol: float) -> NDArray[np.bool_]:
    """Mark the components that a row must keep, for each row or for the one that stands for all."""
    shares = side.shares
    with np.errstate(over="ignore", invalid="ignore"):  # infinite allowances and stretches compare correctly
        allowance = rtol / (2 * len(kappa)) * shares.sum(axis=1, keepdims=True)
        return np.asarray(~(shares * kappa <= allowance))


def order(side: Side, keep: NDArray[np.bool_]) -> Order:
    """Sort rows by the components that they keep, and collect those that each group of them keeps."""
    n, k = len(side.rows), keep.shape[1]
    n_groups = -(-n // GROUP)
    if len(keep) == 1:
        return Order(np.arange(n), np.repeat(keep, n_groups, axis=0).astype(np.uint8))
    main = side.shares.argmax(axis=1)
    keys = main * k
    mixed = np.flatnonzero(keep.sum(axis=1) > 1)
    others = side.shares[mixed]
    others[np.arange(len(mixed)), main[mixed]] = -1.0
    keys[mixed] += k * k + others.argmax(axis=1)
    # Sixteen bits where they suffice: NumPy then sorts in linear time.
    rows = np.argsort(keys.astype(np.uint16 if 2 * k * k < 2**16 else np.int64), kind="stable")
    return Order(rows, np.logical_or.reduceat(keep[rows], np.arange(0, n, GROUP), axis=0).astype(np.uint8))


def share_of_work(keep_a: NDArray[Any], keep_b: NDArray[Any]) -> float:
    """Give the mean share of components that a pair of rows or of groups keeps."""
    first, second = keep_a.mean(axis=0), keep_b.mean(axis=0)
    return float(np.mean(first + second - first * second))


def plan(pairs: Pairs, rtol: float, *, is_matrix: bool) -> Plan:
    """Choose the size of tiles, and the components to skip where that saves time.

    ``is_matrix`` tells whether columns must be brought back to their order.
    """
    orders, (n, m), d = skipping(pairs, rtol, is_matrix=is_matrix), pairs.shape, pairs.whiteners.shape[1]
    is_little = n * m * pairs.n_components * (d + 4) <= LITTLE_WORK * (2 if pairs.b is None else 1)
    is_small = n * m < SMALL and not is_little
    tile = SMALL_TILE if is_small else LARGE_TILE if d > MANY_FEATURES else TILE
    chunk = max(1, min(pairs.n_components, WHITENED // (2 * tile * max(d, 1))))
    a, b = orders or (None, None)
    return Plan(tile, chunk, a, b, is_little)


def skipping(pairs: Pairs, rtol: float, *, is_matrix: bool) -> tuple[Order, Order] | None:
    """Order both sides so that groups of rows can skip components; None where that saves too little."""
    k = pairs.n_components
    if rtol == 0 or k == 1 or 0 in pairs.shape or pairs.whiteners.shape[1] == 0:
        return None
    most = largest_share(pairs, is_matrix=is_matrix)
    sides = (pairs.a,) if pairs.b is None else (pairs.a, pairs.b)
    if most <= 1 / k:
        return None
    # Groups keep at least what their rows keep, and kappa is at least one: if too little is gained with that, sorting
    # is in vain.
    keeps = [kept(side, np.ones(k), rtol) for side in sides]
    if share_of_work(keeps[0], keeps[-1]) > most:
        return None
    kappa = stretches(pairs.whiteners)
    if not np.isfinite(kappa).all():
        return None
    keeps = [kept(side, kappa, rtol) for side in sides]
    if share_of_work(keeps[0], keeps[-1]) > most:
        return None
    orders = [order(side, keep) for side, keep in zip(sides, keeps, strict=True)]
    if share_of_work(orders[0].keep, orders[-1].keep) > most:
        return None
    return orders[0], orders[-1]


def largest_share(pairs: Pairs, *, is_matrix: bool) -> float:
    """Give the share of components up to which skipping the others pays."""
    if not is_matrix:
        return WORTHWHILE
    per_pair = pairs.n_components * (pairs.whiteners.shape[1] + PER_COMPONENT)
    return min(WORTHWHILE, 1 - (2 if pairs.b is None else 1) * UNSORTING / per_pair)
