import re

import pytest

from mixkern.errors import OptionError
from mixkern.plot.panel import name_outer_axes, named, new_panels


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


def test_axes_are_shared():
    _, (first, second) = new_panels(2, shape=1.0)
    first.set_xlim(3, 4)
    assert second.get_xlim() == (3, 4)


@pytest.mark.parametrize(("given", "found"), [({}, "empty"), ([1, 2], "a list"), (None, "a NoneType")])
def test_what_has_no_names_is_refused(given, found):
    message = f"models must be a dict of names and models, but it is {found}. Pass {{'a': 1}}."
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        named(given, "models", "{'a': 1}")
