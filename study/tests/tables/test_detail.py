"""Statistics of the paper, definiteness and settings as tables."""

import re

import pytest

from mixkern_study import KERNELS, definiteness_table, settings_table, statistics_table
from mixkern_study.result_table import to_latex
from mixkern_study.tables.detail import is_beyond_rounding

from .example import cells_of, result


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
    bare = re.sub(r"\\[\\&%$#_{}]", "", to_latex(statistics_table()))
    assert bare.count("{") == bare.count("}")


def test_definiteness_counts_what_is_negative_beyond_rounding(store):
    values = [0.1, 0.0, -1e-16, -3e-14, -1e-9, -0.5]
    store.add(
        result("iris", "rwm", i, 0.9, experiment=2, smallest_eigenvalue=value, negative_mass=abs(value) / 10)
        for i, value in enumerate(values)
    )
    row = cells_of(definiteness_table(store), "2: optimistic")
    assert (row["matrices"].value, row["not PSD"].value) == (6, 2)  # 12 x 12: rounding is 12 * 12 * 2.2e-16
    assert row["smallest eigenvalue"].value == -0.5
    assert row["largest negative mass"].value == 0.05
    assert not is_beyond_rounding(result("a", "rwm", 0, 0.5, n_labelled=10**6, smallest_eigenvalue=-8e-10))
    assert is_beyond_rounding(result("a", "rwm", 0, 0.5, n_labelled=10**6, smallest_eigenvalue=-1e-9))


def test_nan_eigenvalues_are_not_counted(store):
    assert len(definiteness_table(store).rows) == 1


def test_settings_name_the_protocol_and_the_versions(store):
    facts = {row[0].value: row[1].value for row in settings_table(store).rows}
    assert facts["share"] == "0.1"
    assert facts["priors"] == ", ".join(f"{prior:g}" for prior in store.protocol.priors)
    assert facts["results of experiment 1"] == str(3 * 4 * 5 * 2 * 3)
    assert facts["runs"] == "1"
    assert {"numpy", "scikit-learn", "python", "cores"} <= set(facts)
    assert store.protocol.key in settings_table(store).caption
