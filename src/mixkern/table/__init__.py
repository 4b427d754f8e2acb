"""Tables and labels of any kind, made ready for densities and kernels."""

from mixkern.table.column import CategoricalColumn, ContinuousColumn
from mixkern.table.encoder import TableEncoder
from mixkern.table.frame import Kind
from mixkern.table.labels import UNLABELLED, Labels, encode_labels
from mixkern.table.stack import stacked
from mixkern.table.targets import encode_targets

__all__ = [
    "UNLABELLED",
    "CategoricalColumn",
    "ContinuousColumn",
    "Kind",
    "Labels",
    "TableEncoder",
    "encode_labels",
    "encode_targets",
    "stacked",
]
