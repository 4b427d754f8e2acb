"""Exported models in onnxruntime: their errors on the paper's sets, and their processor time beside the library's."""

import time
import warnings
from collections.abc import Callable

import numpy as np
import onnxruntime
import pandas as pd

from mixkern import MixtureSVC, datasets
from mixkern.errors import MixkernWarning
from mixkern.export import OnnxModel

N_ROWS, TINY_N_ROWS = 100_000, 300
SPEED = ("phoneme", "satimage", "credit_a")  # numbers, numbers of several classes, categories and gaps
LABELS = 4  # per class
N_CALLS = 100  # of single rows
REPEATS = 5


def run(*, tiny: bool = False) -> None:
    """Compare predictions on whole sets, then time resampled ones."""
    warnings.simplefilter("ignore", MixkernWarning)
    print(f"Exported models beside the library's, MixtureSVC() with {LABELS} labels per class", flush=True)
    for name in ("iris",) if tiny else datasets.names():
        _compare(name)
    for name in ("iris",) if tiny else SPEED:
        _time(name, TINY_N_ROWS if tiny else N_ROWS)


def _fitted(name: str) -> tuple[MixtureSVC, pd.DataFrame]:
    data = datasets.load(name)
    return MixtureSVC(random_state=0).fit(data.X, data.few_labels(per_class=LABELS, random_state=0)), data.X


def _session(exported: OnnxModel) -> onnxruntime.InferenceSession:
    onnxruntime.set_default_logger_severity(3)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # its threads wait in loops, which would count as processor time
    return onnxruntime.InferenceSession(exported.proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _feed(exported: OnnxModel, X: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the cells of a table as inputs."""
    return {
        each.name: X[[each.column]].astype(object).fillna("").astype(str).to_numpy(object)
        if each.dtype == "string"
        else X[[each.column]].to_numpy(each.dtype)
        for each in exported.inputs
    }


def _rounded(X: pd.DataFrame) -> pd.DataFrame:
    """Return a table as inputs in float32 have it."""
    return X.assign(**{name: X[name].astype("float32") for name in X if X[name].dtype.kind == "f"})


def _compare(name: str) -> None:
    model, X = _fitted(name)
    tables = {"float64": X, "float32": X, "float32, rounded cells": _rounded(X)}
    texts = []
    for kind, table in tables.items():
        exported = model.onnx_model(dtype=kind.partition(",")[0])
        label, shares = _session(exported).run(["label", "probabilities"], _feed(exported, X))
        n_wrong = int((label != model.predict(table)).sum())
        texts.append(f"{kind} {n_wrong} labels, {np.abs(shares - model.predict_proba(table)).max():.0e}")
    print(f"  {name}: {len(X):,} rows; different labels and largest error: {'; '.join(texts)}", flush=True)


def _time(name: str, n_rows: int) -> None:
    model, X = _fitted(name)
    X = X.iloc[np.random.default_rng(0).integers(len(X), size=n_rows)].reset_index(drop=True)
    for dtype in ("float64", "float32"):
        exported = model.onnx_model(dtype=dtype)
        session, feed = _session(exported), _feed(exported, X)
        ours, peer = _processor_times(lambda run=session.run, feed=feed: run(None, feed), lambda: model.assess(X))
        size = len(exported.proto.SerializeToString()) / 1e3
        print(f"  {name}, {dtype}, {size:.0f} kB: {n_rows:,} rows {ours:.2f} s, assess {peer:.2f} s", flush=True)
    first = {key: cells[:1] for key, cells in feed.items()}
    ours, peer = _processor_times(
        lambda: [session.run(None, first) for _ in range(N_CALLS)],
        lambda: [model.assess(X[:1]) for _ in range(N_CALLS)],
    )
    print(f"  {name}, one row: {ours / N_CALLS * 1e3:.2f} ms, assess {peer / N_CALLS * 1e3:.2f} ms", flush=True)


def _processor_times(ours: Callable[[], object], peer: Callable[[], object]) -> tuple[float, float]:
    """Return the least processor time of both, of all threads together: it hardly depends on other load."""
    found = []
    for call in (ours, peer):
        call()  # the first use of memory and caches is not counted
        times = []
        for _ in range(REPEATS):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
        found.append(min(times))
    return found[0], found[1]
