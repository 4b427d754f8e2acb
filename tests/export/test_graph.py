import numpy as np
import pytest

from mixkern.errors import MissingExtraError
from mixkern.export.graph import Graph, element_type

A = np.arange(12.0).reshape(4, 3) - 5


def test_arithmetic_is_that_of_numpy(computed):
    found = computed(
        lambda _, a: [a + 1.0, 1.0 - a, a * a, 2.0 / (a + 0.5), -a, a @ A.T, a.maximum(0.0), a.minimum(0.0), a - 2.0],
        a=A,
    )
    expected = [A + 1, 1 - A, A * A, 2 / (A + 0.5), -A, A @ A.T, np.maximum(A, 0), np.minimum(A, 0), A - 2]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_reductions_and_shapes_are_those_of_numpy(computed):
    found = computed(
        lambda _, a: [
            a.sum(0),
            a.sum(1, keepdims=False),
            a.sum_squares(1),
            a.largest(1),
            a.argmax(),
            a.transpose(1, 0),
            a.expand_dims(0),
            a.reshape(-1, 6),
            a.gather([2, 0]),
            a.gather([1], axis=1),
            a.length(),
            a.less(0.0),
            a.equals(1.0),
        ],
        a=A,
    )
    expected = [
        A.sum(0, keepdims=True),
        A.sum(1),
        (A * A).sum(1, keepdims=True),
        A.max(1, keepdims=True),
        A.argmax(1, keepdims=True),
        A.T,
        A[None],
        A.reshape(-1, 6),
        A[[2, 0]],
        A[:, [1]],
        [4],
        A < 0,
        A == 1,
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_loop_carries_its_state_and_stacks(computed):
    def powers(graph, a):
        def step(number, state):
            return [state[0] * a], [state[0] + number.cast("float64")]

        return graph.loop(graph.constant(3, "int64"), [graph.constant(np.ones((4, 3)))], step)

    last, stacked = computed(powers, a=A)
    np.testing.assert_allclose(last, A**3)
    np.testing.assert_allclose(stacked, [A**i + i for i in range(3)])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_branch_runs_one_of_two_bodies(computed, sign):
    def chosen(graph, a, b):
        condition = graph.constant(0.0).less(b)
        return graph.branch(condition.reshape(-1), lambda: [a * 2.0], lambda: [a])  # one returns a tensor from outside

    (found,) = computed(chosen, a=A, b=np.array([sign]))
    np.testing.assert_array_equal(found, 2 * A if sign > 0 else A)


def test_equal_constants_are_stored_once():
    graph = Graph()
    assert graph.constant(A) is graph.constant(A.copy())
    assert graph.constant(A) is not graph.constant(A.T)
    assert graph.constant([1, 2], "int64") is not graph.constant([1, 2])
    assert graph.constant(["a", "b"], "string") is graph.constant(np.array(["a", "b"], dtype=object), "string")


def test_names_of_inputs_are_not_taken(computed):
    (found,) = computed(lambda _, add_4, constant_3: [add_4 + constant_3 + 1.0], add_4=A, constant_3=A)
    np.testing.assert_array_equal(found, 2 * A + 1)


def test_the_library_is_optional(monkeypatch):
    from mixkern.export import graph

    monkeypatch.setattr(graph, "onnx", type(graph.onnx)("onnx_missing", purpose="Export to ONNX"))
    monkeypatch.setattr("mixkern.imports.EXTRA_OF", {"onnx_missing": "onnx"})
    with pytest.raises(MissingExtraError, match=r"Export to ONNX needs .* pip install 'mixkern\[onnx\]'"):
        element_type("float64")
