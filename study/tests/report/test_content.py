"""What stands in a report, and where."""

from mixkern.report.pictures import Picture
from mixkern_study.plot import paper_figures
from mixkern_study.report.content import sections
from mixkern_study.result_table import StudyTable


def named(chapters):
    return {chapter.name: chapter for chapter in chapters}


def test_all_figures_of_the_paper_are_there(store):
    found = named(sections(store, figures=True))["figures"].blocks
    assert [block.name for block in found] == list(paper_figures())
    assert all(isinstance(block, Picture) and block.title and block.caption for block in found)


def test_names_are_unique(store):
    chapters = sections(store, figures=True)
    blocks = [block for chapter in chapters for block in chapter.blocks if isinstance(block, Picture | StudyTable)]
    for kind in (Picture, StudyTable):
        names = [block.name for block in blocks if isinstance(block, kind)]
        assert len(names) == len(set(names))


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


def test_an_experiment_without_results_says_so(store):
    third = named(sections(store, figures=False))["experiment_3"]
    assert [block.text for block in third.blocks] == ["There are no results of this experiment in the store yet."]
