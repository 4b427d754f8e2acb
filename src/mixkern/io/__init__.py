"""Files: tables in and out, models in and out."""

from mixkern.io.blocks import Block, TableFile
from mixkern.io.dialect import Dialect
from mixkern.io.model import ModelFile, load, read_model, save
from mixkern.io.table import Table, read_table, table_file
from mixkern.io.writer import table_writer

__all__ = [
    "Block",
    "Dialect",
    "ModelFile",
    "Table",
    "TableFile",
    "load",
    "read_model",
    "read_table",
    "save",
    "table_file",
    "table_writer",
]
