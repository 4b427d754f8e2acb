"""Tables and labels of any kind, made ready for densities and kernels."""

from mixkern.table.column import CategoricalColumn, ContinuousColumn
from mixkern.table.encoder import TableEncoder
from mixkern.table.file import TableFile
from mixkern.table.frame import Kind
from mixkern.table.labels import UNLABELLED, Labels, encode_labels
from mixkern.table.opening import table_file
from mixkern.table.reading import identifiers
from mixkern.table.stack import stacked
from mixkern.table.targets import encode_targets
from mixkern.table.writer import table_writer

__all__ = [
    "UNLABELLED",
    "CategoricalColumn",
    "ContinuousColumn",
    "Kind",
    "Labels",
    "TableEncoder",
    "TableFile",
    "encode_labels",
    "encode_targets",
    "identifiers",
    "stacked",
    "table_file",
    "table_writer",
]
