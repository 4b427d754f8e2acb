"""Held-out log-likelihood of learned priors on the twenty sets, against a grid of fixed ones.

`python -m benchmarks evidence`; takes minutes, and is not part of `make bench`, which measures speed.
"""

import numpy as np
from sklearn.model_selection import KFold

from mixkern import TableEncoder, VBMixture, datasets

GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
AUTOMATIC = ("evidence", "evidence_diag", "evidence_isotropic", "typical")


def held_out(X: np.ndarray, n_categorical: int, prior: float | str) -> tuple[float, float]:
    """Give the mean held-out log density (three folds, no row below -200), and the mean number of components."""
    scores, counts = [], []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        model = VBMixture(precision_prior=prior, n_categorical=n_categorical, random_state=0).fit(X[train])
        scores.append(np.maximum(model.score_samples(X[test]), -200))
        counts.append(model.n_components_)
    return float(np.concatenate(scores).mean()), float(np.mean(counts))


def run(*, tiny: bool = False) -> None:
    """Print one line per set, and the means."""
    total: dict[float | str, list[float]] = {prior: [] for prior in (*AUTOMATIC, *GRID)}
    print(f"{'':12}" + "".join(f"{prior!s:>20}" for prior in AUTOMATIC) + "      best of the grid")
    for name in ["iris"] if tiny else datasets.names():
        data = datasets.load(name)
        encoder = TableEncoder(continuous=data.continuous, categorical=data.categorical)
        X = encoder.fit_transform(data.X)
        d = encoder.n_continuous_
        X[:, :d] += 1e-6 * np.random.RandomState(0).standard_normal((len(X), d))  # against exact ties
        found = {prior: held_out(X, len(data.categorical), prior) for prior in total}
        for prior, (score, _) in found.items():
            total[prior].append(score)
        best = max(GRID, key=lambda prior: found[prior][0])
        cells = "".join(f"{found[prior][0]:13.2f} ({found[prior][1]:4.1f})" for prior in AUTOMATIC)
        print(f"{name:12}{cells}{found[best][0]:15.2f} (w0 = {best:g})", flush=True)
    means = {prior: float(np.mean(scores)) for prior, scores in total.items()}
    print("mean        " + "".join(f"{means[prior]:13.2f}       " for prior in AUTOMATIC))
    single = max(GRID, key=lambda prior: means[prior])
    each = float(np.max([total[prior] for prior in GRID], axis=0).mean())
    print(f"grid: best single prior {means[single]:.2f} (w0 = {single:g}); best for each set {each:.2f}")
