"""Encode tables and labels: columns as numbers and category codes, labels as class codes."""

from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.encoder import TableEncoder
from mixkern.encoding.frame import Kind
from mixkern.encoding.inference import identifiers
from mixkern.encoding.labels import UNLABELLED, Labels, encode_labels, encode_targets
from mixkern.encoding.stack import stacked

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
