"""What stands for a class on a page: the shape and colour that it has in pictures."""

from mixkern.plot.style import COLOURS
from mixkern.plot.theme import DARK, LIGHT, Theme

_SHAPES = {
    "o": '<circle cx="6" cy="6" r="5"/>',
    "^": '<path d="M6 1 11 11H1Z"/>',
    "s": '<path d="M1.5 1.5h9v9h-9Z"/>',
    "D": '<path d="M6 .5 11.5 6 6 11.5.5 6Z"/>',
    "v": '<path d="M1 1h10L6 11Z"/>',
    "P": '<path d="M4 1h4v3h3v4H8v3H4V8H1V4h3Z"/>',
    "X": '<path d="M3 .5 6 3.500 9 .5 11.500 3 8.500 6 11.500 9 9 11.500 6 8.500 3 11.500 .5 9 3.500 6 .5 3Z"/>',
}
OTHERS = -1  # of several classes together


def mark(look: int) -> str:
    """Draw the i-th class as a small sign beside its name; screen readers pass over it.

    >>> mark(0)
    '<svg class="mark c0" viewBox="0 0 12 12" aria-hidden="true"><circle cx="6" cy="6" r="5"/></svg>'
    """
    shape = "s" if look == OTHERS else LIGHT.look(look)["marker"]
    return f'<svg class="mark {colour(look)}" viewBox="0 0 12 12" aria-hidden="true">{_SHAPES[shape]}</svg>'


def colour(look: int) -> str:
    """Name the colour of the i-th class as the style sheet does.

    >>> colour(8), colour(OTHERS)
    ('c1', 'others')
    """
    return "others" if look == OTHERS else f"c{look % len(COLOURS)}"


def palette(theme: Theme) -> str:
    """Give the colours of classes as variables of a style sheet."""
    return " ".join(f"--c{i}: {colour};" for i, colour in enumerate(theme.classes))


MARK_STYLE = (
    f":root {{ {palette(LIGHT)} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {palette(DARK)} }} }}\n"
    ".mark { width: .7em; height: .7em; overflow: visible; stroke: var(--ink); stroke-width: .8; }\n"
    + "".join(f".c{i} {{ fill: var(--c{i}); background: var(--c{i}); }}\n" for i in range(len(COLOURS)))
    + ".others { fill: var(--muted); background: var(--muted); }\nsvg.mark { background: none; }\n"
)
