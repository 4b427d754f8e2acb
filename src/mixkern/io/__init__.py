"""Read tables from files, and write files that are complete or absent."""

from mixkern.io.table_file import TableFile, table_file
from mixkern.io.writer import table_writer

__all__ = ["TableFile", "table_file", "table_writer"]
