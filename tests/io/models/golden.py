"""Golden files: small models of every kind, with rows and their predictions in the notes.

They were written once, and every later version must read them. To add a kind, add it to ``KINDS`` and run this file:
it writes the files that are missing, and no others.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

from mixkern import (
    DensitySearch,
    LaplacianSVC,
    Mixture,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
    save,
)
from mixkern.estimators.novelty import Novelty
from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel

FOLDER = Path(__file__).parents[1] / "golden"
N, N_SHOWN = 36, 6
METHODS = ("predict", "predict_proba", "decision_function", "score_samples", "transform", "novelty", "responsibilities")


def table():
    """Numbers, whole numbers, dates, categories, booleans, and gaps in most columns."""
    random, group = np.random.RandomState(0), np.arange(N) % 3
    frame = pd.DataFrame(
        {
            "height": (random.randn(N) + 3 * group).round(2),
            "visits": random.randint(0, 9, N) + 4 * group,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.randint(0, 300, N) + 100 * group, unit="D"),
            "town": np.array(["Kassel", "Passau", "Ulm \u00e4\u2713"], dtype=object)[
                (group + random.randint(0, 2, N)) % 3
            ],
            "is_new": random.rand(N) < 0.3 + 0.2 * group,
        }
    )
    frame.loc[::7, "height"] = np.nan
    frame.loc[::11, "town"] = None
    frame.loc[::13, "day"] = pd.NaT
    return frame


def numbers():
    group = np.arange(N)[:, None] % 3
    return pd.DataFrame((np.random.RandomState(1).randn(N, 2) + 2 * group).round(2), columns=["a", "b"])


def sizes():
    """Numbers that depend on one factor."""
    random, group = np.random.RandomState(4), np.arange(N)[:, None] % 3
    factor = random.randn(N, 1) * [1.0, 2.0, -1.0, 0.5]
    return pd.DataFrame((factor + 0.1 * random.randn(N, 4) + 2 * group).round(2), columns=["a", "b", "c", "d"])


def texts():
    """Numbers and dates that are written as texts."""
    prices = [f"{i}.{100 + i},50 EUR" for i in range(1, N + 1)]
    return pd.DataFrame({"price": prices, "share": [f"{i},5 %" for i in range(N)]}, dtype=object)


def orders():
    """Dates whose season matters, and comments of several words."""
    days = np.arange(N) * 29
    words = np.array(["late", "parcel", "broken", "box", "fine", "thanks", "quick", "friendly"], dtype=object)
    chosen = words[np.random.RandomState(2).randint(0, 4, (N, 4)) + 4 * (np.arange(N)[:, None] % 2)]
    return pd.DataFrame(
        {
            "amount": np.round(10 * np.cos(days / 58) + np.arange(N) % 3, 2),
            "day": pd.Timestamp("2021-01-01") + pd.to_timedelta(days, unit="D"),
            "comment": [f"{' '.join(each)} number{i}" for i, each in enumerate(chosen)],
        }
    )


def labels(*names):
    y = np.array(names or ("a", "b", "c"), dtype=object)[np.arange(N) % (len(names) or 3)]
    y[np.arange(N) % 9 > 5] = None
    return y


def density(**settings):
    return VBMixture(n_components=3, max_iter=10, tol=1e-2, random_state=0, **settings)


TARGETS = np.where(np.arange(N) % 9 < 6, np.arange(N) / 4, np.nan)
MIXTURE = Mixture([0.5, 0.5], [[0.0, 0.0], [3.0, 3.0]], [1.0, 2.0], "spherical")
SKLEARN = (
    ConstantKernel(0.5) * RBF([1.0, 2.0])
    + Matern(nu=1.5) * RationalQuadratic()
    + DotProduct() ** 2 * ConstantKernel(0.01)
    + ExpSineSquared()
    + WhiteKernel(0.1)
    + PairwiseKernel(metric="polynomial", pairwise_kernels_kwargs={"degree": 2}) * ConstantKernel(0.01)
)
CATEGORIES = pd.Series(pd.Categorical(labels(), categories=["z", "c", "b", "a"], ordered=True))

# Name of the file: an estimator that is not fitted, its table, and its labels.
KINDS = {
    "mixture_svc": (MixtureSVC(density=density(), random_state=0), table(), labels()),
    "mixture_svc_avoiding": (
        MixtureSVC(density=density(precision_prior="evidence"), random_state=0),
        table(),
        np.where(np.arange(N) % 9 < 3, labels(), None),  # so few that the S3VM has a weight
    ),
    "mixture_svc_slopes": (MixtureSVC("rbf", density=density(), random_state=0), numbers(), labels()),
    "mixture_svc_landmarks": (
        MixtureSVC(density=density(), max_labels=20, n_landmarks=8, random_state=0),
        table(),
        labels(),
    ),
    "laplacian_svc": (LaplacianSVC(density=density(), random_state=0), table(), labels("no", "yes")),
    "transductive_svc": (TransductiveSVC(density=density(), random_state=0), table(), labels("no", "yes")),
    "quasi_newton_s3vc": (QuasiNewtonS3VC(density=density(), n_landmarks=20, random_state=0), table(), labels()),
    "mixture_svr": (MixtureSVR(density=density(), random_state=0), table(), TARGETS),
    "mixture_svr_landmarks": (
        MixtureSVR(density=density(), max_labels=20, n_landmarks=8, random_state=0),
        table(),
        TARGETS,
    ),
    "mixture_one_class_svm": (MixtureOneClassSVM(density=density(), random_state=0), table(), None),
    "vb_mixture": (density(use_labels=True), numbers(), labels()),
    "table_encoder": (TableEncoder(categorical=["visits"]), table(), None),
    "table_encoder_texts": (TableEncoder(continuous=["price", "share"]), texts(), None),
    "table_encoder_orders": (TableEncoder(), orders(), None),
    "kernel_rwm": (MixtureSVC("rwm", density=density(), C=1.0), numbers(), labels()),
    "kernel_gmm": (MixtureSVC("gmm", density=density(covariance_type="diag")), numbers(), labels()),
    "kernel_rbf": (MixtureSVC("rbf", density=density(), probability=False), table(), labels()),
    "kernel_lap": (MixtureSVC("lap", density=density(), random_state=0), table(), labels("no", "yes")),
    "kernel_blend": (MixtureSVC(BlendKernel(gamma=0.3, share=0.5), density=density()), table(), labels()),
    "kernel_sum": (
        MixtureSVC(0.5 * RBFKernel() + RWMKernel() * GMMKernel(gamma=0.1), density=density()),
        table(),
        labels(),
    ),
    "kernel_sum_with_graph": (
        MixtureSVC(LaplacianKernel(RBFKernel(), ratio=10.0) + RWMKernel(), density=density()),
        numbers(),
        labels("no", "yes"),
    ),
    "kernels_of_scikit_learn": (MixtureSVC(SKLEARN, density=density(), random_state=0), numbers(), labels()),
    "labels_integers": (MixtureSVC(density=density()), numbers(), np.where(labels() == "a", 7, 3).astype(np.int16)),
    "labels_booleans": (MixtureSVC(density=density()), numbers(), labels(False, True)),
    "labels_fixed_width": (MixtureSVC(density=density()), numbers(), np.where(np.arange(N) % 2, "yes", "no")),
    "labels_categories": (
        MixtureSVC(density=density(), class_weight={"a": 2, "b": 1, "c": 0.5}),
        numbers(),
        CATEGORIES,
    ),
    "density_mixture": (MixtureSVC(density=MIXTURE, random_state=np.random.RandomState(3)), numbers(), labels()),
    "density_search": (
        MixtureSVC("rwm", density=DensitySearch(density(), precision_prior=(1.0, "typical"), scoring="bound")),
        numbers(),
        labels(),
    ),
    "density_factor": (
        MixtureSVC(density=density(covariance_type="factor", precision_prior="evidence"), encoder="passthrough"),
        sizes(),
        labels(),
    ),
    "density_common": (
        MixtureSVC(density=density(covariance_type="common", precision_prior="evidence"), encoder="passthrough"),
        sizes(),
        labels(),
    ),
    "density_auto": (MixtureSVC(density=density(covariance_type="auto"), random_state=0), sizes(), labels()),
    "density_tied": (MixtureSVC(density=density(covariance_type="tied"), encoder="passthrough"), numbers(), labels()),
}


def fitted(name):
    estimator, X, y = KINDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = estimator.fit(X) if y is None else estimator.fit(X, y)
    if hasattr(estimator, "_novelty"):  # files stay small
        estimator._novelty = Novelty(estimator._novelty.rows[:8], estimator._novelty.sampled[:8])
    return estimator


def predictions(model, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: np.asarray(getattr(model, name)(rows)).tolist() for name in METHODS if hasattr(model, name)}


def notes_of(model, rows):
    """Rows as lists of texts, numbers and None, and their predictions; JSON has no NaN."""
    cells = {name: [cell(each) for each in rows[name].tolist()] for name in rows}
    return {"rows": cells, "expected": {name: cell(each) for name, each in predictions(model, rows).items()}}


def cell(value):
    if isinstance(value, list):
        return [cell(each) for each in value]
    if isinstance(value, pd.Timestamp):
        return value.isoformat()
    return None if value is pd.NaT or (isinstance(value, float) and np.isnan(value)) else value


def rows_of(notes):
    frame = pd.DataFrame(notes["rows"])
    return frame.assign(day=pd.to_datetime(frame["day"])) if "day" in frame else frame


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in KINDS:
        path = FOLDER / f"{name}.mixkern"
        if not path.exists():
            model = fitted(name)
            save(model, path, notes=notes_of(model, KINDS[name][1][:N_SHOWN]))


if __name__ == "__main__":
    main()
