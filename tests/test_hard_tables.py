"""Every estimator on tables and labels that are hard or wrong: finite results, or an error and warnings of mixkern."""

import datetime as dt
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from mixkern import (
    DensitySearch,
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
    advise,
    estimated_accuracy,
    suggest,
)
from mixkern.errors import MixkernError, MixkernWarning
from mixkern.estimators.score import NoScoreWarning

N = 24  # rows of most tables
RANDOM = np.random.RandomState(0)
CLASSES = np.arange(N) % 2
GOOD = RANDOM.standard_normal((N, 3)) + 3 * CLASSES[:, None]
GOOD.flags.writeable = False
LABELS = np.where(np.arange(N) < 12, CLASSES, -1)
FRAME = pd.DataFrame(GOOD, columns=["a", "b", "c"])
DAYS = np.datetime64("2020-01-01") + np.arange(N)


def changed(column, value, table=GOOD):
    """Return the good table with other values in one column, or in its first cells."""
    table = np.array(table)
    cells = np.atleast_1d(value)
    table[: len(cells) if len(cells) > 1 or np.ndim(value) else N, column] = value
    return table


def objects(*cells):
    """Return an array of objects with the cells repeated in each row."""
    return np.array([cells] * N, dtype=object)


def masked():
    mask = np.zeros(GOOD.shape, dtype=bool)
    mask[::3, 1] = True
    return np.ma.MaskedArray(GOOD, mask)


