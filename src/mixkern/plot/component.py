"""Components of a mixture in the plane: where they are, and how they are drawn."""

from typing import Any

import numpy as np

from mixkern.density import Mixture
from mixkern.imports import optional
from mixkern.plot.style import GREY
from mixkern.typing import Floats

CENTRES = "centre, unit ellipse"


def around_centres(mixture: Mixture, column: int, reach: float, n_each: int = 21) -> Floats:  # (k, n_each)
    """Give coordinates around each centre, as far as so many deviations: a grid of them loses no tight component."""
    centres, deviations = mixture.means[:, column, None], np.sqrt(mixture.variances[:, column, None])
    return centres + deviations * np.linspace(-reach, reach, n_each)


def grey_components(mixture: Mixture, ax: Any) -> None:
    """Draw centres and unit ellipses so that they stay in the background, with a label for the legend."""
    for ellipse in ellipses(mixture, edgecolor=GREY, linewidth=1.5, zorder=1.5):
        ax.add_patch(ellipse)
    ax.scatter(*mixture.means.T, s=38, marker="+", color=GREY, linewidths=1.6, label=CENTRES, zorder=1.6)


def ellipses(mixture: Mixture, **look: Any) -> list[Any]:
    """Give an ellipse at Mahalanobis distance one around the centre of each component."""
    patches = optional("matplotlib.patches", purpose="mixkern.plot")
    sq_axes, directions = np.linalg.eigh(mixture.full_covariances)  # ascending
    widths, heights = 2 * np.sqrt(sq_axes[:, 1]), 2 * np.sqrt(sq_axes[:, 0])
    angles = np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))
    shapes = zip(mixture.means, widths, heights, angles, strict=True)
    return [patches.Ellipse(*shape, angle=angle, fill=False, **look) for *shape, angle in shapes]
