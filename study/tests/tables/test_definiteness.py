"""Matrices that are not positive semi-definite."""

from mixkern_study import definiteness_table
from mixkern_study.tables.definiteness import is_beyond_rounding

from .example import cells_of, result


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


def test_nan_eigenvalues_were_not_asked_for(store):
    assert len(definiteness_table(store).rows) == 1
