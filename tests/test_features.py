"""The table of estimators and features in docs/estimators.md, made by trying every feature of every estimator.

To write the table anew: ``python tests/test_features.py``.
"""

import inspect
import re
import warnings
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

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

PAGE = Path(__file__).parents[1] / "docs" / "estimators.md"
BEGIN, END = "<!-- features: made by tests/test_features.py -->", "<!-- end of features -->"
N = 40

SETTINGS = {"density": VBMixture(n_components=3, tol=0.1), "random_state": 0}
ESTIMATORS = {
    "MixtureSVC": MixtureSVC(**SETTINGS),
    "LaplacianSVC": LaplacianSVC(**SETTINGS),
    "TransductiveSVC": TransductiveSVC(**SETTINGS),
    "QuasiNewtonS3VC": QuasiNewtonS3VC(**SETTINGS),
    "SVCSearch": SVCSearch(MixtureSVC(**SETTINGS), C=[1.0], gamma=[0.1], cv=2, random_state=0),
    "MixtureSVR": MixtureSVR(**SETTINGS),
    "MixtureOneClassSVM": MixtureOneClassSVM(**SETTINGS),
    "VBMixture": VBMixture(n_components=3, tol=0.1, random_state=0),
    "DensitySearch": DensitySearch(VBMixture(n_components=3, tol=0.1), precision_prior=[0.1], cv=2, random_state=0),
    "TableEncoder": TableEncoder(),
}
# Why a feature is missing. A feature that exists and has a reason here is an error, as is one that lacks both.
NUMBERS, NO_CLASSES, ARRAYS = "predicts numbers", "has no classes", "returns arrays"
REASONS = {
    ("MixtureSVR", "probabilities"): NUMBERS,
    ("MixtureSVR", "class weights"): NO_CLASSES,
    ("MixtureSVR", "frames out"): ARRAYS,
    ("MixtureOneClassSVM", "probabilities"): "see novelty",
    ("MixtureOneClassSVM", "class weights"): NO_CLASSES,
    ("MixtureOneClassSVM", "frames out"): ARRAYS,
    ("VBMixture", "class weights"): NO_CLASSES,
    ("VBMixture", "categories"): "as codes",
    ("VBMixture", "frames out"): ARRAYS,
    ("DensitySearch", "sample weights"): "all rows count alike",
    ("DensitySearch", "class weights"): NO_CLASSES,
    ("DensitySearch", "categories"): "as codes",
    ("DensitySearch", "frames out"): ARRAYS,
    ("DensitySearch", "routing"): "has no weights",
    ("TableEncoder", "probabilities"): "is a transformer",
    ("TableEncoder", "sample weights"): "all rows count alike",
    ("TableEncoder", "class weights"): NO_CLASSES,
    ("TableEncoder", "callbacks"): "one pass",
    ("TableEncoder", "verbose"): "one pass",
    ("TableEncoder", "routing"): "has no weights",
}


# ---------------------------------------------------------------- one table for all


def numbers(seed=0):
    """Two groups of rows, as numbers."""
    return np.random.RandomState(seed).randn(N, 2) + 4 * (np.arange(N) % 2)[:, None]


def target(name):
    if name == "MixtureSVR":
        return [float(i) if i < 16 else None for i in range(N)]
    return [["low", "high"][i % 2] if i < 16 else None for i in range(N)]


def fitted(name, X=None, **arguments):
    return clone(ESTIMATORS[name]).fit(numbers() if X is None else X, target(name), **arguments)


def used(model, X):
    """Results of the method that users call first."""
    model = model.density_ if isinstance(model, DensitySearch) else model
    return model.transform(X) if isinstance(model, TableEncoder) else model.predict(X)


def is_complete(result):
    return len(result) == N and not pd.isna(np.asarray(result)).any()


# ---------------------------------------------------------------- features: each function tries one


def probabilities(name):
    if not hasattr(ESTIMATORS[name], "predict_proba"):
        return False
    shares = fitted(name).predict_proba(numbers())
    return bool(np.allclose(shares.sum(axis=1), 1))


def sample_weights(name):
    if "sample_weight" not in inspect.signature(ESTIMATORS[name].fit).parameters:
        return False
    weights = np.where(np.arange(N) % 3 == 0, 50.0, 0.01)
    plain, weighted = fitted(name), fitted(name, sample_weight=weights)
    method = (
        "score_samples"
        if hasattr(plain, "score_samples")
        else "predict"
        if name == "MixtureSVR"
        else "decision_function"
    )
    return not np.array_equal(getattr(plain, method)(numbers()), getattr(weighted, method)(numbers()))


