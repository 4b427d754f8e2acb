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


@dataclass(frozen=True)
class Settings:
    """Where arrays of the host are computed, and in which type on a GPU."""

    device: str = CPU
    dtype: str = DTYPES[0]


class _State:
    """The settings of this process."""

    settings = Settings()


_of_rows: ContextVar[Settings | None] = ContextVar("_of_rows", default=None)  # of a call for rows on a GPU


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
    """Return the settings of this process, or those of a call for rows on a GPU.

    >>> with config(dtype="float64"):
    ...     current_settings()
    Settings(device='cpu', dtype='float64')
    """
    return _of_rows.get() or _State.settings


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
    return current_settings().device == CUDA


def gpu_dtype() -> np.dtype[Any]:
    """Return the type in which a GPU computes arrays of the host."""
    return np.dtype(current_settings().dtype)


@contextmanager
def computing_on_gpu(dtype: str) -> Iterator[None]:
    """Use a GPU and a type, whatever the settings are, in this thread and those that it starts by ``thread_pool``.

    Types that are not for computations leave that of the settings.
    """
    token = _of_rows.set(Settings(CUDA, dtype if dtype in DTYPES else current_settings().dtype))
    try:
        yield
    finally:
        _of_rows.reset(token)
