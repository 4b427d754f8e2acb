"""Data sets by name."""

from collections.abc import Callable
from typing import Any

from mixkern.datasets import generators
from mixkern.datasets.dataset import Dataset
from mixkern.datasets.external import OPENML, load_openml
from mixkern.datasets.packaged import N_SATIMAGE, index, load_packaged, principal_components
from mixkern.errors import OptionError, UnknownDatasetError, hint
from mixkern.imports import optional
from mixkern.wording import nearest

_SEED = 2015  # load() returns the same rows of an artificial data set every time

_GENERATED: dict[str, tuple[str, Callable[..., Any]]] = {
    "clouds": ("Clouds", generators.make_clouds),
    "concentric": ("Concentric", generators.make_concentric),
    "two_moons": ("Two Moons", generators.make_two_moons),
}


def names() -> list[str]:
    """List the twenty data sets of the paper, in alphabetical order.

    >>> len(names()), names()[0]
    (20, 'australian')
    """
    return sorted([*index(), *_GENERATED])


def load(name: str, *, raw: bool = False, data_home: str | None = None) -> Dataset:
    """Load a data set: a packaged one (see :func:`names`), or one of OpenML.

    Parameters
    ----------
    name : str
        One of :func:`names`, or ``"openml:<number or name>"``.
    raw : bool, default=False
        For ``"satimage"``: the 36 attributes instead of their first five principal components.
    data_home : str, default=None
        For OpenML: folder of the copies; by default scikit-learn's own.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from mixkern import datasets
    >>> bank = datasets.load("credit_a")
    >>> bank.X.shape, bank.classes, bank.categorical[:3]
    ((690, 15), ('+', '-'), ('A1', 'A4', 'A5'))
    """
    if not isinstance(name, str):
        raise UnknownDatasetError(f"The name of a data set must be a text, but it is {name!r}.")
    if raw and name != "satimage":
        raise OptionError(f"raw=True is for 'satimage' only, not for {name!r}.")
    if name.startswith(OPENML):
        return load_openml(name, data_home)
    if name in _GENERATED:
        return _load_generated(name)
    if name not in index():
        raise UnknownDatasetError(
            f"There is no data set {name!r}.{nearest(name, names())} 'openml:<number or name>' loads one of OpenML.",
            hint=hint(python="List all names: mixkern.datasets.names().", cli="List all names: mixkern datasets."),
        )
    dataset = load_packaged(name)
    return principal_components(dataset, N_SATIMAGE) if name == "satimage" and not raw else dataset


def _load_generated(name: str) -> Dataset:
    pandas = optional("pandas", purpose="mixkern.datasets")
    title, make = _GENERATED[name]
    X, y = make(random_state=_SEED)
    return Dataset.from_frame(
        pandas.DataFrame(X, columns=["x1", "x2"]),
        pandas.Series(y, name="class"),
        ["x1", "x2"],
        name=name,
        title=title,
        description=str(make.__doc__).partition("\n")[0],
        creators="mixkern",
        source=f"drawn by mixkern.datasets.{make.__name__}(random_state={_SEED})",
        licence="none needed: generated",
    )
