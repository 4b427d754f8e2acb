import gzip
import hashlib
from importlib.resources import files

import pytest

from mixkern.datasets import packaged
from mixkern.errors import DamagedDatasetError

FOLDER = files("mixkern.datasets") / "tables"


def test_all_files_together_stay_under_a_megabyte():
    assert 0 < sum(len(file.read_bytes()) for file in FOLDER.iterdir()) < 1_000_000


@pytest.mark.parametrize("name", sorted(packaged.index()))
def test_checksums_are_those_of_the_files(name):
    text = gzip.decompress((FOLDER / f"{name}.csv.gz").read_bytes())
    assert hashlib.sha256(text).hexdigest() == packaged.index()[name]["sha256"]


def damaged(name):
    whole = (FOLDER / f"{name}.csv.gz").read_bytes()
    changed = gzip.compress(gzip.decompress(whole).replace(b"5.1", b"5.2", 1))
    return {"truncated": whole[: len(whole) // 2], "changed": changed, "no gzip": b"class\n1\n", "empty": b""}


@pytest.mark.parametrize("how", ["truncated", "changed", "no gzip", "empty"])
def test_a_damaged_file_is_refused(how):
    with pytest.raises(DamagedDatasetError, match=r"packaged file of 'iris' is damaged: .* Install mixkern again"):
        packaged.verified_text(damaged("iris")[how], packaged.index()["iris"]["sha256"], "iris")
