"""The model file: a zip archive of `model.json`, arrays in NumPy's format, and the SHA-256 of each.

A file may be damaged, or made to do harm. Members are not compressed and lie one after the other without a gap, so that
the size of a file limits what is read from it. Names and sizes are checked before anything is read, the declared types
and shapes of all arrays before any of them is, and nothing is used before its checksum has been verified.
"""

import hashlib
import io
import json
import struct
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from numpy.typing import NDArray

from mixkern.errors import ModelFileError, hint
from mixkern.nodes import LONGEST_HEADER, array_bytes, declared_size, json_memory, parsed_json, read_array
from mixkern.parts import require
from mixkern.wording import shortened

FORMAT = 3  # of the files that are written; one more whenever an older mixkern could not read them
DESCRIPTION, CHECKSUMS = "model.json", "SHA256SUMS"
_TEXTS, _LISTS, _DICTS = ("mixkern", "created"), ("arrays", "shared"), ("versions", "notes", "model")
KEYS = {"format": int} | dict.fromkeys(_TEXTS, str) | dict.fromkeys(_LISTS, list) | dict.fromkeys(_DICTS, dict)

LARGEST = 2**31 - 2**20  # bytes of a file: larger ones have another structure (ZIP64)
MOST_ARRAYS = 50_000
SMALLEST_ARRAY = 300  # bytes that an array takes, with its name, header and checksum
JSON_MEMORY = 2**26  # bytes that the description may take when it is parsed; or twice the file, if that is more

SAVE_CODE, FIT = "mixkern.save(model, path)", "mixkern fit TABLE --target COLUMN -o MODEL"
SAVE = hint(python=f"Save the model again: {SAVE_CODE}.", cli=f"Write it again: {FIT}")

_YEAR_ONE = (1980, 1, 1, 0, 0, 0)  # the first of zip: equal models give equal files, whenever they are written
_LOCAL, _ENTRY, _END = 30, 46, struct.Struct("<4s4H2LH")  # sizes of zip's records, without names
_OLD_NAME = b"mixkern.json"  # first member of formats 1 and 2


