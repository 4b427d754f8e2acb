"""The paper's two schematic figures: Keerthi and Lin's search line, and the nested cross-validation."""

from typing import Any

import numpy as np

from mixkern.plot.figure import new_figure
from mixkern.plot.style import BEST, COLOURS, GREY, INK, UNLABELLED, halo

LOW, HIGH = -3.0, 2.0  # decades of gamma and C
LINEAR = 0.7  # decades: the best C of a linear SVM
GOOD, BAD = "#b7e0cf", "#ececec"
N_FOLDS, N_INNER = 5, 4
# Title of each experiment, and the width of its labelled part in the drawing, not to scale.
EXPERIMENTS = (
    ("Experiment 1: 4 x number of classes", 0.07),
    ("Experiment 2: 10 % of L", 0.16),
    ("Experiment 3: 100 % of L", 1.0),
)


def search_line() -> Any:
    """Draw where good settings of C and gamma lie, and the line that is searched.

    Returns
    -------
    matplotlib.figure.Figure
        The line is ``log gamma = log C_linear - log C - log 2``, of slope minus one.
    """
    figure = new_figure((5.2, 4.6))
    ax = figure.subplots()
    x, y = np.meshgrid(np.linspace(LOW, HIGH, 300), np.linspace(LOW, HIGH, 300))
    # A smooth minimum of three bounds: C gamma not too small, C not too small, gamma not too large.
    bounds = np.array([x + y + 1.3, y + 1.5, 0.8 - x])
    good = -np.log(np.exp(-4 * bounds).sum(axis=0)) / 4
    ax.contourf(x, y, good, levels=[-99, 0, 99], colors=[BAD, GOOD])
    ax.contour(x, y, good, levels=[0], colors=[GREY], linewidths=1)
    gamma = np.array([LOW, LINEAR - np.log10(2) - LOW])
    ax.plot(gamma, log_penalty(gamma), color=INK, lw=1.3)
    tried = np.arange(-1.2, 2.0, 0.5)  # decades of C
    tried_gamma = LINEAR - np.log10(2) - tried
    ax.plot(tried_gamma, tried, "o", ms=6, color=GREY, mec="white", label="tried on the line")
    ax.plot(tried_gamma[3], tried[3], "o", ms=9, color=BEST, mec="white", label="best on the line")
    _name_regions(ax)
    ax.set(xlim=(LOW, HIGH), ylim=(LOW, HIGH), aspect="equal", xlabel=r"$\log\,\gamma$", ylabel=r"$\log\,C$")
    ax.set(xticks=[-np.log10(2)], xticklabels=[r"$\log\,\frac{1}{2}$"])
    ax.set(yticks=[LINEAR], yticklabels=[r"$\log\,C_{linear}$"])
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    return figure


def log_penalty(log_gamma: Any) -> Any:
    """Return log C on the line, for log gamma, both to base ten: C = C_linear / (2 gamma).

    >>> bool(np.isclose(log_penalty(-np.log10(2)), LINEAR))
    True
    """
    return LINEAR - np.log10(2) - log_gamma


def _name_regions(ax: Any) -> None:
    """Write what the regions are, and mark where C is that of the linear SVM."""
    half = -np.log10(2)
    for ends in (([LOW, half], [LINEAR, LINEAR]), ([half, half], [LOW, LINEAR])):
        ax.plot(*ends, color=GREY, lw=0.9, ls="--")
    for place, text in (((-1.9, -2.2), "underfitting"), ((1.4, 1.2), "overfitting"), ((-1.75, 1.25), "good settings")):
        ax.text(*place, text, ha="center", va="center", color=INK, path_effects=halo(2))
    ax.text(1.2, -0.7, "slope $-1$", ha="left", va="bottom", color=INK, fontsize="small")


# ---------------------------------------------------------------- the protocol


def protocol() -> Any:
    """Draw the outer and the inner cross-validation, with the labelled rows of each experiment.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure((7.0, 5.2))
    ax = figure.subplots()
    ax.set(xlim=(-0.01, 1.01), ylim=(0.0, 1.0))
    ax.set_axis_off()
    _heading(ax, 0.965, "Outer cross-validation: five folds, each of them the test set T once")
    for i in range(N_FOLDS):
        is_test = i == N_FOLDS - 1
        name, colour = ("T", COLOURS[4]) if is_test else ("L", COLOURS[5])
        _box(ax, i / N_FOLDS, 0.84, 1 / N_FOLDS, name, colour)
    _zoom(ax, (0.0, 0.8), (0.0, 1.0), 0.84, 0.73)
    for i, (title, share) in enumerate(EXPERIMENTS):  # bars of the training set
        bottom = 0.62 - 0.145 * i
        _heading(ax, bottom + 0.09, title, size="small")
        _box(ax, 0.0, bottom, share, "labelled rows" if share == 1 else "", COLOURS[0], dashed=True)
        if share < 1:
            _box(ax, share, bottom, 1 - share, "U: rows without a label", UNLABELLED)
    _zoom(ax, (0.0, 1.0), (0.0, 1.0), 0.33, 0.24)
    _heading(ax, 0.185, "Inner cross-validation: four folds of the labelled rows, each of them $L_{val}$ once")
    for i in range(N_INNER):
        is_tested = i == N_INNER - 1
        name, colour = (r"$L_{val}$", COLOURS[1]) if is_tested else (r"$L_{train}$", COLOURS[0])
        _box(ax, i / N_INNER, 0.06, 1 / N_INNER, name, colour, dashed=True)
    return figure


def _heading(ax: Any, height: float, text: str, size: str = "medium") -> None:
    ax.text(0.0, height, text, ha="left", va="center", fontsize=size)


def _box(ax: Any, left: float, bottom: float, width: float, text: str, colour: str, *, dashed: bool = False) -> None:
    """Draw a bar of rows with its name; dashed if the rows have labels that are used."""
    ax.bar(left, 0.07, width, bottom, align="edge", color=colour, alpha=0.35, lw=0)
    edge = {"color": "none", "edgecolor": INK, "lw": 1.4 if dashed else 0.9, "ls": "--" if dashed else "-"}
    ax.bar(left, 0.07, width, bottom, align="edge", **edge)
    ax.text(left + width / 2, bottom + 0.035, text, ha="center", va="center", path_effects=halo(3))


def _zoom(ax: Any, above: tuple[float, float], below: tuple[float, float], top: float, bottom: float) -> None:
    """Join the ends of a bar with those of its enlargement below it."""
    for upper, lower in zip(above, below, strict=True):
        ax.plot([upper, lower], [top, bottom], color=GREY, lw=0.8, ls=":")
