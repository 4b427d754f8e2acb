"""Where arrays are computed, and in which type: the settings of the process, which users set by ``mixkern.config``.

CuPy is imported when a GPU is chosen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self

import numpy as np

from mixkern.errors import DeviceWarning, OptionError, hint, warn
from mixkern.wording import shown

CPU, CUDA = "cpu", "cuda"
DTYPES = ("float32", "float64")
INSTALL = 'pip install "mixkern[gpu]"'
LIBRARIES = 'Install them with: pip install "cupy-cuda13x[ctk]", or "cupy-cuda12x[ctk]" for CUDA 12'


@dataclass(frozen=True)
class Settings:
    """Where arrays of the host are computed, and in which type on a GPU."""

    device: str = CPU
    dtype: str = DTYPES[0]


class _State:
    """The settings of this process."""

    settings = Settings()


_of_call: ContextVar[Settings | None] = ContextVar("_of_call", default=None)  # instead of those of the process


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
    processes that run their trials; those of other libraries, such as ``GridSearchCV``, do not. A call for rows on a
    GPU has settings of its own, also in its callbacks.

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
        if device != before.device:
            device = _usable(device)
        _State.settings = replace(before, device=device, dtype=dtype)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _State.settings = self._before

    def __repr__(self) -> str:
        return f"config(device={_State.settings.device!r}, dtype={_State.settings.dtype!r})"


def current_settings() -> Settings:
    """Return the settings of this call, which are those of the process unless it has its own.

    >>> with config(dtype="float64"):
    ...     current_settings()
    Settings(device='cpu', dtype='float64')
    """
    return _of_call.get() or _State.settings


@contextmanager
def using(settings: Settings) -> Iterator[None]:
    """Use settings in this thread, whatever those of the process are.

    For calls that have their own, and for tasks of theirs in other processes and threads. Where the settings need a GPU
    that is not there, the CPU is used, with a warning.
    """
    is_checked = current_settings() == settings
    token = _of_call.set(settings if is_checked else replace(settings, device=_usable(settings.device)))
    try:
        yield
    finally:
        _of_call.reset(token)


@contextmanager
def in_float64() -> Iterator[None]:
    """Use float64 on a GPU in this thread: for matrices that are factorised."""
    with using(replace(current_settings(), dtype="float64")):
        yield


def _usable(device: str) -> str:
    """Return a device, or the CPU with a warning where it is a GPU that cannot be used."""
    reason = missing_gpu() if device == CUDA else None
    if reason is None:
        return device
    text, step = reason
    warn(f"{text}, so the CPU is used.", DeviceWarning, hint=step)
    return CPU


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
        step = f"Install it with: {INSTALL}"
        return "A GPU needs CuPy, which is not installed", hint(python=step, cli=step)
    except Exception as error:  # of its libraries, in any form
        return f"CuPy cannot be imported ({_first_line(error)})", None
    try:
        n = int(cupy.cuda.runtime.getDeviceCount())
    except RuntimeError as error:  # no driver, or one that is too old
        return f"There is no usable NVIDIA driver or GPU ({_first_line(error)})", None
    if not n:
        return "There is no NVIDIA GPU", None
    try:
        cupy.cuda.nvrtc.getVersion()
    except (ImportError, RuntimeError) as error:
        return f"CuPy does not find the libraries of CUDA ({_first_line(error)})", hint(python=LIBRARIES, cli=LIBRARIES)
    return None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def on_gpu() -> bool:
    """Whether large arrays of the host are to be computed on a GPU."""
    return current_settings().device == CUDA


def gpu_dtype() -> np.dtype[Any]:
    """Return the type in which a GPU computes arrays of the host."""
    return np.dtype(current_settings().dtype)
