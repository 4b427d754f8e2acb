"""Tables and labels of any kind, made ready for densities and kernels."""

from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.encoder import TableEncoder
from mixkern.encoding.frame import Kind
from mixkern.encoding.inference import identifiers
from mixkern.encoding.labels import UNLABELLED, Labels, encode_labels
from mixkern.encoding.stack import stacked
from mixkern.encoding.targets import encode_targets

__all__ = [
    "UNLABELLED",
    "CategoricalColumn",
    "ContinuousColumn",
    "Kind",
    "Labels",
    "TableEncoder",
    "encode_labels",
    "encode_targets",
    "identifiers",
    "stacked",
]
