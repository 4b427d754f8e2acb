"""Small tables and their models: one with gaps, categories and names that look like code, one simple."""

import warnings

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC
from mixkern.errors import ColumnChoiceWarning
from mixkern.report import write_model_report
from mixkern.report.facts import ModelFacts

SCRIPT = "<script>alert(1)</script>"
HEBREW, LONG, BROKEN = "גיל המטופל", "long" * 80, "nothing \x00 and a bell \x07"


def nasty_table(n=120):
    """Return two groups of rows; the labels of one class are a script."""
    random = np.random.RandomState(0)
    group = random.randint(2, size=n)
    X = pd.DataFrame(
        {
            SCRIPT: random.normal(size=n) + 6 * group,
            HEBREW: np.where(random.uniform(size=n) < 0.2, np.nan, random.normal(50, 9, size=n)),
            LONG: np.where(group == 1, "</td><img src=x onerror=alert(2)>", "😀 & co"),
            BROKEN: pd.Timestamp("2024-01-01") + pd.to_timedelta(random.randint(0, 400, size=n), unit="D"),
        }
    )
    y = pd.Series(np.where(group == 1, SCRIPT, LONG), dtype=object)
    y[random.permutation(n)[16:]] = None
    return X, y


@pytest.fixture(scope="package")
def nasty():
    X, y = nasty_table()
    return MixtureSVC(random_state=0).fit(X, y), X, y


@pytest.fixture(scope="package")
def commented():
    """Return a model, its table with a column of texts, a gap among them, and the labels."""
    random = np.random.RandomState(0)
    group = np.arange(80) % 2
    kinds = (["came late", "delivery slow", "parcel lost"], ["invoice wrong", "price too high", "please refund"])
    texts = [f"{random.choice(kinds[g])} {random.choice(kinds[g])} again, case {i}" for i, g in enumerate(group)]
    X = pd.DataFrame({"size": random.normal(size=80), "note": pd.Series(texts, dtype=object)})
    X.loc[7, "note"] = None
    y = pd.Series(np.where(group == 1, "bill", "goods"), dtype=object)
    y[20:] = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnChoiceWarning)
        return MixtureSVC(random_state=0).fit(X, y), X, y


@pytest.fixture(scope="package")
def nasty_page(nasty, tmp_path_factory):
    """Write the report with everything in it."""
    path = tmp_path_factory.mktemp("report") / "deep" / "nasty.html"
    return write_model_report(*nasty, path, target="</h1><script>alert(3)</script>", facts={"File": "a&b.csv"})


@pytest.fixture(scope="package")
def plain():
    """Three groups far apart in two columns, labels in two of them."""
    random = np.random.RandomState(1)
    group = np.repeat([0, 1, 2], [60, 40, 20])
    X = pd.DataFrame(
        {
            "size": np.array([0.0, 8.0, 16.0])[group] + random.normal(size=120),
            "town": np.array(["Kassel", "Passau", "Passau"])[group],
        }
    )
    y = pd.Series([None] * 120, dtype=object)
    y[[0, 1, 2, 3, 4]], y[[60, 61, 62, 63]] = "low", "high"
    model = MixtureSVC(random_state=0).fit(X, y)
    return model, X, y


@pytest.fixture(scope="package")
def facts(plain):
    model, X, y = plain
    return ModelFacts.of(model, X, y, "level")
