"""Where arrays are computed: on the CPU, or on a GPU by CuPy; arrays of CuPy and PyTorch, and their transfer.

CuPy and PyTorch are never imported before a GPU is asked for: arrays of theirs are recognised by their types' names.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import cycle
from threading import Lock, local
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.errors import DeviceWarning, MissingExtraError, MixkernError, OptionError, hint, warn
from mixkern.threads import thread_pool
from mixkern.wording import shown

CPU, CUDA = "cpu", "cuda"
DTYPES = ("float32", "float64")
PINNED_BYTES = 2**23  # of a buffer: large enough for the full speed of a transfer, small enough for the cache
UNPINNED_BYTES = 2**20  # up to which an array is transferred in one piece
THREADED_BYTES = 2**25  # from which on an array is transferred to the host by several threads
TURNS = 3  # threads that use the GPU at the same time: one transfers while others compute
INSTALL = 'pip install "mixkern[gpu]"'


@dataclass(frozen=True)
class Settings:
    """Where arrays of the host are computed, and in which type on a GPU."""

    device: str = CPU
    dtype: str = DTYPES[0]


class _State:
    """The settings of this process."""

    settings = Settings()


class config:  # noqa: N801 -- used like a function
    """Set where mixkern computes; as a context manager, only until its end.

    Parameters
    ----------
    device : {"cpu", "cuda"}, default=None
        ``"cuda"`` computes large densities, kernels and predictions of NumPy arrays and frames on a GPU. Where none can
        be used, a warning names the reason, and the CPU does the work. ``None`` leaves the device as it is. Arrays of
        PyTorch and CuPy that are on a GPU are computed there in any case.
    dtype : {"float32", "float64"}, default=None
        Type of the computations on a GPU; at first float32. ``None`` leaves it as it is.

    Warns
    -----
    DeviceWarning
        If no GPU can be used.

    Notes
    -----
    The settings are those of the whole process, of all its threads. Searches with ``n_jobs`` pass them on to the
    processes that run their trials; those of other libraries, such as ``GridSearchCV``, do not.

    Examples
    --------
    >>> import mixkern
    >>> with mixkern.config(device="cpu"):
    ...     density = mixkern.VBMixture(random_state=0).fit([[0.0], [1.0], [2.0]])
    """

    def __init__(self, *, device: str | None = None, dtype: str | None = None) -> None:
        self._before = before = _State.settings
        device = before.device if device is None else _one_of("device", device, (CPU, CUDA))
        dtype = before.dtype if dtype is None else _one_of("dtype", _name(dtype), DTYPES)
        if device == CUDA and before.device != CUDA:
            reason = missing_gpu()
            if reason is not None:
                text, step = reason
                warn(f"{text}, so the CPU is used.", DeviceWarning, hint=step)
                device = CPU
        _State.settings = replace(before, device=device, dtype=dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _State.settings = self._before

    def __repr__(self) -> str:
        return f"config(device={_State.settings.device!r}, dtype={_State.settings.dtype!r})"


def current_settings() -> Settings:
    """Return the settings of this process, to be used in another one.

    >>> with config(dtype="float64"):
    ...     current_settings()
    Settings(device='cpu', dtype='float64')
    """
    return _State.settings


@contextmanager
def using(settings: Settings) -> Iterator[None]:
    """Use the settings of another process; where they need a GPU that is not there, the CPU, with a warning."""
    if _State.settings == settings:
        yield
        return
    with config(device=settings.device, dtype=settings.dtype):
        yield


def _name(dtype: Any) -> Any:
    """Name a type that may be given as one of NumPy's."""
    try:
        return dtype if isinstance(dtype, str) else np.dtype(dtype).name
    except TypeError:
        return dtype


def _one_of(name: str, given: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(given, str) or given not in allowed:
        raise OptionError(f"{name} must be {' or '.join(map(repr, allowed))}, but it is {shown(given)}.")
    return given


def missing_gpu() -> tuple[str, Any] | None:
    """Return why no GPU can be used, as the first half of a sentence, and what to do; None where one can."""
    try:
        cupy = import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name != "cupy":
            return f"CuPy cannot be imported ({error})", None
        return "A GPU needs CuPy, which is not installed", hint(
            python=f"Install it with: {INSTALL}", cli=f"Install it with: {INSTALL}"
        )
    except Exception as error:  # of its libraries, in any form
        return f"CuPy cannot be imported ({_first_line(error)})", None
    try:
        n = int(cupy.cuda.runtime.getDeviceCount())
    except RuntimeError as error:  # no driver, or one that is too old
        return f"There is no usable NVIDIA driver or GPU ({_first_line(error)})", None
    return None if n else ("There is no NVIDIA GPU", None)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def on_gpu() -> bool:
    """Whether large arrays of the host are to be computed on a GPU."""
    return _State.settings.device == CUDA


def gpu_dtype() -> np.dtype[Any]:
    """Return the type in which a GPU computes arrays of the host."""
    return np.dtype(_State.settings.dtype)


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


def as_cupy(array: Any) -> Any:
    """Return an array on a GPU as one of CuPy, without a copy."""
    return array if is_cupy(array) else _cupy().from_dlpack(array.detach())


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
    return found if found.dtype in (np.float32, np.float64) else found.astype(gpu_dtype())


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
    current = sys.modules["torch"].cuda.current_stream(place)
    with _cupy().cuda.Device(current.device.index), _external(current.cuda_stream):
        yield


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
        return cupy.asarray(np.ascontiguousarray(host if centre is None else host - centre, dtype=dtype))
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


def on_device(array: Any, dtype: DTypeLike | None = None) -> Any:
    """Return an array of the host or of a GPU as one of CuPy, in a type."""
    if is_gpu_array(array):
        found = as_cupy(array)
        return found if dtype is None else found.astype(dtype, copy=False)
    return _cupy().asarray(np.asarray(array, dtype=dtype))


def wait() -> None:
    """Wait until the current stream has done its work, so that other streams can read its results."""
    _cupy().cuda.get_current_stream().synchronize()


@contextmanager
def own_stream() -> Iterator[None]:
    """Use one of a few streams that threads share by turns, so that transfers and computations overlap.

    Their small number bounds the memory on the GPU. Without a GPU in the settings it does nothing.
    """
    if not on_gpu():
        yield
        return
    stream = _streams().take()
    try:
        with stream:
            yield
            stream.synchronize()
    finally:
        _streams().give(stream)


class _Streams:
    """A few streams, each used by one thread at a time."""

    def __init__(self, streams: list[Any]) -> None:
        from queue import SimpleQueue

        self._free: SimpleQueue[Any] = SimpleQueue()
        for stream in streams:
            self._free.put(stream)

    def take(self) -> Any:
        """Wait for a free stream."""
        return self._free.get()

    def give(self, stream: Any) -> None:
        """Give a stream back."""
        self._free.put(stream)


_LOCK = Lock()


def _streams() -> _Streams:
    with _LOCK:  # threads that begin at the same time share the same streams
        return _made_streams()


@cache
def _made_streams() -> _Streams:
    cupy = _cupy()
    return _Streams([cupy.cuda.Stream(non_blocking=True) for _ in range(TURNS)])


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
