"""Files that would run code if they were trusted: each is an error with the name of the type, and runs nothing."""

import importlib
import io
import json
import os
import pickle
import subprocess
import sys
from functools import partial
from operator import methodcaller
from pathlib import Path
from zipfile import ZIP_STORED

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from mixkern.errors import ModelFileError
from mixkern.storage import load

from .damage import inside, members, sealed, with_inside, zipped

TYPES = {"__class__": "str", "__module__": "builtins"}


class Trap:
    """Makes a file when it is unpickled, or when skops restores it."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)

    def __setstate__(self, state):
        Path(state["marker"]).touch()


def value(text):
    return {**TYPES, "__loader__": "JsonNode", "content": json.dumps(text)}


def several(*nodes, kind="tuple"):
    return {"__class__": kind, "__module__": "builtins", "__loader__": f"{kind.title()}Node", "content": list(nodes)}


def node(loader, module, name, **more):
    return {"__class__": name, "__module__": module, "__loader__": loader, **more}


def command(marker):
    """Give the arguments of a process that makes a file."""
    return several(several(value(sys.executable), value("-c"), value(f"open({str(marker)!r}, 'w')"), kind="list"))


def by_hand(marker):
    """Give nodes that call something when they are built, each by another way of skops."""
    system, touch = node("FunctionNode", "posix", "system"), several(value(f"touch {marker}"))
    empty = {"content": {}, "key_types": several(kind="list")}
    return {
        "reduce": node("ConstructorFromReduceNode", "subprocess", "Popen", content=command(marker)),
        "function": system,
        "partial": node(
            "PartialNode",
            "functools",
            "partial",
            content={
                "func": system,
                "args": touch,
                "kwds": node("DictNode", "builtins", "dict", **empty),
                "namespace": value(None),
            },
        ),
        "operator": node(
            "OperatorFuncNode", "operator", "methodcaller", attrs=several(value("system"), *touch["content"])
        ),
        "method": node("MethodNode", "builtins", "str", content={"obj": value("x"), "func": "format"}),
        "type": node("TypeNode", "subprocess", "Popen"),
        "array": node("NdArrayNode", "subprocess", "Popen", type="numpy", file="1.npy"),
        "dict": node("DictNode", "subprocess", "Popen", **empty),
        "list": node("ListNode", "subprocess", "Popen", content=command(marker)["content"]),
        "keys": node(
            "DictNode",
            "builtins",
            "dict",
            content={f"touch {marker}": value(1)},
            key_types=several(node("TypeNode", "posix", "system"), kind="list"),
        ),
        "default": node("DefaultDictNode", "collections", "defaultdict", content={}),
        "trusted by skops": node("ObjectNode", "sklearn.linear_model._logistic", "LogisticRegression"),
        "ufunc": node("FunctionNode", "numpy", "add"),
        "trusted, but not so": node("ConstructorFromReduceNode", "mixkern.density.mixture", "Mixture", content=touch),
        "a module's own name": node("ObjectNode", "mixkern_study.store", "Store"),
        "random": node("RandomGeneratorNode", "numpy.random._generator", "Generator", content={}),
        "cached": node("CachedNode", "builtins", "str", __id__=1),
        "sparse": node("SparseMatrixNode", "scipy.sparse._csr", "csr_matrix", type="scipy", file="1.npy"),
        "tree": node("TreeNode", "sklearn.tree._tree", "Tree"),
        "unknown": node("NoSuchNode", "os", "system"),
    }


def refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("place", ["top", "C", "kernel_", "density", "columns"])
@pytest.mark.parametrize("name", by_hand(""))
def test_nodes_that_call_something_are_refused_by_name(name, place, content, tmp_path):
    marker = tmp_path / "ran"
    hostile = by_hand(marker)[name]
    schema, arrays = inside(content)
    if place == "top":
        schema = {**hostile, "protocol": schema["protocol"]}
    elif place == "columns":
        schema["content"]["content"]["encoder_"]["content"]["content"]["columns_"]["content"][0] = hostile
    else:
        schema["content"]["content"][place] = hostile
    message = refused(with_inside(content, schema, arrays), tmp_path / "a.mixkern")
    named = "posix.system" if name in ("function", "keys") else f"{hostile['__module__']}.{hostile['__class__']}"
    assert named in message
    assert "no code from it was run" in message
    assert not marker.exists()


def attributes(**values):
    text = node("TypeNode", "builtins", "str")
    return node("DictNode", "builtins", "dict", content=values, key_types=several(*[text] * len(values), kind="list"))


def callables():
    """Give nodes of trusted types that can be called: a dict of skops calls what it takes for the types of its keys."""
    rbf = {"gamma": 1.0, "alpha": 1.0, "beta": 1.0, "n_categorical": 0, "gamma_bounds": "fixed"}
    rbf = node("ObjectNode", "mixkern.kernels.rbf", "RBFKernel", content=attributes(**valued(rbf)))
    graph = {"n_neighbors": 1, "degree": 1, "ratio": 1.0, "ratio_bounds": "fixed", "rows": None}
    graph = attributes(**valued(graph), base=rbf)
    pairs = {"gamma": 1.0, "metric": "linear", "pairwise_kernels_kwargs": None, "gamma_bounds": "fixed"}
    kernels = "sklearn.gaussian_process.kernels"
    return {
        "PairwiseKernel": node("ObjectNode", kernels, "PairwiseKernel", content=attributes(**valued(pairs))),
        "RBFKernel": rbf,
        "LaplacianKernel": node("ObjectNode", "mixkern.kernels.laplacian", "LaplacianKernel", content=graph),
    }


def valued(values):
    return {name: value(each) for name, each in values.items()}


@pytest.mark.parametrize("place", ["a setting", "the attributes", "a random state"])
@pytest.mark.parametrize("kind", ["list", "tuple"])
@pytest.mark.parametrize("name", callables())
def test_trusted_objects_are_not_called_as_types_of_keys(name, kind, place, content, tmp_path, monkeypatch):
    hostile, calls = callables()[name], []
    known = getattr(importlib.import_module(hostile["__module__"]), name)
    monkeypatch.setattr(known, "__call__", lambda self, *given: calls.append(given))
    schema, arrays = inside(content)
    settings = schema["content"]["content"]
    keyed = {**attributes(**{"1.0": value(1)}), "key_types": several(hostile, kind=kind)}
    if place == "the attributes":
        schema["content"]["key_types"] = several(*[hostile] * len(settings), kind=kind)
    else:
        state = node("RandomStateNode", "numpy.random.mtrand", "RandomState", content=keyed)
        settings["C"] = keyed if place == "a setting" else state
    message = refused(with_inside(content, schema, arrays), tmp_path / "a.mixkern")
    assert calls == []
    assert "no code from it was run" in message


@pytest.mark.parametrize("field", ["C", pytest.param("classes_", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_small_file_of_many_nodes_is_refused_before_they_are_made(field, content, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(skops.io, "loads", lambda *given, **named: made.append(given))
    schema, arrays = inside(content)
    schema["content"]["content"][field] = several("HERE", kind="list")
    many = ",".join([json.dumps(value(0), separators=(",", ":"))] * 500_001)
    schema = json.dumps(schema).replace('"HERE"', many)
    padding = np.random.default_rng(0).bytes(600_000)  # so that it does not unfold to 200 times its size
    bomb = with_inside(content, schema, {**arrays, "0.npy": padding})
    assert len(bomb) < 1_000_000
    assert "more than 500,000 nodes" in refused(bomb, tmp_path / "a.mixkern")
    assert made == []


def test_a_setting_is_not_a_list_of_numbers(content, tmp_path):
    schema, arrays = inside(content)
    schema["content"]["content"]["C"] = several(*[value(0)] * 2000, kind="list")
    message = refused(with_inside(content, schema, arrays), tmp_path / "a.mixkern")
    assert "its C is not valid" in message


@pytest.mark.parametrize("protocol", [0, 1, -1, True, "2", None, 2.0, 99])
def test_older_protocols_are_errors(protocol, content, tmp_path):
    schema, arrays = inside(content)
    schema["protocol"] = protocol
    assert "protocol" in refused(with_inside(content, schema, arrays), tmp_path / "a.mixkern")


def objects(marker):
    return {
        "os.system": os.system,
        "partial": partial(os.system, f"touch {marker}"),
        "lambda": lambda: os.system(f"touch {marker}"),
        "methodcaller": methodcaller("system", f"touch {marker}"),
        "another package": LogisticRegression(),
        "subprocess": subprocess.Popen,
    }


NAMES = {
    "os.system": "posix.system (by way of TypeNode)",
    "partial": "functools.partial (by way of PartialNode)",
    "lambda": "<lambda> (by way of FunctionNode)",
    "methodcaller": "operator.methodcaller (by way of OperatorFuncNode)",
    "another package": "sklearn.linear_model._logistic.LogisticRegression (by way of ObjectNode)",
    "subprocess": "subprocess.Popen (by way of TypeNode)",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_skops_itself_writes_is_refused(name, content, tmp_path):
    marker = tmp_path / "ran"
    payload = skops.io.dumps({"model": objects(marker)[name]})
    message = refused(sealed(content, zipped(members(payload), ZIP_STORED)), tmp_path / "a.mixkern")
    assert "no model of mixkern needs" in message
    assert NAMES[name] in message
    assert not marker.exists()
    refused(payload, tmp_path / "a.mixkern")  # without our container
    assert not marker.exists()


def test_the_trap_works_where_it_is_believed(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "ran")))
    assert (tmp_path / "ran").exists()
    schema = {**by_hand(tmp_path / "skops")["reduce"], "protocol": 2}
    process = skops.io.loads(zipped({"schema.json": json.dumps(schema)}), trusted=["subprocess.Popen"])
    process.wait()
    assert (tmp_path / "skops").exists()


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_not_opened(protocol, content, tmp_path):
    marker, path = tmp_path / "ran", tmp_path / "a.mixkern"
    trap = pickle.dumps(Trap(marker), protocol)
    message = refused(trap, path)
    assert ("looks like a pickle" if protocol else "it is no model") in message
    refused(sealed(content, trap), path)
    buffer = io.BytesIO()
    joblib.dump(Trap(marker), buffer, compress=3)
    refused(buffer.getvalue(), path)
    assert not marker.exists()


def test_a_pickle_inside_an_array_is_not_opened(content, tmp_path):
    marker = tmp_path / "ran"
    buffer = io.BytesIO()
    np.save(buffer, np.array([Trap(marker)], dtype=object), allow_pickle=True)
    schema, arrays = inside(content)
    message = refused(with_inside(content, schema, {**arrays, "1.npy": buffer.getvalue()}), tmp_path / "a.mixkern")
    assert "claims object" in message
    np.savez(buffer := io.BytesIO(), a=np.array([Trap(marker)], dtype=object))
    refused(with_inside(content, schema, {**arrays, "1.npy": buffer.getvalue()}), tmp_path / "a.mixkern")
    refused(with_inside(content, schema, {**arrays, "1.npy": pickle.dumps(Trap(marker))}), tmp_path / "a.mixkern")
    assert not marker.exists()


def test_attributes_do_not_replace_methods(content, tmp_path):
    schema, arrays = inside(content)
    attributes = schema["content"]
    attributes["content"]["predict"] = value("no")
    attributes["key_types"]["content"].append(node("TypeNode", "builtins", "str"))
    path = tmp_path / "a.mixkern"
    path.write_bytes(with_inside(content, schema, arrays))
    assert callable(load(path).predict)
