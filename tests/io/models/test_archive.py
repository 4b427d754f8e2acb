"""Containers that are no models: one error each, with the reason, and nothing read that is too large."""

import hashlib
import json
import struct
import subprocess
import warnings
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

import mixkern
from mixkern.errors import ModelFileError
from mixkern.io import load, read_model
from mixkern.io.archive import CHECKSUMS, DESCRIPTION, FORMAT, ModelArchive, archive_bytes

from .damage import array_names, described, members, sealed, sums, zipped


def refusal(content, folder):
    path = folder / "a.mixkern"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def test_written_and_read():
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(3, dtype=np.int8)]
    facts = {"format": FORMAT, "mixkern": "1", "created": "", "versions": {}, "notes": {}, "shared": [], "model": {}}
    content = archive_bytes(facts, arrays)
    assert content == archive_bytes(facts, arrays)
    archive = ModelArchive(BytesIO(content))
    assert archive.n_bytes == len(content)
    assert {name: archive.description[name] for name in facts} == facts
    for i, array in enumerate(arrays):
        np.testing.assert_array_equal(archive.array(i), array)


def test_the_structure_of_a_file(content):
    """As docs/model_files.md describes it."""
    with ZipFile(BytesIO(content)) as archive:
        infos = archive.infolist()
    n = len(infos) - 2
    assert [info.filename for info in infos] == [DESCRIPTION, *(f"arrays/{i}.npy" for i in range(n)), CHECKSUMS]
    assert {info.compress_type for info in infos} == {ZIP_STORED}
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    parts = members(content)
    assert parts[CHECKSUMS] == sums(parts)
    assert all(np.load(BytesIO(parts[name]), allow_pickle=False).ndim for name in array_names(content))
    assert zipped(parts) == content


def test_sha256sum_reads_the_checksums(content, tmp_path):
    with ZipFile(BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    try:
        done = subprocess.run(["sha256sum", "--check", "--strict", CHECKSUMS], cwd=tmp_path, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no sha256sum here")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (b"", "the file is empty"),
        (b"hello", "it is no model"),
        (b"\x80\x04N.", "looks like a pickle, and reading a pickle may run any code"),
        (b"PK", "its end is not that of a zip"),
        (b"PK\x05\x06" + bytes(18), "its directory of 0 members"),
        (b"PK\x03\x04" + bytes(100), "its end is not that of a zip"),
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


def test_members_are_those_of_a_model_each_once(content, tmp_path):
    parts = members(content)
    first, *others = parts.items()
    cases = [
        {**parts, "more.txt": b""},
        {f"../{DESCRIPTION}": parts[DESCRIPTION], **dict(others)},
        {f"/{DESCRIPTION}": parts[DESCRIPTION], **dict(others)},
        [first, first, *others],
        [first, *others, others[-1]],
        [*others, first],
        dict(others),
        [first, *others[1:]],
        [first, others[1], others[0], *others[2:]],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, about a name that is there twice
        wrong = [zipped(case) for case in cases]
    for each in wrong:
        assert "each once, but it holds" in refusal(each, tmp_path)
    assert "its directory of 1 members" in refusal(zipped([first]), tmp_path)


def test_members_are_not_compressed_and_have_nothing_else(content, tmp_path):
    parts = members(content)
    for wrong in (
        zipped(parts, ZIP_DEFLATED),
        zipped(parts, comment=b"x"),
        zipped(parts, extra=b"\x01\x00\x04\x00abcd"),
        content.replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),  # encrypted
    ):
        message = refusal(wrong, tmp_path)
        assert (
            "expected model.json, arrays and SHA256SUMS, not compressed and each once" in message
            or "size" in message
            or "too large" in message
        )
    assert "its end is not that of a zip" in refusal(content[:-2] + b"\x01\x00x", tmp_path)  # a comment
    assert "its end is not that of a zip" in refusal(content + b"x", tmp_path)
    assert "its end is not that of a zip" in refusal(b"PKxx" + content, tmp_path)


def test_sizes_that_are_not_true_are_found(content, tmp_path):
    parts = members(content)
    for name in (DESCRIPTION, array_names(content)[0], CHECKSUMS):
        size = struct.pack("<L", len(parts[name]))
        for new in (0, len(parts[name]) + 1, 3_000_000, 2**31):
            changed = content.replace(size, struct.pack("<L", new))
            assert "its checksum" in (message := refusal(changed, tmp_path)) or "size" in message or "holds" in message


def test_a_wrong_checksum(content, tmp_path):
    parts = members(content)
    for name in (DESCRIPTION, array_names(content)[-1], CHECKSUMS):
        changed = bytearray(parts[name])
        changed[-10] ^= 1
        message = refusal(zipped({**parts, name: bytes(changed)}), tmp_path)
        assert "its checksum is wrong" in message
    lines = parts[CHECKSUMS].splitlines(keepends=True)
    lines[1], lines[2] = lines[2], lines[1]
    assert "its checksum is wrong" in refusal(zipped({**parts, CHECKSUMS: b"".join(lines)}), tmp_path)
    assert "another size than for these members" in refusal(zipped({**parts, CHECKSUMS: b""}), tmp_path)


def test_a_newer_format(content, tmp_path):
    message = refusal(sealed(content, facts={"format": FORMAT + 1, "mixkern": "9.9", "new": 1}), tmp_path)
    assert f"written by mixkern 9.9, which is newer than this one ({mixkern.__version__})" in message
    assert message.endswith("pip install --upgrade mixkern")
    (tmp_path / "a.mixkern").write_bytes(sealed(content, facts={"mixkern": "9.9"}))  # the same format
    assert read_model(tmp_path / "a.mixkern").version == "9.9"


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"1", b"[" * 100_000, b'{"format": "1"}'])
def test_descriptions_of_no_model(text, content, tmp_path):
    message = refusal(sealed(content, text), tmp_path)
    assert "its JSON is not that of a model" in message or "its model.json has other keys or types" in message


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("format", "3"),
        ("format", True),
        ("format", 2),
        ("format", 0),
        ("format", 3.0),
        ("mixkern", 1),
        ("notes", None),
        ("notes", []),
        ("versions", []),
        ("arrays", {}),
        ("shared", None),
        ("model", []),
        ("created", 0),
        ("extra", 0),
    ],
)
def test_facts_of_another_type(name, wrong, content, tmp_path):
    assert "its model.json has other keys or types than format 3" in refusal(
        sealed(content, facts={name: wrong}), tmp_path
    )


