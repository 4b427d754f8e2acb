"""
Rows that are unlike all others
===============================

A sensor has two normal states, idle and running, and new readings are either normal or faults. ``MixtureOneClassSVM``
learns what is normal from rows without labels, and ``novelty`` of any estimator compares the density of a row.
"""

# %%
# Idle readings are a narrow group, running ones a long wide group. Some faults are close to the idle state, others are
# anywhere.

import matplotlib.pyplot as plt
import numpy as np

from mixkern import MixtureOneClassSVM


def readings(n, random):
    """Draw normal readings, half of them idle."""
    idle = random.normal(0, 0.15, (n // 2, 2))
    running = random.normal(size=(n // 2, 2)) @ [[1.6, 1.2], [0, 0.25]] + [4, 3]
    return np.concatenate([idle, running])


def faults(n, random):
    """Draw faults near the idle state, and anywhere."""
    angle, radius = random.uniform(0, 2 * np.pi, n), random.uniform(0.7, 1.2, n)
    near = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return near, random.uniform([-2, -2], [9, 8], (n, 2))


# %%
# Three detectors, each set to reject about five per cent of normal rows: the boundary of a one-class SVM with the RBF
# and with the RWM kernel, and the density itself.

DETECTORS = {
    "one-class SVM, RBF": (
        MixtureOneClassSVM("rbf", nu=0.05, random_state=0),
        lambda model, X: model.predict(X) == -1,
    ),
    "one-class SVM, RWM": (
        MixtureOneClassSVM("rwm", nu=0.05, random_state=0),
        lambda model, X: model.predict(X) == -1,
    ),
    "novelty above 0.95": (
        MixtureOneClassSVM(random_state=0),
        lambda model, X: model.novelty(X) > 0.95,
    ),
}
random = np.random.default_rng(0)
X = readings(600, random)
near, anywhere = faults(60, random)
x, y = np.meshgrid(np.linspace(-2, 9, 160), np.linspace(-2, 8, 160))
figure, panels = plt.subplots(1, 3, figsize=(10.4, 3.9), sharey=True, layout="constrained")
for ax, (name, (model, is_fault)) in zip(panels, DETECTORS.items(), strict=True):
    rejected = is_fault(model.fit(X), np.column_stack([x.ravel(), y.ravel()])).reshape(
        x.shape
    )
    ax.contourf(x, y, rejected, levels=[-0.5, 0.5], colors=["#D6E6F2"])
    ax.contour(x, y, rejected, levels=[0.5], colors="#0072B2")
    ax.scatter(*X.T, s=6, color="#0072B2", linewidths=0, label="normal rows")
    ax.scatter(
        *near.T, s=22, color="#D55E00", marker="^", label="faults near idle", linewidths=0
    )
    ax.scatter(
        *anywhere.T, s=26, color="black", marker="x", linewidths=1, label="faults anywhere"
    )
    ax.set(title=name, xlabel="current")
panels[0].set_ylabel("vibration")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# Means over five draws, of new rows. The boundary of a one-class SVM depends on gamma, and ``gamma="scale"`` is too
# smooth for the narrow group; RWM does not help here. The density has a scale for each group, and ``novelty`` finds
# nearly all faults. Faults far from all rows are found by all three.

for name, (model, is_fault) in DETECTORS.items():
    shares = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        model.fit(readings(600, random))
        shares.append(
            [
                is_fault(model, rows).mean()
                for rows in (readings(600, random), *faults(300, random))
            ]
        )
    print(
        "{}: rejects {:.0%} of normal rows, {:.0%} of near and {:.0%} of other faults".format(
            name, *np.mean(shares, axis=0)
        )
    )
