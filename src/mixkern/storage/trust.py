"""Check the types in a payload before any object is made.

A skops file is a tree of nodes in JSON; each names a type and a way to build it. skops loads only trusted types, but
trusts all estimators of scikit-learn and functions of NumPy and SciPy by default, and some nodes call functions. A
model of mixkern needs none of these. So the whole tree is checked first: a node must be one of a few kinds, its type
one of those that belong to this kind, and its place one where a model has such a node. The place matters, because
some nodes use the nodes below them: a dict calls the types of its keys, so these must be ``str``; a random state, a
mixture and an array of texts must hold plain values and arrays. Then skops only sets the attributes of trusted types,
and calls no object from the file.

The number of nodes is limited, because nodes are small in a file and large in memory.
"""

import io
import json
import math
from collections.abc import Iterator
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy

from mixkern.errors import ModelFileError
from mixkern.wording import shortened

SCHEMA = "schema.json"
OLDEST_PROTOCOL = 2  # of skops: nodes of earlier ones are less strict
DEEPEST = 120  # nodes within nodes: models have about ten, and some for each kernel within a kernel
LARGEST_SCHEMA = 64 * 2**20  # bytes: 3,000 columns of names take 6 million, 100,000 categories 13 million
MOST_NODES = 500_000  # 3,000 columns of 20 categories have 105,017; one has 0.1 to 0.2 kB here, and 1 kB in memory
MOST_BRACKETS = 4 * MOST_NODES  # schemas have one or two for each node, and some in the names of categories
PLAIN_KINDS = "biufU"  # NumPy's letters: booleans, integers, floats, text

ESTIMATORS = (
    "mixkern.density.vb.VBMixture",
    "mixkern.estimators.laplacian.LaplacianSVC",
    "mixkern.estimators.oneclass.MixtureOneClassSVM",
    "mixkern.estimators.s3vm.QuasiNewtonS3VC",
    "mixkern.estimators.svc.MixtureSVC",
    "mixkern.estimators.svr.MixtureSVR",
    "mixkern.estimators.transductive.TransductiveSVC",
    "mixkern.encoding.encoder.TableEncoder",
)
SEARCHES = ("mixkern.density.search.DensitySearch",)  # parameters of estimators; not saved themselves
VALUES = (
    "mixkern.density.mixture.Mixture",
    "mixkern.estimators.novelty.Novelty",
    "mixkern.svm.decision.DecisionFunction",
    "mixkern.encoding.column.CategoricalColumn",
    "mixkern.encoding.column.ContinuousColumn",
)
KERNELS = (
    "mixkern.kernels.blend.BlendKernel",
    "mixkern.kernels.mixture.GMMKernel",
    "mixkern.kernels.laplacian.LaplacianKernel",
    "mixkern.kernels.rbf.RBFKernel",
    "mixkern.kernels.mixture.RWMKernel",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.DotProduct",
    "sklearn.gaussian_process.kernels.ExpSineSquared",
    "sklearn.gaussian_process.kernels.Exponentiation",
    "sklearn.gaussian_process.kernels.Matern",
    "sklearn.gaussian_process.kernels.PairwiseKernel",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.gaussian_process.kernels.RationalQuadratic",
    "sklearn.gaussian_process.kernels.Sum",
    "sklearn.gaussian_process.kernels.WhiteKernel",
)
TYPES = (*ESTIMATORS, *SEARCHES, *VALUES, *KERNELS)  # trusted by skops

MOVED_MODULES = {  # since format 1
    "mixkern.table.column": "mixkern.encoding.column",
    "mixkern.table.encoder": "mixkern.encoding.encoder",
    "mixkern.kernels.gmm": "mixkern.kernels.mixture",
    "mixkern.kernels.rwm": "mixkern.kernels.mixture",
}

_TYPES_OF_NODE = {
    "ObjectNode": TYPES,
    "DictNode": ("builtins.dict",),
    "ListNode": ("builtins.list",),
    "TupleNode": ("builtins.tuple",),
    "JsonNode": ("builtins.str",),
    "NdArrayNode": ("numpy.ndarray",),
    "RandomStateNode": ("numpy.random.mtrand.RandomState",),
    "TypeNode": ("builtins.str",),  # of the keys of a dict
}

