"""Arrays on a GPU: their kinds, methods that compute where they are, and their transfer."""

import sys
from threading import Thread

import numpy as np
import pytest

import mixkern
from mixkern import device, engine, gpu_array
from mixkern.errors import MissingExtraError, MixkernError


def test_kinds_of_arrays(gpu):
    array = gpu.array(np.ones(3))
    assert gpu_array.is_gpu_array(array)
    assert gpu_array.namespace(array) is sys.modules["cupy"]
    assert gpu_array.namespace(np.ones(3)) is np
    tensor = gpu.tensor(np.ones(3))
    assert gpu_array.is_gpu_array(tensor)
    assert not gpu_array.is_cupy(tensor)
    assert gpu_array.is_cupy(gpu_array.as_cupy(tensor))
    assert isinstance(gpu_array.like(array, tensor), gpu.types[1])
    assert isinstance(gpu_array.like(array, np.ones(3)), np.ndarray)
    assert gpu_array.like(array, array) is array


def test_bfloat16(gpu, monkeypatch):
    tensor = gpu.tensor(np.array([1.0, 2.5], dtype=np.float32))
    if gpu.stream == 7:  # played by NumPy, which has no such type
        monkeypatch.setattr(tensor, "dtype", "torch.bfloat16")
        monkeypatch.setattr(gpu.types[1], "float", lambda self: gpu.tensor(self.host), raising=False)
    else:
        tensor = tensor.bfloat16()
    found = gpu_array.as_cupy(tensor)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(gpu.host(found), [1.0, 2.5])
    with mixkern.config(dtype="float64"):
        assert gpu_array.gpu_floats(tensor, "X", MixkernError).dtype == np.float64


class Rows:
    """A class with a method of rows."""

    @gpu_array.on_gpu_of_rows
    def spread(self, X, result=None):
        """Return what is given, and keep the settings of this thread and of another one."""
        self.seen = [device.current_settings()]
        other = Thread(target=lambda: self.seen.append(device.current_settings()))
        other.start()
        other.join()
        if result is ZeroDivisionError:
            raise result
        return result


@pytest.mark.parametrize(("dtype", "used"), [("float32", "float32"), ("float64", "float64"), ("int32", "float32")])
@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_a_method_of_rows_on_a_gpu_computes_there(gpu, kind, dtype, used):
    X, rows, own = (gpu.array, gpu.tensor)[kind](np.ones((3, 2), dtype)), Rows(), device.Settings()
    for result in (np.ones(3), np.ones((3, 2), dtype=np.int64), np.ones(3, dtype=bool)):
        found = rows.spread(X=X, result=result)
        assert isinstance(found, gpu.types[kind])
        np.testing.assert_array_equal(gpu.host(found), result)
    for result in (np.array(["a"]), np.ma.array([1.0]), 0.5, None, rows):
        assert rows.spread(X, result) is result
    assert rows.seen == [device.Settings("cuda", used), own]
    assert device.current_settings() == own
    with pytest.raises(ZeroDivisionError):
        rows.spread(X, ZeroDivisionError)
    assert device.current_settings() == own
    with mixkern.config(device="cpu", dtype="float64"):
        rows.spread(X)
        assert rows.seen[0] == device.Settings("cuda", dtype if dtype != "int32" else "float64")


def test_a_method_of_other_rows_has_the_settings(gpu):
    rows, result = Rows(), np.ones(3)
    assert rows.spread(np.ones((3, 2)), result) is result
    assert rows.spread(X=[[1.0]], result=result) is result
    assert rows.seen == [device.Settings()] * 2


def test_functions_of_tensors_use_the_stream_of_pytorch(gpu):
    @gpu_array.on_gpu_of_rows
    def stream(n, X):
        return n * [gpu.cupy.cuda.get_current_stream().ptr]

    assert stream(2, gpu.tensor(np.ones(3))) == stream(2, X=gpu.tensor(np.ones(3))) == 2 * [gpu.stream]
    assert stream(1, gpu.array(np.ones(3))) == stream(1, np.ones(3)) == [0]


