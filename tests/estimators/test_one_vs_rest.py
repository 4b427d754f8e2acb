"""What transductive machines have in common: one class against the others, shares, a safe mode, and Ctrl-C."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.metrics import log_loss

import mixkern.svm.s3vm
import mixkern.svm.transductive
from mixkern import Mixture, QuasiNewtonS3VC, TransductiveSVC, VBMixture, datasets
from mixkern.errors import DrawnRowsWarning, InterruptedWarning, LabelError, OneClassError, OptionError
from mixkern.estimators.one_vs_rest import _unlabelled_shares
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import LaplacianKernel, RBFKernel, RWMKernel
from mixkern.svm.calibration import TYPICAL, OwnValues, slope
from mixkern.svm.folds import fewer_folds, label_folds
from mixkern.svm.one_vs_rest import class_probabilities
from mixkern.svm.s3vm import QUASI_NEWTON_LEVELS, quasi_newton
from mixkern.svm.transductive import TRANSDUCTIVE_LEVELS, transductive

PLANE = Mixture([0.6, 0.4], [[0.0, 0.0], [1.5, 1.5]], [[[1.0, 0.3], [0.3, 0.8]], [[0.6, 0.0], [0.0, 1.4]]])
MACHINES = [TransductiveSVC, QuasiNewtonS3VC]
LEVELS = {TransductiveSVC: TRANSDUCTIVE_LEVELS, QuasiNewtonS3VC: QUASI_NEWTON_LEVELS}
NAMES = np.array(["ant", "bee", "cat"])

both = pytest.mark.parametrize("machine", MACHINES)


def blobs(n=60, c=2, per_class=5, gap=3.0):
    """Rows of a few classes in turn, their classes, and labels of the first few of each."""
    random = np.random.RandomState(0)
    y = np.arange(n) % c
    X = random.standard_normal((n, 2)) + gap * np.column_stack([y % 2, y // 2])
    X.flags.writeable = False
    return X, y, np.where(np.arange(n) < c * per_class, y, -1)


def made(machine, kernel="rbf", **how):
    """A classifier with a known density; probabilities take four more trainings."""
    return machine(kernel, density=PLANE, **{"random_state": 0, "probability": False, **how})


def without(machine):
    """What leaves unlabelled rows out."""
    return {"unlabelled_C": 0.0} if machine is TransductiveSVC else {"unlabelled_weight": 0.0}


def misled(machine):
    """What makes unlabelled rows count, for better or worse."""
    return {"C": 10.0, **({"unlabelled_C": 10.0} if machine is TransductiveSVC else {})}


def solved(model, K, signs, share, *, supervised=False):
    """One binary problem, by the solver itself."""
    if isinstance(model, TransductiveSVC):
        cost = 0.0 if supervised else model.unlabelled_C
        how = {"C": model.C, "unlabelled_C": cost, "tol": model.tol, "max_iter": model.max_iter}
        return transductive(K, signs, positive_share=share, repair=model.repair, **how)
    weight = 0.0 if supervised else model.unlabelled_weight
    how = {"C": model.C, "unlabelled_weight": weight, "tol": model.tol, "max_iter": model.max_iter}
    return quasi_newton(K, np.arange(len(K)), signs, positive_share=share, **how)


def literal(model, K, codes, shares, *, supervised=False, at=None):
    """Values of one function for each class against the others; of two classes, of the second."""
    c, at = len(shares), K if at is None else at
    columns = []
    for label in [1] if c == 2 else range(c):
        signs = np.zeros(len(codes), dtype=int)
        for i, code in enumerate(codes):
            signs[i] = 0 if code < 0 else (1 if code == label else -1)
        dual = solved(model, K, signs, shares[label], supervised=supervised)
        columns.append(dual.decision(at)[:, 0])
    return columns[0] if c == 2 else np.column_stack(columns)


def left_of(shares, codes):
    """Shares among the unlabelled rows, if those among all rows are known: what the labelled ones leave."""
    n, left = len(codes), []
    for label, share in enumerate(shares):
        left.append(max(0.0, share * n - sum(code == label for code in codes)))
    return [each / sum(left) for each in left]


X2, Y2, FEW2 = blobs()
X3, Y3, FEW3 = blobs(75, 3)


# ---------------------------------------------------------------- the solver, class by class


@both
@pytest.mark.parametrize("kernel", ["rbf", "rwm", RWMKernel(gamma=0.4)], ids=str)
def test_two_classes_are_one_call_of_the_solver(machine, kernel):
    model = made(machine, kernel).fit(X2, FEW2)
    np.testing.assert_allclose(
        model.decision_function(X2), literal(model, model.kernel_(X2), FEW2, [0.5, 0.5]), atol=1e-8
    )
    np.testing.assert_array_equal(model.predict(X2), (model.decision_function(X2) > 0).astype(int))
    assert model.dual_coef_.shape == (1, len(model.support_))
    np.testing.assert_array_equal(model.support_vectors_, X2[model.support_])
    assert model.fell_back_ is False


@both
def test_several_classes_are_a_loop(machine):
    model = made(machine).fit(X3, FEW3)
    scores = model.decision_function(X3)
    np.testing.assert_allclose(scores, literal(model, model.kernel_(X3), FEW3, [1 / 3] * 3), atol=1e-8)
    np.testing.assert_array_equal(model.predict(X3), scores.argmax(axis=1))
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.intercept_.shape == (3,)


@both
def test_new_rows_are_sums_over_support_vectors(machine):
    model = made(machine, "rwm").fit(X3, FEW3)
    new = np.random.RandomState(1).uniform(-3, 5, (20, 2))
    expected = model.kernel_(new, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)


@both
def test_weightless_unlabelled_rows_make_the_supervised_machine(machine):
    for X, few in ((X2, FEW2), (X3, FEW3)):
        model = made(machine, **without(machine)).fit(X, few)
        known = few >= 0
        alone = made(machine, gamma=model.kernel_.gamma).fit(X[known], few[known])
        # Landmarks are all rows in one, the labelled ones in the other: the same function where rows cost nothing.
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=2e-3)
        assert set(model.predict(X) == alone.predict(X)) == {True}


@both
def test_without_unlabelled_rows(machine):
    model = made(machine).fit(X3, Y3)
    K = model.kernel_(X3)
    np.testing.assert_allclose(
        model.decision_function(X3), literal(model, K, Y3, [1 / 3] * 3, supervised=True), atol=1e-8
    )


@both
@pytest.mark.slow
def test_unlabelled_rows_help(machine):
    moons = datasets.load("two_moons")
    X, y = moons.X[:300], moons.y[:300]
    few = np.where(np.arange(300) < 8, y, -1)
    helped, alone = (machine(random_state=0, **how).fit(X, few).score(X, y) for how in ({}, without(machine)))
    assert helped > alone + 0.03


# ---------------------------------------------------------------- tables, kernels, labels


@both
@pytest.mark.parametrize(
    "kernel",
    [
        "rbf",
        "rwm",
        LaplacianKernel(RWMKernel(gamma=0.5), ratio=2.0),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("gmm", "lap", RBFKernel(0.5))),
    ],
    ids=str,
)
def test_tables_with_gaps(machine, kernel):
    table = pd.DataFrame(X2, columns=["a", "b"], copy=True)
    table["c"] = np.where(np.arange(60) % 5 < 3, NAMES[Y2], "cat")
    table.loc[::7, "a"] = np.nan
    table.loc[::6, "c"] = None
    model = machine(kernel, density=VBMixture(n_components=3, random_state=0), random_state=0).fit(table, FEW2)
    rows = model.encoder_.transform(table)
    if kernel in ("rbf", "lap") or isinstance(kernel, RBFKernel):
        rows = model.mixture_.conditional_mean(rows)
    expected = literal(model, model.kernel_(rows), FEW2, [0.5, 0.5])
    np.testing.assert_allclose(model.decision_function(table), expected, atol=1e-6)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(table), model.decision_function(table))


@both
@pytest.mark.slow
def test_further_rows_are_rows_without_labels(machine):
    known, others = FEW3 >= 0, FEW3 < 0
    order = np.append(np.flatnonzero(known), np.flatnonzero(others))
    a = machine(random_state=0).fit(X3[known], FEW3[known], X_unlabelled=X3[others])
    b = machine(random_state=0).fit(X3[order], FEW3[order])
    np.testing.assert_array_equal(a.decision_function(X3), b.decision_function(X3))
    np.testing.assert_array_equal(a.support_, b.support_)
    assert a.support_.max() >= known.sum()


@both
def test_words_and_categories_come_back(machine):
    words = np.array([None if code < 0 else NAMES[code] for code in FEW3], dtype=object)
    numbers = made(machine).fit(X3, FEW3)
    for labels in (words, pd.Series(words, dtype="category")):
        model = made(machine).fit(X3, labels)
        np.testing.assert_array_equal(model.decision_function(X3), numbers.decision_function(X3))
        assert list(model.predict(X3)) == NAMES[numbers.predict(X3)].tolist()


@both
def test_settings_and_copies(machine):
    model = made(machine, class_shares={0: 0.4, 1: 0.6}, safe_margin=0.1)
    before = model.get_params(deep=False)
    model.fit(X2, FEW2)
    assert model.get_params(deep=False) == before
    fresh = clone(model)
    assert not hasattr(fresh, "support_")
    assert fresh.class_shares == {0: 0.4, 1: 0.6}
    a, b = (made(machine, class_shares={0: 0.4, 1: 0.6}).fit(X2, FEW2) for _ in range(2))
    np.testing.assert_array_equal(a.decision_function(X2), b.decision_function(X2))
    assert not hasattr(model, "predict_proba")


@both
def test_one_class_is_none(machine):
    with pytest.raises(OneClassError, match="one class only, and a classifier needs two"):
        made(machine).fit(X2, np.where(FEW2 == 1, 1, -1))


# ---------------------------------------------------------------- shares of classes


@both
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_shares_of_two_classes_go_to_the_solver(machine, share):
    model = made(machine, class_shares={0: 1 - share, 1: share}).fit(X2, FEW2)
    left = left_of([1 - share, share], FEW2)
    assert left[1] == pytest.approx((60 * share - 5) / 50)
    expected = literal(model, model.kernel_(X2), FEW2, left)
    np.testing.assert_allclose(model.decision_function(X2), expected, atol=1e-8)


@both
def test_shares_of_several_classes_go_to_the_solver(machine):
    words = np.array([None if code < 0 else NAMES[code] for code in FEW3], dtype=object)
    model = made(machine, class_shares={"cat": 0.5, "ant": 0.2, "bee": 0.3}).fit(X3, words)
    expected = literal(model, model.kernel_(X3), FEW3, left_of([0.2, 0.3, 0.5], FEW3))
    np.testing.assert_allclose(model.decision_function(X3), expected, atol=1e-8)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    codes=st.lists(st.integers(-1, 2), max_size=30).map(lambda more: np.array([0, 1, 2, *more])),
    parts=st.lists(st.floats(0.01, 1), min_size=3, max_size=3),
)
def test_shares_of_unlabelled_rows_by_the_formula(codes, parts):
    known = np.array(parts) / sum(parts)
    counts = np.array([(codes == label).sum() for label in range(3)])
    labels = counts / counts.sum()
    found = _unlabelled_shares(codes, known, 3)
    assert found.sum() == pytest.approx(1)
    expected = left_of(known, codes) if (codes < 0).any() else labels
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(_unlabelled_shares(codes, None, 3), labels)
    if (codes < 0).any() and (known * len(codes) >= counts).all():  # then all rows together have the known shares
        together = (counts + found * (codes < 0).sum()) / len(codes)
        np.testing.assert_allclose(together, known, atol=1e-12)


def test_more_labels_of_a_class_than_its_share_leave_none_of_it():
    codes = np.array([0] * 6 + [1] * 2 + [2] * 2 + [-1] * 10)
    found = _unlabelled_shares(codes, np.array([0.2, 0.3, 0.5]), 3)
    assert found.tolist() == pytest.approx([0, 4 / 12, 8 / 12])


@both
def test_further_rows_are_among_all_rows(machine):
    shares = {0: 0.3, 1: 0.7}
    known = FEW2 >= 0
    order = np.append(np.flatnonzero(known), np.flatnonzero(~known))
    a = made(machine, class_shares=shares).fit(X2[known], FEW2[known], X_unlabelled=X2[~known])
    b = made(machine, class_shares=shares).fit(X2[order], FEW2[order])
    np.testing.assert_array_equal(a.decision_function(X2), b.decision_function(X2))


@both
def test_the_shares_of_the_labels_by_default(machine):
    few = np.where((FEW2 == 1) & (np.arange(60) > 4), -1, FEW2)
    a = made(machine).fit(X2, few)
    b = made(machine, class_shares={0: 5 / 7, 1: 2 / 7}).fit(X2, few)
    np.testing.assert_allclose(a.decision_function(X2), b.decision_function(X2), atol=1e-8)


def test_a_share_is_the_number_of_rows_in_a_class():
    """Of all 60 rows, where labels end up on their own side of a machine that fits everything."""
    shares = {0: 0.7, 1: 0.3}
    model = made(TransductiveSVC, gamma=5.0, C=1e4, unlabelled_C=1e4, class_shares=shares).fit(X2, FEW2)
    assert (model.predict(X2) == 1).sum() == 18
    assert (model.predict(X2[FEW2 < 0]) == 1).sum() == 13


@both
@pytest.mark.parametrize(
    "shares", [{0: 0.5}, {0: 0.5, 1: 0.3, 2: 0.2}, {"0": 0.5, "1": 0.5}, [0.5, 0.5], 0.5, {}], ids=str
)
def test_shares_of_other_classes(machine, shares):
    with pytest.raises(LabelError, match=r"^class_shares must be a dict with a share for each of 0, 1, but is "):
        made(machine, class_shares=shares).fit(X2, FEW2)


@both
@pytest.mark.parametrize(
    "shares",
    [
        {0: 0.5, 1: 0.6},
        {0: 0.0, 1: 1.0},
        {0: -0.5, 1: 1.5},
        {0: np.nan, 1: 0.5},
        {0: None, 1: 0.5},
        {0: 0.5, 1: None},
        {0: np.inf, 1: 0.5},
        {0: "0.5", 1: 0.5},
        {0: [0.5], 1: 0.5},
    ],
    ids=str,
)
def test_shares_that_do_not_add_up(machine, shares):
    with pytest.raises(LabelError, match=r"^class_shares must be positive and add up to one, but they are \{0: "):
        made(machine, class_shares=shares).fit(X2, FEW2)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"safe_margin": -0.1}, r"^safe_margin must be None or a number from 0 to 1, but it is -0\.1\.$"),
        ({"safe_margin": "yes"}, r"^safe_margin must be None or a number from 0 to 1, but it is 'yes'\.$"),
        ({"max_rows": 0}, r"^max_rows must be a whole number, 1 or more, but it is 0\.$"),
        ({"C": 0.0}, r"^C must be a positive number(, 1e100 at most)?, but it is 0\.0\.$"),
        ({"tol": 0.0}, r"^tol must be a positive number, but it is 0\.0\.$"),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else "",
)
@both
def test_settings_that_cannot_be(machine, how, why):
    with pytest.raises(OptionError, match=why):
        made(machine, **how).fit(X2, FEW2)


# ---------------------------------------------------------------- the safe mode


def folds_of(model, codes):
    """Labelled rows, and the fold that each is left out in."""
    labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    random = np.random.RandomState(model.random_state)
    if isinstance(model, QuasiNewtonS3VC):
        random.choice(others, len(others), replace=False)  # landmarks come before folds
    return labelled, label_folds(codes[labelled], fewer_folds(codes[labelled], 4), random)


def errors_of_both(model, X, codes, shares):
    """Errors on labelled rows whose labels were hidden, of the machine and of the supervised one, fold by fold."""
    labelled, folds = folds_of(model, codes)
    K = model.kernel_(X)
    n_wrong = [0, 0]
    for fold in range(folds.max() + 1):
        out = labelled[folds == fold]
        hidden = codes.copy()
        hidden[out] = -1
        for i, supervised in enumerate((False, True)):
            scores = literal(model, K, hidden, shares, supervised=supervised)[out]
            guess = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
            n_wrong[i] += int((guess != codes[out]).sum())
    return n_wrong, int((folds >= 0).sum())


WRONG2 = {"X": blobs(gap=2.0)[0], "few": blobs(per_class=8)[2], "shares": {0: 0.05, 1: 0.95}}
WRONG3 = {"X": blobs(60, 3)[0], "few": blobs(60, 3, 6)[2], "shares": {0: 0.9, 1: 0.05, 2: 0.05}}


@pytest.mark.slow
@both
@pytest.mark.parametrize("case", [WRONG2, WRONG3], ids=["2", "3"])
def test_the_safe_mode_against_a_loop(machine, case):
    """Where the shares of classes are wrong, unlabelled rows mislead; the margin says how much of that is borne."""
    X, few, shares = case["X"], case["few"], case["shares"]
    how = {"class_shares": shares, **misled(machine)}
    plain = made(machine, **how).fit(X, few)
    (semi, supervised), n = errors_of_both(plain, X, few, left_of(shares.values(), few))
    assert semi > supervised
    just = (semi - supervised) / n
    alone = made(machine, **{**how, **without(machine)}).fit(X, few)
    for margin, falls_back in ((0.0, True), (just - 0.01, True), (just + 0.01, False), (1.0, False)):
        model = made(machine, safe_margin=margin, **how).fit(X, few)
        assert model.fell_back_ is falls_back
        expected = alone if falls_back else plain
        np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-8)


@both
def test_where_unlabelled_rows_help_they_are_kept(machine):
    X, y, few = blobs(80, 2, 8, gap=4.0)
    model = made(machine, safe_margin=0.0).fit(X, few)
    (semi, supervised), _ = errors_of_both(model, X, few, [0.5, 0.5])
    assert semi <= supervised
    assert model.fell_back_ is False
    assert model.score(X, y) > 0.9


@both
def test_single_labels_cannot_be_compared(machine):
    few = np.where(np.arange(60) < 2, Y2, -1)
    model = made(machine, safe_margin=0.0, class_shares={0: 0.9, 1: 0.1}).fit(X2, few)
    assert model.fell_back_ is False


# ---------------------------------------------------------------- too many rows


@both
def test_too_many_rows_are_drawn(machine):
    model = made(machine, max_rows=40)
    why = r"^There are 75 rows, and matrices of that size would be needed: all 15 labelled rows and 25 others, drawn"
    with pytest.warns(DrawnRowsWarning, match=why):
        model.fit(X3, FEW3)
    assert len(model.support_) <= 40
    np.testing.assert_array_equal(model.support_vectors_, X3[model.support_])
    random = np.random.RandomState(0)
    others = np.flatnonzero(FEW3 < 0)
    kept = np.sort(np.append(np.flatnonzero(FEW3 >= 0), random.choice(others, 25, replace=False)))
    assert set(model.support_) <= set(kept)
    K = model.kernel_(X3[kept])
    expected = literal(model, K, FEW3[kept], [1 / 3] * 3)
    np.testing.assert_allclose(model.decision_function(X3[kept]), expected, atol=1e-8)


@both
def test_labelled_rows_are_never_dropped(machine):
    with pytest.warns(DrawnRowsWarning, match="all 15 labelled rows and 0 others"):
        model = made(machine, max_rows=5).fit(X3, FEW3)
    assert model.classes_.tolist() == [0, 1, 2]
    assert set(model.support_) <= set(np.flatnonzero(FEW3 >= 0))


# ---------------------------------------------------------------- progress and Ctrl-C


# ---------------------------------------------------------------- weights


def weighted(model, K, codes, shares, weights):
    """Values of the functions with one factor of C per row, by the solver itself."""
    columns = []
    for label in [1] if len(shares) == 2 else range(len(shares)):
        signs = np.where(codes < 0, 0, np.where(codes == label, 1, -1))
        how = {"C": model.C, "positive_share": shares[label], "sample_weight": weights, "tol": model.tol}
        if isinstance(model, TransductiveSVC):
            dual = transductive(K, signs, unlabelled_C=model.unlabelled_C, **how)
        else:
            dual = quasi_newton(K, np.arange(len(K)), signs, max_iter=model.max_iter, **how)
        columns.append(dual.decision(K)[:, 0])
    return columns[0] if len(shares) == 2 else np.column_stack(columns)


CASES = pytest.mark.parametrize(("X", "few", "c"), [(X2, FEW2, 2), (X3, FEW3, 3)], ids=["2", "3"])


@both
@CASES
def test_sample_weights_multiply_the_cost_of_each_labelled_row(machine, X, few, c):
    weights = np.linspace(0.2, 3.0, len(X))
    model = made(machine).fit(X, few, sample_weight=weights)
    shares = np.bincount(few[few >= 0]) / (few >= 0).sum()
    expected = weighted(model, model.kernel_(X), few, shares, weights)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)
    assert not np.allclose(expected, made(machine).fit(X, few).decision_function(X), atol=1e-3)


@both
@CASES
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}])
def test_class_weights_are_those_of_the_rows_own_class(machine, X, few, c, class_weight):
    few = np.where((few == 1) & (np.arange(len(few)) >= 2 * c), -1, few)  # fewer labels of one class
    counts = [sum(few == label) for label in range(c)]
    of_class = [sum(counts) / (c * n) for n in counts] if class_weight == "balanced" else [3.0] + [1.0] * (c - 1)
    weights = np.array([1.0 if label < 0 else of_class[label] for label in few])
    model = made(machine, class_weight=class_weight).fit(X, few)
    shares = [n / sum(counts) for n in counts]
    expected = weighted(model, model.kernel_(X), few, shares, weights)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)
    both_weights = made(machine, class_weight=class_weight).fit(X, few, sample_weight=np.full(len(X), 2.0))
    doubled = weighted(model, model.kernel_(X), few, shares, 2.0 * weights)
    np.testing.assert_allclose(both_weights.decision_function(X), doubled, atol=1e-8)


@both
def test_weights_of_one_change_nothing(machine):
    plain = made(machine).fit(X3, FEW3).decision_function(X3)
    for how, weight in (({}, np.ones(len(X3))), ({"class_weight": {0: 1.0}}, None), ({"class_weight": "balanced"}, 1)):
        found = made(machine, **how).fit(X3, FEW3, sample_weight=weight).decision_function(X3)
        np.testing.assert_array_equal(found, plain)


@both
def test_a_weight_of_zero_is_no_label(machine):
    weights = np.ones(len(X2))
    weights[:3] = 0
    hidden = np.where(weights == 0, -1, FEW2)
    a = made(machine, probability=True).fit(X2, FEW2, sample_weight=weights)
    b = made(machine, probability=True).fit(X2, hidden)
    np.testing.assert_array_equal(a.predict_proba(X2), b.predict_proba(X2))
    with pytest.raises(LabelError, match="All labels of class 1 have a sample weight of zero"):
        made(machine).fit(X2, FEW2, sample_weight=(FEW2 != 1).astype(float))


@both
def test_weights_go_with_their_rows(machine):
    """Further rows have no label, and rows that are left out take their weights with them."""
    weights = np.linspace(0.2, 3.0, 40)
    some = made(machine).fit(X2[:40], FEW2[:40], weights, X_unlabelled=X2[40:])
    all_rows = made(machine).fit(X2, FEW2, np.append(weights, np.ones(20)))
    np.testing.assert_array_equal(some.decision_function(X2), all_rows.decision_function(X2))
    order = np.argsort(-FEW2, kind="stable")  # labelled rows first
    with pytest.warns(DrawnRowsWarning):
        drawn = made(machine, max_rows=30).fit(X2[order[::-1]], FEW2[order[::-1]], np.append(np.ones(50), [2.0] * 10))
    with pytest.warns(DrawnRowsWarning):
        equal = made(machine, max_rows=30, C=2 * drawn.C).fit(X2[order[::-1]], FEW2[order[::-1]])
    np.testing.assert_allclose(drawn.decision_function(X2), equal.decision_function(X2), atol=0.02)


@both
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "class_weight must be None, 'balanced' or a dict of labels, but it is 'even'"),
        ({5: 1.0}, "class_weight names 5, but the labels are 0, 1"),
        ({0: 0.0}, "class_weight must hold positive numbers, but it holds 0.0"),
    ],
)
def test_class_weights_that_cannot_be(machine, class_weight, message):
    with pytest.raises(LabelError, match=message):
        made(machine, class_weight=class_weight).fit(X2, FEW2)


# ---------------------------------------------------------------- probabilities


def literal_slope(model, X, few, shares, *, supervised=False):
    """One slope from four folds of labelled rows, each left out of a whole training."""
    (labelled, folds), c = folds_of(model, few), len(shares)
    K, own = model.kernel_(X), []
    for fold in range(folds.max() + 1):
        out = labelled[folds == fold]
        hidden = few.copy()
        hidden[out] = -1
        part = np.bincount(hidden[hidden >= 0]) / (hidden >= 0).sum()
        found = literal(model, K, hidden, part, supervised=supervised, at=K[out]).reshape(len(out), -1)
        for row, label in zip(found, few[out], strict=True):
            own += [f if label == i else -f for i, f in zip([1] if c == 2 else range(c), row, strict=True)]
    return slope([OwnValues(np.array(own), np.ones(len(own)))])


@both
@CASES
def test_the_slope_against_a_loop(machine, X, few, c):
    model = made(machine, "rwm", probability=True).fit(X, few)
    assert model.slope_ == pytest.approx(literal_slope(model, X, few, [1 / c] * c), rel=1e-5)
    expected = class_probabilities(model.decide(X), model.slope_, c)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@both
@CASES
def test_probabilities_and_labels_agree(machine, X, few, c):
    model = made(machine, probability=True, class_weight="balanced").fit(X, NAMES[few] if few.min() >= 0 else few)
    shares, truth = model.predict_proba(X), np.arange(len(X)) % c
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X))
    assert log_loss(truth, shares) < 0.7 * np.log(c)
    table = model.assess(X, all_classes=True)
    np.testing.assert_array_equal(table["label"], model.predict(X))
    np.testing.assert_array_equal(table["probability"], shares.max(axis=1))
    np.testing.assert_array_equal(table["probability_1"], shares[:, 1])


@both
@pytest.mark.slow
def test_probabilities_change_no_prediction(machine):
    for safe_margin in (None, 0.0):
        a, b = (made(machine, probability=p, safe_margin=safe_margin).fit(X3, FEW3) for p in (True, False))
        np.testing.assert_array_equal(a.decision_function(X3), b.decision_function(X3))
        assert a.fell_back_ == b.fell_back_
        assert b.slope_ is None


@both
def test_the_safe_mode_and_the_slope_share_their_trainings(machine, monkeypatch):
    calls, binary = [], machine._binary

    def counted(estimator, problem):
        calls.append(problem.uses_unlabelled)
        return binary(estimator, problem)

    monkeypatch.setattr(machine, "_binary", counted)
    model = made(machine, probability=True, safe_margin=0.0).fit(X2, FEW2)
    assert (sum(calls), len(calls) - sum(calls)) == (5, 4 + model.fell_back_)
    slope_ = literal_slope(model, X2, FEW2, [0.5, 0.5], supervised=model.fell_back_)
    assert model.slope_ == pytest.approx(slope_, rel=1e-5)


@both
def test_a_supervised_classifier_has_its_own_slope(machine):
    X, few, shares = WRONG2["X"], WRONG2["few"], WRONG2["shares"]
    model = made(machine, probability=True, safe_margin=0.0, class_shares=shares, **misled(machine)).fit(X, few)
    assert model.fell_back_
    assert model.slope_ == pytest.approx(literal_slope(model, X, few, [0.5, 0.5], supervised=True), rel=1e-5)


@both
def test_single_labels_leave_the_slope_at_its_prior(machine):
    few = np.where(np.arange(60) < 2, Y2, -1)
    model = made(machine, probability=True).fit(X2, few)
    assert model.slope_ == pytest.approx(TYPICAL, rel=1e-4)


@both
def test_an_interrupt_leaves_probabilities(machine, monkeypatch):
    """Of the finished folds, or of the prior alone."""
    pressed(monkeypatch, machine, 4)
    with pytest.warns(InterruptedWarning) as caught:
        model = made(machine, probability=True).fit(X2, FEW2)
    assert len(caught) == 1
    assert model.slope_ == pytest.approx(TYPICAL, rel=1e-4)
    assert model.predict_proba(X2).shape == (60, 2)
    recorder = Recorder(stop_after=2 * LEVELS[machine] + 1)  # in the second fold
    with pytest.warns(InterruptedWarning) as caught:
        model = made(machine, probability=True).set_callbacks(recorder).fit(X2, FEW2)
    assert len(caught) == 1
    assert recorder.ended == 2 * LEVELS[machine] + 1
    np.testing.assert_array_equal(model.decision_function(X2), made(machine).fit(X2, FEW2).decision_function(X2))


@both
def test_folds_do_not_warn(machine):
    how = {"max_iter": 3, "probability": True, "safe_margin": 0.0}
    with pytest.warns(NotConvergedWarning) as caught:
        made(machine, **how).fit(X2, FEW2)
    assert len(caught) <= 2  # of the training on all labels, and of the supervised one where that is used


class Recorder:
    """Counts levels, and asks to stop after so many."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun, self.ended, self.most, self.is_down = 0, 0, 0, False

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.is_down = True

    def on_fit_task_begin(self, estimator, context):
        self.begun += context.task_name == "level"
        if context.task_name in ("training", "calibration"):
            self.most += context.max_subtasks

    def on_fit_task_end(self, estimator, context):
        self.ended += context.task_name == "level"
        return self.stop_after is not None and self.ended >= self.stop_after