def archive_bytes(description: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> bytes:
    """Return the bytes of a model file; the types and shapes of the arrays are added to its description."""
    declared = [{"dtype": array.dtype.str, "shape": list(array.shape)} for array in arrays]
    text = json.dumps({**description, "arrays": declared}, allow_nan=False, separators=(",", ":")) + "\n"
    members = {DESCRIPTION: text.encode("ascii")}
    members |= {_array_name(i): array_bytes(array) for i, array in enumerate(arrays)}
    members[CHECKSUMS] = checksums(members)
    total = sum(map(len, members.values())) + 2 * _ENTRY * len(members)
    if total > LARGEST or len(arrays) > MOST_ARRAYS or json_memory(members[DESCRIPTION]) > max(JSON_MEMORY, 2 * total):
        raise ModelFileError(
            f"it is too large: {total:,} bytes, {len(arrays):,} arrays, {len(text):,} bytes of names and categories. "
            "Leave out columns with many categories, or use fewer components or columns."
        )
    return _zipped(members)


def _array_name(i: int) -> str:
    return f"arrays/{i}.npy"


def checksums(members: dict[str, bytes]) -> bytes:
    """Return the SHA-256 of each member, in lines as ``sha256sum`` reads them."""
    lines = (f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in members.items())
    return "".join(lines).encode("ascii")


def _zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive that depends only on its members."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for name, content in members.items():
            info = ZipInfo(name, _YEAR_ONE)
            info.create_system = 3  # the same on all systems
            archive.writestr(info, content)
    return buffer.getvalue()


class ModelArchive:
    """A model file that is open, and stays open while its arrays are read one by one."""

    def __init__(self, file: BinaryIO) -> None:
        self.n_bytes = file.seek(0, io.SEEK_END)
        _check_start(file, self.n_bytes)
        self._members = _members(file, self.n_bytes)
        self._file = file
        self._json_limit = max(JSON_MEMORY, 2 * self.n_bytes)
        if 3 * self._members[DESCRIPTION].file_size > self._json_limit:  # it could not be parsed
            raise ModelFileError(f"its {DESCRIPTION} is larger than that of any model.")
        sums = self._read(CHECKSUMS)
        self._sums = dict(zip(self._members, sums.split(b"\n"), strict=False))
        self.checksum = hashlib.sha256(sums).hexdigest()
        self.description = _description(parsed_json(self._checked(DESCRIPTION), self._json_limit))
        self._check_arrays()

    def array(self, i: int) -> NDArray[Any]:
        """Return an array."""
        return read_array(self._checked(_array_name(i)), **self.description["arrays"][i])

    def _check_arrays(self) -> None:
        """Compare the declared types and shapes of all arrays with the sizes of their members."""
        arrays = self.description["arrays"]
        require(len(arrays) == len(self._members) - 2, "number of arrays")
        for i, declared in enumerate(arrays):
            n_header = self._members[_array_name(i)].file_size - declared_size(declared)
            if not 0 < n_header <= LONGEST_HEADER:
                raise ModelFileError(f"{_array_name(i)} has another size than the declared array.")

    def _checked(self, name: str) -> bytes:
        """Return a member, whose checksum must be right."""
        content = self._read(name)
        if f"{hashlib.sha256(content).hexdigest()}  {name}".encode() != self._sums.get(name):
            raise ModelFileError("the file is damaged: its checksum is wrong. Copy it again, or write it again.")
        return content

    def _read(self, name: str) -> bytes:
        info = self._members[name]
        self._file.seek(info.header_offset + _LOCAL + len(name))
        return self._file.read(info.file_size)


def _check_start(file: BinaryIO, n_bytes: int) -> None:
    """Raise an error for a file that is no model, or one of an older format."""
    file.seek(0)
    start = file.read(_LOCAL + len(_OLD_NAME))
    if not start:
        raise ModelFileError("the file is empty.", hint=SAVE)
    if start[:1] == b"\x80":
        raise ModelFileError(
            "it looks like a pickle, and reading a pickle may run any code.",
            hint=hint(python="Save the model with mixkern.save.", cli=SAVE.cli),
        )
    if not start.startswith(b"PK"):
        raise ModelFileError(
            "it is no model.",
            hint=hint(python=f"{SAVE_CODE} writes one.", cli=f"Give the model before the table. To write one: {FIT}"),
        )
    if start[_LOCAL:] == _OLD_NAME:
        raise ModelFileError(
            "it was written by a development version of mixkern 0.1, in an older format.",
            hint=hint(
                python="Convert it, on the command line: mixkern convert OLD NEW.",
                cli="Convert it: mixkern convert OLD NEW",
            ),
        )
    if n_bytes > LARGEST:
        raise ModelFileError(f"the file is larger than {LARGEST / 2**30:.2g} GB, and models are smaller.")


def _damaged(reason: str) -> ModelFileError:
    return ModelFileError(
        f"it is no model, or damaged: {reason}. Copy it again.",
        hint=hint(python=f"Or save it again: {SAVE_CODE}.", cli=f"Or write it again: {FIT}"),
    )


def _members(file: BinaryIO, n_bytes: int) -> dict[str, ZipInfo]:
    """Return the members by name: those of a model, not compressed, one after the other, and nothing else."""
    file.seek(max(0, n_bytes - _END.size))
    tail = file.read(_END.size)
    mark, *_, n, size, start, n_comment = _END.unpack(tail) if len(tail) == _END.size else (b"", 0, 0, 0, 0)
    if mark != b"PK\x05\x06" or n_comment or start + size + _END.size != n_bytes:
        raise _damaged("its end is not that of a zip archive")
    most = 2 + min(MOST_ARRAYS, n_bytes // SMALLEST_ARRAY)
    if not 2 <= n <= most or size > n * (_ENTRY + len(_array_name(MOST_ARRAYS))):
        raise _damaged(f"its directory of {n} members is too small or too large")
    try:
        with ZipFile(file) as archive:
            infos = archive.infolist()
    except (BadZipFile, ValueError, struct.error, UnicodeDecodeError, NotImplementedError) as error:
        raise _damaged(f"no zip that can be read ({shortened(str(error), 80)})") from error
    names = [DESCRIPTION, *map(_array_name, range(len(infos) - 2)), CHECKSUMS]
    offset = 0
    for info, name in zip(infos, names, strict=False):
        is_plain = info.compress_type == ZIP_STORED and not (info.flag_bits or info.extra or info.comment)
        places = (info.orig_filename, info.header_offset, info.compress_size)
        if places != (name, offset, info.file_size) or not is_plain:
            raise ModelFileError(
                f"expected {DESCRIPTION}, arrays and {CHECKSUMS}, not compressed and each once, but it holds "
                f"{shortened(repr(info.filename), 60)} in place of {name}."
            )
        offset += _LOCAL + len(name) + info.file_size
    if len(infos) != n or offset != start:
        raise _damaged("its members have other sizes than declared")
    if infos[-1].file_size != sum(67 + len(name) for name in names[:-1]):
        raise _damaged(f"{CHECKSUMS} has another size than for these members")
    return dict(zip(names, infos, strict=True))


def _description(facts: Any) -> dict[str, Any]:
    """Return the description of a model; one of another format is an error."""
    number = facts.get("format") if isinstance(facts, dict) else None
    if type(number) is int and number > FORMAT:
        raise ModelFileError(
            f"it was written by mixkern {shortened(str(facts.get('mixkern')), 20)}, which is newer than this one "
            f"({version('mixkern')}). Update it: pip install --upgrade mixkern"
        )
    if number != FORMAT or {name: type(fact) for name, fact in facts.items()} != KEYS:
        raise ModelFileError(f"its {DESCRIPTION} has other keys or types than format {FORMAT}.")
    return facts
