"""Cross-validation where most rows have no label: laws of the folds, and scikit-learn's own tools on top of them."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

from mixkern import Mixture, MixtureSVC, MixtureSVR, SemiSupervisedSplit
from mixkern.errors import LabelError, LabelTypeError, LengthError, NoLabelsError, OptionError

PLANE = Mixture([1.0], [[0.0, 0.0]], [[[1.0, 0.0], [0.0, 1.0]]])
CLASSIFIER = MixtureSVC("rbf", density=PLANE, gamma=0.5, probability=False, random_state=0)
REGRESSOR = MixtureSVR("rbf", density=PLANE, gamma=0.5, C=10.0, random_state=0)


def blobs(n=60, per_class=6, gap=4.0):
    """Rows of two classes in turn, and labels of the first few of each."""
    random = np.random.RandomState(0)
    y = np.arange(n) % 2
    X = random.standard_normal((n, 2)) + gap * y[:, None]
    X.flags.writeable = False
    return X, y, np.where(np.arange(n) < 2 * per_class, y, -1)


def hand_made(classifier, X, y, splitter, is_labelled, groups=None):
    """Folds of the labelled rows by the splitter; train on the others and on all unlabelled rows, score, repeat."""
    labelled, others = np.flatnonzero(is_labelled), np.flatnonzero(~is_labelled)
    some = None if groups is None else groups[labelled]
    scores = []
    for train, test in splitter.split(labelled, y[labelled], some):
        kept = np.sort(np.append(labelled[train], others))
        model = clone(classifier).fit(X[kept], y[kept])
        scores.append(model.score(X[labelled[test]], y[labelled[test]]))
    return scores


X, _, FEW = blobs()
WORDS = np.array([None if code < 0 else ["ham", "spam"][code] for code in FEW], dtype=object)


# ---------------------------------------------------------------- laws

few_labels = (
    st.lists(st.integers(-1, 3), max_size=30)
    .map(lambda codes: [*codes, 0, 0])  # so that a row can be left out
    .flatmap(st.permutations)
    .map(np.array)
)
numbers_of_folds = st.integers(2, 7)
splits = st.builds(SemiSupervisedSplit, numbers_of_folds, transductive=st.booleans(), random_state=st.integers(0, 99))


def rows_of(y):
    return np.zeros((len(y), 1))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_each_label_that_is_not_alone_is_tested_once(y, split):
    tested = Counter(int(row) for _, test in split.split(rows_of(y), y) for row in test)
    counts = Counter(y.tolist())
    assert tested == {row: 1 for row, label in enumerate(y.tolist()) if label >= 0 and counts[label] > 1}


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_unlabelled_rows_are_in_every_training_part_or_in_none(y, split):
    unlabelled = set(np.flatnonzero(y == -1))
    for train, test in split.split(rows_of(y), y):
        assert unlabelled & set(train) == (unlabelled if split.transductive else set())
        assert not unlabelled & set(test)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_every_other_label_is_trained_on(y, split):
    labelled = set(np.flatnonzero(y >= 0))
    for train, test in split.split(rows_of(y), y):
        assert labelled & set(train) == labelled - set(test)
        assert len(set(train)) == len(train)
        assert (np.diff(train) > 0).all()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_every_class_is_in_every_training_part(y, split):
    for train, test in split.split(rows_of(y), y):
        assert set(y[train]) >= set(y) - {-1}
        assert len(test)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_get_n_splits_is_the_number_of_folds(y, split):
    n = len(list(split.split(rows_of(y), y)))
    assert split.get_n_splits(rows_of(y), y) == split.get_n_splits(y=y) == n
    counts = np.bincount(y[y >= 0])
    assert n == max(2, min(split.cv, int(counts[counts > 1].mean())))
    assert split.get_n_splits() == split.cv


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_the_same_rows_every_time(y, split):
    first, second = ([(a.tolist(), b.tolist()) for a, b in split.split(rows_of(y), y)] for _ in range(2))
    assert first == second
    again = SemiSupervisedSplit(split.cv, transductive=split.transductive, random_state=split.random_state)
    assert first == [(a.tolist(), b.tolist()) for a, b in again.split(rows_of(y), y)]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(few_labels, splits)
def test_words_and_gaps_split_like_numbers(y, split):
    words = np.array([None if code < 0 else "abcd"[code] for code in y], dtype=object)
    for kind in (words, words.tolist(), pd.Series(words, index=np.arange(len(y))[::-1]), pd.Categorical(words)):
        for ours, theirs in zip(split.split(rows_of(y), kind), split.split(rows_of(y), y), strict=True):
            np.testing.assert_array_equal(ours[0], theirs[0])
            np.testing.assert_array_equal(ours[1], theirs[1])


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.lists(st.none() | st.floats(-9, 9), max_size=25) | st.lists(st.none() | st.integers(-2, 2), max_size=25),
    numbers_of_folds,
    st.booleans(),
)
def test_folds_of_a_regression_are_equally_large(targets, n_folds, transductive):
    """Fractions or whole numbers; -1 is one of them."""
    y = np.array([*[np.nan if t is None else t for t in targets], 1.0, 2.0, -1.0])
    split = SemiSupervisedSplit(n_folds, regression=True, transductive=transductive)
    sizes, seen = [], Counter()
    for train, test in split.split(rows_of(y), y):
        sizes.append(len(test))
        seen.update(test.tolist())
        expected = set(range(len(y))) if transductive else set(np.flatnonzero(~np.isnan(y)))
        assert set(train) == expected - set(test)
    assert seen == dict.fromkeys(np.flatnonzero(~np.isnan(y)).tolist(), 1)
    assert max(sizes) - min(sizes) <= 1
    assert split.get_n_splits(y=y) == len(sizes) == min(n_folds, len(seen))


# ---------------------------------------------------------------- why it is there


def test_splitters_of_scikit_learn_count_unlabelled_rows_as_wrong():
    """The classifier is right everywhere, and its score is the share of the rows that have a label."""
    X, y, few = blobs(gap=6.0)
    classifier = clone(CLASSIFIER).set_params(gamma=0.02)
    assert clone(classifier).fit(X, few).score(X, y) == 1
    naive = cross_val_score(classifier, X, few, cv=StratifiedKFold(3), scoring="accuracy", error_score="raise")
    assert naive.mean() == pytest.approx((few >= 0).mean())
    assert cross_val_score(classifier, X, few, cv=SemiSupervisedSplit(3), error_score="raise").mean() == 1


@pytest.mark.parametrize("y", [FEW, WORDS], ids=["numbers", "words"])
def test_classifiers_do_not_score_rows_without_a_label(y):
    folds = KFold(3, shuffle=True, random_state=0)
    plain = cross_val_score(CLASSIFIER, X, y, cv=folds, error_score="raise")
    by_hand = [
        (clone(CLASSIFIER).fit(X[train], y[train]).predict(X[test]) == y[test])[FEW[test] >= 0].mean()
        for train, test in folds.split(X)
    ]
    assert plain.tolist() == by_hand


# ---------------------------------------------------------------- scikit-learn's tools

LABELS = {"numbers": FEW, "words": WORDS}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("gap", [1.0, 4.0])
def test_scores_are_those_of_a_loop_by_hand(kind, gap):
    X, _, _ = blobs(gap=gap)
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    ours = cross_val_score(CLASSIFIER, X, LABELS[kind], cv=SemiSupervisedSplit(splitter), error_score="raise")
    assert ours.tolist() == hand_made(CLASSIFIER, X, LABELS[kind], splitter, FEW >= 0)


def test_without_unlabelled_rows_the_loop_is_that_of_scikit_learn():
    """Other rows are not looked at: the same as cross-validation of the labelled rows alone."""
    X, _, few = blobs(gap=1.0, per_class=9)
    splitter = StratifiedKFold(3)
    ours = cross_val_score(CLASSIFIER, X, few, cv=SemiSupervisedSplit(splitter, transductive=False))
    theirs = cross_val_score(CLASSIFIER, X[few >= 0], few[few >= 0], cv=splitter)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("y", [FEW, WORDS, pd.Series(WORDS), pd.Series(FEW, index=np.arange(60)[::-1])])
def test_labels_of_all_kinds_in_frames(y):
    X, _, _ = blobs(gap=1.0)
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(60) + 7)
    scores = cross_val_score(CLASSIFIER, frame, y, cv=SemiSupervisedSplit(3), error_score="raise")
    np.testing.assert_array_equal(scores, cross_val_score(CLASSIFIER, X, FEW, cv=SemiSupervisedSplit(3)))


def test_a_grid_finds_what_a_loop_finds():
    X, _, few = blobs(gap=1.0, per_class=9)
    values, split = [0.01, 1.0, 100.0], SemiSupervisedSplit(3)
    search = GridSearchCV(CLASSIFIER, {"gamma": values}, cv=split, error_score="raise").fit(X, few)
    means = []
    for gamma in values:
        parts = list(split.split(X, few))
        classifiers = [clone(CLASSIFIER).set_params(gamma=gamma).fit(X[train], few[train]) for train, _ in parts]
        means.append(np.mean([m.score(X[test], few[test]) for m, (_, test) in zip(classifiers, parts, strict=True)]))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], means)
    assert search.best_params_["gamma"] == values[int(np.argmax(means))]
    assert len(search.best_estimator_.support_) <= (few >= 0).sum()


def test_cross_val_predict_is_refused():
    with pytest.raises(ValueError, match="cross_val_predict only works for partitions"):
        cross_val_predict(CLASSIFIER, X, FEW, cv=SemiSupervisedSplit(3))


@pytest.mark.parametrize("of", [lambda x: 2 * x + 0.1, np.rint], ids=["fractions", "whole"])
def test_a_regressor(of):
    y = np.where(FEW >= 0, of(X[:, 0]), np.nan)
    split = SemiSupervisedSplit(4, regression=True)
    scores = cross_val_score(REGRESSOR, X, y, cv=split, error_score="raise")
    expected = []
    for train, test in split.split(X, y):
        expected.append(r2_score(y[test], clone(REGRESSOR).fit(X[train], y[train]).predict(X[test])))
    np.testing.assert_allclose(scores, expected)
    search = GridSearchCV(REGRESSOR, {"C": [0.01, 10.0]}, cv=split, error_score="raise").fit(X, y)
    assert search.best_params_ == {"C": 10.0}


def test_whole_numbers_are_classes_unless_it_is_a_regression():
    y = np.array([-1, -1, 0, 0, 1, 1])
    regressed, classified = (
        sorted(int(row) for _, test in SemiSupervisedSplit(2, regression=kind).split(rows_of(y), y) for row in test)
        for kind in (True, False)
    )
    assert regressed == [0, 1, 2, 3, 4, 5]
    assert classified == [2, 3, 4, 5]
    assert SemiSupervisedSplit(5, regression=True).get_n_splits(y=y) == 5
    assert SemiSupervisedSplit(5).get_n_splits(y=y) == 2


def test_regression_with_a_splitter():
    y = np.where(FEW >= 0, np.rint(X[:, 0]) - 1, np.nan)
    split = SemiSupervisedSplit(KFold(3), regression=True)
    assert [test.tolist() for _, test in split.split(X, y)] == [[*range(4)], [*range(4, 8)], [*range(8, 12)]]
    scores = cross_val_score(REGRESSOR, X, y, cv=split, error_score="raise")
    assert scores.tolist() == pytest.approx(hand_made(REGRESSOR, X, y, KFold(3), FEW >= 0))


# ---------------------------------------------------------------- splitters of scikit-learn


def test_leaving_one_out_leaves_out_labelled_rows():
    split = SemiSupervisedSplit(LeaveOneOut())
    tests = [test.tolist() for _, test in split.split(X, FEW)]
    assert tests == [[row] for row in range(12)]
    assert all(len(train) == 59 for train, _ in split.split(X, FEW))


def test_groups_stay_together():
    groups = np.arange(60) // 4
    split = SemiSupervisedSplit(GroupKFold(3))
    for train, test in split.split(X, FEW, groups):
        known = train[FEW[train] >= 0]
        assert not set(groups[known]) & set(groups[test])
        assert set(np.flatnonzero(FEW < 0)) <= set(train)
    scores = cross_val_score(CLASSIFIER, X, FEW, groups=groups, cv=split, error_score="raise")
    assert scores.tolist() == hand_made(CLASSIFIER, X, FEW, GroupKFold(3), FEW >= 0, groups)
    assert split.get_n_splits(X, FEW, groups) == 3


def test_groups_may_be_a_list():
    groups = (np.arange(60) // 4).tolist()
    a = SemiSupervisedSplit(GroupKFold(3)).split(X, FEW, groups)
    b = SemiSupervisedSplit(GroupKFold(3)).split(X, FEW, np.array(groups))
    assert [test.tolist() for _, test in a] == [test.tolist() for _, test in b]


@pytest.mark.parametrize(
    ("splitter", "n"),
    [(LeaveOneOut(), 12), (KFold(4), 4), (StratifiedKFold(3), 3)],
    ids=lambda each: type(each).__name__,
)
def test_as_many_folds_as_a_splitter_makes_of_the_labelled_rows(splitter, n):
    split = SemiSupervisedSplit(splitter)
    assert split.get_n_splits(X, FEW) == split.get_n_splits(y=WORDS) == len(list(split.split(X, FEW))) == n


@pytest.mark.parametrize(
    ("splitter", "n"),
    [(LeaveOneGroupOut(), 3), (StratifiedGroupKFold(2), 2), (GroupKFold(3), 3)],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("kind", [np.array, list])
def test_as_many_folds_as_a_splitter_makes_of_the_labelled_groups(splitter, n, kind):
    groups = kind(np.arange(60) // 4)  # 15 of them, and labels in three
    split = SemiSupervisedSplit(splitter)
    assert split.get_n_splits(X, FEW, groups) == len(list(split.split(X, FEW, groups))) == n


def test_the_number_of_folds_of_a_splitter_without_labels():
    assert SemiSupervisedSplit(KFold(4)).get_n_splits() == 4
    assert SemiSupervisedSplit(LeaveOneOut()).get_n_splits(X) == 60


def test_a_grid_that_leaves_one_out():
    split = SemiSupervisedSplit(LeaveOneOut())
    search = GridSearchCV(CLASSIFIER, {"C": [1.0]}, cv=split, error_score="raise").fit(X, FEW)
    assert search.n_splits_ == 12
    scores = [search.cv_results_[f"split{i}_test_score"][0] for i in range(12)]
    assert scores == hand_made(CLASSIFIER, X, FEW, LeaveOneOut(), FEW >= 0)


def test_a_grid_that_leaves_one_group_out():
    groups = np.arange(60) // 4
    split = SemiSupervisedSplit(LeaveOneGroupOut())
    search = GridSearchCV(CLASSIFIER, {"C": [1.0]}, cv=split, error_score="raise").fit(X, FEW, groups=groups)
    assert search.n_splits_ == 3
    scores = [search.cv_results_[f"split{i}_test_score"][0] for i in range(3)]
    assert scores == hand_made(CLASSIFIER, X, FEW, LeaveOneGroupOut(), FEW >= 0, groups)


@pytest.mark.parametrize("n", [np.int64(3), np.int32(3), np.uint8(3)])
def test_a_number_of_numpy_is_a_number_of_folds(n):
    ours, expected = ([test.tolist() for _, test in SemiSupervisedSplit(k).split(X, FEW)] for k in (n, 3))
    assert ours == expected
    assert SemiSupervisedSplit(n).get_n_splits() == SemiSupervisedSplit(n).get_n_splits(y=FEW) == 3


# ---------------------------------------------------------------- what it refuses


PAIRS = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]


@pytest.mark.parametrize(
    "cv",
    [1, 0, -3, True, np.int64(1), None, 2.5, 3.0, "3", "kfold", PAIRS, iter(PAIRS)],
    ids=lambda cv: type(cv).__name__,
)
def test_wrong_values_of_cv(cv):
    why = f"cv must be 2 or more, or a splitter, but it is {cv!r}."
    for call in (
        lambda split: list(split.split(X, FEW)),
        lambda split: split.get_n_splits(X, FEW),
        lambda split: split.get_n_splits(),
    ):
        with pytest.raises(OptionError) as caught:
            call(SemiSupervisedSplit(cv))
        assert str(caught.value) == why


def test_single_labels_cannot_be_left_out():
    y = [0, 1, 2, -1, -1]
    for call in (lambda split: list(split.split(rows_of(y), y)), lambda split: split.get_n_splits(y=y)):
        with pytest.raises(LabelError, match=r"^Every class has one label only, so none can be left out for a test\."):
            call(SemiSupervisedSplit(2))


def test_without_labels():
    with pytest.raises(NoLabelsError, match=r"^None of the 60 rows is labelled\."):
        list(SemiSupervisedSplit(2).split(X, np.full(60, -1)))
    with pytest.raises(NoLabelsError, match=r"^None of the 60 rows is labelled\."):
        list(SemiSupervisedSplit(2).split(X, [None] * 60))
    with pytest.raises(LabelTypeError, match="y must be one column of labels"):
        list(SemiSupervisedSplit(2).split(X, None))


def test_labels_of_wrong_types_or_length():
    with pytest.raises(LabelTypeError, match="y mixes labels of several types: number, text"):
        list(SemiSupervisedSplit(2).split(rows_of([1] * 4), [1, "a", 1, "a"]))
    with pytest.raises(LengthError, match=r"^X has 5 rows, but y has 60 labels\. Give one label per row, None where"):
        list(SemiSupervisedSplit(2).split(X[:5], FEW))
    split = SemiSupervisedSplit(GroupKFold(2))
    for call in (lambda: list(split.split(X, FEW, [1, 2, 3])), lambda: split.get_n_splits(X, FEW, [1, 2, 3])):
        with pytest.raises(LengthError, match=r"^groups has 3 rows, but y has 60 labels\."):
            call()


def test_continuous_targets_need_regression():
    y = np.where(FEW >= 0, X[:, 0], np.nan)
    for call in (lambda split: list(split.split(X, y)), lambda split: split.get_n_splits(y=y)):
        with pytest.raises(LabelTypeError, match="continuous values, not classes"):
            call(SemiSupervisedSplit(2))


def test_targets_of_wrong_types():
    with pytest.raises(NoLabelsError, match=r"^None of the 60 rows has a target\."):
        list(SemiSupervisedSplit(2, regression=True).split(X, np.full(60, np.nan)))
    with pytest.raises(LabelTypeError, match=r"^y must hold numbers, None or NaN where there is none, but it holds"):
        list(SemiSupervisedSplit(2, regression=True).split(X, WORDS))
    with pytest.raises(LabelError, match="none can be left out for a test"):
        list(SemiSupervisedSplit(2, regression=True).split(rows_of([1] * 3), [None, 0.5, None]))


def test_repr():
    assert repr(SemiSupervisedSplit(4)) == "SemiSupervisedSplit(4, regression=False, transductive=True, random_state=0)"
    other = SemiSupervisedSplit(LeaveOneOut(), regression=True, transductive=False, random_state=None)
    assert repr(other) == "SemiSupervisedSplit(LeaveOneOut(), regression=True, transductive=False, random_state=None)"
    with pytest.raises(TypeError, match="positional argument"):
        SemiSupervisedSplit(4, True)
