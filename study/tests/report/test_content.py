"""Sections of a report, and sentences made from numbers."""

import shutil

import numpy as np
import pytest

from mixkern.report.pictures import Picture
from mixkern.report.table import TextTable
from mixkern_study import KERNELS, Protocol, Result, Store, rank_test
from mixkern_study.plot import paper_figures
from mixkern_study.ranking import Ranking
from mixkern_study.report.content import findings, lead, sections, verdict


def named(chapters):
    return {chapter.name: chapter for chapter in chapters}


@pytest.mark.slow
def test_all_figures_of_the_paper_are_there(store):
    found = named(sections(store, figures=True))["figures"].blocks
    assert [block.name for block in found] == list(paper_figures())
    assert all(isinstance(block, Picture) and block.title and block.caption for block in found)


def test_names_are_unique(store):
    chapters = sections(store, figures=True)
    blocks = [block for chapter in chapters for block in chapter.blocks if isinstance(block, Picture | TextTable)]
    for kind in (Picture, TextTable):
        names = [block.name for block in blocks if isinstance(block, kind)]
        assert len(names) == len(set(names))


@pytest.mark.slow
def test_diagrams_show_ours_and_the_published_ranks(store):
    pictures = [
        block for block in named(sections(store, figures=True))["experiment_1"].blocks if isinstance(block, Picture)
    ]
    assert [picture.name for picture in pictures] == [
        "ranks_1_expected_error",
        "ranks_1_optimistic",
        "ranks_1_ceiling",
        "ranks_1_published",
    ]
    ours, published = pictures[0].draw.args[0], pictures[-1].draw.args[0]
    assert ours.methods == published.methods == ("RWM", "GMM", "RBF", "LAP")
    assert ours.ranks.tolist() == [4, 3, 2, 1]
    assert published.ranks.round(3).tolist() == [1.375, 2.75, 2.825, 3.05]
    assert pictures[-1].draw.keywords == {"alpha": 0.01, "value": 1.337}


@pytest.mark.slow
def test_an_experiment_without_results_says_so(store):
    third = named(sections(store, figures=False))["experiment_3"]
    assert [block.text for block in third.blocks] == ["There are no results of this experiment in the store yet."]


METHODS = ("rwm", "gmm", "rbf", "lap")


def ranking(rwm, rbf, n=20, rwm_is_first=True):
    scores = np.tile([4.0, 3.0, 2.0, 1.0] if rwm_is_first else [2.0, 3.0, 4.0, 1.0], (n, 1))
    means = dict.fromkeys(METHODS, 70.0) | {"rwm": rwm, "rbf": rbf}
    return Ranking(METHODS, means, n, rank_test(scores, METHODS) if n > 1 else None)


def all_of(expected_error, optimistic=(76.0, 74.0), ceiling=(77.0, 74.0), published=(76.57, 73.57)):
    given = {"expected_error": expected_error, "optimistic": optimistic, "ceiling": ceiling, "published": published}
    return {name: ranking(*each) for name, each in given.items()}


def test_a_lead_that_remains_in_part():
    text = verdict(1, all_of((74.5, 74.0)))
    assert text.startswith("Experiment 1, four labels per class, on 20 data sets: mean accuracies of RWM and RBF are ")
    assert (
        "76.57 % and 73.57 % as published; 77.00 % and 74.00 % at the ceiling; 76.00 % and 74.00 % by the optimistic "
        "reading; 74.50 % and 74.00 % with training labels only." in text
    )
    assert "RWM is ahead by 0.50 points: 17 % of its published lead of 3.00 and 25 % of its lead by the opt" in text
    assert "Its mean rank among 4 kernels is then 1.00 and RBF's 3.00 (published: 1.00 and 3.00)" in text
    assert text.endswith("the two differ significantly.")


def test_a_lead_that_is_lost():
    text = verdict(1, all_of((73.0, 74.0, 20, False)))
    assert "RWM is behind by 1.00 points; the difference is +3.00 as published and +2.00 by the optimistic" in text
    assert "is then 3.00 and RBF's 1.00" in text


def test_no_share_of_what_was_no_lead():
    text = verdict(3, all_of((87.2, 87.0), optimistic=(87.2, 87.0), published=(87.09, 87.29)))
    assert "ahead by 0.20 points; the difference is -0.20 as published and +0.20 by the optimistic reading." in text
    assert "% of its" not in text


def test_neither_ahead_nor_behind():
    assert "RWM is neither ahead nor behind; the difference" in verdict(1, all_of((74.001, 74.002)))


def test_few_data_sets_make_no_difference_significant():
    found = {name: ranking(75.0, 74.0, n=2) for name in ("expected_error", "optimistic", "ceiling", "published")}
    assert "do not differ significantly" in verdict(2, found)


def test_one_data_set_has_no_ranks():
    found = {name: ranking(75.0, 74.0, n=1) for name in ("expected_error", "optimistic", "ceiling", "published")}
    text = verdict(2, found)
    assert "on 1 data set:" in text
    assert "rank" not in text


@pytest.mark.parametrize("methods", [(), ("gmm", "rbf")])
def test_nothing_to_compare(methods):
    empty = Ranking(methods, dict.fromkeys(methods, float("nan")), 0, None)
    text = verdict(1, dict.fromkeys(("expected_error", "optimistic", "ceiling", "published"), empty))
    assert "there is no data set yet" in text
    assert "nan" not in text


def test_a_lead_is_never_minus_zero():
    assert str(lead(ranking(74.001, 74.002))) == "0.0"


def test_findings_have_the_numbers_of_their_tables(store, tmp_path):
    store = Store(shutil.copy(store.path, tmp_path))
    assert len(findings(store)) == 1  # one choice of labels and one density alone
    for choice in ("dense", "dense_per_class", "random"):
        add_readings(store, Protocol(labels=choice), KERNELS, 0.01)
    add_readings(store, Protocol(density="paper"), ("rwm", "gmm"), 0.3)
    labels, density, choosers = findings(store)
    assert "4.000 by components; 4.000 denser half; 4.000 denser half of each class; 4.000 at random" in labels
    assert "RWM has 92.00 % with it and 62.00 % with the project's density" in density
    assert "its mean rank is 2.000 and 4.000" in density
    assert "(4.00, 3.00, 2.00, 1.00 for RWM, GMM, RBF and LAP; published 1." in choosers
    assert "best mean rank is LAP by 'all optimistic' and 'RWM at the ceiling, others optimistic' and " in choosers


def add_readings(store, protocol, methods, more):
    store.with_protocol(protocol).add(
        Result(
            experiment=experiment,
            data_set=data_set,
            fold=fold,
            repeat=0,
            method=method,
            reading=reading,
            accuracy=0.6 + 0.05 * KERNELS.index(method) + fold / 100 + more,
            n_labelled=12,
            n_support=9,
        )
        for experiment in (1, 2, 3)
        for data_set in ("iris", "wine")
        for fold in range(5)
        for method in methods
        for reading in ("expected_error", "optimistic", "ceiling")
    )
