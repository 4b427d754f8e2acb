"""Transductive experimental design, against the formulas written out."""

import numpy as np
import pytest

from mixkern.advice.design import central_rows, greedy_design, uncertainty
from mixkern.svm.gaussian_process import DESIGN_NOISE


def gaussian(A, B):
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


@pytest.fixture
def rows():
    return np.random.RandomState(0).standard_normal((30, 2))


def variance_given(K, known):
    """Posterior covariance by the textbook."""
    known = list(known)
    inner = np.linalg.inv(K[np.ix_(known, known)] + DESIGN_NOISE * np.eye(len(known)))
    return K - K[:, known] @ inner @ K[known]


def test_each_pick_reduces_the_variances_most(rows):
    K, rng = gaussian(rows, rows), np.random.RandomState(1)
    counts, worth = rng.randint(1, 4, size=30).astype(float), rng.uniform(0.5, 1, size=30)
    before = []
    for pick in greedy_design(K.copy(), counts, worth, 4):
        now = counts @ np.diag(variance_given(K, before))
        taken = [now - counts @ np.diag(variance_given(K, [*before, j])) for j in range(30)]
        assert (worth * taken)[pick] == pytest.approx(max((worth * taken)[j] for j in range(30) if j not in before))
        before.append(pick)


def test_no_row_is_picked_twice_and_all_can_be(rows):
    assert sorted(greedy_design(gaussian(rows, rows), np.ones(30), np.ones(30), 30)) == list(range(30))


def test_variances_never_grow_where_the_kernel_is_indefinite():
    rng = np.random.RandomState(3)
    vectors = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    K = (vectors * np.r_[np.linspace(3, 0.1, 40), np.full(20, -0.9)]) @ vectors.T
    K = K / np.sqrt(np.outer(np.abs(np.diag(K)) + 0.5, np.abs(np.diag(K)) + 0.5))
    assert np.linalg.eigvalsh(K).min() < -0.1
    left = K.copy()
    before = np.full(60, np.inf)
    picks = []
    with np.errstate(all="raise"):
        for n in (5, 15, 60):
            left = K.copy()
            picks = greedy_design(left, np.ones(60), np.ones(60), n)
            variances = np.diag(left)
            assert (variances >= 0).all()
            assert (variances <= np.minimum(before, np.maximum(np.diag(K), 0)) + 1e-12).all()
            assert (np.abs(left) <= np.sqrt(np.outer(variances, variances)) + 1e-12).all()
            before = variances
    assert sorted(picks) == list(range(60))


def test_a_bound_changes_nothing_where_the_kernel_is_definite(rows, monkeypatch):
    K = gaussian(rows, rows)
    expected = greedy_design(K.copy(), np.ones(30), np.ones(30), 12)
    monkeypatch.setattr("mixkern.advice.design._is_definite", lambda covariance: False)
    np.testing.assert_array_equal(greedy_design(K.copy(), np.ones(30), np.ones(30), 12), expected)


def test_many_equal_rows_are_worth_a_pick():
    K = np.kron(np.eye(2), np.ones((3, 3)))
    assert greedy_design(K, np.array([1.0, 1.0, 1.0, 1.0, 3.0, 1.0]), np.ones(6), 1)[0] >= 3


def moved(at, picks, counts=None, worth=None, known=()):
    at, ones, known = np.array(at)[:, None], np.ones(len(at)), np.array(known).reshape(-1, 1)
    counts, worth = (ones if given is None else np.array(given) for given in (counts, worth))
    return central_rows(gaussian(at, at), gaussian(at, known), counts, worth, np.array(picks)).tolist()


def test_picks_move_to_the_middle_of_their_groups():
    assert moved([0.0, 1.0, 2.0, 20.0, 21.0, 22.0], [2, 3]) == [1, 4]


def test_rows_that_count_more_move_the_middle():
    assert moved([0.0, 1.0, 2.0], [2], counts=[10.0, 1.0, 1.0]) == [0]


def test_worth_moves_a_pick_within_its_group():
    assert moved([0.0, 1.0, 2.0], [2], worth=[0.5, 0.5, 1.0]) == [2]


def test_rows_near_labelled_ones_do_not_move_the_middle():
    assert moved([0.0, 1.0, 2.0, 2.5, 3.0], [4], known=[0.2, 0.8]) == [3]


def test_a_pick_without_followers_stays():
    assert sorted(moved([0.0, 0.0, 0.0], [0, 1, 2], known=[0.0])) == [0, 1, 2]


# ---------------------------------------------------------------- uncertainty

LABELLED = np.array([[0.0], [2.0], [4.0]])


def uncertain(rows, codes, labelled=LABELLED):
    return uncertainty(gaussian(np.array(rows), labelled), gaussian(labelled, labelled), np.array(codes))


def test_uncertainty_is_greatest_between_classes():
    at = uncertain([[0.0], [2.0], [4.0]], [0, 1], labelled=np.array([[0.0], [4.0]]))
    assert at[1] > 0.9
    assert max(at[0], at[2]) < 0.3


def test_uncertainty_lies_between_0_and_1():
    at = uncertain(np.linspace(-50, 50, 101)[:, None], [0, 1, 2])
    assert at.min() >= 0
    assert at.max() <= 1


def test_one_class_leaves_all_rows_alike():
    assert uncertain([[0.0], [9.0]], [4, 4, 4]).tolist() == [1, 1]


def test_codes_may_be_any_numbers():
    rows = [[0.3], [1.2], [3.1]]
    np.testing.assert_array_equal(uncertain(rows, [0, 1, 0]), uncertain(rows, [7, 3, 7]))