@pytest.mark.slow
@both
@pytest.mark.parametrize(("X", "few", "n_problems"), [(X2, FEW2, 1), (X3, FEW3, 3)], ids=["2", "3"])
@pytest.mark.parametrize("safe_margin", [None, 0.0])
@pytest.mark.parametrize("probability", [False, True])
def test_every_level_is_a_step(machine, X, few, n_problems, safe_margin, probability):
    recorder = Recorder()
    made(machine, safe_margin=safe_margin, probability=probability).set_callbacks(recorder).fit(X, few)
    n_trainings = 1 + (4 if safe_margin is not None or probability else 0)  # nothing is trained twice
    assert recorder.begun == recorder.ended == recorder.most == n_trainings * n_problems * LEVELS[machine]
    assert recorder.is_down


@both
def test_where_there_is_nothing_to_learn_from_there_are_no_steps(machine):
    for X, y, how in ((X3, Y3, {}), (X3, FEW3, without(machine))):
        recorder = Recorder()
        made(machine, **how).set_callbacks(recorder).fit(X, y)
        assert recorder.begun == 0


@both
def test_a_callback_ends_the_work(machine):
    """The first class has had half of the levels of its unlabelled rows; the others do without theirs."""
    half = LEVELS[machine] // 2
    recorder = Recorder(stop_after=half)
    with pytest.warns(InterruptedWarning, match="Stopped before the unlabelled rows had their full") as caught:
        model = made(machine, **misled(machine)).set_callbacks(recorder).fit(X3, FEW3)
    assert len(caught) == 1
    assert recorder.ended == half
    assert recorder.is_down
    alone = made(machine, **{**misled(machine), **without(machine)}).fit(X3, FEW3)
    whole = made(machine, **misled(machine)).fit(X3, FEW3)
    scores, supervised = model.decision_function(X3), alone.decision_function(X3)
    np.testing.assert_allclose(scores[:, 1:], supervised[:, 1:], atol=1e-8)
    assert not np.allclose(scores[:, 0], supervised[:, 0], atol=1e-3)
    assert not np.allclose(scores[:, 0], whole.decision_function(X3)[:, 0], atol=1e-3)
    assert model.score(X3, Y3) >= 0.6


