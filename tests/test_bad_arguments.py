"""Public functions and values refuse wrong arguments with errors of mixkern. Estimators: test_hard_tables.py."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import mixkern
from mixkern import Mixture, MixtureSVC, SemiSupervisedSplit, TableEncoder, datasets, plot, prepare_table
from mixkern.advice import estimated_accuracy, suggest
from mixkern.density import ParzenWindow, component_table, representativity
from mixkern.encoding import encode_labels, encode_targets, identifiers, stacked
from mixkern.errors import MixkernError, MixkernWarning
from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel, definiteness, repaired

BAD = {
    "None": None,
    "number": 3,
    "text": "x",
    "empty": [],
    "one row": [1, 2, 3],
    "wide": np.zeros((2, 9)),
    "sparse": csr_array(np.eye(4)),
    "texts": np.array([["a", "b"]] * 3),
    "dict": {"a": 1},
    "infinite": np.full((3, 2), np.inf),
    "cube": np.zeros((3, 2, 2)),
    "complex": np.array([[1 + 2j, 0]]),
    "dates": np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"),
    "ragged": [[1, 2], [3]],
}
PLANE = Mixture([0.5, 0.5], [[0.0, 0.0], [3.0, 3.0]], [np.eye(2), np.eye(2)])
X = np.random.RandomState(0).randn(20, 2)
Y = [i % 2 if i < 8 else -1 for i in range(20)]
ENCODER = TableEncoder().fit(X)
MODEL = MixtureSVC(random_state=0, probability=False).fit(X, Y)
KERNELS = [RWMKernel(PLANE), GMMKernel(PLANE), BlendKernel(PLANE), RBFKernel(), LaplacianKernel(RBFKernel(), X)]

CALLS = {
    **{f"Mixture.{name}": getattr(PLANE, name) for name in ("log_density", "log_joint", "responsibilities")},
    **{f"Mixture.{name}": getattr(PLANE, name) for name in ("conditional_mean", "sample", "marginal")},
    "Mixture weights": lambda bad: Mixture(bad, PLANE.means, PLANE.covariances),
    "Mixture means": lambda bad: Mixture(PLANE.weights, bad, PLANE.covariances),
    "Mixture covariances": lambda bad: Mixture(PLANE.weights, PLANE.means, bad),
    "Mixture.from_sklearn": Mixture.from_sklearn,
    **{type(kernel).__name__: kernel for kernel in KERNELS},
    **{f"{type(kernel).__name__}.diag": kernel.diag for kernel in KERNELS},
    "RWMKernel gamma": lambda bad: RWMKernel(PLANE, gamma=bad)(X),
    "definiteness": definiteness,
    "repaired": repaired,
    "ParzenWindow": ParzenWindow,
    "ParzenWindow.log_density": ParzenWindow(X).log_density,
    "representativity": lambda bad: representativity(PLANE, ParzenWindow(X), bad),
    "component_table": component_table,
    "encode_labels": encode_labels,
    "encode_targets": encode_targets,
    "stacked": lambda bad: stacked(X, bad),
    "identifiers": identifiers,
    "prepare_table": prepare_table,
    "load": mixkern.load,
    "save": lambda bad: mixkern.save(bad, "never_written.mixkern"),
    "save path": lambda bad: mixkern.save(bad, bad),
    "datasets.load": datasets.load,
    "read_dataset": datasets.read_dataset,
    "make_two_moons n": lambda bad: datasets.make_two_moons(n=bad),
    "make_two_moons seed": lambda bad: datasets.make_two_moons(n=10, random_state=bad),
    "few_labels": datasets.load("iris").few_labels,
    "split cv": lambda bad: list(SemiSupervisedSplit(bad).split(X, Y)),
    "split y": lambda bad: list(SemiSupervisedSplit().split(X, bad)),
    "split X": lambda bad: list(SemiSupervisedSplit().split(bad, Y)),
    **{f"TableEncoder.{name}": getattr(ENCODER, name) for name in ("transform", "inverse_transform", "unseen")},
    "TableEncoder names": ENCODER.get_feature_names_out,
    "suggest n": lambda bad: suggest(X, bad),
    "suggest audit": lambda bad: suggest(X, 3, model=MODEL, audit=bad),
    "estimated_accuracy source": lambda bad: estimated_accuracy(MODEL, X, Y, source=bad),
    "explain by": lambda bad: MODEL.explain(X[:1], by=bad),
    "explain n": lambda bad: MODEL.explain(X[:1], n=bad),
    "score y": lambda bad: MODEL.score(X, bad),
    "plot.scatter": plot.scatter,
    "plot.density": lambda bad: plot.density(PLANE, bad),
    "plot.decision": lambda bad: plot.decision(MODEL, bad),
}


@pytest.mark.parametrize("name", CALLS)
def test_no_foreign_error_or_warning(name, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    faults = {}
    for kind, bad in BAD.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                CALLS[name](bad)
            except MixkernError as error:
                assert len(str(error)) > 10  # noqa: PT017 -- the argument may also be a right one
            except Exception as error:
                faults[kind] = repr(error)
        foreign = [str(each.message) for each in caught if not isinstance(each.message, MixkernWarning)]
        if foreign:
            faults[kind] = foreign
    assert faults == {}
