"""Pictures of a report and their files."""

import base64
import io
import re

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image
from sklearn.datasets import make_blobs

from mixkern import MixtureSVC, VBMixture
from mixkern.plot.projection import MapRows
from mixkern.plot.style import LIGHT
from mixkern.report.blocks import Section
from mixkern.report.facts import ModelFacts
from mixkern.report.page import page
from mixkern.report.pictures import AXES, LARGEST, Picture, confidence_picture, map_picture, png_of, svg_of


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
            ax.scatter((i + 0.5) / 20, 0.5, s=40, color=colour, linewidths=0)
        return figure

    whole, small = (png_of(Picture("dots", "", "", draw), largest=size) for size in (10**9, 15_000))
    assert len(small) < len(whole)
    image = Image.open(io.BytesIO(small)).convert("RGB")
    assert image.getpixel((0, 0)) == Image.open(io.BytesIO(whole)).convert("RGB").getpixel((0, 0))
    for i, colour in enumerate(LIGHT.classes):
        found = image.getpixel((int(image.width * (i + 0.5) / 20), image.height // 2))
        assert found == tuple(round(255 * part) for part in to_rgb(colour))


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


@pytest.fixture(scope="module")
def twenty():
    """Twenty classes in six columns, four labels each."""
    rows, codes = make_blobs(600, centers=20, n_features=6, cluster_std=1.2, random_state=3)
    names = np.array([f"class {chr(65 + code)}" for code in range(20)], dtype=object)
    y = names[codes]
    y[80:] = None
    model = MixtureSVC(density=VBMixture(20, random_state=0), random_state=0).fit(rows, y)
    return ModelFacts.of(model, rows, y, "label")


@pytest.mark.slow
def test_points_of_the_map_have_the_colours_of_the_legend(twenty):
    """The legend's colour of each class, as the page defines it, is that of its points in the PNG that the page has."""
    picture = map_picture(twenty)
    source = page([Section("map", "Map", (picture,))], title="T")
    palettes = re.findall(r":root \{ ((?:--c\d+: #\w+; )+)\}", source)
    images = re.findall(r"data:image/png;base64,([^\"]+)\"", source)  # first that of a dark page
    rows = MapRows.of(twenty.model.mixture_, twenty.rows, twenty.predicted, twenty.codes)
    keys = dict(re.findall(r'<li><svg class="mark (c\d+)".*?</svg> <bdi>(class \w)</bdi>', source))
    assert len(keys) == 20
    for palette, content in zip(reversed(palettes), images, strict=True):
        colours = dict(re.findall(r"--(c\d+): (#\w+);", palette))
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB"))
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) <= 256  # the map was reduced
        for code in np.unique(rows.predicted):
            name = twenty.classes[code]
            (css,) = (key for key, text in keys.items() if text == name)
            expected = np.array(to_rgb(colours[css])) * 255
            for places, codes in ((rows.places, rows.predicted), (rows.labelled, rows.given)):
                found = np.array([pixel(pixels, rows.box, place) for place in places[codes == code]])
                is_own = np.abs(found - expected).max(axis=1) < 0.6
                assert is_own.mean() > 0.4, name  # others are covered by names, numbers or other points


def pixel(pixels, box, place):
    """Return the colour of the picture at a place of the map."""
    left, bottom, width, height = AXES
    x = left + width * (place[0] - box[0]) / (box[1] - box[0])
    y = 1 - bottom - height * (place[1] - box[2]) / (box[3] - box[2])
    return pixels[int(y * pixels.shape[0]), int(x * pixels.shape[1])]


@pytest.mark.slow
def test_each_predicted_class_has_its_name_on_the_map(twenty):
    picture = map_picture(twenty)
    assert {each.text for each in picture.names} <= set(twenty.classes)
    assert len(picture.names) > 12
    assert all(twenty.classes[each.code] == each.text for each in picture.names)


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
