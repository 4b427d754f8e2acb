"""Calls of the engine for arrays on a GPU: kinds and types of results, and errors."""

import numpy as np
import pytest

from mixkern import engine
from mixkern.errors import EngineError, EngineTypeError

from .mixtures import case


@pytest.fixture
def found():
    return case(0, 7, 5, 3, 2)


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_results_are_of_the_kind_of_the_rows(gpu, found, kind):
    put = (gpu.array, gpu.tensor)[kind]
    given, V = [put(each) for each in found.both], put(np.ones(5))
    how = {"whiteners": found.whiteners, "gamma": 0.5}
    for result, expected in (
        (engine.distance(*given, whiteners=found.whiteners), engine.distance(*found.both, whiteners=found.whiteners)),
        (engine.kernel(*given, **how), engine.kernel(*found.both, **how)),
        (engine.kernel_times(*given, V, **how), engine.kernel_times(*found.both, np.ones(5), **how)),
    ):
        assert isinstance(result, gpu.types[kind])
        np.testing.assert_allclose(gpu.host(result), expected, rtol=1e-10)


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_shares_of_whole_numbers_and_metrics_on_the_gpu(gpu, found, kind):
    put, (A, _, B, _) = (gpu.array, gpu.tensor)[kind], found.both
    shares = np.eye(3)[[0, 1, 2, 0, 1, 2, 0]], np.eye(3)[[0, 1, 2, 0, 1]]
    whole = [put(each.astype(np.int64)) for each in shares]
    D = engine.distance(put(A), whole[0], put(B), whole[1], whiteners=put(found.whiteners))
    assert isinstance(D, gpu.types[kind])
    expected = engine.distance(A, shares[0], B, shares[1], whiteners=found.whiteners)
    np.testing.assert_allclose(gpu.host(D), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((), r"weights must have the shape \(7,\), but its shape is \(\)"),
        ((7, 1), r"weights must have the shape \(7,\), but its shape is \(7, 1\)"),
        (6, "There are 7 rows, but 6 weights"),
    ],
)
def test_wrong_weights(gpu, found, shape, text):
    components = engine.Components(np.zeros((3, 2)), found.whiteners, np.zeros(3))
    with pytest.raises(EngineError, match=text):
        engine.moments(gpu.array(found.A), components, weights=gpu.array(np.ones(shape)))


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"A": np.zeros((7, 3))}, EngineError, "A has 3 continuous columns, but the whiteners have 2."),
        ({"A": np.zeros(7)}, EngineError, r"A must have the shape \(rows, 2\), but its shape is \(7,\)."),
        ({"A": np.zeros((7, 2), dtype=int)}, EngineTypeError, "A must have dtype float32 or float64, but it has int64"),
        ({"shares_A": np.zeros((6, 3))}, EngineError, r"shares_A must have the shape \(7, 3\) or \(3,\)"),
        ({"shares_B": None}, EngineError, "shares_B is missing"),
        ({"B": None}, EngineError, "shares_B is given, but B is not."),
    ],
)
def test_errors(gpu, found, change, error, text):
    names = ("A", "shares_A", "B", "shares_B")
    given = {**dict(zip(names, found.both, strict=True)), **change}
    placed = {name: None if each is None else gpu.array(each) for name, each in given.items()}
    with pytest.raises(error, match=text):
        engine.distance(**placed, whiteners=found.whiteners)


def test_both_sides_are_on_the_gpu(gpu, found):
    with pytest.raises(EngineTypeError, match="B must be on the GPU, as the other rows are, but it is a ndarray"):
        engine.distance(gpu.array(found.A), found.shares_A, found.B, found.shares_B, whiteners=found.whiteners)


def test_out(gpu, found):
    given = [gpu.array(each) for each in found.both]
    out = gpu.array(np.zeros((7, 5)))
    assert engine.distance(*given, whiteners=found.whiteners, out=out) is out
    np.testing.assert_allclose(gpu.host(out), engine.distance(*found.both, whiteners=found.whiteners), rtol=1e-10)
    for wrong, text in (
        (np.zeros((7, 5)), "out must be on the GPU"),
        (gpu.array(np.zeros((5, 7))), r"out must have the shape \(7, 5\)"),
        (gpu.array(np.zeros((7, 5), dtype="float32")), "out must have dtype float64"),
    ):
        with pytest.raises(EngineError, match=text):
            engine.distance(*given, whiteners=found.whiteners, out=wrong)
