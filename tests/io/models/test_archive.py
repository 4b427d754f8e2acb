"""Containers that are no models: one error each, with the reason, and nothing unpacked that is too large."""

import io
import json
import struct
import tracemalloc
import warnings
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest
import skops.io

import mixkern
from mixkern.errors import ModelFileError
from mixkern.storage import load, read_model
from mixkern.storage.archive import (
    FORMAT,
    HEADER,
    PAYLOAD,
    archive_bytes,
    payload_of,
    read_archive,
    read_header,
    read_payload,
)
from mixkern.storage.state import state_of
from mixkern.storage.trust import TYPES

from .damage import members, sealed, zipped


def refusal(content, folder):
    path = folder / "a.mixkern"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_packed_and_unpacked(content):
    header, payload = read_archive(content, "0")
    assert read_archive(archive_bytes(header, payload), "0") == (header, payload)
    assert archive_bytes(header, payload) == archive_bytes(header, payload) == content


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello", "it is no model"),
        (b"\x80\x04N.", "looks like a pickle, and reading a pickle may run any code"),
        (b"PK\x05\x06" + bytes(18), "but it holds nothing"),
        (b"PK\x03\x04" + bytes(100), "no zip that can be read"),
    ],
)
def test_no_container(wrong, reason, tmp_path):
    assert reason in refusal(wrong, tmp_path)


def test_places_without_a_file(tmp_path):
    for place, reason in [(tmp_path, "it is a folder"), (tmp_path / "none", "there is no such file")]:
        with pytest.raises(ModelFileError, match=reason):
            load(place)
    if Path("/dev/zero").exists():
        with pytest.raises(ModelFileError, match="it is no ordinary file"):
            load("/dev/zero")
    with pytest.raises(ModelFileError, match="no such file"):
        load("a\0b")


def test_truncated(content, tmp_path):
    for share in (0.1, 0.5, 0.99):
        assert "damaged" in refusal(content[: int(share * len(content))], tmp_path)


def test_members_must_be_the_two(content, tmp_path):
    parts = members(content)
    header, payload = parts[HEADER], parts[PAYLOAD]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, about a name that is there twice
        cases = [
            {HEADER: header},
            {PAYLOAD: payload},
            {**parts, "more.txt": b""},
            {HEADER: header, f"../{PAYLOAD}": payload},
            {HEADER: header, f"/{PAYLOAD}": payload},
            [(HEADER, header), (PAYLOAD, payload), (PAYLOAD, payload)],
            [(HEADER, header), (HEADER, header), (PAYLOAD, payload)],
        ]
        wrong = [zipped(case) for case in cases]
    for each in wrong:
        assert "each once, but it holds" in refusal(each, tmp_path)


def test_a_zip_in_a_zip_is_no_model(content, tmp_path):
    assert "has no schema.json" in refusal(sealed(content, zipped({"a.zip": content}, ZIP_STORED)), tmp_path)


