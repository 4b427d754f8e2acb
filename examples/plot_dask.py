"""
A hundred million rows on Dask
==============================

The density of a table is learned from sums over its rows, so the rows need not be in one place. Estimators take Dask
collections, and the class names stay the same; here with few rows, and below with the commands for many.
"""

# %%
# A Dask DataFrame of 40,000 rows in eight partitions takes the place of ``dd.read_parquet("events/*.parquet")``. One
# row in four hundred has a label.

import dask.dataframe as dd
import matplotlib.pyplot as plt
import pandas as pd

from mixkern import MixtureSVC, datasets
from mixkern.distributed import listening

X, truth = datasets.make_clouds(40_000, random_state=0)
order = pd.Series(range(40_000)).sample(frac=1, random_state=0).to_numpy()
table = pd.DataFrame(X[order], columns=["x", "y"])
table["label"] = pd.Series(truth[order]).where(table.index % 400 == 0).astype("Int64")
collection = dd.from_pandas(table, npartitions=8)

# %%
# ``fit`` makes several passes over the partitions. Each partition returns a few kilobytes of sums, whatever its size.
# Predictions are lazy: nothing is computed before ``compute`` or ``to_parquet``.

passes = []
with listening(lambda name, seconds: passes.append((name, seconds))):
    model = MixtureSVC(random_state=0).fit(collection, "label")
found = model.assess(collection.drop(columns="label"))
first = found.partitions[0].compute()
print(first.head(3))
correct = (first["label"].to_numpy() == truth[order][: len(first)]).mean()
print(f"{correct:.1%} of the first partition are correct; 90.35 % is the best possible")

# %%
# What was read, pass by pass. The density starts on samples that grow, so only its last steps read all rows.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
totals = (
    pd.DataFrame(passes, columns=["name", "seconds"])
    .groupby("name", sort=False)["seconds"]
    .agg(["size", "sum"])
)
bars = left.barh(totals.index, totals["size"], color="#0072B2")
left.bar_label(bars, [f"{seconds:.2f} s" for seconds in totals["sum"]], padding=3)
left.set(title="Passes over the partitions, and their time", xlabel="number of passes")
left.margins(x=0.2)
left.invert_yaxis()
shown = table.iloc[: len(first)].assign(label=first["label"].to_numpy())
for label, colour, marker in ((0, "#0072B2", "o"), (1, "#E69F00", "^")):
    part = shown[shown["label"] == label]
    right.scatter(
        part["x"],
        part["y"],
        s=4,
        alpha=0.5,
        color=colour,
        marker=marker,
        linewidths=0,
        label=f"class {label}",
    )
right.set(
    title=f"Predictions of partition 1 of 8: {len(first):,} rows", xlabel="x", ylabel="y"
)
right.legend(markerscale=3)
plt.show()

# %%
# With a folder of Parquet files and a cluster, the same model comes from two commands::
#
#     mixkern fit 'events/*.parquet' --target churn -o churn.mixkern --dask tcp://scheduler:8786
#     mixkern predict churn.mixkern 'events/*.parquet' -o labelled --dask tcp://scheduler:8786
#
# Measured on two cores: 20,000,000 rows of ten numbers in 200 files, on two workers with 1 GB each, took 47 s to fit
# and 19 s to predict; one pass over 100,000,000 generated rows took 19.5 s.
# ``make bench-scale`` repeats this. :doc:`/scale` has all figures, and what they do not show.
