"""A small table of numbers, categories and gaps, and estimators fitted on it."""

import warnings

import numpy as np
import pandas as pd

import mixkern

from .golden import METHODS


def table(n=90):
    random = np.random.RandomState(0)
    group = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "height": random.randn(n) + 3 * group,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.randint(0, 300, n) + 100 * group, unit="D"),
            "town": np.array(["Kassel", "Passau", "Ulm"])[(group + random.randint(0, 2, n)) % 3],
            "is_new": random.rand(n) < 0.3 + 0.2 * group,
        }
    )
    frame.loc[::7, "height"] = np.nan
    frame.loc[::11, "town"] = None
    return frame


def numbers(n=90):
    return np.random.RandomState(1).randn(n, 3) + np.arange(n)[:, None] % 3


def labels(n=90, names=("a", "b", "c")):
    y = np.array(names, dtype=object)[np.arange(n) % 3]
    y[np.arange(n) % 9 > 3] = None
    return y


def density(**settings):
    return mixkern.VBMixture(n_components=4, max_iter=20, tol=1e-2, random_state=0, **settings)


def fitted(estimator, X=None, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(estimator, (mixkern.TableEncoder, mixkern.MixtureOneClassSVM)):
            return estimator.fit(table() if X is None else X)
        return estimator.fit(table() if X is None else X, labels() if y is None else y)


def estimators():
    """One of each type, on a mixed table."""
    targets = np.where(np.arange(90) % 9 < 4, np.arange(90.0), np.nan)
    return {
        "svc": fitted(mixkern.MixtureSVC(density=density(), random_state=0)),
        "laplacian": fitted(mixkern.LaplacianSVC(density=density(), random_state=0)),
        "transductive": fitted(mixkern.TransductiveSVC(density=density(), random_state=0)),
        "s3vc": fitted(mixkern.QuasiNewtonS3VC(density=density(), n_landmarks=30, random_state=0)),
        "svr": fitted(mixkern.MixtureSVR(density=density(), random_state=0), y=targets),
        "oneclass": fitted(mixkern.MixtureOneClassSVM(density=density(), random_state=0)),
        "encoder": fitted(mixkern.TableEncoder()),
        "density": fitted(density(use_labels=True), numbers(), labels()),
    }


def answers(model, X):
    """All predictions of a model for rows."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {name: np.asarray(getattr(model, name)(X)) for name in METHODS if hasattr(model, name)}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == values.dtype, name
        assert found[name].shape == values.shape, name
        if values.dtype == object:
            assert found[name].tolist() == values.tolist(), name
        else:
            assert found[name].tobytes() == values.tobytes(), name
