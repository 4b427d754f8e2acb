"""Settings of the device, warnings where no GPU can be used, and kinds of arrays."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import mixkern
from mixkern import device, engine
from mixkern.errors import DeviceWarning, MissingExtraError, OptionError


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.setattr(device._State, "settings", device.Settings())


def fake_cupy(count):
    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count))
    return cupy


def test_the_cpu_is_the_default():
    assert not device.on_gpu()
    assert device.gpu_dtype() == np.float32


def test_settings_hold_until_they_are_changed(gpu):
    mixkern.config(device="cuda", dtype=np.float64)
    assert device.on_gpu()
    assert device.gpu_dtype() == np.float64
    assert repr(mixkern.config()) == "config(device='cuda', dtype='float64')"
    mixkern.config(device="cpu")
    assert not device.on_gpu()
    assert device.gpu_dtype() == np.float64


def test_a_context_restores_them(gpu):
    with mixkern.config(device="cuda"):
        with mixkern.config(dtype="float64"):
            assert device.on_gpu()
        assert device.gpu_dtype() == np.float32
    assert not device.on_gpu()
    with pytest.raises(ZeroDivisionError), mixkern.config(device="cuda"):
        _ = 1 / 0
    assert not device.on_gpu()


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"device": "gpu"}, "device must be 'cpu' or 'cuda', but it is 'gpu'."),
        ({"dtype": "float16"}, "dtype must be 'float32' or 'float64', but it is 'float16'."),
        ({"device": 1}, "device must be 'cpu' or 'cuda', but it is 1."),
    ],
)
def test_wrong_settings(how, text):
    with pytest.raises(OptionError) as error:
        mixkern.config(**how)
    assert str(error.value) == text


def test_without_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    text = (
        'A GPU needs CuPy, which is not installed, so the CPU is used. Install it with: pip install "mixkern\\[gpu\\]"'
    )
    with pytest.warns(DeviceWarning, match=text), mixkern.config(device="cuda"):
        assert not device.on_gpu()


def test_without_a_driver(monkeypatch):
    def count():
        raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(count))
    with pytest.warns(DeviceWarning, match="no usable NVIDIA driver or GPU .cudaErrorInsufficientDriver.*so the CPU"):
        mixkern.config(device="cuda")
    assert not device.on_gpu()


def test_without_a_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(lambda: 0))
    with pytest.warns(DeviceWarning, match="There is no NVIDIA GPU, so the CPU is used."):
        mixkern.config(device="cuda")


def test_kinds_of_arrays(gpu):
    array = gpu.array(np.ones(3))
    assert device.is_gpu_array(array)
    assert device.namespace(array) is sys.modules["cupy"]
    assert device.namespace(np.ones(3)) is np
    tensor = gpu.tensor(np.ones(3))
    assert device.is_gpu_array(tensor)
    assert not device.is_cupy(tensor)
    assert device.is_cupy(device.as_cupy(tensor))
    assert isinstance(device.like(array, tensor), gpu.types[1])
    assert isinstance(device.like(array, np.ones(3)), np.ndarray)
    assert device.like(array, array) is array


def test_tensors_of_the_host_are_no_gpu_arrays():
    tensor = type("Tensor", (), {"is_cuda": False, "__module__": "torch"})()
    assert not device.is_gpu_array(tensor)
    assert not device.is_gpu_array(None)


@pytest.mark.parametrize(
    "use",
    [
        lambda tensor, rows: mixkern.VBMixture().fit(tensor),
        lambda tensor, rows: mixkern.MixtureSVC().fit(tensor, [0, 1, -1]),
        lambda tensor, rows: mixkern.kernels.RBFKernel()(tensor),
        lambda tensor, rows: mixkern.kernels.RBFKernel()(rows, tensor),
        lambda tensor, rows: engine.distance(tensor, np.ones(1), whiteners=np.ones((1, 2))),
        lambda tensor, rows: device.to_host(tensor),
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

    monkeypatch.setattr(device, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="fastrlock"):
        device.as_cupy(gpu.tensor(np.ones(3)))


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (1009, 3), (7, 11), (5000,)])
@pytest.mark.parametrize("given", ["float64", "float32", "int32"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_transfer(gpu, monkeypatch, shape, given, dtype):
    monkeypatch.setattr(device, "PINNED_BYTES", 4000)
    monkeypatch.setattr(device, "UNPINNED_BYTES", 100)
    monkeypatch.setattr(device, "THREADED_BYTES", 4000)
    host = (100 * np.random.default_rng(0).normal(size=shape)).astype(given)
    placed = device.to_gpu(host, dtype)
    assert placed.dtype == dtype
    np.testing.assert_array_equal(device.to_host(placed), host.astype(dtype))
    converted = device.to_host(placed, np.float64)
    assert converted.dtype == np.float64
    np.testing.assert_array_equal(converted, host.astype(dtype))
    np.testing.assert_array_equal(device.to_host(placed.T), host.astype(dtype).T)
    np.testing.assert_array_equal(device.to_host(device.to_gpu(host.T, dtype)), host.T.astype(dtype))


def test_rows_are_centred_before_digits_are_lost(gpu, monkeypatch):
    monkeypatch.setattr(device, "UNPINNED_BYTES", 100)
    centre = np.array([1e9, 0.0])
    rows = np.random.default_rng(0).normal(size=(501, 2))
    placed = device.to_host(device.to_gpu(rows + centre, "float32", centre))
    np.testing.assert_allclose(placed, rows, atol=1e-6)
    assert device.to_gpu(np.array([[1e9 + 0.5, 1.0]]), "float32", centre).get().tolist() == [[0.5, 1.0]]


def test_importing_mixkern_imports_neither_cupy_nor_torch(fresh_interpreter):
    code = "import sys, mixkern; mixkern.MixtureSVC; print(*({'cupy', 'torch'} & set(sys.modules)))"
    ((status, output, errors),) = fresh_interpreter("pass", [code])
    assert status == 0, errors
    assert not output.strip()
