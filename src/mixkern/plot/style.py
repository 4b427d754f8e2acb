"""What all pictures have in common: colours, shapes, figures."""

from typing import Any

from mixkern.optional import optional

# Okabe and Ito's colours, told apart by colour-blind readers too; markers differ as well, for print in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
UNLABELLED = "#B0B0B0"


def look(i: int) -> dict[str, str]:
    """Give the colour and the marker of the i-th thing in a picture; no pair comes twice among the first 49.

    >>> look(0), look(7)
    ({'color': '#0072B2', 'marker': 'o'}, {'color': '#0072B2', 'marker': '^'})
    """
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]}


def new_figure(figsize: tuple[float, float]) -> Any:
    """Make a figure that pyplot knows of, so that notebooks and ``pyplot.show()`` show it."""
    return optional("matplotlib.pyplot", purpose="mixkern.plot").figure(figsize=figsize, layout="constrained")
