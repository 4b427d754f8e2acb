"""Fixtures for tests that need a fresh interpreter, or a GPU."""

import json
import subprocess
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from mixkern import device, gpu_array

# Runs snippets in forks of one process, so that the imports of "setup", which take seconds, are made once.
SERVER = """
import json, os, sys, tempfile, traceback
setup, snippets = json.load(sys.stdin)
exec(setup, {"__name__": "__main__"})
found = []
for snippet in snippets:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            code = 0
            try:
                exec(snippet, {"__name__": "__main__"})
            except SystemExit as error:
                code = 0 if error.code is None else 1
                print(error.code, file=sys.stderr)
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
        found.append([os.waitstatus_to_exitcode(status), *texts])
print(json.dumps(found))
"""


@pytest.fixture(scope="session")
def fresh_interpreter():
    """Run snippets of code, each as if alone in an interpreter; return exit code, output and errors of each."""

    def run(setup, snippets):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", SERVER],
            input=json.dumps([setup, list(snippets)]),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    return run


@cache
def _module(name):
    """Import a module of this folder, which is no package."""
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FakeGPU:
    """A GPU that NumPy plays; see fake_gpu.py."""

    stream = 7  # of PyTorch

    def __init__(self, module):
        self.cupy = sys.modules["cupy"]
        self.array, self.tensor = (lambda values: module.ndarray(np.array(values))), module.Tensor
        self.types = module.ndarray, module.Tensor

    def host(self, values):
        """Copy an array or tensor to the host."""
        return np.array(values.host)


class RealGPU:
    """A GPU, with CuPy and, where it is installed, PyTorch."""

    def __init__(self):
        import cupy

        self.cupy, self.array = cupy, cupy.asarray

    @property
    def tensor(self):
        """Copy an array to a tensor on the GPU."""
        torch = pytest.importorskip("torch")
        return lambda values: torch.as_tensor(np.asarray(values), device="cuda")

    @property
    def stream(self):
        """Address of PyTorch's current stream."""
        return pytest.importorskip("torch").cuda.current_stream().cuda_stream

    @property
    def types(self):
        """Types of arrays and tensors."""
        return self.cupy.ndarray, pytest.importorskip("torch").Tensor

    def host(self, values):
        """Copy an array or tensor to the host."""
        return values.get() if isinstance(values, self.cupy.ndarray) else values.cpu().numpy()


@pytest.fixture(params=["fake", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    """A GPU, played by NumPy in every test, and a real one where there is one; settings are restored."""
    monkeypatch.setattr(device._State, "settings", device.Settings())
    if request.param == "cuda":
        yield RealGPU()
        return
    module = _module("fake_gpu")
    module.install(monkeypatch)
    yield FakeGPU(module)
    gpu_array._made_streams.cache_clear()
