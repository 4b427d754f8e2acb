"""Build a graph of ONNX operators by arithmetic on tensors, with loops and branches as functions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixkern.imports import OnDemand

onnx: Any = OnDemand("onnx", purpose="Export to ONNX")

OPSETS = {"": 18, "ai.onnx.ml": 4}  # of ONNX 1.15, which onnxruntime has had since 1.17
IR_VERSION = 9  # of the same release; a newer one would be refused by older runtimes
ML = "ai.onnx.ml"

TYPES = {"float64": "DOUBLE", "float32": "FLOAT", "int64": "INT64", "bool": "BOOL", "string": "STRING", "int8": "INT8"}


class Tensor:
    """A tensor of a graph. Arithmetic on it adds nodes to the graph, and returns new tensors.

    Parameters
    ----------
    graph : Graph
        The graph.
    name : str
        Name of the tensor in the graph.
    dtype : str
        One of ``TYPES``. Numbers in arithmetic get the type of the tensor beside them.
    """

    def __init__(self, graph: "Graph", name: str, dtype: str) -> None:
        self.graph = graph
        self.name = name
        self.dtype = dtype

    def _binary(self, kind: str, left: "Operand", right: "Operand", dtype: str | None = None) -> "Tensor":
        return self.graph.op(kind, self._tensor(left), self._tensor(right), dtype=dtype or self.dtype)

    def _tensor(self, value: "Operand") -> "Tensor":
        return value if isinstance(value, Tensor) else self.graph.constant(value, self.dtype)

    def __add__(self, other: "Operand") -> "Tensor":
        return self._binary("Add", self, other)

    def __radd__(self, other: "Operand") -> "Tensor":
        return self._binary("Add", other, self)

    def __sub__(self, other: "Operand") -> "Tensor":
        return self._binary("Sub", self, other)

    def __rsub__(self, other: "Operand") -> "Tensor":
        return self._binary("Sub", other, self)

    def __mul__(self, other: "Operand") -> "Tensor":
        return self._binary("Mul", self, other)

    def __rmul__(self, other: "Operand") -> "Tensor":
        return self._binary("Mul", other, self)

    def __truediv__(self, other: "Operand") -> "Tensor":
        return self._binary("Div", self, other)

    def __rtruediv__(self, other: "Operand") -> "Tensor":
        return self._binary("Div", other, self)

    def __matmul__(self, other: "Operand") -> "Tensor":
        return self._binary("MatMul", self, other)

    def __neg__(self) -> "Tensor":
        return self.apply("Neg")

    def equals(self, other: "Operand") -> "Tensor":
        """Return where values are equal."""
        return self._binary("Equal", self, other, "bool")

    def less(self, other: "Operand") -> "Tensor":
        """Return where values are less than others."""
        return self._binary("Less", self, other, "bool")

    def maximum(self, other: "Operand") -> "Tensor":
        """Return the larger of two values."""
        return self._binary("Max", self, other)

    def minimum(self, other: "Operand") -> "Tensor":
        """Return the smaller of two values."""
        return self._binary("Min", self, other)

    def apply(self, kind: str, dtype: str | None = None, **attributes: Any) -> "Tensor":
        """Apply an operator of one input, such as ``"Exp"``."""
        return self.graph.op(kind, self, dtype=dtype or self.dtype, **attributes)

    def is_nan(self) -> "Tensor":
        """Return where values are NaN."""
        return self.apply("IsNaN", "bool")

    def cast(self, dtype: str) -> "Tensor":
        """Convert values to another type."""
        return self if dtype == self.dtype else self.apply("Cast", dtype, to=element_type(dtype))

    def sum(self, axis: int, *, keepdims: bool = True) -> "Tensor":
        """Add up values along an axis."""
        return self._reduced("ReduceSum", axis, keepdims=keepdims)

    def sum_squares(self, axis: int, *, keepdims: bool = True) -> "Tensor":
        """Add up the squares of values along an axis."""
        return self._reduced("ReduceSumSquare", axis, keepdims=keepdims)

    def largest(self, axis: int) -> "Tensor":
        """Return the largest value along an axis, which is kept."""
        return self._reduced("ReduceMax", axis, keepdims=True)

    def _reduced(self, kind: str, axis: int, *, keepdims: bool) -> "Tensor":
        axes = self.graph.constant([axis], "int64")
        return self.graph.op(kind, self, axes, dtype=self.dtype, keepdims=int(keepdims))

    def argmax(self) -> "Tensor":
        """Return the position of the first largest value in each row, (n, 1)."""
        return self.apply("ArgMax", "int64", axis=1, keepdims=1)

    def gather(self, at: "Operand", axis: int = 0) -> "Tensor":
        """Return entries at positions along an axis."""
        positions = at if isinstance(at, Tensor) else self.graph.constant(at, "int64")
        return self.graph.op("Gather", self, positions, dtype=self.dtype, axis=axis)

    def reshape(self, *shape: int) -> "Tensor":
        """Return the values in another shape: 0 keeps a length, -1 is found."""
        return self.graph.op("Reshape", self, self.graph.constant(shape, "int64"), dtype=self.dtype)

    def expand_dims(self, axis: int) -> "Tensor":
        """Insert an axis of length one."""
        return self.graph.op("Unsqueeze", self, self.graph.constant([axis], "int64"), dtype=self.dtype)

    def transpose(self, *axes: int) -> "Tensor":
        """Return the values with permuted axes."""
        return self.apply("Transpose", perm=list(axes))

    def rows(self, start: "Tensor", end: "Tensor") -> "Tensor":
        """Return the rows from a first to a last one, which is left out."""
        return self.graph.op("Slice", self, start, end, self.graph.constant([0], "int64"), dtype=self.dtype)

    def length(self) -> "Tensor":
        """Return the number of rows, (1,)."""
        return self.apply("Shape", "int64", start=0, end=1)


Operand = Tensor | ArrayLike


def element_type(dtype: str) -> int:
    """Return the number that ONNX has for a type."""
    number: int = getattr(onnx.TensorProto, TYPES[dtype])
    return number


class Graph:
    """A graph in the making: nodes, constants, inputs and outputs."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self._constants: dict[tuple[Any, ...], tuple[Tensor, Any]] = {}
        self._nodes: list[list[Any]] = [[]]  # of the graph, and of the bodies that are being made
        self._taken: set[str] = set()

    def reserve(self, names: Sequence[str]) -> None:
        """Keep names for inputs and outputs."""
        self._taken.update(names)

    def _fresh(self, start: str) -> str:
        i = len(self._taken)
        while (name := f"{start}_{i}") in self._taken:
            i += 1
        self._taken.add(name)
        return name

    def constant(self, value: ArrayLike, dtype: str = "float64") -> Tensor:
        """Return a tensor of known values; equal ones are stored once."""
        array: NDArray[Any] = np.asarray(value, dtype=object if dtype == "string" else dtype)
        key = dtype, array.shape, tuple(array.ravel()) if dtype == "string" else array.tobytes()
        if key not in self._constants:
            name = self._fresh("constant")
            proto = onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
            self._constants[key] = Tensor(self, name, dtype), proto
        return self._constants[key][0]

    def op(self, kind: str, *inputs: Tensor, dtype: str, domain: str = "", **attributes: Any) -> Tensor:
        """Add a node with one output."""
        return self.ops(kind, *inputs, dtypes=[dtype], domain=domain, **attributes)[0]

    def ops(
        self, kind: str, *inputs: Tensor, dtypes: Sequence[str], domain: str = "", **attributes: Any
    ) -> list[Tensor]:
        """Add a node with several outputs."""
        results = [Tensor(self, self._fresh(kind.lower()), dtype) for dtype in dtypes]
        names = [[each.name for each in group] for group in (inputs, results)]
        self._nodes[-1].append(onnx.helper.make_node(kind, *names, domain=domain, **attributes))
        return results

    def where(self, condition: Tensor, then: Operand, otherwise: Operand, dtype: str = "float64") -> Tensor:
        """Choose between two values."""
        pair = [each if isinstance(each, Tensor) else self.constant(each, dtype) for each in (then, otherwise)]
        return self.op("Where", condition, *pair, dtype=dtype)

    def concat(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """Join tensors along an axis."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, dtype=parts[0].dtype, axis=axis)

    def zeros(self, n: Tensor, width: int) -> Tensor:
        """Return zeros, (n, width)."""
        shape = self.concat([n, self.constant([width], "int64")], axis=0)
        value = onnx.numpy_helper.from_array(np.zeros(1))
        return self.op("ConstantOfShape", shape, dtype="float64", value=value)

    def input(self, name: str, dtype: str, shape: Sequence[Any]) -> Tensor:
        """Add an input."""
        self.inputs.append(onnx.helper.make_tensor_value_info(name, element_type(dtype), shape))
        return Tensor(self, name, dtype)

    def output(self, name: str, value: Tensor, shape: Sequence[Any]) -> None:
        """Add an output."""
        self._nodes[-1].append(onnx.helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(onnx.helper.make_tensor_value_info(name, element_type(value.dtype), shape))

    # ---------------------------------------------------------------- loops and branches

    @contextmanager
    def _body(self) -> Iterator[list[Any]]:
        self._nodes.append([])
        try:
            yield self._nodes[-1]
        finally:
            self._nodes.pop()

    def _closed(self, nodes: list[Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Any:
        """Return the graph of a body; its outputs are nodes of its own, also where they come from outside."""
        named = [Tensor(self, self._fresh("out"), each.dtype) for each in outputs]
        for source, target in zip(outputs, named, strict=True):
            nodes.append(onnx.helper.make_node("Identity", [source.name], [target.name]))
        # The number of a repeat, and whether there is another one, are scalars; other shapes are found.
        infos = [
            [
                onnx.helper.make_tensor_value_info(each.name, element_type(each.dtype), () if i < n_scalars else None)
                for i, each in enumerate(group)
            ]
            for group, n_scalars in ((inputs, 2), (named, 0))
        ]
        return onnx.helper.make_graph(nodes, self._fresh("body"), *infos)

    def loop(
        self,
        n_steps: Tensor,
        start: Sequence[Tensor],
        step: Callable[[Tensor, list[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]],
    ) -> list[Tensor]:
        """Repeat a body.

        Parameters
        ----------
        n_steps : Tensor
            Number of repeats, an int64.
        start : sequence of Tensor
            State before the first one.
        step : callable
            Adds the nodes of one repeat, by its number (shape ()) and the state. Returns the next state, and tensors
            that are stacked over all repeats.

        Returns
        -------
        list of Tensor
            The last state, then the stacked tensors.
        """
        number, going = Tensor(self, self._fresh("step"), "int64"), Tensor(self, self._fresh("going"), "bool")
        state = [Tensor(self, self._fresh("state"), each.dtype) for each in start]
        with self._body() as nodes:
            following, stacked = step(number, state)
            body = self._closed(nodes, [number, going, *state], [going, *following, *stacked])
        dtypes = [each.dtype for each in (*following, *stacked)]
        return self.ops("Loop", n_steps, self.constant(True, "bool"), *start, dtypes=dtypes, body=body)

    def branch(
        self, condition: Tensor, then: Callable[[], Sequence[Tensor]], otherwise: Callable[[], Sequence[Tensor]]
    ) -> list[Tensor]:
        """Run one of two bodies, which return tensors of the same types."""
        bodies = []
        for make in (then, otherwise):
            with self._body() as nodes:
                found = make()
                bodies.append(self._closed(nodes, [], found))
        return self.ops(
            "If", condition, dtypes=[each.dtype for each in found], then_branch=bodies[0], else_branch=bodies[1]
        )

    # ---------------------------------------------------------------- the model

    def model(self, *, doc: str, version: str, metadata: dict[str, str]) -> Any:
        """Return the finished ``onnx.ModelProto``."""
        constants = [proto for _, proto in self._constants.values()]
        graph = onnx.helper.make_graph(self._nodes[0], "mixkern", self.inputs, self.outputs, constants, doc_string=doc)
        made = onnx.helper.make_model(
            graph,
            producer_name="mixkern",
            producer_version=version,
            ir_version=IR_VERSION,
            opset_imports=[onnx.helper.make_opsetid(domain, number) for domain, number in OPSETS.items()],
        )
        onnx.helper.set_model_props(made, metadata)
        return made


def check_model(made: Any) -> Any:
    """Return an ``onnx.ModelProto``, or raise an error of onnx if it is not valid."""
    onnx.checker.check_model(made, full_check=True)
    return made
