"""Colours, markers and themes."""

import itertools

import numpy as np
import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

from mixkern.plot.style import DARK, LARGE, LIGHT, MARKERS, MEDIUM, N_STYLES, marker_style, outlined


def test_no_style_comes_twice():
    assert len({tuple(marker_style(i).values()) for i in range(N_STYLES)}) == N_STYLES


def test_large_points_have_the_thicker_outline():
    large, medium = outlined(LARGE), outlined(MEDIUM)
    assert (large["s"], medium["s"]) == (LARGE, MEDIUM)
    assert large["linewidths"] > medium["linewidths"]


# Björn Ottosson's OKLab: equal distances look equally different.
TO_CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
TO_CONES += [[0.0883024619, 0.2817188376, 0.6299787005]]
TO_LAB = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
TO_LAB += [[0.0259040371, 0.7827717662, -0.8086757660]]
# Machado, Oliveira and Fernandes (2009), severity 1.
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]


def differences(colours, sight):
    """Return the OKLab distances between all pairs of colours, as readers with some kind of sight see them."""
    values = np.array([colors.to_rgb(colour) for colour in colours])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(sight), 0, 1)
    lab = np.cbrt(seen @ np.transpose(TO_CONES)) @ np.transpose(TO_LAB)
    return np.linalg.norm(lab[:, None] - lab, axis=-1)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_twenty_classes_have_twenty_colours(theme):
    assert len(theme.classes) == 20
    upper = np.triu_indices(20, 1)
    assert differences(theme.classes, np.eye(3))[upper].min() > 0.1
    for sight in (DEUTERANOPIA, PROTANOPIA):
        seen = differences(theme.classes, sight)
        assert seen[upper].min() > 0.045
        same = [pair for pair in itertools.combinations(range(20), 2) if len({MARKERS[i % 10] for i in pair}) == 1]
        assert all(theme.marker_style(i)["marker"] == theme.marker_style(j)["marker"] for i, j in same)
        assert min(seen[pair] for pair in same) > 0.15


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
