"""Data sets of OpenML, where a network exists."""

from typing import Any
from urllib.error import URLError

from sklearn.datasets import fetch_openml

from mixkern.datasets.dataset import Dataset
from mixkern.errors import DownloadError, NoTargetError
from mixkern.imports import optional

PREFIX = "openml:"


def load_openml(name: str, data_home: str | None = None) -> Dataset:
    """Fetch a data set by its number or its name.

    scikit-learn keeps a copy, so that the second time needs no network.

    Parameters
    ----------
    name : str
        ``"openml:61"`` or ``"openml:iris"``. A name stands for its oldest active version; a number is exact.
    data_home : str, default=None
        Folder of the copies; by default scikit-learn's own.
    """
    optional("pandas", purpose="mixkern.datasets")
    key = name.removeprefix(PREFIX).strip()
    if not key:
        raise DownloadError("'openml:' is followed by a number or a name, as in 'openml:61' or 'openml:iris'.")
    which: dict[str, Any] = {"data_id": int(key)} if key.isdigit() else {"name": key}
    try:
        bunch = fetch_openml(**which, as_frame=True, parser="liac-arff", data_home=data_home)
    except (URLError, TimeoutError) as error:
        raise DownloadError(
            f"OpenML could not be reached for {name!r} ({error}). Check the network; the sets of "
            "mixkern.datasets.names() need none."
        ) from error
    except ValueError as error:  # scikit-learn's answer to an unknown name, and to tables that it cannot read
        raise DownloadError(f"OpenML gives no table for {name!r}: {error}") from error
    return _dataset(name, bunch)


def _dataset(name: str, bunch: Any) -> Dataset:
    if bunch.target is None or getattr(bunch.target, "ndim", 1) != 1:
        raise NoTargetError(
            f"{name!r} does not say which one column holds the labels. Take the frame yourself: "
            "sklearn.datasets.fetch_openml(..., target_column=...)."
        )
    X = bunch.data
    continuous = [c for c in X.columns if X[c].dtype.kind in "iuf"]
    categorical = [c for c in X.columns if c not in continuous]
    details = bunch.details
    return Dataset(
        name=name,
        title=str(details["name"]),
        X=X.astype({**dict.fromkeys(continuous, "float64"), **dict.fromkeys(categorical, "category")}),
        y=bunch.target.rename("class"),
        continuous=tuple(continuous),
        categorical=tuple(categorical),
        description=str(bunch.DESCR),
        creators=str(details.get("creator", "not stated")),
        source=f"OpenML data set {details['id']}, version {details['version']}",
        licence=str(details.get("licence", "not stated")),
    )
