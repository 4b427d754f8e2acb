"""Published accuracies against ours: a dot for each data set and kernel."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mixkern.plot.figure import check_names, name_outer_axes, new_figure, new_panels
from mixkern.plot.style import GREY, INK, marker_style
from mixkern.typing import Floats
from mixkern_study.protocol import StudyError
from mixkern_study.published import KERNELS

Pairs = Mapping[str, Sequence[tuple[str, float, float]]]  # of a kernel: data set, published percent, our percent

N_NAMED = 5  # data sets whose names are written
BELOW, ABOVE = 7.0, 2.0  # percentage points of room around the dots; below also for names
SIZE, PANEL = 4.6, 2.7  # inches: width of one picture, and of a panel among several
DOT, LINE = 4.0, 0.7  # points of print: half the side of squares around dots and points of lines
RADII = (7.0, 10.0, 14.0, 20.0, 27.0, 36.0, 46.0, 58.0, 72.0)  # points of print from a dot to its name, nearest first
ANGLES = np.deg2rad([0, 180, 90, 270, *range(15, 360, 15)])
OF_DOT, OF_NAME, OF_LINE = 8.0, 100.0, 1.0  # costs of touching a dot, a name, and a point of a line
OF_DISTANCE, OF_SIDE = 0.1, 4.0  # costs of each point of print of distance, and of the other side of the diagonal


def published_against_ours(pairs: Pairs, *, ax: Any = None) -> Any:
    """Draw our accuracies over the published ones, and name the five data sets furthest from the diagonal.

    Each of them is named once, at the kernel whose dot is the furthest from it.

    Parameters
    ----------
    pairs : mapping of str to sequence of (str, float, float)
        For each kernel the title of a data set, the published accuracy and ours, in percent.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The legend below it has the mean absolute difference of each kernel, in percentage points.

    Examples
    --------
    >>> from mixkern_study import plot
    >>> pairs = {"rwm": [("Iris", 94.7, 95.3), ("Glass", 52.3, 49.1)], "rbf": [("Iris", 90.0, 91.3)]}
    >>> ax = plot.published_against_ours(pairs)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['RWM 1.9', 'RBF 1.3']
    """
    limits = _limits([pairs])
    if ax is None:
        ax = new_figure((SIZE, SIZE + 0.6)).subplots()
    _dots(ax, pairs, limits)
    _legend(ax, 4, below=0.13)
    _names(ax, pairs)
    return ax


def published_panels(panels: Mapping[str, Pairs]) -> Any:
    """Draw several comparisons side by side, in the same units.

    Parameters
    ----------
    panels : mapping of str to pairs
        Title of each panel, such as the name of a reading, and its pairs as in :func:`published_against_ours`.

    Returns
    -------
    matplotlib.figure.Figure
        One panel for each, at most four in a line.

    Examples
    --------
    >>> from mixkern_study import plot
    >>> ours = {"rwm": [("Iris", 94.7, 95.3), ("Glass", 52.3, 49.1)]}
    >>> figure = plot.published_panels({"one reading": ours, "another": {"rwm": [("Iris", 94.7, 93.3)]}})
    >>> [panel.get_title() for panel in figure.axes]
    ['one reading', 'another']
    """
    check_names(panels, "panels", '{"expected error": pairs, "ceiling": other_pairs}')
    limits = _limits(list(panels.values()))
    figure, axes = new_panels(len(panels), 1.0, PANEL)
    for (title, pairs), ax in zip(panels.items(), axes, strict=True):
        _dots(ax, pairs, limits)
        _legend(ax, 2, below=0.18)
        ax.set_title(title)
    name_outer_axes(axes)
    for (_, pairs), ax in zip(panels.items(), axes, strict=True):
        _names(ax, pairs)
    return figure


# ---------------------------------------------------------------- parts of a panel


def _limits(panels: Sequence[Pairs]) -> tuple[float, float]:
    """Return the lowest and the highest percent to show, of both axes."""
    for pairs in panels:
        check_names(pairs, "pairs", '{"rwm": [("Iris", 94.7, 95.3)]}')
    values = [value for pairs in panels for dots in pairs.values() for _, *both in dots for value in both]
    if not values:
        raise StudyError("There is no accuracy to compare with a published one.")
    if not np.isfinite(values).all():
        raise StudyError("Accuracies must be finite numbers in percent, but there is NaN or infinity among them.")
    return min(values) - BELOW, max(values) + ABOVE


def _dots(ax: Any, pairs: Pairs, limits: tuple[float, float]) -> None:
    """Draw the diagonal, and the dots of every kernel."""
    ax.plot(limits, limits, color=GREY, lw=1, zorder=1)
    for kernel, dots in pairs.items():
        if dots:
            _, published, ours = zip(*dots, strict=True)
            apart = np.abs(np.subtract(ours, published)).mean()
            look = {"ls": "none", "ms": 5.5, "mec": "white", "mew": 0.5, **_style(kernel, list(pairs))}
            ax.plot(published, ours, label=f"{kernel.upper()} {apart:.1f}", **look)
    ax.set(xlim=limits, ylim=limits, aspect="equal", xlabel="published accuracy in %", ylabel="ours in %")
    ticks = np.arange(np.ceil(limits[0] / 10), np.floor(limits[1] / 10) + 1) * 10
    if len(ticks) > 1:
        step = 2 if len(ticks) > 5 else 1
        ax.set(xticks=ticks[::-step], yticks=ticks[::-step])
    ax.spines[["top", "right"]].set_visible(False)


def _style(kernel: str, kernels: Sequence[str]) -> dict[str, Any]:
    """Return colour and marker of a kernel: the same ones in every picture for the paper's kernels."""
    others = [each for each in kernels if each not in KERNELS]
    place = KERNELS.index(kernel) if kernel in KERNELS else len(KERNELS) + others.index(kernel)
    return marker_style(place)