_VALUES = ("ObjectNode", "DictNode", "ListNode", "TupleNode", "JsonNode", "NdArrayNode", "RandomStateNode")
_NODES_AT = {  # a place in the tree: which nodes may be there
    "value": _VALUES,
    "attributes": ("DictNode",),  # of an object
    "state": ("DictNode", "ListNode", "JsonNode", "NdArrayNode"),  # of a random state or a mixture, all the way down
    "keys": ("ListNode",),  # of a dict
    "key": ("TypeNode",),
    "shape": ("TupleNode",),  # of an array of texts
    "entry": ("JsonNode",),
}
_READS_ITS_STATE = "mixkern.density.mixture.Mixture"
_PLACES_IN_LIST = {"state": "state", "keys": "key", "shape": "entry"}

Node = dict[str, Any]


def check_payload(payload: bytes) -> None:
    """Raise an error for a payload that holds anything but a model of mixkern."""
    with ZipFile(io.BytesIO(payload)) as archive:
        sizes = stored_sizes(archive, len(payload))
        schema = parsed_schema(archive.read(SCHEMA))
        _check_protocol(schema)
        ids: dict[str, int] = {}
        for node in list(walk_nodes(schema)):  # all types first, so that the error names a hostile one
            _check_number(node)
            if node["__loader__"] == "NdArrayNode" and node.get("type") == "numpy":
                _check_file(node, sizes, ids)
        for name in ids:
            with archive.open(name) as file:
                _check_array(name, file.read())


def stored_sizes(archive: ZipFile, n_bytes: int) -> dict[str, int]:
    """Return the sizes of the members, which must be uncompressed and have different names."""
    infos = archive.infolist()
    sizes = {info.filename: info.file_size for info in infos}
    if SCHEMA not in sizes or len(sizes) != len(infos):
        raise ModelFileError(f"its model has no {SCHEMA}, or a member twice.")
    is_stored = all(info.compress_type == ZIP_STORED and info.compress_size == info.file_size for info in infos)
    if not is_stored or sum(sizes.values()) > n_bytes:
        raise ModelFileError("the members of its model are not stored one after the other, as mixkern writes them.")
    if sizes[SCHEMA] > LARGEST_SCHEMA:
        raise _too_large(f"{SCHEMA} has {sizes[SCHEMA]:,} bytes, and {LARGEST_SCHEMA:,} are the most")
    return sizes


def parsed_schema(text: bytes) -> Any:
    """Parse the tree; one with too many parts, which could fill the memory, is an error."""
    n = text.count(b"{") + text.count(b"[")
    if n > MOST_BRACKETS:
        raise _too_large(f"{SCHEMA} has {n:,} brackets, and {MOST_BRACKETS:,} are the most")
    return json.loads(text)


def _too_large(reason: str) -> ModelFileError:
    return ModelFileError(
        f"its model has too many parts: {reason}. Where these are categories, give rare ones a name in common, or "
        "leave out columns that differ in every row, and fit again."
    )


def _check_protocol(schema: Any) -> None:
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < OLDEST_PROTOCOL:
        raise ModelFileError(f"its model has the skops protocol {shortened(repr(protocol))}, which is not supported.")


def walk_nodes(schema: Any) -> Iterator[Node]:
    """Yield all nodes of a tree; a node that no model has is an error."""
    waiting, n = [(schema, "value", 1)], 0
    while waiting:
        node, place, depth = waiting.pop()
        _check_node(node, depth)
        _check_place(node, place)
        yield node
        children = _children(node, place)
        n += 1
        if n + len(waiting) + len(children) > MOST_NODES:
            raise _too_large(f"more than {MOST_NODES:,} nodes")
        waiting += [(child, below, depth + 1) for child, below in reversed(children)]


