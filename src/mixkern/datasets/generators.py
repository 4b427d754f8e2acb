"""Generators of artificial two-dimensional data sets.

Every generator takes the number of rows ``n``, the ``noise`` (standard deviation of Gaussian noise added to both
coordinates) and a ``random_state``, and returns ``(X, y)`` as NumPy arrays in shuffled order. Class sizes are exact,
not random: the shares of the classes, to within one row. Random numbers come from ``RandomState``, so that a seed
gives the same rows with every NumPy version.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixkern.sampling import check_random_state
from mixkern.typing import Floats, Ints, RandomState
from mixkern.validation import NOT_NEGATIVE, at_least

Sampler = Callable[[int, RandomState], Floats]  # number of rows n, random numbers -> rows (n, 2)


def make_two_moons(n: int = 800, *, noise: float = 0.11, random_state: Any = None) -> tuple[Floats, Ints]:
    """Two interleaved half ellipses, as in Melacci's LapSVM package: class 0 is the upper moon.

    >>> X, y = make_two_moons(n=6, random_state=0)
    >>> X.shape, y.tolist().count(0)
    ((6, 2), 3)
    """
    upper = _arc(centre=(0.0, 0.0), radii=(1.10, 0.95))
    lower = _arc(centre=(1.13, 0.43), radii=(-1.10, -0.92))
    return _draw([upper, lower], [1, 1], n, noise, random_state)


def make_clouds(n: int = 5000, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Clouds of the ELENA project: three Gaussians of class 0 around and inside one wide Gaussian of class 1.

    The error of the Bayes rule is 9.65 %.
    """
    narrow = 0.2**2
    class_0 = _mixture(
        weights=[0.25, 0.25, 0.5],
        means=[(0, 0), (0, 2), (2, 1)],
        covariances=[_diagonal(narrow, narrow), _diagonal(narrow, narrow), _diagonal(narrow, 1.0)],
    )
    class_1 = _mixture([1.0], [(0, 0)], [np.eye(2)])
    return _draw([class_0, class_1], [1, 1], n, noise, random_state)


