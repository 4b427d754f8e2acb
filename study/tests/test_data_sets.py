"""Data sets by name, and the figures of the paper, its errors apart."""

import dataclasses

import pytest

from mixkern import datasets
from mixkern_study import compare_data_sets
from mixkern_study.data_sets import SLIPS, load_data_set, title_of

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


def test_wide_sets_have_titles():
    assert title_of("pd_speech") == "Pd Speech"


def test_a_set_of_the_paper_is_loaded_by_its_name():
    assert load_data_set("wine").key == datasets.load("wine").key
