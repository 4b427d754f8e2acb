"""Kernels in CUDA C++, compiled by NVRTC for the types and sizes of a call, and kept."""

from functools import cache
from importlib.resources import files
from typing import Any

import cupy as cp
import numpy as np

NULL = np.uint64(0)  # a pointer


@cache
def _module(name: str, options: tuple[tuple[str, Any], ...]) -> Any:
    folder = files("mixkern.engine.gpu")
    source = "".join(folder.joinpath(file).read_text("utf-8") for file in ("instructions.cuh", f"{name}.cu"))
    return cp.RawModule(code=source, options=("-std=c++17", *(f"-D{key}={value}" for key, value in options)))


@cache
def _function(name: str, function: str, options: tuple[tuple[str, Any], ...], device: int) -> Any:  # noqa: ARG001
    return _module(name, options).get_function(function)


def function(name: str, kernel: str, **options: Any) -> Any:
    """Return a kernel of a file, compiled with definitions; the first call takes a second or two."""
    return _function(name, kernel, tuple(sorted(options.items())), cp.cuda.Device().id)


def real_of(dtype: Any) -> str:
    """Name a type in C++."""
    return "float" if np.dtype(dtype) == np.float32 else "double"


def pointer(array: Any) -> Any:
    """Return an array as an argument of a kernel; None is a null pointer."""
    return NULL if array is None else array


def elements(array: Any, axis: int) -> int:
    """Return the distance of neighbours along an axis, in elements."""
    return int(array.strides[axis] // array.itemsize)
