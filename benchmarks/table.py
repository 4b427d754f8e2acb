"""TableEncoder against scikit-learn's ColumnTransformer with StandardScaler and OrdinalEncoder."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from benchmarks.ratio import ratio
from mixkern import TableEncoder

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
