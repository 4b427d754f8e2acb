"""Fixtures of the export's tests: run graphs and models with onnxruntime."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from mixkern.export.graph import Graph

onnxruntime.set_default_logger_severity(3)  # without remarks on constants that an optimisation has made unused


def _session(proto):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # tests run in several processes
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _computed(make, **inputs):
    """Run a graph of some arrays: make(graph, **tensors) returns its outputs."""
    graph = Graph()
    graph.reserve([*inputs, *(f"output {i}" for i in range(20))])
    tensors = {}
    for name, array in inputs.items():
        dtype = "string" if array.dtype.kind == "O" else str(array.dtype)
        tensors[name] = graph.input(name, dtype, [f"n_{name}", *array.shape[1:]])
    found = make(graph, **tensors)
    for i, each in enumerate(found):
        graph.output(f"output {i}", each, None)
    return _session(graph.model(doc="", version="0", metadata={})).run(None, inputs)


def _feed(exported, X):
    """Cells of a table as inputs of a model, written without the encoder of the library."""
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    if [each.name for each in exported.inputs] == ["X"]:
        return {"X": frame.to_numpy(dtype=exported.inputs[0].dtype)}
    feed = {}
    for each, name in zip(exported.inputs, frame.columns, strict=True):
        cells = frame[name]
        if each.dtype == "string":
            values = ["" if pd.isna(cell) else str(cell) for cell in cells]
            feed[each.name] = np.array(values, dtype=object).reshape(-1, 1)
        elif cells.dtype.kind == "M":
            days = cells.to_numpy("datetime64[us]")
            feed[each.name] = np.where(np.isnat(days), np.nan, days.astype(np.int64) / 86_400e6)[:, None]
        else:
            feed[each.name] = cells.to_numpy(dtype=float, na_value=np.nan)[:, None]
        if each.dtype != "string":
            feed[each.name] = feed[each.name].astype(each.dtype)
    return feed


def _predictions(exported, X, session=None):
    names = [each.name for each in exported.outputs]
    return dict(zip(names, (session or _session(exported.proto)).run(None, _feed(exported, X)), strict=True))


@pytest.fixture(scope="session")
def session():
    return _session


@pytest.fixture(scope="session")
def computed():
    return _computed


@pytest.fixture(scope="session")
def predictions():
    return _predictions


@pytest.fixture(scope="session")
def feed():
    return _feed
