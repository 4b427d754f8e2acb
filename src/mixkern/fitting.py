"""What every ``fit`` shares: it is whole or not at all, reports its progress, and warns if it has not converged."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import ConvergenceWarning

from mixkern.errors import MixkernWarning

Step = Callable[[], bool]
_Given = ParamSpec("_Given")
_Estimator = TypeVar("_Estimator")
_Result = TypeVar("_Result")


class NotConvergedWarning(MixkernWarning, ConvergenceWarning):
    """A solver stopped at its limit; the message has the reason and what to do."""


def all_or_nothing(
    method: Callable[Concatenate[_Estimator, _Given], _Result],
) -> Callable[Concatenate[_Estimator, _Given], _Result]:
    """Decorate a method that learns: an error or Ctrl-C leaves the estimator as it was.

    The method works on a copy, whose attributes replace those of the estimator in one assignment at the end. The copy
    is shallow: the method may set attributes, but not change the objects that it finds in them.

    >>> class Counter:
    ...     count = 0
    ...
    ...     @all_or_nothing
    ...     def fit(self, n):
    ...         self.count = n
    ...         self.inverse = 1 / n
    ...         return self
    >>> counter = Counter().fit(2)
    >>> counter.fit(0)
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> counter.count, counter.inverse
    (2, 0.5)
    """

    @wraps(method)
    def learn(self: _Estimator, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        copy = object.__new__(type(self))
        vars(copy).update(vars(self))
        result = method(copy, *args, **kwargs)
        self.__dict__ = vars(copy)
        return cast(_Result, self) if result is copy else result

    return learn


class ProgressMixin(CallbackSupportMixin):
    """Reports each step of a fit to scikit-learn's callbacks, such as ``sklearn.callback.ProgressBar``."""

    @contextmanager
    def _progress(self, task: str, n_steps: int | None, X: Any, y: Any) -> Iterator[Step]:
        """Open a task, and yield a function to call after each step; it returns whether a callback requests a stop."""
        # scikit-learn documents this method for authors of estimators; there is no public name for it yet.
        whole = self._init_callback_context(max_subtasks=n_steps)
        whole.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def step() -> bool:
            part = whole.subcontext(task_name=task).call_on_fit_task_begin(estimator=self)
            return bool(part.call_on_fit_task_end(estimator=self))

        yield step
        whole.call_on_fit_task_end(estimator=self, X=X, y=y)
