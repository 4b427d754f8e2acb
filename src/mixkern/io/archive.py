"""The model file: a zip archive of `model.json`, arrays in NumPy's format, and the SHA-256 of each.

A file may be damaged, or made to do harm. Members are not compressed and lie one after the other without a gap, so that
the size of a file limits what is read from it. Names and sizes are checked before anything is read, the declared types
and shapes of all arrays before any of them is, and nothing is used before its checksum has been verified.
"""

import hashlib
import io
import json
import math
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mixkern.errors import ModelFileError, hint
from mixkern.io.values import DTYPES
from mixkern.parts import require
from mixkern.wording import shortened

FORMAT = 3  # of the files that are written; one more whenever an older mixkern could not read them
DESCRIPTION, CHECKSUMS = "model.json", "SHA256SUMS"
KEYS = {"format", "mixkern", "created", "versions", "notes", "arrays", "shared", "model"}

LARGEST = 2**31 - 2**20  # bytes of a file: larger ones have another structure (ZIP64)
MOST_ARRAYS = 50_000
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
    for i, array in enumerate(arrays):
        npy.write_array(buffer := io.BytesIO(), array, version=(1, 0), allow_pickle=False)
        members[_array_name(i)] = buffer.getvalue()
    members[CHECKSUMS] = checksums(members)
    total = sum(map(len, members.values())) + 2 * _ENTRY * len(members)
    if total > LARGEST or len(arrays) > MOST_ARRAYS or _json_memory(members[DESCRIPTION]) > max(JSON_MEMORY, 2 * total):
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
    """A model file that is open: its description, and its arrays, which are read one by one.

    Parameters
    ----------
    file : binary file
        The file; it stays open while arrays are read.
    own_version : str
        Version of this mixkern, for messages.
    """

    def __init__(self, file: BinaryIO, own_version: str) -> None:
        self.n_bytes = file.seek(0, io.SEEK_END)
        _check_start(file, self.n_bytes)
        self._members = _members(file, self.n_bytes)
        self._file = file
        sums = self._read(CHECKSUMS)
        self._sums = dict(zip(self._members, sums.split(b"\n"), strict=False))
        self.checksum = hashlib.sha256(sums).hexdigest()
        self.description = _parsed(self._checked(DESCRIPTION), self.n_bytes)
        _check_version(self.description, own_version)
        self._check_arrays()

    def array(self, i: int) -> NDArray[Any]:
        """Return an array, which can be written to."""
        declared, name = self.description["arrays"][i], _array_name(i)
        buffer = io.BytesIO(self._checked(name))
        is_first_version = npy.read_magic(buffer) == (1, 0)
        shape, is_fortran, dtype = npy.read_array_header_1_0(buffer) if is_first_version else (None, None, None)
        size = math.prod(declared["shape"]) * np.dtype(declared["dtype"]).itemsize
        is_whole = buffer.tell() + size == self._members[name].file_size
        if not is_whole or dtype is None or [*(shape or ())] != declared["shape"] or dtype.str != declared["dtype"]:
            raise ModelFileError(f"the header of {name} is not that of the declared array.")
        flat = np.frombuffer(buffer.getbuffer(), dtype, offset=buffer.tell())
        return flat.reshape(shape, order="F" if is_fortran else "C").astype(dtype.newbyteorder("="), order="K")

    def _check_arrays(self) -> None:
        """Compare the declared types and shapes of all arrays with the sizes of their members."""
        arrays = self.description["arrays"]
        require(isinstance(arrays, list) and len(arrays) == len(self._members) - 2, "number of arrays")
        for i, declared in enumerate(arrays):
            require(isinstance(declared, dict) and set(declared) == {"dtype", "shape"}, "list of arrays")
            shape, dtype = declared["shape"], declared["dtype"]
            is_shape = isinstance(shape, list) and all(type(n) is int and 0 <= n <= LARGEST for n in shape)
            require(is_shape and len(shape) <= 8 and dtype in DTYPES, "list of arrays")
            n_header = self._members[_array_name(i)].file_size - math.prod(shape) * np.dtype(dtype).itemsize
            if not 0 < n_header <= 1024:
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
            hint=hint(python="Convert it: mixkern.io.convert(old, new).", cli="Convert it: mixkern convert OLD NEW"),
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
    if not 2 <= n <= MOST_ARRAYS + 2 or size > n * (_ENTRY + len(_array_name(MOST_ARRAYS))):
        raise _damaged(f"it would have {n} members")
    try:
        with ZipFile(file) as archive:
            infos = archive.infolist()
    except (BadZipFile, ValueError, struct.error, UnicodeDecodeError, NotImplementedError) as error:
        raise _damaged(f"no zip that can be read ({shortened(str(error), 80)})") from error
    names = [DESCRIPTION, *map(_array_name, range(len(infos) - 2)), CHECKSUMS]
    offset = 0
    for info, name in zip(infos, names, strict=False):
        is_plain = info.compress_type == ZIP_STORED and not (info.flag_bits or info.extra or info.comment)
        if (info.filename, info.orig_filename) != (name, name) or not is_plain or info.header_offset != offset:
            raise ModelFileError(
                f"expected {DESCRIPTION}, arrays and {CHECKSUMS}, not compressed and each once, but it holds "
                f"{shortened(repr(info.filename), 60)} in place of {name}."
            )
        require(info.compress_size == info.file_size, f"size of {name}")
        offset += _LOCAL + len(name) + info.file_size
    if len(infos) != n or offset != start:
        raise _damaged("its members have other sizes than declared")
    found = {info.filename: info for info in infos}
    if found[CHECKSUMS].file_size != sum(67 + len(name) for name in names[:-1]):
        raise _damaged(f"{CHECKSUMS} has another size than for these members")
    return found


