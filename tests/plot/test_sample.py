import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt

from mixkern import datasets, plot
from mixkern.plot.sample import TWO_DIMENSIONAL


def test_scatter_draws_every_row_once():
    X, _ = datasets.make_two_moons(n=50, random_state=0)
    y = np.array([0, 1] + [-1] * 48)
    ax = plot.scatter(X, y, title="Moons")
    drawn = {c.get_label(): len(c.get_offsets()) for c in ax.collections}
    assert drawn == {"unlabelled": 48, "0": 1, "1": 1}
    assert ax.get_title() == "Moons"


def test_few_labelled_rows_stand_out():
    X, truth = datasets.make_two_moons(n=50, random_state=0)
    few, many = (plot.scatter(X, np.where(np.arange(50) < n, truth, -1)) for n in (4, 40))
    grey, *labelled = few.collections
    for each in labelled:
        assert each.get_sizes()[0] > 6 * grey.get_sizes()[0]
        assert each.get_zorder() > grey.get_zorder()
        assert each.get_edgecolor()[0].tolist() == [0, 0, 0, 1]
        assert each.get_alpha() is None
    assert all(each.get_sizes()[0] == 12 for each in many.collections[1:])


def test_scatter_without_labels_is_grey():
    ax = plot.scatter(datasets.make_cross(n=10, random_state=0)[0])
    assert [c.get_label() for c in ax.collections] == ["unlabelled"]


def test_scatter_draws_where_it_is_told():
    ax = plot.scatter([[0, 1], [1, 0]], ["a", "b"])
    assert plot.scatter([[0, 1], [1, 0]], ["a", "b"], ax=ax) is ax
    assert len(ax.collections) == 4


@pytest.mark.parametrize("make", [pd.DataFrame, lambda data: pl.DataFrame(data)])
def test_columns_of_a_frame_name_the_axes_and_have_their_own_units(make):
    X = make({"length": [38.0, 45.0, 50.0], "mass": [3700.0, 3800.0, 5000.0]})
    ax = plot.scatter(X, ["a", None, "b"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "mass")
    assert ax.get_aspect() == "auto"
    np.testing.assert_array_equal(
        np.sort(np.vstack([c.get_offsets() for c in ax.collections]), axis=0), np.sort(X, axis=0)
    )


def test_a_date_is_a_date_on_the_axis():
    X = pd.DataFrame({"day": pd.date_range("2024-03-01", periods=40), "wait": np.arange(40.0)})
    ax = plot.scatter(X)
    ax.figure.canvas.draw()
    assert "Mar" in [text.get_text() for text in ax.get_xticklabels()]


@pytest.mark.parametrize(("height", "aspect"), [(1.0, 1.0), (2.5, 1.0), (3.5, "auto"), (0.3, "auto")])
def test_axes_of_an_array_have_the_same_units_if_both_columns_span_about_the_same(height, aspect):
    ax = plot.scatter([[0.0, 0.0], [1.0, height]])
    assert ax.get_aspect() == aspect
    assert ax.get_xlabel() == ""


def test_scatter_needs_two_columns():
    with pytest.raises(ValueError, match=r"two columns to be drawn in the plane, but its shape is \(3, 4\)"):
        plot.scatter(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"two columns to be drawn in the plane, but its shape is \(3, 1\)"):
        plot.scatter(pd.DataFrame({"length": [1.0, 2.0, 3.0]}))


def test_gallery_shows_every_generator():
    figure = plot.gallery(n=30)
    assert [ax.get_title() for ax in figure.axes] == list(TWO_DIMENSIONAL)
    makers = {name for name in datasets.__all__ if name.startswith("make_")}
    assert {make.__name__ for make in TWO_DIMENSIONAL.values()} == makers
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["class 0", "class 1", "class 2"]


def test_every_class_has_its_own_colour_and_marker():
    y = np.arange(11).repeat(2)
    ax = plot.scatter(np.random.RandomState(0).standard_normal((22, 2)), y)
    styles = {(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in ax.collections}
    assert len(styles) == 11


@pytest.mark.parametrize("y", [[0, 0], [-1, -1], [None, "a"]])
def test_scatter_needs_no_two_classes(y):
    ax = plot.scatter([[0, 1], [1, 0]], y)
    assert sum(len(c.get_offsets()) for c in ax.collections) == 2


def test_scatter_wants_a_label_per_row():
    with pytest.raises(ValueError, match=r"y must have one label per row of X, 2, but it has 3"):
        plot.scatter([[0, 1], [1, 0]], [0, 1, 1])


def test_pyplot_knows_the_figure_so_that_notebooks_show_it():
    ax = plot.scatter([[0, 1], [1, 0]], [0, 1])
    assert plt.gcf() is ax.figure
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]