@both
def test_a_callback_ends_the_second_class(machine):
    recorder = Recorder(stop_after=LEVELS[machine] + 1)
    with pytest.warns(InterruptedWarning):
        model = made(machine).set_callbacks(recorder).fit(X3, FEW3)
    assert recorder.ended == LEVELS[machine] + 1
    scores = model.decision_function(X3)
    np.testing.assert_allclose(scores[:, 0], made(machine).fit(X3, FEW3).decision_function(X3)[:, 0], atol=1e-8)
    alone = made(machine, **without(machine)).fit(X3, FEW3)
    np.testing.assert_allclose(scores[:, 2], alone.decision_function(X3)[:, 2], atol=1e-8)


def pressed(monkeypatch, machine, call):
    """Press Ctrl-C once, in the middle of a level: at the n-th training, or the n-th descent."""
    if machine is TransductiveSVC:
        module, name = mixkern.svm.transductive, "classifier"
    else:
        module, name = mixkern.svm.s3vm, "_descended"
    original, count = getattr(module, name), []

    def counted(*args, **kwargs):
        count.append(1)
        if len(count) == call:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, counted)


@both
def test_ctrl_c_leaves_a_machine_that_can_predict(machine, monkeypatch):
    pressed(monkeypatch, machine, 4)
    with pytest.warns(InterruptedWarning, match="Stopped before the unlabelled rows had their full"):
        model = made(machine).fit(X2, FEW2)
    assert model.score(X2, Y2) > 0.7


