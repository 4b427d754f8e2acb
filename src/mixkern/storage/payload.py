"""A model as skops writes it, in an order of our own: equal models give equal bytes."""

import io
import json
from typing import Any
from zipfile import ZIP_STORED, ZipFile

from mixkern.imports import optional
from mixkern.storage.archive import checksum, zipped
from mixkern.storage.trust import SCHEMA, TYPES, check_payload, walked


def written(bare: Any) -> bytes:
    """Write what is left of a model once it is bare; see :func:`mixkern.storage.state.bare`.

    skops numbers objects by their place in memory. Here arrays are numbered in the order in which they come, equal ones
    alike, and nothing else is numbered. Members are stored as they are: the container compresses them together.
    """
    skops = optional("skops.io", purpose="mixkern.save")
    with ZipFile(io.BytesIO(skops.dumps(bare))) as archive:
        schema = json.loads(archive.read(SCHEMA))
        files = {name: archive.read(name) for name in archive.namelist() if name != SCHEMA}
    members: dict[str, bytes] = {}
    numbers: dict[str, int] = {}
    for node in walked(_without_numbers(schema)):
        if node["__loader__"] == "NdArrayNode" and "file" in node:
            content = files[node["file"]]
            number = numbers.setdefault(checksum(content), len(numbers) + 1)
            node["__id__"], node["file"] = number, f"{number}.npy"
            members[node["file"]] = content
    return zipped({SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **members}, ZIP_STORED)


def _without_numbers(tree: Any) -> Any:
    """Take away all numbers of nodes, in place."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            part.pop("__id__", None)
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return tree


def read(payload: bytes) -> Any:
    """Make objects of a skops file, once all its types are known to be harmless."""
    skops = optional("skops.io", purpose="mixkern.load")
    check_payload(payload)
    return skops.loads(payload, trusted=list(TYPES))
