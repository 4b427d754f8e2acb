"""A callback that records the bound and the number of components in every iteration of a density."""

from typing import Any


class BoundRecorder:
    """A callback of scikit-learn for :class:`VBMixture`, or an estimator with such a density.

    It records every iteration: those of each start, of each sample of a progressive fit, and of each density of a
    search. In its hooks, any callback finds the same in ``n_iter_``, ``lower_bound_`` and ``n_components_`` of the
    estimator that is being fitted; a hook with a parameter ``fitted_estimator`` gets the density as it is then.

    Attributes
    ----------
    steps : list of dict
        For each iteration its number ``iteration`` (counted from 1 in each start and sample), the evidence ``bound``
        and ``n_components``.

    Examples
    --------
    >>> from mixkern import VBMixture, datasets
    >>> from mixkern.density import BoundRecorder
    >>> X, _ = datasets.make_two_rings(random_state=0)
    >>> recorder = BoundRecorder()
    >>> density = VBMixture(random_state=0).set_callbacks(recorder).fit(X)
    >>> recorder.steps[0]["n_components"], recorder.steps[-1]["n_components"]
    (20, 2)
    """

    max_propagation_depth = None  # reaches the density inside other estimators

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing at the beginning of a fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing at the beginning of an iteration."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Record an iteration of a density."""
        if context.task_name == "iteration" and hasattr(estimator, "lower_bound_"):
            bound, k = estimator.lower_bound_, estimator.n_components_
            self.steps.append({"iteration": estimator.n_iter_, "bound": bound, "n_components": k})

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing at the end of a fit."""
