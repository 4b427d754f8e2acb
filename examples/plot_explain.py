"""
Why a row has its label
=======================

A prediction is easier to trust, or to doubt, if one sees what it is made of. ``explain`` decomposes it exactly into
contributions of labelled rows, components and columns; this example draws them for one patient.
"""

# %%
# Fifteen patients of each class are labelled. Row 71 is a patient without a label. As a text, the explanation is the
# one that ``mixkern explain`` prints:

import matplotlib.pyplot as plt

from mixkern import Explanation, MixtureSVC, TableEncoder, datasets

heart = datasets.load("heart")
y = heart.few_labels(per_class=15, random_state=0)
encoder = TableEncoder(continuous=heart.continuous, categorical=heart.categorical)
model = MixtureSVC(encoder=encoder, random_state=0).fit(heart.X, y)
patient = heart.X[71:72]
print(Explanation.of(model, patient))

# %%
# As a frame, for pictures. On the left, each bar is the contribution of a labelled patient to the score; with the
# others, the unlabelled rows (the S3VM) and the intercept they add up to it. On the right, what each column adds to the
# squared distance between this patient and the two labelled ones that count most for and against the label.

by_label = model.explain(patient, n=6, details=True)
by_column = model.explain(patient, by="column", n=None).query("beside != 'component'")
label, other = by_label["label"].iloc[0], by_label["against"].iloc[0]

figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.4), layout="constrained")
texts = [
    f"patient {int(line.neighbour)} ({line.its_label})"
    if line.source == "neighbour"
    else line.source
    for line in by_label.itertuples()
]
pulls = [*by_label["pull"], by_label["pull"].sum()]
colours = ["#0072B2" if pull > 0 else "#D55E00" for pull in pulls]
bars = left.barh([*texts, "score"], pulls, color=[*colours[:-1], "black"])
left.bar_label(bars, fmt="%+.2f", padding=3, fontsize="small")
left.axvline(0, color="black", linewidth=0.8)
left.margins(x=0.2)
left.set(
    title=f"Row 71: {label!r} (right), not {other!r} (left)",
    xlabel="contribution to the score",
)
left.invert_yaxis()

parts = by_column.pivot(index="column", columns="beside", values="part")
parts = parts.loc[parts.abs().sum(axis=1).sort_values().index[-8:]]  # the eight largest
numbers = by_column.drop_duplicates("beside").set_index("beside")["number"]
places = range(len(parts))
for shift, side, colour in ((0.2, "for", "#0072B2"), (-0.2, "against", "#D55E00")):
    name = f"patient {numbers[side]}, {side} {label!r}"
    right.barh(
        [place + shift for place in places],
        parts[side],
        height=0.38,
        color=colour,
        label=name,
    )
right.set(title="Where it differs from two of them", xlabel="part of the squared distance")
right.set_yticks(
    places, [f"{column} = {patient[column].iloc[0]}" for column in parts.index.astype(str)]
)
right.axvline(0, color="black", linewidth=0.8)
right.legend(loc="lower right")
plt.show()

# %%
# This shows how the model computed its label from thirty others. It is not a cause: with other labelled rows the
# neighbours would be others. A negative part is a difference that the other columns make likely.
