"""Kernels in CUDA C++, compiled by NVRTC for the types and sizes of a call, and kept."""

from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import cupy as cp
import numpy as np

NULL = np.uint64(0)  # a pointer
MOST_KEPT = 2**18  # numbers of an array that is kept on the GPU
PRESET_SHARED = 48 * 1024  # bytes of shared memory that a block of threads can have without being set


@cache
def _module(name: str, options: tuple[tuple[str, Any], ...]) -> Any:
    folder = files("mixkern.engine.gpu")
    source = "".join(folder.joinpath(file).read_text("utf-8") for file in ("instructions.cuh", f"{name}.cu"))
    return cp.RawModule(code=source, options=("-std=c++17", *(f"-D{key}={value}" for key, value in options)))


@cache
def _function(
    name: str,
    kernel: str,
    shared_memory: int,
    options: tuple[tuple[str, Any], ...],
    device: int,  # noqa: ARG001
) -> Any:
    found = _module(name, options).get_function(kernel)
    if shared_memory > PRESET_SHARED:
        found.max_dynamic_shared_size_bytes = shared_memory
    return found


def function(name: str, kernel: str, *, shared_memory: int = 0, **options: Any) -> Any:
    """Return a kernel of a file, compiled with definitions; the first call takes a second or two.

    Parameters
    ----------
    name : str
        Name of the file, without its ending.
    kernel : str
        Name of the kernel.
    shared_memory : int, default=0
        Bytes that a block of threads needs, where they may be more than every GPU allows at first, 48 KiB. They must
        follow from the options: the limit belongs to the kernel, which all threads share.
    **options : str or int
        Definitions.
    """
    return _function(name, kernel, shared_memory, tuple(sorted(options.items())), cp.cuda.Device().id)


def capability() -> int:
    """Return the compute capability of the current GPU: 90 for an H200."""
    return _capability(cp.cuda.Device().id)


@cache
def _capability(device: int) -> int:
    return int(cp.cuda.Device(device).compute_capability)


def most_shared() -> int:
    """Return the bytes of shared memory that a block of threads can have on the current GPU: 227 KiB on an H200."""
    return _most_shared(cp.cuda.Device().id)


@cache
def _most_shared(device: int) -> int:
    return int(cp.cuda.Device(device).attributes["MaxSharedMemoryPerBlockOptin"])


def real_of(dtype: Any) -> str:
    """Name a type in C++."""
    return "float" if np.dtype(dtype) == np.float32 else "double"


def pointer(array: Any) -> Any:
    """Return an array as an argument of a kernel; None is a null pointer."""
    return NULL if array is None else array


def placed(array: Any, dtype: Any) -> Any:
    """Copy an array of the host to the GPU, in a type; for small ones, cupy.asarray takes several times as long."""
    if isinstance(array, cp.ndarray):
        return cp.ascontiguousarray(array, dtype=dtype)
    host = np.ascontiguousarray(array, dtype=dtype)
    found = cp.empty(host.shape, host.dtype)
    found.set(host)
    return found


def kept(array: Any, dtype: Any) -> Any:
    """Return an array of the host on the GPU, in a type, not to be written to; small ones of the last calls are there.

    For parameters of a mixture: a kernel of few rows takes less time than their transfer.
    """
    if isinstance(array, cp.ndarray) or array.size > MOST_KEPT:
        return placed(array, dtype)
    host = np.ascontiguousarray(array, dtype=dtype)
    return _kept(host.tobytes(), host.shape, host.dtype.str, cp.cuda.Device().id)


@lru_cache(maxsize=64)
def _kept(content: bytes, shape: tuple[int, ...], dtype: str, device: int) -> Any:  # noqa: ARG001
    # In memory of its own: to free it is to wait for all streams, none of which then reads it any more.
    with cp.cuda.using_allocator(None):
        found = cp.empty(shape, dtype)
    found.set(np.frombuffer(content, dtype).reshape(shape))
    cp.cuda.get_current_stream().synchronize()  # before other streams read it
    return found


def elements(array: Any, axis: int) -> int:
    """Return the distance of neighbours along an axis, in elements."""
    return int(array.strides[axis] // array.itemsize)
