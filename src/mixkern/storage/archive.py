"""The model file: a zip archive of a header in JSON and a payload, the model as skops writes it.

A file may be damaged, or made to do harm. So sizes are checked before anything is unpacked, and nothing is used before
its checksum has been verified.
"""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from mixkern.errors import ModelFileError, hint
from mixkern.imports import optional
from mixkern.storage.trust import MOVED_MODULES, SCHEMA, TYPES, check_payload, parsed_schema, stored_sizes, walk_nodes
from mixkern.wording import shortened

FORMAT = 2  # of the files that are written; one more whenever an older mixkern could not read them
HEADER, PAYLOAD = "mixkern.json", "model.skops"

LARGEST = 4 * 2**30  # bytes, of a file or of what it unpacks to
LARGEST_HEADER = 16 * 2**20
MOST_UNPACKED = 200  # times the size of a file: models have 2 to 50, more with many columns
SMALL = 2**24  # bytes that may be unpacked from any file

SAVE_CODE, FIT = "mixkern.save(model, path)", "mixkern fit TABLE --target COLUMN -o MODEL"
SAVE = hint(python=f"Save the model again: {SAVE_CODE}.", cli=f"Write it again: {FIT}")

_YEAR_ONE = (1980, 1, 1, 0, 0, 0)  # the first of zip: equal models give equal files, whenever they are written


@dataclass(frozen=True)
class ArchiveHeader:
    """Version, type, notes and checksum of a model."""

    format: int
    version: str  # of mixkern
    versions: dict[str, str]  # of what it was made with
    type: str  # of the model
    created: str  # UTC, ISO 8601
    notes: dict[str, Any]
    checksum: str  # SHA-256 of the payload
    n_bytes: int  # of the payload

    def to_json(self) -> str:
        """Return the header as JSON."""
        facts = {
            "format": self.format,
            "mixkern": self.version,
            "class": self.type,
            "created": self.created,
            "versions": self.versions,
            "notes": self.notes,
            "payload": {"sha256": self.checksum, "size": self.n_bytes},
        }
        return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def checksum(payload: bytes) -> str:
    """Return the SHA-256 of a payload."""
    return hashlib.sha256(payload).hexdigest()


def zipped(members: dict[str, bytes], compression: int) -> bytes:
    """Return a zip archive that depends only on its members."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            info = ZipInfo(name, _YEAR_ONE)
            info.compress_type = compression
            info.create_system = 3  # the same on all systems
            archive.writestr(info, content)
    return buffer.getvalue()


def archive_bytes(header: ArchiveHeader, payload: bytes) -> bytes:
    """Return the bytes of a model file."""
    return zipped({HEADER: header.to_json().encode(), PAYLOAD: payload}, ZIP_DEFLATED)


def file_bytes(path: Path) -> bytes:
    """Return the bytes of a file."""
    try:
        if not path.exists():
            step = hint(python="mixkern.save(model, path) writes one.", cli=f"This writes one: {FIT}")
            raise ModelFileError("there is no such file.", hint=step)
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "no ordinary file"
            step = hint(
                python="Give the path of a file that mixkern.save has written.",
                cli="Give the path of a file that mixkern fit has written.",
            )
            raise ModelFileError(f"it is {kind}.", hint=step)
        if path.stat().st_size > LARGEST:
            raise ModelFileError(f"the file is larger than {LARGEST / 2**30:g} GB, and models are smaller.")
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror or error}.") from error


def read_archive(content: bytes, own_version: str) -> tuple[ArchiveHeader, bytes]:
    """Return the header and the payload of a model file.

    Parameters
    ----------
    content : bytes
        Content of the file.
    own_version : str
        Version of this mixkern, for messages.
    """
    if not content:
        raise ModelFileError("the file is empty.", hint=SAVE)
    if content[:1] == b"\x80":
        raise ModelFileError(
            "it looks like a pickle, and reading a pickle may run any code.",
            hint=hint(python="Save the model with mixkern.save.", cli=SAVE.cli),
        )
    if not content.startswith(b"PK"):
        raise ModelFileError(
            "it is no model.",
            hint=hint(python=f"{SAVE_CODE} writes one.", cli=f"Give the model before the table. To write one: {FIT}"),
        )
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            infos = _members(archive, len(content))
            header = read_header(archive.read(infos[HEADER]), own_version)
            payload = archive.read(infos[PAYLOAD])
    except ModelFileError:
        raise
    except Exception as error:  # zipfile, zlib and struct have different ones
        raise ModelFileError(
            f"it is no model, or damaged: no zip that can be read ({shortened(str(error), 80)}). Copy it again.",
            hint=hint(python=f"Or save it again: {SAVE_CODE}.", cli=f"Or write it again: {FIT}"),
        ) from error
    if not len(payload) == header.n_bytes == infos[PAYLOAD].file_size or checksum(payload) != header.checksum:
        raise ModelFileError("the file is damaged: its checksum is wrong. Copy it again, or write it again.")
    return header, payload


def _members(archive: ZipFile, n_bytes: int) -> dict[str, ZipInfo]:
    """Return the members by name, after their names, sizes and compression have been checked."""
    infos = archive.infolist()
    names = sorted(info.filename for info in infos)
    if names != sorted((HEADER, PAYLOAD)):
        found = ", ".join(repr(shortened(name)) for name in names[:5]) or "nothing"
        raise ModelFileError(f"expected {HEADER} and {PAYLOAD}, each once, but it holds {found}.")
    for info in infos:
        limit = LARGEST_HEADER if info.filename == HEADER else LARGEST
        most = min(limit, max(SMALL, MOST_UNPACKED * n_bytes))
        if info.file_size > most or info.compress_size > n_bytes:
            raise ModelFileError(f"{info.filename} would take {info.file_size} bytes, more than that of any model.")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ModelFileError(f"{info.filename} is compressed in a way that mixkern never writes.")
    return {info.filename: info for info in infos}


def read_header(text: bytes, own_version: str) -> ArchiveHeader:
    """Return the header of a file; a file of another format is an error."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its {HEADER} is not JSON.", hint=SAVE) from error
    number = _fact(facts, "format", int)
    version = _fact(facts, "mixkern", str)
    if number > FORMAT:
        raise ModelFileError(
            f"it was written by mixkern {shortened(version, 20)}, which is newer than this one ({own_version}). "
            "Update it: pip install --upgrade mixkern"
        )
    if number < 1:
        raise ModelFileError(f"its {HEADER} has format {number}, and formats begin with 1.")
    payload, versions = _fact(facts, "payload", dict), _fact(facts, "versions", dict)
    return ArchiveHeader(
        format=number,
        version=version,
        versions={name: _fact(versions, name, str) for name in versions},
        type=_fact(facts, "class", str),
        created=_fact(facts, "created", str),
        notes=_fact(facts, "notes", dict),
        checksum=_fact(payload, "sha256", str),
        n_bytes=_fact(payload, "size", int),
    )


