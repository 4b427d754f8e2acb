r"""Which components the compiled core may skip, and the order of the rows.

Component k stretches any difference at most kappa_k times as much as the component that stretches it least:

.. math:: \Delta_k \le \kappa_k \min_{k'} \Delta_{k'}, \qquad \kappa_k = \max_{k'} \|W_k W_{k'}^{-1}\|.

A row may drop components while the sum of rho_k kappa_k over those dropped is at most rtol / 2 of the sum of its
responsibilities; here each of k components may use up a k-th of that. A pair loses only what both its rows drop: with
D an average of the Delta_k with weights (rho_ik + rho_jk) / 2, the loss is at most (rtol / 2) D, and exp(-gamma D^2)
then errs by at most 0.37 rtol, whatever gamma is. Rows are ordered by their main component, so that rows of one tile
drop the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixkern.engine.check import Pairs, Side
from mixkern.typing import Floats

# Skipping costs a sort of the columns at the end, so it must save at least this share of the components.
WORTHWHILE = 0.7
# Large tiles whiten less often, which matters for many columns; small ones hold rows of fewer components, which
# matters for skipping. Multiples of 32.
LARGE_TILE, TILE, SMALL_TILE = 288, 192, 96
# A matrix from this size on, of rows with more than so many columns, is cut into large tiles.
LARGE, MANY_FEATURES = 2**22, 8
# Whitened coordinates of both sides of a tile that are held at a time: half of a second-level cache of one megabyte.
WHITENED = 2**16


@dataclass(frozen=True)
class Order:
    """The order of the rows of one side, and the components that each tile of them keeps."""

    rows: NDArray[np.int64]  # (n)
    keep: NDArray[np.uint8]  # (tiles, k)


@dataclass(frozen=True)
class Plan:
    """Tiles, chunks and orders for one matrix."""

    tile: int  # rows of a tile, a multiple of 32
    chunk: int  # components whitened at a time
    a: Order | None
    b: Order | None


def stretches(whiteners: Floats) -> Floats:
    """Give kappa, one for each component, from above: Frobenius norms instead of spectral ones."""
    if whiteners.ndim == 2:
        sizes = np.abs(whiteners)
        with np.errstate(all="ignore"):  # a metric that ignores a column bounds no other: infinite
            return np.asarray((sizes / sizes.min(axis=0)).max(axis=1))
    kappa = np.ones(len(whiteners))
    for other in whiteners:
        try:
            inverse = np.linalg.inv(other)
        except np.linalg.LinAlgError:
            return np.full(len(whiteners), np.inf)  # it ignores a direction, and bounds no other metric there
        np.maximum(kappa, np.linalg.norm(whiteners @ inverse, axis=(1, 2)), out=kappa)
    return kappa


def kept(side: Side, kappa: Floats, rtol: float) -> NDArray[np.bool_]:
    """Mark the components that a row must keep, for each row or for the one that stands for all."""
    shares = side.shares
    with np.errstate(over="ignore", invalid="ignore"):  # infinite allowances and stretches compare correctly
        allowance = rtol / (2 * len(kappa)) * shares.sum(axis=1, keepdims=True)
        return np.asarray(~(shares * kappa <= allowance))


def order(side: Side, keep: NDArray[np.bool_], tile: int) -> Order:
    """Sort rows by their main component, and collect the components that each tile of them keeps."""
    n = len(side.rows)
    main = side.shares.argmax(axis=1)
    # Sixteen bits where they suffice: NumPy then sorts in linear time.
    keys = main.astype(np.uint16 if main.max() < 2**16 else np.int64)
    rows = np.arange(n) if len(main) == 1 else np.argsort(keys, kind="stable")
    if len(keep) == 1:
        return Order(rows, np.repeat(keep, -(-n // tile), axis=0).astype(np.uint8))
    return Order(rows, np.logical_or.reduceat(keep[rows], np.arange(0, n, tile), axis=0).astype(np.uint8))


def share_of_work(a: Order, b: Order) -> float:
    """Give the mean share of components that a pair of tiles keeps."""
    first, second = a.keep.mean(axis=0), b.keep.mean(axis=0)
    return float(np.mean(first + second - first * second))


def plan(pairs: Pairs, rtol: float) -> Plan:
    """Choose the size of tiles, and the components to skip where that saves time."""
    orders, (n, m), d = skipping(pairs, rtol), pairs.shape, pairs.whiteners.shape[1]
    tile = SMALL_TILE if orders else LARGE_TILE if n * m >= LARGE and d > MANY_FEATURES else TILE
    chunk = max(1, min(pairs.n_components, WHITENED // (2 * tile * max(d, 1))))
    a, b = orders or (None, None)
    return Plan(tile, chunk, a, b)


def skipping(pairs: Pairs, rtol: float) -> tuple[Order, Order] | None:
    """Order both sides so that tiles can skip components; None where that saves too little."""
    k = pairs.n_components
    if rtol == 0 or k == 1 or 0 in pairs.shape or pairs.whiteners.shape[1] == 0:
        return None
    sides = (pairs.a,) if pairs.b is None else (pairs.a, pairs.b)
    # kappa is at least one: if nothing is gained with that, nothing is gained at all.
    if max(kept(side, np.ones(k), rtol).mean() for side in sides) > WORTHWHILE:
        return None
    kappa = stretches(pairs.whiteners)
    if not np.isfinite(kappa).all():
        return None
    orders = [order(side, kept(side, kappa, rtol), SMALL_TILE) for side in sides]
    if share_of_work(orders[0], orders[-1]) > WORTHWHILE:
        return None
    return orders[0], orders[-1]
