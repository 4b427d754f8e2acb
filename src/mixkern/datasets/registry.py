"""Data sets by name: packaged, generated, or from OpenML."""

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from mixkern.datasets import generators
from mixkern.datasets.dataset import Dataset
from mixkern.datasets.external import OPENML, load_openml
from mixkern.errors import DamagedDatasetError, OptionError, UnknownDatasetError, hint
from mixkern.imports import optional
from mixkern.wording import nearest

N_SATIMAGE = 5  # the paper reduces Satimage's 36 attributes to 5 by a method that it does not name


@cache
def index() -> dict[str, Any]:
    """Return the description of each packaged table, by name."""
    facts: dict[str, Any] = json.loads(_folder().joinpath("index.json").read_text("utf-8"))
    return facts


def load_packaged(name: str) -> Dataset:
    """Read a packaged table and verify its checksum."""
    pandas = optional("pandas", purpose="mixkern.datasets")
    facts = index()[name]
    text = verified_text(_folder().joinpath(f"{name}.csv.gz").read_bytes(), facts["sha256"], name)
    frame = pandas.read_csv(
        io.BytesIO(text),
        na_values=["?"],
        keep_default_na=False,
        dtype=dict.fromkeys(facts["categorical"], "str"),
    )
    y = frame.pop("class")
    texts = {field: facts[field] for field in ("title", "description", "creators", "source", "licence")}
    return Dataset.from_frame(frame, y, facts["continuous"], name=name, **texts)


def principal_components(dataset: Dataset, n_components: int) -> Dataset:
    """Replace the columns, which must have one unit, by their first principal components; labels are not used."""
    from sklearn.decomposition import PCA

    pandas = optional("pandas", purpose="mixkern.datasets")
    # A full decomposition: the randomised one, which PCA may choose by default, differs from call to call.
    scores = PCA(n_components=n_components, svd_solver="full").fit_transform(dataset.X)
    columns = tuple(f"pc{i + 1}" for i in range(n_components))
    remark = f"First {n_components} principal components of {dataset.X.shape[1]} attributes."
    return replace(
        dataset,
        X=pandas.DataFrame(scores, columns=list(columns)),
        continuous=columns,
        description=f"{dataset.description} {remark}",
    )


def verified_text(compressed: bytes, sha256: str, name: str) -> bytes:
    """Decompress a table, or raise an error if its checksum is not the one of the packaged table."""
    try:
        text = gzip.decompress(compressed)
    except (OSError, EOFError) as error:
        raise _damaged(name) from error
    if hashlib.sha256(text).hexdigest() != sha256:
        raise _damaged(name)
    return text


def _damaged(name: str) -> DamagedDatasetError:
    return DamagedDatasetError(
        f"The packaged file of {name!r} is damaged: its checksum is not the published one. "
        "Install mixkern again: pip install --force-reinstall mixkern."
    )


def _folder() -> Traversable:
    return files("mixkern.datasets") / "tables"


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
