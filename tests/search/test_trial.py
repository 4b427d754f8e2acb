"""Scores of hyperparameters: every score against plain loops over scikit-learn's SVC."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC

from mixkern.errors import OptionError
from mixkern.kernels import RBFKernel
from mixkern.search.gram_cache import Matrices, gram_cache
from mixkern.search.grid import KernelPoint
from mixkern.search.scoring import Scoring
from mixkern.search.trial import Trials, TrialScorer, distinct_shapes
from mixkern.svm import classifier, label_folds
from mixkern.svm.folds import NEVER

C = 2.0


def situation(counts, n_others=25, seed=0):
    """Kernel matrices among labelled rows and towards others; the classes of both."""
    random = np.random.RandomState(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    other_codes = random.randint(0, len(counts), n_others)
    centres = 1.5 * np.array([[0, 0], [1, 1], [1, -1], [-1, 1]])
    rows = random.standard_normal((len(codes), 2)) + centres[codes]
    others = random.standard_normal((n_others, 2)) + centres[other_codes]
    return RBFKernel(0.5)(rows), RBFKernel(0.5)(others, rows), codes, other_codes


def train(K, codes, kept):
    return classifier(K, codes, C=C, tol=1e-8)


def pair_values(svc, K):
    """Values of pairs of classes, positive for the first."""
    values = svc.decision_function(K)
    return -values[:, None] if values.ndim == 1 else values


def couples(c):
    return [(i, j) for i in range(c) for j in range(i + 1, c)]


def literal_slope(own, counts):
    """Platt's targets and a prior about 1.5, one value after the other; the largest weight is one."""
    counts = [count / max(counts) for count in counts]
    target = (sum(counts) + 1) / (sum(counts) + 2)

    def surprise(log_slope):
        total = 0.5 * (log_slope - np.log(1.5)) ** 2
        for value, count in zip(own, counts, strict=True):
            f = np.exp(log_slope) * value
            total += count * (target * np.log(1 + np.exp(-f)) + (1 - target) * np.log(1 + np.exp(f)))
        return total

    return np.exp(minimize_scalar(surprise, bounds=(-4, 4), method="bounded", options={"xatol": 1e-8}).x)


def literal_probabilities(values, slope, winner, c):
    """Price's coupling of one row's pairs; the class that is predicted has the largest."""
    r = np.zeros((c, c))
    for q, (i, j) in enumerate(couples(c)):
        r[i, j], r[j, i] = 1 / (1 + np.exp(-slope * values[q])), 1 / (1 + np.exp(slope * values[q]))
    p = np.array([1 / (sum(1 / r[i, j] for j in range(c) if j != i) - (c - 2)) for i in range(c)])
    p /= p.sum()
    top = p.argmax()
    p[[winner, top]] = p[[top, winner]]
    return p


def literal(scoring, K, towards, codes, folds, other_codes, weights=None):
    """Leave each fold out, train, predict; then train on everything and look at the other rows."""
    c = codes.max() + 1
    svc = SVC(kernel="precomputed", C=C, tol=1e-8, break_ties=True, decision_function_shape="ovr")
    pairwise = SVC(kernel="precomputed", C=C, tol=1e-8, decision_function_shape="ovo")
    left_out, n_support = [], []  # (true class, predicted class, values of pairs, weight)
    counts = np.ones(len(codes)) if weights is None else weights
    for fold in range(folds.max() + 1):
        kept, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        some = None if weights is None else weights[kept]
        svc.fit(K[np.ix_(kept, kept)], codes[kept], some)
        pairwise.fit(K[np.ix_(kept, kept)], codes[kept], some)
        n_support.append(len(svc.support_))
        block = K[np.ix_(out, kept)]
        left_out += zip(codes[out], svc.predict(block), pair_values(pairwise, block), counts[out], strict=True)
    own = [
        (values[q] if code == i else -values[q], count)
        for code, _, values, count in left_out
        for q, (i, j) in enumerate(couples(c))
        if code in (i, j)
    ]
    slope = literal_slope(*zip(*own, strict=True))
    total = sum(count for _, _, _, count in left_out)
    wrong = sum(count for code, predicted, _, count in left_out if code != predicted)
    surprises = [
        -count * np.log(literal_probabilities(values, slope, guess, c)[code]) for code, guess, values, count in left_out
    ]
    error, log_loss, confidence = wrong / total, sum(surprises) / total, np.nan
    rated = error
    if scoring != "accuracy":
        predicted = svc.fit(K, codes, weights).predict(towards)
        values = pair_values(pairwise.fit(K, codes, weights), towards)
        confidence = np.mean(
            [literal_probabilities(v, slope, guess, c).max() for v, guess in zip(values, predicted, strict=True)]
        )
        rated = error + 1 - confidence
        if scoring == "optimistic_accuracy":  # an unlabelled row counts as much as a label of weight one
            rated = (wrong + (predicted != other_codes).sum()) / (total + len(other_codes))
    return rated, log_loss, error, confidence, np.mean(n_support)


