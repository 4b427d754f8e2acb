"""The kernels of a GPU, compiled for the processor: pairs.cu and density.cu with host.hpp in place of CUDA."""

import ctypes
import os
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np

from .emulation import PRESET_SHARED

HEADER = Path(__file__).with_name("host.hpp")
KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\((?:[^()]|\([^()]*\))*\))?\s*(\w+)\(')
FLAGS = ["-std=c++17", "-O1", "-shared", "-fPIC", "-w"]


def compiler():
    """Return the C++ compiler that extensions are built with, or None."""
    return shutil.which(os.environ.get("CXX", "c++"))


class Compiled:
    """Kernels compiled into a folder, each file once for each set of options.

    Parameters
    ----------
    folder : path
        Where libraries are written.
    capability : int
        Compute capability: 90 or more for what Hopper and later processors run.
    shared_memory : int
        Bytes that a block of threads can have.
    """

    def __init__(self, folder, *, capability, shared_memory):
        self.folder, self.bulk_copies, self.libraries = Path(folder), capability >= 90, {}
        self.card = {"capability": capability, "shared_memory": shared_memory}

    def function(self, name, kernel, *, shared_memory=0, **options):
        """Return a kernel, as mixkern.engine.gpu.compiled.function does."""
        assert shared_memory <= self.card["shared_memory"]
        key = name, *sorted(options.items())
        if key not in self.libraries:
            self.libraries[key] = self._built(name, options)
        return Launch(getattr(self.libraries[key], f"launch_{kernel}"), shared_memory)

    def _built(self, name, options):
        kernels = files("mixkern.engine.gpu").joinpath(f"{name}.cu").read_text("utf-8")
        source = self.folder / f"{len(self.libraries)}-{int(self.bulk_copies)}.cpp"
        launches = "".join(f"LAUNCH({each})\n" for each in KERNEL.findall(_selected(kernels, options)))
        source.write_text(f'#include "{HEADER}"\n{kernels}\n{launches}', "utf-8")
        definitions = [f"-D{key}={value}" for key, value in {**options, "BULK_COPIES": int(self.bulk_copies)}.items()]
        library = source.with_suffix(".so")
        subprocess.run([compiler(), *FLAGS, *definitions, str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))


def _selected(source, options):
    """Leave out what is compiled only where STEPS is defined, if it is not."""
    return source if "STEPS" in options else re.sub(r"#ifdef STEPS\n.*?\n#endif", "", source, flags=re.DOTALL)


class Launch:
    """A kernel, called like one of CuPy."""

    def __init__(self, launch, shared_memory):
        self.launch, self.shared_memory = launch, shared_memory

    def __call__(self, grid, block, arguments, shared_mem=0):
        assert shared_mem <= max(self.shared_memory, PRESET_SHARED)
        given = (ctypes.c_uint64 * len(arguments))(*map(_bits, arguments))
        x, y, z = (*grid, 1, 1)[:3]
        assert self.launch(given, x, y, z, block[0]) == 0, "threads wait for ever"


def _bits(argument):
    """Return an argument as 64 bits: the address of an array, a whole number or a double."""
    if hasattr(argument, "host"):
        return argument.host.ctypes.data
    kind = np.float64 if isinstance(argument, float) else np.int64
    return int(np.array(argument).astype(kind).view(np.uint64))
