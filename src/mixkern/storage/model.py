"""Save fitted models to files, and load them."""

import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mixkern.density import DensitySearch
from mixkern.errors import MissingExtraError, ModelFileError, hint
from mixkern.estimators.base import MixtureEstimator
from mixkern.io.writer import write_whole
from mixkern.search import SVCSearch
from mixkern.storage.archive import (
    FORMAT,
    SAVE,
    ArchiveHeader,
    archive_bytes,
    checksum,
    file_bytes,
    payload_of,
    read_archive,
    read_payload,
)
from mixkern.storage.restore import check_model, restore_model
from mixkern.storage.state import state_of, type_name
from mixkern.storage.trust import ESTIMATORS, MOVED_MODULES
from mixkern.validation import as_path
from mixkern.wording import shortened

LIBRARIES = ("numpy", "scikit-learn", "scipy", "skops")


@dataclass(frozen=True)
class ModelFile:
    """A saved model, with what else its file holds.

    Attributes
    ----------
    model : estimator
        The saved model.
    notes : dict
        The notes given to :func:`save`.
    version : str
        Version of mixkern that wrote the file.
    format : int
        Number of the file format.
    created : str
        Time at which the file was written: UTC, ISO 8601.
    versions : dict of str
        Versions of Python and of the libraries with which it was written.
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
    ({'rows': 2}, 2)
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
    """Save a fitted model to a file, from which :func:`load` restores it.

    The file holds parameters and fitted attributes, no code and no pickle. It is written only after its content has
    been read back without an error; otherwise an older file at this path is left as it was.

    Parameters
    ----------
    model : MixtureSVC, LaplacianSVC, TransductiveSVC, QuasiNewtonS3VC, MixtureSVR, MixtureOneClassSVM, VBMixture or \
TableEncoder
        A fitted model. After a search, save ``search.best_estimator_``.
    path : str or Path
        Path of the file, by convention with the ending ``.mixkern``.
    notes : dict, default=None
        Further values to save, such as the name of the target: texts, numbers, lists and dicts, as JSON allows.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    ModelFileError
        If the model is not fitted, or holds an object that cannot be saved, such as a kernel of another library.

    Notes
    -----
    Not saved are callbacks, and the rows from which :meth:`VBMixture.partial_fit` would continue.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import MixtureSVC, datasets, load, save
    >>> moons = datasets.load("two_moons")
    >>> y = moons.few_labels(per_class=4, random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(moons.X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save(model, f"{folder}/moons.mixkern", notes={"target": "moon"})
    ...     loaded = load(path)
    >>> bool((loaded.predict_proba(moons.X) == model.predict_proba(moons.X)).all())
    True
    """
    target = as_path(path, ModelFileError)
    _check_savable(model)
    try:
        payload = payload_of(state_of(model))
        content = archive_bytes(_header(model, payload, _plain_notes(notes)), payload)
        _parsed(content)
    except ModelFileError as error:
        raise error.prefixed(f"This {type(model).__name__} cannot be saved: ") from error
    try:
        return write_whole(target, content)
    except OSError as error:
        raise ModelFileError(f"{target} cannot be written: {error.strerror or error}.") from error


def load(path: str | PathLike[str]) -> Any:
    """Load a model from a file written by :func:`save`; loading a file from an unknown source is safe.

    A file can hold only models of mixkern: no code from it is run, and its content is checked before it is used.

    Parameters
    ----------
    path : str or Path
        Path of the file.

    Returns
    -------
    estimator
        The fitted model. On the same computer its predictions equal those of the saved one bit for bit.

    Raises
    ------
    ModelFileError
        If the file does not exist, holds no model, is damaged, or was written by an incompatible version.

    See Also
    --------
    mixkern.storage.read_model : Load a model with its notes and versions.

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
    """Load a model with its notes, versions and the time at which it was saved.

    Returns
    -------
    ModelFile

    Raises
    ------
    ModelFileError
        As in :func:`load`.
    """
    source = as_path(path, ModelFileError)
    try:
        return _parsed(file_bytes(source))
    except ModelFileError as error:
        raise error.prefixed(f"{source}: ") from error.__cause__


def _check_savable(model: Any) -> None:
    """Raise an error for anything but a fitted model of mixkern."""
    kind = model.__name__ if isinstance(model, type) else type(model).__name__
    if isinstance(model, (SVCSearch, DensitySearch)):
        step = hint(python="Save its best estimator: save(search.best_estimator_, path).")
        raise ModelFileError("A search cannot be saved.", hint=step)
    if isinstance(model, type) or not isinstance(model, BaseEstimator) or type_name(model) not in ESTIMATORS:
        known = ", ".join(name.rpartition(".")[2] for name in ESTIMATORS)
        raise ModelFileError(f"Only a fitted estimator of mixkern ({known}) can be saved, but this is a {kind}.")
    learned = ("_decision",) if isinstance(model, MixtureEstimator) else ("mixture_", "columns_")
    if not any(hasattr(model, name) for name in learned):
        raise ModelFileError(
            f"This {kind} is not fitted, so there is nothing to save.",
            hint=hint(python="Fit it first: model.fit(...)."),
        )


def _plain_notes(notes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Convert notes to the types of JSON; an error if they hold others."""
    if notes is not None and not isinstance(notes, Mapping):
        raise ModelFileError(f"notes must be a dict, but they are a {type(notes).__name__}.")
    try:
        text = json.dumps(dict(notes or {}), allow_nan=False, default=_item)
        plain: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"notes must be texts, numbers, lists and dicts, as JSON allows: {error}.") from error
    return plain


def _item(value: Any) -> Any:
    """Convert a NumPy number for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"they hold a {type(value).__name__}")


def _header(model: Any, payload: bytes, notes: dict[str, Any]) -> ArchiveHeader:
    return ArchiveHeader(
        format=FORMAT,
        version=version("mixkern"),
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        type=type_name(model),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=notes,
        checksum=checksum(payload),
        n_bytes=len(payload),
    )


def _parsed(content: bytes) -> ModelFile:
    """Restore a model and its header from the bytes of a file.

    With a valid checksum, an error of skops, NumPy, json or a constructor means that mixkern has not written the file;
    it is converted to a ModelFileError.
    """
    header, payload = read_archive(content, version("mixkern"))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # check_model raises errors instead
            warnings.simplefilter("ignore")
            model = restore_model(read_payload(payload, header.format))
            check_model(model)
    except (ModelFileError, MissingExtraError):
        raise
    except Exception as error:
        reason = shortened(f"{type(error).__name__}: {error}", 120)
        raise ModelFileError(f"its model cannot be used ({reason}).", hint=SAVE) from error
    module, _, name = header.type.rpartition(".")
    if type_name(model) != f"{MOVED_MODULES.get(module, module)}.{name}":
        raise ModelFileError(f"its header names a {shortened(header.type, 80)}, but it holds a {type_name(model)}.")
    saved = {name: getattr(header, name) for name in ("notes", "version", "format", "created", "versions", "checksum")}
    return ModelFile(model, n_bytes=len(content), **saved)
