"""A fit is whole or not at all: faults are injected at every call that a fit makes.

A refit is traced first: every call of a function by a line of mixkern is a point, found by the interpreter's profiling
hook. Then the refit is repeated, once for each point and kind of fault, and the fault is raised there.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mixkern
from mixkern import (
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
    load,
    save,
)
from mixkern.density import DensitySearch
from mixkern.errors import InfiniteValueError, InterruptedWarning

PACKAGE = str(Path(mixkern.__file__).parent)
N_QUICK, N_SLOW = 2, 60  # points per estimator, spread over the whole fit


pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")


class Fault(Exception):  # noqa: N818
    """An error that no code expects."""


def table(seed, scale):
    """Two groups of rows; the first two columns are numbers with a gap, the last is a category."""
    random = np.random.RandomState(seed)
    numbers = scale * (random.randn(24, 2) + 4 * (np.arange(24) % 2)[:, None])
    numbers[3, 0] = np.nan
    return np.column_stack([numbers, np.arange(24) % 3 > 0])


def labels(*names):
    return [names[i % 2] if i < 10 else None for i in range(24)]


X, CLASSES, NUMBERS = table(0, 1.0), labels("low", "high"), [float(i) if i < 10 else None for i in range(24)]
X_NEW, CLASSES_NEW, NUMBERS_NEW = table(1, 100.0), labels("a", "b"), [float(-i) if i < 10 else None for i in range(24)]
SMALL = VBMixture(n_components=3, max_iter=8, tol=0.1)
SETTINGS = {"density": SMALL, "random_state": 0}
STREAM = VBMixture(n_components=3, tol=0.1, random_state=0)

ESTIMATORS = {
    "TableEncoder": TableEncoder(),
    "VBMixture": VBMixture(n_components=3, tol=0.1, random_state=0),
    "VBMixture-warm": VBMixture(n_components=3, tol=0.1, warm_start=True, random_state=0),
    "VBMixture-partial": STREAM,
    "DensitySearch": DensitySearch(STREAM, precision_prior=[0.1, 1.0], cv=2, random_state=0),
    "MixtureSVC": MixtureSVC(**SETTINGS),
    "MixtureSVC-rwm": MixtureSVC("rwm", C=1.0, **SETTINGS),
    "MixtureSVC-lap": MixtureSVC("lap", probability=False, **SETTINGS),
    "LaplacianSVC": LaplacianSVC(**SETTINGS),
    "MixtureSVR": MixtureSVR(**SETTINGS),
    "MixtureOneClassSVM": MixtureOneClassSVM(**SETTINGS),
    "TransductiveSVC": TransductiveSVC(safe_margin=0.0, **SETTINGS),
    "QuasiNewtonS3VC": QuasiNewtonS3VC(**SETTINGS),
    "SVCSearch": SVCSearch(MixtureSVC(**SETTINGS), C=[1.0, 10.0], gamma=[0.1], cv=2, random_state=0),
    "SVCSearch-line": SVCSearch(MixtureSVC("rwm", **SETTINGS), strategy="line", C=[1.0], gamma=[0.1], random_state=0),
}


def targets(name):
    """Old and new y of an estimator, None where it needs none."""
    if name == "MixtureSVR":
        return NUMBERS, NUMBERS_NEW
    is_unsupervised = name.startswith(("TableEncoder", "VBMixture", "DensitySearch", "MixtureOneClassSVM"))
    return (None, None) if is_unsupervised else (CLASSES, CLASSES_NEW)


def fit(name, model, X, y):
    return model.partial_fit(X) if name.endswith("partial") else model.fit(X, y)


def best(model):
    """The estimator inside a search; any other estimator itself."""
    return getattr(model, "best_estimator_", getattr(model, "density_", model)) if "Search" in repr(model) else model


def output(model):
    """Everything that a fitted estimator computes for some rows, as bytes."""
    methods = ("predict", "decision_function", "predict_proba", "score_samples", "transform", "responsibilities")
    found = {name: np.asarray(getattr(model, name)(X)) for name in methods if hasattr(model, name)}
    return {name: repr(each.tolist()) if each.dtype == object else each.tobytes() for name, each in found.items()}


def use(model):
    """Call the method that users call first."""
    return model.transform(X) if isinstance(model, TableEncoder) else model.predict(X)


class Tracer:
    """Profiling hook: lists the calls that lines of mixkern make, and raises a fault at one of them."""

    def __init__(self, target=None, fault=None):
        self.points = {}
        self.target, self.fault = target, fault
        self.is_raised = False

    def __call__(self, frame, event, argument):
        if event == "c_call":
            caller, callee = frame, argument.__qualname__
        elif event == "call" and frame.f_back is not None:
            caller, callee = frame.f_back, frame.f_code.co_qualname
        else:
            return
        is_cleanup = callee.endswith("__exit__") or "weakref" in frame.f_code.co_filename  # cannot be interrupted
        if is_cleanup or not caller.f_code.co_filename.startswith(PACKAGE):
            return
        point = (caller.f_code.co_filename[len(PACKAGE) :], caller.f_lineno, callee)
        self.points.setdefault(point)
        if point == self.target:
            self.is_raised = True
            raise self.fault

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)


def points_of(name):
    """All points of a refit, in the order in which they are reached first."""
    old, new = targets(name)
    model = fit(name, clone(ESTIMATORS[name]), X, old)
    with warnings.catch_warnings(), Tracer() as tracer:
        warnings.simplefilter("ignore")
        fit(name, model, X_NEW, new)
    return list(tracer.points)


def faulty_fit(name, model, point, fault):
    """Fit with a fault; return whether the fit returned all the same.

    Ctrl-C ends a search early, with a warning. An error of a library may lead to another way to the same result.
    """
    y = targets(name)[1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tracer = Tracer(point, fault)
        try:
            with tracer:
                fit(name, model, X_NEW, y)
        except (Fault, KeyboardInterrupt):
            return False
    if tracer.is_raised and fault is KeyboardInterrupt:
        assert any(issubclass(each.category, InterruptedWarning) for each in caught), point
    return True


def check_faults(name, points, folder):
    """Raise both kinds of faults at each point, in a refit and in a first fit."""
    old, new = targets(name)
    model = None
    undisturbed = output(best(fit(name, fit(name, clone(ESTIMATORS[name]), X, old), X_NEW, new)))
    for number, point in enumerate(points):
        for fault in (Fault, KeyboardInterrupt):
            if model is None:
                model = fit(name, clone(ESTIMATORS[name]), X, old)
                state, before = dict(vars(model)), output(best(model))
            if faulty_fit(name, model, point, fault):
                assert output(best(model)) != before, point
                assert fault is KeyboardInterrupt or output(best(model)) == undisturbed, point
                model = None
            else:
                assert list(vars(model)) == list(state), point
                assert all(vars(model)[key] is value for key, value in state.items()), point
                assert output(best(model)) == before, point
                if number % 8 == 0 and not isinstance(model, TableEncoder):  # which is saved as a part of others
                    save(best(model), folder / "model.mixkern")
                    assert output(load(folder / "model.mixkern")) == before, point
            unfitted = clone(ESTIMATORS[name])
            if not faulty_fit(name, unfitted, point, fault):
                with pytest.raises(NotFittedError):
                    use(unfitted)


def spread(points, n):
    """Some of the points, evenly spread from the first to the last."""
    return [points[i] for i in np.unique(np.linspace(0, len(points) - 1, n).round().astype(int))]


@pytest.mark.parametrize("name", ["MixtureSVC", "SVCSearch", "VBMixture-warm"])
def test_a_fault_in_a_fit_changes_nothing(name, tmp_path):
    check_faults(name, spread(points_of(name), N_QUICK), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fault_at_many_more_points_changes_nothing(name, tmp_path):
    check_faults(name, spread(points_of(name), N_SLOW), tmp_path)


def test_calls_of_every_room_are_points():
    """The tracer sees what it should: calls into other functions, libraries and compiled code."""
    points = points_of("SVCSearch")
    rooms = {Path(file).parts[1] for file, _, _ in points}
    assert {"encoding", "density", "kernels", "svm", "estimators", "search"} <= rooms
    assert len(points) > 500


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if targets(name)[0] is CLASSES])
def test_a_refit_on_a_bad_table_keeps_the_old_labels(name, tmp_path):
    """As users meet it: the new table has an infinite value, the error is caught, and the model is used and saved."""
    model = clone(ESTIMATORS[name]).fit(X, CLASSES)
    before = output(best(model))
    with pytest.raises(InfiniteValueError):
        model.fit(np.where(np.isnan(X_NEW), np.inf, X_NEW), CLASSES_NEW)
    assert set(model.predict(X)) == {"low", "high"}
    assert output(best(model)) == before
    save(best(model), tmp_path / "model.mixkern")
    assert output(load(tmp_path / "model.mixkern")) == before
