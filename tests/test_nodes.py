"""Values as JSON and arrays: what is written is read again, and nothing else is read."""

import json
import math
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest

from mixkern import Mixture, VBMixture
from mixkern.density import BoundRecorder, CovarianceType
from mixkern.errors import ModelFileError
from mixkern.kernels import LaplacianKernel, RBFKernel, RWMKernel
from mixkern.nodes import (
    DEEPEST,
    NodeReader,
    NodeWriter,
    array_bytes,
    declared_size,
    json_memory,
    parsed_json,
    plain_notes,
    read_array,
)

MIXTURE = Mixture([0.5, 0.5], [[0.0], [1.0]], [1.0, 2.0], "spherical")


def written(value):
    writer = NodeWriter()
    node = json.loads(json.dumps(writer.node(value), allow_nan=False))
    return node, writer


def again(value):
    node, writer = written(value)
    reader = NodeReader(lambda i: np.array(writer.arrays[i]), len(writer.arrays), writer.shared)
    return reader.model(node)


def read(node, arrays=(), shared=()):
    return NodeReader(lambda i: arrays[i], len(arrays), list(shared)).model(node)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -(2**70),
        0.5,
        -0.0,
        1e-320,
        "text \0 \ud800 \U0001f600",
        [1, "a", [None]],
        (1.0, ("a",)),
        {False: 1, 2: 0.5, "a": None},
        math.inf,
        -math.inf,
    ],
)
def test_plain_values(value):
    found = again(value)
    assert found == value
    assert type(found) is type(value)
    assert math.copysign(1, found) == math.copysign(1, value) if isinstance(value, float) else True


def test_numbers_of_numpy_become_pythons():
    values = (np.int64(1), np.float32(0.5), np.bool_(True), CovarianceType.DIAG, np.float64("nan"))
    assert [type(again(value)) for value in values] == [int, float, bool, str, float]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0).reshape(2, 3).T[::-1],
        np.array([True, False]),
        np.arange(3, dtype=np.int8),
        np.arange(3, dtype=">i4"),
        np.empty((0, 4)),
        np.array(1.5),
        np.array([np.nan, np.inf], dtype=np.float32),
    ],
)
def test_arrays(array):
    node, writer = written(array)
    assert node == {"array": 0}
    (kept,) = writer.arrays
    found = read_array(array_bytes(kept), kept.dtype.str, list(kept.shape))
    assert found.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, array)
    assert found.flags.writeable
    assert found.flags.f_contiguous == kept.flags.f_contiguous


@pytest.mark.parametrize("array", [np.array(["a", "bcd"]), np.array(["a", "bcd"], dtype=object), np.empty(0, object)])
def test_texts_are_lists(array):
    assert written(array)[0]["texts"] == array.tolist()
    found = again(array)
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()


def test_equal_values_are_one():
    same = Mixture(MIXTURE.weights, MIXTURE.means, MIXTURE.covariances, "spherical")
    node, writer = written([RWMKernel(MIXTURE), RWMKernel(same, gamma=2.0)])
    assert len(writer.shared) == 1
    assert len(writer.arrays) == 3
    assert node[0]["parts"]["mixture"] == node[1]["parts"]["mixture"] == {"shared": 0}
    one, other = again([RWMKernel(MIXTURE), RWMKernel(same, gamma=2.0)])
    assert one.mixture is other.mixture
    assert one.mixture == MIXTURE


def test_caches_and_callbacks_are_left_out():
    rows = np.random.RandomState(0).randn(20, 2)
    kernel = LaplacianKernel(RBFKernel(), rows.tolist())
    kernel(rows)
    assert {"graph", "deformation"} <= set(vars(kernel))
    found = again(kernel)
    assert set(vars(found)) == set(kernel.get_params(deep=False))
    assert found.rows.dtype == float
    density = VBMixture(2, covariance_type=CovarianceType.DIAG).set_callbacks(BoundRecorder()).fit(rows)
    assert not {"_skl_callbacks", "_ascent", "_early"} & set(vars(again(density)))


@dataclass(frozen=True)
class NotRegistered:
    a: int


@pytest.mark.parametrize(
    "thing",
    [
        object(),
        {1, 2},
        b"bytes",
        print,
        np.random.default_rng(0),
        1j,
        NotRegistered(1),
        np.array([1, None]),
        np.array([1j]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([["a"]]),
        np.array([np.longdouble(1)]),
    ],
)
def test_other_things_are_refused_by_name(thing):
    with pytest.raises(ModelFileError, match="the model holds a ") as caught:
        written([thing])
    assert type(thing).__qualname__ in str(caught.value)


# ---------------------------------------------------------------- what is not written is not read


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"a": 1},
        {"tuple": 1},
        {"tuple": [], "x": 1},
        {"dict": [[1]]},
        {"dict": [[1, 2, 3]]},
        {"dict": {"a": 1}},
        {"dict": [[[1], 2]]},
        {"float": "1"},
        {"float": 1},
        {"texts": "ab", "dtype": "object"},
        {"texts": [1], "dtype": "object"},
        {"texts": ["a"], "dtype": "<U"},
        {"texts": ["a"], "dtype": "<f8"},
        {"texts": ["a"], "dtype": "<U99999999"},
        {"texts": ["a"], "dtype": "<U-1"},
        {"texts": ["a"], "dtype": None},
        {"array": 0},
        {"array": -1},
        {"array": "0"},
        {"array": True},
        {"array": [0]},
        {"shared": 0},
        {"shared": -1},
        {"class": "RBFKernel"},
        {"class": "RBFKernel", "parts": []},
        {"class": "RBFKernel", "parts": {"predict": 1}},
        {"class": "mixkern.kernels.rbf.RBFKernel", "parts": {}},
        {"class": "os.system", "parts": {}},
        {"class": "dict", "parts": {}},
        {"class": None, "parts": {}},
        {"class": ["RBFKernel"], "parts": {}},
        {"class": {}, "parts": {}},
    ],
)
def test_unknown_nodes_are_refused(node):
    with pytest.raises((ModelFileError, KeyError, TypeError)):
        read(node)