class Scored:
    """Scores of one C."""

    def __init__(self, scoring, codes, folds, train=train, other_codes=None, weights=None):
        counts = np.ones(len(codes)) if weights is None else weights
        self.scorer = TrialScorer(codes, counts, folds, lambda C: train, other_codes, scoring)

    def trial(self, K, towards):
        return self.scorer.trial(Matrices(KernelPoint(0.5), K, towards), C)


COUNTS = [(6, 6), (9, 3), (5, 5, 5), (6, 4, 3, 7), (2, 2), (2, 2, 2, 2), (4, 1), (5, 1, 4), (2, 1, 1, 3)]


@pytest.mark.parametrize("scoring", Scoring)
@pytest.mark.parametrize("counts", COUNTS, ids=str)
def test_against_loops(scoring, counts):
    K, towards, codes, other_codes = situation(counts)
    folds = label_folds(codes, 3 if min(counts) > 2 else 2, 0)
    others = other_codes if scoring is Scoring.OPTIMISTIC_ACCURACY else None
    scored = Scored(scoring, codes, folds, other_codes=others)
    scores = scored.trial(K, None if scoring is Scoring.ACCURACY else towards)
    expected = literal(scoring, K, towards, codes, folds, other_codes)
    found = (scores.loss, scores.log_loss, scores.validation_error, scores.confidence, scores.n_support)
    np.testing.assert_allclose(found, expected, rtol=2e-5)


def weighted(weights):
    def train(K, codes, kept):
        return classifier(K, codes, C=C, tol=1e-8, sample_weight=weights[kept])

    return train


@pytest.mark.parametrize("scoring", Scoring)
@pytest.mark.parametrize("counts", [(7, 6, 8), (8, 9), (5, 1, 4)], ids=str)
def test_weights_go_with_their_rows(scoring, counts):
    K, towards, codes, other_codes = situation(counts)
    folds, weights = label_folds(codes, 3, 0), np.random.RandomState(0).uniform(0.1, 3, len(codes))
    others = other_codes if scoring is Scoring.OPTIMISTIC_ACCURACY else None
    scored = Scored(scoring, codes, folds, weighted(weights), others, weights)
    scores = scored.trial(K, None if scoring is Scoring.ACCURACY else towards)
    expected = literal(scoring, K, towards, codes, folds, other_codes, weights)
    found = (scores.loss, scores.log_loss, scores.validation_error, scores.confidence, scores.n_support)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    plain = Scored(scoring, codes, folds, weighted(weights), others)
    assert plain.trial(K, None).log_loss != pytest.approx(scores.log_loss)


def test_rows_of_almost_no_weight_are_almost_not_there():
    """Wrong labels with weights of a billionth: the scores are those of the other rows."""
    K, towards, codes, _ = situation((12, 12))
    folds = label_folds(codes, 3, 0)
    is_wrong = np.arange(24) % 4 == 0
    given, weights = np.where(is_wrong, 1 - codes, codes), np.where(is_wrong, 1e-9, 1.0)
    right = Scored(Scoring.NEG_EXPECTED_ERROR, codes, folds, weighted(weights), weights=weights).trial(K, towards)
    wrong = Scored(Scoring.NEG_EXPECTED_ERROR, given, folds, weighted(weights), weights=weights).trial(K, towards)
    unweighted = Scored(Scoring.NEG_EXPECTED_ERROR, given, folds, weighted(weights)).trial(K, towards)
    kept = np.flatnonzero(~is_wrong)
    alone = Scored(Scoring.NEG_EXPECTED_ERROR, codes[kept], folds[kept]).trial(K[np.ix_(kept, kept)], towards[:, kept])
    for scores in (right, wrong):
        found = (scores.loss, scores.log_loss, scores.validation_error, scores.confidence)
        expected = (alone.loss, alone.log_loss, alone.validation_error, alone.confidence)
        assert found == pytest.approx(expected, rel=1e-4)
    assert unweighted.validation_error > alone.validation_error + 0.1
    assert unweighted.log_loss > alone.log_loss + 0.1


def test_the_unit_of_weights_matters_for_the_optimistic_rating_alone():
    K, towards, codes, other_codes = situation((8, 9))
    folds, weights = label_folds(codes, 3, 0), np.random.RandomState(0).uniform(0.1, 3, 17)
    for scoring in Scoring:
        others = other_codes if scoring is Scoring.OPTIMISTIC_ACCURACY else None
        one, ten = (
            Scored(scoring, codes, folds, weighted(weights), others, unit * weights).trial(K, towards)
            for unit in (1, 10)
        )
        assert (one.log_loss, one.validation_error) == pytest.approx((ten.log_loss, ten.validation_error))
        assert (one.loss == pytest.approx(ten.loss)) == (scoring is not Scoring.OPTIMISTIC_ACCURACY)


