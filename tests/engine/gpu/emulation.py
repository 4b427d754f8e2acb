"""NumPy emulation of the kernels in pairs.cu, so that pairs.py runs without a GPU.

Up to squares of distances, the arithmetic is that of the GPU: float with fused multiplications and additions, halves,
and the sums of tensor cores. What both ways of comparing rows share after that, roots and powers, is in double.

The sums of tensor cores follow the models of Hopper and Blackwell in MMA-Sim (arXiv:2511.10909) and in "Accurate Models
of NVIDIA Tensor Cores" (arXiv:2512.07004): sixteen products and the sum so far are cut off after 25 binary digits,
counted from the largest exponent, and their sum is cut off to a float.
"""

import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mixkern.engine

PACKAGE = "mixkern.engine.gpu"
BLOCK = 64  # rows of a block of whitened rows
PRESET_SHARED = 48 * 1024  # bytes of shared memory that a block of threads can have without being set
DIGITS = 25  # after the first one, of the terms of a sum of tensor cores


@contextmanager
def installed(monkeypatch, function=None, *, capability=90, shared_memory=232_448):
    """Import the modules of a GPU with CuPy played by NumPy, and kernels by those of a function, or by those below.

    The card has a compute capability, and bytes of shared memory for a block of threads. Gives the module of pairs of
    rows.
    """
    spec = spec_from_file_location("fake_gpu", Path(__file__).parents[2] / "fake_gpu.py")
    fake_gpu = module_from_spec(spec)
    spec.loader.exec_module(fake_gpu)
    fake_gpu.Device.compute_capability = str(capability)
    fake_gpu.Device.attributes = {"MaxSharedMemoryPerBlockOptin": shared_memory}
    before = {name: sys.modules.pop(name) for name in _imported()}
    attribute = mixkern.engine.__dict__.pop("gpu", None)
    try:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "cupy", fake_gpu.modules()["cupy"])
            pairs, density = import_module(f"{PACKAGE}.pairs"), import_module(f"{PACKAGE}.density")
            pairs.function = density.function = function or emulated
            yield pairs
    finally:
        for name in _imported():
            del sys.modules[name]
        mixkern.engine.__dict__.pop("gpu", None)
        sys.modules.update(before)
        if attribute is not None:
            mixkern.engine.gpu = attribute


def _imported():
    return [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]


def emulated(_, kernel, *, shared_memory=0, **options):
    """Return a kernel of pairs.cu in NumPy."""
    return Launch(KERNELS[kernel], options, shared_memory)


class Launch:
    """A kernel with its options, called like one of CuPy."""

    def __init__(self, compute, options, shared_memory):
        self.compute, self.options, self.shared_memory = compute, options, shared_memory

    def __call__(self, grid, block, arguments, shared_mem=0):
        assert shared_mem <= max(self.shared_memory, PRESET_SHARED)
        assert all(each > 0 for each in grid)
        self.compute(self.options, *arguments)


# ------------------------------------------------------------------------------------------------ arithmetic


def single(values):
    """Round to float, and return doubles."""
    return np.asarray(values).astype(np.float32).astype(float)


def half(values):
    """Round floats to halves, and return doubles."""
    return np.asarray(values).astype(np.float32).astype(np.float16).astype(float)


def exponents(halves):
    """Return exponents as tensor cores take them: at least -14, and below all others for zeros."""
    return np.where(halves == 0, -999, np.maximum(np.frexp(halves)[1] - 1, -14))


def tensor_core_sums(a, b, sums):  # (n, 16), (m, 16), (n, m) -> (n, m)
    """Add products of halves to floats in one step."""
    largest = (exponents(a)[:, None] + exponents(b)).max(axis=2)
    largest = np.maximum(largest, np.where(sums == 0, -999, np.frexp(sums)[1] - 1))
    unit = np.ldexp(1.0, np.maximum(largest, -900) - DIGITS)
    total = np.trunc(a[:, None] * b / unit[:, :, None]).sum(axis=2) * unit + np.trunc(sums / unit) * unit
    digit = np.ldexp(1.0, np.frexp(total)[1] - 24)
    return np.trunc(total / digit) * digit


def squares(left, right):  # (n, halves), (m, halves) -> (n, m)
    """Multiply rows of halves on tensor cores."""
    sums = np.zeros((len(left), len(right)))
    for at in range(0, left.shape[1], 16):
        sums = tensor_core_sums(left[:, at : at + 16], right[:, at : at + 16], sums)
    return sums


# ------------------------------------------------------------------------------------------------ kernels


class Rows(NamedTuple):
    """What kernels need of the rows of one side: ROWS_PARAMETERS in pairs.cu."""

    rows: Any
    stride_row: int
    stride_column: int
    is_double: int
    n: int
    pitch: int
    d: int
    k: int
    centres: Any
    whiteners: Any
    is_diagonal: int
    shares: Any
    stride_component: int
    stride_share: int
    is_double_share: int

    def whitened(self, i):  # (n, d)
        """Whiten rows by a component, in float; a row of the result is a sum in the order of the columns."""
        precise = (lambda values: values) if self.whiteners.host.dtype == np.float64 else single
        deviations = precise(self.rows.host - self.centres.host[i])
        whitener = self.whiteners.host[i].astype(float)
        if self.is_diagonal:
            return precise(whitener * deviations)
        white = np.zeros_like(deviations)
        for j in range(self.d):
            white[:, j:] = precise(white[:, j:] + whitener[j:, j] * deviations[:, j : j + 1])
        return white

    def own(self, i):  # (n,)
        """Responsibilities of a component."""
        shares = self.shares.host.astype(float)
        return shares[:, i] if shares.ndim == 2 else np.full(self.n, shares[i])


