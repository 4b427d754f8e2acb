"""Damaged versions of a file, always the same ones: what must read or be refused, and never anything else."""

import bz2
import gzip
import io
import lzma
import zipfile
from functools import partial

import numpy as np

N_FILES = 200


def _place(content, draw):
    return int(draw.integers(0, len(content)))


def _cut(content, draw):
    return content[: _place(content, draw)]


def _flipped(content, draw):
    found = bytearray(content)
    for i in draw.integers(0, len(found), size=int(draw.integers(1, 20))):
        found[i] ^= int(draw.integers(1, 256))
    return bytes(found)


def _dropped(content, draw):
    """Leave out a sign that means something, somewhere."""
    sign = draw.choice([b",", b'"', b"\n"])
    places = [i for i in range(len(content)) if content[i : i + 1] == sign]
    i = int(draw.choice(places)) if places else _place(content, draw)
    return content[:i] + content[i + 1 :]


def _inserted(content, draw):
    i = _place(content, draw)
    what = [
        b",",
        b",,",
        b'"',
        b'""',
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\0\0\0",
        b";",
        b"\t",
        b"\x1a",
        b"\xff\xfe",
    ]
    return content[:i] + what[int(draw.integers(0, len(what)))] + content[i:]


def _noise(content, draw):
    i = _place(content, draw)
    return content[:i] + draw.bytes(int(draw.integers(1, 2000))) + content[i:]


def _encoded(content, draw):
    text = content.decode("utf-8").replace("e", "é")
    encoding = draw.choice(["cp1252", "utf-16-le", "utf-16-be", "utf-16", "utf-32", "cp037", "utf-7", "utf-8-sig"])
    return text.encode(str(encoding))


def _compressed(content, draw):
    """Compress, and then cut or flip in most cases."""
    packed = [partial(gzip.compress, mtime=0), bz2.compress, lzma.compress, _zipped][int(draw.integers(0, 4))](content)
    harm = [_cut, _flipped, _noise, lambda unharmed, _: unharmed][int(draw.integers(0, 4))]
    return harm(packed, draw)


def _zipped(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("table.csv"), content)  # of 1980, whenever it is made
    return file.getvalue()


def _headed(content, draw):
    """Double the header, a name in it, or all of the file; or leave the header out."""
    header, _, rest = content.partition(b"\n")
    names = header.split(b",")
    names[0] = names[-1]
    doubled = b",".join(names) + b"\n" + rest
    return [header + b"\n" + content, doubled, content + content, rest, header + b"\n", header][
        int(draw.integers(0, 6))
    ]


def _shuffled(content, draw):
    """Move a piece of the file to another place."""
    a, b, c = sorted(draw.integers(0, len(content), size=3).tolist())
    return content[:a] + content[b:c] + content[a:b] + content[c:]


HARMS = (_cut, _flipped, _dropped, _inserted, _noise, _encoded, _compressed, _headed, _shuffled)


def damaged(content, n_files=N_FILES, seed=8):
    """Give ``n_files`` pairs of a name and bytes, each one damaged once to three times."""
    found = []
    for i in range(n_files):
        draw = np.random.default_rng([seed, i])
        harm = HARMS[i % len(HARMS)]
        harmed = harm(content, draw)
        for _ in range(int(draw.integers(0, 3)) if harm not in (_encoded, _compressed) else 0):
            if harmed:
                harmed = HARMS[int(draw.integers(0, 5))](harmed, draw)
        found.append((f"{i:03d}{harm.__name__}", harmed))
    return found
