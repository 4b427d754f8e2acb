"""
A Gaussian process with the RWM kernel
======================================

A Gaussian process returns a probability for every point of the plane, from its kernel and a few labels. With the RWM
kernel these labels reach along the groups of the table, and the probabilities follow their shape.
"""

# %%
# Two long groups cross, and eight of 600 rows have a label. scikit-learn's ``GaussianProcessClassifier`` takes the
# kernel. RWM is not positive semi-definite for every density, so gamma is fixed (``optimizer=None``): a search that
# comes to a matrix with negative eigenvalues ends with a ``LinAlgError``.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.metrics import log_loss

from mixkern import RBFKernel, RWMKernel, VBMixture, datasets
from mixkern.plot.style import marker_style, outlined


def scaled(kernel, X):
    """Return the kernel with a gamma of one over the median squared distance."""
    return kernel.clone_with_theta(
        [-2 * np.log(np.median(kernel.distance(X)[np.triu_indices(len(X), 1)]))]
    )


def processes(X):
    """Return a Gaussian process with the RBF kernel, and one with RWM."""
    kernels = {
        "RBF": RBFKernel(),
        "RWM": RWMKernel(VBMixture(random_state=0).fit(X).mixture_),
    }
    return {
        name: GaussianProcessClassifier(scaled(kernel, X), optimizer=None)
        for name, kernel in kernels.items()
    }


def few_labels(truth, seed):
    """Return four rows of each class."""
    random = np.random.default_rng(seed)
    return np.concatenate(
        [
            random.choice(np.flatnonzero(truth == label), 4, replace=False)
            for label in (0, 1)
        ]
    )


# %%
# The probability of class 1, from blue to orange; the line is one half. Small grey points are the unlabelled rows.

X, truth = datasets.make_cross(600, random_state=0)
few = few_labels(truth, 0)
grid = np.stack(np.meshgrid(np.linspace(-3, 3, 120), np.linspace(-3, 3, 120)), axis=-1)
figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.3), sharey=True, layout="constrained")
for ax, (name, process) in zip(panels, processes(X).items(), strict=True):
    process.fit(X[few], truth[few])
    share = process.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(120, 120)
    colours = plt.matplotlib.colors.LinearSegmentedColormap.from_list(
        "", ["#0072B2", "#FFFFFF", "#E69F00"]
    )
    image = ax.pcolormesh(
        *np.moveaxis(grid, -1, 0), share, cmap=colours, vmin=0, vmax=1, rasterized=True
    )
    ax.contour(*np.moveaxis(grid, -1, 0), share, levels=[0.5], colors="black")
    ax.scatter(*X.T, s=5, color="#606060", linewidths=0)
    for label in (0, 1):
        ax.scatter(
            *X[few][truth[few] == label].T, zorder=3, **outlined(75), **marker_style(label)
        )
    ax.set(
        title=f"{name}: {process.score(X, truth):.0%} of all rows correct",
        xlabel="x0",
        aspect="equal",
    )
panels[0].set_ylabel("x1")
figure.colorbar(image, ax=panels, label="probability of class 1 (triangles)")
plt.show()

# %%
# The mean over ten draws of eight labels, on four tables: accuracy, and log loss, which is smaller for better
# probabilities. All of them are artificial, and made of groups: the assumption of RWM holds.

for name in ("cross", "two_rings", "clouds", "two_moons"):
    X, truth = getattr(datasets, f"make_{name}")(600, random_state=0)
    texts = []
    for kernel, process in processes(X).items():
        scores = []
        for seed in range(10):
            few = few_labels(truth, seed)
            shares = process.fit(X[few], truth[few]).predict_proba(X)[:, 1]
            scores.append([((shares > 0.5) == truth).mean(), log_loss(truth, shares)])
        texts.append("{} {:.1%}, log loss {:.2f}".format(kernel, *np.mean(scores, axis=0)))
    print(f"{name:10}", " | ".join(texts))
