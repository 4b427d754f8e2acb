"""Arrays on a GPU, of CuPy and PyTorch: their kinds, functions that compute where they are, streams, and transfer.

CuPy and PyTorch are never imported before a GPU is asked for: arrays of theirs are recognised by their types' names.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import signature
from itertools import cycle
from queue import SimpleQueue
from threading import Lock, local
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.device import CUDA, DTYPES, INSTALL, Settings, gpu_dtype, using
from mixkern.errors import MissingExtraError, MixkernError
from mixkern.threads import thread_pool

PINNED_BYTES = 2**23  # of a buffer: large enough for the full speed of a transfer, small enough for the cache
UNPINNED_BYTES = 2**20  # up to which an array is transferred in one piece
THREADED_BYTES = 2**25  # from which on an array is transferred to the host by several threads
TURNS = 3  # threads that use the GPU at the same time: one transfers while others compute

_Function = TypeVar("_Function", bound=Callable[..., Any])

# ------------------------------------------------------------------------------------------------ kinds of arrays


def is_cupy(array: object) -> bool:
    """Whether an object is an array of CuPy."""
    kind: Any = type(array)
    return _is_cupys(kind)


@cache
def _is_cupys(kind: type[Any]) -> bool:
    return kind.__module__.partition(".")[0] == "cupy" and kind.__name__ == "ndarray"


def is_torch(array: object) -> bool:
    """Whether an object is a tensor of PyTorch that is on a GPU."""
    return type(array).__module__.partition(".")[0] == "torch" and bool(getattr(array, "is_cuda", False))


def is_gpu_array(array: object) -> bool:
    """Whether an object is an array on a GPU, of CuPy or PyTorch.

    >>> is_gpu_array(np.ones(3))
    False
    """
    return is_cupy(array) or is_torch(array)


def namespace(array: object) -> Any:
    """Return the library of an array's functions: CuPy for its arrays, else NumPy."""
    return _cupy() if is_cupy(array) else np


def dtype_name(array: Any) -> str:
    """Return the name of the type of an array of NumPy, CuPy or PyTorch.

    >>> dtype_name(np.ones(3))
    'float64'
    """
    return str(array.dtype).rpartition(".")[2]


def as_cupy(array: Any) -> Any:
    """Return an array on a GPU as one of CuPy, without a copy; bfloat16, which CuPy does not have, as float32."""
    if is_cupy(array):
        return array
    tensor = array.detach()
    return _cupy().from_dlpack(tensor.float() if dtype_name(tensor) == "bfloat16" else tensor)


def like(result: Any, given: object) -> Any:
    """Return a result of CuPy as an array of the given one's kind: CuPy, PyTorch (without a copy) or NumPy."""
    if not is_cupy(result) or is_cupy(given):
        return result
    return sys.modules["torch"].from_dlpack(result) if is_torch(given) else to_host(result)


def gpu_floats(array: Any, name: str, error: type[MixkernError]) -> Any:
    """Return an array on a GPU as floats of CuPy; those of float32 and float64 keep their type."""
    found = as_cupy(array)
    if found.dtype.kind not in "biuf":
        raise error(f"{name} must hold numbers, but its dtype is {found.dtype}.")
    return found if dtype_name(array) in DTYPES else found.astype(gpu_dtype(), copy=False)


@contextmanager
def stream_of(*arrays: object) -> Iterator[None]:
    """Let CuPy use the current stream of PyTorch, and the GPU that the first of some arrays is on.

    CuPy then neither waits for PyTorch nor uses memory that PyTorch has given to other tensors.
    """
    first = next((array for array in arrays if is_gpu_array(array)), None)
    if first is None:
        yield
        return
    place: Any = first.device  # type: ignore[attr-defined]
    if is_cupy(first):
        with place:
            yield
        return
    current, cuda = sys.modules["torch"].cuda.current_stream(place), _cupy().cuda
    with cuda.Device(current.device.index):
        own = cuda.get_current_stream()
        with _external(current.cuda_stream) as stream:
            stream.wait_event(own.record())  # for arrays of CuPy among the arguments
            try:
                yield
            finally:
                own.wait_event(stream.record())  # for results that are arrays of CuPy


def on_gpu_of_rows(function: _Function) -> _Function:
    """Decorate a function of rows ``X`` (and ``X_unlabelled``): if they are on a GPU, large work is done there.

    This holds whatever the settings are. Rows of float32 and float64 are computed in their type; that of ``X`` counts
    where both are on a GPU. A result that is an array of numbers is returned as an array of the kind of the rows, with
    its own type.
    """
    names = [*signature(function).parameters]
    positions = [(names.index(name), name) for name in ("X", "X_unlabelled") if name in names]

    @wraps(function)
    def compute(*args: Any, **kwargs: Any) -> Any:
        given = (args[at] if at < len(args) else kwargs.get(name) for at, name in positions)
        X: Any = next(filter(is_gpu_array, given), None)
        if X is None:
            return function(*args, **kwargs)
        dtype = dtype_name(X)
        with stream_of(X), using(Settings(CUDA, dtype if dtype in DTYPES else gpu_dtype().name)):
            found = function(*args, **kwargs)
            is_numbers = type(found) is np.ndarray and found.dtype.kind in "biuf"
            return like(on_device(found), X) if is_numbers else found

    return cast(_Function, compute)


def current_gpu() -> int:
    """Return the number of the GPU that CuPy uses in this thread."""
    return int(_cupy().cuda.Device().id)


@dataclass(frozen=True)
class _ForeignStream:
    """A stream by its address, as the CUDA stream protocol has it."""

    address: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


def _external(address: int) -> Any:
    cuda = _cupy().cuda
    return cuda.Stream.from_external(_ForeignStream(address)) if address else cuda.Stream.null


