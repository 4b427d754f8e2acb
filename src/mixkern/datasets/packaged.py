"""The tables that are packaged with mixkern."""

import gzip
import hashlib
import io
import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from mixkern.datasets.dataset import Dataset
from mixkern.errors import DamagedDatasetError
from mixkern.imports import optional

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
