"""Encoded rows in the table's own units."""

import numpy as np
import pandas as pd

from mixkern import MixtureSVC, TableEncoder
from mixkern.explain.units import column_names, in_units


def test_cells_come_back_as_they_were_and_gaps_as_none():
    day = pd.Timestamp("2024-03-01")
    table = pd.DataFrame(
        {
            "when": [day, pd.NaT, day + pd.Timedelta(days=3)],
            "town": ["Kassel", None, "Passau"],
            "size": [0.1, 1e9 + 0.3, None],
            "tiny": [1e-300, 2e-300, 0.0],
        }
    )
    encoder = TableEncoder().fit(table)
    cells = in_units(encoder, encoder.transform(table))
    names = list(encoder.get_feature_names_out())

    assert cells[:, names.index("size")].tolist() == [0.1, 1e9 + 0.3, None]
    assert cells[:, names.index("town")].tolist() == ["Kassel", None, "Passau"]
    assert cells[:, names.index("when")].tolist() == [day, None, day + pd.Timedelta(days=3)]
    np.testing.assert_allclose(cells[:, names.index("tiny")].astype(float), table["tiny"], rtol=1e-9, atol=1e-310)


def test_decoded_numbers_have_no_digits_of_their_own():
    values = np.round(np.random.RandomState(0).uniform(0, 90, 200), 1)
    encoder = TableEncoder().fit(values[:, None])

    assert in_units(encoder, encoder.transform(values[:, None]))[:, 0].tolist() == values.tolist()


def test_rows_that_came_encoded_stay_so():
    rows = np.array([[1.5, np.nan], [0.0, 2.0]])

    assert in_units(None, rows).tolist() == [[1.5, None], [0.0, 2.0]]


def test_columns_without_names_are_numbered():
    X = np.random.RandomState(0).standard_normal((30, 2))
    y = np.arange(30) % 2
    raw = MixtureSVC(encoder="passthrough", random_state=0)

    assert column_names(raw.fit(X, y)) == ["x0", "x1"]
    assert column_names(raw.fit(pd.DataFrame(X, columns=["a", "b"]), y)) == ["a", "b"]
    assert column_names(MixtureSVC(random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)) == ["a", "b"]
