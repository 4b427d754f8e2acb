"""Files: tables in and out, block by block; a file is written whole or not at all."""

from mixkern.io.opening import table_file
from mixkern.io.table_file import TableFile
from mixkern.io.writer import table_writer

__all__ = ["TableFile", "table_file", "table_writer"]
