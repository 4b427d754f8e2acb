"""Save fitted models to files, and load them."""

import hashlib
import io
import platform
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mixkern.errors import MissingExtraError, ModelFileError, hint
from mixkern.io.archive import FIT, FORMAT, SAVE, SAVE_CODE, ModelArchive, archive_bytes
from mixkern.nodes import NodeReader, NodeWriter, plain_notes
from mixkern.parts import require, type_of
from mixkern.validation import as_path
from mixkern.whole_file import write_whole
from mixkern.wording import shortened

LIBRARIES = ("numpy", "scikit-learn", "scipy")
CLASSIFIERS = ("MixtureSVC", "LaplacianSVC", "TransductiveSVC", "QuasiNewtonS3VC")
MODELS = ("VBMixture", "TableEncoder", *CLASSIFIERS, "MixtureSVR", "MixtureOneClassSVM")  # public names of mixkern
SEARCHES = ("DensitySearch", "SVCSearch")


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
        SHA-256 of the checksums of all members.
    n_bytes : int
        Size of the file.
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
        content = _content(model, plain_notes(notes))
        _parsed(io.BytesIO(content))
    except ModelFileError as error:
        raise error.prefixed(f"This {type(model).__name__} cannot be saved: ") from error
    try:
        return write_whole(target, content)
    except OSError as error:
        raise ModelFileError(f"{target} cannot be written: {error.strerror or error}.") from error


def load(path: str | PathLike[str]) -> Any:
    """Load a model from a file written by :func:`save`; loading a file from an unknown source is safe.

    A file can hold only models of mixkern: no code from it is run, and its content is checked before it is used.
    :func:`mixkern.io.read_model` returns its notes and versions as well.

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
        _check_place(source)
        with source.open("rb") as file:
            return _parsed(file)
    except OSError as error:
        raise ModelFileError(f"{source}: the file cannot be read: {error.strerror or error}.") from error
    except ModelFileError as error:
        raise error.prefixed(f"{source}: ") from error.__cause__


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, as ``sha256sum`` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_place(path: Path) -> None:
    if not path.is_file():
        kind = "it is a folder" if path.is_dir() else "it is no ordinary file"
        reason = kind if path.exists() else "there is no such file"
        step = hint(python=f"{SAVE_CODE} writes a model.", cli=f"This writes a model: {FIT}")
        raise ModelFileError(f"{reason}.", hint=step)


def _check_savable(model: Any) -> None:
    """Raise an error for anything but a fitted model of mixkern."""
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    if name in SEARCHES and not isinstance(model, type):
        step = hint(python="Save its best estimator: save(search.best_estimator_, path).")
        raise ModelFileError("A search cannot be saved.", hint=step)
    kind = type_of(model)
    if kind is None or kind.name not in MODELS:
        raise ModelFileError(
            f"Only a fitted estimator of mixkern ({', '.join(MODELS)}) can be saved, but this is a {name}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        step = hint(python="Fit it first: model.fit(...).")
        raise ModelFileError(f"This {name} is not fitted, so there is nothing to save.", hint=step) from None


def _content(model: Any, notes: dict[str, Any]) -> bytes:
    """Return the bytes of a model's file."""
    writer = NodeWriter()
    node = writer.node(model)
    facts = {
        "format": FORMAT,
        "mixkern": version("mixkern"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "notes": notes,
        "shared": writer.shared,
        "model": node,
    }
    return archive_bytes(facts, writer.arrays)


def public_class(name: str) -> Any:
    """Import one of the models by its public name, which registers the classes of its parts."""
    return getattr(import_module("mixkern"), name)


def _parsed(file: BinaryIO) -> ModelFile:
    """Restore a model and its notes from an open file.

    With valid checksums, an error of NumPy or of a constructor means that mixkern has not written the file; it is
    converted to a ModelFileError.
    """
    archive = ModelArchive(file)
    facts = archive.description
    name = facts["model"].get("class")
    if name not in MODELS:
        raise ModelFileError(f"it holds a {shortened(repr(name), 60)}, which is no estimator of mixkern.")
    public_class(name)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # errors are raised instead
            warnings.simplefilter("ignore")
            require(all(type(each) is str for each in facts["versions"].values()), "list of versions")
            model = NodeReader(archive.array, len(facts["arrays"]), facts["shared"]).model(facts["model"])
            check_is_fitted(model)
    except MissingExtraError:
        raise
    except ModelFileError as error:
        raise error if error.hint else ModelFileError(error.args[0], hint=SAVE) from error
    except Exception as error:
        reason = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 120)  # arrays have several lines
        raise ModelFileError(f"its model cannot be used ({reason}).", hint=SAVE) from error
    saved = {name: facts[name] for name in ("notes", "format", "created", "versions")}
    return ModelFile(model, version=facts["mixkern"], checksum=archive.checksum, n_bytes=archive.n_bytes, **saved)
