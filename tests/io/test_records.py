"""Records one by one, and open quotes."""

import pytest

from mixkern.io.dialect import Dialect
from mixkern.io.records import Records, open_quote


def test_a_cut_record_is_left_out():
    records = Records('a\n"b\nc\nd', Dialect("csv"), "a.csv", is_cut=True)
    assert (records.rows(1), records.rest) == ([["a"]], '"b\nc\nd')


@pytest.mark.parametrize(
    ("text", "line"), [('1,"a""b', 0), ('1,"a"\n2,"b', 1), ('1,"a"', None), ('5",6"\n', None), ('"a\nb\n', 0)]
)
def test_open_quotes(text, line):
    assert open_quote(text, ",") == line
