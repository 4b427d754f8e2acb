"""CuPy, PyTorch and the engine's functions for a GPU, played by NumPy: for tests of what surrounds them.

Arrays of this CuPy are as strict as the real ones: none is converted to NumPy's, or mixed with them, unless that is
asked for.
"""

import sys
from contextlib import nullcontext
from threading import local
from types import ModuleType, SimpleNamespace

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from scipy.linalg import solve_triangular

from mixkern import engine
from mixkern.engine import ProjectedWhiteners


class ndarray(NDArrayOperatorsMixin):  # noqa: N801
    """An array of the GPU, which only ``get`` brings to the host."""

    __array_priority__ = 100

    def __init__(self, host):
        self.host = np.asarray(host)

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc, method, *inputs, **how):
        with np.errstate(all="ignore"):  # CuPy never warns
            return on_gpu(getattr(ufunc, method)(*of_gpu(inputs), **of_gpu(how)))

    def __array_function__(self, function, _types, args, how):
        with np.errstate(all="ignore"):
            return on_gpu(function(*of_gpu(args), **of_gpu(how)))

    def __getattr__(self, name):
        found = getattr(self.host, name)
        if callable(found):
            return lambda *args, **how: on_gpu(found(*of_gpu(args), **of_gpu(how)))
        return on_gpu(found)

    def __getitem__(self, at):
        return ndarray(self.host[of_gpu(at)])

    def __setitem__(self, at, value):
        self.host[of_gpu(at)] = of_gpu(value)

    def __len__(self):
        return len(self.host)

    def __iter__(self):
        return (ndarray(each) for each in self.host)

    def __bool__(self):
        return bool(self.host)

    def __float__(self):
        return float(self.host)

    def __int__(self):
        return int(self.host)

    def get(self, stream=None, out=None, blocking=True):
        if out is None:
            return self.host.copy()
        assert out.dtype == self.host.dtype
        out[...] = self.host
        return out

    def set(self, host, stream=None):
        assert type(host) is np.ndarray
        assert host.dtype == self.host.dtype
        self.host[...] = host

    @property
    def device(self):
        return nullcontext()


ndarray.__module__ = "cupy"


class Tensor:
    """A tensor of PyTorch on a GPU."""

    is_cuda = True
    device = "cuda:0"

    def __init__(self, host):
        self.host = np.asarray(host)
        self.shape, self.ndim, self.dtype = self.host.shape, self.host.ndim, f"torch.{self.host.dtype}"

    def detach(self):
        return self

    def __getitem__(self, at):
        return Tensor(self.host[at])

    def __len__(self):
        return len(self.host)

    def __array__(self, *_, **__):
        raise TypeError("can't convert cuda:0 device type tensor to numpy.")


Tensor.__module__ = "torch"


def on_gpu(value):
    """Put results of NumPy on the GPU; as in CuPy, single numbers are arrays, too."""
    if isinstance(value, tuple):
        return tuple(map(on_gpu, value))
    return ndarray(value) if isinstance(value, (np.ndarray, np.generic)) else value


def of_gpu(value):
    """Take arguments from the GPU; arrays of the host among them are an error."""
    if isinstance(value, ndarray):
        return value.host
    if isinstance(value, (tuple, list)):
        return type(value)(map(of_gpu, value))
    if isinstance(value, dict):
        return {key: of_gpu(each) for key, each in value.items()}
    if type(value) is np.ndarray and value.ndim:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    return value


class Stream:
    """A stream, whose work is done at once."""

    def __init__(self, non_blocking=False, ptr=1):
        self.non_blocking, self.ptr = non_blocking, ptr

    @classmethod
    def from_external(cls, given):
        assert given.__cuda_stream__() == (0, 7)
        return cls(ptr=7)

    def __enter__(self):
        _streams_in_use().append(self)
        return self

    def __exit__(self, *_):
        assert _streams_in_use().pop() is self

    def synchronize(self):
        pass

    def record(self, stream=None):
        assert stream is None or isinstance(stream, Stream)
        return self

    def wait_event(self, event):
        assert isinstance(event, Stream)


Stream.null = Stream(ptr=0)
_in_use = local()


def _streams_in_use():
    """The streams that this thread has entered, first the null stream."""
    if not hasattr(_in_use, "streams"):
        _in_use.streams = [Stream.null]
    return _in_use.streams


