"""
A messy CSV from start to finish
================================

A file as people send it: semicolons, decimal commas, a currency, several words for a gap, an identifier, a column
with one value, and a label in one row of twelve. ``read_table`` and ``prepare_table`` turn it into columns to learn
from, and ``MixtureSVC`` predicts the other labels.
"""

# %%
# First, write such a file to a temporary folder: 600 customers who stay or leave, 50 of them with a label.

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mixkern import MixtureSVC, estimated_accuracy, prepare_table, read_table

random = np.random.default_rng(0)
n = 600
leaves = random.random(n) < 0.4
age = np.where(leaves, random.normal(36, 9, n), random.normal(50, 9, n))
spent = np.exp(np.where(leaves, random.normal(3.6, 0.5, n), random.normal(4.2, 0.4, n)))
plan = np.where(random.random(n) < np.where(leaves, 0.5, 0.7), "plus", "basic")
since = np.datetime64("2016-01-01") + np.where(
    leaves, random.integers(500, 2500, n), random.integers(0, 2000, n)
)
lines = ["customer;age;spent;plan;since;campaign;churn"]
for i in range(n):
    shown_age = random.choice(["n/a", "?", ""]) if i % 15 == 3 else f"{age[i]:.1f}"
    label = ("yes" if leaves[i] else "no") if i % 12 == 0 else ""
    cells = [
        f"C-{i:05d}",
        shown_age,
        f"{spent[i]:.2f} €",
        plan[i],
        f"{since[i].item():%d/%m/%Y}",
        "spring",
        label,
    ]
    lines.append(";".join(cells).replace(".", ","))
path = Path(tempfile.mkdtemp()) / "customers.csv"
path.write_text("\n".join(lines), encoding="cp1252")
print("\n".join(lines[:5]))

# %%
# ``read_table`` finds encoding, delimiter, decimal sign and gaps. ``prepare_table`` separates the labels and leaves out
# what cannot help: the identifier, and the column with one value. Each choice is a warning; here they are printed.

with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    table = prepare_table(read_table(path).frame, "churn")
for note in notes:
    print("*", note.message)
print(table)

# %%
# Fit, and estimate the accuracy on the rows without a label. The estimate reads no labels but the 50 of the file. Such
# an interval misses the truth in about one table of twenty; the picture below has the true share.

model = MixtureSVC(encoder=table.encoder, random_state=0).fit(table.X, table.y)
print(estimated_accuracy(model, table.X, table.y))
model

# %%
# ``assess`` returns label, probability, component and novelty of each row. The truth is known here, because this
# example made it: are the sure predictions right more often than the others?

found = model.assess(table.X)
print(found.head(3))
hidden = table.y.isna().to_numpy()
correct = found["label"] == np.where(leaves, "yes", "no")
groups = np.digitize(found["probability"], [0.6, 0.7, 0.8, 0.9])
names = ["50-60", "60-70", "70-80", "80-90", "90-100"]
counts = [int((hidden & (groups == i)).sum()) for i in range(5)]
shares = [100 * correct[hidden & (groups == i)].mean() for i in range(5)]

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bars = ax.bar(names, shares, color="#0072B2", width=0.7)
ax.bar_label(
    bars,
    [f"{count} rows" for count in counts],
    label_type="center",
    color="white",
    fontsize="small",
)
ax.plot(
    names,
    [55, 65, 75, 85, 95],
    "D",
    color="#E69F00",
    markeredgecolor="black",
    label="expected",
)
ax.set(xlabel="probability of the predicted label (%)", ylabel="correct (%)", ylim=(0, 105))
ax.set_title(
    f"{correct[hidden].mean():.0%} of {hidden.sum()} hidden labels are predicted correctly"
)
ax.legend(loc="upper left")
plt.show()

# %%
# The same on the command line, where ``predict`` writes the file as it was read, with four more columns::
#
#     mixkern fit customers.csv --target churn -o churn.mixkern
#     mixkern predict churn.mixkern customers.csv -o labelled.csv
