"""TableEncoder against ColumnTransformer with StandardScaler and OrdinalEncoder, read_table against pandas.read_csv."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from benchmarks.ratio import ratio
from mixkern import TableEncoder, read_table

SHAPES = ((1_000, 10, 5), (200_000, 10, 0), (200_000, 0, 5), (200, 5_000, 0))  # rows, numbers, texts
TINY_SHAPES = ((50, 2, 1), (50, 0, 2), (20, 30, 0))


def frame(n: int, n_numbers: int, n_texts: int) -> pd.DataFrame:
    """Draw a table with 5 % gaps."""
    random = np.random.RandomState(0)
    columns = {f"number {i}": random.standard_normal(n) for i in range(n_numbers)}
    columns |= {f"text {i}": random.choice([f"category {c}" for c in range(20)], size=n) for i in range(n_texts)}
    return pd.DataFrame(columns).mask(random.uniform(size=(n, n_numbers + n_texts)) < 0.05)


def run(*, tiny: bool = False) -> None:
    """Print one line per shape."""
    print("TableEncoder.fit_transform: time as a share of ColumnTransformer(StandardScaler, OrdinalEncoder)")
    for n, n_numbers, n_texts in TINY_SHAPES if tiny else SHAPES:
        table = frame(n, n_numbers, n_texts)
        numbers, texts = list(table.columns[:n_numbers]), list(table.columns[n_numbers:])
        peer = ColumnTransformer([("numbers", StandardScaler(), numbers), ("texts", OrdinalEncoder(), texts)])
        share = ratio(lambda t=table: TableEncoder().fit_transform(t), lambda t=table, p=peer: p.fit_transform(t))
        print(f"  {n:>7} rows, {n_numbers:>4} numbers, {n_texts} texts: {share:.2f}")
    print("read_table: time as a share of pandas.read_csv")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        for name, share in shares(Path(folder), 1_000 if tiny else 300_000).items():
            print(f"  {name}: {share:.2f}")


def shares(folder: Path, n: int) -> dict[str, float]:
    """Give the share for a table of 20 columns, with points, with decimal commas, and compressed."""
    random = np.random.RandomState(0)
    table = frame(n, 10, 5).round(4)
    table = table.assign(**{f"whole {i}": random.randint(0, 10_000, n) for i in range(4)})
    table["moment"] = pd.date_range("2000-01-01", periods=n, freq="h").astype(str)
    ways = {"points": {}, "commas": {"sep": ";", "decimal": ","}, "points, gzip": {"compression": "gzip"}}
    found = {}
    for name, how in ways.items():
        path = folder / "table.csv"
        table.to_csv(path, index=False, **how)
        found[name] = ratio(lambda p=path: read_table(p), lambda p=path, h=how: pd.read_csv(p, **h))
    return found