def test_streams_wait_for_each_other(gpu, monkeypatch):
    """That of PyTorch for arrays of CuPy, and then that of CuPy for results."""
    if gpu.stream != 7:
        pytest.skip("streams of CuPy cannot be watched")
    waits = []
    monkeypatch.setattr(gpu.cupy.cuda.Stream, "wait_event", lambda self, event: waits.append((self.ptr, event.ptr)))
    with gpu_array.stream_of(gpu.tensor(np.ones(3))):
        assert waits == [(7, 0)]
    assert waits == [(7, 0), (0, 7)]


def test_each_gpu_has_streams(gpu):
    assert gpu_array._streams(0) is gpu_array._streams(0)
    if gpu.stream == 7:  # played by NumPy: there is a second one
        assert gpu_array._streams(0) is not gpu_array._streams(1)


def test_tensors_of_the_host_are_no_gpu_arrays():
    tensor = type("Tensor", (), {"is_cuda": False, "__module__": "torch"})()
    assert not gpu_array.is_gpu_array(tensor)
    assert not gpu_array.is_gpu_array(None)


@pytest.mark.parametrize(
    "use",
    [
        lambda tensor, rows: mixkern.VBMixture().fit(tensor),
        lambda tensor, rows: mixkern.MixtureSVC().fit(tensor, [0, 1, -1]),
        lambda tensor, rows: mixkern.kernels.RBFKernel()(tensor),
        lambda tensor, rows: mixkern.kernels.RBFKernel()(rows, tensor),
        lambda tensor, rows: engine.distance(tensor, np.ones(1), whiteners=np.ones((1, 2))),
        lambda tensor, rows: gpu_array.to_host(tensor),
    ],
    ids=["density", "classifier", "kernel", "other rows", "engine", "transfer"],
)
def test_a_tensor_on_a_gpu_without_cupy(gpu, monkeypatch, use):
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    tensor = gpu.tensor(rows)
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.delitem(sys.modules, "mixkern.engine.gpu", raising=False)
    with pytest.raises(MissingExtraError) as error:
        use(tensor, rows)
    text = 'An array on a GPU needs CuPy, which is not installed. Install it with: pip install "mixkern[gpu]"'
    assert str(error.value) == text


def test_a_broken_cupy_raises_its_own_error(gpu, monkeypatch):
    def broken(name):
        raise ModuleNotFoundError("No module named 'fastrlock'", name="fastrlock")

    monkeypatch.setattr(gpu_array, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="fastrlock"):
        gpu_array.as_cupy(gpu.tensor(np.ones(3)))


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (1009, 3), (7, 11), (5000,)])
@pytest.mark.parametrize("given", ["float64", "float32", "int32"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transfer(gpu, monkeypatch, shape, given, dtype):
    monkeypatch.setattr(gpu_array, "PINNED_BYTES", 4000)
    monkeypatch.setattr(gpu_array, "UNPINNED_BYTES", 100)
    monkeypatch.setattr(gpu_array, "THREADED_BYTES", 4000)
    host = (100 * np.random.default_rng(0).normal(size=shape)).astype(given)
    placed = gpu_array.to_gpu(host, dtype)
    assert placed.dtype == dtype
    np.testing.assert_array_equal(gpu_array.to_host(placed), host.astype(dtype))
    converted = gpu_array.to_host(placed, np.float64)
    assert converted.dtype == np.float64
    np.testing.assert_array_equal(converted, host.astype(dtype))
    np.testing.assert_array_equal(gpu_array.to_host(placed.T), host.astype(dtype).T)
    np.testing.assert_array_equal(gpu_array.to_host(gpu_array.to_gpu(host.T, dtype)), host.T.astype(dtype))


def test_rows_are_centred_before_digits_are_lost(gpu, monkeypatch):
    monkeypatch.setattr(gpu_array, "UNPINNED_BYTES", 100)
    centre = np.array([1e9, 0.0])
    rows = np.random.default_rng(0).normal(size=(501, 2))
    placed = gpu_array.to_host(gpu_array.to_gpu(rows + centre, "float32", centre))
    np.testing.assert_allclose(placed, rows, atol=1e-6)
    assert gpu_array.to_gpu(np.array([[1e9 + 0.5, 1.0]]), "float32", centre).get().tolist() == [[0.5, 1.0]]
