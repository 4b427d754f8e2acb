"""Tests of the rows to label next."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from mixkern import LaplacianSVC, Mixture, MixtureSVC, TableEncoder, VBMixture
from mixkern.advice import suggest, suggested_rows, suggestion_table
from mixkern.advice.suggest import Pool, Suggester
from mixkern.errors import LabelError, NotATableError, OptionError

N_CLUSTERS = 6


def clusters(n=240, k=N_CLUSTERS, seed=0):
    """Well separated groups of quite different sizes."""
    angle = 2 * np.pi * np.arange(k) / k
    centres = 12 * np.column_stack([np.cos(angle), np.sin(angle)])
    sizes = np.linspace(1, 4, k)
    sizes = np.round(n * sizes / sizes.sum()).astype(int)
    return make_blobs(sizes, centers=centres, random_state=seed)


def mixture_of(X, **settings):
    return VBMixture(precision_prior="evidence", random_state=0, **settings).fit(X).mixture_


@pytest.fixture(scope="module")
def table():
    X, y = clusters()
    X.flags.writeable = False
    return X, y, mixture_of(X)


# ---------------------------------------------------------------- without labels


def test_every_cluster_gets_one_before_any_gets_two(table):
    X, y, mixture = table
    rows = suggested_rows(X, mixture, N_CLUSTERS)
    assert sorted(y[rows]) == list(range(N_CLUSTERS))


def test_suggestions_lie_near_the_centres_of_clusters(table):
    X, y, mixture = table
    rows = suggested_rows(X, mixture, N_CLUSTERS)
    centres = np.array([X[y == label].mean(axis=0) for label in range(N_CLUSTERS)])
    distance = np.linalg.norm(X - centres[y], axis=1)
    assert distance[rows].mean() < np.median(distance)


def test_large_clusters_get_more_than_small_ones(table):
    X, y, mixture = table
    counts = np.bincount(y[suggested_rows(X, mixture, 24)], minlength=N_CLUSTERS)
    assert counts[-2:].sum() > counts[:2].sum()


def test_a_single_suggestion_is_a_row_in_a_dense_place(table):
    X, _, mixture = table
    (row,) = suggested_rows(X, mixture, 1)
    log_density = mixture.log_density(X)
    assert log_density[row] > np.quantile(log_density, 0.25)


def test_all_rows_can_be_suggested(table):
    X, _, mixture = table
    assert sorted(suggested_rows(X[:40], mixture, 40)) == list(range(40))


def test_codes_that_are_all_unlabelled_are_no_codes(table):
    X, _, mixture = table
    codes = np.full(len(X), -1)
    np.testing.assert_array_equal(suggested_rows(X, mixture, 5, codes), suggested_rows(X, mixture, 5))


# ---------------------------------------------------------------- with labels


def test_rows_with_labels_are_not_suggested(table):
    X, y, mixture = table
    codes = np.where(np.arange(len(X)) < 200, y, -1)
    rows = suggested_rows(X, mixture, len(X) - 200, codes)
    assert sorted(rows) == list(range(200, len(X)))


def test_clusters_without_labels_come_first(table):
    X, y, mixture = table
    codes = np.full(len(X), -1)
    for label in (0, 2, 3):
        codes[np.flatnonzero(y == label)[:2]] = label
    assert sorted(y[suggested_rows(X, mixture, 3, codes)]) == [1, 4, 5]


def test_labels_of_one_class_are_enough(table):
    X, y, mixture = table
    codes = np.where(y == 5, 0, -1)
    assert 5 not in y[suggested_rows(X, mixture, 5, codes)]


def test_rows_that_labels_leave_undecided_are_preferred():
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]])
    rows = np.array([[-2.0], [2.0], [-1.4], [0.0], [1.4]])
    assert suggested_rows(rows, mixture, 1, [0, 1, -1, -1, -1]).tolist() == [3]


@pytest.mark.parametrize(("labels", "share"), [([], 0.9), ([3, 3], 0.6)])
def test_kernel_without_labels_of_two_classes(table, labels, share):
    X, _, mixture = table
    suggester = Suggester.of(X, mixture, np.random.RandomState(0))
    kernel = suggester.kernel_for(np.arange(len(labels)), np.array(labels))
    assert (kernel.share, kernel.gamma) == (share, suggester.kernel.gamma)


def test_the_best_row_by_the_formulas(table):
    X, y, mixture = table
    rows, labelled = X[::3], np.arange(0, 80, 9)
    classes = y[::3] % 3
    codes = np.full(len(rows), -1)
    codes[labelled] = classes[labelled]
    suggester = Suggester.of(rows, mixture, np.random.RandomState(0))
    K = suggester.kernel_for(labelled, codes[labelled])(rows)
    # Uncertainty: one minus the margin of a regression on the classes, noise 0.1.
    targets = np.eye(3)[codes[labelled]]
    centred = targets - targets.mean(axis=0)
    among = K[np.ix_(labelled, labelled)]
    means = targets.mean(axis=0) + K[:, labelled] @ np.linalg.solve(among + 0.1 * np.eye(len(labelled)), centred)
    means = np.sort(means, axis=1)
    uncertainty = 1 - np.clip(means[:, -1] - means[:, -2], 0, 1)
    # Reduction of the variances, noise 0.2, of the rows without a label.
    inner = np.linalg.inv(among + 0.2 * np.eye(len(labelled)))
    covariance = K - K[:, labelled] @ inner @ K[labelled]
    left = np.flatnonzero(codes < 0)
    gain = [uncertainty[j] ** 2 * (covariance[left, j] ** 2).sum() / (covariance[j, j] + 0.2) for j in left]
    assert suggester.suggested(1, codes, np.random.RandomState(0)).tolist() == [left[np.argmax(gain)]]


# ---------------------------------------------------------------- equal rows, gaps, categories


def test_equal_rows_are_suggested_once(table):
    X, _, mixture = table
    twice = np.vstack([X[:20], X[:20]])
    rows = suggested_rows(twice, mixture, 20)
    assert sorted(rows % 20) == list(range(20))


def test_rows_equal_to_labelled_ones_come_last(table):
    X, _, mixture = table
    twice = np.vstack([X[:20], X[:20]])
    codes = np.full(40, -1)
    codes[:5] = [0, 1, 0, 1, 0]
    rows = suggested_rows(twice, mixture, 35, codes)
    assert set(rows[:15] % 20) == set(range(5, 20))
    assert len(set(rows)) == 35


def test_rows_that_are_all_equal_can_be_suggested():
    mixture = Mixture([1.0], [[0.0, 0.0]], [[1.0, 1.0]], "diag")
    assert len(set(suggested_rows(np.ones((7, 2)), mixture, 4, random_state=0))) == 4


def test_gaps_and_categories():
    rng = np.random.RandomState(0)
    colour = np.repeat(["red", "green", "blue"], 40)
    size = np.repeat([0.0, 5.0, 10.0], 40) + rng.standard_normal(120)
    frame = pd.DataFrame({"size": size, "weight": rng.standard_normal(120), "colour": colour})
    frame.loc[::7, "size"] = np.nan
    frame.loc[::11, "colour"] = None
    rows = suggest(frame, 3, audit=0, random_state=0)
    assert sorted(colour[rows]) == ["blue", "green", "red"]


def test_a_row_without_any_value_comes_last(table):
    X, _, mixture = table
    rows = suggested_rows(np.vstack([[[np.nan, np.nan]], X[:20]]), mixture, 21)
    assert rows[-1] == 0


def test_categories_alone():
    frame = pd.DataFrame({"a": list("xxxxyyyy") * 5, "b": list("uuuuvvvv") * 5})
    rows = suggest(frame, 2, audit=0, random_state=0)
    assert sorted(frame["a"].iloc[rows]) == ["x", "y"]


# ---------------------------------------------------------------- many rows


def test_many_rows_and_many_suggestions(monkeypatch, table):
    X, y, mixture = table
    for name, limit in {"MAX_CANDIDATES": 50, "MAX_KNOWN": 20, "MAX_PICKS": 10}.items():
        monkeypatch.setitem(suggested_rows.__globals__, name, limit)
    rows = suggested_rows(X, mixture, 100, np.where(np.arange(len(X)) < 30, y, -1), random_state=0)
    assert len(set(rows)) == 100
    assert rows.min() >= 30


def test_the_seed_decides_which_rows_are_compared(monkeypatch, table):
    X, _, mixture = table
    monkeypatch.setitem(suggested_rows.__globals__, "MAX_CANDIDATES", 60)
    first, again, other = (suggested_rows(X, mixture, 8, random_state=seed).tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other


# ---------------------------------------------------------------- tables


def test_a_table_gives_what_its_encoded_rows_give(table):
    X, y, _ = table
    model = MixtureSVC(random_state=0)
    labels = [str(label) if i < 10 else None for i, label in enumerate(y)]
    rows = suggest(X, 5, labels, model=model, audit=0, random_state=0)
    fitted = MixtureSVC(random_state=0).fit(X, labels)
    codes = np.array([-1 if label is None else fitted.classes_.tolist().index(label) for label in labels])
    expected = suggested_rows(fitted.encoder_.transform(X), fitted.mixture_, 5, codes, random_state=0)
    assert rows.tolist() == expected.tolist()
    assert suggest(X, 5, labels, model=fitted, audit=0, random_state=0).tolist() == expected.tolist()
    assert not hasattr(model, "mixture_")


def test_a_seed_makes_suggestions_repeat(table):
    X, _, _ = table
    assert suggest(X, 6, random_state=3).tolist() == suggest(X, 6, random_state=3).tolist()


def test_encoded_rows_and_a_mixture_need_no_table(table):
    X, _, mixture = table
    rows = suggest(X, 4, model=MixtureSVC(density=mixture), audit=0, random_state=0)
    assert rows.tolist() == suggested_rows(X, mixture, 4, random_state=0).tolist()


@pytest.mark.parametrize("y", [None, [-1] * 240, [None] * 240], ids=["none", "minus one", "gaps"])
def test_no_label_at_all(table, y):
    X, _, mixture = table
    assert len(suggest(X, 3, y, model=MixtureSVC(density=mixture))) == 3


def test_a_density_that_uses_labels(table):
    X, y, _ = table
    labels = np.where(np.arange(len(X)) % 5 == 0, y, -1)
    model = MixtureSVC(density=VBMixture(use_labels=True), encoder=TableEncoder())
    rows = suggest(X, 5, labels, model=model, random_state=0)
    assert (labels[rows] == -1).all()


def test_the_density_of_a_laplacian_svc(table):
    X, _, mixture = table
    assert len(suggest(X, 3, model=LaplacianSVC(density=mixture), random_state=0)) == 3


# ---------------------------------------------------------------- random rows


@pytest.mark.parametrize("seed", [0, "generator"])
@pytest.mark.parametrize("n_labels", [0, 12])
def test_one_row_in_five_is_random_and_the_others_are_not_disturbed(table, seed, n_labels):
    X, y, mixture = table
    labels = [str(label) if i < n_labels else None for i, label in enumerate(y)]
    model = MixtureSVC(density=mixture, random_state=0)

    def rows(n, **options):
        random_state = np.random.RandomState(3) if seed == "generator" else seed
        return suggest(X, n, labels, model=model, random_state=random_state, **options).tolist()

    found = rows(10)
    assert found[:8] == rows(8, audit=0)
    assert len(set(found) - set(range(n_labels))) == 10
    assert found[8:] != rows(10, audit=0)[8:]
    assert found == rows(10)


def test_random_rows_differ_with_the_seed_and_spread_over_the_table(table):
    X, _, mixture = table
    model = MixtureSVC(density=mixture, random_state=0)
    drawn = [suggest(X, 10, model=model, audit=1, random_state=seed) for seed in range(60)]
    assert all(len(set(rows)) == 10 for rows in drawn)
    assert len(set(np.concatenate(drawn))) > 200  # of 240; 222 are expected


def test_one_row_at_a_time_reaches_the_share(table):
    X, y, mixture = table
    model = MixtureSVC(density=mixture, random_state=0)
    pure = []
    for n_labels in range(5, 15):
        labels = np.where(np.arange(len(X)) < n_labels, y, -1)
        one, alone = (suggest(X, 1, labels, model=model, audit=audit, random_state=0)[0] for audit in (0.2, 0))
        pure.append(one == alone)
    assert pure == [True, True, True, True, False] * 2


def test_all_rows_that_are_left(table):
    X, _, mixture = table
    rows = suggest(X[:11], 9, [0, 1] + [-1] * 9, model=MixtureSVC(density=mixture), random_state=0)
    assert sorted(rows) == list(range(2, 11))


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("audit", [-0.1, 1.5, np.nan, True, "0.2", None])
def test_audit_must_be_a_fraction(table, audit):
    for function in (suggest, suggestion_table):
        with pytest.raises(OptionError, match=r"audit must be a number from 0 to 1, but it is"):
            function(table[0], 3, audit=audit)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3", None])
def test_n_must_be_a_count(table, n):
    X, _, mixture = table
    with pytest.raises(OptionError, match="n must be a whole number, 1 or more"):
        suggested_rows(X, mixture, n)
    with pytest.raises(OptionError, match="n must be a whole number, 1 or more"):
        suggest(X, n)


def test_labels_in_place_of_the_number(table):
    X, y = table[0], pd.Series([None] * len(table[0]), dtype=object)
    for arguments in ((X, y), (X, y, 3)):
        for function in (suggest, suggestion_table):
            with pytest.raises(OptionError, match=r"n must be .*, but it is of type Series\..*suggest\(X, n, y\)"):
                function(*arguments)


def test_more_suggestions_than_rows_without_a_label(table):
    X, _, mixture = table
    with pytest.raises(OptionError, match=r"n is 4, but of 5 rows 3 have no label\. At most 3 can be suggested"):
        suggested_rows(X[:5], mixture, 4, [0, 1, -1, -1, -1])
    with pytest.raises(OptionError, match=r"of 2 rows 0 have no label\. There is nothing left"):
        suggest(X[:2], 1, [0, 1])


def test_labels_of_another_length(table):
    X, _, mixture = table
    with pytest.raises(LabelError, match="X has 5 rows, but y has 2"):
        suggest(X[:5], 1, [0, 1])
    with pytest.raises(LabelError, match="5 rows, but 2 codes"):
        suggested_rows(X[:5], mixture, 1, [0, -1])


def test_what_is_no_table():
    with pytest.raises(NotATableError, match="X must have two dimensions, rows and columns, but it has 0"):
        suggest(3, 1)


@pytest.mark.parametrize("model", [SVC(), MixtureSVC, "svc"], ids=["SVC", "class", "text"])
def test_models_without_a_density(table, model):
    with pytest.raises(OptionError, match="model must be None, a MixtureSVC or a LaplacianSVC, but it is"):
        suggest(table[0], 1, model=model)


# ---------------------------------------------------------------- what it is for


def test_suggested_labels_teach_more_than_random_ones():
    suggested, random = [], []
    for seed in range(6):
        X, y = clusters(seed=seed)
        mixture = mixture_of(X)
        y = y % 3  # clusters opposite each other have the same label
        rng = np.random.RandomState(seed)
        draws = [rng.permutation(len(X))[:9] for _ in range(5)]
        random += [accuracy(X, y, rows) for rows in draws if len(set(y[rows])) > 1]
        suggested.append(accuracy(X, y, suggested_rows(X, mixture, 9, random_state=seed)))
    assert np.mean(suggested) > np.mean(random) + 0.05


def accuracy(X, y, rows):
    return SVC(C=10).fit(X[rows], y[rows]).score(X, y)


# ---------------------------------------------------------------- equal rows

GAP = np.nan


def pool_of(rows, taken=()):
    is_taken = np.zeros(len(rows), dtype=bool)
    is_taken[list(taken)] = True
    return Pool.of(np.array(rows, dtype=float), is_taken)


def test_equal_rows_share_a_group_and_gaps_are_equal_to_gaps():
    groups = pool_of([[1, GAP], [1, 2], [1, -GAP], [0.0, 1], [-0.0, 1], [GAP, 1]]).groups
    assert groups[0] == groups[2]
    assert groups[3] == groups[4]
    assert len(set(groups)) == 4


def test_rows_that_differ_in_the_last_digit_are_different():
    assert len(set(pool_of([[1e9, 1.0], [1e9, np.nextafter(1.0, 2)]]).groups)) == 2


def test_fresh_rows_are_equal_to_none_that_is_taken_and_copies_are():
    pool = pool_of([[1], [1], [2], [2], [3]], taken=[0])
    assert pool.fresh.tolist() == [2, 3, 4]
    assert pool.copies.tolist() == [1]


def test_taking_rows_makes_another_pool():
    pool = pool_of([[1], [2], [2]])
    smaller = pool.without(np.array([1]))
    assert smaller.fresh.tolist() == [0]
    assert smaller.copies.tolist() == [2]
    assert pool.fresh.tolist() == [0, 1, 2]


def test_a_group_is_drawn_once_and_counts_as_often_as_it_has_rows():
    rows, counts = pool_of([[2], [1], [2], [3], [2]], taken=[3]).candidates(100, np.random.RandomState(0))
    assert rows.tolist() == [0, 1]
    assert counts.tolist() == [3, 1]


def test_no_more_rows_are_drawn_than_the_limit():
    rows, counts = pool_of(np.arange(50.0)[:, None]).candidates(7, np.random.RandomState(0))
    assert len(set(rows)) == 7
    assert counts.sum() == 7
