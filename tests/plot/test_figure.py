"""Figures, panels and legends."""

import re

import pytest

from mixkern.errors import OptionError
from mixkern.plot.figure import (
    WIDTH,
    check_names,
    draw_legend,
    extent,
    fit_figure,
    legend_columns,
    name_outer_axes,
    new_figure,
    new_panels,
    units,
)


@pytest.mark.parametrize(
    ("high", "expected"), [(1.0, "equal"), (3.0, "equal"), (0.375, "equal"), (4, "auto"), (0.1, "auto")]
)
def test_units_are_equal_unless_nothing_could_be_seen(high, expected):
    ax = new_figure().subplots()
    ax.set(xlim=(2, 3), ylim=(0, high))
    assert extent(ax) == (1, high)
    assert units(ax) == expected


# ---------------------------------------------------------------- panels


@pytest.mark.parametrize(("n", "n_columns", "n_places"), [(1, 1, 1), (3, 3, 3), (4, 4, 4), (6, 4, 8)])
def test_at_most_four_panels_stand_in_a_line(n, n_columns, n_places):
    figure, panels = new_panels(n, shape=1.0)
    assert len(panels) == n
    assert len(figure.axes) == n_places
    assert panels[0].get_gridspec().ncols == n_columns
    assert [ax.axison for ax in figure.axes] == [True] * n + [False] * (n_places - n)


def test_a_flat_and_a_tall_picture_have_other_figures_within_limits():
    heights = [new_panels(3, shape)[0].get_figheight() for shape in (0.001, 0.5, 1.0, 2.0, 1000.0)]
    assert heights == sorted(heights)
    assert heights[-2:] == [heights[-1]] * 2


def test_axes_are_named_at_the_left_and_below():
    _, panels = new_panels(6, shape=1.0)
    for panel in panels:
        panel.set(xlabel="x0", ylabel="x1")
    name_outer_axes(panels)
    assert [panel.get_ylabel() for panel in panels] == ["x1", "", "", "", "x1", ""]
    assert [panel.get_xlabel() for panel in panels] == ["", "", "x0", "x0", "x0", "x0"]


@pytest.mark.slow
def test_axes_are_shared():
    _, (first, second) = new_panels(2, shape=1.0)
    first.set_xlim(3, 4)
    assert second.get_xlim() == (3, 4)


@pytest.mark.parametrize(("given", "found"), [({}, "empty"), ([1, 2], "a list"), (None, "a NoneType")])
def test_what_has_no_names_is_refused(given, found):
    message = f"models must be a dict of names and models, but it is {found}. Pass {{'a': 1}}."
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        check_names(given, "models", "{'a': 1}")


# ---------------------------------------------------------------- legend


def panel(*labels, high=1.0, equal=True):
    ax = new_figure().subplots()
    for label in labels:
        ax.scatter([0], [0], s=200, label=label)
    ax.set(xlim=(0, 1), ylim=(0, high))
    ax.set_aspect("equal" if equal else "auto")
    return ax


def texts(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize(("length", "count", "columns"), [(7, 3, 3), (20, 4, 2), (7, 12, 4), (90, 3, 1)])
def test_a_legend_stays_within_the_figure(length, count, columns):
    assert legend_columns(["x" * length] * count) == columns


def test_a_wide_figure_has_a_wide_legend():
    assert legend_columns(["x" * 20] * 4, width=10) == 4


@pytest.mark.parametrize("entries", [["class 0", "class 1", "boundary"], ["W" * 30, "class 1"], ["unlabelled"] * 12])
def test_a_drawn_legend_is_no_wider_than_its_figure(entries):
    ax = panel(*(f"{text}{i}" for i, text in enumerate(entries)))
    n_lines = draw_legend(ax.figure, ax)
    ax.figure.draw_without_rendering()
    (legend,) = ax.figure.legends
    assert legend.get_window_extent().width < ax.figure.bbox.width
    assert len(entries) <= n_lines * legend_columns(texts(ax.figure))


def test_each_label_is_explained_once_whichever_panel_it_is_in():
    figure = new_figure()
    left, right = figure.subplots(1, 2)
    left.scatter([0], [0], label="a")
    for label in ("a", "b"):
        right.scatter([0], [0], label=label)
    draw_legend(figure, left, right, text=str.upper)
    assert texts(figure) == ["A", "B"]


@pytest.mark.parametrize(("areas", "expected"), [((0, 60), 60), ((15, 300), 200), ((400, 400), 400)])
def test_points_have_sizes_between_limits(areas, expected):
    ax = panel("a")
    draw_legend(ax.figure, ax, areas=areas)
    assert ax.figure.legends[0].legend_handles[0].get_sizes() == [expected]


def test_where_nothing_has_a_name_there_is_no_legend():
    ax = panel()
    assert draw_legend(ax.figure, ax) == 0
    assert not ax.figure.legends


def test_a_figure_has_the_shape_of_what_is_in_it_within_limits():
    heights = [0.01, 0.5, 1.0, 50.0]
    figures = [panel("a", high=high).figure for high in heights]
    for figure in figures:
        fit_figure(figure.axes[0])
    found = [figure.get_figheight() for figure in figures]
    assert found == sorted(found)
    assert found[0] > 0.4 * WIDTH
    assert found[-1] < 2 * WIDTH
    assert {figure.get_figwidth() for figure in figures} == {WIDTH}


def test_where_units_differ_a_picture_is_a_square_whatever_its_limits():
    one, other = panel("a", high=1000.0, equal=False), panel("a")
    for ax in (one, other):
        fit_figure(ax)
    assert one.figure.get_figheight() == other.figure.get_figheight()


def test_each_line_of_a_legend_has_room():
    few, many = panel("a"), panel(*(f"a class with a long name, {i}" for i in range(8)))
    for ax in (few, many):
        fit_figure(ax)
    assert many.figure.get_figheight() - few.figure.get_figheight() == pytest.approx(0.2 * 3)