def centres_of_rows(_, *arguments):
    side, step, to = Rows(*arguments[:15]), *arguments[15:]
    for i in range(len(to)):
        own, rows = side.own(i)[::step], side.rows.host[::step].astype(float)
        to.host[i] = own @ rows / own.sum() if own.sum() > 1e-30 else side.rows.host[0]


def whitened_rows(options, *arguments):
    side, to = Rows(*arguments[:15]), arguments[15].host
    assert to.shape[2] == options["COORDINATES"] * options["CHUNKS"] + 1
    to[...] = 0
    lines = np.zeros((len(to) * BLOCK, to.shape[2]))
    for i in range(side.k):
        lines[: side.n, : side.d], lines[: side.n, -1] = side.whitened(i), 0.5 * side.own(i)
        to[:, i] = lines.reshape(-1, BLOCK, to.shape[2]).transpose(0, 2, 1)


def halves_of_rows(options, *arguments):
    side, (is_left, ratios, to, shares, largest) = Rows(*arguments[:15]), arguments[15:]
    n, factor = side.n, -2.0 if is_left else 1.0
    assert to.shape == (side.k, side.pitch, 16 * options["STEPS"] + 8)
    to.host[...], shares.host[...] = 0, 0
    weighted, is_too_large = np.zeros(n), False
    for i in range(side.k):
        white = side.whitened(i)
        is_too_large |= not (np.abs(white) < 16000).all()
        with np.errstate(over="ignore", invalid="ignore"):
            high = half(white)
            low = half(white - high)
            norm = ((high + low) ** 2).sum(axis=1)
            is_too_large |= not (norm < 60000).all()
            first = half(norm)
            second = half(norm - first)
            norms, ones = np.stack([first, second, half(norm - first - second)], axis=1), np.ones((n, 3))
            one, other = (low, high) if is_left else (high, low)
            parts = factor * one, factor * other, factor * high, *((norms, ones) if is_left else (ones, norms))
            line = np.hstack(parts)
            to.host.view(np.float16)[i, :n, : line.shape[1]] = line
        own = side.own(i)
        shares.host[i, :n] = 0.5 * own
        weighted += own * (0.5 * own + (2 - own) * ratios.host[i]) * norm
    largest.host.view(np.float32)[0] = np.inf if is_too_large else weighted.max(initial=0)


class Pairs(NamedTuple):
    """What kernels need of two sides: PAIRS_PARAMETERS in pairs.cu."""

    a: Any
    b: Any
    shares_a: Any
    shares_b: Any
    codes_a: Any
    codes_b: Any
    n: int
    m: int
    pitch_a: int
    pitch_b: int
    ld: int
    k: int
    e: int
    is_symmetric: int
    per_sq_distance: float
    per_sq_count: float

    def finished(self, distances, options):
        """Return distances or kernel values."""
        if not options["IS_KERNEL"]:
            return distances
        exponent = self.per_sq_distance * distances**2
        if options["HAS_CODES"]:
            a, b = self.codes_a.host[:, : self.n, None], self.codes_b.host[:, None, : self.m]
            exponent = exponent + self.per_sq_count * (a != b).sum(axis=0) ** 2
        return np.exp2(-exponent)


def pairs_by_differences(options, *arguments):
    pairs, out = Pairs(*arguments[:16]), arguments[16]
    sides = [(pairs.a.host, pairs.n), (pairs.b.host, pairs.m)]
    left, right = (np.moveaxis(each, 3, 1).reshape(-1, *each.shape[1:3])[:n].astype(float) for each, n in sides)
    total = np.zeros((pairs.n, pairs.m))
    for i in range(pairs.k):
        sq = ((left[:, None, i, :-1] - right[:, i, :-1]) ** 2).sum(axis=2)
        total += (left[:, None, i, -1] + right[:, i, -1]) * np.sqrt(sq)
    out[...] = type(out)(pairs.finished(total, options))


def pairs_by_products(options, *arguments):
    pairs, out = Pairs(*arguments[:16]), arguments[16]
    left, right = (each.host.view(np.float16)[:, :, :-8].astype(float) for each in (pairs.a, pairs.b))
    total = np.zeros((pairs.n, pairs.m))
    for i in range(pairs.k):
        sq = squares(left[i, : pairs.n], right[i, : pairs.m])
        total += (pairs.shares_a.host[i, : pairs.n, None] + pairs.shares_b.host[i, : pairs.m]) * np.sqrt(np.abs(sq))
    values = pairs.finished(total, options)
    if pairs.is_symmetric:
        values = np.tril(values, -1) + np.tril(values, -1).T + np.eye(pairs.n)
    out[...] = type(out)(values)


KERNELS = {
    each.__name__: each
    for each in (centres_of_rows, whitened_rows, halves_of_rows, pairs_by_differences, pairs_by_products)
}
