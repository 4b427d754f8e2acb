"""A table in memory and the same rows in partitions, of unknown and very different lengths."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

dd = pytest.importorskip("dask.dataframe")

N = 17_000  # more than a density is fitted to at once, so that passes over partitions are made
LENGTHS = (0, 9_000, 1, 0, 6_000, 1_500, 499)


@dataclass(frozen=True)
class Slice:
    """Reads some rows of a frame; the collection does not know how many."""

    frame: pd.DataFrame

    def __call__(self, bounds):
        return self.frame.iloc[slice(*bounds)]


def in_partitions(frame, lengths=LENGTHS):
    """Give the rows of a frame as a Dask DataFrame of unknown lengths."""
    ends = np.cumsum(lengths)
    bounds = list(zip(ends - lengths, ends, strict=True))
    return dd.from_map(Slice(frame), bounds, meta=frame.iloc[:0])


@pytest.fixture(scope="session")
def frame():
    """Numbers with gaps, floats of 32 bits, whole numbers, texts, booleans and dates; two groups of rows."""
    random = np.random.RandomState(0)
    group = random.randint(2, size=N)
    table = pd.DataFrame(
        {
            "size": random.normal(size=N) + 4 * group,
            "weight": (random.normal(size=N) * (1 + group)).astype(np.float32),
            "count": random.randint(0, 8, size=N) + group,
            "town": pd.array(np.where(random.rand(N) < 0.7, np.array(["Kassel", "Passau"])[group], "Jena"), "string"),
            "is_new": random.rand(N) < 0.3 + 0.4 * group,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.randint(0, 900, size=N), unit="D"),
        }
    )
    table.loc[random.rand(N) < 0.1, "size"] = np.nan
    table.loc[table.index[:9_000], "town"] = table["town"][:9_000].replace("Jena", "Kassel")
    table.loc[table.index[-499:], "town"] = "Ulm"  # in one partition only
    table.loc[table.index[9_001:15_000], "town"] = pd.NA  # a partition of gaps
    few = random.choice(N, 30, replace=False)
    table["label"] = pd.array([None] * N, "string")
    table.loc[few, "label"] = np.array(["no", "yes"])[group[few]]
    return table


@pytest.fixture(scope="session")
def partitions(frame):
    return in_partitions(frame)
