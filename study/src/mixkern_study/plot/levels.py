"""The paper's figures of level curves, with the paper's parameters."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mixkern.density import Mixture
from mixkern.errors import OptionError
from mixkern.kernels import GMMKernel, RBFKernel, RWMKernel
from mixkern.plot.level import Scene, draw_scenes
from mixkern.typing import Floats
from mixkern.wording import nearest

_EYE = ((1.0, 0.0), (0.0, 1.0))


def _scaled(*factors: float) -> Floats:
    return np.multiply.outer(factors, _EYE)


_THIRDS = (1 / 3, 1 / 3, 1 / 3)
_THREE_MEANS = ((1.0, 5.0), (5.0, 3.0), (1.0, 1.0))
_THREE_SHAPES = (((8.13, 7.88), (7.88, 8.13)), ((7.00, -3.46), (-3.46, 3.00)), ((2.25, 0.0), (0.0, 4.0)))
_TWO = {
    "weights": (0.5, 0.5),
    "means": ((-0.78, -0.76), (-0.76, 0.75)),
    # The paper prints -0.34 for the first variance of the second component, a misprint.
    "covariances": (((0.46, 0.04), (0.04, 0.54)), ((0.34, -0.24), (-0.24, 0.33))),
}

# Point, and for each panel its title, its kernel and the parameters of its mixture.
PAPER_LEVELS: Mapping[str, tuple[tuple[float, float], Sequence[tuple[str, Callable[[Mixture], Any], Any]]]] = {
    "distances": (
        (-1.0, -0.5),
        [("Euclidean", lambda _: RBFKernel(), _TWO), ("GMM", GMMKernel, _TWO), ("RWM", RWMKernel, _TWO)],
    ),
    "scale": (
        (2.0, 4.0),
        [
            (title, RWMKernel, {"weights": _THIRDS, "means": _THREE_MEANS, "covariances": _scaled(*factors)})
            for title, factors in [
                ("Covariances I, I, I", (1.0, 1.0, 1.0)),
                ("Covariances I, 0.25 I, 0.25 I", (1.0, 0.25, 0.25)),
                ("Covariances I, 0.5 I, 2.5 I", (1.0, 0.5, 2.5)),
            ]
        ],
    ),
    "weights": (
        (2.0, 4.0),
        [
            (title, RWMKernel, {"weights": weights, "means": _THREE_MEANS, "covariances": _THREE_SHAPES})
            for title, weights in [
                ("Weights 1/3, 1/3, 1/3", _THIRDS),
                ("Weights 0.9, 0.05, 0.05", (0.9, 0.05, 0.05)),
                ("Weights 0.05, 0.475, 0.475", (0.05, 0.475, 0.475)),
            ]
        ],
    ),
}


def paper_levels(which: str) -> Any:
    """Draw one of the paper's three figures of level curves, with the paper's parameters.

    Parameters
    ----------
    which : {"distances", "scale", "weights"}
        ``"distances"``: Euclidean, GMM and RWM around one point. ``"scale"``: RWM where components are equally or
        differently large. ``"weights"``: RWM where components have equal or different weights.

    Returns
    -------
    matplotlib.figure.Figure
        Three panels in the same units.

    Notes
    -----
    In ``"distances"`` the first variance of the second component is 0.34. The paper prints -0.34, which is no variance.

    Examples
    --------
    >>> figure = paper_levels("distances")
    >>> [panel.get_title() for panel in figure.axes]
    ['Euclidean', 'GMM', 'RWM']
    """
    if which not in PAPER_LEVELS:
        names = ", ".join(map(repr, PAPER_LEVELS))
        raise OptionError(f"which must be one of {names}, but it is {which!r}.{nearest(which, PAPER_LEVELS)}")
    point, contents = PAPER_LEVELS[which]
    mixtures = [Mixture(**parameters) for _, _, parameters in contents]
    return draw_scenes(
        {
            title: Scene.of(make(mixture), point, mixture=mixture)
            for mixture, (title, make, _) in zip(mixtures, contents, strict=True)
        }
    )
