"""Which arguments are refused and by which message; no argument crashes the interpreter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern import engine
from mixkern.errors import EngineError

from .mixtures import case

ROWS = case(0, 6, 4, 3, 2)


def call(**changed):
    """A kernel in which one argument is another one."""
    A, shares_A, B, shares_B = ROWS.both
    arguments = {"A": A, "shares_A": shares_A, "B": B, "shares_B": shares_B, "whiteners": ROWS.whiteners, "gamma": 0.5}
    return engine.kernel(**arguments | changed)


def changed(array, value):
    array = array.copy()
    array.flat[1] = value
    return array


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"A": [[1.0, 2.0]]}, TypeError, "A must be a NumPy array (rows, 2), but it is a list."),
        ({"A": np.ma.masked_array(ROWS.A)}, TypeError, "but it is a MaskedArray."),
        (
            {"A": ROWS.A.astype(np.float32)},
            TypeError,
            "A must have dtype float64, but it has float32. Convert it first: A.astype(",
        ),
        ({"A": ROWS.A.astype(">f8")}, TypeError, "A must have dtype float64, but it has >f8"),
        ({"A": ROWS.A[0]}, ValueError, "A must have the shape (rows, 2), but its shape is (2,)."),
        ({"A": np.ones((6, 3))}, ValueError, "A has 3 continuous columns, but the whiteners have 2."),
        ({"A": changed(ROWS.A, np.nan)}, ValueError, "A contains NaN."),
        ({"B": changed(ROWS.B, np.inf)}, ValueError, "B contains values that are infinite or too large to be squared."),
        ({"A": changed(ROWS.A, 1e141)}, ValueError, "A is too large for whiteners of this size"),
        (
            {"shares_A": ROWS.shares_A[:5]},
            ValueError,
            "shares_A must have the shape (6, 3) or (3,), for 6 rows and 3 components, but",
        ),
        ({"shares_A": -ROWS.shares_A}, ValueError, "shares_A must not be negative, but the smallest value is -"),
        ({"shares_B": changed(ROWS.shares_B, np.nan)}, ValueError, "shares_B contains NaN."),
        ({"shares_B": None}, ValueError, "shares_B is missing"),
        ({"B": None}, ValueError, "shares_B is given, but B is not."),
        (
            {"whiteners": np.empty((0, 2, 2))},
            ValueError,
            "whiteners must have at least one component, but the shape is (0, 2, 2).",
        ),
        (
            {"whiteners": np.ones((3, 2, 1))},
            ValueError,
            "whiteners must have the shape (k, d, d) or (k, d), but the shape is (3, 2, 1).",
        ),
        ({"whiteners": np.ones((3, 2, 2))}, ValueError, "whiteners must be lower triangular"),
        (
            {"whiteners": np.ones(3)},
            ValueError,
            "whiteners must have the shape (k, d, d) or (k, d), but its shape is (3,).",
        ),
        ({"codes_A": np.zeros((6, 1), dtype=np.int32)}, ValueError, "codes_A and codes_B belong together"),
        ({"codes_A": np.zeros((6, 1))}, TypeError, "codes_A must have dtype int32, but it has float64."),
        ({"codes_A": np.zeros((5, 1), dtype=np.int32)}, ValueError, "codes_A has 5 rows, but A has 6."),
        (
            {"codes_A": np.zeros((6, 1), dtype=np.int32), "codes_B": np.zeros((4, 2), dtype=np.int32)},
            ValueError,
            "codes_A has 1 categorical columns, but codes_B has 2.",
        ),
        ({"gamma": -1.0}, ValueError, "gamma must be finite and at least 0, but it is -1.0."),
        ({"gamma": np.nan}, ValueError, "gamma must be finite and at least 0, but it is nan."),
        ({"alpha": "1"}, TypeError, "alpha must be a number, but it is a str."),
        ({"rtol": -1e-3}, ValueError, "rtol must be finite and at least 0"),
        ({"n_threads": 0}, ValueError, "n_threads must lie between 1 and 4096, but it is 0."),
        ({"n_threads": 1.5}, TypeError, "n_threads must be an int or None, but it is a float."),
        ({"dtype": np.int64}, TypeError, "dtype must be float64 or float32, but it is int64."),
        ({"out": [0.0]}, TypeError, "out must be a NumPy array, but it is a list."),
        ({"out": np.empty((6, 4), dtype=int)}, TypeError, "out must have dtype float64 or float32, but it has int64."),
        ({"out": np.empty((4, 6))}, ValueError, "out must have the shape (6, 4), but its shape is (4, 6)."),
        ({"out": np.empty((4, 6)).T}, ValueError, "out must be aligned and hold each row in one piece"),
        ({"out": np.empty((6, 4))[::-1]}, ValueError, "out must be aligned and hold each row in one piece"),
        (
            {"out": np.lib.stride_tricks.as_strided(np.empty(4), (6, 4), (0, 8))},
            ValueError,
            "hold each row in one piece",
        ),
        ({"out": np.frombuffer(bytearray(193), np.uint8)[1:].view(float).reshape(6, 4)}, ValueError, "must be aligned"),
        ({"out": np.broadcast_to(1.0, (6, 4))}, ValueError, "out is read-only."),
        ({"_isa": "z80"}, ValueError, "isa 'z80' is not one that this machine has"),
    ],
)
def test_errors_name_the_rule_and_the_value(arguments, error, sentence):
    with pytest.raises(error) as caught:
        call(**arguments)
    assert sentence in str(caught.value)
    assert "_isa" in arguments or isinstance(caught.value, EngineError)


def test_out_must_not_overlap_with_an_input():
    memory = np.zeros((6, 4))
    with pytest.raises(ValueError, match="out overlaps with an input"):
        call(A=memory.reshape(-1)[:12].reshape(6, 2), out=memory)


def test_columns_of_the_product():
    how = {"whiteners": ROWS.whiteners, "gamma": 1.0}
    with pytest.raises(ValueError, match="V has 3 rows, but B has 4"):
        engine.kernel_times(*ROWS.both, np.ones((3, 2)), **how)
    with pytest.raises(ValueError, match="V contains NaN"):
        engine.kernel_times(*ROWS.both, np.full(4, np.nan), **how)
    with pytest.raises(ValueError, match="kernel_times needs B"):
        engine.kernel_times(*ROWS.one, None, None, np.ones(4), **how)
    assert engine.kernel_times(*ROWS.both, np.ones((4, 0)), **how).shape == (6, 0)


def test_a_result_too_large_for_memory_is_a_python_error():
    rows, shares = np.zeros((2**26, 1)), np.ones(1)
    with pytest.raises((MemoryError, ValueError)):
        engine.distance(rows, shares, whiteners=np.ones((1, 1)))


def test_shares_of_zero_give_distances_of_zero():
    assert (engine.distance(ROWS.A, np.zeros(3), whiteners=ROWS.whiteners) == 0).all()


DTYPES = st.sampled_from(
    [np.float64, np.float64, np.float64, np.float32, np.int32, np.int64, np.complex128, bool, object]
)


@st.composite
def arrays(draw, usual):
    """Mostly something like what is usual, sometimes of another type, shape or layout."""
    if draw(st.integers(0, 3)):
        return usual
    shape = draw(st.one_of(st.just(usual.shape), st.lists(st.integers(0, 5), max_size=4).map(tuple)))
    found = np.random.RandomState(draw(st.integers(0, 99))).uniform(0, 1, shape).astype(draw(DTYPES))
    if found.ndim and draw(st.booleans()):
        found = np.repeat(found, 2, axis=0)[:: draw(st.sampled_from([2, -2]))]
    if draw(st.booleans()):
        found = found.T
    if found.dtype == float and found.size and draw(st.booleans()):
        found.flat[0] = draw(st.floats())
    if draw(st.booleans()):
        found.flags.writeable = False
    return found


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(data=st.data(), verb=st.sampled_from([engine.distance, engine.kernel, engine.kernel_times]))
def test_no_argument_crashes_the_interpreter(data, verb):
    n, m, k, d = (data.draw(st.integers(0, 5)) for _ in range(4))
    usual = case(0, n, m, k, d) if k else ROWS
    names = {
        "A": usual.A,
        "shares_A": usual.shares_A,
        "B": usual.B,
        "shares_B": usual.shares_B,
        "whiteners": usual.whiteners,
    }
    if verb is engine.kernel_times:
        names["V"] = np.ones((len(usual.B), 2))
    else:
        names["out"] = np.empty((len(usual.A), len(usual.B)))
    if verb is not engine.distance:
        names["codes_A"], names["codes_B"] = (np.zeros((len(x), 2), dtype=np.int32) for x in (usual.A, usual.B))
    arguments = {name: data.draw(arrays(value), label=name) for name, value in names.items()}
    if verb is not engine.distance:
        arguments["gamma"] = data.draw(st.one_of(st.floats(), st.just(1.0)))
    try:
        found = verb(**arguments, rtol=data.draw(st.sampled_from([0.0, 1e-12, 1.0, 1e300])))
    except (ValueError, TypeError):
        return
    assert np.isfinite(found).all()
