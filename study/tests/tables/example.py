"""A small study, computed by plain loops."""

import statistics

from mixkern_study import Result

READINGS = ("expected_error", "optimistic", "ceiling")
SETS = ("iris", "wine", "credit_a")
STRANGE = "A & B <c>"


def result(data_set, method, fold, accuracy, *, reading="optimistic", repeat=0, experiment=1, **more):
    return Result(
        experiment=experiment,
        data_set=data_set,
        fold=fold,
        repeat=repeat,
        method=method,
        reading=reading,
        accuracy=accuracy,
        **{"n_labelled": 12, "n_support": 7 + fold, **more},
    )


def accuracy_of(data_set, method, fold, repeat):
    """Something that differs everywhere, but for ties of two kernels on wine."""
    method = "gmm" if (data_set, method) == ("wine", "rbf") else method
    return round(0.5 + (sum(map(ord, data_set + method)) % 17) / 50 + fold / 100 + repeat / 40, 6)


def fold_means(data_set, method):
    return [
        100 * statistics.mean(accuracy_of(data_set, method, fold, repeat) for repeat in range(2)) for fold in range(5)
    ]


def ranks_and_wins(rows):
    """Count how many are better, and half of how many are as good; wins are shared."""
    k = len(rows[0])
    ranks, wins = [0.0] * k, [0.0] * k
    for row in rows:
        best = [value == max(row) for value in row]
        for i, value in enumerate(row):
            better, equal = sum(other > value for other in row), sum(other == value for other in row)
            ranks[i] += (better + (equal + 1) / 2) / len(rows)
            wins[i] += best[i] / sum(best)
    return ranks, wins


def cells_of(table, title):
    """Give the cells of a row by their headings."""
    (row,) = [row for row in (*table.rows, *table.footer) if row[0].value == title]
    return dict(zip(table.columns, row, strict=True))