TABLES = {
    # ---- numbers
    "good": lambda: GOOD,
    "constant column": lambda: changed(1, 5.0),
    "constant": lambda: np.ones((N, 3)),
    "zeros": lambda: np.zeros((N, 2)),
    "duplicate rows": lambda: np.repeat(GOOD[:2], N // 2, axis=0),
    "one row": lambda: GOOD[:1],
    "two rows": lambda: GOOD[:2],
    "three rows": lambda: GOOD[:3],
    "one column": lambda: GOOD[:, :1],
    "one cell": lambda: GOOD[:1, :1],
    "more columns than rows": lambda: np.random.RandomState(1).standard_normal((N, 60)),
    "1e300": lambda: GOOD * 1e300,
    "one 1e300": lambda: changed(0, [1e300]),
    "both ends": lambda: changed(0, [1.7e308, -1.7e308]),
    "1e-300": lambda: GOOD * 1e-300,
    "denormal": lambda: GOOD * 1e-320,
    "far from zero": lambda: GOOD + 1e15,
    "infinite": lambda: changed(0, [np.inf]),
    "minus infinite": lambda: changed(2, -np.inf),
    "integers above 2^53": lambda: 2**60 + np.arange(3 * N).reshape(N, 3),
    "unsigned above 2^63": lambda: np.arange(3 * N, dtype=np.uint64).reshape(N, 3) + np.uint64(2**63 + 5),
    "huge Python integers": lambda: [[10**400 + i, 1.0] for i in range(N)],
    "collinear": lambda: GOOD[:, :1] * np.array([1.0, 2.0, -3.0]),
    "half precision": lambda: GOOD.astype(np.float16),
    "long double": lambda: GOOD.astype(np.longdouble),
    "Fortran order": lambda: np.asfortranarray(GOOD),
    "negative strides": lambda: GOOD[::-1, ::-1],
    "read-only memory": lambda: np.broadcast_to(GOOD[:1], (N, 3)),
    "booleans": lambda: GOOD > 1,
    "small integers": lambda: (GOOD > 1).astype(np.int8),
    "decimals": lambda: [[decimal.Decimal(str(x)) for x in row] for row in GOOD],
    "complex": lambda: GOOD + 1j,
    # ---- gaps
    "all gaps": lambda: np.full((N, 3), np.nan),
    "column of gaps": lambda: changed(1, np.nan),
    "rows of gaps": lambda: np.where(np.arange(N)[:, None] % 2, GOOD, np.nan),
    "one value": lambda: changed(0, [1.0], np.full((N, 2), np.nan)),
    "gaps in a diagonal": lambda: np.where(np.arange(3) == np.arange(N)[:, None] % 3, np.nan, GOOD),
    "None": lambda: objects(None, None),
    "masked": masked,
    "all masked": lambda: np.ma.masked_all((N, 2)),
    # ---- categories and texts
    "each row its own category": lambda: pd.DataFrame({"a": GOOD[:, 0], "key": [f"row {i}" for i in range(N)]}),
    "texts": lambda: np.array([["a", "b"], ["c", "d"]] * (N // 2)),
    "numbers as texts": lambda: GOOD.astype(str),
    "one text among numbers": lambda: pd.DataFrame({"a": [*GOOD[:-1, 0].tolist(), "high"], "b": GOOD[:, 1]}),
    "long texts": lambda: [["x" * 10_000, i] for i in range(N)],
    "odd texts": lambda: [[("\x00", "", " ", "é\ud800", "nan")[i % 5], i] for i in range(N)],
    "bytes": lambda: np.array([[b"a", b"b"]] * N),
    "bytes as objects": lambda: objects(b"a", 1.0),
    "mixed types": lambda: [[(1, "a")[i % 2], i] for i in range(N)],
    "mixed with booleans": lambda: [[[1.5, "a", True, None][i % 4], i] for i in range(N)],
    "objects": lambda: [[object(), 1.0] for _ in range(N)],
    "nested lists": lambda: [[[1, 2], [3, 4]]] * N,
    "lists in cells": lambda: pd.DataFrame({"a": [[1, 2]] * N, "b": GOOD[:, 0]}),
    "dicts in cells": lambda: pd.DataFrame({"a": [{"b": 1}] * N, "b": GOOD[:, 0]}),
    # ---- dates
    "dates": lambda: DAYS[:, None],
    "dates without a value": lambda: np.full((N, 2), "NaT", dtype="datetime64[D]"),
    "durations": lambda: np.arange(2 * N).reshape(N, 2).astype("timedelta64[h]"),
    "months": lambda: np.arange(2 * N).reshape(N, 2).astype("timedelta64[M]"),
    "dates in a frame": lambda: pd.DataFrame({"day": DAYS, "a": GOOD[:, 0]}),
    "time zones": lambda: pd.DataFrame({"day": pd.date_range("2020", periods=N, tz="Europe/Berlin"), "a": GOOD[:, 0]}),
    "periods": lambda: pd.DataFrame({"month": pd.period_range("2020-01", periods=N, freq="M"), "a": GOOD[:, 0]}),
    "intervals": lambda: pd.DataFrame({"i": pd.interval_range(0, N), "a": GOOD[:, 0]}),
    "Python dates": lambda: [[dt.date(2020, 1, 1 + i), dt.time(i), dt.timedelta(i)] for i in range(N)],
    # ---- no tables
    "sparse": lambda: scipy.sparse.csr_matrix(GOOD),
    "sparse array": lambda: scipy.sparse.coo_array(GOOD),
    "a number": lambda: 3.0,
    "a NumPy number": lambda: np.float64(3.0),
    "an array of no dimension": lambda: np.array(3.0),
    "a text": lambda: "table.csv",
    "Bytes": lambda: b"table",
    "nothing": lambda: None,
    "a dict": lambda: {"a": GOOD[:, 0]},
    "list of dicts": lambda: [{"a": 1.0}] * N,
    "a set": lambda: {1.0, 2.0},
    "an iterator": lambda: iter(GOOD.tolist()),
    "a range": lambda: range(N),
    "an object": object,
    "a class": lambda: pd.DataFrame,
    "a function": lambda: len,
    "1-D": lambda: GOOD[:, 0],
    "1-D list": lambda: GOOD[:, 0].tolist(),
    "3-D": lambda: GOOD.reshape(N, 3, 1),
    "a series": lambda: FRAME["a"],
    "a polars series": lambda: pl.Series("a", GOOD[:, 0]),
    "ragged": lambda: [[1.0, 2.0], [3.0]] * (N // 2),
    "lazy": lambda: pl.DataFrame(GOOD).lazy(),
    "records": lambda: np.zeros(N, dtype=[("a", float), ("b", int)]),
    "empty list": list,
    "list of empty rows": lambda: [[]] * N,
    "no rows": lambda: np.empty((0, 3)),
    "no columns": lambda: np.empty((N, 0)),
    "an empty frame": pd.DataFrame,
    "a frame without rows": lambda: FRAME[:0],
    "a frame without columns": lambda: FRAME[[]],
    # ---- frames
    "frame": lambda: FRAME,
    "duplicate names": lambda: FRAME.set_axis(["a", "a", "b"], axis=1),
    "mixed names": lambda: FRAME.set_axis(["a", 1, 2.5], axis=1),
    "names that are tuples": lambda: FRAME.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]), axis=1),
    "nullable": lambda: pd.DataFrame({"a": pd.array([1, None, 3] * 8, dtype="Int64"), "b": GOOD[:, 0]}),
    "nullable booleans": lambda: pd.DataFrame({"a": pd.array([True, None] * 12, dtype="boolean"), "b": GOOD[:, 0]}),
    "pandas categories": lambda: pd.DataFrame({"a": pd.Categorical([1, 2, None] * 8), "b": GOOD[:, 0]}),
    "pandas sparse": lambda: FRAME.astype(pd.SparseDtype(float, 0.0)),
    "Arrow types in pandas": lambda: FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.from_pandas(FRAME),
    "polars lists": lambda: pl.DataFrame({"a": [[1, 2]] * N, "b": GOOD[:, 0]}),
    "polars structs": lambda: pl.DataFrame({"a": [{"x": 1}] * N, "b": GOOD[:, 0]}),
    "polars bytes": lambda: pl.DataFrame({"a": [b"x"] * N, "b": GOOD[:, 0]}),
    "polars nulls": lambda: pl.DataFrame({"a": [None] * N, "b": GOOD[:, 0]}),
    "polars decimals": lambda: pl.DataFrame({"a": [decimal.Decimal("1.5"), decimal.Decimal(2)] * 12, "b": GOOD[:, 0]}),
    "polars times": lambda: pl.DataFrame({"a": [dt.time(i) for i in range(N)], "b": DAYS}),
    "polars enums": lambda: pl.DataFrame({"a": pl.Series(["x", "y"] * 12, dtype=pl.Enum(["x", "y"])), "b": GOOD[:, 0]}),
    "polars objects": lambda: pl.DataFrame({"a": pl.Series([object()] * N, dtype=pl.Object), "b": GOOD[:, 0]}),
    "polars 128 bits": lambda: pl.DataFrame({"a": pl.Series([2**100 + i for i in range(N)], dtype=pl.Int128)}),
    "Arrow": lambda: pa.table({"a": GOOD[:, 0], "b": GOOD[:, 1]}),
    "Arrow nulls": lambda: pa.table({"a": pa.nulls(N), "b": GOOD[:, 1]}),
    "Arrow lists": lambda: pa.table({"a": [[1, 2]] * N, "b": GOOD[:, 1]}),
    "Arrow structs": lambda: pa.table({"a": [{"x": 1}] * N, "b": GOOD[:, 1]}),
    "Arrow dictionary": lambda: pa.table({"a": pa.array(["x", "y"] * 12).dictionary_encode(), "b": GOOD[:, 1]}),
    "Arrow duplicate names": lambda: pa.Table.from_arrays([pa.array(GOOD[:, 0]), pa.array(GOOD[:, 1])], ["a", "a"]),
    "Arrow bytes": lambda: pa.table({"a": [b"x"] * N, "b": GOOD[:, 1]}),
    "Arrow dates": lambda: pa.table({"a": pa.array(DAYS), "b": GOOD[:, 1]}),
    "Arrow durations": lambda: pa.table({"a": pa.array([dt.timedelta(i) for i in range(N)]), "b": GOOD[:, 1]}),
    "an Arrow batch": lambda: pa.RecordBatch.from_pydict({"a": GOOD[:, 0], "b": GOOD[:, 1]}),
}

TARGETS = {
    "few": lambda: LABELS,
    "None": lambda: [None if code < 0 else int(code) for code in LABELS],
    "NaN": lambda: np.where(LABELS < 0, np.nan, LABELS),
    "texts": lambda: ["ab"[code] if code >= 0 else None for code in LABELS],
    "categories": lambda: pd.Series(pd.Categorical(["ab"[code] if code >= 0 else None for code in LABELS])),
    "booleans": lambda: CLASSES == 1,
    "nullable": lambda: pd.array([None if code < 0 else int(code) for code in LABELS], dtype="Int64"),
    "pandas series with an index": lambda: pd.Series(LABELS, index=range(100, 100 + N)),
    "polars series": lambda: pl.Series([None if code < 0 else int(code) for code in LABELS]),
    "Arrow array": lambda: pa.array([None if code < 0 else int(code) for code in LABELS]),
    "Arrow chunks": lambda: pa.chunked_array([[None if code < 0 else int(code) for code in LABELS]]),
    "all missing": lambda: [None] * N,
    "all -1": lambda: np.full(N, -1),
    "all NaN": lambda: np.full(N, np.nan),
    "one label": lambda: [0] + [None] * (N - 1),
    "one label of each class": lambda: [0, 1] + [None] * (N - 2),
    "one class": lambda: np.zeros(N, dtype=int),
    "a class for each row": lambda: np.arange(N),
    "fractions": lambda: np.linspace(0, 1, N),
    "infinite": lambda: np.where(CLASSES, np.inf, 0.0),
    "huge": lambda: [10**400, 10**401] * (N // 2),
    "huge floats": lambda: np.where(CLASSES, 1e308, -1e308),
    "tiny floats": lambda: np.where(CLASSES, 1e-308, 2e-308) * np.arange(N),
    "integers above 2^53": lambda: 2**60 + CLASSES,
    "unsigned": lambda: CLASSES.astype(np.uint64) + np.uint64(2**63),
    "mixed types": lambda: [0, "a"] * (N // 2),
    "numbers and booleans": lambda: [0, True] * (N // 2),
    "texts of numbers": lambda: ["-1", "1"] * (N // 2),
    "empty texts": lambda: ["", "a"] * (N // 2),
    "surrogates": lambda: ["\ud800", "a"] * (N // 2),
    "bytes": lambda: np.array([b"a", b"b"] * (N // 2)),
    "complex": lambda: CLASSES + 1j,
    "dates": lambda: DAYS,
    "dates in nanoseconds": lambda: DAYS.astype("datetime64[ns]"),
    "durations": lambda: np.arange(N).astype("timedelta64[ns]"),
    "Python dates": lambda: [dt.date(2020, 1, 1 + i % 2) for i in range(N)],
    "pandas dates": lambda: pd.Series(DAYS),
    "decimals": lambda: [decimal.Decimal(int(code)) for code in CLASSES],
    "objects": lambda: [object() for _ in range(N)],
    "nested lists": lambda: [[0], [1]] * (N // 2),
    "ragged lists": lambda: [[0], [1, 2]] * (N // 2),
    "lists of lists": lambda: [[[0]], [[1]]] * (N // 2),
    "dicts": lambda: [{"a": 1}] * N,
    "sets": lambda: [{1}] * N,
    "tuples": lambda: [(0, 1)] * N,
    "2-D": lambda: np.column_stack([CLASSES, CLASSES]),
    "one-hot": lambda: np.eye(2)[CLASSES],
    "a column": lambda: LABELS[:, None],
    "3-D": lambda: np.zeros((N, 1, 1)),
    "frame of one column": lambda: pd.DataFrame({"y": LABELS}),
    "frame of two columns": lambda: pd.DataFrame({"y": LABELS, "z": LABELS}),
    "polars frame": lambda: pl.DataFrame({"y": LABELS}),
    "Arrow table": lambda: pa.table({"y": LABELS}),
    "lazy frame": lambda: pl.DataFrame({"y": LABELS}).lazy(),
    "masked": lambda: np.ma.MaskedArray(CLASSES, np.arange(N) >= 12),
    "sparse": lambda: scipy.sparse.csr_matrix(CLASSES),
    "records": lambda: np.zeros(N, dtype=[("a", int)]),
    "a text": lambda: "ab" * (N // 2),
    "Bytes": lambda: b"ab" * (N // 2),
    "a number": lambda: 1,
    "a NumPy number": lambda: np.int64(1),
    "an array of no dimension": lambda: np.array(1),
    "nothing": lambda: None,
    "a dict": lambda: dict.fromkeys(range(N), 1),
    "a set": lambda: set(range(N)),
    "an iterator": lambda: iter(LABELS),
    "a range": lambda: range(N),
    "an object": object,
    "a class": lambda: pd.Series,
    "empty": list,
    "too short": lambda: LABELS[:-1],
    "too long": lambda: np.append(LABELS, 0),
    "one too few, as None": lambda: [0, 1, None],
}

WEIGHTS = {
    "a number": lambda: 2.0,
    "zeros": lambda: np.zeros(N),
    "zero for a class": lambda: CLASSES.astype(float),
    "negative": lambda: -np.ones(N),
    "NaN": lambda: np.where(CLASSES, np.nan, 1.0),
    "infinite": lambda: np.where(CLASSES, np.inf, 1.0),
    "huge": lambda: np.full(N, 1e308),
    "tiny": lambda: np.full(N, 1e-308),
    "uneven": lambda: np.where(CLASSES, 1e100, 1e-100),
    "too short": lambda: np.ones(N - 1),
    "too long": lambda: np.ones(N + 1),
    "2-D": lambda: np.ones((N, 1)),
    "texts": lambda: ["a"] * N,
    "texts of numbers": lambda: ["1"] * N,
    "None in it": lambda: [None] * N,
    "complex": lambda: np.ones(N) + 1j,
    "dates": lambda: DAYS,
    "ragged": lambda: [[1.0], [1.0, 2.0]] * (N // 2),
    "a dict": lambda: {0: 1.0},
    "a text": lambda: "balanced",
    "sparse": lambda: scipy.sparse.csr_matrix(np.ones(N)),
    "a polars series": lambda: pl.Series(np.ones(N)),
    "booleans": lambda: CLASSES == 1,
    "an iterator": lambda: iter(np.ones(N)),
    "empty": list,
}

MORE = {
    "the same rows": lambda: GOOD,
    "one row": lambda: GOOD[:1],
    "a list": lambda: GOOD.tolist(),
    "fewer columns": lambda: GOOD[:, :2],
    "one dimension": lambda: GOOD[:, 0],
    "a frame": lambda: FRAME,
    "texts": lambda: GOOD.astype(str),
    "dates": lambda: np.tile(DAYS[:, None], (1, 3)),
    "infinite": lambda: np.full((2, 3), np.inf),
    "gaps": lambda: np.full((2, 3), np.nan),
    "lazy": lambda: pl.DataFrame(GOOD).lazy(),
    "sparse": lambda: scipy.sparse.csr_matrix(GOOD),
    "no rows": lambda: GOOD[:0],
    "a number": lambda: 3.0,
    "a text": lambda: "table.csv",
    "an iterator": lambda: iter(GOOD),
    "complex": lambda: GOOD + 1j,
}


def labels_for(table, *, few=False):
    """Return labels for a table, as many as it has rows; half of the rows have one, or four do."""
    shape = getattr(table, "shape", None)
    n = len(table) if isinstance(table, (list, dict)) else N
    n = shape[0] if isinstance(shape, tuple) and shape else n
    return np.where(np.arange(n) < (4 if few else max(2, n // 2)), np.arange(n) % 2, -1)


DENSITY = VBMixture(n_components=3, random_state=0)
LINE = {"C": [1.0, 10.0], "gamma": [0.1], "cv": 2, "random_state": 0}
CLASSIFIERS = {
    **{
        f"MixtureSVC {kernel}": lambda kernel=kernel: MixtureSVC(kernel, density=DENSITY, random_state=0)
        for kernel in ("blend", "rwm", "gmm", "rbf", "lap")
    },
    "MixtureSVC passthrough": lambda: MixtureSVC(density=DENSITY, encoder="passthrough", random_state=0),
    "LaplacianSVC": lambda: LaplacianSVC(density=DENSITY, random_state=0),
    "TransductiveSVC": lambda: TransductiveSVC(density=DENSITY, random_state=0),
    "QuasiNewtonS3VC": lambda: QuasiNewtonS3VC(density=DENSITY, random_state=0),
    "SVCSearch": lambda: SVCSearch(MixtureSVC(density=DENSITY), **LINE),
}
OTHERS = {
    "MixtureSVR": lambda: MixtureSVR(density=DENSITY, random_state=0),
    "MixtureOneClassSVM": lambda: MixtureOneClassSVM(density=DENSITY, random_state=0),
    "VBMixture": lambda: VBMixture(n_components=3, random_state=0),
    "VBMixture diag": lambda: VBMixture(n_components=3, covariance_type="diag", random_state=0),
    "DensitySearch": lambda: DensitySearch(DENSITY, precision_prior=[0.1, 1.0], cv=2, random_state=0),
    "TableEncoder": lambda: TableEncoder(),
}
ESTIMATORS = {**CLASSIFIERS, **OTHERS}
FUNCTIONS = {
    "suggest": lambda X, y: suggest(X, 1, y, model=MixtureSVC(density=DENSITY), random_state=0),
    "advise": lambda X, y: advise(X, y, estimator=MixtureSVC(density=DENSITY)).estimate,
    "estimated_accuracy": lambda X, y: estimated_accuracy(MixtureSVC(density=DENSITY), X, y).value,
}
METHODS = ("predict", "decision_function", "predict_proba", "score_samples", "assess", "novelty", "responsibilities")


def outputs(estimator, X):
    """Return the results of all methods that an estimator has for rows."""
    found = {name: getattr(estimator, name)(X) for name in METHODS if hasattr(estimator, name)}
    if "predict_proba" not in found and "assess" in found:  # its probabilities are NaN, as documented
        found["assess"] = found["assess"].drop(columns="probability")
    return found


def fitted(name, X, y, **others):
    """Fit an estimator, or call a function, and return its results."""
    if name in FUNCTIONS:
        return {name: FUNCTIONS[name](X, y)}
    estimator = ESTIMATORS[name]()
    if name == "TableEncoder":
        return {"inverse_transform": len(estimator.inverse_transform(estimator.fit_transform(X)))}
    estimator.fit(X, y, **others)
    return {"density": estimator.density_.score_samples(X)} if name == "DensitySearch" else outputs(estimator, X)


def is_finite(values):
    """Return whether all numbers of a result are finite; a value of None stands for too few labels."""
    if isinstance(values, pd.DataFrame):
        return all(is_finite(values[column].to_numpy()) for column in values)
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return bool(np.isfinite(array).all())
    return array.dtype.kind in "iub" or not any(isinstance(value, float) and value != value for value in array.flat)


def faults(call):
    """Return what is wrong with a call: foreign errors and warnings, numbers that are not finite, no sentence."""
    wrong = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
        except MixkernError as error:
            if not str(error).rstrip().endswith((".", ")", "?")):
                wrong.append(f"no sentence: {error}")
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        else:
            is_undefined = any(issubclass(each.category, NoScoreWarning) for each in caught)
            wrong += [name for name, values in found.items() if not is_finite(values) and not is_undefined]
    return wrong + [str(each) for each in caught if not issubclass(each.category, MixkernWarning)]


def all_faults(cases, call):
    """Return the faults of all cases, by name."""
    found = {name: faults(lambda: call(make())) for name, make in cases.items()}  # noqa: B023
    return {name: wrong for name, wrong in found.items() if wrong}


QUICK = ("MixtureSVC blend", "VBMixture", "TableEncoder")
WEIGHTED = [name for name in ESTIMATORS if name not in ("TableEncoder", "DensitySearch")]
WITH_MORE = [name for name in WEIGHTED if not name.startswith("VBMixture")]
SCORED = [*CLASSIFIERS, "MixtureSVR"]
LABELLED = [*SCORED, "suggest", "estimated_accuracy"]


def tiers(names, quick=QUICK):
    """Return names as parameters: some in the quick tests, all others in the slow ones."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


def test_there_are_enough_fits():
    n = len(TABLES) * len([*ESTIMATORS, *FUNCTIONS]) + len(TARGETS) * len(LABELLED)
    assert n + len(WEIGHTS) * len(WEIGHTED) + len(MORE) * len(WITH_MORE) > 3_000


@pytest.mark.parametrize("name", tiers([*ESTIMATORS, *FUNCTIONS], ("VBMixture", "TableEncoder")))
def test_tables(name):
    assert all_faults(TABLES, lambda X: fitted(name, X, labels_for(X, few=name in FUNCTIONS))) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", tiers([*CLASSIFIERS, "MixtureSVR", "suggest", "estimated_accuracy"], ("MixtureSVC rbf", "MixtureSVR"))
)
def test_labels(name):
    assert all_faults(TARGETS, lambda y: fitted(name, GOOD, y)) == {}


@pytest.mark.parametrize("name", tiers(WEIGHTED, (*QUICK, "MixtureOneClassSVM")))
def test_weights(name):
    assert all_faults(WEIGHTS, lambda weights: fitted(name, GOOD, LABELS, sample_weight=weights)) == {}


@pytest.mark.parametrize("name", tiers(WITH_MORE))
def test_further_rows(name):
    assert all_faults(MORE, lambda more: fitted(name, GOOD, LABELS, X_unlabelled=more)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", tiers(name for name in ESTIMATORS if name != "DensitySearch"))
@pytest.mark.parametrize("table", [GOOD, FRAME], ids=["array", "frame"])
def test_rows_after_fit(name, table):
    estimator = ESTIMATORS[name]()
    estimator.fit(table, LABELS)
    use = (lambda X: {"transform": len(estimator.transform(X))}) if name == "TableEncoder" else None
    assert all_faults(TABLES, use or (lambda X: outputs(estimator, X))) == {}


@pytest.mark.parametrize("name", tiers(SCORED))
def test_scores(name):
    estimator = ESTIMATORS[name]().fit(GOOD, LABELS)
    assert all_faults(TARGETS, lambda y: {"score": estimator.score(GOOD, y)}) == {}
    assert all_faults(WEIGHTS, lambda weights: {"score": estimator.score(GOOD, LABELS, weights)}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["suggest", "estimated_accuracy"])
def test_fitted_models_in_functions(name):
    for encoder in (None, "passthrough"):
        model = MixtureSVC(density=DENSITY, encoder=encoder, random_state=0).fit(GOOD, LABELS)
        calls = {
            "suggest": lambda X: suggest(X, 1, model=model, random_state=0),  # noqa: B023
            "estimated_accuracy": lambda X: estimated_accuracy(model, X, labels_for(X, few=True)).value,  # noqa: B023
        }
        assert all_faults(TABLES, lambda X: {name: calls[name](X)}) == {}  # noqa: B023


@pytest.mark.parametrize("name", ESTIMATORS)
def test_before_fit(name):
    estimator = ESTIMATORS[name]()
    for method in (*METHODS, "transform", "score"):
        if hasattr(estimator, method):
            with pytest.raises(NotFittedError):
                getattr(estimator, method)(*[GOOD, LABELS][: 1 + (method == "score")])


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ESTIMATORS, *FUNCTIONS])
def test_many_categories(name):
    random = np.random.RandomState(0)
    table = pd.DataFrame({"a": random.standard_normal(500), "key": [f"row {i}" for i in range(500)]})
    few = np.where(np.arange(500) < 40, np.arange(500) % 4, -1)
    assert faults(lambda: fitted(name, table, few)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CLASSIFIERS, *FUNCTIONS])
@pytest.mark.parametrize("c", [101, 1_000])
def test_many_classes(name, c):
    table = np.random.RandomState(0).standard_normal((2 * c, 3))
    assert faults(lambda: fitted(name, table, np.arange(2 * c) % c)) == []
