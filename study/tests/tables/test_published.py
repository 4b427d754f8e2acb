"""The paper's statistics, computed again."""

import re

import pytest

from mixkern_study import KERNELS, statistics_table

from .example import cells_of


def test_the_papers_statistics():
    table = statistics_table()
    chi = [cells_of(table, f"{e}: Friedman's chi-square") for e in (1, 2, 3)]
    assert [row["published"].value for row in chi] == [20.83, 24.62, 23.44]
    assert chi[0]["as printed"].value == pytest.approx(20.835)
    for e, published in ((1, 20.83), (2, 24.62), (3, 23.44)):  # it is that of the published ranks
        assert cells_of(table, f"{e}: the same, of the published ranks")["exact"].value == pytest.approx(
            published, abs=0.0051
        )
    for e in (1, 2, 3):
        for kernel in KERNELS:
            wins = cells_of(table, f"{e}: wins of {kernel.upper()}")
            assert wins["bold as ties"].value == pytest.approx(wins["published"].value, abs=0.0501)
            rank = cells_of(table, f"{e}: mean rank of {kernel.upper()}")
            assert rank["bold as ties"].value == pytest.approx(rank["published"].value, abs=0.0501)
    assert [cells_of(table, f"1: critical {what} at 0.01")["exact"].to_text() for what in ("value", "difference")] == [
        "3.113",
        "1.271",
    ]
    assert cells_of(table, "3: critical difference at 0.1")["exact"].to_text() == "0.935"
    assert "5.8 wins" in table.caption


def test_its_latex_is_balanced():
    bare = re.sub(r"\\[\\&%$#_{}]", "", statistics_table().to_latex())
    assert bare.count("{") == bare.count("}")
