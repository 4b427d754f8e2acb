"""Data sets: the figures of the paper, its errors apart, and sets from outside."""

import dataclasses

import numpy as np
import pytest

from mixkern import datasets
from mixkern_study import OUTSIDE, Protocol, compare_data_sets, study_fold
from mixkern_study.data_sets import SLIPS, load_data_set

COMPARISON = {row.published.title: row for row in compare_data_sets()}

# What each slip changes; everything else must agree.
SLIPPED = {
    "Clouds": ("class_percent",),
    "Pima": ("n_continuous", "n_categorical"),
    "Satimage": ("n_samples", "class_percent"),
    "Vowel": ("n_samples",),
    "Yeast": ("class_percent",),
}


def test_all_twenty_are_compared():
    assert len(COMPARISON) == 20


@pytest.mark.parametrize("title", COMPARISON)
def test_a_set_agrees_with_the_paper_but_for_its_slips(title):
    assert COMPARISON[title].differences == SLIPPED.get(title, ())


def test_every_slip_is_explained():
    assert set(SLIPS) == set(SLIPPED)
    assert all(bool(row.slip) == bool(row.differences) for row in COMPARISON.values())


def test_the_reasons_given_for_the_slips_hold():
    paper = {title: row.published for title, row in COMPARISON.items()}
    assert sum(paper["Clouds"].class_percent) > 100
    assert sum(paper["Yeast"].class_percent) == pytest.approx(98.0)
    assert 0.8 * COMPARISON["Vowel"].ours.n_samples == 792
    assert abs(0.8 * COMPARISON["Satimage"].ours.n_samples - 5147) <= 1


def test_a_wrong_figure_would_be_found():
    row = COMPARISON["Iris"]
    wrong = dataclasses.replace(
        row, ours=dataclasses.replace(row.ours, n_samples=149, class_percent=(33.3, 33.1, 33.6))
    )
    assert wrong.differences == ("n_samples", "class_percent")
    missing = dataclasses.replace(row, ours=dataclasses.replace(row.ours, class_percent=(33.3, 33.3)))
    assert missing.differences == ("class_percent",)


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
    assert set(OUTSIDE).isdisjoint(datasets.names())


def test_labels_are_the_ones_of_the_source():
    assert set(load_data_set("breast_cancer").classes) == {"benign", "malignant"}
    assert load_data_set("wine").key == datasets.load("wine").key
