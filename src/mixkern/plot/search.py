"""What a search has tried."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from mixkern.plot.style import look, new_figure


def density_trials(search: Any, *, ax: Any = None) -> Any:
    """Draw the score of every trial of a density search over the precision prior, one line per other setting.

    Parameters
    ----------
    search : DensitySearch
        After its ``fit``.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import DensitySearch, datasets, plot
    >>> X, _ = datasets.make_ripley(n=200, random_state=0)
    >>> search = DensitySearch(precision_prior=[1, 10, 100], criterion="bound", random_state=0).fit(X)
    >>> ax = plot.density_trials(search)
    """
    check_is_fitted(search)
    if ax is None:
        ax = new_figure((6.0, 4.0)).subplots()
    values = list(dict.fromkeys(trial.precision_prior for trial in search.trials_))
    lines: dict[tuple[Any, Any], list[Any]] = {}
    for trial in search.trials_:
        lines.setdefault((trial.weight_concentration_prior, trial.mean_precision_prior), []).append(trial)
    for i, ((alpha, beta), trials) in enumerate(lines.items()):
        places = [values.index(trial.precision_prior) for trial in trials]
        label = f"weights {'1/k' if alpha is None else f'{alpha:g}'}, mean {beta:g}"
        ax.plot(places, [trial.score for trial in trials], label=label, **look(i))
    best = search.best_
    ax.plot(values.index(best.precision_prior), best.score, "o", ms=14, mfc="none", mec="#D00000", mew=2, label="best")
    # One place per value, evenly: some of them may be words.
    ax.set_xticks(range(len(values)), [v if isinstance(v, str) else f"{v:g}" for v in values])
    ax.set_xlabel("precision prior")
    ax.set_ylabel(f"{search.criterion} (higher is better)")
    ax.legend(title="other priors", fontsize=8)
    return ax
