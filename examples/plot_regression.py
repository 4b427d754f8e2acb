"""
Regression with few targets
===========================

``MixtureSVR`` predicts numbers: the density is learned from all rows, the regression from the rows that have a target.
The kernel matters: this example has a target for which RWM is right, and one for which it is not.
"""

# %%
# The rows form two crossing groups. The first target jumps from one group to the other; the second is a smooth function
# of both columns. 30 of 600 rows have a target, NaN is a row without one.

import matplotlib.pyplot as plt
import numpy as np

from mixkern import MixtureSVR, datasets


def table(seed):
    """Return rows, two targets, and the 30 rows whose targets are known."""
    random = np.random.default_rng(seed)
    X, group = datasets.make_cross(600, random_state=seed)
    by_group = np.where(group == 0, X.sum(axis=1), -2.0)
    smooth = np.sin(2 * X[:, 0]) + X[:, 1]
    noise = random.normal(0, 0.1, (2, 600))
    return (
        X,
        {"by group": by_group + noise[0], "smooth": smooth + noise[1]},
        random.choice(600, 30, replace=False),
    )


def fitted(kernel, X, target, known):
    """Fit on the known targets, and return the regressor and the score (R²) on the others."""
    y = np.full(len(X), np.nan)
    y[known] = target[known]
    model = MixtureSVR(kernel, C=10, random_state=0).fit(X, y)
    hidden = np.isnan(y)
    return model, model.score(X[hidden], target[hidden])


# %%
# Predicted against true targets of the rows without one.

X, targets, known = table(0)
figure, panels = plt.subplots(1, 4, figsize=(11, 3.3), layout="constrained")
cases = [(name, kernel) for name in targets for kernel in ("rbf", "rwm")]
for ax, (name, kernel) in zip(panels, cases, strict=True):
    model, score = fitted(kernel, X, targets[name], known)
    limits = [targets[name].min() - 0.3, targets[name].max() + 0.3]
    ax.plot(limits, limits, color="#808080", linewidth=1)
    ax.scatter(
        targets[name], model.predict(X), s=7, alpha=0.5, linewidths=0, color="#0072B2"
    )
    ax.scatter(
        targets[name][known],
        model.predict(X[known]),
        s=22,
        color="#E69F00",
        edgecolors="black",
        linewidths=0.6,
    )
    ax.set(
        title=f"{name}, {kernel.upper()}: {score:.2f}",
        xlabel="true",
        xlim=limits,
        ylim=limits,
        aspect="equal",
    )
panels[0].set_ylabel("predicted (orange: known)")
plt.show()

# %%
# Means of R² over ten draws. RWM is better where the target depends on the group of a row, and worse for the smooth
# target: there, a difference of one unit means the same everywhere.

for name, kernel in cases:
    scores = []
    for seed in range(10):
        X, targets, known = table(seed)
        scores.append(fitted(kernel, X, targets[name], known)[1])
    print(f"{name:8} {kernel.upper()}  {np.mean(scores):.2f}")
