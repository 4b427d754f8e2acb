"""Light and dark pictures say the same."""

import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

from mixkern.plot.style import COLOURS, look
from mixkern.plot.theme import DARK, LIGHT


def luminance(colour):
    return sum(w * c**2.2 for w, c in zip((0.2126, 0.7152, 0.0722), colors.to_rgb(colour), strict=True))


def contrast(first, second):
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_classes_have_as_many_colours_and_the_same_shapes():
    assert len(DARK.classes) == len(COLOURS)
    assert all(LIGHT.look(i) == look(i) for i in range(60))
    assert all(DARK.look(i)["marker"] == look(i)["marker"] for i in range(60))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_texts_can_be_read(theme):
    assert contrast(theme.ink, theme.ground) > 7
    assert contrast(theme.muted, theme.ground) > 4.5


def test_classes_stand_out_from_a_dark_ground():
    assert min(contrast(colour, DARK.ground) for colour in DARK.classes) > 5


def test_axes_are_clothed():
    ax = plt.subplots()[1]
    DARK.clothe(ax)
    assert ax.figure.get_facecolor() == colors.to_rgba(DARK.ground)
    assert not ax.spines["top"].get_visible()
