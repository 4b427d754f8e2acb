"""Imports on demand: public names that load on first use, optional libraries, and Ctrl-C during imports."""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from mixkern.errors import MissingExtraError

EXTRA_OF = {
    "pandas": "data",
    "pyarrow": "file",
    "matplotlib": "plot",
    "PIL": "plot",  # comes with matplotlib
    "skops": "convert",
    "jinja2": "report",
    "python_calamine": "excel",
    "click": "cli",
    "rich": "cli",
    "starlette": "serve",
    "uvicorn": "serve",
    "dask": "dask",
    "distributed": "dask",
    "cupy": "gpu",
    "onnx": "onnx",
}
STOPPED = 128 + signal.SIGINT  # exit code after Ctrl-C, as in shells


def lazy_names(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__`` for public names that are imported when first used.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    modules : dict
        Full name of the module of each public name. A submodule is a public name where it is mapped to itself.

    Examples
    --------
    >>> get, names = lazy_names("mixkern", {"Mixture": "mixkern.density"})
    >>> get("Mixture").__name__
    'Mixture'
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        value = module if modules[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return load, lambda: sorted({*vars(sys.modules[package]), *modules})


def optional(module: str, purpose: str) -> Any:
    """Import an optional library, or raise an error with the command that installs it.

    >>> optional("pandas", purpose="mixkern.datasets").__name__
    'pandas'
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is installed, but broken: its own error is more helpful
        raise MissingExtraError(
            f"{purpose} needs {library}, which is not installed. "
            f"Install it with: pip install 'mixkern[{EXTRA_OF[library]}]'"
        ) from error


class OnDemand:
    """An optional library that is imported when its first name is used.

    >>> OnDemand("pandas", purpose="This table").DataFrame.__name__
    'DataFrame'
    """

    def __init__(self, module: str, purpose: str) -> None:
        self._module, self._purpose = module, purpose

    def __getattr__(self, name: str) -> Any:
        value = getattr(optional(self._module, self._purpose), name)
        setattr(self, name, value)
        return value


pa: Any = OnDemand("pyarrow", purpose="A table in a file")
pc: Any = OnDemand("pyarrow.compute", purpose="A table in a file")
pa_csv: Any = OnDemand("pyarrow.csv", purpose="A table in a file")


def exit_on_interrupt() -> None:
    """Let Ctrl-C end the process at once, without a traceback, until :func:`raise_on_interrupt` is called.

    It is meant for the imports of a command: a ``KeyboardInterrupt`` in the middle of an import may be caught or
    printed by the library that is imported. Where Ctrl-C is ignored, as in a background process, it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit)


def raise_on_interrupt() -> None:
    """Let Ctrl-C raise ``KeyboardInterrupt`` again, after :func:`exit_on_interrupt`."""
    if signal.getsignal(signal.SIGINT) is _exit:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit(_signal: int, _frame: Any) -> None:
    os._exit(STOPPED)  # nothing was written yet