@both
def test_ctrl_c_ends_the_work_of_all_classes(machine, monkeypatch):
    """Within a training, not between two: the other classes are those of the supervised machine."""
    recorder = Recorder()
    alone = made(machine, **without(machine)).fit(X3, FEW3).decision_function(X3)
    pressed(monkeypatch, machine, 3)
    with pytest.warns(InterruptedWarning) as caught:
        model = made(machine).set_callbacks(recorder).fit(X3, FEW3)
    assert len(caught) == 1
    assert recorder.ended < LEVELS[machine]
    np.testing.assert_allclose(model.decision_function(X3)[:, 1:], alone[:, 1:], atol=1e-8)
    assert not np.allclose(model.decision_function(X3)[:, 0], alone[:, 0], atol=1e-6)


@both
@pytest.mark.parametrize("by", ["key", "callback"])
@pytest.mark.parametrize(("X", "few"), [(X2, FEW2), (X3, FEW3)], ids=["2", "3"])
def test_after_an_interrupt_nothing_is_compared(machine, by, X, few, monkeypatch):
    shares = dict(enumerate([0.9, *[0.1 / few.max()] * few.max()]))
    how = {"class_shares": shares, "safe_margin": 0.0, **misled(machine)}

    def compared(*arguments):
        raise AssertionError("the safe mode was entered")

    monkeypatch.setattr(machine, "_without", compared)
    model = made(machine, **how)
    if by == "key":
        pressed(monkeypatch, machine, 3)
    else:
        model.set_callbacks(Recorder(stop_after=1))
    with pytest.warns(InterruptedWarning):
        model.fit(X, few)
    assert model.fell_back_ is False
    with pytest.raises(AssertionError, match="the safe mode was entered"):
        made(machine, **how).fit(X, few)


@both
def test_ctrl_c_in_the_safe_mode_ends_the_comparison(machine, monkeypatch):
    how, binary = {"safe_margin": 0.0}, machine._binary
    calls = []

    def counted(estimator, problem):
        calls.append(problem.uses_unlabelled)
        dual = binary(estimator, problem)
        return replace(dual, is_interrupted=True) if len(calls) == 2 else dual  # the first of the comparison

    monkeypatch.setattr(machine, "_binary", counted)
    made(machine, **how).fit(X2, FEW2)
    assert sum(calls) == 2  # that of the machine, and the one that was interrupted


@both
def test_ctrl_c_before_the_first_machine(machine, monkeypatch):
    pressed(monkeypatch, machine, 1)
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt):
        made(machine).set_callbacks(recorder).fit(X3, FEW3)
    assert recorder.is_down


@both
def test_a_progress_bar(machine, capsys):
    made(machine).set_callbacks(ProgressBar()).fit(X3, FEW3)
    out = capsys.readouterr().out
    assert f"{machine.__name__} - fit" in out
    assert "100%" in out
