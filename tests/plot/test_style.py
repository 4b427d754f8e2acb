import pytest

from mixkern.plot.style import LARGE, MEDIUM, extent, look, new_figure, outlined, units


def test_no_look_comes_twice_among_49():
    assert len({tuple(look(i).values()) for i in range(49)}) == 49


def test_large_points_have_the_thicker_outline():
    large, medium = outlined(LARGE), outlined(MEDIUM)
    assert (large["s"], medium["s"]) == (LARGE, MEDIUM)
    assert large["linewidths"] > medium["linewidths"]


@pytest.mark.parametrize(
    ("high", "expected"), [(1.0, "equal"), (4.0, "equal"), (0.25, "equal"), (5, "auto"), (0.1, "auto")]
)
def test_units_are_equal_unless_nothing_could_be_seen(high, expected):
    ax = new_figure().subplots()
    ax.set(xlim=(2, 3), ylim=(0, high))
    assert extent(ax) == (1, high)
    assert units(ax) == expected