def test_the_order_of_rows_does_not_matter():
    K, towards, codes, _ = situation((6, 5, 4))
    folds = label_folds(codes, 3, 0)
    order = np.random.RandomState(1).permutation(len(codes))
    weights = np.random.RandomState(2).uniform(0.1, 3, len(codes))
    a = Scored(Scoring.NEG_EXPECTED_ERROR, codes, folds, weights=weights).trial(K, towards)
    b = Scored(Scoring.NEG_EXPECTED_ERROR, codes[order], folds[order], weights=weights[order]).trial(
        K[np.ix_(order, order)], towards[:, order]
    )
    assert [a.loss, a.log_loss, a.confidence] == pytest.approx([b.loss, b.log_loss, b.confidence], rel=1e-5)
    assert (a.validation_error, a.n_support) == pytest.approx((b.validation_error, b.n_support))


def test_the_only_label_of_a_class_is_never_left_out():
    K, _, codes, _ = situation((5, 1, 4))
    folds = label_folds(codes, 2, 0)
    assert folds[codes == 1] == NEVER
    seen = []

    def watched(K, codes, kept):
        seen.append(set(codes))
        return train(K, codes, kept)

    scores = Scored(Scoring.ACCURACY, codes, folds, watched).trial(K, None)
    assert seen == [{0, 1, 2}, {0, 1, 2}]
    assert scores.validation_error * 9 == pytest.approx(round(scores.validation_error * 9))


def test_without_other_rows_the_validation_error_counts():
    K, _, codes, _ = situation((6, 6))
    folds = label_folds(codes, 3, 0)
    for scoring in Scoring:
        scores = Scored(scoring, codes, folds).trial(K, None)
        assert np.isnan(scores.confidence)
        assert scores.loss == scores.validation_error


def test_a_class_without_a_label_is_always_wrong():
    K, towards, codes, other_codes = situation((6, 6))
    folds = label_folds(codes, 3, 0)
    unknown = np.where(np.arange(25) < 10, -1, other_codes)
    rated = Scored(Scoring.OPTIMISTIC_ACCURACY, codes, folds, other_codes=unknown).trial(K, towards)
    plain = Scored(Scoring.OPTIMISTIC_ACCURACY, codes, folds, other_codes=other_codes).trial(K, towards)
    guessed = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, codes).predict(towards)
    hits = (guessed[:10] == other_codes[:10]).sum()
    assert rated.loss == pytest.approx(plain.loss + hits / (12 + 25))


def test_the_log_loss_is_finite():
    """Rows that are sure of the wrong class: the logarithm is kept from infinity."""
    K = np.kron(np.eye(2), np.ones((6, 6)))
    codes = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0])
    scores = Scored(Scoring.ACCURACY, codes, label_folds(codes, 3, 0)).trial(1e6 * K, None)
    assert np.isfinite(scores.log_loss)


ROWS = np.random.RandomState(0).standard_normal((12, 2))
COSTS = [0.1, 1.0, 10.0]


class Recorder:
    """A scorer for which C = 1 is the best, and which records the matrices."""

    def __init__(self):
        self.matrices = []

    def trial(self, matrices, C):
        self.matrices.append((matrices.among, matrices.towards))
        return SimpleNamespace(point=matrices.point, C=C, order=(abs(np.log(C)), 0.0))


def trials_of(others=ROWS[8:]):
    scorer = Recorder()
    return Trials(gram_cache(RBFKernel(), ROWS[:8], others), scorer), scorer


def test_a_grid_tries_every_cost_with_one_pair_of_matrices_per_kernel():
    trials, scorer = trials_of()
    points = [KernelPoint(0.5), KernelPoint(2.0)]
    assert [(trial.point, trial.C) for trial in trials.grid(points, COSTS)] == [(p, C) for p in points for C in COSTS]
    assert len({id(among) for among, _ in scorer.matrices}) == 2
    np.testing.assert_allclose(scorer.matrices[0][0], RBFKernel(0.5)(ROWS[:8]))
    np.testing.assert_allclose(scorer.matrices[-1][1], RBFKernel(2.0)(ROWS[8:], ROWS[:8]))


def test_a_line_begins_with_the_linear_kernel_and_continues_from_the_best_cost():
    trials, _ = trials_of(None)
    found = list(trials.lines([(1.0, 1.0)], COSTS, [0.01, 0.1, 1.0]))
    assert [trial.point.gamma for trial in found[:3]] == [None, None, None]
    assert [2 * trial.C * trial.point.gamma for trial in found[3:]] == pytest.approx([1.0] * len(found[3:]))


def test_trials_are_made_when_they_are_needed():
    trials, scorer = trials_of()
    next(trials.grid([KernelPoint(0.5), KernelPoint(2.0)], COSTS))
    assert len(scorer.matrices) == 1


def test_pairs_of_weights_with_the_same_ratio_are_one_shape():
    assert sorted(distinct_shapes([1.0, 2.0], [1.0, 2.0])) == [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)]
    assert distinct_shapes([0.0], [0.5, 1.0]) == [(0.0, 0.5)]
    with pytest.raises(OptionError, match=r"^alpha and beta are both 0, so all rows would be equal\.$"):
        distinct_shapes([0.0], [0.0])
