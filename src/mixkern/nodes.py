"""Values of a model as nodes of JSON and arrays, and back.

Numbers, texts, booleans, None and lists are those of JSON. All other values are objects of JSON with fixed keys:
``tuple``, ``dict`` (pairs), ``float`` (not finite), ``texts`` and ``dtype`` (an array of texts), ``array`` (the number
of an array), ``class`` and ``parts`` (an object), ``shared`` (the number of an object that occurs several times).
"""

import io
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mixkern.errors import ModelFileError
from mixkern.parts import PartType, part_type, require, type_of
from mixkern.wording import listing, shortened

DTYPES = ("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8")  # of arrays
DEEPEST = 100  # values within values: models have about ten, and two for each kernel within a kernel
MOST_DIMENSIONS = 8
LONGEST_HEADER = 1024  # bytes before the numbers of an array
LARGEST_TEXTS = 2**24  # bytes of an array of texts of a fixed width
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class NodeWriter:
    """Convert values to JSON, and collect arrays and shared objects."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.shared: list[Any] = []
        self._places: dict[Any, int] = {}

    def node(self, value: Any) -> Any:
        """Return a value as JSON."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": str(float(value))}
        if isinstance(value, list):
            return [self.node(each) for each in value]
        if isinstance(value, tuple):
            return {"tuple": [self.node(each) for each in value]}
        if isinstance(value, Mapping):
            return {"dict": [[self.node(key), self.node(each)] for key, each in value.items()]}
        return self._array(value) if isinstance(value, np.ndarray) else self._object(value)

    def _array(self, array: NDArray[Any]) -> Any:
        if array.dtype.kind == "U" or (array.dtype == object and all(type(each) is str for each in array.flat)):
            dtype = "object" if array.dtype == object else array.dtype.newbyteorder("<").str
            return {"texts": array.tolist(), "dtype": dtype} if array.ndim == 1 else _refuse(array)
        array = array.astype(array.dtype.newbyteorder("<"), order="K", copy=False)
        if array.dtype.str not in DTYPES:
            _refuse(array)
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1}

    def _object(self, thing: Any) -> Any:
        kind = type_of(thing)
        if kind is None:
            return _refuse(thing)
        if not kind.is_shared:
            return self._described(kind, thing)
        if thing not in self._places:
            self.shared.append(self._described(kind, thing))
            self._places[thing] = len(self.shared) - 1
        return {"shared": self._places[thing]}

    def _described(self, kind: PartType, thing: Any) -> Any:
        parts = kind.to_parts(thing)
        return {"class": kind.name, "parts": {name: self.node(part) for name, part in parts.items()}}


def _refuse(thing: Any) -> Any:
    name = f"{type(thing).__module__}.{type(thing).__qualname__}"
    what = f"{name} of {thing.dtype}" if isinstance(thing, np.ndarray) else name
    raise ModelFileError(
        f"the model holds a {what}, and only numbers, texts, arrays of them, estimators of mixkern, and kernels of "
        "mixkern and scikit-learn can be saved. Set it to something else, and fit again."
    )


class NodeReader:
    """Convert JSON to values; anything that :class:`NodeWriter` does not write is an error.

    Parameters
    ----------
    arrays : callable
        Returns the array with a number. Each is read once, so that a small file cannot fill the memory with copies.
    n_arrays : int
        Their number.
    shared : list
        Objects that occur several times, as JSON. Each may refer to those before it.
    """

    def __init__(self, arrays: Callable[[int], NDArray[Any]], n_arrays: int, shared: list[Any]) -> None:
        self._arrays = arrays
        self._unread = set(range(n_arrays))
        self._shared: list[Any] = []
        self._readers: dict[tuple[str, ...], Callable[[Any], Any]] = {
            ("tuple",): lambda node: tuple(self._list(node["tuple"])),
            ("dict",): self._dict,
            ("float",): lambda node: _NOT_FINITE[node["float"]],
            ("dtype", "texts"): _texts,
            ("array",): self._array,
            ("class", "parts"): self._object,
            ("shared",): lambda node: self._shared[_position(node["shared"], len(self._shared))],
        }
        self._depth = 0
        for node in shared:
            self._shared.append(self.value(node))

    def model(self, node: Any) -> Any:
        """Return the model of JSON; arrays that no part of it refers to are an error."""
        found = self.value(node)
        if self._unread:
            raise ModelFileError("it has arrays that no part of its model refers to.")
        return found

    def value(self, node: Any) -> Any:
        """Return the value of JSON."""
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        self._depth += 1
        if self._depth > DEEPEST:
            raise ModelFileError(f"its values are nested more than {DEEPEST} deep.")
        read = None if isinstance(node, list) else self._readers.get(tuple(sorted(node)))
        if read is None and not isinstance(node, list):
            raise ModelFileError(f"it has a value with unknown keys: {_shown(node)}.")
        found = self._list(node) if read is None else read(node)
        self._depth -= 1
        return found

    def _list(self, nodes: Any) -> list[Any]:
        require(isinstance(nodes, list), "list")
        return [self.value(each) for each in nodes]

    def _dict(self, node: Any) -> dict[Any, Any]:
        pairs = self._list(node["dict"])
        keys = [pair[0] for pair in pairs if isinstance(pair, list) and len(pair) == 2]
        require(len(keys) == len(pairs) and all(isinstance(key, (bool, int, float, str)) for key in keys), "dict")
        return dict(pairs)

    def _array(self, node: Any) -> NDArray[Any]:
        number = node["array"]
        require(type(number) is int and number in self._unread, "number of an array")
        self._unread.remove(number)
        return self._arrays(number)

    def _object(self, node: Any) -> Any:
        name, parts = node["class"], node["parts"]
        kind = part_type(name)
        require(isinstance(parts, dict), f"{name}: parts")
        unknown = [part for part in parts if part not in kind.names]
        if unknown:
            raise ModelFileError(f"its {name} has unknown parts: {_shown(unknown)}.")
        return kind.from_parts({part: self.value(each) for part, each in parts.items()})


