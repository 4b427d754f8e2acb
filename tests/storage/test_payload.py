"""Equal models give equal bytes, equal arrays are kept once, and nothing that skops wrote is lost."""

import io
import json
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import skops.io

from mixkern.storage.payload import read, written
from mixkern.storage.state import bare
from mixkern.storage.trust import TYPES


def test_bytes_do_not_depend_on_places_in_memory(models):
    one = written(bare(models["svc"]))
    kept = [np.array(models["svc"].dual_coef_) for _ in range(50)]  # other places are taken now
    assert written(bare(models["svc"])) == one
    assert kept


def test_equal_arrays_are_kept_once():
    one, other = np.arange(1000.0), np.arange(1000.0)
    payload = written([one, other, one, -one])
    with ZipFile(io.BytesIO(payload)) as archive:
        assert sorted(archive.namelist()) == ["1.npy", "2.npy", "schema.json"]
        assert all(info.compress_type == ZIP_STORED for info in archive.infolist())
    a, b, c, d = read(payload)
    assert a is b is c
    assert np.array_equal(a, one)
    assert np.array_equal(d, -one)


def test_only_arrays_are_numbered(models):
    with ZipFile(io.BytesIO(written(bare(models["svc"])))) as archive:
        schema = archive.read("schema.json").decode()
        assert schema.count("__id__") == schema.count('"file"')
        assert json.loads(schema)["protocol"] >= 2


def test_skops_can_read_it_too(models):
    shell = skops.io.loads(written(bare(models["svc"])), trusted=TYPES)
    assert type(shell) is type(models["svc"])
    assert shell.mixture_ == models["svc"].mixture_


def test_the_order_of_memory_is_kept():
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert read(written([columns]))[0].flags.f_contiguous
