"""Tests of the few rows that say most about the others, against the formulas written out."""

import numpy as np
import pytest

from mixkern.advice.design import NOISE, centred, cover, left_over


def gaussian(A, B):
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))


@pytest.fixture
def rows():
    return np.random.RandomState(0).standard_normal((30, 2))


def variance_given(K, known):
    """Posterior covariance by the textbook."""
    known = list(known)
    inner = np.linalg.inv(K[np.ix_(known, known)] + NOISE * np.eye(len(known)))
    return K - K[:, known] @ inner @ K[known]


def test_what_labels_leave_uncertain_is_the_posterior_of_a_gaussian_process(rows):
    K = gaussian(rows, rows)
    got = left_over(K[5:, 5:], K[5:, :5], K[:5, :5])
    np.testing.assert_allclose(got, variance_given(K, range(5))[5:, 5:], atol=1e-12)


def test_negative_eigenvalues_of_a_kernel_are_taken_for_zero():
    indefinite = np.array([[1.0, 1.5], [1.5, 1.0]])
    left = left_over(np.eye(1), np.array([[0.1, 0.2]]), indefinite)
    assert np.isfinite(left).all()
    assert left[0, 0] <= 1


def test_each_pick_takes_most_uncertainty_times_worth(rows):
    K, rng = gaussian(rows, rows), np.random.RandomState(1)
    counts, worth = rng.randint(1, 4, size=30).astype(float), rng.uniform(0.5, 1, size=30)
    before = []
    for pick in cover(K.copy(), counts, worth, 4):
        now = counts @ np.diag(variance_given(K, before))
        taken = [now - counts @ np.diag(variance_given(K, [*before, j])) for j in range(30)]
        assert (worth * taken)[pick] == pytest.approx(max((worth * taken)[j] for j in range(30) if j not in before))
        before.append(pick)


def test_no_row_is_picked_twice_and_all_can_be(rows):
    assert sorted(cover(gaussian(rows, rows), np.ones(30), np.ones(30), 30)) == list(range(30))


def test_many_equal_rows_are_worth_a_pick():
    K = np.kron(np.eye(2), np.ones((3, 3)))
    assert cover(K, np.array([1.0, 1.0, 1.0, 1.0, 3.0, 1.0]), np.ones(6), 1)[0] >= 3


def moved(at, picks, counts=None, worth=None, known=()):
    at, ones, known = np.array(at)[:, None], np.ones(len(at)), np.array(known).reshape(-1, 1)
    counts, worth = (ones if given is None else np.array(given) for given in (counts, worth))
    return centred(gaussian(at, at), gaussian(at, known), counts, worth, np.array(picks)).tolist()


def test_picks_move_to_the_middle_of_their_groups():
    assert moved([0.0, 1.0, 2.0, 20.0, 21.0, 22.0], [2, 3]) == [1, 4]


def test_rows_that_count_more_pull_the_middle():
    assert moved([0.0, 1.0, 2.0], [2], counts=[10.0, 1.0, 1.0]) == [0]


def test_worth_moves_a_pick_within_its_group():
    assert moved([0.0, 1.0, 2.0], [2], worth=[0.5, 0.5, 1.0]) == [2]


def test_rows_that_are_like_known_ones_do_not_pull():
    assert moved([0.0, 1.0, 2.0, 2.5, 3.0], [4], known=[0.2, 0.8]) == [3]


def test_a_pick_without_followers_stays():
    assert sorted(moved([0.0, 0.0, 0.0], [0, 1, 2], known=[0.0])) == [0, 1, 2]