def _texts(node: Any) -> NDArray[Any]:
    texts, dtype = node["texts"], node["dtype"]
    require(isinstance(texts, list) and all(type(text) is str for text in texts), "texts")
    if dtype == "object":
        return np.array([*texts, None], dtype=object)[:-1]
    width = dtype[2:] if isinstance(dtype, str) and dtype.startswith("<U") else ""
    require(width.isascii() and width.isdigit() and len(width) < 9, "type of texts")
    require(4 * int(width) * len(texts) <= LARGEST_TEXTS, "type of texts")
    return np.array(texts, dtype=dtype)


def _position(number: Any, n: int) -> int:
    require(type(number) is int and 0 <= number < n, "shared object")
    return int(number)


def _shown(names: Any) -> str:
    return listing([shortened(str(name), 30) for name in list(names)[:5]])


# ---------------------------------------------------------------- arrays in NumPy's format


def array_bytes(array: NDArray[Any]) -> bytes:
    """Return an array as a file in NumPy's format, version 1.0."""
    npy.write_array(buffer := io.BytesIO(), array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def declared_size(declared: Any) -> int:
    """Return the bytes of an array that is declared by its dtype and shape."""
    require(isinstance(declared, dict) and set(declared) == {"dtype", "shape"}, "list of arrays")
    shape, dtype = declared["shape"], declared["dtype"]
    is_shape = isinstance(shape, list) and all(type(n) is int and 0 <= n < 2**31 for n in shape)
    require(is_shape and len(shape) <= MOST_DIMENSIONS and dtype in DTYPES, "list of arrays")
    return math.prod(shape) * np.dtype(dtype).itemsize


def read_array(content: bytes, dtype: str, shape: list[int]) -> NDArray[Any]:
    """Return the array of a file in NumPy's format, which must be the declared one; it can be written to.

    >>> read_array(array_bytes(np.arange(3.0)), "<f8", [3])
    array([0., 1., 2.])
    """
    buffer = io.BytesIO(content)
    is_known = npy.read_magic(buffer) == (1, 0)
    found, is_fortran, kind = npy.read_array_header_1_0(buffer) if is_known else ((), False, np.dtype(object))
    n_bytes = declared_size({"dtype": dtype, "shape": shape})
    if (kind.str, list(found)) != (dtype, shape) or buffer.tell() + n_bytes != len(content):
        raise ModelFileError("the header of an array is not that of the declared one.")
    flat = np.frombuffer(content, kind, offset=buffer.tell())
    return flat.reshape(found, order="F" if is_fortran else "C").astype(kind.newbyteorder("="), order="K")


# ---------------------------------------------------------------- JSON


def plain_notes(notes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return notes with the types of JSON; NumPy's numbers become Python's, and other types are an error."""
    if notes is not None and not isinstance(notes, Mapping):
        raise ModelFileError(f"notes must be a dict, but they are a {type(notes).__name__}.")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(notes or {}), allow_nan=False, default=_item))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"notes must be texts, numbers, lists and dicts, as JSON allows: {error}.") from error
    return plain


def _item(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"they hold a {type(value).__name__}")


def json_memory(text: bytes) -> int:
    """Return an upper limit for the bytes that JSON takes when it is parsed: its text and its values.

    >>> json_memory(b'{"a": [1, 2]}') < 2000
    True
    """
    width = 9 if b"\\u" in text else 3  # copies of the text; characters beyond ASCII take up to four bytes each
    weights = {b'"': 32, b"{": 90, b"[": 90, b":": 140, b",": 48}
    return 1024 + width * len(text) + sum(weight * text.count(mark) for mark, weight in weights.items())


def parsed_json(text: bytes, most_memory: int) -> Any:
    """Return the value of JSON in ASCII that takes so many bytes in memory at most, without NaN and repeated keys."""
    if json_memory(text) > most_memory:
        raise ModelFileError("its JSON has more values than that of any model.")
    try:
        return json.loads(text.decode("ascii"), object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its JSON is not that of a model: {shortened(str(error), 80)}.") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")
