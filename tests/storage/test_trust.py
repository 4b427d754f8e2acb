"""What may be in a file is a list, and each entry is a type that there is."""

import importlib
import io
import json
import zipfile
from zipfile import ZIP_DEFLATED, ZIP_STORED

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

from mixkern import kernels
from mixkern.encoding import CategoricalColumn, Kind, TableEncoder
from mixkern.errors import ModelFileError
from mixkern.storage import load
from mixkern.storage.archive import payload_of
from mixkern.storage.state import state_of
from mixkern.storage.trust import (
    DEEPEST,
    ESTIMATORS,
    KERNELS,
    LARGEST_SCHEMA,
    MOST_BRACKETS,
    MOST_NODES,
    TYPES,
    check_payload,
    walk_nodes,
)

from .damage import inside, members, sealed, with_inside, zipped


def resolved(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_each_name_is_a_type():
    for name in TYPES:
        found = resolved(name)
        assert isinstance(found, type)
        assert f"{found.__module__}.{found.__qualname__}" == name
        assert name in ESTIMATORS + KERNELS or name.startswith("mixkern.")
    assert all(issubclass(resolved(name), BaseEstimator) for name in ESTIMATORS)
    assert all(issubclass(resolved(name), Kernel) for name in KERNELS)
    assert len(set(TYPES)) == len(TYPES)


def test_every_kernel_of_mixkern_is_on_the_list():
    known = {resolved(name) for name in KERNELS}
    public = [getattr(kernels, name) for name in kernels.__all__]
    concrete = {k for k in public if isinstance(k, type) and issubclass(k, Kernel)}
    assert concrete - known == {kernels.DistanceKernel, kernels.MixtureKernel}


def test_a_good_payload_passes(content):
    check_payload(members(content)["model.skops"])


def refusal(content, folder):
    path = folder / "a.mixkern"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return str(caught.value)


def array(claim, data=b""):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, claim)
    return buffer.getvalue() + data


@pytest.mark.parametrize(
    "wrong",
    [
        array({"descr": "<f8", "fortran_order": False, "shape": (10**12,)}),
        array({"descr": "<f8", "fortran_order": False, "shape": (2**40, 2**40)}, bytes(16)),
        array({"descr": "<U100000000", "fortran_order": False, "shape": (1,)}),
        array({"descr": "<f8", "fortran_order": False, "shape": (-2, -1)}, bytes(16)),
        array({"descr": "|O", "fortran_order": False, "shape": (1,)}, bytes(8)),
        array({"descr": "<c16", "fortran_order": False, "shape": (1,)}, bytes(16)),
        array({"descr": [("a", "<f8")], "fortran_order": False, "shape": (1,)}, bytes(8)),
        array({"descr": "<M8[s]", "fortran_order": False, "shape": (1,)}, bytes(8)),
    ],
)
def test_arrays_are_as_large_as_they_claim(wrong, content, tmp_path):
    schema, arrays = inside(content)
    assert "claims" in refusal(with_inside(content, schema, {**arrays, "1.npy": wrong}), tmp_path)


def test_what_is_no_array(content, tmp_path):
    schema, arrays = inside(content)
    for wrong in (b"", b"\x93NUMPY", b"\x93NUMPY\x03\x00" + bytes(100), b"PK\x03\x04", b"\x80\x04N."):
        assert "cannot be used" in refusal(with_inside(content, schema, {**arrays, "1.npy": wrong}), tmp_path)


def first_array(schema):
    return next(node for node in walk_nodes(schema) if node["__loader__"] == "NdArrayNode" and "file" in node)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"file": "none.npy"}, "is not in the file"),
        ({"file": "../1.npy"}, "is not in the file"),
        ({"file": "schema.json"}, "is not in the file"),
        ({"file": 1}, "is not in the file"),
        ({"file": "2.npy"}, "no number of its own"),  # read twice, as two arrays: many such would fill the memory
        ({"__id__": None}, "no number of its own"),
        ({"__id__": 0}, "no number of its own"),
        ({"__id__": "1"}, "is numbered"),
        ({"type": "other"}, "has no shape"),
    ],
)
def test_arrays_are_in_the_file_once(changes, reason, content, tmp_path):
    schema, arrays = inside(content)
    first_array(schema).update(changes)
    assert reason in refusal(with_inside(content, schema, arrays), tmp_path)


def test_nothing_else_is_numbered(content, tmp_path):
    """A number makes skops take one node for another."""
    schema, arrays = inside(content)
    schema["__id__"] = 7
    assert "MixtureSVC, is numbered, and only arrays are" in refusal(with_inside(content, schema, arrays), tmp_path)


def test_members_that_unfold_are_not_read(content, tmp_path):
    payload = members(members(content)["model.skops"])
    assert "not stored one after the other" in refusal(sealed(content, zipped(payload, ZIP_DEFLATED)), tmp_path)


def test_members_that_overlap_are_not_read(content, tmp_path):
    """Hundreds of names for the same bytes: small in the file, large in memory."""
    payload = zipped(members(members(content)["model.skops"]), ZIP_STORED)
    with zipfile.ZipFile(buffer := io.BytesIO(payload), "a") as archive:
        info = archive.getinfo("1.npy")
        for i in range(200):
            other = zipfile.ZipInfo(f"{i}.copy")
            for name in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(other, name, getattr(info, name))
            archive.filelist.append(other)
            archive.NameToInfo[other.filename] = other
        archive._didModify = True
    assert "not stored one after the other" in refusal(sealed(content, buffer.getvalue()), tmp_path)


