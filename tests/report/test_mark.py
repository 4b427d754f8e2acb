"""Classes look the same beside a picture as in it."""

from mixkern.plot.theme import DARK, LIGHT
from mixkern.report.mark import MARK_STYLE, OTHERS, colour, mark


def test_no_two_classes_look_alike():
    assert len({mark(i) for i in range(49)}) == 49
    assert mark(OTHERS) not in {mark(i) for i in range(49)}


def test_shape_and_colour_are_those_of_pictures():
    assert "<circle" in mark(0)
    assert "M1.5 1.5h9v9" in mark(2)
    assert colour(9) == colour(2) == "c2"
    for theme in (LIGHT, DARK):
        assert all(f"--c{i}: {each};" in MARK_STYLE for i, each in enumerate(theme.classes))
