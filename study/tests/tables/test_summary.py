"""Claims of the paper, on rankings that are made up."""

import numpy as np

from mixkern_study import KERNELS, published_accuracies, rank_test, summary_table
from mixkern_study.ranking import Ranking, published_ranking
from mixkern_study.tables.summary import CLAIMS

from .example import SETS, result


def ranking(*order, n=20):
    """Make a ranking in which the kernels have this order on all sets, a point of accuracy apart."""
    scores = [80.0 - order.index(kernel) for kernel in KERNELS]
    return Ranking(KERNELS, dict(zip(KERNELS, scores, strict=True)), n, rank_test(np.tile(scores, (n, 1)), KERNELS))


def claims(experiment):
    return [claim for claim in CLAIMS if claim.experiment == experiment]


def test_every_claim_holds_of_the_published_accuracies():
    for claim in CLAIMS:
        published = published_ranking(claim.experiment, KERNELS, list(published_accuracies(claim.experiment)))
        assert claim.holds(published), claim.words


def test_claims_on_few_labels():
    first, lead, clear, worst = claims(1)
    best = ranking("rwm", "gmm", "rbf", "lap")
    assert first.holds(best)
    assert first.value(best) == 1
    assert lead.value(best) == 2
    assert not clear.holds(best)  # one rank apart, less than the critical difference of 1.27
    assert clear.value(best) == 1
    assert worst.holds(best)
    other = ranking("gmm", "rbf", "rwm", "lap")
    assert not first.holds(other)
    assert lead.value(other) == -1
    assert not lead.holds(other)
    assert not worst.holds(ranking("rwm", "lap", "gmm", "rbf"))


def test_claims_on_all_labels():
    alike, worst = claims(3)
    assert not alike.holds(ranking("rwm", "gmm", "rbf", "lap"))
    assert alike.value(ranking("rwm", "lap", "gmm", "rbf")) == 3
    assert worst.value(ranking("rwm", "gmm", "rbf", "lap")) == 4


def test_a_claim_holds_by_some_readings(store):
    assert summary_table(store).rows[0][5].value == "yes"
    store.add(
        result(data_set, "rwm", fold, 0.1, reading="optimistic", repeat=repeat)
        for data_set in SETS
        for fold in range(5)
        for repeat in range(2)
    )
    row = summary_table(store).rows[0]
    assert row[0].value.startswith("Experiment 1: RWM has the best mean rank")
    assert [cell.is_best for cell in row[1:5]] == [True, True, False, True]
    assert row[3].value == 4.0
    assert row[5].value == "training labels and ceiling only"


def test_without_results_there_are_dashes(store):
    third = [row for row in summary_table(store).rows if row[0].value.startswith("Experiment 3")]
    assert len(third) == 2
    assert {cell.to_text() for row in third for cell in row[1:]} == {"-"}