def test_an_array_is_read_once_and_none_is_left():
    with pytest.raises(ModelFileError, match="its number of an array is not valid"):
        read([{"array": 0}, {"array": 0}], [np.ones(1)])
    with pytest.raises(ModelFileError, match="arrays that no part of its model refers to"):
        read([], [np.ones(1)])


def test_unknown_parts_are_refused_before_arrays_are_read():
    def fail(_):
        raise AssertionError("an array was read")

    node = {"class": "RBFKernel", "parts": {"unknown": {"array": 0}}}
    with pytest.raises(ModelFileError, match="its RBFKernel has unknown parts: 'unknown'"):
        NodeReader(fail, 1, []).model(node)


def test_shared_objects_refer_to_earlier_ones():
    with pytest.raises(ModelFileError, match="shared object"):
        read(1, shared=[{"shared": 0}])
    assert read([{"shared": 1}], shared=[{"tuple": [1]}, {"shared": 0}]) == [(1,)]


def test_deep_values_are_refused():
    node = 1
    for _ in range(DEEPEST):
        node = [node]
    assert read(node)
    with pytest.raises(ModelFileError, match="nested more than"):
        read([node])


@pytest.mark.parametrize(
    "declared",
    [
        None,
        {},
        {"dtype": "<f8"},
        {"dtype": "<f8", "shape": [1], "order": "C"},
        {"dtype": "|O", "shape": [1]},
        {"dtype": ">f8", "shape": [1]},
        {"dtype": "<U3", "shape": [1]},
        {"dtype": ["<f8"], "shape": [1]},
        {"dtype": "<f8", "shape": 1},
        {"dtype": "<f8", "shape": [-1]},
        {"dtype": "<f8", "shape": [True]},
        {"dtype": "<f8", "shape": [2**31]},
        {"dtype": "<f8", "shape": [1] * 9},
    ],
)
def test_declared_arrays(declared):
    with pytest.raises(ModelFileError, match="list of arrays"):
        declared_size(declared)
    assert declared_size({"dtype": "<f4", "shape": [2, 3]}) == 24


def test_the_header_of_an_array_is_the_declared_one():
    content = array_bytes(np.ones((2, 3)))
    for dtype, shape in (("<f8", [3, 2]), ("<i8", [2, 3]), ("<f8", [6]), ("<f8", [2, 4])):
        with pytest.raises(ModelFileError, match="header of an array"):
            read_array(content, dtype, shape)
    for wrong in (content + b"x", content[:-1], content.replace(b"NUMPY\x01", b"NUMPY\x02")):
        with pytest.raises((ModelFileError, ValueError)):
            read_array(wrong, "<f8", [2, 3])


# ---------------------------------------------------------------- JSON with limits


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", "[Infinity]", '{"a": 1, "a": 2}', "[" * 100_000, "9" * 5000, '"\u00e9"', "[1,]"]
)
def test_json_of_no_model(text):
    with pytest.raises(ModelFileError, match="its JSON is not that of a model"):
        parsed_json(text.encode(), 2**30)


def many(text, n=4_000):
    return "[" + ",".join(text % i if "%" in text else text for i in range(n)) + "]"


@pytest.mark.parametrize(
    "text",
    [
        many("[]"),
        many("[[[1]]]"),
        many("{}"),
        many('{"a":1}'),
        many('{"%d":1}'),
        many('"%d"'),
        many('"%d\\ud83d\\ude00"'),
        many('"\\u0416%d"'),
        many("%d.5"),
        many("1%d"),
        "{" + ",".join(f'"{i}":0' for i in range(6_000)) + "}",
        '["' + "a" * 100_000 + '\\ud83d\\ude00"]',
        '["' + "\\n" * 50_000 + '"]',
        "[" + " " * 100_000 + "]",
        many("9" * 4000, 100),
    ],
    ids=lambda text: text[:12],
)
def test_the_memory_of_json_is_known_before_it_is_parsed(text):
    content = text.encode()
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    kept = parsed_json(content, 2**30)
    peak = tracemalloc.get_traced_memory()[1] - start + len(content)
    tracemalloc.stop()
    assert kept is not None
    assert peak <= json_memory(content) < 20 * peak
    with pytest.raises(ModelFileError, match="more values than that of any model"):
        parsed_json(content, json_memory(content) - 1)


def test_plain_notes():
    assert plain_notes({"a": np.int64(1), "b": (np.float32(0.5), None)}) == {"a": 1, "b": [0.5, None]}
    with pytest.raises(ModelFileError, match=r"as JSON allows: they hold a set\.$"):
        plain_notes({"a": {1}})
    with pytest.raises(ModelFileError, match="JSON compliant"):
        plain_notes({"a": math.nan})
