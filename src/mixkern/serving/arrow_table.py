"""Read rows from an Arrow IPC stream that may come from anywhere, and write answers as one."""

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from mixkern.imports import optional, pa
from mixkern.serving.json_table import check_columns_sent, check_size
from mixkern.serving.request import RequestError
from mixkern.wording import counted, shortened

NOTES = b"mixkern_notes"  # in the metadata of the schema
MOST_COLUMNS = 20_000
FILE_START = b"ARROW1"  # of a file, which has the same messages between a start and an end of its own
# Slots of the tables of Arrow's metadata, see Message.fbs in the format's specification.
HEADER_TYPE, HEADER, DICTIONARY_DATA, COMPRESSION = 1, 2, 1, 3
DICTIONARY, RECORDS = 2, 3  # values of HEADER_TYPE


def read_arrow(body: bytes, known: Sequence[str], most_rows: int) -> Any:
    """Return the rows of an Arrow IPC stream as a table with the model's columns, in their order.

    Compressed buffers are refused, as a small body could become a large table. Rows are counted, and all offsets are
    checked, before cells are read.

    Parameters
    ----------
    body : bytes
        The stream.
    known : sequence of str
        The columns of the model; others are left out.
    most_rows : int
        Rows that are allowed.
    """
    ipc = optional("pyarrow.ipc", purpose="Arrow over HTTP")
    if body.startswith(FILE_START):
        raise RequestError(
            "The body is an Arrow file, but an Arrow IPC stream is expected. With pyarrow, write it by "
            "pyarrow.ipc.new_stream in place of new_file."
        )
    try:
        if any(map(_is_compressed, _metadata(ipc, body))):
            raise RequestError("The buffers of the Arrow stream are compressed. Write them without compression.", 415)
        with ipc.open_stream(body) as reader:
            names = reader.schema.names
            _check_names(names)
            check_columns_sent(names, known)
            batches = list(_counted(reader, most_rows))
            table = pa.Table.from_batches(batches, reader.schema).select(list(known))
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError) as error:
        if isinstance(error, RequestError) or type(error).__module__.startswith("mixkern"):
            raise
        reason = shortened(" ".join(str(error).split()), 200)
        raise RequestError(f"The body is no Arrow IPC stream that can be read: {reason}.") from None
    check_size(table.num_rows, most_rows)
    return table


def _metadata(ipc: Any, body: bytes) -> Iterator[bytes]:
    """Iterate over the metadata of all messages of a stream."""
    reader = ipc.MessageReader.open_stream(body)
    while True:
        try:
            yield reader.read_next_message().metadata.to_pybytes()
        except StopIteration:
            return


def _is_compressed(message: bytes) -> bool:
    """Return whether a message holds compressed buffers: its record batch has the slot of a compression."""
    root = _offset(message, 0)
    kind = _slot(message, root, HEADER_TYPE)
    place = _slot(message, root, HEADER)
    if kind is None or place is None or message[kind] not in (DICTIONARY, RECORDS):
        return False
    batch = _offset(message, place)
    if message[kind] == DICTIONARY:
        data = _slot(message, batch, DICTIONARY_DATA)
        if data is None:
            return False
        batch = _offset(message, data)
    return _slot(message, batch, COMPRESSION) is not None


def _offset(message: bytes, place: int) -> int:
    """Follow an offset of the flatbuffers format."""
    return place + int(struct.unpack_from("<I", message, place)[0])


def _slot(message: bytes, table: int, i: int) -> int | None:
    """Return the place of a field in a table of the flatbuffers format; None where the field is absent."""
    slots = table - int(struct.unpack_from("<i", message, table)[0])
    n_bytes = int(struct.unpack_from("<H", message, slots)[0])
    if n_bytes < 4 + 2 * (i + 1):
        return None
    distance = int(struct.unpack_from("<H", message, slots + 4 + 2 * i)[0])
    return table + distance if distance else None


def _check_names(names: list[str]) -> None:
    double = next((name for i, name in enumerate(names) if name in names[:i]), None) if len(names) < 200 else None
    if len(names) > MOST_COLUMNS:
        raise RequestError(f"The request has {counted(len(names), 'column')}, and {MOST_COLUMNS:,} are allowed.", 413)
    if double is not None or len(set(names)) < len(names):
        raise RequestError(f"Column names must be unique, but more than one column is called {double!r}.")


def _counted(reader: Any, most_rows: int) -> Iterator[Any]:
    """Iterate over the batches of a stream, until they have too many rows."""
    n_rows = 0
    for batch in reader:
        n_rows += batch.num_rows
        if n_rows > most_rows:
            raise RequestError(f"The request has more than {most_rows:,} rows, which are allowed. Send parts.", 413)
        yield batch


def arrow_bytes(table: Any, notes: Sequence[str]) -> bytes:
    """Return a table as an Arrow IPC stream, with notes in the metadata of its schema."""
    ipc = optional("pyarrow.ipc", purpose="Arrow over HTTP")
    table = table.replace_schema_metadata({NOTES: json.dumps(list(notes)).encode()})
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())
