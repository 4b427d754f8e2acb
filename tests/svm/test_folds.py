"""Laws of folds of labelled rows, whatever the labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from mixkern.kernels import RBFKernel
from mixkern.svm import classifier, label_folds
from mixkern.svm.folds import (
    FEW,
    FOLDS,
    NEVER,
    REPEATS,
    fewer_folds,
    left_out_values,
    repeated_left_out_values,
    trained_folds,
)

labels = st.lists(st.integers(-2, 4), max_size=40).map(lambda codes: np.array(codes, dtype=np.intp))
numbers_of_folds = st.integers(2, 7)
seeds = st.integers(0, 2**32 - 1)


@given(labels, numbers_of_folds, seeds)
def test_every_class_is_in_every_training_part(codes, n_folds, seed):
    folds = label_folds(codes, n_folds, seed)
    assert folds.shape == codes.shape
    assert set(folds) <= {NEVER, *range(n_folds)}
    for fold in range(n_folds):
        assert set(codes[folds != fold]) == set(codes)


@given(labels, numbers_of_folds, seeds)
def test_only_the_single_row_of_a_class_is_never_tested(codes, n_folds, seed):
    folds = label_folds(codes, n_folds, seed)
    classes, counts = np.unique(codes, return_counts=True)
    assert set(codes[folds == NEVER]) == set(classes[counts == 1])
    assert (folds == NEVER).sum() == (counts == 1).sum()


@given(labels, numbers_of_folds, seeds)
def test_a_class_is_spread_as_evenly_as_it_can_be(codes, n_folds, seed):
    """So one with as many rows as folds, or more, is tested in all of them, and a smaller one never twice in one."""
    folds = label_folds(codes, n_folds, seed)
    for label in set(codes):
        rows = np.flatnonzero(codes == label)
        if len(rows) > 1:
            shares = np.bincount(folds[rows], minlength=n_folds)
            assert shares.min() == len(rows) // n_folds
            assert shares.max() == -(-len(rows) // n_folds)


@given(labels, numbers_of_folds, seeds)
def test_sizes_of_folds_differ_by_one_at_most(codes, n_folds, seed):
    """The deal goes on from class to class, so all rows are dealt out like one class; the first folds get the rest."""
    folds = label_folds(codes, n_folds, seed)
    sizes = np.bincount(folds[folds != NEVER], minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    assert (np.diff(sizes) <= 0).all()


@given(labels, numbers_of_folds, seeds, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_shares_of_classes(codes, n_folds, seed, random):
    """How many rows of a class each fold tests depends on the counts alone; the seed says which rows."""
    shuffled = np.array(random.sample(codes.tolist(), len(codes)), dtype=np.intp)
    for other in (label_folds(shuffled, n_folds, seed), label_folds(shuffled, n_folds, seed // 2)):
        folds = label_folds(codes, n_folds, seed)
        assert sorted(zip(shuffled, other, strict=True)) == sorted(zip(codes, folds, strict=True))


@given(labels, numbers_of_folds, seeds)
def test_names_of_classes_do_not_matter_but_their_order(codes, n_folds, seed):
    np.testing.assert_array_equal(label_folds(10 * codes + 3, n_folds, seed), label_folds(codes, n_folds, seed))


@given(labels, numbers_of_folds, seeds)
def test_the_same_seed_gives_the_same_folds(codes, n_folds, seed):
    before = codes.copy()
    folds = label_folds(codes, n_folds, seed)
    np.testing.assert_array_equal(folds, label_folds(codes, n_folds, seed))
    np.testing.assert_array_equal(folds, label_folds(codes, n_folds, np.random.RandomState(seed)))
    np.testing.assert_array_equal(codes, before)


def test_another_seed_puts_other_rows_together():
    codes = np.repeat([0, 1], 10)
    assert len({tuple(label_folds(codes, 2, seed)) for seed in range(20)}) == 20


def test_by_hand():
    """Three rows of class 0 go to folds 0, 1, 2; two of class 1 go on with 3, 0; class 2 is alone."""
    folds = label_folds(np.array([1, 0, 2, 0, 1, 0]), 4, 0)
    assert sorted(folds[[1, 3, 5]]) == [0, 1, 2]
    assert sorted(folds[[0, 4]]) == [0, 3]
    assert folds[2] == NEVER


def test_trained_folds_are_a_plain_loop():
    random = np.random.RandomState(0)
    rows, codes = random.standard_normal((20, 2)), np.arange(20) % 2
    K = rows @ rows.T
    folds = label_folds(codes, 3, random_state=0)
    seen = []

    def train(block, labels, kept):
        seen.append(kept)
        np.testing.assert_array_equal(block, K[np.ix_(kept, kept)])
        np.testing.assert_array_equal(labels, codes[kept])
        return classifier(block, labels)

    found = list(trained_folds(K, codes, folds, train))
    assert len(found) == 3
    for fold, (out, values, _) in enumerate(found):
        np.testing.assert_array_equal(out, np.flatnonzero(folds == fold))
        assert not set(out) & set(seen[fold])
        alone = SVC(kernel="precomputed").fit(K[np.ix_(seen[fold], seen[fold])], codes[seen[fold]])
        expected = alone.decision_function(K[np.ix_(out, seen[fold])])
        np.testing.assert_allclose(-values[:, 0], expected, atol=1e-10)


def test_nothing_to_leave_out_is_no_fold():
    assert list(trained_folds(np.eye(2), np.arange(2), np.full(2, -1), None)) == []


# ---------------------------------------------------------------- decision values of left-out rows


def table(counts, seed=0):
    random = np.random.RandomState(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    return RBFKernel(0.5)(random.standard_normal((len(codes), 2)) + 2 * codes[:, None]), codes


def train(K, codes, kept):
    return classifier(K, codes)


def test_values_are_those_of_a_classifier_without_the_fold():
    K, codes = table([6, 6, 6])
    folds = np.tile([0, 1, NEVER], 6)
    found = left_out_values(K, codes, folds, lambda K, codes, kept: classifier(K, codes, C=2.0))
    assert np.isnan(found[folds == NEVER]).all()
    for fold in (0, 1):
        out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        dual = classifier(K[np.ix_(kept, kept)], codes[kept], C=2.0)
        np.testing.assert_allclose(found[out], dual.decision(K[np.ix_(out, kept)]))


def test_repeated_values_are_those_of_a_plain_loop():
    K, codes = table([6, 5, 3])
    random, n_folds = np.random.RandomState(3), fewer_folds(codes, FOLDS)
    found = repeated_left_out_values(K, codes, train, 3)
    assert found.shape == (REPEATS, 14, 3)
    for draw in found:
        folds = label_folds(codes, n_folds, random)
        for i, fold in enumerate(folds):
            kept = np.flatnonzero(folds != fold)
            dual = classifier(K[np.ix_(kept, kept)], codes[kept])
            np.testing.assert_allclose(draw[i], dual.decision(K[[i]][:, kept])[0], atol=1e-12)


def test_the_kept_rows_come_with_the_matrix():
    K, codes = table([4, 4])
    seen = []

    def remember(K, kept_codes, kept):
        assert K.shape == (len(kept), len(kept))
        np.testing.assert_array_equal(kept_codes, codes[kept])
        seen.append(kept)
        return classifier(K, kept_codes)

    repeated_left_out_values(K, codes, remember, 0)
    assert len(seen) == REPEATS * fewer_folds(codes, FOLDS)


@pytest.mark.parametrize("counts", [[1, 1], [2, 1], [2, 2], [1, 1, 1], [5, 1, 2]], ids=str)
def test_values_of_the_only_row_of_a_class_are_nan(counts):
    K, codes = table(counts)
    found = repeated_left_out_values(K, codes, train, 0)
    assert found.shape == (REPEATS, len(codes), len(counts) * (len(counts) - 1) // 2)
    is_single = np.array(counts)[codes] == 1
    assert np.isnan(found[:, is_single]).all()
    assert np.isfinite(found[:, ~is_single]).all()


def test_folds_of_many_labels_are_drawn_once():
    assert len(repeated_left_out_values(*table([FEW // 2, FEW // 2]), train, 0)) == 1
    assert len(repeated_left_out_values(*table([FEW // 2, FEW // 2 - 1]), train, 0)) == REPEATS


def test_the_same_seed_gives_the_same_values():
    a, b = (repeated_left_out_values(*table([5, 6]), train, 7) for _ in range(2))
    np.testing.assert_array_equal(a, b)
