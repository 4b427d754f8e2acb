"""The trials of a search."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.errors import OptionError
from mixkern.imports import optional
from mixkern.plot.figure import axes_or_new, draw_legend
from mixkern.plot.style import BEST, COLOURS, GREY, halo, marker_style
from mixkern.typing import Floats

# ColorBrewer's YlGn without its lightest colour, which is nearly white: the lowest scores differ from the background.
SCORES = ("#f7fcb9", "#d9f0a3", "#addd8e", "#78c679", "#41ab5d", "#238443", "#006837", "#004529")


def density_trials(search: Any, *, ax: Any = None) -> Any:
    """Draw the score of every trial of a density search over the precision prior, one line per other setting.

    Parameters
    ----------
    search : DensitySearch
        A fitted search.
    ax : matplotlib.axes.Axes, default=None
        Axes for the lines; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import DensitySearch, datasets, plot
    >>> X, _ = datasets.make_ripley(n=200, random_state=0)
    >>> search = DensitySearch(precision_prior=[1, 10, 100], scoring="bound", random_state=0).fit(X)
    >>> ax = plot.density_trials(search)
    """
    check_is_fitted(search)
    ax = axes_or_new(ax, (6.0, 4.0))
    params, scores = search.cv_results_["params"], search.cv_results_["mean_test_score"]
    values = list(dict.fromkeys(each["precision_prior"] for each in params))
    lines: dict[tuple[Any, Any], list[tuple[int, float]]] = {}
    for each, score in zip(params, scores, strict=True):
        key = each["weight_concentration_prior"], each["mean_precision_prior"]
        lines.setdefault(key, []).append((values.index(each["precision_prior"]), score))
    for i, ((alpha, beta), points) in enumerate(lines.items()):
        label = f"weights {'1/k' if alpha is None else f'{alpha:g}'}, mean {beta:g}"
        ax.plot(*zip(*points, strict=True), label=label, **marker_style(i))
    place = values.index(search.best_params_["precision_prior"])
    ax.plot(place, search.best_score_, "o", ms=14, mfc="none", mec=BEST, mew=2, label="best")
    # Evenly spaced: some values are texts.
    ax.set_xticks(range(len(values)), [v if isinstance(v, str) else f"{v:g}" for v in values])
    ax.set_xlabel("precision prior")
    ax.set_ylabel(f"{search.scoring} (higher is better)")
    ax.legend(title="other priors", fontsize=8)
    return ax


def search_map(
    search: Any,
    *,
    surface: Any = None,
    alpha: float | None = None,
    beta: float | None = None,
    ratio: float | None = None,
    ax: Any = None,
) -> Any:
    """Draw the settings of C and gamma that a search has visited, over contours of the score.

    Visited settings are grey, the best is red. Contours need trials on a grid; the trials of a line search are joined
    by a line, over the contours of another search given as ``surface``. A line may pass half a step beyond the grid:
    there the contours continue with the scores at the edge of the grid.

    Parameters
    ----------
    search : SVCSearch
        A fitted search.
    surface : SVCSearch, default=None
        An exhaustive search whose scores are drawn as contours, its best as a blue ring; by default ``search`` itself,
        if it visited a grid.
    alpha, beta, ratio : float, default=None
        Slice to draw, where several were searched; by default that of the best trial.
    ax : matplotlib.axes.Axes, default=None
        Axes for the map; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import SVCSearch, datasets, plot
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(per_class=8, random_state=0)
    >>> grid = SVCSearch(random_state=0).fit(iris.X, y)
    >>> line = SVCSearch(strategy="line", random_state=0).fit(iris.X, y)
    >>> ax = plot.search_map(line, surface=grid)
    """
    check_is_fitted(search)
    has_own_figure = ax is None
    ax = axes_or_new(ax, (5.6, 4.6))
    given, best = {"alpha": alpha, "beta": beta, "ratio": ratio}, search.best_
    wanted = {name: getattr(best, name) if value is None else value for name, value in given.items()}
    background = search if surface is None else surface
    _contours(ax, _slice(background, wanted), background.best_.scoring)
    trials = _slice(search, wanted)
    gamma, C = np.log10([t.gamma for t in trials]), np.log10([t.C for t in trials])
    ax.plot(gamma, C, "o", ms=5, color=GREY, mec="white", mew=0.6, clip_on=False, label="visited")
    if surface is not None:
        order = np.argsort(gamma)
        ax.plot(gamma[order], C[order], "-", lw=1, color=GREY, zorder=1.5)
        best = surface.best_
        ring = {"mfc": "none", "mec": COLOURS[0], "mew": 2, "path_effects": halo(4)}
        ax.plot(
            np.log10(best.gamma),
            np.log10(best.C),
            "o",
            ms=13,
            **ring,
            clip_on=False,
            label=f"best of all, {best.score:.3f}",
        )
    best = min(trials, key=lambda t: t.order)
    label = f"best visited, {best.score:.3f}"
    ax.plot(np.log10(best.gamma), np.log10(best.C), "o", ms=9, color=BEST, clip_on=False, label=label)
    ax.set_xlabel(r"$\log_{10}\,\gamma$")
    ax.set_ylabel(r"$\log_{10}\,C$")
    if has_own_figure:
        draw_legend(ax.figure, ax)
    else:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, fontsize="small", frameon=False)
    return ax


def _slice(search: Any, wanted: dict[str, float]) -> list[Any]:
    """Return the trials with a gamma, of one alpha, one beta and one ratio."""
    found = [t for t in search.trials_ if not t.is_linear]
    for name, value in wanted.items():
        values = sorted({getattr(t, name) for t in found})
        found = [t for t in found if np.isclose(getattr(t, name), value, equal_nan=True)]
        if not found:
            raise OptionError(f"No trial has {name} {value}; there are {values}.")
    return found


def _contours(ax: Any, trials: list[Any], scoring: str) -> None:
    """Draw filled contours of the score, if the trials are a grid."""
    gamma, C = (sorted({getattr(t, name) for t in trials}) for name in ("gamma", "C"))
    scores = {(t.C, t.gamma): t.score for t in trials}
    if len(scores) < len(gamma) * len(C) or min(len(gamma), len(C)) < 2:
        return
    Z = np.array([[scores[c, g] for g in gamma] for c in C])
    x, y = _half_a_step_wider(np.log10(gamma)), _half_a_step_wider(np.log10(C))
    colours = optional("matplotlib.colors", purpose="mixkern.plot").LinearSegmentedColormap.from_list("score", SCORES)
    drawn = ax.contourf(x, y, np.pad(Z, 1, mode="edge"), levels=12, cmap=colours)
    ax.figure.colorbar(drawn, ax=ax, label=scoring.replace("_", " "))


def _half_a_step_wider(values: Floats) -> Floats:
    """Add a value half a step below and above: Keerthi and Lin's line is followed so far beyond a grid.

    >>> _half_a_step_wider(np.array([-1.0, 0.0, 1.0])).tolist()
    [-1.5, -1.0, 0.0, 1.0, 1.5]
    """
    below, above = values[0] - (values[1] - values[0]) / 2, values[-1] + (values[-1] - values[-2]) / 2
    return np.concatenate([[below], values, [above]])