def _fact(facts: Any, name: str, kind: type) -> Any:
    """Return one entry of the header, which must have the right type."""
    if not isinstance(facts, dict) or type(facts.get(name)) is not kind:
        raise ModelFileError(f"its {HEADER} has no {name!r}, or of another type.", hint=SAVE)
    return facts[name]


def payload_of(state: Any) -> bytes:
    """Return the payload of a model, given by :func:`mixkern.storage.state.state_of`.

    skops numbers objects by their address in memory. Here only arrays are numbered, by their order, equal arrays alike,
    so that equal models give equal bytes. Members are not compressed, because the archive compresses them together.
    """
    skops = optional("skops.io", purpose="mixkern.save")
    with ZipFile(io.BytesIO(skops.dumps(state))) as archive:
        schema = json.loads(archive.read(SCHEMA))
        files = {name: archive.read(name) for name in archive.namelist() if name != SCHEMA}
    members: dict[str, bytes] = {}
    numbers: dict[str, int] = {}
    for part in _dicts(schema):
        part.pop("__id__", None)
    for node in walk_nodes(schema):
        if node["__loader__"] == "NdArrayNode" and "file" in node:
            content = files[node["file"]]
            number = numbers.setdefault(checksum(content), len(numbers) + 1)
            node["__id__"], node["file"] = number, f"{number}.npy"
            members[node["file"]] = content
    return zipped({SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **members}, ZIP_STORED)


def _dicts(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield all dicts of a tree, before what is below them."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def read_payload(payload: bytes, format: int = FORMAT) -> Any:  # noqa: A002
    """Return the objects of a payload, after its types have been checked."""
    skops = optional("skops.io", purpose="mixkern.load")
    if format < FORMAT:
        payload = _with_current_modules(payload)
    check_payload(payload)
    return skops.loads(payload, trusted=list(TYPES))


def _with_current_modules(payload: bytes) -> bytes:
    """Return a payload of an older format with the modules that its types are in now."""
    with ZipFile(io.BytesIO(payload)) as archive:
        sizes = stored_sizes(archive, len(payload))
        schema = parsed_schema(archive.read(SCHEMA))
        members = {name: archive.read(name) for name in sizes if name != SCHEMA}
    for part in _dicts(schema):
        if isinstance(part.get("__module__"), str):
            part["__module__"] = MOVED_MODULES.get(part["__module__"], part["__module__"])
    return zipped({SCHEMA: json.dumps(schema).encode(), **members}, ZIP_STORED)
