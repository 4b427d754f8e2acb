"""Encode tables and labels: columns as numbers and category codes, labels as class codes."""

from mixkern.encoding.cell import Kind
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.date import DateColumn
from mixkern.encoding.encoder import TableEncoder
from mixkern.encoding.free_text import TextColumn
from mixkern.encoding.inference import identifiers
from mixkern.encoding.intake import ASSESSED, PREFIX, PreparedTable, prepare_table
from mixkern.encoding.label_checks import label_column
from mixkern.encoding.labels import UNLABELLED, Labels, encode_labels
from mixkern.encoding.spelling import Spelling
from mixkern.encoding.stack import stacked
from mixkern.encoding.targets import encode_targets

__all__ = [
    "ASSESSED",
    "PREFIX",
    "UNLABELLED",
    "CategoricalColumn",
    "ContinuousColumn",
    "DateColumn",
    "Kind",
    "Labels",
    "PreparedTable",
    "Spelling",
    "TableEncoder",
    "TextColumn",
    "encode_labels",
    "encode_targets",
    "identifiers",
    "label_column",
    "prepare_table",
    "stacked",
]
