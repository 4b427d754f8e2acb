"""The Laplacian SVM: any kernel bent along the graph of all rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

from mixkern import LaplacianSVC, MixtureSVC, VBMixture, datasets
from mixkern.errors import DrawnRowsWarning, KernelError, OptionError
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel

X, Y = datasets.make_two_moons(n=150, random_state=0)
X.flags.writeable = False


def hidden(y, per_class=3, seed=0):
    few, random = np.full(len(y), -1), np.random.RandomState(seed)
    for label in np.unique(y):
        few[random.permutation(np.flatnonzero(y == label))[:per_class]] = label
    return few


FEW = hidden(Y)
KERNELS = [
    "rbf",
    "rwm",
    "gmm",
    RBFKernel(3.0),
    RWMKernel(gamma=0.7),
    GMMKernel(gamma=0.7),
    RBF(0.3) + RWMKernel(gamma=0.1),
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def mixed(n=60, gaps=True):
    random = np.random.RandomState(0)
    y = np.arange(n) % 2
    table = pd.DataFrame(random.standard_normal((n, 2)) + y[:, None], columns=["a", "b"])
    table["c"] = np.where(y, "u", "v")
    table["d"] = random.choice(["p", "q"], size=n)
    if gaps:
        table.loc[::7, "a"] = np.nan
        table.loc[::9, "c"] = None
    return table, y


def literal_values(model, X, few):
    """Kernel, graph and machine the long way: every matrix in full."""
    base, rows = model.kernel_.base, model.kernel_.rows
    n = len(rows)
    K = base(rows)
    sq = np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K
    if hasattr(base, "separation"):
        sq = base.pair_terms(rows).exponent(base.alpha, base.beta)
    W = np.zeros((n, n))
    for i in range(n):
        near = sorted((j for j in range(n) if j != i), key=lambda j: sq[i, j])[: model.n_neighbors]
        W[i, near] = W[near, i] = 1
    root = np.sqrt(W.sum(axis=1))
    M = model.ratio * np.linalg.matrix_power(np.eye(n) - W / np.outer(root, root), model.degree)
    values, vectors = np.linalg.eigh(K)
    positive = vectors[:, values > -1e-11]
    P = positive @ positive.T  # leaves the negative part of the kernel out
    K = P @ K @ P
    bend = np.linalg.solve(np.eye(n) + M @ K, M)
    bent = K - K @ bend @ K
    labelled = few >= 0
    machine = SVC(kernel="precomputed", C=model.C, tol=model.tol, break_ties=True)
    machine.fit(bent[np.ix_(labelled, labelled)], few[labelled])
    k = base(X, rows) @ P
    return machine.decision_function((k - k @ bend @ K)[:, labelled])


@each_kernel
@pytest.mark.parametrize("degree", [1, 2])
def test_it_is_libsvm_on_the_bent_kernel(kernel, degree):
    model = LaplacianSVC(kernel, ratio=2.0, C=1.0, n_neighbors=5, degree=degree, tol=1e-8, random_state=0).fit(X, FEW)
    new = datasets.make_two_moons(n=40, random_state=5)[0]
    expected = literal_values(model, model.encoder_.transform(new), FEW)
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-6)


@each_kernel
def test_a_ratio_of_zero_is_the_kernel_alone(kernel):
    how = {"C": 10.0, "tol": 1e-8, "gamma": "local", "random_state": 0}
    bent = LaplacianSVC(kernel, ratio=0.0, **how).fit(X, FEW)
    plain = MixtureSVC(kernel, **how).fit(X, FEW)
    np.testing.assert_allclose(bent.decision_function(X), plain.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(bent.predict_proba(X), plain.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(bent.support_, plain.support_)


@pytest.mark.slow
def test_a_ratio_of_zero_on_a_mixed_table_with_gaps():
    table, y = mixed()
    for kernel in ("rbf", "rwm"):
        bent = LaplacianSVC(kernel, ratio=0.0, C=10.0, gamma="scale", tol=1e-8, random_state=0).fit(table, hidden(y))
        plain = MixtureSVC(kernel, C=10.0, tol=1e-8, random_state=0).fit(table, hidden(y))
        np.testing.assert_allclose(bent.decision_function(table), plain.decision_function(table), atol=1e-9)


@pytest.mark.slow
def test_the_word_in_mixture_svc_is_the_same_machine():
    a = MixtureSVC("lap", C=100.0, gamma="local", random_state=0).fit(X, FEW)
    b = LaplacianSVC(random_state=0).fit(X, FEW)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    c = MixtureSVC(LaplacianKernel(RBFKernel(b.kernel_.base.gamma)), C=100.0, random_state=0).fit(X, FEW)
    np.testing.assert_array_equal(c.decision_function(X), b.decision_function(X))


def test_several_classes_and_probabilities():
    table = datasets.load("iris")
    rows, y = table.X.to_numpy(), table.y.astype(str).to_numpy()
    codes = np.unique(y, return_inverse=True)[1]
    few = hidden(codes, 4)
    model = LaplacianSVC(random_state=0).fit(rows, [None if code < 0 else y[i] for i, code in enumerate(few)])
    assert model.score(rows, y) > 0.85
    p = model.predict_proba(rows)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))


def test_the_graph_helps():
    assert LaplacianSVC(random_state=0).fit(X, FEW).score(X, Y) > MixtureSVC("rbf", random_state=0).fit(X, FEW).score(
        X, Y
    )


# ---------------------------------------------------------------- rows of the graph


def test_the_graph_is_made_of_all_rows():
    model = LaplacianSVC(random_state=0).fit(X[FEW >= 0], FEW[FEW >= 0], X_unlabelled=X[FEW < 0])
    assert model.kernel_.rows.shape == X.shape
    expected = LaplacianSVC(random_state=0).fit(
        np.vstack([X[FEW >= 0], X[FEW < 0]]), np.append(FEW[FEW >= 0], FEW[FEW < 0])
    )
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_more_rows_than_a_graph_takes():
    model = LaplacianSVC(max_rows=60, random_state=0)
    with pytest.warns(DrawnRowsWarning, match="There are 150 rows, .* all 6 labelled rows and 54 others"):
        model.fit(X, FEW)
    graph = model.kernel_.rows
    assert graph.shape == (60, 2)
    rows = {tuple(row) for row in graph}
    assert {tuple(row) for row in model.encoder_.transform(X)[FEW >= 0]} <= rows
    assert model.score(X, Y) > 0.75
    with pytest.warns(DrawnRowsWarning):
        again = clone(model).fit(X, FEW)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_fewer_rows_than_labels():
    with pytest.warns(DrawnRowsWarning, match="all 6 labelled rows and 0 others"):
        model = LaplacianSVC(max_rows=3, random_state=0).fit(X, FEW)
    assert model.kernel_.rows.shape == (6, 2)
    assert np.isfinite(model.decision_function(X)).all()


def test_mixture_svc_draws_rows_too(monkeypatch):
    monkeypatch.setattr("mixkern.estimators.base.MAX_GRAPH_ROWS", 70)
    for kernel in ("lap", LaplacianKernel(RWMKernel(gamma=0.1))):
        with pytest.warns(DrawnRowsWarning, match="all 6 labelled rows and 64 others"):
            model = MixtureSVC(kernel, random_state=0).fit(X, FEW)
        assert len(model.kernel_.rows) == 70


def test_a_kernel_that_has_its_rows_keeps_them():
    rows = datasets.make_two_moons(n=30, random_state=3)[0]
    kernel = LaplacianKernel(RWMKernel(gamma=0.5), rows)
    model = MixtureSVC(kernel, random_state=0).fit(X, FEW)
    np.testing.assert_array_equal(model.kernel_.rows, rows)
    assert model.kernel_.base.mixture is model.mixture_


@pytest.mark.parametrize("kernel", ["rbf", "rwm", "gmm"])
def test_the_graph_of_a_mixed_table_counts_categories(kernel):
    """Rows are nearest that share their categories: numbers alone would join others."""
    table, y = mixed(gaps=False)
    model = LaplacianSVC(kernel, n_neighbors=3, beta=100.0, random_state=0).fit(table, hidden(y))
    L = model.kernel_.deformation.power.toarray()
    joined = np.argwhere(np.triu(L, 1) < 0)
    same = (table[["c", "d"]].to_numpy()[joined[:, 0]] == table[["c", "d"]].to_numpy()[joined[:, 1]]).all(axis=1)
    assert same.all()
    assert model.score(table, y) == 1.0
    loose = LaplacianSVC(kernel, n_neighbors=3, beta=0.0, random_state=0).fit(table, hidden(y))
    joined = np.argwhere(np.triu(loose.kernel_.deformation.power.toarray(), 1) < 0)
    assert (table["c"].to_numpy()[joined[:, 0]] != table["c"].to_numpy()[joined[:, 1]]).any()


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize("kernel", ["rbf", "rwm", RBF(0.3) + RWMKernel(gamma=0.1)], ids=repr)
def test_a_pickle_predicts_alike_and_holds_no_matrix(kernel):
    model = LaplacianSVC(kernel, random_state=0).fit(X, FEW)
    content = pickle.dumps(model)
    copy = pickle.loads(content)
    assert not {"deformation", "_factors"} & set(copy.kernel_.__dict__)
    assert len(content) < 8 * len(X) ** 2  # one matrix of all rows is more than everything
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert not {"deformation", "_factors"} & set(copy.kernel_.__dict__)  # prediction needs none


@pytest.mark.parametrize("kernel", ["rbf", "rwm", RBF(0.3) + RWMKernel(gamma=0.1)], ids=repr)
@pytest.mark.parametrize("ratio", [0.0, 10.0])
def test_a_fitted_machine_keeps_no_matrix(kernel, ratio):
    model = LaplacianSVC(kernel, ratio=ratio, random_state=0).fit(X, FEW)
    assert set(model.kernel_.__dict__) == set(model.kernel_.get_params(deep=False))
    before = model.decision_function(X)
    model.predict_proba(X)
    assert "deformation" not in model.kernel_.__dict__
    rows = model.encoder_.transform(X)  # what a kernel is asked later, it computes anew
    values = model.kernel_(rows, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(before, values[:, 0], atol=1e-6)


def test_settings_and_copies():
    model = LaplacianSVC("rwm", ratio=5.0, n_neighbors=3, degree=2, max_rows=100, density=VBMixture(3))
    copy = clone(model)
    for name in ("kernel", "ratio", "n_neighbors", "degree", "max_rows", "C", "gamma"):
        assert getattr(copy, name) == getattr(model, name)
    assert copy.density is not model.density
    assert repr(LaplacianSVC(ratio=5.0)) == "LaplacianSVC(ratio=5.0)"
    fitted = copy.set_params(max_rows=500).fit(X, FEW)
    kernel = fitted.kernel_
    assert (kernel.ratio, kernel.n_neighbors, kernel.degree) == (5.0, 3, 2)


# ---------------------------------------------------------------- what cannot be


@pytest.mark.parametrize("kernel", ["lap", LaplacianKernel(RBFKernel())], ids=repr)
def test_bending_twice_is_refused(kernel):
    with pytest.raises(OptionError, match="LaplacianSVC deforms its kernel itself: give the base kernel"):
        LaplacianSVC(kernel).fit(X, FEW)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"ratio": -1.0}, r"ratio must be a number, 0 or more, but it is -1\.0"),
        ({"ratio": np.inf}, "ratio must be a number, 0 or more, but it is inf"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number, 1 or more, but it is 0"),
        ({"degree": 0}, "degree must be a whole number, 1 or more, but it is 0"),
        ({"kernel": RWMKernel(), "gamma": 0.3}, r"gamma is set beside a kernel that has its own"),
    ],
)
def test_wrong_settings_are_explained(how, message):
    with pytest.raises((KernelError, OptionError), match=message):
        LaplacianSVC(random_state=0).set_params(**how).fit(X, FEW)


def test_more_neighbours_than_rows():
    model = LaplacianSVC(n_neighbors=1000, random_state=0).fit(X, FEW)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("how", [{"ratio": None}, {"ratio": "much"}, {"n_neighbors": 2.5}, {"degree": 1.5}])
def test_settings_of_the_wrong_kind_are_named(how):
    with pytest.raises(OptionError, match=next(iter(how))):
        LaplacianSVC(random_state=0, **how).fit(X, FEW)
