"""Arrays of the host on a GPU, and arguments of kernels."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from . import emulation


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def compiled(request, monkeypatch):
    """The module under test, with CuPy played by NumPy and with the real one."""
    if request.param == "cuda":
        pytest.importorskip("cupy")
        yield import_module("mixkern.engine.gpu.compiled")
        return
    with emulation.installed(monkeypatch):
        yield import_module("mixkern.engine.gpu.compiled")


@pytest.mark.parametrize("place", ["placed", "kept"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_are_copied_to_the_gpu(compiled, place, dtype):
    host = np.arange(12.0).reshape(3, 4)
    for given in (host, host.T, host[:, ::2], host[:0]):
        found = getattr(compiled, place)(given, dtype)
        assert isinstance(found, compiled.cp.ndarray)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.get(), given)
        np.testing.assert_array_equal(getattr(compiled, place)(found, "float64").get(), given)


def test_limits_of_shared_memory_are_set_once(monkeypatch):
    """They belong to the kernel, which all threads share."""
    made = []

    class RawModule:
        def __init__(self, **how):
            assert "-DREAL=float" in how["options"]

        def get_function(self, name):
            made.append(SimpleNamespace(name=name, max_dynamic_shared_size_bytes=None))
            return made[-1]

    with emulation.installed(monkeypatch) as pairs:
        compiled = import_module("mixkern.engine.gpu.compiled")
        monkeypatch.setattr(type(pairs.cp), "RawModule", RawModule, raising=False)
        for memory, limit in ((0, None), (48 * 1024, None), (48 * 1024 + 1, 48 * 1024 + 1)):
            found = compiled.function("pairs", "some_kernel", shared_memory=memory, REAL="float")
            assert found is compiled.function("pairs", "some_kernel", shared_memory=memory, REAL="float")
            assert found.max_dynamic_shared_size_bytes == limit
    assert len(made) == 3


def test_small_arrays_are_kept(compiled, monkeypatch):
    host = np.arange(6.0)
    found = compiled.kept(host, "float32")
    assert compiled.kept(host.copy(), "float32") is found
    assert compiled.kept(host, "float64") is not found
    assert compiled.kept(host.reshape(2, 3), "float32") is not found
    host[3] = -1.0
    np.testing.assert_array_equal(compiled.kept(host, "float32").get(), host)
    assert found.get()[3] == 3.0
    monkeypatch.setattr(compiled, "MOST_KEPT", 5)
    assert compiled.kept(host, "float32") is not compiled.kept(host, "float32")