def _check_node(node: Any, depth: int) -> None:
    named = ("__loader__", "__module__", "__class__")
    if not isinstance(node, dict) or not all(isinstance(node.get(name), str) for name in named):
        raise ModelFileError("a node of its model has no type.")
    if depth > DEEPEST:
        raise ModelFileError(f"its model is nested more than {DEEPEST} deep, more than any model.")
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if name not in _TYPES_OF_NODE.get(loader, ()):
        raise ModelFileError(
            f"it holds {shortened(name, 100)} (by way of {shortened(loader)}), which no model of mixkern needs. "
            "The file was not written by mixkern, and may be harmful; no code from it was run."
        )


def _check_place(node: Node, place: str) -> None:
    if node["__loader__"] not in _NODES_AT[place]:
        name = f"{node['__module__']}.{node['__class__']}"
        raise ModelFileError(
            f"it holds {shortened(name, 100)} (by way of {node['__loader__']}) as a {place}, where no model of mixkern "
            "has it. The file was not written by mixkern, and may be harmful; no code from it was run."
        )


def _check_number(node: Node) -> None:
    number = node.get("__id__")
    if number is not None and (node["__loader__"] != "NdArrayNode" or type(number) is not int):
        raise ModelFileError(f"a node of its model, {node['__class__']}, is numbered, and only arrays are.")


def _children(node: Node, place: str) -> list[tuple[Any, str]]:
    """Return the nodes below a node, each with its place."""
    loader, content = node["__loader__"], node.get("content")
    if loader == "TypeNode":
        return []
    if loader == "JsonNode":
        _check_scalar(content)
        return []
    if loader == "DictNode":
        return _entries(node, "state" if place == "state" else "value")
    if loader in ("ListNode", "TupleNode"):
        return [(child, _PLACES_IN_LIST.get(place, "value")) for child in _of(node, "content", list)]
    if loader == "NdArrayNode":
        return [] if node.get("type") == "numpy" else _texts(node)
    reads = loader == "RandomStateNode" or f"{node['__module__']}.{node['__class__']}" == _READS_ITS_STATE
    return [] if content is None else [(content, "state" if reads else "attributes")]


def _check_scalar(content: Any) -> None:
    """Raise an error for anything but one number, text or None, because nested JSON is not checked further."""
    if not isinstance(content, str) or content.lstrip()[:1] in ("[", "{"):
        raise ModelFileError("a value of its model is not written as JSON of one number or text.")


def _entries(node: Node, below: str) -> list[tuple[Any, str]]:
    """Return the types of the keys of a dict, one for each, and its values."""
    keys, values = _of(node, "key_types", dict), _of(node, "content", dict)
    types = keys.get("content")
    if isinstance(types, list) and len(types) != len(values):
        raise ModelFileError(f"a dict of its model has {len(values)} values, but the types of {len(types)} keys.")
    return [(keys, "keys"), *((value, below) for value in values.values())]


def _texts(node: Node) -> list[tuple[Any, str]]:
    return [(_of(node, "shape", dict), "shape"), *((entry, "entry") for entry in _of(node, "content", list))]


def _of(node: Node, name: str, kind: type) -> Any:
    if not isinstance(node.get(name), kind):
        raise ModelFileError(f"a node of its model, {node['__class__']}, has no {name}.")
    return node[name]


def _check_file(node: Node, sizes: dict[str, int], ids: dict[str, int]) -> None:
    """Check that an array is in the file, and is read only once: many copies could fill the memory."""
    name = node.get("file")
    if not isinstance(name, str) or name not in sizes or name == SCHEMA:
        raise ModelFileError("an array of its model is not in the file.")
    number = node.get("__id__")
    if type(number) is not int or number < 1 or ids.setdefault(name, number) != number:
        raise ModelFileError("an array of its model has no number of its own.")


def _check_array(name: str, content: bytes) -> None:
    """Compare the size in an array's header with its bytes."""
    buffer = io.BytesIO(content)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = readers[npy.read_magic(buffer)](buffer)
    n_claimed = math.prod(shape) * dtype.itemsize
    if dtype.kind not in PLAIN_KINDS or min(shape, default=0) < 0 or n_claimed != len(content) - buffer.tell():
        raise ModelFileError(
            f"an array of its model, {shortened(name)}, claims {np.dtype(dtype).name} of shape {shape}, but has "
            f"{len(content)} bytes."
        )