class Device(nullcontext):
    """The only GPU, like an H200."""

    id, compute_capability = 0, "90"
    attributes = {"MaxSharedMemoryPerBlockOptin": 232_448}  # noqa: RUF012


class Cupy(ModuleType):
    """CuPy: its functions are those of NumPy."""

    ndarray = ndarray
    random = SimpleNamespace(
        RandomState=lambda seed: SimpleNamespace(
            random_sample=lambda n: ndarray(np.random.RandomState(seed).random_sample(n))
        )
    )
    cuda = SimpleNamespace(
        Stream=Stream,
        Event=Stream,
        Device=Device,
        get_current_stream=lambda: _streams_in_use()[-1],
        using_allocator=lambda _: nullcontext(),
        runtime=SimpleNamespace(getDeviceCount=lambda: 1),
        nvrtc=SimpleNamespace(getVersion=lambda: (13, 0)),
    )

    def asarray(self, given, dtype=None):
        return ndarray(np.asarray(given.host if isinstance(given, ndarray) else given, dtype=dtype))

    def asnumpy(self, given):
        return given.get()

    def from_dlpack(self, given):
        return ndarray(given.host)

    def __getattr__(self, name):
        found = getattr(np, name)
        if not callable(found) or isinstance(found, type):
            return found
        return lambda *args, **how: on_gpu(found(*of_gpu(args), **of_gpu(how)))


def host(value):
    """Give arrays of the GPU in float64 to the engine of the CPU."""
    if not isinstance(value, ndarray):
        return value
    return np.ascontiguousarray(value.host.astype(float) if value.host.dtype.kind == "f" else value.host)


def _matrix(verb):
    def compute(A, shares_A, B=None, shares_B=None, *rest, whiteners, out=None, **how):
        whiteners = whiteners if isinstance(whiteners, ProjectedWhiteners) else host(whiteners)
        given = [host(each) for each in (A, shares_A, B, shares_B, *rest)]
        found = verb(*given, whiteners=whiteners, **{name: host(value) for name, value in how.items()})
        found = ndarray(found.astype(A.dtype))
        if out is None:
            return found
        out[...] = found
        return out

    return compute


def _rounded(components, dtype):
    """Round the parameters to a type, as on a GPU."""
    parts = components.means, components.whiteners, components.log_constants
    return engine.Components(*(each.astype(dtype).astype(float) for each in parts))


def _row_densities(X, components, *, offsets=None, fill=False):
    found = engine.row_densities(host(X), _rounded(components, X.dtype), offsets=host(offsets), fill=fill)
    return found.converted(lambda part: ndarray(part.astype(X.dtype)))


def _moments(X, components, *, offsets=None, weights=None, with_shares=False):
    how = {"offsets": host(offsets), "weights": host(weights), "with_shares": with_shares}
    found = engine.moments(host(X), _rounded(components, X.dtype), **how)
    shares = None if found.shares is None else ndarray(found.shares.astype(X.dtype))
    return engine.Moments(found.counts, found.sums, found.squares, found.log_normaliser, shares)


def modules():
    """Give the modules to put in place of the real ones."""
    gpu = ModuleType("mixkern.engine.gpu")
    for name in ("distance", "kernel", "kernel_times"):
        setattr(gpu, name, _matrix(getattr(engine, name)))
    gpu.row_densities, gpu.moments = _row_densities, _moments
    torch, cupyx = ModuleType("torch"), ModuleType("cupyx")
    torch.Tensor, torch.from_dlpack = Tensor, lambda array: Tensor(array.host)
    place = SimpleNamespace(cuda_stream=7, device=SimpleNamespace(index=0))
    torch.cuda = SimpleNamespace(current_stream=lambda _: place)
    cupyx.empty_pinned, cupyx.errstate = np.empty, lambda linalg: nullcontext()
    algebra = ModuleType("cupyx.scipy.linalg")
    algebra.solve_triangular = lambda *args, **how: on_gpu(solve_triangular(*of_gpu(args), **how))
    return {
        "cupy": Cupy("cupy"),
        "cupyx": cupyx,
        "cupyx.scipy.linalg": algebra,
        "torch": torch,
        "mixkern.engine.gpu": gpu,
    }


def install(monkeypatch):
    """Put them in place for one test, and return CuPy."""
    from mixkern import gpu_array

    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    gpu_array._made_streams.cache_clear()
    return sys.modules["cupy"]
