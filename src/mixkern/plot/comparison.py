"""Several models, or several distances, side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Mixture
from mixkern.errors import OptionError, hint
from mixkern.kernels import RWMKernel
from mixkern.plot.decision import IN_LEGEND, decision
from mixkern.plot.figure import MOST_OBLONG, check_names, draw_legend, name_outer_axes, new_panels
from mixkern.plot.level import Scene, draw_scenes
from mixkern.plot.plane import Plane, is_planar, row_labels
from mixkern.plot.table_map import SIZE
from mixkern.wording import listing


def compare_decisions(
    models: Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    truth: Any = None,
    test: tuple[Any, Any] | None = None,
    components: bool | None = None,
    resolution: int = 200,
) -> Any:
    """Draw the decisions of several classifiers, one panel each, with their accuracies.

    Parameters
    ----------
    models : dict of str and fitted classifier
        Classifiers by the titles of their panels.
    X : frame or array-like of shape (n, n_columns)
        Rows to draw in every panel, as in :func:`decision`: in the plane of two columns, or of the first two principal
        components.
    y : array-like of shape (n,), default=None
        The labels that the models were given; -1 (among numbers), ``None`` or NaN where there was none.
    truth : array-like of shape (n,), default=None
        True classes, which colour the rows without a label in ``y``. Each title ends with the share of these rows that
        its model predicts correctly.
    test : pair of table and labels, default=None
        Other rows and their true classes: the titles have the shares of these that are predicted correctly instead.
    components : bool, default=None
        Whether to draw components; by default where a model's kernel uses them.
    resolution : int, default=200
        Number of predictions along each side of a panel.

    Returns
    -------
    matplotlib.figure.Figure
        At most four panels in a line, all of the same rows.

    See Also
    --------
    decision : one classifier, with margins.

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets, plot
    >>> X, truth = datasets.make_two_rings(400, random_state=0)
    >>> y = [label if i < 40 else -1 for i, label in enumerate(truth)]
    >>> models = {name: MixtureSVC(name.lower(), random_state=0).fit(X, y) for name in ("RWM", "RBF")}
    >>> test = datasets.make_two_rings(400, random_state=1)
    >>> figure = plot.compare_decisions(models, X, y, truth=truth, test=test, resolution=60)
    >>> [panel.get_title().split(":")[0] for panel in figure.axes]
    ['RWM', 'RBF']
    """
    models = check_names(models, "models", "{'RWM': MixtureSVC().fit(X, y)}")
    if test is not None and (not isinstance(test, Sequence) or len(test) != 2):
        raise OptionError(
            "test must be a pair of a table and its labels.", hint=hint(python="Pass test=(X_test, y_test).")
        )
    for model in models.values():
        check_is_fitted(model)
    figure, panels = new_panels(len(models), _shape(next(iter(models.values())), X))
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        decision(model, X, y, truth=truth, components=components, resolution=resolution, ax=panel, title=name)
        share = _hidden_accuracy(model, X, y, truth) if test is None else float(model.score(*test))
        if share is not None:
            panel.set_title(f"{name}: {100 * share:.1f} % correct")
    name_outer_axes(panels)
    draw_legend(figure, *panels, areas=IN_LEGEND)
    return figure


def compare_levels(
    kernels: Mapping[str, Any],
    point: ArrayLike,
    *,
    X: Any = None,
    y: Any = None,
    mixture: Mixture | None = None,
    levels: Sequence[float] | None = None,
) -> Any:
    """Draw level curves of several distances around a point, one panel each, in the same units.

    Parameters
    ----------
    kernels : dict of str and kernel or Mixture
        Kernels by the titles of their panels. A mixture stands for its RWM distance.
    point : pair of float
        Where distances are measured from.
    X : array-like of shape (n, 2), or dict of them, default=None
        Rows to draw as faint points: the same in all panels, or by the names of the panels.
    y : array-like of shape (n,), or dict of them, default=None
        Their labels, which give them colours; as ``X``.
    mixture : Mixture, default=None
        Mixture whose components are drawn; by default that of each kernel, if it has one.
    levels : sequence of float, default=None
        Distances to draw curves at; by default those of the paper, 0.5, 1.0, ..., 6.5.

    Returns
    -------
    matplotlib.figure.Figure
        At most four panels in a line.

    See Also
    --------
    level_curves : one distance.

    Examples
    --------
    >>> from mixkern import VBMixture, datasets, plot
    >>> from mixkern.kernels import GMMKernel
    >>> X, y = datasets.make_cross(400, random_state=0)
    >>> mixture = VBMixture(random_state=0).fit(X).mixture_
    >>> figure = plot.compare_levels({"RWM": mixture, "GMM": GMMKernel(mixture)}, (0.5, 0.5), X=X, y=y)
    >>> [panel.get_title() for panel in figure.axes]
    ['RWM', 'GMM']
    """
    kernels = check_names(kernels, "kernels", "{'RWM': RWMKernel(density.mixture_)}")
    rows, labels = _of_each(X, "X", kernels), _of_each(y, "y", kernels)
    return draw_scenes(
        {
            name: Scene.of(_kernel(each), point, mixture=mixture, X=rows[name], y=labels[name], levels=levels)
            for name, each in kernels.items()
        }
    )


def _hidden_accuracy(model: Any, X: Any, y: Any, truth: Any) -> float | None:
    """Return the share of rows without a label in ``y`` whose true class is predicted; None where no class is known."""
    if is_planar(model, X):
        plane = Plane.of(model, X)
        is_there, n = plane.is_there, len(plane.places)
        predicted = np.full(n, None, dtype=object)
        predicted[is_there] = np.asarray(model.predict(plane.like(plane.places[is_there]))).tolist()
    else:
        predicted = np.array([*np.asarray(model.predict(X)).tolist(), None], dtype=object)[:-1]
        n, is_there = len(predicted), np.ones(len(predicted), dtype=bool)
    given, true = (row_labels(each, n, name, model.classes_) for each, name in ((y, "y"), (truth, "truth")))
    at = np.flatnonzero(is_there & ~given.is_labelled & true.is_labelled)
    return float(np.mean(predicted[at] == true.classes[true.codes[at]])) if len(at) else None


def _shape(model: Any, X: Any) -> float:
    """Return height over width of what a panel shows, 1 where its units differ."""
    if not is_planar(model, X):
        return SIZE[1] / SIZE[0]
    plane = Plane.of(model, X)
    width, height = map(float, np.ptp(plane.places[plane.is_there], axis=0))
    return height / width if 0 < max(width, height) <= MOST_OBLONG * min(width, height) else 1.0


def _kernel(each: Any) -> Any:
    return RWMKernel(each) if isinstance(each, Mixture) else each


def _of_each(given: Any, name: str, kernels: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the rows, or the labels, of each panel."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(kernels, given)
    if set(given) != set(kernels):
        raise OptionError(f"{name} must have the names of the panels, {listing(list(kernels))}, or be one for all.")
    return given