def test_a_bomb_is_not_unpacked(content, tmp_path):
    header = members(content)[HEADER]
    bomb = zipped({HEADER: header, PAYLOAD: bytes(100_000_000)})
    tracemalloc.start()
    assert "would take 100000000 bytes" in refusal(bomb, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    assert "would take" in refusal(zipped({HEADER: bytes(20_000_000), PAYLOAD: b""}), tmp_path)


def test_a_size_that_is_a_lie_is_found(content, tmp_path):
    """Declared larger than what is there, in both places of a zip."""
    size = struct.pack("<I", len(members(content)[PAYLOAD]))
    assert content.count(size) == 2
    assert "damaged" in refusal(content.replace(size, struct.pack("<I", 3_000_000)), tmp_path)
    assert "would take" in refusal(content.replace(size, struct.pack("<I", 2**31)), tmp_path)


def test_other_compressions_are_not_read(content, tmp_path):
    assert "in a way that mixkern never writes" in refusal(zipped(members(content), ZIP_BZIP2), tmp_path)


def test_a_wrong_checksum(content, tmp_path):
    parts = members(content)
    changed = bytearray(parts[PAYLOAD])
    changed[1000] ^= 1
    message = refusal(zipped({HEADER: parts[HEADER], PAYLOAD: bytes(changed)}), tmp_path)
    assert "its checksum is wrong" in message
    assert "its checksum is wrong" in refusal(zipped({HEADER: parts[HEADER], PAYLOAD: b""}), tmp_path)


def test_a_newer_format(content, tmp_path):
    message = refusal(sealed(content, facts={"format": FORMAT + 1, "mixkern": "9.9"}), tmp_path)
    assert f"written by mixkern 9.9, which is newer than this one ({mixkern.__version__})" in message
    assert message.endswith("pip install --upgrade mixkern")
    later = {"mixkern": "9.9", "new fact": [1]}
    (tmp_path / "a.mixkern").write_bytes(
        sealed(content, facts=later)
    )  # the same format: whatever else is new is ignored
    assert read_model(tmp_path / "a.mixkern").version == "9.9"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"1", b"[" * 100_000, b'{"format": "1"}'])
def test_headers_that_say_nothing(text, content, tmp_path):
    assert f"its {HEADER}" in refusal(zipped({HEADER: text, PAYLOAD: members(content)[PAYLOAD]}), tmp_path)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("format", "1"),
        ("format", True),
        ("format", 0),
        ("format", 1.0),
        ("mixkern", 1),
        ("notes", None),
        ("notes", []),
        ("versions", {"numpy": 2}),
        ("payload", {"sha256": "0", "size": "1"}),
        ("class", None),
        ("created", 0),
    ],
)
def test_facts_of_another_type(name, wrong, content, tmp_path):
    assert f"its {HEADER} has" in refusal(sealed(content, facts={name: wrong}), tmp_path)


def test_a_model_of_another_class_than_in_the_header(content, tmp_path):
    message = refusal(sealed(content, facts={"class": "mixkern.density.vb.VBMixture"}), tmp_path)
    assert (
        "its header names a mixkern.density.vb.VBMixture, but it holds a mixkern.estimators.svc.MixtureSVC" in message
    )


def test_headers_are_read_as_they_were_written(content):
    header, _ = read_archive(content, "0")
    assert read_header(header.to_json().encode(), "0") == header
    assert json.loads(members(content)[HEADER])["format"] == FORMAT
    assert zipped(members(content), ZIP_DEFLATED) != content  # the time of day is in there, and not in ours


def test_bytes_do_not_depend_on_places_in_memory(models):
    one = payload_of(state_of(models["svc"]))
    kept = [np.array(models["svc"].dual_coef_) for _ in range(50)]  # other places are taken now
    assert payload_of(state_of(models["svc"])) == one
    assert kept


def test_equal_arrays_are_kept_once():
    one, other = np.arange(1000.0), np.arange(1000.0)
    payload = payload_of([one, other, one, -one])
    with ZipFile(io.BytesIO(payload)) as archive:
        assert sorted(archive.namelist()) == ["1.npy", "2.npy", "schema.json"]
        assert all(info.compress_type == ZIP_STORED for info in archive.infolist())
    a, b, c, d = read_payload(payload)
    assert a is b is c
    assert np.array_equal(a, one)
    assert np.array_equal(d, -one)


def test_only_arrays_are_numbered(models):
    with ZipFile(io.BytesIO(payload_of(state_of(models["svc"])))) as archive:
        schema = archive.read("schema.json").decode()
        assert schema.count("__id__") == schema.count('"file"')
        assert json.loads(schema)["protocol"] >= 2


def test_skops_can_read_it_too(models):
    state = skops.io.loads(payload_of(state_of(models["svc"])), trusted=TYPES)
    assert type(state) is type(models["svc"])
    assert state.mixture_ == models["svc"].mixture_


def test_the_order_of_memory_is_kept():
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert read_payload(payload_of([columns]))[0].flags.f_contiguous
