"""Places for the names of classes over a picture, where they cover neither each other nor numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mixkern.wording import shortened

WIDTHS = (760.0, 340.0)  # pixels of the picture on a laptop and on a phone
LETTER, LINE = 6.6, 20.0  # pixels of a name: width of a letter, height of a line
AROUND = 26.0  # pixels of a name beside its letters: the mark of the class and the border
NUMBER = 20.0  # pixels of the number of a component
LONGEST = 18  # letters
SHIFTS = (0.0, 1.0, -1.0, 2.0, -2.0)  # lines by which a name is moved up or down, to find room


@dataclass(frozen=True)
class PlacedName:
    """The name of a class over a picture.

    Attributes
    ----------
    code : int
        Position of the class, which gives its colour and shape.
    text : str
        Its name, cut where it is long.
    x, y : float
        Its centre, as shares of the width and height of the picture, from the left and the top.
    is_wide_only : bool
        Whether there is room for it on a laptop only.
    """

    code: int
    text: str
    x: float
    y: float
    is_wide_only: bool


@dataclass(frozen=True)
class _Area:
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float

    def covers(self, other: "_Area") -> bool:
        is_near = abs(self.x - other.x) < (self.width + other.width) / 2
        return is_near and abs(self.y - other.y) < (self.height + other.height) / 2


def placed_names(
    names: Mapping[int, str],
    places: Mapping[int, tuple[float, float]],
    taken: Iterable[tuple[float, float]] = (),
    *,
    ratio: float = 0.75,
) -> tuple[PlacedName, ...]:
    """Place names near where they belong; a name without room is left out.

    Parameters
    ----------
    names : dict of int and str
        Names of the classes by their positions, the most important first.
    places : dict of int and pair of float
        Where they belong, as shares of the width and height of the picture, from the left and the top.
    taken : iterable of pair of float
        Centres of numbers that are drawn in the picture.
    ratio : float, default=0.75
        Height of the picture in widths.

    Examples
    --------
    >>> found = placed_names({0: "low", 1: "high"}, {0: (0.3, 0.5), 1: (0.3, 0.5)})
    >>> [each.text for each in found], found[0].y < found[1].y
    (['low', 'high'], True)
    """
    numbers = list(taken)
    areas = {width: [_Area(x * width, y * width * ratio, NUMBER, NUMBER) for x, y in numbers] for width in WIDTHS}
    found = []
    for code, name in names.items():
        text = shortened(" ".join(name.split()), LONGEST)
        for shift in SHIFTS:
            x, y = places[code]
            own = {width: _area(text, x, y, shift, width, ratio) for width in WIDTHS}
            wide, narrow = (_is_free(own[width], areas[width], width, ratio) for width in WIDTHS)
            if wide:
                area = own[WIDTHS[0]]
                for width in WIDTHS[: 2 if narrow else 1]:
                    areas[width].append(own[width])
                found.append(PlacedName(code, text, area.x / WIDTHS[0], area.y / (WIDTHS[0] * ratio), not narrow))
                break
    return tuple(found)


def _area(text: str, x: float, y: float, shift: float, width: float, ratio: float) -> _Area:
    """Return the rectangle of a name, moved inside the picture; a shift is the same share of any picture."""
    wide = AROUND + LETTER * len(text)
    half = min(wide / 2, width / 2)
    shifted = y * width * ratio + shift * LINE * width / WIDTHS[0]
    return _Area(min(max(x * width, half), width - half), shifted, wide, LINE)


def _is_free(area: _Area, others: Iterable[_Area], width: float, ratio: float) -> bool:
    is_inside = LINE / 2 <= area.y <= width * ratio - LINE / 2
    return is_inside and not any(area.covers(other) for other in others)
