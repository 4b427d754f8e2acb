"""Frames of the kind that came in."""

import datetime as dt
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import MixtureSVC, VBMixture, datasets
from mixkern.advice import advise, suggestion_table
from mixkern.density import component_table
from mixkern.encoding import TableEncoder
from mixkern.encoding.cell import python_cells
from mixkern.encoding.frame import frame_kind, make_frame

PEOPLE = pd.DataFrame({"age": [20.5, 40.5, None], "town": ["Kassel", "Passau", None]}, index=[7, 8, 9])
KINDS = {"polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")


def as_dict(frame):
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


def test_the_kind_of_a_table():
    assert frame_kind(PEOPLE) == frame_kind(PEOPLE.to_numpy()) == frame_kind([[1]]) == "pandas"
    assert frame_kind(pl.from_pandas(PEOPLE)) == "polars"
    assert frame_kind(pa.Table.from_pandas(PEOPLE)) == "pyarrow"


@pytest.mark.parametrize("kind", KINDS)
def test_cells_of_any_type_make_a_column(kind):
    day = dt.datetime(2020, 2, 29)
    columns = {
        "whole": np.ma.array([3, 0], mask=[False, True]),
        "number": np.array([0.5, np.nan]),
        "text": np.array(["a", None], dtype=object),
        "mixed": np.array(["a", 0.25], dtype=object),
        "numbers": [1, 0.5],
        "date": np.array([day, "NaT"], dtype="datetime64[us]"),
        "counts": [{"yes": 2, 1: 3}, None],
        "label": pd.Categorical(["x", "y"]),
    }
    assert as_dict(make_frame(columns, kind, index=[5, 6], purpose="a test")) == {
        "whole": [3, None],
        "number": [0.5, None],
        "text": ["a", None],
        "mixed": ["a", "0.25"],
        "numbers": [1.0, 0.5],
        "date": [day, None],
        "counts": ["yes: 2, 1: 3", None],
        "label": ["x", "y"],
    }
    assert list(as_dict(make_frame({"a": [1]}, kind, index=[4], index_name="row", purpose="a test"))) == ["row", "a"]


def test_dates_that_python_has_not_are_cut_off():
    far = python_cells(np.array(["20000-01-01", "-0500-01-01"], dtype="datetime64[us]"))
    assert far == [dt.datetime(9999, 12, 31), dt.datetime(1, 1, 1)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_encoder_decodes_to_the_kind_of_the_fitted_table(kind):
    encoder = TableEncoder().fit(KINDS[kind](PEOPLE.reset_index(drop=True)))
    encoded = encoder.transform(KINDS[kind](PEOPLE.reset_index(drop=True)))
    found = encoder.inverse_transform(encoded)
    assert frame_kind(found) == kind
    assert as_dict(found) == {"age": [20.5, 40.5, None], "town": ["Kassel", "Passau", None]}
    again = encoder.inverse_transform(pd.DataFrame(encoded, columns=["age", "town"], index=[7, 8, 9]))
    pd.testing.assert_frame_equal(again, PEOPLE)
    described = as_dict(encoder.describe())
    assert described["column"] == ["age", "town"]
    assert described["categories"] == [None, 2]
    assert frame_kind(TableEncoder().fit(PEOPLE).inverse_transform(encoded)) == "pandas"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_assessments_advice_and_suggestions_are_of_the_kind_of_the_table(kind):
    iris = datasets.load("iris")
    frame = iris.X
    other, y = KINDS[kind](frame), iris.few_labels(per_class=6, random_state=0)
    model = MixtureSVC(unlabelled="ignore", density=VBMixture(3, random_state=0), random_state=0)
    pairs = [
        (
            component_table(m.mixture_, m.encoder_),
            m.assess(X, all_classes=True),
            suggestion_table(X, 3, y, model=m, random_state=0),
        )
        for X, m in ((X, model.fit(X, y)) for X in (frame, other))
    ]
    advice = [advise(X, y, estimator=model, random_state=0).components for X in (frame, other)]
    for expected, found in [*zip(*pairs, strict=True), advice]:
        assert frame_kind(expected) == "pandas"
        assert frame_kind(found) == kind
        names, cells = list(expected.columns), as_dict(found)
        assert list(cells)[-len(names) :] == names
        for name in names:
            assert cells[name] == [None if pd.isna(cell) else cell for cell in expected[name]]


@pytest.mark.slow
def test_polars_is_enough():
    code = """
import sys
from importlib.abc import MetaPathFinder
class NoPandas(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoPandas())
import polars as pl, warnings
from mixkern import MixtureSVC, VBMixture
from mixkern.advice import advise, suggestion_table
X = pl.DataFrame({"size": [i % 7 + i / 99 for i in range(60)], "town": ["abc"[i % 3] for i in range(60)]})
y = [["low", "high"][i % 7 > 3] if i < 30 else None for i in range(60)]
model = MixtureSVC(density=VBMixture(3, random_state=0), random_state=0, verbose=1).fit(X, y)
for found in (model.assess(X), *(model.explain(X[:2], by, details=d) for by in ("label", "component", "column")
              for d in (True, False)), model.encoder_.inverse_transform(model.encoder_.transform(X)),
              model.encoder_.describe(), suggestion_table(X, 3, y, model=model), advise(X, y).components):
    assert isinstance(found, pl.DataFrame), found
assert "pandas" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_library_that_is_not_installed_is_replaced_by_pandas(monkeypatch):
    encoder = TableEncoder().fit(pl.from_pandas(PEOPLE))
    assert encoder.frame_kind_ == "polars"
    monkeypatch.setattr("mixkern.encoding.encoder.find_spec", lambda _: None)
    assert isinstance(encoder.inverse_transform([[0.0, 1.0]]), pd.DataFrame)
