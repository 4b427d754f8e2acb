"""Colours, markers and themes."""

import itertools

import numpy as np
import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

from mixkern.plot.style import DARK, LARGE, LIGHT, MEDIUM, N_STYLES, marker_style, outlined


def test_no_style_comes_twice():
    assert len({tuple(marker_style(i).values()) for i in range(N_STYLES)}) == N_STYLES


def test_large_points_have_the_thicker_outline():
    large, medium = outlined(LARGE), outlined(MEDIUM)
    assert (large["s"], medium["s"]) == (LARGE, MEDIUM)
    assert large["linewidths"] > medium["linewidths"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ten_classes_have_ten_colours(theme):
    assert len(set(theme.classes)) == len(LIGHT.classes) == 10
    for first, second in itertools.combinations(theme.classes, 2):
        assert np.linalg.norm(np.subtract(colors.to_rgb(first), colors.to_rgb(second))) > 0.2


def test_a_class_has_the_same_marker_on_light_and_dark_pages():
    assert all(DARK.marker_style(i)["marker"] == LIGHT.marker_style(i)["marker"] for i in range(N_STYLES))


def luminance(colour):
    return sum(w * c**2.2 for w, c in zip((0.2126, 0.7152, 0.0722), colors.to_rgb(colour), strict=True))


def contrast(first, second):
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_can_be_read(theme):
    assert contrast(theme.ink, theme.ground) > 7
    assert contrast(theme.muted, theme.ground) > 4.5


def test_classes_stand_out_from_a_dark_ground():
    assert min(contrast(colour, DARK.ground) for colour in DARK.classes) > 5


def test_axes_get_the_colours_of_a_theme():
    ax = plt.subplots()[1]
    DARK.apply(ax)
    assert ax.figure.get_facecolor() == colors.to_rgba(DARK.ground)
    assert not ax.spines["top"].get_visible()
