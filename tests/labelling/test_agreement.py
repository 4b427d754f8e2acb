"""Cohen's kappa, against its formula."""

import numpy as np
import pytest

from mixkern.labelling.agreement import Agreement


def kappa(first, second):
    """Compute (p_o - p_e) / (1 - p_e): the observed and the expected share of equal labels."""
    classes = {*first, *second}
    observed = np.mean([a == b for a, b in zip(first, second, strict=True)])
    expected = sum(np.mean([a == c for a in first]) * np.mean([b == c for b in second]) for c in classes)
    return (observed - expected) / (1 - expected)


@pytest.mark.parametrize("seed", range(3))
def test_two_persons(seed):
    first, second = np.random.default_rng(seed).choice(["a", "b", "c"], (2, 30)).tolist()
    found = Agreement.of({row: {"ben": second[row], "anna": first[row]} for row in range(30)})
    assert (found.n_rows, found.kappa) == (30, pytest.approx(kappa(first, second)))


def test_three_persons_have_the_weighted_mean_of_pairs_with_ten_common_rows():
    labels = np.random.default_rng(2).choice(["a", "b"], (3, 24)).tolist()
    rows = {"anna": range(24), "ben": range(12), "cleo": range(6, 24)}
    shared = {}
    for (user, own_rows), own in zip(rows.items(), labels, strict=True):
        for row in own_rows:
            shared.setdefault(row, {})[user] = own[row]
    pairs = [(0, 1, range(12)), (0, 2, range(6, 24))]  # the others have six common rows
    kappas = [kappa([labels[i][row] for row in both], [labels[j][row] for row in both]) for i, j, both in pairs]
    found = Agreement.of(shared)
    assert found.kappa == pytest.approx(np.average(kappas, weights=[len(both) for *_, both in pairs]))
    assert found.n_equal == sum(len(set(labels.values())) == 1 for labels in shared.values())
    assert found.n_most == 18


def test_without_common_rows_there_is_none():
    assert Agreement.of({}) is None
    assert Agreement.of({0: {"anna": "a"}}) is None


def both_labelled(first, second):
    """Return the agreement of two persons with these labels."""
    return Agreement.of({row: {"anna": a, "ben": b} for row, (a, b) in enumerate(zip(first, second, strict=True))})


@pytest.mark.parametrize(
    ("first", "second", "rest"),
    [
        ("a", "a", "1 of 1 row that both have labelled. Cohen's kappa is shown once two persons have 10 rows in "),
        ("ab" * 4, "aa" * 4, "4 of 8 rows that both have labelled. Cohen's kappa is shown once two persons have 10 "),
        ("ab" * 5, "ab" * 5, "10 of 10 rows that both have labelled. Cohen's kappa is 1.00."),
        ("aab" * 4, "aaa" * 4, "8 of 12 rows that both have labelled. Cohen's kappa is 0.00."),
        ("a" * 12, "a" * 12, "12 of 12 rows that both have labelled. Cohen's kappa is not defined while all these "),
    ],
)
def test_the_sentence_has_kappa_where_it_rests_on_ten_rows_and_is_defined(first, second, rest):
    found = both_labelled(first, second)
    assert found.sentence.startswith(f"Two persons gave the same label to {rest}")
    assert (found.kappa is None) == ("kappa is shown" in rest or "not defined" in rest)


def test_few_rows_of_each_of_many_pairs_have_no_kappa():
    users = ["anna", "ben", "cleo", "dora"]
    shared = {row: {users[row % 4]: "a", users[(row + 1) % 4]: "ab"[row % 2]} for row in range(20)}
    found = Agreement.of(shared)
    assert (found.n_rows, found.n_equal, found.n_most, found.kappa) == (20, 10, 5, None)
    assert "not defined" not in found.sentence