def test_versions_are_texts(content, tmp_path):
    assert "its list of versions is not valid" in refusal(sealed(content, facts={"versions": {"numpy": 2}}), tmp_path)


def test_all_arrays_are_declared(content, tmp_path):
    arrays = described(content)["arrays"]
    assert "its number of arrays" in refusal(sealed(content, facts={"arrays": arrays[:-1]}), tmp_path)
    wrong = {"dtype": "<f8", "shape": [2**30]}
    message = refusal(sealed(content, facts={"arrays": [wrong, *arrays[1:]]}), tmp_path)
    assert "arrays/0.npy has another size than the declared array" in message
    other = {"dtype": arrays[0]["dtype"].replace("f", "i"), "shape": arrays[0]["shape"]}
    assert "the header of an array" in refusal(sealed(content, facts={"arrays": [other, *arrays[1:]]}), tmp_path)


def test_a_model_of_a_class_that_is_no_model(content, tmp_path):
    for name in ("RBFKernel", "plot", "mixkern.estimators.svc.MixtureSVC", None, ["MixtureSVC"]):
        model = {**described(content)["model"], "class": name}
        assert "which is no estimator of mixkern" in refusal(sealed(content, facts={"model": model}), tmp_path)
    assert "which is no estimator of mixkern" in refusal(sealed(content, facts={"model": {}}), tmp_path)


def test_files_of_older_formats_are_named(tmp_path):
    for content in (zipped({"mixkern.json": b"{}", "model.skops": b""}, ZIP_DEFLATED),):
        message = refusal(content, tmp_path)
        assert "written by a development version of mixkern 0.1" in message
        assert message.endswith("Convert it, on the command line: mixkern convert OLD NEW.")
    with pytest.raises(ModelFileError) as caught:
        load(Path(__file__).parent / "data" / "format_1_svc.mixkern")
    assert caught.value.on("cli").endswith("Convert it: mixkern convert OLD NEW")


def test_a_model_that_is_too_large_is_refused_with_what_to_do():
    facts = {"notes": {"texts": ["x"] * 600_000}}
    with pytest.raises(ModelFileError, match=r"it is too large: .* Leave out columns with many categories"):
        archive_bytes(facts, [])
    assert hashlib.sha256(archive_bytes({"notes": {"texts": ["x"] * 1000}}, [])).hexdigest()
    assert json.loads(members(archive_bytes({}, []))[DESCRIPTION]) == {"arrays": []}