def make_concentric(n: int = 2500, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Concentric of the ELENA project: a disc (class 0) in a ring (class 1).

    Both are evenly filled and do not overlap. Of 2500 rows, 921 lie in the disc, as in the published set.
    """
    return _draw([_ring(0.0, 0.3), _ring(0.3, 0.5)], [921, 1579], n, noise, random_state)


def make_ripley(n: int = 1250, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Ripley's mixture: two classes, each of two round Gaussians of variance 0.03."""
    spread = [0.03 * np.eye(2)] * 2
    class_0 = _mixture([0.5, 0.5], [(-0.7, 0.3), (0.3, 0.3)], spread)
    class_1 = _mixture([0.5, 0.5], [(-0.3, 0.7), (0.4, 0.7)], spread)
    return _draw([class_0, class_1], [1, 1], n, noise, random_state)


def make_two_rings(n: int = 800, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Two Gaussians of the paper's introduction: a narrow one (class 0) at the centre of a wide one (class 1).

    Variances are 0.07 and 1.93 in every direction, so the best decision boundary is a circle.
    """
    narrow = _mixture([1.0], [(0, 0)], [0.07 * np.eye(2)])
    wide = _mixture([1.0], [(0, 0)], [1.93 * np.eye(2)])
    return _draw([narrow, wide], [1, 1], n, noise, random_state)


def make_cross(n: int = 800, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Two long Gaussians, one per class, that cross at right angles.

    The paper shows this set but does not give its parameters; these give a set of the same shape.
    """
    along, across = (
        _mixture([1.0], [(0, 0)], [_tilted(1.0, 0.15, 45)]),
        _mixture([1.0], [(0, 0)], [_tilted(1.0, 0.15, -45)]),
    )
    return _draw([along, across], [1, 1], n, noise, random_state)


def make_three_moons(n: int = 900, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Three interleaved moons, one per class, each a chain of seven round Gaussians.

    The paper shows this set but does not give its parameters; these give a set of the same shape.
    """
    first = _chain(centre=(0.0, 0.0), radii=(1.0, 1.0))
    second = _chain(centre=(1.25, 0.4), radii=(-1.0, -1.0))
    third = _chain(centre=(2.5, 0.0), radii=(1.0, 1.0))
    return _draw([first, second, third], [1, 1, 1], n, noise, random_state)


def make_adidas(n: int = 900, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Three slanted stripes of growing length, one per class, close enough to touch.

    The paper shows this set but does not give its parameters; these give a set of the same shape.
    """
    stripes = [
        _mixture([1.0], [(0.6 * i, 0.2 * i)], [_tilted(length, 0.12, 115)])
        for i, length in enumerate((0.35, 0.6, 0.85))
    ]
    return _draw(stripes, [1, 1, 1], n, noise, random_state)


def make_five_processes(n: int = 1000, *, noise: float = 0.0, random_state: Any = None) -> tuple[Floats, Ints]:
    """Five Gaussian processes in three classes: two processes each for classes 0 and 1, one for class 2.

    The paper shows this set but does not give its parameters; these give a set of the same shape.
    """
    class_0 = _mixture([0.5, 0.5], [(-2.2, 1.6), (1.9, -1.6)], [_tilted(0.9, 0.3, 40), _tilted(0.9, 0.3, 40)])
    class_1 = _mixture([0.5, 0.5], [(-1.8, -1.5), (2.2, 1.5)], [_tilted(0.8, 0.35, -35), _tilted(0.8, 0.35, -35)])
    class_2 = _mixture([1.0], [(0, 0)], [_tilted(0.6, 0.4, 90)])
    return _draw([class_0, class_1, class_2], [2, 2, 1], n, noise, random_state)


def _draw(
    classes: Sequence[Sampler], shares: Sequence[float], n: int, noise: float, random_state: Any
) -> tuple[Floats, Ints]:
    """Draw the rows of each class, add noise and shuffle."""
    at_least(len(classes)).check(n, "n")  # one row of each class
    NOT_NEGATIVE.check(noise, "noise")
    random = check_random_state(random_state)
    sizes = _class_sizes(shares, n)
    X = np.concatenate([sample(size, random) for sample, size in zip(classes, sizes, strict=True)])
    y = np.repeat(np.arange(len(classes)), sizes)
    if noise:
        X += noise * random.standard_normal(X.shape)
    order = random.permutation(n)
    return X[order], y[order]


def _class_sizes(shares: Sequence[float], n: int) -> Ints:
    """Return the class sizes: cumulative shares are rounded, so that the sizes add up to n."""
    edges = np.rint(n * np.cumsum(shares) / np.sum(shares)).astype(np.intp)
    sizes: Ints = np.diff(edges, prepend=0)
    return sizes


def _mixture(weights: Sequence[float], means: ArrayLike, covariances: Sequence[Floats]) -> Sampler:
    centres = np.asarray(means, dtype=float)
    factors = np.linalg.cholesky(np.asarray(covariances))  # (k, 2, 2)

    def sample(n: int, random: RandomState) -> Floats:
        k = random.choice(len(weights), size=n, p=weights)
        points: Floats = centres[k] + np.einsum("nij,nj->ni", factors[k], random.standard_normal((n, 2)))
        return points

    return sample


def _arc(centre: tuple[float, float], radii: tuple[float, float]) -> Sampler:
    """Return a sampler of half an ellipse, uniform in the angle."""

    def sample(n: int, random: RandomState) -> Floats:
        return _on_arc(centre, radii, np.pi * random.uniform(size=n))

    return sample


def _ring(inner: float, outer: float) -> Sampler:
    """Return a sampler of a ring around (0.5, 0.5), uniform in the area."""

    def sample(n: int, random: RandomState) -> Floats:
        radius = np.sqrt(random.uniform(inner**2, outer**2, size=n))
        angle = 2 * np.pi * random.uniform(size=n)
        return 0.5 + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

    return sample


def _chain(centre: tuple[float, float], radii: tuple[float, float], k: int = 7, deviation: float = 0.12) -> Sampler:
    """Return a sampler of round Gaussians along half an ellipse."""
    means = _on_arc(centre, radii, np.pi * (np.arange(k) + 0.5) / k)
    return _mixture([1 / k] * k, means, [deviation**2 * np.eye(2)] * k)


def _on_arc(centre: tuple[float, float], radii: tuple[float, float], angle: Floats) -> Floats:
    return np.column_stack([centre[0] + radii[0] * np.cos(angle), centre[1] + radii[1] * np.sin(angle)])


def _diagonal(first: float, second: float) -> Floats:
    return np.diag([first, second]).astype(float)


def _tilted(length: float, width: float, degrees: float) -> Floats:
    """Return the covariance with these standard deviations along and across an axis."""
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    covariance: Floats = turn @ _diagonal(length**2, width**2) @ turn.T
    return covariance