def class_weights(name):
    model = clone(ESTIMATORS[name])
    inner = model.estimator if name == "SVCSearch" else model
    if "class_weight" not in inner.get_params():
        return False
    plain = fitted(name).decision_function(numbers())
    inner.set_params(class_weight={"low": 100.0, "high": 0.001})
    return not np.array_equal(model.fit(numbers(), target(name)).decision_function(numbers()), plain)


class Recorder:
    """A callback of scikit-learn that counts tasks."""

    def __init__(self):
        self.count = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **facts):
        pass

    def on_fit_task_end(self, estimator, context, **facts):
        self.count += 1


def callbacks(name):
    model, recorder = clone(ESTIMATORS[name]), Recorder()
    if not hasattr(model, "set_callbacks"):
        return False
    model.set_callbacks(recorder).fit(numbers(), target(name))
    return recorder.count > 1


def verbose(name):
    model = clone(ESTIMATORS[name])
    if "verbose" not in model.get_params():
        return False
    with redirect_stdout(StringIO()) as printed:
        model.set_params(verbose=1).fit(numbers(), target(name))
    return bool(printed.getvalue())


def gaps(name):
    X = numbers()
    X[::5, 1] = np.nan
    result = used(fitted(name, X), X)
    return len(result) == N if name == "TableEncoder" else is_complete(result)


def mixed():
    return pd.DataFrame(numbers(), columns=["length", "width"]).assign(
        colour=["red", "green", "blue", "red"] * (N // 4)
    )


def categories(name):
    try:
        return is_complete(used(fitted(name, mixed()), mixed()))
    except ValueError:
        return False


def frames_in(name):
    columns = ["length", "width"]
    frames = [pd.DataFrame(numbers(), columns=columns), pl.DataFrame(numbers(), columns)]
    return all(is_complete(used(fitted(name, frame), frame)) for frame in frames)


def frames_out(name):
    X = pl.DataFrame(numbers(), ["length", "width"])
    model = fitted(name, X)
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, TableEncoder):
        return isinstance(model.set_output(transform="polars").transform(X), pl.DataFrame)
    methods = [method for method in ("assess", "explain") if hasattr(model, method)]
    return bool(methods) and all(isinstance(getattr(model, method)(X), pl.DataFrame) for method in methods)


def routing(name):
    if "sample_weight" not in inspect.signature(ESTIMATORS[name].fit).parameters:
        return False
    with config_context(enable_metadata_routing=True):
        model = clone(ESTIMATORS[name])
        if name == "SVCSearch":
            model.estimator.set_fit_request(sample_weight=True)
        if hasattr(model, "set_fit_request"):
            model.set_fit_request(sample_weight=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(numbers(), target(name), sample_weight=np.linspace(1, 2, N))
        return len(pipeline.predict(numbers())) == N


def model_files(name):
    model = fitted(name)
    if name.endswith("Search"):
        model = model.best_estimator_
    with TemporaryDirectory() as folder:
        save(model, Path(folder) / "model.mixkern")
        again = load(Path(folder) / "model.mixkern")
    return np.array_equal(used(again, numbers()), used(model, numbers()))


FEATURES = {
    "probabilities": probabilities,
    "sample weights": sample_weights,
    "class weights": class_weights,
    "callbacks": callbacks,
    "verbose": verbose,
    "gaps": gaps,
    "categories": categories,
    "frames in": frames_in,
    "frames out": frames_out,
    "routing": routing,
    "model files": model_files,
}


@cache
def has(name, feature):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(FEATURES[feature](name))


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_feature_works_or_has_a_reason(name, feature):
    assert has(name, feature) == ((name, feature) not in REASONS)


# ---------------------------------------------------------------- the table


def table():
    """The table in Markdown: a line for each feature, and a column for all estimators that do not differ in any.

    A feature that is missing has its reason in the cell.
    """
    columns = {}
    for name in ESTIMATORS:
        cells = tuple("yes" if has(name, f) else f"no: {REASONS[name, f]}" for f in FEATURES)
        columns.setdefault(cells, []).append(re.sub("(?<=[a-z])(?=[A-Z])", "<wbr>", name))  # may be broken there
    lines = [["", *map(", ".join, columns.values())], ["---"] * (1 + len(columns))]
    lines += [[feature, *cells] for feature, *cells in zip(FEATURES, *columns, strict=True)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page_with(text):
    """The page with another table between the two marks."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}"


@pytest.mark.slow
def test_the_table_in_the_documentation_is_that_of_the_code():
    assert PAGE.read_text("utf-8") == page_with(table()), "run python tests/test_features.py"


if __name__ == "__main__":
    PAGE.write_text(page_with(table()), "utf-8")
