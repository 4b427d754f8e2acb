"""The numbers in the captions of the paper's figures: means over many draws.

`python -m benchmarks figures`; takes minutes, and is not part of `make bench`, which measures speed.
"""

import numpy as np
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from mixkern import MixtureSVC, VBMixture, datasets
from mixkern.density import Mixture
from mixkern.kernels import RWMKernel
from mixkern_study.plot import best_case
from mixkern_study.plot.paper import FEW, FIVE, W0

N_DRAWS = 20  # of the set of five processes
N_COMPARISONS = 8  # draws of the five sets of the comparison


def lowest_correlation(mixtures: list[Mixture], rows: np.ndarray) -> float:
    """Give the lowest rank correlation between RWM distances from the origin, of any two mixtures."""
    distances = [RWMKernel(mixture).distance([[0, 0]], rows)[0] for mixture in mixtures]
    return float(spearmanr(np.transpose(distances))[0][np.triu_indices(len(mixtures), 1)].min())


def five_processes(n_draws: int = N_DRAWS) -> None:
    """Print components, correlations and accuracies with too many and too few components."""
    counts, usual, correlations = [], [], []
    accuracies: dict[str, list[list[float]]] = {"local": [], "scale": []}
    for seed in range(n_draws):
        X, truth = datasets.make_five_processes(600, random_state=seed)
        other, other_truth = datasets.make_five_processes(10_000, random_state=100 + seed)
        random = np.random.RandomState(seed)
        process = np.where(truth == 2, 4, 2 * truth + (X[:, 0] > 0))
        kept = [random.choice(np.flatnonzero(process == i)) for i in range(5)]
        y = np.full(600, -1)
        y[kept] = truth[kept]
        mean, deviation = X.mean(axis=0), X.std(axis=0)
        rows, test = (X - mean) / deviation, (other - mean) / deviation
        many = [VBMixture(20, precision_prior=w0, random_state=0, **FIVE).fit(rows).mixture_ for w0 in W0]
        few = [VBMixture(k, precision_prior=W0[-1], random_state=0, **FIVE).fit(rows).mixture_ for k in FEW]
        counts.append([mixture.n_components for mixture in many])
        default = [VBMixture(precision_prior=w0, merge=False, random_state=0).fit(rows) for w0 in W0]
        usual.append([density.n_components_ for density in default])
        correlations.append(lowest_correlation(many, rows))
        for gamma, found in accuracies.items():
            models = [MixtureSVC("rwm", density=mixture) for mixture in (*many, *few)]
            models.append(MixtureSVC("rbf", density=many[0]))
            settings = {"C": 10.0, "gamma": gamma, "probability": False, "random_state": 0}
            found.append([100 * m.set_params(**settings).fit(rows, y).score(test, other_truth) for m in models])
    print(f"Components for w0 = {W0}: {np.mean(counts, axis=0)}, by default {np.mean(usual, axis=0)}")
    print(f"Lowest rank correlation in any draw: {min(correlations):.2f}")
    for gamma, found in accuracies.items():
        print(f"Accuracy, gamma {gamma}: w0 = {W0}, k = {FEW}, RBF: {np.mean(found, axis=0).round(1)}")


def phoneme_subsets() -> None:
    """Print components and correlations of densities of three disjoint parts."""
    X = datasets.load("phoneme").X.to_numpy()
    X = PCA(2, svd_solver="full").fit_transform((X - X.mean(axis=0)) / X.std(axis=0))
    order = np.random.RandomState(0).permutation(len(X))
    mixtures = [VBMixture(random_state=0).fit(X[part]).mixture_ for part in np.array_split(order, 3)]
    components = [mixture.n_components for mixture in mixtures]
    print(f"Phoneme: components {components}, lowest rank correlation {lowest_correlation(mixtures, X):.2f}")


def comparison(n_draws: int = N_COMPARISONS) -> None:
    """Print mean accuracies of the comparison, and the distance of each draw from them."""
    table = np.empty((n_draws, len(best_case.SETS), len(best_case.KERNELS)))
    for seed in range(n_draws):
        for i, (make, n) in enumerate(best_case.SETS.values()):
            random = np.random.RandomState(seed)
            task = best_case.Task.of(*make(n, random_state=random), random)
            for j, kernel in enumerate(best_case.KERNELS):
                table[seed, i, j] = 100 * best_case.best_model(kernel, task).score(task.test_rows, task.test_truth)
    for name, row in zip(best_case.SETS, table.mean(axis=0), strict=True):
        print(f"{name:12}" + "".join(f"{k.upper()} {v:5.1f}  " for k, v in zip(best_case.KERNELS, row, strict=True)))
    far = np.abs(table - table.mean(axis=0)).mean(axis=(1, 2))
    print(f"Mean distance of each draw from the means: {far.round(2)}")


def run(*, tiny: bool = False) -> None:
    """Print all numbers."""
    five_processes(1 if tiny else N_DRAWS)
    phoneme_subsets()
    comparison(1 if tiny else N_COMPARISONS)