# ------------------------------------------------------------------------------------------------ transfer


def to_gpu(array: NDArray[Any], dtype: DTypeLike, centre: NDArray[Any] | None = None) -> Any:
    """Copy an array of the host to the GPU, in a type.

    Parts of a large array are converted into two buffers of pinned memory in turn: one is transferred while the other
    is filled.

    Parameters
    ----------
    array : ndarray
        Rows.
    dtype : dtype
        Type on the GPU.
    centre : ndarray, default=None
        Subtracted from each row, before digits are lost in the conversion.
    """
    cupy, host, dtype = _cupy(), np.asarray(array), np.dtype(dtype)
    if host.size * dtype.itemsize <= UNPINNED_BYTES:
        return cupy.asarray(np.asarray(host if centre is None else host - centre, dtype=dtype, order="C"))
    result = cupy.empty(host.shape, dtype)
    n_cells = host.size // len(host)  # of a row
    step = max(1, PINNED_BYTES // (n_cells * dtype.itemsize))
    shape, stream = (min(step, len(host)), *host.shape[1:]), cupy.cuda.get_current_stream()
    pinned = [(import_module("cupyx").empty_pinned(shape, dtype), cupy.cuda.Event()) for _ in range(2)]
    for start, (buffer, is_free) in zip(range(0, len(host), step), cycle(pinned), strict=False):
        part = host[start : start + step]
        is_free.synchronize()
        filled = buffer[: len(part)]
        if centre is None:
            np.copyto(filled, part, casting="unsafe")
        else:
            np.subtract(part, centre, out=filled, casting="same_kind")
        result[start : start + step].set(filled, stream=stream)
        is_free.record(stream)
    for _, is_free in pinned:
        is_free.synchronize()  # before the buffers are given to others
    return result


def to_host(array: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Copy an array of a GPU to the host; arrays of the host are returned as they are, in the type.

    Parts of a large array are transferred by threads: fresh memory of the host is slower than the transfer.
    """
    if not is_gpu_array(array):
        return np.asarray(array) if dtype is None else np.asarray(array).astype(dtype, copy=False)
    given = as_cupy(array)
    if given.nbytes < THREADED_BYTES:
        host: NDArray[Any] = given.get()
        return host if dtype is None else host.astype(dtype, copy=False)
    result = np.empty(given.shape, given.dtype if dtype is None else dtype)
    _copy_by_threads(_cupy().ascontiguousarray(given), result)
    return result


def _copy_by_threads(given: Any, result: NDArray[Any]) -> None:
    """Copy a contiguous array of a GPU to one of the host; each thread has a stream and a buffer of pinned memory."""
    cupy, pinned, flat, own = _cupy(), import_module("cupyx").empty_pinned, given.ravel(), local()
    step = PINNED_BYTES // given.itemsize
    to, ready = result.reshape(-1), cupy.cuda.get_current_stream().record()

    def copy(start: int) -> None:
        part = flat[start : start + step]
        with given.device:
            if not hasattr(own, "buffer"):
                own.stream, own.buffer = cupy.cuda.Stream(non_blocking=True), pinned(step, given.dtype)
                own.stream.wait_event(ready)
            filled = own.buffer[: len(part)]
            part.get(stream=own.stream, out=filled, blocking=False)
            own.stream.synchronize()
        np.copyto(to[start : start + step], filled, casting="unsafe")

    with thread_pool() as pool:
        for _ in pool.map(copy, range(0, len(to), step)):
            pass  # errors are raised


def on_host(given: Any) -> Any:
    """Copy an array of a GPU to the host; anything else is returned as it is.

    >>> on_host([1, 2])
    [1, 2]
    """
    return to_host(given) if is_gpu_array(given) else given


def on_device(array: Any, dtype: DTypeLike | None = None) -> Any:
    """Return an array of the host or of a GPU as one of CuPy, in a type."""
    if is_gpu_array(array):
        found = as_cupy(array)
        return found if dtype is None else found.astype(dtype, copy=False)
    host = np.asarray(array, dtype=dtype)
    return to_gpu(host, host.dtype)  # cupy.asarray keeps as much pinned memory as the largest array has needed


def wait() -> None:
    """Wait until the current stream has done its work, so that other streams can read its results."""
    _cupy().cuda.get_current_stream().synchronize()


@contextmanager
def own_stream(gpu: int | None) -> Iterator[None]:
    """Use a GPU, by its number, and one of a few streams on it that threads share by turns.

    Transfers and computations then overlap; the small number of streams bounds the memory on the GPU. With None it does
    nothing.
    """
    if gpu is None:
        yield
        return
    streams = _streams(gpu)
    stream = streams.get()
    try:
        with _cupy().cuda.Device(gpu), stream:
            yield
            stream.synchronize()
    finally:
        streams.put(stream)


_LOCK = Lock()


def _streams(gpu: int) -> SimpleQueue[Any]:
    with _LOCK:  # threads that begin at the same time share the same streams
        return _made_streams(gpu)


@cache
def _made_streams(gpu: int) -> SimpleQueue[Any]:
    """Make the streams of a GPU, each for one thread at a time."""
    cuda, free = _cupy().cuda, SimpleQueue[Any]()
    with cuda.Device(gpu):
        for _ in range(TURNS):
            free.put(cuda.Stream(non_blocking=True))
    return free


def _cupy() -> Any:
    """Import CuPy, for an array on a GPU or because the settings have one."""
    try:
        return import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            raise  # CuPy is installed, but broken: its own error is more helpful
        raise MissingExtraError(
            f"An array on a GPU needs CuPy, which is not installed. Install it with: {INSTALL}"
        ) from error
