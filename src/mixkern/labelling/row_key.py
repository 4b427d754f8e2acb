"""Content keys of rows: the same row has the same key in a table with other rows, in another order."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mixkern.imports import pa, pc

SEPARATOR, ESCAPE, GAP = "\x1f", "\x1b", "\x1bg"
DIGEST_BYTES = 12  # two of a billion rows have the same one with a probability of 1e-11


def row_keys(cells: Any) -> list[str]:
    """Return a key for each row: a digest of its texts, and for equal rows their number among them.

    Parameters
    ----------
    cells : pyarrow.Table
        Texts; null is a gap.

    Returns
    -------
    list of str
        No two are equal.

    Examples
    --------
    >>> import pyarrow as pa
    >>> first = row_keys(pa.table({"a": ["1", "2", "1"], "b": ["x", None, "x"]}))
    >>> again = row_keys(pa.table({"a": ["0", "1", "2"], "b": ["y", "x", None]}))
    >>> first[0] == again[1], first[1] == again[2], first[2] in again, first[2] == first[0] + "#2"
    (True, True, False, True)
    """
    seen: Counter[str] = Counter()
    keys = []
    for text in _joined(cells):
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()
        seen[digest] += 1
        keys.append(digest if seen[digest] == 1 else f"{digest}#{seen[digest]}")
    return keys


def packed(keys: Iterable[str]) -> bytes:
    """Return keys as bytes, 16 for each: the digest, and the number among equal rows (uint32, little-endian).

    >>> packed(["00112233445566778899aabb#2"]).hex(" ", 4)
    '00112233 44556677 8899aabb 02000000'
    """
    parts = (key.partition("#") for key in keys)
    return b"".join(bytes.fromhex(digest) + int(number or 1).to_bytes(4, "little") for digest, _, number in parts)


def _joined(cells: Any) -> list[str]:
    """Return each row as one text, from which its cells could be told apart."""
    if not cells.num_columns:
        return [""] * cells.num_rows
    columns: Sequence[Any] = [_escaped(column) for column in cells.columns]
    return pc.binary_join_element_wise(*columns, pa.scalar(SEPARATOR, pa.large_string())).to_pylist()


def _escaped(column: Any) -> Any:
    texts = column.cast(pa.large_string())
    for sign, code in ((ESCAPE, ESCAPE + "e"), (SEPARATOR, ESCAPE + "s")):
        if pc.any(pc.match_substring(texts, sign)).as_py():
            texts = pc.replace_substring(texts, sign, code)
    return pc.fill_null(texts, GAP)
