"""``mixkern convert``: convert a model file of an older format."""

import io
import json
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import Path as ZipPath
from zipfile import ZipFile, is_zipfile

import click

from mixkern.cli.option import check_output
from mixkern.cli.output import printable
from mixkern.errors import ModelFileError
from mixkern.imports import optional
from mixkern.io import save
from mixkern.io.archive import DESCRIPTION
from mixkern.io.model import MODELS, public_class
from mixkern.parts import part_type, registered_classes, type_of
from mixkern.validation import as_path
from mixkern.wording import shortened

HEADER, PAYLOAD, SCHEMA = "mixkern.json", "model.skops", "schema.json"
_PAIRS = ("class_weight", "class_shares", "pairwise_kernels_kwargs")  # parameters that are dicts, saved as pairs


def convert_command(old: str, new: str) -> None:
    """Convert a model file, and print the path of the new one."""
    check_output(new, old)
    click.echo(printable(f"Wrote {convert(old, new)}"))


def convert(old: str | PathLike[str], new: str | PathLike[str]) -> Path:
    """Convert a model file of format 1 or 2, written with skops, and return the path of the new one.

    skops restores objects of the classes that a file names, although only of those that a model can have.
    """
    source = as_path(old, ModelFileError)
    if not source.is_file():
        raise ModelFileError(f"{source}: there is no such file.")
    skops = optional("skops.io", purpose="Converting a model file")
    if is_zipfile(source) and ZipPath(source, DESCRIPTION).exists():
        raise ModelFileError(f"{source} is no model of format 1 or 2, but of the present format: use it as it is.")
    for name in MODELS:
        public_class(name)  # registers the classes of all parts
    try:
        with ZipFile(source) as archive:
            notes = json.loads(archive.read(HEADER))["notes"]
            payload, types = _with_present_modules(archive.read(PAYLOAD))
        model = _present(skops.loads(payload, trusted=types))
    except Exception as error:  # of zipfile, json and skops, which names types that are not trusted
        reason = shortened(" ".join(f"{type(error).__name__}: {error}".split()), 200)
        raise ModelFileError(f"{source} is no model of format 1 or 2, or damaged ({reason}).") from error
    return save(model, new, notes=notes)


def _with_present_modules(payload: bytes) -> tuple[bytes, list[str]]:
    """Return a payload with the modules that classes are in now, and the names of these classes as skops has them."""
    present = {cls.__qualname__: cls.__module__ for cls in registered_classes()}
    with ZipFile(io.BytesIO(payload)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def moved(node: dict[str, Any]) -> dict[str, Any]:
        is_own = str(node.get("__module__")).startswith("mixkern.")
        return {**node, "__module__": present.get(node["__class__"], "")} if is_own else node

    schema = json.loads(members[SCHEMA], object_hook=moved)
    with ZipFile(buffer := io.BytesIO(), "w") as archive:
        for name, content in {**members, SCHEMA: json.dumps(schema).encode()}.items():
            archive.writestr(name, content)
    return buffer.getvalue(), [f"{module}.{name}" for name, module in present.items()]


def _present(old: Any) -> Any:
    """Return an object of skops as its class makes it now."""
    if isinstance(old, (list, tuple)):
        return type(old)(_present(each) for each in old)
    kind = type_of(old)
    if kind is None or kind.is_shared or not hasattr(old, "__dict__") or kind.name in ("DecisionFunction", "Labels"):
        return old
    given = dict(vars(old))
    if "intercept_" in given:
        given |= _decision_and_labels(given)
    if "drawn" in given:  # of the novelty in format 1
        given["sampled"] = given["drawn"]
    parts = {name.lstrip("_"): _present(value) for name, value in given.items() if name.lstrip("_") in kind.names}
    parts |= {name: dict(parts[name]) for name in _PAIRS if isinstance(parts.get(name), list)}
    return kind.from_parts(parts)


def _decision_and_labels(given: dict[str, Any]) -> dict[str, Any]:
    """Return the decision function and the labels of an estimator, whose arrays and type were saved in other places."""
    sums = {"support": given.get("_sum_rows"), "coefficients": given.get("_sum_coefficients")}  # of format 1
    sums = vars(given["_decision"]) if "_decision" in given else sums
    parts = {"kernel": None, "intercepts": given["intercept_"], **sums}
    found = {"_decision": part_type("DecisionFunction").from_parts(parts)}
    if "classes_" not in given:
        return found
    category = {"category_type" if name == "of" else name: value for name, value in given.get("_labels") or ()}
    labels = part_type("Labels").from_parts({"classes": given["classes_"], **category})
    return {"probability": False, **given, **found, "_labels": labels}  # some files do not have the parameter
