"""Data sets from elsewhere: whole, unknown to the paper, the same every time."""

import numpy as np
import pytest

from mixkern import datasets
from mixkern_study import Protocol, study_fold
from mixkern_study.leaderboard import OUTSIDE
from mixkern_study.leaderboard.outside import load_any


@pytest.mark.parametrize("name", OUTSIDE)
def test_each_can_be_split(name):
    data = load_any(name)
    assert data.name == name
    assert data.key == load_any(name).key
    assert not data.X.isna().any(axis=None)
    fold = study_fold(data, 0, Protocol())
    assert np.isfinite(fold.train).all()
    assert fold.n_classes == len(data.classes) > 1


def test_the_paper_has_none_of_them():
    assert set(OUTSIDE).isdisjoint(datasets.names())


def test_labels_are_the_ones_of_the_source():
    assert set(load_any("breast_cancer").classes) == {"benign", "malignant"}
    assert load_any("wine").key == datasets.load("wine").key
