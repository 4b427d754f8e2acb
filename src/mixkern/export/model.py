"""Write a fitted estimator as an ONNX model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.defaults import DType
from mixkern.density import Mixture
from mixkern.encoding import PREFIX, TableEncoder
from mixkern.encoding.cell import jsonable
from mixkern.errors import ExportError, OptionError, hint
from mixkern.export.classes import chosen_class, probabilities
from mixkern.export.density import RowTensors, row_tensors
from mixkern.export.graph import Graph, Tensor, check_model
from mixkern.export.kernel import check_kernel, decision_values
from mixkern.export.novelty import novelty_values
from mixkern.export.table_input import EncodedTable, ModelInput, encoded_rows, encoded_table
from mixkern.kernels import MixtureKernel
from mixkern.svm import DecisionFunction
from mixkern.typing import Floats
from mixkern.validation import as_path, one_of
from mixkern.whole_file import write_whole

SUFFIX = ".onnx"
BLOCK_CELLS = 2**16  # kernel values of a block of rows: they stay in the cache
MOST_ROWS, FEWEST_ROWS = 4096, 64  # of a block


class Predicted(StrEnum):
    """What an estimator predicts."""

    CLASSES = "classes"
    NUMBER = "number"
    INLIERS = "inliers"


@dataclass(frozen=True, eq=False)
class Predictor:
    """What predictions of a fitted estimator follow from.

    Attributes
    ----------
    name : str
        Class of the estimator.
    predicted : Predicted
        What it predicts.
    encoder : TableEncoder or None
        Encoder of the table; None where rows are encoded already.
    mixture : Mixture
        Density of the rows.
    decisions : sequence of DecisionFunction
        Functions whose values are added up; each has a kernel with its own mixture, or none.
    log_densities : ndarray of shape (m,)
        Log densities of training rows without gaps.
    classes : ndarray of shape (c,) or None
        Labels, if it is a classifier.
    scheme : module or None
        Conversion of decision values, if it is a classifier.
    slopes : sequence of float
        Slopes of probabilities, which are averaged; none if there are no probabilities.
    """

    name: str
    predicted: Predicted
    encoder: TableEncoder | None
    mixture: Mixture
    decisions: Sequence[DecisionFunction]
    log_densities: Floats
    classes: NDArray[Any] | None = None
    scheme: Any = None
    slopes: Sequence[float] = ()


@dataclass(frozen=True)
class ModelOutput:
    """One output of an exported model: its name, its type, its shape and what it holds."""

    name: str
    dtype: str
    shape: str
    holds: str


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A model in the format of ONNX.

    Attributes
    ----------
    proto : onnx.ModelProto
        The model.
    inputs : tuple of ModelInput
        Its inputs, in the order of the table's columns.
    outputs : tuple of ModelOutput
        Its outputs.
    """

    proto: Any
    inputs: tuple[ModelInput, ...]
    outputs: tuple[ModelOutput, ...]

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the model to a file, whole or not at all, and return its path."""
        target = onnx_path(path)
        return write_whole(target, self.proto.SerializeToString())


def onnx_path(path: str | PathLike[str]) -> Path:
    """Return the path of an ONNX file, or raise an error for a name that does not end with .onnx."""
    target = as_path(path, ExportError)
    if target.suffix.lower() != SUFFIX:
        raise ExportError(
            f"The file name must end with {SUFFIX}, the format of the export, but it is {target.name!r}.",
            hint=hint(
                python=f"Name it {target.with_suffix(SUFFIX).name!r}; mixkern.save writes model files.",
                cli=f"Name it {target.with_suffix(SUFFIX).name!r}.",
            ),
        )
    return target


def onnx_model(
    predictor: Predictor, dtype: str = DType.FLOAT64, metadata: Mapping[str, str] | None = None
) -> OnnxModel:
    """Return the ONNX model of a predictor.

    Parameters
    ----------
    predictor : Predictor
        What predictions follow from.
    dtype : {"float64", "float32"}, default="float64"
        Type of the inputs and outputs that are numbers. Everything in between is computed in float64.
    metadata : dict of str, default=None
        Further facts for the metadata, such as the hash of the model file; names get the prefix ``mixkern.``.
    """
    kind = str(one_of(DType, dtype, "dtype"))
    for decision in predictor.decisions:
        check_kernel(decision.kernel)
    graph = Graph()
    d, e = predictor.mixture.n_continuous, len(predictor.mixture.categories)
    encoder = predictor.encoder
    table = encoded_rows(graph, d, e, kind) if encoder is None else encoded_table(graph, encoder, kind)
    outputs = _Outputs(predictor, {each.name for each in table.inputs}, kind)
    graph.reserve([each.name for each in outputs.listed])
    outputs.add_to(graph, _in_blocks(graph, predictor, table, kind))
    package = version("mixkern")
    facts = {
        "mixkern.version": package,
        "mixkern.estimator": predictor.name,
        "mixkern.dtype": kind,
        "mixkern.inputs": json.dumps([asdict(each) for each in table.inputs]),
        "mixkern.outputs": json.dumps([asdict(each) for each in outputs.listed]),
    }
    if predictor.classes is not None:
        facts["mixkern.classes"] = json.dumps(jsonable(predictor.classes))
    further = {f"mixkern.{name}": value for name, value in (metadata or {}).items()}
    taken = [name for name in further if name in facts]
    if taken:
        raise OptionError(f"metadata cannot have {taken[0].removeprefix('mixkern.')!r}: the graph has it already.")
    facts |= further
    doc = f"{predictor.name} of mixkern {package}"
    made = graph.model(doc=doc, version=package, metadata=facts)
    return OnnxModel(check_model(made), table.inputs, tuple(outputs.listed))


# ---------------------------------------------------------------- blocks of rows


def _in_blocks(graph: Graph, predictor: Predictor, table: EncodedTable, dtype: str) -> list[Tensor]:
    """Predict all rows, in blocks of equally many, the last one padded: memory does not grow with the table."""
    n = table.n_rows  # (1,)
    size = n.maximum(1).minimum(_block_rows(predictor))
    n_blocks = (n.maximum(1) + (size - 1)) / size
    padding = n_blocks * size - n
    numbers, codes = (None if each is None else _padded(graph, each, padding) for each in (table.numbers, table.codes))

    def block(number: Tensor, _: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        start = size * number
        parts = (None if each is None else each.rows(start, start + size) for each in (numbers, codes))
        return [], _predicted(graph, predictor, dtype, *parts)

    found = graph.loop(n_blocks, [], block)
    zero = graph.constant([0], "int64")
    return [graph.op("Reshape", each, _flat(graph, each), dtype=each.dtype).rows(zero, n) for each in found]


def _block_rows(predictor: Predictor) -> int:
    widths = [max(decision.coefficients.shape) for decision in predictor.decisions]
    return int(np.clip(BLOCK_CELLS // max(widths), FEWEST_ROWS, MOST_ROWS))


def _padded(graph: Graph, values: Tensor, padding: Tensor) -> Tensor:
    """Append rows of zeros."""
    zeros = graph.constant([0, 0], "int64")
    pads = graph.concat([zeros, padding, graph.constant([0], "int64")], axis=0)
    return graph.op("Pad", values, pads, dtype=values.dtype)


def _flat(graph: Graph, stacked: Tensor) -> Tensor:
    """Return the shape of stacked blocks as one table."""
    last = stacked.apply("Shape", "int64", start=2, end=3)
    return graph.concat([graph.constant([-1], "int64"), last], axis=0)


def _predicted(
    graph: Graph, predictor: Predictor, dtype: str, numbers: Tensor | None, codes: Tensor | None
) -> list[Tensor]:
    """Return what is predicted of a block of rows, (n, ...) each: as in ``_Outputs``."""
    known: dict[Mixture, RowTensors] = {}

    def rows_under(mixture: Mixture) -> RowTensors:
        if mixture not in known:
            known[mixture] = row_tensors(graph, mixture, numbers, codes)
        return known[mixture]

    rows = rows_under(predictor.mixture)
    values: Tensor | None = None
    for decision in predictor.decisions:
        kernel = decision.kernel
        mixture = kernel.mixture if isinstance(kernel, MixtureKernel) else None
        own = rows if mixture is None else rows_under(mixture)
        part = decision_values(graph, decision, own)
        values = part if values is None else values + part
    assert values is not None, "a model has a decision function"
    novelty = novelty_values(graph, rows.log_density, predictor.log_densities)
    novelty = graph.where(_has_gap(graph, numbers, codes), np.nan, novelty)
    return [*_decided(graph, predictor, values, dtype), rows.responsibilities.argmax(), novelty]


def _decided(graph: Graph, predictor: Predictor, values: Tensor, dtype: str) -> list[Tensor]:
    """Return the class and its probabilities, or the value of the function."""
    if predictor.classes is None:
        return [values]
    n_classes = len(predictor.classes)
    winner = chosen_class(graph, predictor.scheme, values, n_classes)
    if not len(predictor.slopes):
        return [winner]
    return [winner, probabilities(graph, predictor.scheme, values, predictor.slopes, winner, n_classes, dtype)]


def _has_gap(graph: Graph, numbers: Tensor | None, codes: Tensor | None) -> Tensor:  # (n, 1)
    """Return which rows have a gap."""
    gaps = [numbers.is_nan().cast("float64")] if numbers is not None else []
    gaps += [codes.less(0).cast("float64")] if codes is not None else []
    return graph.concat(gaps, axis=1).largest(1).cast("bool")


# ---------------------------------------------------------------- outputs


class _Outputs:
    """Names and types of the outputs."""

    def __init__(self, predictor: Predictor, taken: set[str], dtype: str) -> None:
        self.predictor = predictor
        self.dtype = dtype
        self.listed = [
            ModelOutput(f"{PREFIX}{name}" if name in taken else name, *rest) for name, *rest in self._described()
        ]

    def _described(self) -> list[tuple[str, str, str, str]]:
        number = self.dtype
        if self.predictor.predicted is Predicted.CLASSES:
            classes = self.predictor.classes
            assert classes is not None, "a classifier has classes"
            found = [("label", label_type(classes), "[N]", "label of each row")]
            if len(self.predictor.slopes):
                found.append(("probabilities", number, f"[N, {len(classes)}]", "probability of each class"))
        elif self.predictor.predicted is Predicted.NUMBER:
            found = [("prediction", number, "[N]", "predicted number")]
        else:
            found = [("label", "int64", "[N]", "1 for inliers, -1 for outliers"), ("score", number, "[N]", "decision")]
        return [
            *found,
            ("component", "int64", "[N]", "number of the most responsible component"),
            ("novelty", number, "[N]", "share of training rows that are denser; NaN for a row with gaps"),
        ]

    def add_to(self, graph: Graph, found: list[Tensor]) -> None:
        """Add the outputs to a graph, from the tensors of all rows."""
        *decided, component, novelty = found
        number = self.dtype
        if self.predictor.predicted is Predicted.CLASSES:
            classes = self.predictor.classes
            assert classes is not None, "a classifier has classes"
            labels = graph.constant(classes, label_type(classes)).gather(decided[0].reshape(-1))
            tensors = [labels, *(each.cast(number) for each in decided[1:])]
        elif self.predictor.predicted is Predicted.NUMBER:
            tensors = [decided[0].reshape(-1).cast(number)]
        else:
            score = decided[0].reshape(-1)
            tensors = [graph.where(score.less(0.0), -1, 1, "int64"), score.cast(number)]
        tensors += [component.reshape(-1), novelty.reshape(-1).cast(number)]
        for output, tensor in zip(self.listed, tensors, strict=True):
            width = [] if output.shape == "[N]" else [int(output.shape[4:-1])]
            graph.output(output.name, tensor, ["N", *width])


def label_type(classes: NDArray[Any]) -> str:
    """Return the type of the labels of an exported model.

    >>> [label_type(np.array(classes)) for classes in (["no", "yes"], [1, 2], [False, True], [0.5, 1.5])]
    ['string', 'int64', 'bool', 'float64']
    """
    kinds = {"b": "bool", "i": "int64", "u": "int64", "f": "float64"}
    kind = classes.dtype.kind
    if kind == "O":
        types = set(map(type, classes.tolist()))
        kind = "b" if types == {bool} else "i" if types == {int} else "f" if types <= {int, float} else "U"
    return kinds.get(kind, "string")
