import re

import numpy as np
import pytest

from mixkern.errors import OptionError
from mixkern_study.plot import published
from mixkern_study.protocol import StudyError
from mixkern_study.published import KERNELS

FAR = ("Set 3", "Set 7", "Set 11", "Set 15", "Set 19")


def made_up(seed=0):
    random = np.random.RandomState(seed)
    pairs = {}
    for kernel in KERNELS:
        percents = random.uniform(45, 95, 20)
        shifts = random.uniform(-2, 2, 20)
        names = [f"Set {i}" for i in range(20)]
        if kernel == "gmm":
            shifts[3::4] = (12, -13, 14, -15, 16)
        pairs[kernel] = [(name, p, p + s) for name, p, s in zip(names, percents, shifts, strict=True)]
    return pairs


@pytest.fixture(scope="module")
def ax():
    return published.published_against_ours(made_up())


def dots(ax, kernel):
    (found,) = (each for each in ax.lines if each.get_label().startswith(kernel.upper()))
    return found


def test_every_pair_is_a_dot_and_the_diagonal_is_drawn(ax):
    for kernel, expected in made_up().items():
        assert np.transpose(dots(ax, kernel).get_data()).tolist() == [[x, y] for _, x, y in expected]
    x, y = ax.lines[0].get_data()
    assert list(x) == list(y) == list(ax.get_xlim()) == list(ax.get_ylim())
    assert ax.get_aspect() == 1


def test_kernels_differ_in_colour_and_in_marker(ax):
    assert len({dots(ax, kernel).get_color() for kernel in KERNELS}) == 4
    assert len({dots(ax, kernel).get_marker() for kernel in KERNELS}) == 4


def test_the_legend_has_the_mean_absolute_differences(ax):
    apart = {kernel: np.mean([abs(y - x) for _, x, y in each]) for kernel, each in made_up().items()}
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"{kernel.upper()} {value:.1f}" for kernel, value in apart.items()]
    assert ax.get_legend().get_title().get_text() == "mean absolute difference"


def test_names_of_the_furthest_do_not_overlap(ax):
    assert sorted(text.get_text() for text in ax.texts) == sorted(FAR)
    ax.figure.draw_without_rendering()
    boxes = []
    for text in ax.texts:
        text.arrow_patch.set_visible(False)
        boxes.append(super(type(text), text).get_window_extent())
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_data_set_is_named_once():
    ax = published.published_against_ours({"rwm": [("Iris", 90, 80)], "rbf": [("Iris", 90, 75), ("Wine", 80, 81)]})
    assert sorted(text.get_text() for text in ax.texts) == ["Iris", "Wine"]
    assert {text.get_text(): text.xy for text in ax.texts}["Iris"] == (90, 75)


@pytest.mark.slow
def test_panels_share_their_axes():
    panels = {f"reading {seed}": {"rwm": made_up(seed)["rwm"]} for seed in range(3)}
    figure = published.published_panels(panels)
    assert [each.get_title() for each in figure.axes] == list(panels)
    assert len({each.get_xlim() for each in figure.axes} | {each.get_ylim() for each in figure.axes}) == 1
    assert [bool(each.get_ylabel()) for each in figure.axes] == [True, False, False]
    assert all(re.fullmatch(r"RWM \d\.\d", each.get_legend().get_texts()[0].get_text()) for each in figure.axes)


def test_errors():
    with pytest.raises(OptionError, match="panels must be a dict of names and panels, but it is empty"):
        published.published_panels({})
    with pytest.raises(StudyError, match="no accuracy to compare"):
        published.published_against_ours({"rwm": []})
    with pytest.raises(StudyError, match="NaN or infinity"):
        published.published_against_ours({"rwm": [("Iris", 90.0, np.nan)]})
