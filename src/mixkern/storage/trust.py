"""Which types a file may hold, checked before anything is made of it.

A skops file is a tree of nodes in JSON: each names a type and a way to build it. skops itself refuses types that nobody
has trusted, but trusts on its own all estimators of scikit-learn and functions of NumPy and SciPy, and has several ways
to call things. A model of mixkern needs none of that. So the tree is walked first: a node must be one of a few kinds,
and its type one of those that belong to this kind. No such node calls a function or takes a method.
"""

import io
import json
import math
from collections.abc import Iterator
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy

from mixkern.errors import ModelFileError, shortened

SCHEMA = "schema.json"
OLDEST_PROTOCOL = 2  # of skops: earlier ones have looser nodes, which a file could ask for
DEEPEST = 120  # nodes within nodes: real models have about ten, and some for each kernel within a kernel
PLAIN_KINDS = "biufU"  # NumPy's letters: booleans, integers, floats, text

ESTIMATORS = (
    "mixkern.density.vb.VBMixture",
    "mixkern.estimators.laplacian.LaplacianSVC",
    "mixkern.estimators.oneclass.MixtureOneClassSVM",
    "mixkern.estimators.s3vm.QuasiNewtonS3VC",
    "mixkern.estimators.svc.MixtureSVC",
    "mixkern.estimators.svr.MixtureSVR",
    "mixkern.estimators.transductive.TransductiveSVC",
    "mixkern.table.encoder.TableEncoder",
)
VALUES = (
    "mixkern.density.mixture.Mixture",
    "mixkern.estimators.novelty.Novelty",
    "mixkern.table.column.CategoricalColumn",
    "mixkern.table.column.ContinuousColumn",
)
KERNELS = (
    "mixkern.kernels.blend.BlendKernel",
    "mixkern.kernels.gmm.GMMKernel",
    "mixkern.kernels.laplacian.LaplacianKernel",
    "mixkern.kernels.rbf.RBFKernel",
    "mixkern.kernels.rwm.RWMKernel",
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
TYPES = (*ESTIMATORS, *VALUES, *KERNELS)  # what skops is told to trust

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

Node = dict[str, Any]


def check_payload(payload: bytes) -> None:
    """Refuse a skops file that holds more than a model of mixkern does, or something else."""
    with ZipFile(io.BytesIO(payload)) as archive:
        sizes = _stored_sizes(archive, len(payload))
        schema = json.loads(archive.read(SCHEMA))
        _check_protocol(schema)
        ids: dict[str, int] = {}
        for node in list(walked(schema)):  # all types before anything else: a hostile one is named
            _check_number(node)
            if node["__loader__"] == "NdArrayNode" and node.get("type") == "numpy":
                _check_file(node, sizes, ids)
        for name in ids:
            with archive.open(name) as file:
                _check_array(name, file.read())


def _stored_sizes(archive: ZipFile, n_bytes: int) -> dict[str, int]:
    """Give the sizes of the members, which are stored as they are: none unfolds, and none is there twice."""
    infos = archive.infolist()
    sizes = {info.filename: info.file_size for info in infos}
    if SCHEMA not in sizes or len(sizes) != len(infos):
        raise ModelFileError(f"its model has no {SCHEMA}, or a member twice.")
    is_stored = all(info.compress_type == ZIP_STORED and info.compress_size == info.file_size for info in infos)
    if not is_stored or sum(sizes.values()) > n_bytes:
        raise ModelFileError("the members of its model are not stored one after the other, as mixkern writes them.")
    return sizes


def _check_protocol(schema: Any) -> None:
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < OLDEST_PROTOCOL:
        raise ModelFileError(f"its model has the skops protocol {shortened(repr(protocol))}, which is not one of ours.")


def walked(schema: Any) -> Iterator[Node]:
    """Visit all nodes of a tree, refusing the first that no model has."""
    waiting = [(schema, 1)]
    while waiting:
        node, depth = waiting.pop()
        _check_node(node, depth)
        yield node
        waiting += [(child, depth + 1) for child in reversed(_children(node))]


def _check_node(node: Any, depth: int) -> None:
    named = ("__loader__", "__module__", "__class__")
    if not isinstance(node, dict) or not all(isinstance(node.get(name), str) for name in named):
        raise ModelFileError("a node of its model has no type.")
    if depth > DEEPEST:
        raise ModelFileError(f"its model is nested more than {DEEPEST} deep, as none is.")
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if name not in _TYPES_OF_NODE.get(loader, ()):
        raise ModelFileError(
            f"it holds {shortened(name, 100)} (by way of {shortened(loader)}), which no model of mixkern needs. The "
            "file was made by somebody else, or to do harm; nothing of it was run."
        )


def _check_number(node: Node) -> None:
    number = node.get("__id__")
    if number is not None and (node["__loader__"] != "NdArrayNode" or type(number) is not int):
        raise ModelFileError(f"a node of its model, {node['__class__']}, is numbered, and only arrays are.")


def _children(node: Node) -> list[Any]:
    """Give the nodes below a node."""
    loader, content = node["__loader__"], node.get("content")
    if loader == "TypeNode":
        return []
    if loader == "JsonNode":
        return _none_below(content, str)
    if loader == "DictNode":
        return [_of(node, "key_types", dict), *_of(node, "content", dict).values()]
    if loader in ("ListNode", "TupleNode"):
        return list(_of(node, "content", list))
    if loader == "NdArrayNode":
        return [] if node.get("type") == "numpy" else [_of(node, "shape", dict), *_of(node, "content", list)]
    return [] if content is None else [content]  # ObjectNode, RandomStateNode


def _none_below(content: Any, kind: type) -> list[Any]:
    if not isinstance(content, kind):
        raise ModelFileError("a value of its model is not written as JSON.")
    return []


def _of(node: Node, name: str, kind: type) -> Any:
    if not isinstance(node.get(name), kind):
        raise ModelFileError(f"a node of its model, {node['__class__']}, has no {name}.")
    return node[name]


def _check_file(node: Node, sizes: dict[str, int], ids: dict[str, int]) -> None:
    """Make sure that an array is there, and that no file is read as two arrays: many would fill the memory."""
    name = node.get("file")
    if not isinstance(name, str) or name not in sizes or name == SCHEMA:
        raise ModelFileError("an array of its model is not in the file.")
    number = node.get("__id__")
    if type(number) is not int or number < 1 or ids.setdefault(name, number) != number:
        raise ModelFileError("an array of its model has no number of its own.")


def _check_array(name: str, content: bytes) -> None:
    """Compare the size that an array claims with the bytes that are there."""
    buffer = io.BytesIO(content)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = readers[npy.read_magic(buffer)](buffer)
    n_claimed = math.prod(shape) * dtype.itemsize
    if dtype.kind not in PLAIN_KINDS or min(shape, default=0) < 0 or n_claimed != len(content) - buffer.tell():
        raise ModelFileError(
            f"an array of its model, {shortened(name)}, claims {np.dtype(dtype).name} of shape {shape}, but has "
            f"{len(content)} bytes."
        )
