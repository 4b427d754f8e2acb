"""Progress of all estimators: callbacks of scikit-learn, and the lines of ``verbose``."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.pipeline import make_pipeline

from mixkern import (
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    TransductiveSVC,
    VBMixture,
    datasets,
)
from mixkern.density import BoundRecorder
from mixkern.errors import InterruptedWarning, OptionError
from mixkern.wording import percent

CLASSIFIERS = [MixtureSVC, LaplacianSVC, TransductiveSVC, QuasiNewtonS3VC]
ESTIMATORS = [*CLASSIFIERS, MixtureSVR, MixtureOneClassSVM]
X, TRUE = datasets.make_two_moons(n=80, random_state=0)
X.flags.writeable = False
Y = np.where(np.arange(80) % 5 == 0, TRUE, -1)
GRAPH = ["encoding", "density", "kernel", "training"]
STAGES = {
    MixtureSVC: [*GRAPH, "calibration"],
    LaplacianSVC: [*GRAPH, "calibration"],
}
AVOIDED = "training: unlabelled rows avoided, with a weight of {}"


def small(kind, **settings):
    return kind(density=VBMixture(3, random_state=0), random_state=0, **settings)


class Recorder:
    """Records the ends of tasks, and acts at one of them."""

    max_propagation_depth = None

    def __init__(self, at=None, act=lambda: None):
        self.at, self.act, self.ends, self.is_down = at, act, [], False

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        name = context.source_task_name or context.task_name
        self.ends.append((type(estimator).__name__, name, context.parent and context.parent.task_name))
        return self.act() if name == self.at else None

    def teardown(self, estimator, context):
        self.is_down = True


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_stages_are_tasks_and_the_density_is_a_part(kind):
    recorder, name = Recorder(), kind.__name__
    model = small(kind).set_callbacks(recorder).fit(X, Y)
    stages = [end[1] for end in recorder.ends if end[2] == "fit" and end[1] != "iteration"]
    assert stages[: len(GRAPH)] == GRAPH
    assert stages == STAGES.get(kind, stages)
    assert recorder.ends.count(("VBMixture", "iteration", "fit")) == model.density_.n_iter_
    n_levels = recorder.ends.count((name, "level", "training"))
    assert 0 < n_levels <= kind.n_levels if hasattr(kind, "n_levels") else n_levels == 0
    assert recorder.ends[-1] == (name, "fit", None)
    assert recorder.is_down
    assert not {"_task", "_callback_fit_ctx", "_parent_callback_ctx"} & (set(vars(model)) | set(vars(model.density_)))
    np.testing.assert_array_equal(model.predict(X), small(kind).fit(X, Y).predict(X))


def test_callbacks_see_one_density():
    recorder = Recorder()
    model = (
        MixtureSVC(density=VBMixture(3, precision_prior="evidence"), random_state=0).set_callbacks(recorder).fit(X, Y)
    )
    stages = [end[1] for end in recorder.ends if end[2] == "fit" and end[1] != "iteration"]
    assert stages == ["encoding", "density", "kernel", "training", "calibration"]
    assert recorder.ends.count(("VBMixture", "iteration", "fit")) == model.density_.n_iter_  # not of the one continued


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_an_error_in_a_callback_leaves_the_estimator_as_it_was(kind):
    model = small(kind).fit(X, Y)
    before = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    for stage in (*GRAPH, "iteration"):

        def fail():
            raise RuntimeError("no space left")

        recorder = Recorder(stage, fail)
        with pytest.raises(RuntimeError, match="no space left"):
            model.set_callbacks(recorder).fit(10 * X, Y)
        assert recorder.is_down
    after = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_callback_may_stop_the_density_and_the_rest_of_the_fit_goes_on(kind):
    recorder = Recorder("iteration", lambda: True)
    with pytest.warns(InterruptedWarning, match="The ascent of the bound was stopped early"):
        model = small(kind).set_callbacks(recorder).fit(X, Y)
    assert model.density_.n_iter_ == 1
    assert len(model.predict(X)) == 80


def test_the_steps_of_the_density_inside_a_classifier_are_recorded():
    recorder = BoundRecorder()
    model = small(MixtureSVC).set_callbacks(recorder).fit(X, Y)
    assert [step["bound"] for step in recorder.steps] == model.density_.bound_trace_.tolist()


def test_callbacks_of_the_density_itself_are_an_error():
    model = MixtureSVC(density=VBMixture().set_callbacks(BoundRecorder()))
    with pytest.raises(OptionError, match=r"^A VBMixture inside .* Set them on the outer one alone"):
        model.fit(X, Y)


def test_a_pipeline_passes_its_callbacks_on():
    recorder = Recorder()
    make_pipeline(small(MixtureSVC)).set_callbacks(recorder).fit(X, Y)
    assert ("MixtureSVC", "training", "fit") in recorder.ends
    assert ("VBMixture", "iteration", "fit") in recorder.ends


def test_a_progress_bar_shows_the_density(capsys):
    small(MixtureSVC).set_callbacks(ProgressBar()).fit(X, Y)
    assert "MixtureSVC - density | VBMixture - fit" in capsys.readouterr().out


# ---------------------------------------------------------------- verbose


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_verbose_prints_a_line_for_each_stage(kind, capsys):
    model = small(kind, verbose=1).fit(X, Y)
    density, kernel, training, *rest = capsys.readouterr().out.splitlines()
    name = kind.__name__
    assert re.fullmatch(r" +\d+\.\d s  VBMixture: 80 rows of 2 columns: .* after \d+ iterations", density)
    assert f"s  {name}: kernel: " in kernel
    assert "gamma=" in kernel
    assert re.search(rf"{name}: training: (C|nu) [\d.]+, {len(model.support_)} support vectors of \d+ rows", training)
    slope = getattr(model, "slope_", None)
    expected = [] if slope is None else [re.escape(f"calibration: slope {np.median(slope):.4g}")]
    if kind is MixtureSVC:
        expected.append(AVOIDED.format(percent(model.avoiding_share_)))
    assert len(rest) == len(expected)
    for line, text in zip(rest, expected, strict=True):
        assert re.fullmatch(rf" +\d+\.\d s  {name}: {text}", line)
    assert model.density_.verbose == 0


def test_verbose_2_prints_every_iteration_and_level(capsys):
    model = small(TransductiveSVC, verbose=2).fit(X, Y)
    out = capsys.readouterr().out
    assert len(re.findall(r"VBMixture: iteration \d+: bound -", out)) == model.density_.n_iter_
    assert re.findall(r"TransductiveSVC: training: level (\d+)", out)[:3] == ["1", "2", "3"]


def test_nothing_is_printed_by_default(capsys):
    small(MixtureSVC).fit(X, Y)
    assert not capsys.readouterr().out


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_verbose_is_a_parameter_like_others(kind):
    assert "verbose" not in repr(kind())
    assert clone(kind(verbose=2)).get_params()["verbose"] == 2
    with pytest.raises(
        OptionError, match="verbose must be a whole number, 0 or more or True or False, but it is 'yes'"
    ):
        kind(verbose="yes").fit(X, Y)


def test_the_two_halves_of_a_fit_print_as_well(capsys):
    for how, n_lines in (({"unlabelled": "ignore"}, 4), ({}, 5)):
        model = small(MixtureSVC, verbose=True, **how)
        codes, weights = model.read_labels(X, Y, None)
        model.train(model.learn_structure(X, codes=codes), codes, weights)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == n_lines
        assert (model.avoiding_share_ > 0) == (n_lines == 5)
        assert ("unlabelled rows avoided" in lines[-1]) == (n_lines == 5)