def test_names_that_are_there_twice(content, tmp_path):
    parts = members(members(content)["model.skops"])
    with pytest.warns(UserWarning, match="Duplicate"):
        payload = zipped([*parts.items(), ("schema.json", b"{}")], ZIP_STORED)
    assert "or a member twice" in refusal(sealed(content, payload), tmp_path)


def deep(n):
    node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
    for _ in range(n):
        node = {**node, "content": [node]}
    return node


@pytest.mark.parametrize("n", [DEEPEST + 1, 400])
def test_deep_trees_are_not_climbed(n, content, tmp_path):
    schema, arrays = inside(content)
    schema["content"]["content"]["C"] = deep(n)
    assert f"nested more than {DEEPEST} deep" in refusal(with_inside(content, schema, arrays), tmp_path)


def test_deep_json_is_not_climbed(content, tmp_path):
    schema, arrays = inside(content)
    assert "RecursionError" in refusal(with_inside(content, "[" * 100_000, arrays), tmp_path)
    schema["content"]["content"]["C"]["content"] = " [" * 100_000 + "]" * 100_000
    assert "one number or text" in refusal(with_inside(content, schema, arrays), tmp_path)


@pytest.mark.slow
def test_a_schema_of_many_bytes_is_not_read(content, tmp_path):
    _, arrays = inside(content)
    padding = {"0.npy": np.random.default_rng(0).bytes(400_000)}  # else the container is refused
    message = refusal(with_inside(content, " " * (LARGEST_SCHEMA + 1), {**arrays, **padding}), tmp_path)
    assert "67,108,865 bytes, and 67,108,864 are the most" in message


def test_a_schema_of_many_brackets_is_not_parsed(content, tmp_path):
    _, arrays = inside(content)
    text = "[" + "[]," * MOST_BRACKETS + "0]"
    assert "2,000,001 brackets" in refusal(with_inside(content, text, arrays), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("n_columns", "n_categories"), [(3000, 20), (1, 100_000)])
def test_large_tables_are_well_within_the_limits(n_columns, n_categories):
    categories = tuple(f"the category {i}" for i in range(n_categories))
    columns = tuple(CategoricalColumn(f"the column {i}", Kind.TEXT, categories) for i in range(n_columns))
    encoder = TableEncoder()
    encoder.columns_ = columns
    schema = json.loads(members(payload_of(state_of(encoder)))["schema.json"])
    assert sum(1 for _ in walk_nodes(schema)) < MOST_NODES / 4
    assert len(json.dumps(schema)) < LARGEST_SCHEMA / 4


def plain(loader, kind, content):
    return {"__class__": kind, "__module__": "builtins", "__loader__": loader, "content": content}


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_dict_has_one_type_for_each_key(n, content, tmp_path):
    schema, arrays = inside(content)
    types = plain("ListNode", "list", [plain("TypeNode", "str", None)] * n)
    values = {"a": plain("JsonNode", "str", "1"), "b": plain("JsonNode", "str", "2")}
    schema["content"]["content"]["C"] = {**plain("DictNode", "dict", values), "key_types": types}
    assert f"2 values, but the types of {n} keys" in refusal(with_inside(content, schema, arrays), tmp_path)


def test_a_type_is_no_value(content, tmp_path):
    schema, arrays = inside(content)
    schema["content"]["content"]["C"] = plain("TypeNode", "str", None)
    assert "as a value, where no model" in refusal(with_inside(content, schema, arrays), tmp_path)


def kernel():
    node = plain("ObjectNode", "RBFKernel", None)
    return {**node, "__module__": "mixkern.kernels.rbf"}


def test_what_reads_its_state_gets_plain_values(content, tmp_path):
    """NumPy calls the length and the items of objects: those of a file are not called."""
    state = {**plain("RandomStateNode", "RandomState", kernel()), "__module__": "numpy.random.mtrand"}
    texts = {**plain("NdArrayNode", "ndarray", [kernel()]), "__module__": "numpy", "type": "json"}
    texts["shape"] = plain("TupleNode", "tuple", [plain("JsonNode", "str", "1")] * 2)
    for hostile, place in ((state, "state"), (texts, "entry")):
        schema, arrays = inside(content)
        schema["content"]["content"]["random_state"] = hostile
        assert f"as a {place}, where no model" in refusal(with_inside(content, schema, arrays), tmp_path)
    schema, arrays = inside(content)
    mixture = schema["content"]["content"]["mixture_"]["content"]["content"]
    mixture["weights"] = kernel()
    assert "as a state, where no model" in refusal(with_inside(content, schema, arrays), tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"protocol": 2}', '"text"'])
def test_schemas_that_are_none(text, content, tmp_path):
    refusal(with_inside(content, text, {}), tmp_path)


def test_all_nodes_are_walked(content):
    schema, _ = inside(content)
    assert len(list(walk_nodes(schema))) == json.dumps(schema).count("__loader__")
