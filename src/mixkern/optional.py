"""Libraries that only some users need, imported where they are used."""

from importlib import import_module
from typing import Any

from mixkern.errors import MissingExtraError

EXTRA_OF = {
    "pandas": "data",
    "pyarrow": "parquet",
    "matplotlib": "plot",
    "PIL": "plot",  # comes with matplotlib
    "skops": "file",
    "click": "cli",
    "rich": "cli",
}


def optional(module: str, purpose: str) -> Any:
    """Import an optional library, or say what it is needed for and what to install.

    >>> optional("pandas", purpose="mixkern.datasets").__name__
    'pandas'
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise  # the library is there, but broken: its own message says more
        raise MissingExtraError(
            f"{purpose} needs {library}, which is not installed. "
            f"Install it with: pip install 'mixkern[{EXTRA_OF[library]}]'"
        ) from error
