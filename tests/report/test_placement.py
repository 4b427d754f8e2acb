"""Names of classes over a picture."""

import itertools

import numpy as np
import pytest

from mixkern.report.placement import AROUND, LETTER, LINE, LONGEST, WIDTHS, placed_names

RATIO = 0.75


def overlaps(first, second, width):
    """Return whether two names cover each other in a picture of some width."""
    sizes = [AROUND + LETTER * len(each.text) for each in (first, second)]
    near = abs(first.x - second.x) * width < sum(sizes) / 2 - 1e-6
    return near and abs(first.y - second.y) * width * RATIO < LINE - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_names_do_not_cover_each_other(seed):
    random = np.random.RandomState(seed)
    names = {code: "x" * random.randint(1, 30) for code in range(20)}
    places = {code: tuple(random.uniform(size=2)) for code in names}
    found = placed_names(names, places, ratio=RATIO)
    assert len(found) > 5
    for first, second in itertools.combinations(found, 2):
        assert not overlaps(first, second, WIDTHS[0])
        if not first.is_wide_only and not second.is_wide_only:
            assert not overlaps(first, second, WIDTHS[1])
    for each in found:
        assert len(each.text) <= LONGEST
        assert abs(each.y - places[each.code][1]) * WIDTHS[0] * RATIO <= 2 * LINE + 1e-6


def test_the_most_important_names_come_first_and_others_may_have_no_room():
    found = placed_names(dict.fromkeys(range(9), "name"), dict.fromkeys(range(9), (0.5, 0.5)))
    assert [each.code for each in found] == [0, 1, 2, 3, 4]
    assert (found[0].x, found[0].y) == pytest.approx((0.5, 0.5))
    assert not found[0].is_wide_only
    assert found[1].is_wide_only


def test_names_give_way_to_numbers_and_stay_inside():
    (found,) = placed_names({3: "name"}, {3: (0.999, 0.5)}, taken=[(0.95, 0.5)])
    assert found.y != pytest.approx(0.5)
    assert found.x * WIDTHS[0] + (AROUND + 4 * LETTER) / 2 <= WIDTHS[0] + 1e-6
