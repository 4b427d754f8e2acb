"""The container of a model: a zip of two members, one that says what is inside, and the model itself.

Whoever made a file may have meant harm, or the file may have lost a part on its way. So sizes are read before
anything is unpacked, and nothing is used before its checksum is right.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from mixkern.errors import ModelFileError, hint
from mixkern.wording import shortened

FORMAT = 1  # of the files that are written; one more whenever an older mixkern could not read them
HEADER, PAYLOAD = "mixkern.json", "model.skops"

LARGEST = 4 * 2**30  # bytes, of a file or of what it unpacks to
LARGEST_HEADER = 16 * 2**20
MOST_UNPACKED = 200  # times the size of a file: real models have 2 to 50, the most where columns are many
SMALL = 2**24  # bytes that may be unpacked from any file

SAVE_CODE, FIT = "mixkern.save(model, path)", "mixkern fit TABLE --target COLUMN -o MODEL"
SAVE = hint(python=f"Save the model again: {SAVE_CODE}.", cli=f"Write it again: {FIT}")

_YEAR_ONE = (1980, 1, 1, 0, 0, 0)  # of zip: equal models make equal files, whenever they are written


@dataclass(frozen=True)
class Header:
    """What a file says about itself."""

    format: int
    version: str  # of mixkern
    versions: dict[str, str]  # of what it was made with
    type: str  # of the model
    created: str  # UTC, ISO 8601
    notes: dict[str, Any]
    checksum: str  # SHA-256 of the payload
    n_bytes: int  # of the payload

    def to_json(self) -> str:
        """Write it down."""
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
    """Give the SHA-256 of a payload."""
    return hashlib.sha256(payload).hexdigest()


def zipped(members: dict[str, bytes], compression: int) -> bytes:
    """Make a zip that depends on its members and on nothing else."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            info = ZipInfo(name, _YEAR_ONE)
            info.compress_type = compression
            info.create_system = 3  # whatever the system: equal files everywhere
            archive.writestr(info, content)
    return buffer.getvalue()


def packed(header: Header, payload: bytes) -> bytes:
    """Give the bytes of a file."""
    return zipped({HEADER: header.to_json().encode(), PAYLOAD: payload}, ZIP_DEFLATED)


def file_bytes(path: Path) -> bytes:
    """Read a file that may be anything."""
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
            raise ModelFileError(f"the file is larger than {LARGEST / 2**30:g} GB, as no model is.")
        return path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"the file cannot be read: {error.strerror or error}.") from error


def unpacked(content: bytes, ours: str) -> tuple[Header, bytes]:
    """Read the container, and give what it says and what it holds.

    Parameters
    ----------
    content : bytes
        Of the file.
    ours : str
        Version of this mixkern, for a file from a newer one.
    """
    if not content:
        raise ModelFileError("the file is empty.", hint=SAVE)
    if content[:1] == b"\x80":
        raise ModelFileError(
            "it looks like a pickle, and reading a pickle may run any code.",
            hint=hint(python="Save the model with mixkern.save.", cli=SAVE.cli),
        )
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            infos = _members(archive, len(content))
            header = header_of(archive.read(infos[HEADER]), ours)
            payload = archive.read(infos[PAYLOAD])
    except ModelFileError:
        raise
    except Exception as error:  # zipfile, zlib and struct each have their own
        raise ModelFileError(
            f"it is no model, or damaged: no zip that can be read ({shortened(str(error), 80)}). Copy it again.",
            hint=hint(python=f"Or save it again: {SAVE_CODE}.", cli=f"Or write it again: {FIT}"),
        ) from error
    if not len(payload) == header.n_bytes == infos[PAYLOAD].file_size or checksum(payload) != header.checksum:
        raise ModelFileError("the file is damaged: its checksum is wrong. Copy it again, or write it again.")
    return header, payload


def _members(archive: ZipFile, n_bytes: int) -> dict[str, ZipInfo]:
    """Look at the members before any is read."""
    infos = archive.infolist()
    names = sorted(info.filename for info in infos)
    if names != sorted((HEADER, PAYLOAD)):
        found = ", ".join(repr(shortened(name)) for name in names[:5]) or "nothing"
        raise ModelFileError(f"a model's file holds {HEADER} and {PAYLOAD}, each once, but this one holds {found}.")
    for info in infos:
        limit = LARGEST_HEADER if info.filename == HEADER else LARGEST
        most = min(limit, max(SMALL, MOST_UNPACKED * n_bytes))
        if info.file_size > most or info.compress_size > n_bytes:
            raise ModelFileError(f"{info.filename} would take {info.file_size} bytes, as that of no model does.")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ModelFileError(f"{info.filename} is compressed in a way that mixkern never writes.")
    return {info.filename: info for info in infos}


def header_of(text: bytes, ours: str) -> Header:
    """Read what a file says about itself, and refuse one from the future."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its {HEADER} is not JSON.", hint=SAVE) from error
    number = _fact(facts, "format", int)
    version = _fact(facts, "mixkern", str)
    if number > FORMAT:
        raise ModelFileError(
            f"it was written by mixkern {shortened(version, 20)}, which is newer than this one ({ours}). Update it: "
            "pip install --upgrade mixkern"
        )
    if number < 1:
        raise ModelFileError(f"its {HEADER} has format {number}, and formats begin with 1.")
    payload, versions = _fact(facts, "payload", dict), _fact(facts, "versions", dict)
    return Header(
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
    """Give one fact; a number that comes as a text is damage, not a number."""
    if not isinstance(facts, dict) or type(facts.get(name)) is not kind:
        raise ModelFileError(f"its {HEADER} has no {name!r} of type {kind.__name__}.", hint=SAVE)
    return facts[name]
