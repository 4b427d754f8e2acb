"""Fits and predictions with learned mixtures on the paper's data sets, against estimators of scikit-learn.

The peer of a fit is what it consists of: a ``BayesianGaussianMixture`` of all rows with as many components at first,
and an ``SVC`` with probabilities by ``CalibratedClassifierCV`` on the labelled rows. The peer of a prediction is the
calibrated ``SVC`` together with the responsibilities of the mixture, for 20,000 rows drawn from the set.
"""

import warnings

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from sklearn.svm import SVC

from benchmarks.ratio import ratio, seconds
from mixkern import MixtureSVC, TableEncoder, VBMixture, datasets
from mixkern.encoding import Labels, encode_labels
from mixkern.errors import MixkernWarning

NAMES = ("phoneme", "satimage", "vowel", "vehicle", "credit_g", "iris")
PER_CLASS, N_ROWS, TINY_N_ROWS = 10, 20_000, 200


class Peer:
    """A density of all rows and a calibrated SVC of the labelled ones, by scikit-learn."""

    def __init__(self, X: np.ndarray, labels: Labels, n_components: int) -> None:
        self.X, self.y, self.is_labelled = X, labels.codes, labels.is_labelled
        self.density = BayesianGaussianMixture(n_components=n_components, random_state=0)
        self.classifier = CalibratedClassifierCV(SVC(), ensemble=False, cv=3)

    def fit(self) -> None:
        """Fit both."""
        self.density.fit(self.X)
        self.classifier.fit(self.X[self.is_labelled], self.y[self.is_labelled])

    def predict(self, rows: np.ndarray) -> None:
        """Predict labels and components."""
        self.density.predict_proba(rows), self.classifier.predict(rows)

    def predict_proba(self, rows: np.ndarray) -> None:
        """Predict probabilities and components."""
        self.density.predict_proba(rows), self.classifier.predict_proba(rows)


def compare(name: str, n_rows: int) -> None:
    """Print the shares of one data set; categories and gaps are plain numbers to the peer."""
    data = datasets.load(name)
    y = data.few_labels(per_class=PER_CLASS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        encoded = np.nan_to_num(TableEncoder().fit_transform(data.X))
        ours, peer = MixtureSVC(random_state=0), Peer(encoded, encode_labels(y), VBMixture().n_components)
        fit = seconds(lambda: ours.fit(data.X, y)) / seconds(peer.fit)  # seconds each: once is enough
        drawn = np.random.default_rng(0).integers(len(encoded), size=n_rows)
        table, rows = data.X.iloc[drawn].reset_index(drop=True), encoded[drawn]
        label = ratio(lambda: ours.predict(table), lambda: peer.predict(rows))
        proba = ratio(lambda: ours.predict_proba(table), lambda: peer.predict_proba(rows))
    k, shape = ours.mixture_.n_components, f"{len(encoded):,} x {encoded.shape[1]}"
    print(f"  {name}, {shape}, k = {k}: fit {fit:.2f}, predict {label:.2f}, predict_proba {proba:.2f}", flush=True)


def run(*, tiny: bool = False) -> None:
    """Print one line per data set."""
    n_rows = TINY_N_ROWS if tiny else N_ROWS
    print(f"MixtureSVC, {PER_CLASS} labels per class, predicting {n_rows:,} rows: time as a share of scikit-learn's")
    for name in NAMES[-1:] if tiny else NAMES:
        compare(name, n_rows)
