"""Saving a fitted model, and loading one that a stranger may have made."""

import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mixkern.errors import MissingExtraError, ModelFileError, hint
from mixkern.io.writer import write_whole
from mixkern.search import SVCSearch
from mixkern.storage.archive import FORMAT, SAVE, Header, checksum, file_bytes, packed, unpacked
from mixkern.storage.payload import read, written
from mixkern.storage.restore import model_of
from mixkern.storage.state import bare, type_name
from mixkern.storage.trust import ESTIMATORS
from mixkern.storage.verify import check_sound
from mixkern.wording import shortened

LIBRARIES = ("numpy", "scikit-learn", "scipy", "skops")


@dataclass(frozen=True)
class ModelFile:
    """A model, and what its file says about it.

    Attributes
    ----------
    model : estimator
        As it was saved.
    notes : dict
        What was kept beside it.
    version : str
        Of the mixkern that wrote the file.
    format : int
        Of the file.
    created : str
        When it was written: UTC, ISO 8601.
    versions : dict of str
        Of Python and the libraries that the model was saved with.
    checksum : str
        SHA-256 of the model.
    n_bytes : int
        Size of the file.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import TableEncoder, storage
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = storage.save(TableEncoder().fit([[1.5], [2.5]]), f"{folder}/encoder.mixkern", notes={"rows": 2})
    ...     file = storage.read_model(path)
    >>> file.notes, file.format
    ({'rows': 2}, 1)
    """

    model: Any
    notes: dict[str, Any]
    version: str
    format: int
    created: str
    versions: dict[str, str]
    checksum: str
    n_bytes: int


def save(model: Any, path: str | PathLike[str], *, notes: Mapping[str, Any] | None = None) -> Path:
    """Write a fitted model to a file, from which :func:`load` makes the same model anywhere.

    The file holds settings and what was learned, no code and no pickle. It appears once it is whole and has been read
    back; a failure leaves an older file as it was.

    Parameters
    ----------
    model : MixtureSVC, LaplacianSVC, TransductiveSVC, QuasiNewtonS3VC, MixtureSVR, MixtureOneClassSVM, VBMixture or \
TableEncoder
        Fitted. Of a search, save what it has found: ``search.best_estimator_``.
    path : str or Path
        Where to; ``.mixkern`` is a good ending.
    notes : dict, default=None
        Anything that JSON can hold, kept beside the model: the target's name, the estimated accuracy.

    Returns
    -------
    Path
        Where it is.

    Raises
    ------
    ModelFileError
        For a model that is not fitted, or that holds what a file may not: a kernel of your own, for one.

    Notes
    -----
    What only a further fit needs is left out: rows that :meth:`VBMixture.partial_fit` would go on from, and callbacks.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import MixtureSVC, datasets, load, save
    >>> moons = datasets.load("two_moons")
    >>> y = moons.few_labels(per_class=4, random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(moons.X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, f"{folder}/moons.mixkern", notes={"target": "moon"})
    ...     again = load(path)
    >>> bool((again.predict_proba(moons.X) == model.predict_proba(moons.X)).all())
    True
    """
    target = Path(fspath(path))
    _check_model(model)
    try:
        payload = written(bare(model))
        content = packed(_header(model, payload, _plain_notes(notes)), payload)
        _opened(content)
    except ModelFileError as error:
        raise error.prefixed(f"This {type(model).__name__} cannot be saved: ") from error
    try:
        return write_whole(target, content)
    except OSError as error:
        raise ModelFileError(f"{target} cannot be written: {error.strerror or error}.") from error


def load(path: str | PathLike[str]) -> Any:
    """Read a model that :func:`save` has written, whoever sent it.

    A file can hold models of mixkern and nothing else: whatever is in it, no code of its own is run, and nothing that
    it describes is called before it has been checked.

    Parameters
    ----------
    path : str or Path
        Of the file.

    Returns
    -------
    estimator
        Fitted; it predicts what the saved one did, bit for bit on the same machine.

    Raises
    ------
    ModelFileError
        Where the file is not there, is no model, is damaged, comes from a newer mixkern, or holds anything else.

    See Also
    --------
    mixkern.storage.read_model : the model with its notes and versions.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import TableEncoder, load, save
    >>> table = [[1.5, "red"], [2.5, "blue"], [4.0, "red"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(TableEncoder(categorical=[1]).fit(table), f"{folder}/encoder.mixkern")
    ...     encoder = load(path)
    >>> encoder.columns_[1].categories
    ('blue', 'red')
    """
    return read_model(path).model


def read_model(path: str | PathLike[str]) -> ModelFile:
    """Read a model together with its notes, and with what its file says about its making.

    Returns
    -------
    ModelFile

    Raises
    ------
    ModelFileError
        As in :func:`load`.
    """
    place = Path(fspath(path))
    try:
        return _opened(file_bytes(place))
    except ModelFileError as error:
        raise error.prefixed(f"{place}: ") from error.__cause__


def _check_model(model: Any) -> None:
    """Refuse what is no fitted model of mixkern, and say what to do."""
    kind = model.__name__ if isinstance(model, type) else type(model).__name__
    if isinstance(model, SVCSearch):
        step = hint(python="Save what it has found: save(search.best_estimator_, path).")
        raise ModelFileError("A search is no model.", hint=step)
    if isinstance(model, type) or not isinstance(model, BaseEstimator) or type_name(model) not in ESTIMATORS:
        known = ", ".join(name.rpartition(".")[2] for name in ESTIMATORS)
        raise ModelFileError(f"mixkern.save takes a fitted estimator of mixkern ({known}), but this is a {kind}.")
    if not (hasattr(model, "mixture_") or hasattr(model, "columns_")):
        raise ModelFileError(
            f"This {kind} is not fitted, so there is nothing to save.",
            hint=hint(python="Fit it first: model.fit(...)."),
        )


def _plain_notes(notes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give notes as JSON gives them back."""
    if notes is not None and not isinstance(notes, Mapping):
        raise ModelFileError(f"notes must be a dict, but they are a {type(notes).__name__}.")
    try:
        text = json.dumps(dict(notes or {}), allow_nan=False, default=_item)
        plain: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"notes must be texts, numbers, lists and dicts, as JSON has them: {error}.") from error
    return plain


def _item(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"they hold a {type(value).__name__}")


def _header(model: Any, payload: bytes, notes: dict[str, Any]) -> Header:
    return Header(
        format=FORMAT,
        version=version("mixkern"),
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        type=type_name(model),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=notes,
        checksum=checksum(payload),
        n_bytes=len(payload),
    )


def _opened(content: bytes) -> ModelFile:
    """Read the bytes of a file.

    Once the checksum is right, whatever still goes wrong has one cause: somebody has made the file by hand. skops,
    NumPy, json and the model's own parts each have their word for it; here it is always a ModelFileError.
    """
    header, payload = unpacked(content, version("mixkern"))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # strange numbers make errors, or nothing
            warnings.simplefilter("ignore")
            model = model_of(read(payload))
            check_sound(model)
    except (ModelFileError, MissingExtraError):
        raise
    except Exception as error:
        reason = shortened(f"{type(error).__name__}: {error}", 120)
        raise ModelFileError(f"its model cannot be used ({reason}).", hint=SAVE) from error
    if type_name(model) != header.type:
        raise ModelFileError(f"it says that it holds a {shortened(header.type, 80)}, but holds a {type_name(model)}.")
    return ModelFile(
        model,
        header.notes,
        header.version,
        header.format,
        header.created,
        header.versions,
        header.checksum,
        len(content),
    )
