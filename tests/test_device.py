"""Settings of the device, and warnings where no GPU can be used."""

import sys
from threading import Thread
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import mixkern
from mixkern import device
from mixkern.errors import DeviceWarning, OptionError


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.setattr(device._State, "settings", device.Settings())


def fake_cupy(count, version=lambda: (13, 0)):
    cupy = ModuleType("cupy")
    nvrtc = SimpleNamespace(getVersion=version)
    cupy.cuda = SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=count), nvrtc=nvrtc)
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


def test_settings_of_a_call_are_those_of_its_thread(gpu):
    seen, own = [], device.Settings("cuda", "float64")
    with device.using(own):
        assert device.current_settings() == own
        thread = Thread(target=lambda: seen.append(device.current_settings()))
        thread.start()
        thread.join()
        with device.using(device.Settings()):
            assert not device.on_gpu()
        with device.using(own):
            assert device.on_gpu()
    assert seen == [device.Settings()] == [device.current_settings()]


def test_settings_of_a_call_stay_when_those_of_the_process_change(monkeypatch):
    monkeypatch.setattr(device._State, "settings", device.Settings())
    with device.using(device.current_settings()), mixkern.config(dtype="float64"):
        assert device.current_settings() == device.Settings()
    assert device.current_settings() == device.Settings()


def test_settings_of_a_call_that_has_no_gpu(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(lambda: 0))
    with (
        pytest.warns(DeviceWarning, match="There is no NVIDIA GPU, so the CPU is used."),
        device.using(device.Settings("cuda", "float64")),
    ):
        assert device.current_settings() == device.Settings("cpu", "float64")


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


def test_without_the_libraries_of_cuda(monkeypatch):
    def version():
        raise RuntimeError('Failure finding "libnvrtc.so.13"')

    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(lambda: 1, version))
    text = (
        r'CuPy does not find the libraries of CUDA .*libnvrtc.so.13.*the CPU is used. Install .*"cupy-cuda13x\[ctk\]"'
    )
    with pytest.warns(DeviceWarning, match=text):
        mixkern.config(device="cuda")
    assert not device.on_gpu()


def test_importing_mixkern_imports_neither_cupy_nor_torch(fresh_interpreter):
    code = "import sys, mixkern; mixkern.MixtureSVC; print(*({'cupy', 'torch'} & set(sys.modules)))"
    ((status, output, errors),) = fresh_interpreter("pass", [code])
    assert status == 0, errors
    assert not output.strip()
