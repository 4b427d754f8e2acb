"""What every ``fit`` shares: it is whole or not at all, reports its progress, and warns if it has not converged."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sklearn.callback import CallbackContext, CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from mixkern.arguments import bound
from mixkern.errors import MixkernWarning, OptionError, hint
from mixkern.validation import FLAG, at_least

_Given = ParamSpec("_Given")
_Estimator = TypeVar("_Estimator")
_Result = TypeVar("_Result")


class NotConvergedWarning(MixkernWarning, ConvergenceWarning):
    """A solver stopped at its limit; the message has the reason and what to do."""


class TargetDataConversionWarning(MixkernWarning, DataConversionWarning):
    """A table of one column was passed as ``y``, and is read as a column."""  # named for scikit-learn's check


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
    parameters = signature(method)

    @wraps(method)
    def learn(self: _Estimator, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        bound(parameters, method.__name__, self, args, kwargs)
        copy = object.__new__(type(self))
        vars(copy).update(vars(self))
        result = method(copy, *args, **kwargs)
        learned, returned = vars(copy), cast(_Result, self) if result is copy else result
        self.__dict__ = learned  # the last step: nothing after it can be interrupted
        return returned

    return learn


# ---------------------------------------------------------------- progress


class Task:
    """A running part of a fit. It reports its steps to callbacks, and prints lines where ``verbose`` is set."""

    def __init__(self, estimator: Any, context: CallbackContext | None, step: str, printer: "_Printer") -> None:
        self.estimator = estimator
        self.context = context  # None outside fit: no callback is called
        self.step = step
        self.printer = printer

    def __call__(
        self, text: Callable[[], str] | None = None, fitted: Callable[[], dict[str, Any]] | None = None
    ) -> bool:
        """Report the end of a step; return whether a callback requests a stop.

        Parameters
        ----------
        text : callable, default=None
            Returns the line for the step, which is printed with ``verbose=2``.
        fitted : callable, default=None
            Returns the attributes that the estimator would have if it stopped here, for callbacks that read
            ``fitted_estimator``.
        """
        if text is not None and self.printer.level >= EVERY_STEP:
            self.note(text(), EVERY_STEP)
        if self.context is None:
            return False
        part = self.context.subcontext(task_name=self.step).call_on_fit_task_begin(estimator=self.estimator)
        return bool(part.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=fitted))

    def note(self, text: str, level: int = 1) -> None:
        """Print a line with the elapsed time and the name of the estimator, if ``verbose`` is ``level`` or more."""
        self.printer.write(type(self.estimator).__name__, text, level)


class ProgressMixin(CallbackSupportMixin):
    """Reports each step of a fit to scikit-learn's callbacks, such as ``sklearn.callback.ProgressBar``.

    With the parameter ``verbose`` it also prints lines: 1 for each stage of a fit, 2 for each step. An estimator inside
    another one, such as the density of a classifier, prints as many as that one.
    """

    verbose: Any = 0

    @contextmanager
    def _progress(self, step: str, n_steps: int | None, X: Any, y: Any) -> Iterator[Task]:
        """Open the task of a whole fit, within ``with_callbacks``; call what it yields after each step.

        Where the steps are stages of different kinds, open each by :meth:`_stage` instead.
        """
        # scikit-learn documents this method for authors of estimators; there is no public name for it yet.
        whole = self._init_callback_context(max_subtasks=n_steps)
        whole.call_on_fit_task_begin(estimator=self, X=X, y=y)
        with _printing(self) as printer:
            self._task = Task(self, whole, step, printer)
            try:
                yield self._task
            finally:
                del self._task
        whole.call_on_fit_task_end(estimator=self, X=X, y=y)

    @contextmanager
    def _stage(self, name: str, step: str = "", n_steps: int = 0, runs: Any = None) -> Iterator[Task]:
        """Open a stage of a fit; outside a fit, its lines are printed, but no callback is called.

        Parameters
        ----------
        name : str
            Name of the task.
        step, n_steps : str and int
            Name and largest number of the steps that the stage reports, if any.
        runs : estimator, default=None
            An estimator that is fitted in this stage. Its task takes the place of the stage.
        """
        fit: Task | None = getattr(self, "_task", None)
        with ExitStack() as opened:
            printer = opened.enter_context(_printing(self))
            if fit is None or fit.context is None:
                yield Task(self, None, step, printer)
                return
            context = fit.context.subcontext(task_name=name, max_subtasks=n_steps)
            if runs is not None:
                opened.enter_context(_passed_on(context, runs))
            context.call_on_fit_task_begin(estimator=self)
            yield Task(self, context, step, printer)
            context.call_on_fit_task_end(estimator=self)

    @contextmanager
    def _stages_of(self, estimator: "ProgressMixin") -> Iterator[None]:
        """Make the stages of another estimator, of which methods other than ``fit`` are called, stages of this fit."""
        estimator._task = self._task  # noqa: SLF001
        try:
            yield
        finally:
            del estimator._task  # noqa: SLF001

    def _note(self, text: str) -> None:
        """Print a line, where ``verbose`` is set."""
        with _printing(self) as printer:
            Task(self, None, "", printer).note(text)


@contextmanager
def _passed_on(context: CallbackContext, estimator: Any) -> Iterator[None]:
    """Pass callbacks on to an estimator that is fitted within another; an error if it has such callbacks itself."""
    with ExitStack() as opened:
        try:
            opened.enter_context(context.propagate_callback_context(estimator))
        except TypeError as error:
            name = type(estimator).__name__
            raise OptionError(
                f"A {name} inside another estimator has callbacks of a kind that the outer one passes on to it.",
                hint=hint(python="Set them on the outer one alone: estimator.set_callbacks(...)."),
            ) from error
        yield


def in_stages(n: int) -> Callable[[Callable[_Given, _Result]], Callable[_Given, _Result]]:
    """Decorate a ``fit(X, y, ...)`` that has up to n stages, each within :meth:`ProgressMixin._stage`."""

    def decorate(fit: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        parameters = signature(fit)

        @wraps(fit)
        def fit_in_stages(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
            given = bound(parameters, fit.__name__, args[0], args[1:], kwargs).arguments
            with given["self"]._progress("stage", n, given["X"], given.get("y")):  # noqa: SLF001
                return fit(*args, **kwargs)

        decorated: Callable[_Given, _Result] = with_callbacks(fit_in_stages)
        return decorated

    return decorate


# ---------------------------------------------------------------- lines for verbose

EVERY_STEP = 2  # of verbose
VERBOSE = at_least(0) | FLAG


class _Printer:
    """Prints lines on standard output, with the time since the outermost fit has begun."""

    def __init__(self, level: int, start: float) -> None:
        self.level = level
        self.start = start

    def write(self, name: str, text: str, level: int) -> None:
        if self.level >= level:
            print(f"{perf_counter() - self.start:6.1f} s  {name}: {text}", flush=True)  # noqa: T201


_PRINTER: ContextVar[_Printer | None] = ContextVar("_PRINTER", default=None)  # of the fit around the present one


@contextmanager
def _printing(estimator: ProgressMixin) -> Iterator[_Printer]:
    """Give the printer for an estimator: with its own ``verbose``, or that of the fit around it if it is higher."""
    outer = _PRINTER.get()
    start, level = (perf_counter(), 0) if outer is None else (outer.start, outer.level)
    printer = _Printer(max(int(VERBOSE.check(estimator.verbose, "verbose")), level), start)
    token = _PRINTER.set(printer)
    try:
        yield printer
    finally:
        _PRINTER.reset(token)


@contextmanager
def quiet() -> Iterator[None]:
    """Fit estimators without the ``verbose`` of the fit around them; their own still counts."""
    token = _PRINTER.set(None)
    try:
        yield
    finally:
        _PRINTER.reset(token)
