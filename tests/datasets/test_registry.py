import gzip
import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixkern import datasets
from mixkern.datasets import registry
from mixkern.datasets.registry import index
from mixkern.errors import DamagedDatasetError, UnknownDatasetError

TWENTY = """
australian clouds concentric credit_a credit_g ecoli glass heart iris page_blocks phoneme pima ripley satimage seeds
two_moons vehicle vowel wine yeast
""".split()  # noqa: SIM905


def test_names_are_the_twenty():
    assert datasets.names() == TWENTY


@pytest.mark.parametrize("name", TWENTY)
def test_a_data_set_has_real_dtypes_and_known_origin(name):
    data = datasets.load(name)
    assert set(data.continuous) | set(data.categorical) == set(data.X.columns)
    assert not set(data.continuous) & set(data.categorical)
    assert all(data.X[column].dtype == "float64" for column in data.continuous)
    assert all(isinstance(data.X[column].dtype, pd.CategoricalDtype) for column in data.categorical)
    assert len(data.y) == len(data.X) == data.n_samples
    assert data.y.notna().all()
    assert set(data.classes) == set(data.y)
    assert min(map(len, (data.title, data.description, data.creators, data.source, data.licence))) > 3
    assert sum(data.class_percent.values()) == pytest.approx(100)


def test_gaps_are_gaps():
    data = datasets.load("credit_a")
    assert int(data.X.isna().sum().sum()) == 67
    assert int(data.X.isna().any(axis=1).sum()) == 37
    assert "?" not in {c for column in data.categorical for c in data.X[column].cat.categories}


def test_satimage_is_reduced_without_labels():
    reduced, raw = datasets.load("satimage"), datasets.load("satimage", raw=True)
    assert raw.X.shape == (6435, 36)
    assert reduced.X.shape == (6435, 5)
    # literally: eigenvectors of the covariance, largest first
    centred = raw.X.to_numpy() - raw.X.to_numpy().mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred.T))
    scores = centred @ vectors[:, np.argsort(values)[::-1][:5]]
    agreement = np.abs(np.sum(scores * reduced.X.to_numpy(), axis=0)) / np.sum(scores**2, axis=0)
    np.testing.assert_allclose(agreement, 1, rtol=1e-9)


@pytest.mark.parametrize("name", ["clouds", "concentric", "two_moons"])
def test_a_generated_set_is_the_same_every_time(name):
    pd.testing.assert_frame_equal(datasets.load(name).X, datasets.load(name).X)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("clouds", (0.666458889338553, -1.5157191927694575)),
        ("concentric", (0.8285987504936367, 0.13974342202924972)),
        ("two_moons", (0.5954147323319096, -0.24979525831149862)),
    ],
)
def test_a_generated_set_is_the_same_everywhere(name, first):
    np.testing.assert_allclose(datasets.load(name).X.to_numpy()[0], first, rtol=1e-12)


def test_what_load_returns_can_be_changed_without_harm():
    data = datasets.load("iris")
    data.X.iloc[:, :] = 0
    assert datasets.load("iris").X.to_numpy().any()


def test_an_unknown_name_is_met_with_the_nearest():
    with pytest.raises(
        UnknownDatasetError, match=r"no data set 'irsi'\. Did you mean 'iris'\? .* mixkern\.datasets\.names\(\)"
    ):
        datasets.load("irsi")


def test_index_holds_no_table_that_is_not_there():
    assert set(index()) | {"clouds", "concentric", "two_moons"} == set(TWENTY)


@pytest.mark.parametrize("bad", [None, 61])
def test_a_name_is_a_text(bad):
    with pytest.raises(UnknownDatasetError, match=f"must be a text, but it is {bad}"):
        datasets.load(bad)


def test_raw_is_for_satimage():
    with pytest.raises(ValueError, match="raw=True is for 'satimage' only, not for 'iris'"):
        datasets.load("iris", raw=True)


def test_every_packaged_set_names_its_creators_in_data_md():
    page = (Path(__file__).parents[2] / "DATA.md").read_text("utf-8")
    for name, facts in index().items():
        assert f"| `{name}` | {facts['creators']} | {facts['source']} | {facts['licence']} |" in page


FOLDER = files("mixkern.datasets") / "tables"


def test_all_files_together_stay_under_a_megabyte():
    assert 0 < sum(len(file.read_bytes()) for file in FOLDER.iterdir()) < 1_000_000


@pytest.mark.parametrize("name", sorted(registry.index()))
def test_checksums_are_those_of_the_files(name):
    text = gzip.decompress((FOLDER / f"{name}.csv.gz").read_bytes())
    assert hashlib.sha256(text).hexdigest() == registry.index()[name]["sha256"]


def damaged(name):
    whole = (FOLDER / f"{name}.csv.gz").read_bytes()
    changed = gzip.compress(gzip.decompress(whole).replace(b"5.1", b"5.2", 1))
    return {"truncated": whole[: len(whole) // 2], "changed": changed, "no gzip": b"class\n1\n", "empty": b""}


@pytest.mark.parametrize("how", ["truncated", "changed", "no gzip", "empty"])
def test_a_damaged_file_is_refused(how):
    with pytest.raises(DamagedDatasetError, match=r"packaged file of 'iris' is damaged: .* Install mixkern again"):
        registry.verified_text(damaged("iris")[how], registry.index()["iris"]["sha256"], "iris")