def _parsed(text: bytes, n_bytes: int) -> dict[str, Any]:
    """Return the description; its size in memory is estimated before it is parsed."""
    if _json_memory(text) > max(JSON_MEMORY, 2 * n_bytes):
        raise ModelFileError(f"its {DESCRIPTION} has more values than that of any model.")
    try:
        facts = json.loads(
            text.decode("ascii"), object_pairs_hook=_unique, parse_constant=_not_json, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its {DESCRIPTION} is no JSON of a model: {shortened(str(error), 80)}.") from error
    if not isinstance(facts, dict) or type(facts.get("format")) is not int:
        raise ModelFileError(f"its {DESCRIPTION} has no 'format', or of another type.")
    return facts


def _check_version(facts: dict[str, Any], own_version: str) -> None:
    """Raise an error for a description of another format, or with other keys than that of a model."""
    if facts["format"] > FORMAT:
        raise ModelFileError(
            f"it was written by mixkern {shortened(str(facts.get('mixkern')), 20)}, which is newer than this one "
            f"({own_version}). Update it: pip install --upgrade mixkern"
        )
    if facts["format"] < FORMAT or set(facts) != KEYS:
        raise ModelFileError(f"the keys of its {DESCRIPTION} are not those of format {FORMAT}.")
    types = {"mixkern": str, "created": str, "versions": dict, "notes": dict, "shared": list, "model": dict}
    wrong = [name for name, kind in types.items() if type(facts[name]) is not kind]
    if wrong or not all(type(version) is str for version in facts["versions"].values()):
        raise ModelFileError(f"its {DESCRIPTION} has {', '.join(wrong) or 'versions'} of another type.")


def _json_memory(text: bytes) -> int:
    """Return an upper limit for the bytes that JSON takes when it is parsed: its text and its values.

    >>> _json_memory(b'{"a": [1, 2]}') < 1000
    True
    """
    escaped = 3 * len(text) if b"\\u" in text else 0  # characters of a text take up to four bytes each
    weights = {b'"': 32, b"{": 360, b"[": 90, b":": 190, b",": 48}
    return 2 * len(text) + escaped + sum(weight * text.count(mark) for mark, weight in weights.items())


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _not_json(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _not_json(shortened(text, 20))
