"""Pictures of a report and their files."""

import io

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

from mixkern.plot.style import LIGHT
from mixkern.report.facts import ModelFacts
from mixkern.report.pictures import LARGEST, Picture, confidence_picture, map_picture, png_of, svg_of


def noise():
    """Draw what no compression makes small."""
    _figure, ax = plt.subplots(figsize=(2, 2))
    ax.imshow(np.random.RandomState(0).uniform(size=(150, 150, 3)))
    return ax


def test_a_large_picture_is_made_smaller():
    small = png_of(Picture("noise", "", "", noise), largest=10_000)
    assert len(small) <= 10_000
    whole = png_of(Picture("noise", "", "", noise), largest=10**9)
    assert Image.open(io.BytesIO(small)).size < Image.open(io.BytesIO(whole)).size == (200, 200)


def test_a_smaller_picture_keeps_the_colours_of_all_classes():
    """A few dots of each class on a background of many shades."""

    def draw():
        figure = plt.figure(figsize=(4, 4), dpi=100)
        ax = figure.add_axes((0, 0, 1, 1))
        shades = np.linspace(0.6, 1, 400)[:, None] * np.linspace(0.7, 1, 400)
        ax.imshow(np.stack([shades, shades.T, 0.5 + shades / 2], axis=-1), extent=(0, 1, 0, 1))
        for i, colour in enumerate(LIGHT.classes):
            ax.scatter(i / 10 + 0.05, 0.5, s=40, color=colour, linewidths=0)
        return figure

    whole, small = (png_of(Picture("dots", "", "", draw), largest=size) for size in (10**9, 20_000))
    assert len(small) < len(whole)
    image = Image.open(io.BytesIO(small)).convert("RGB")
    assert image.getpixel((0, 0)) == Image.open(io.BytesIO(whole)).convert("RGB").getpixel((0, 0))
    for i, colour in enumerate(LIGHT.classes):
        found = image.getpixel((int(image.width * (i / 10 + 0.05)), image.height // 2))
        assert np.allclose(found, 255 * np.array(to_rgb(colour)), atol=20)


def test_a_small_picture_stays_as_it_is():
    def line():
        figure, ax = plt.subplots(figsize=(4, 3))
        ax.plot([0, 1])
        return figure

    assert Image.open(io.BytesIO(png_of(Picture("line", "", "", line)))).mode == "RGBA"
    assert len(png_of(Picture("line", "", "", line))) < LARGEST


def test_lines_are_the_same_every_time_and_no_figure_stays_open():
    def line():
        _figure, ax = plt.subplots(figsize=(4, 3))
        ax.plot([0, 1])
        return ax

    picture = Picture("line", "", "", line, is_lines=True)
    before = plt.get_fignums()
    assert svg_of(picture) == svg_of(picture)
    assert plt.get_fignums() == before


def texts(figure):
    return " ".join(each.get_text() for each in figure.findobj(Text))


def test_names_are_in_the_key_and_not_in_the_picture(nasty):
    facts = ModelFacts.of(*nasty, "label")
    for picture in (map_picture(facts), confidence_picture(facts)):
        assert [each.text for each in picture.key] == list(facts.classes)
        for draw in (picture.draw, picture.draw_dark):
            assert "script" not in texts(draw().figure)


def test_light_and_dark_differ(facts):
    picture = map_picture(facts)
    assert picture.draw().figure.get_facecolor() != picture.draw_dark().figure.get_facecolor()
