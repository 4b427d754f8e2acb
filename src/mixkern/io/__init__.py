"""Files: tables in and out, models in and out."""

from mixkern.io.convert import convert
from mixkern.io.model import ModelFile, load, read_model, save
from mixkern.io.table_file import TableFile, table_file
from mixkern.io.writer import table_writer

__all__ = ["ModelFile", "TableFile", "convert", "load", "read_model", "save", "table_file", "table_writer"]
