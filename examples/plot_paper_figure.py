"""
The first figure of the paper
=============================

Reitmaier and Sick open their paper with two labelled rows, and ask which rows are near them. The kernel decides: the
nearest rows by Euclidean distance form a disc, those by RWM distance have the shape of the component they belong to.
"""

# %%
# The rows come from two processes with one centre. One label is the row nearest to the mean of the narrow process,
# the other the row of the wide process at the median distance from its mean.

import matplotlib.pyplot as plt
import numpy as np

from mixkern import MixtureSVC, datasets, plot

X, truth = datasets.make_two_rings(random_state=0)
y = np.full(len(X), -1)
labelled = []
for label, place in ((0, 0), (1, 200)):
    rows = np.flatnonzero(truth == label)
    distance = np.linalg.norm(X[rows] - X[rows].mean(axis=0), axis=1)
    labelled.append(rows[np.argsort(distance)[place]])
y[labelled] = truth[labelled]

# %%
# Lines of equal distance from each of the two labelled rows, and the boundary of the SVM, where both are equally near.
# Accuracies are those on 10,000 further rows.

X_test, y_test = datasets.make_two_rings(10_000, random_state=1)
figure, panels = plt.subplots(
    2, 3, figsize=(10, 8.2), sharex=True, sharey=True, layout="constrained"
)
for (first, second, last), name in zip(panels, ["rbf", "rwm"], strict=True):
    model = MixtureSVC(name, encoder="passthrough", probability=False, random_state=0).fit(
        X, y
    )
    for i, ax in enumerate((first, second)):
        plot.level_curves(
            model.kernel_,
            X[labelled[i]],
            X=X,
            ax=ax,
            title=f"{name.upper()} distance from label {i + 1}",
        )
    accuracy = model.score(X_test, y_test)
    plot.decision(
        model,
        X,
        y,
        truth=truth,
        ax=last,
        title=f"{name.upper()} kernel: {accuracy:.1%} correct",
    )
for ax in panels.flat:
    ax.set(xlim=(-3.8, 3.8), ylim=(-3.8, 3.8))
    ax.label_outer()
figure.legend(
    *panels[1, 2].get_legend_handles_labels(),
    loc="outside lower center",
    ncols=4,
    fontsize="small",
)
plt.show()

# %%
# ``mixkern_study.plot.introduction()`` draws the same figure, and ``mixkern paper report`` all figures of the paper
# beside the published ones. This is a picture of the idea, on rows made for it. On the twenty tables of the paper RWM
# alone does not always win; :doc:`/assumptions` lists where it loses.