def _legend(ax: Any, n_columns: int, below: float) -> None:
    """Write the mean absolute difference of each kernel below the axes, ``below`` in heights of the axes."""
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        ncols=n_columns,
        title="mean absolute difference",
        frameon=False,
        columnspacing=1.2,
        handletextpad=0.2,
        fontsize="small",
        title_fontsize="small",
    )


# ---------------------------------------------------------------- names of dots


def _names(ax: Any, pairs: Pairs) -> None:
    """Write the data sets of the dots furthest from the diagonal, each beside its dot and clear of everything else."""
    dots = [dot for each in pairs.values() for dot in each]
    ax.figure.draw_without_rendering()  # so that the axes have their final size
    point = ax.figure.dpi / 72  # pixels
    centres = ax.transData.transform([[x, y] for _, x, y in dots])
    low, high = ax.get_xlim()
    diagonal = ax.transData.transform(np.linspace([low, low], [high, high], 200))
    costs_of_dots = np.full(len(dots), OF_DOT)
    costs_of_dots[_furthest(dots)] = OF_NAME  # no name may cover a dot that is named itself
    taken = np.vstack([_boxes(centres, DOT * point, costs_of_dots), _boxes(diagonal, LINE * point, OF_LINE)])
    frame = ax.get_window_extent().extents
    for i in _furthest(dots):
        name, x, y = dots[i]
        size = _size(ax, name)
        others = np.delete(taken, i, axis=0)
        costs = [
            (cost + _cost(centres[i], place, size, others, frame), n, place)
            for n, (cost, place) in enumerate(_places(centres[i], size, point, side=np.sign(y - x)))
        ]
        *_, place = min(costs)
        line = _boxes(_line(centres[i], place, size), LINE * point, OF_LINE)
        taken = np.vstack([taken, _boxes(place[None], size / 2 + 1, OF_NAME), line])
        _write(ax, name, (x, y), (place - centres[i]) / point)


def _furthest(dots: Sequence[tuple[str, float, float]]) -> list[int]:
    """Return the dots furthest from the diagonal, one of each data set."""
    found: dict[str, int] = {}
    for i in sorted(range(len(dots)), key=lambda i: -abs(dots[i][2] - dots[i][1])):
        found.setdefault(dots[i][0], i)
    return list(found.values())[:N_NAMED]


def _boxes(centres: Floats, half: Any, cost: Any) -> Floats:  # (n, 5)
    """Return left, bottom, right and top of boxes in pixels, and what it costs to touch them."""
    return np.column_stack([centres - half, centres + half, np.broadcast_to(cost, len(centres))])


def _size(ax: Any, name: str) -> Floats:
    """Return width and height of a name, in pixels."""
    text = ax.text(0, 0, name, fontsize="small")
    size: Floats = text.get_window_extent().size
    text.remove()
    return size


def _write(ax: Any, name: str, dot: tuple[float, float], offset: Floats) -> None:
    """Write a name so many points of print from its dot, and join both."""
    ax.annotate(
        name,
        dot,
        offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize="small",
        color=INK,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.7, "shrinkA": 0, "shrinkB": 2.5},
    )


def _places(centre: Floats, size: Floats, point: float, side: float) -> Iterator[tuple[float, Floats]]:
    """Yield centres of a name around its dot, with the costs of distance and of leaving its side of the diagonal."""
    for radius in RADII:
        for angle in ANGLES:
            direction = np.array([np.cos(angle), np.sin(angle)])
            is_other_side = side * (direction[1] - direction[0]) < -0.5
            place = centre + direction * (radius * point + size / 2 * np.abs(direction))
            yield OF_DISTANCE * radius + OF_SIDE * is_other_side, place


def _line(centre: Floats, place: Floats, size: Floats) -> Floats:
    """Return points of the line from a dot to the edge of its name."""
    points = np.linspace(centre, place, 50)
    return points[(np.abs(points - place) > size / 2).any(axis=1)]


def _cost(centre: Floats, place: Floats, size: Floats, taken: Floats, frame: Floats) -> float:
    """Return what a text and its line would touch; leaving the frame costs more than anything."""
    is_outside = bool((place - size / 2 < frame[:2]).any() or (place + size / 2 > frame[2:]).any())
    line = _line(centre, place, size)
    lows, highs = np.vstack([place - size / 2, line]), np.vstack([place + size / 2, line])
    touches = np.all((taken[:, None, :2] < highs) & (taken[:, None, 2:4] > lows), axis=2)
    return float(taken[np.any(touches, axis=1)][:, 4].sum()) + is_outside * 1e6
