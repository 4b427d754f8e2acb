"""Pictures for light and for dark pages."""

from dataclasses import dataclass
from typing import Any

from mixkern.plot.style import COLOURS, look


@dataclass(frozen=True)
class Theme:
    """The colours of a picture.

    Attributes
    ----------
    ground, ink, muted, line : str
        What it is drawn on; texts and outlines; what stays behind; axes and grids.
    classes : tuple of str
        One colour after the other, in the order of :data:`mixkern.plot.style.COLOURS`.
    """

    ground: str
    ink: str
    muted: str
    line: str
    classes: tuple[str, ...]

    def look(self, i: int) -> dict[str, str]:
        """Give colour and marker of the i-th class; no pair comes twice among the first 49.

        >>> LIGHT.look(0), DARK.look(7)
        ({'color': '#0072B2', 'marker': 'o'}, {'color': '#4FA3E3', 'marker': '^'})
        """
        return look(i, self.classes)

    def clothe(self, ax: Any) -> None:
        """Give axes and their figure these colours; lines only where numbers are read."""
        ax.figure.set_facecolor(self.ground)
        ax.set_facecolor(self.ground)
        ax.tick_params(colors=self.muted, labelcolor=self.muted, labelsize="medium", length=3)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(self.line)
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_color(self.muted)


LIGHT = Theme("#ffffff", "#1b1b1b", "#5f6368", "#c9cdd2", COLOURS)
# The same hues, light enough for a dark ground.
DARK = Theme(
    "#16181b",
    "#f0f0f0",
    "#a3a9b0",
    "#4a5057",
    ("#4FA3E3", "#F2B33D", "#2FBF91", "#E29BC6", "#F17F42", "#9AD8F8", "#F5EC72"),
)
