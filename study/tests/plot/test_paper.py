import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import spearmanr

from mixkern.kernels import RWMKernel
from mixkern_study.plot import paper

NAMES = [
    "introduction",
    "density",
    "distances",
    "scale",
    "weights",
    "robustness_prior",
    "robustness_subsets",
    "search_line",
    "search_maps",
    "components_many",
    "components_few",
    "comparison",
    "protocol",
    "published_ranks",
]
FIGURES = paper.paper_figures()


def titles(figure):
    return [panel.get_title() for panel in figure.axes]


def numbers(text, pattern):
    return [float(each) for each in re.findall(pattern, text)]


@pytest.fixture(scope="module")
def five():
    return paper.FiveProcesses.of(600, n_test=100)


@pytest.fixture(scope="module")
def many(five):
    return paper.many_components(five)


# ---------------------------------------------------------------- the registry


def test_all_figures_are_there_in_the_order_of_the_paper():
    assert list(FIGURES) == NAMES
    for name, figure in FIGURES.items():
        assert figure.name == name
        assert figure.title
        assert figure.caption
        assert callable(figure.draw)


def test_every_number_of_the_paper_occurs_once_and_in_order():
    found = [int(number) for figure in FIGURES.values() for number in figure.number.split(" and ")]
    assert found == list(range(1, 16))


def test_figures_cannot_be_changed_and_the_registry_is_a_copy():
    with pytest.raises(FrozenInstanceError):
        FIGURES["scale"].title = "another"
    paper.paper_figures().clear()
    assert list(paper.paper_figures()) == NAMES


@pytest.mark.parametrize("name", ["density", "distances", "published_ranks"])
def test_draw_gives_a_figure(name):
    assert isinstance(FIGURES[name].draw(), Figure)


# ---------------------------------------------------------------- each of them


def test_the_density_has_three_components():
    figure = paper.trained_density()
    (centres,) = (each for each in figure.axes[0].collections if each.get_label() == "centre, unit ellipse")
    assert len(centres.get_offsets()) == 3
    assert titles(figure) == ["Learned from 600 rows"]


def test_five_rows_are_labelled_one_of_each_process(five):
    places, labels = five.rows[five.y >= 0], five.y[five.y >= 0]
    assert sorted(labels.tolist()) == [0, 0, 1, 1, 2]
    assert (labels == five.truth[five.y >= 0]).all()
    for label in (0, 1):
        left, right = sorted(places[labels == label][:, 0])
        assert left < 0 < right


def test_smaller_priors_leave_fewer_components_as_the_caption_says(many):
    counts = [mixture.n_components for mixture in many]
    assert counts[0] > counts[1] > counts[2] >= 5
    assert f"{counts[0]}, {counts[1]} and {counts[2]} components" in FIGURES["robustness_prior"].caption


def test_distances_hardly_depend_on_the_prior(five, many):
    apart = [RWMKernel(mixture).distance([[0.0, 0.0]], five.rows)[0] for mixture in many]
    assert spearmanr(np.array(apart).T)[0].min() > 0.9


@pytest.mark.slow
def test_panels_of_the_prior_have_their_components_in_the_title():
    found = titles(paper.robustness_prior(n=200))
    assert [re.fullmatch(r"\$w_0\$ = (\S+): \d+ components", title)[1] for title in found] == ["4.5", "2.25", "0.75"]


def test_panels_of_the_subsets_show_disjoint_rows():
    figure = paper.robustness_subsets(n=600)
    words = [re.fullmatch(r"(\w+) subset: \d+ components?", title)[1] for title in titles(figure)]
    assert words == ["First", "Second", "Third"]
    seen = [
        np.vstack([each.get_offsets() for each in panel.collections if each.get_label().startswith("class")])
        for panel in figure.axes
    ]
    assert [len(rows) for rows in seen] == [200] * 3
    assert len(np.unique(np.vstack(seen), axis=0)) > 590  # phoneme has some equal rows


@pytest.mark.parametrize("name", ["components_many", "components_few"])
def test_captions_have_the_accuracies_that_are_drawn(name):
    figure = FIGURES[name].draw()
    counts = [numbers(title, r"^(\d+) component") for title in titles(figure)]
    percents = [numbers(title, r": (\S+) % correct$")[0] for title in titles(figure)]
    assert len(counts) == 3
    if name == "components_few":
        assert counts == [[4], [3], [1]]
    said = numbers(FIGURES[name].caption, r"\d+\.\d")[:3]
    np.testing.assert_allclose(percents, said, atol=0.3)


@pytest.mark.slow
def test_one_component_makes_rwm_the_rbf_kernel():
    figure = paper.components(paper.few_components, n=300, resolution=20)
    (rbf,) = numbers(figure.get_suptitle(), r"RBF kernel: (\S+) %")
    (rwm,) = numbers(titles(figure)[2], r"1 component: (\S+) %")
    assert rwm == pytest.approx(rbf, abs=1)


@pytest.mark.slow
def test_maps_have_a_line_for_each_kernel():
    figure = paper.search_maps({"iris": "Iris", "wine": "Wine"}, values=(0.1, 1.0, 10.0))
    found = [title.splitlines() for title in titles(figure) if title]
    assert [first for first, _ in found] == [
        f"{kernel} kernel, {name}" for kernel in ("RBF", "RWM") for name in ("Iris", "Wine")
    ]
    assert all(re.fullmatch(r"accuracy: grid \d+\.\d\d %, line \d+\.\d\d %", second) for _, second in found)
    assert len(figure.axes) == 8  # each with its scale of colours
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "on the line",
        "best of the grid",
        "best on the line",
    ]


def test_published_ranks_are_those_of_the_paper():
    figure = paper.published_ranks()
    assert [title.split(":")[0] for title in titles(figure)] == ["Experiment 1", "Experiment 2", "Experiment 3"]
    texts = [{text.get_text() for text in panel.texts} for panel in figure.axes]
    assert "RWM  1.38" in texts[0]
    assert "3.55  LAP" in texts[1]
    assert any("1.34" in text and "0.01" in text for text in texts[0])
    assert any("0.96" in text and "0.1)" in text for text in texts[2])
    joined = [[line for line in panel.lines if line.get_linewidth() > 3] for panel in figure.axes]
    assert [len(lines) for lines in joined] == [1, 1, 1]


@pytest.mark.parametrize(("experiment", "alpha", "value"), [(1, 0.01, 1.337), (2, 0.1, 0.960), (3, 0.1, 0.960)])
def test_exact_critical_differences_give_the_groups_of_the_published_ones(experiment, alpha, value):
    test = paper.published_test(experiment, bold_is_tie=True)
    assert test.groups(alpha) == test.groups(alpha, value)
    assert f"{test.critical_difference(alpha):.2f}" in FIGURES["published_ranks"].caption
