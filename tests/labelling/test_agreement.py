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


def test_three_persons_have_the_weighted_mean_of_pairs():
    labels = np.random.default_rng(2).choice(["a", "b"], (3, 24)).tolist()
    rows = {"anna": range(24), "ben": range(12), "cleo": range(6, 24)}
    shared = {}
    for (user, own_rows), own in zip(rows.items(), labels, strict=True):
        for row in own_rows:
            shared.setdefault(row, {})[user] = own[row]
    pairs = [(0, 1, range(12)), (0, 2, range(6, 24)), (1, 2, range(6, 12))]
    kappas = [kappa([labels[i][row] for row in both], [labels[j][row] for row in both]) for i, j, both in pairs]
    assert Agreement.of(shared).kappa == pytest.approx(np.average(kappas, weights=[len(both) for *_, both in pairs]))


def test_one_class_is_full_agreement_and_without_common_rows_there_is_none():
    assert Agreement.of({}) is None
    assert Agreement.of({0: {"anna": "a"}}) is None
    assert Agreement.of({0: {"anna": "a", "ben": "a"}}).kappa == 1


def test_the_sentence_counts_rows():
    assert Agreement(1, 0.5).sentence == "Cohen's kappa is 0.50 on 1 row that two persons have labelled."
