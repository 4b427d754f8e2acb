"""Pictures fit into their files."""

import io

import numpy as np
from matplotlib import pyplot as plt
from PIL import Image

from mixkern.report.block import Picture
from mixkern.report.picture import LARGEST, png_of, svg_of


def noise():
    """Draw what no compression makes small."""
    _figure, ax = plt.subplots(figsize=(4, 4))
    ax.imshow(np.random.RandomState(0).uniform(size=(300, 300, 3)))
    return ax


def test_a_large_picture_is_made_smaller():
    small = png_of(Picture("noise", "", "", noise), largest=40_000)
    assert len(small) <= 40_000
    whole = png_of(Picture("noise", "", "", noise), largest=10**9)
    assert Image.open(io.BytesIO(small)).size < Image.open(io.BytesIO(whole)).size == (400, 400)


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
