"""Chart of the importance of columns."""

import pandas as pd
import polars as pl
import pytest

from mixkern import plot
from mixkern.errors import OptionError

TABLE = pd.DataFrame({"column": ["age", "name" * 20, "town"], "importance": [0.4, 0.2, 0.0]})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas])
def test_bars_are_as_long_as_their_columns_are_important(make):
    ax = plot.importance(make(TABLE), title="Columns")
    assert [bar.get_width() for bar in ax.patches] == [0.4, 0.2, 0.0]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert (names[0], names[2]) == ("age", "town")
    assert len(names[1]) == 30
    low, high = ax.get_ylim()
    assert low > high  # the first is on top
    assert ax.get_title() == "Columns"


def test_there_are_as_many_as_wanted_and_where_they_are_wanted():
    ax = plot.importance(TABLE, n=2)
    assert len(ax.patches) == 2
    assert plot.importance(TABLE, ax=ax) is ax


@pytest.mark.parametrize("wrong", [None, TABLE.rename(columns={"importance": "weight"}), [1, 2]])
def test_other_tables_are_refused(wrong):
    with pytest.raises(OptionError, match=r"^table must be a frame with the columns 'column' and 'importance'\. Pass"):
        plot.importance(wrong)
