"""From a word or a kernel to a kernel that knows the table, against the formulas."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.metrics.pairwise import euclidean_distances

from mixkern import Mixture, MixtureOneClassSVM, MixtureSVC, MixtureSVR, TransductiveSVC, VBMixture
from mixkern.defaults import KernelName
from mixkern.errors import KernelError, OptionError, PresetGammaWarning
from mixkern.estimators import kernel_factory
from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
from mixkern.svm import decision, evidence_share

N = 40


def table():
    """Two numbers, two texts, some gaps; four labels."""
    random = np.random.RandomState(0)
    y = np.arange(N) % 2
    frame = pd.DataFrame(random.standard_normal((N, 2)) + 2 * y[:, None], columns=["a", "b"])
    frame["c"] = np.where(random.uniform(size=N) < 0.8, np.where(y, "u", "v"), "w")
    frame["d"] = random.choice(["p", "q"], size=N)
    gappy = frame.copy()
    gappy.loc[::7, "a"] = np.nan
    gappy.loc[3::9, "c"] = None
    return frame, gappy, np.where(np.arange(N) < 8, y, -1)


FRAME, GAPPY, FEW = table()
NUMBERS = FRAME[["a", "b"]].to_numpy()
NUMBERS.flags.writeable = False


def fitted(kernel, X=FRAME, machine=MixtureSVC, **how):
    how.setdefault("density", VBMixture(n_components=4, random_state=0))
    return machine(kernel, random_state=0, **how).fit(X, FEW.astype(float) if machine is MixtureSVR else FEW)


# ---------------------------------------------------------------- gamma from the rows


def literal_scale(model, X, alpha=1.0, beta=1.0):
    """One over the median of what stands in the exponent, over all pairs of rows."""
    rows = model.encoder_.transform(X)
    d = model.mixture_.n_continuous
    D = type(model.kernel_).distance(model.kernel_, rows)
    apart = []
    for i in range(len(rows)):
        for j in range(i):
            codes = zip(np.nan_to_num(rows[i, d:], nan=-1), np.nan_to_num(rows[j, d:], nan=-1), strict=True)
            differ = sum(a != b for a, b in codes)  # a gap is a category of its own
            apart.append(alpha * D[i, j] ** 2 + beta * differ**2)
    return 1 / np.median(apart)


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf"])
@pytest.mark.parametrize("X", [NUMBERS, FRAME], ids=["numbers", "mixed"])
def test_scale_is_one_over_the_median_squared_distance(kernel, X):
    model = fitted(kernel, X)
    assert model.kernel_.gamma == pytest.approx(literal_scale(model, X), rel=1e-10)
    assert fitted(kernel, X, gamma="local").kernel_.gamma == pytest.approx(10 * model.kernel_.gamma, rel=1e-12)


@pytest.mark.parametrize("kernel", ["rwm", "gmm"])
def test_scale_with_gaps_and_weights_of_columns(kernel):
    model = fitted(kernel, GAPPY, alpha=0.3, beta=2.0)
    assert model.kernel_.gamma == pytest.approx(literal_scale(model, GAPPY, 0.3, 2.0), rel=1e-10)
    assert (model.kernel_.alpha, model.kernel_.beta) == (0.3, 2.0)


def test_scale_of_plain_numbers_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [10.0]])
    expected = 1 / np.median([1, 9, 100, 4, 81, 49])
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]])
    for machine, y in ((MixtureSVC, [0, 1, 0, 1]), (MixtureSVR, [0.0, 1, 0, 1]), (MixtureOneClassSVM, None)):
        for kernel in ("rbf", "rwm", "gmm"):
            assert machine(kernel, density=mixture).fit(X, y).kernel_.gamma == pytest.approx(expected)


def test_gaps_under_rbf_are_filled_first():
    model = fitted("rbf", GAPPY)
    rows = model.mixture_.conditional_mean(model.encoder_.transform(GAPPY))
    sq = euclidean_distances(rows[:, :2]) ** 2
    codes = np.nan_to_num(rows[:, 2:], nan=-1)
    differ = (codes[:, None] != codes[None]).sum(axis=2)
    apart = (sq + differ**2)[np.triu_indices(N, 1)]
    assert model.kernel_.gamma == pytest.approx(1 / np.median(apart), rel=1e-10)


def test_where_most_rows_are_equal_the_others_say_what_far_is():
    X = np.zeros((10, 1))
    X[8], X[9] = 2.0, 5.0
    model = MixtureSVC("rbf", density=Mixture([1.0], [[0.0]], [[[1.0]]])).fit(X, [0, 1] * 5)
    apart = [4.0] * 8 + [25.0] * 8 + [9.0]
    assert model.kernel_.gamma == pytest.approx(1 / np.median(apart))


def test_where_all_rows_are_equal_gamma_is_one():
    model = MixtureSVC("rbf", density=Mixture([1.0], [[0.0]], [[[1.0]]])).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert model.kernel_.gamma == 1.0


def test_many_rows_are_sampled(monkeypatch):
    whole = fitted("rbf", NUMBERS).kernel_.gamma
    monkeypatch.setattr(kernel_factory, "SCALE_ROWS", 25)
    some, again = (fitted("rbf", NUMBERS).kernel_.gamma for _ in range(2))
    assert some == again != whole
    assert some == pytest.approx(whole, rel=0.5)


def test_a_number_is_taken_as_it_is():
    assert fitted("rwm", gamma=0.37).kernel_.gamma == 0.37
    assert fitted("lap", gamma=0.37).kernel_.base.gamma == 0.37


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"gamma": "auto"}, OptionError, r"gamma must be 'scale' or 'local' or a positive number, but it is 'auto'"),
        ({"gamma": -1.0}, OptionError, r"or a positive number, but it is -1\.0"),
        ({"gamma": 0}, OptionError, "or a positive number, but it is 0"),
        ({"gamma": None}, OptionError, "or a positive number, but it is None"),
        ({"gamma": np.nan}, OptionError, "or a positive number, but it is nan"),
        ({"alpha": -1}, OptionError, "alpha must be a number, 0 or more, but it is -1"),
        ({"beta": "x"}, OptionError, "beta must be a number, 0 or more, but it is 'x'"),
    ],
)
def test_wrong_settings_are_explained(how, error, message):
    with pytest.raises(error, match=message):
        fitted("rwm", gamma=how.pop("gamma", 1.0), **how)


# ---------------------------------------------------------------- words and kernels


@pytest.mark.parametrize(("word", "kind"), [("rwm", RWMKernel), ("gmm", GMMKernel), ("rbf", RBFKernel)])
def test_words_for_kernels(word, kind):
    model = fitted(word)
    assert type(model.kernel_) is kind
    assert getattr(model.kernel_, "mixture", model.mixture_) is model.mixture_
    assert type(fitted("lap").kernel_) is LaplacianKernel


@pytest.mark.parametrize("machine", [MixtureSVC, MixtureSVR, MixtureOneClassSVM])
def test_a_wrong_word_brings_the_nearest(machine):
    message = r"kernel must be one of 'blend', 'rwm', 'gmm', 'rbf', 'lap', but it is 'rwn'\. Did you mean 'rwm'\?"
    with pytest.raises(OptionError, match=message):
        fitted("rwn", machine=machine)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            RWMKernel,
            r"kernel must be one of 'blend', .* but it is <class .*RWMKernel'>\. Pass an instance: kernel=RWMKer",
        ),
        (None, r"or a kernel of mixkern or scikit-learn, but it is None\.$"),
        (np.dot, "or a kernel of mixkern or scikit-learn, but it is <"),
        (3, r"but it is 3\.$"),
    ],
)
def test_what_is_no_kernel(kernel, message):
    with pytest.raises(KernelError, match=message):
        fitted(kernel)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            {"gamma": 0.3},
            r"gamma is set beside a kernel that has its own\. Set it there: kernel=RWMKernel\(gamma=0\.3\)",
        ),
        ({"alpha": 2.0}, r"alpha is set beside .* kernel=RWMKernel\(alpha=2\.0\)"),
        ({"beta": 2.0}, r"beta is set beside .* kernel=RWMKernel\(beta=2\.0\)"),
    ],
)
def test_settings_beside_a_kernel_that_has_its_own(how, message):
    with pytest.raises(KernelError, match=message):
        fitted(RWMKernel(), **how)


@pytest.mark.parametrize("X", [NUMBERS, FRAME, GAPPY], ids=["numbers", "mixed", "gaps"])
@pytest.mark.parametrize("word", ["rwm", "gmm", "rbf"])
def test_an_unbound_kernel_is_bound(word, X):
    """The same as the word with that gamma."""
    kernel = {"rwm": RWMKernel, "gmm": GMMKernel, "rbf": RBFKernel}[word](gamma=0.3, alpha=0.5)
    model, expected = fitted(kernel, X), fitted(word, X, gamma=0.3, alpha=0.5)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert getattr(kernel, "mixture", None) is None
    assert model.kernel is kernel


OWN = Mixture([0.5, 0.5], [[0.0, 0.0], [2.0, 2.0]], [np.eye(2), 0.5 * np.eye(2)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "changes"),
    [
        (RWMKernel(gamma=0.3), {"gamma": 30.0}),
        (RWMKernel(OWN, 0.3), {"gamma": 30.0}),
        (RWMKernel(OWN, 0.3), {"mixture": Mixture([1.0], [[0.0, 0.0]], [np.diag([9.0, 0.1])])}),
        (GMMKernel(OWN, 0.3), {"alpha": 30.0}),
        (RBFKernel(0.3), {"gamma": 30.0}),
        (RBF(1.0), {"length_scale": 0.1}),
        (ConstantKernel(2.0) * RBF(1.0), {"k2__length_scale": 0.1, "k1__constant_value": 9.0}),
        (RWMKernel(OWN, 0.3) + RBFKernel(0.2), {"k1__gamma": 30.0, "k2__gamma": 30.0}),
        (RWMKernel(OWN, 0.3) ** 2, {"kernel__gamma": 30.0, "exponent": 1}),
        (LaplacianKernel(RWMKernel(OWN, 0.3), ratio=2.0), {"base__gamma": 30.0, "ratio": 0.0}),
        (LaplacianKernel(RBFKernel(0.3), NUMBERS, ratio=2.0), {"base__gamma": 30.0, "rows": NUMBERS[:9]}),
        (LaplacianKernel(RBF(1.0)) + RWMKernel(OWN), {"k1__base__length_scale": 0.1, "k1__ratio": 0.0}),
    ],
    ids=repr,
)
@pytest.mark.parametrize("machine", [MixtureSVC, MixtureSVR, MixtureOneClassSVM, TransductiveSVC])
def test_a_kernel_that_is_changed_later_changes_no_prediction(kernel, changes, machine):
    kernel = clone(kernel)
    model = fitted(kernel, NUMBERS, machine)
    score = model.predict if machine is MixtureSVR else model.decision_function
    before = score(NUMBERS)
    kernel.set_params(**changes)
    np.testing.assert_array_equal(score(NUMBERS), before)
    model.fit(NUMBERS, FEW.astype(float) if machine is MixtureSVR else FEW)
    assert not np.allclose(score(NUMBERS), before)  # the change would have been seen


@pytest.mark.parametrize("kernel", [RWMKernel(), RBFKernel(), BlendKernel()], ids=repr)
def test_a_preset_gamma_that_makes_most_rows_dissimilar_is_noted(kernel):
    name, far = type(kernel).__name__, np.hstack([NUMBERS, np.random.RandomState(1).standard_normal((N, 10))])
    density = VBMixture(2, covariance_type="diag", random_state=0)
    with pytest.warns(PresetGammaWarning, match=rf"{name} has gamma 1, .* Set it: set_params\(kernel__gamma=0\.0"):
        model = fitted(kernel, far, density=density)
    assert model.kernel_.gamma == 1.0
    for other in (kernel.clone_with_theta(np.log([0.99])), str(KernelName.RWM)):  # a gamma of one's own, and no object
        fitted(other, far, density=density)
    fitted(kernel, NUMBERS)  # most rows are similar


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (RBFKernel(0.1) + RWMKernel(), "kernel__k2__gamma"),
        (0.5 * RWMKernel() + RBFKernel(0.1), "kernel__k1__k2__gamma"),
        (LaplacianKernel(RWMKernel(), ratio=2.0), "kernel__base__gamma"),
    ],
    ids=["sum", "weighted sum", "graph"],
)
def test_a_preset_gamma_within_another_kernel_is_noted_with_its_name(kernel, name):
    far = np.hstack([NUMBERS, np.random.RandomState(1).standard_normal((N, 10))])
    density = VBMixture(2, covariance_type="diag", random_state=0)
    with pytest.warns(PresetGammaWarning, match=rf"RWMKernel has gamma 1, .* Set it: set_params\({name}=(0\.\d+)"):
        model = fitted(kernel, far, density=density)
    fitted(model.kernel.set_params(**{name.removeprefix("kernel__"): 0.05}), far, density=density)


def test_a_bound_kernel_keeps_its_mixture():
    other = Mixture([0.5, 0.5], [[0.0, 0.0], [2.0, 2.0]], [np.eye(2), np.eye(2)])
    model = fitted(RWMKernel(other, 0.3), NUMBERS)
    assert model.kernel_.mixture is other
    assert model.mixture_ is not other


@pytest.mark.parametrize(
    "kernel",
    [
        RWMKernel(gamma=0.3) + RBFKernel(0.2),
        RWMKernel(gamma=0.3) * RBFKernel(0.2),
        ConstantKernel(2.0) * RWMKernel(gamma=0.3),
        ConstantKernel(2.0) * (RWMKernel(gamma=0.3) + GMMKernel(gamma=0.1)) + RBFKernel(0.2),
        LaplacianKernel(RWMKernel(gamma=0.3), ratio=2.0),
        LaplacianKernel(RWMKernel(gamma=0.3) + RBFKernel(0.2), ratio=2.0),
        LaplacianKernel(ConstantKernel(2.0) * RBFKernel(0.2), ratio=2.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "X", [pytest.param(NUMBERS, marks=pytest.mark.slow), FRAME, GAPPY], ids=["numbers", "mixed", "gaps"]
)
def test_kernels_of_kernels_are_bound_in_all_parts(kernel, X):
    model = fitted(kernel, X)
    rows = model.encoder_.transform(X)
    if not isinstance(getattr(kernel, "base", None), RWMKernel):  # that one fills gaps by itself
        rows = model.mixture_.conditional_mean(rows)

    def evaluate(k, A, B):
        if hasattr(k, "k1"):
            a, b = evaluate(k.k1, A, B), evaluate(k.k2, A, B)
            return a + b if "Sum" in type(k).__name__ else a * b
        if isinstance(k, (RWMKernel, GMMKernel)):
            return k.bind(model.mixture_)(A, B)
        if isinstance(k, RBFKernel):
            return RBFKernel(k.gamma, n_categorical=len(model.mixture_.categories))(A, B)
        return k(A, B)

    if not isinstance(kernel, LaplacianKernel):
        np.testing.assert_allclose(model.kernel_(rows[:5], rows), evaluate(kernel, rows[:5], rows), rtol=1e-12)
    else:
        expected = evaluate(kernel.base, rows[:5], rows)
        np.testing.assert_allclose(model.kernel_.base(rows[:5], rows), expected, rtol=1e-12)
        np.testing.assert_array_equal(model.kernel_.rows, rows)
    values = model.kernel_(rows, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), values[:, 0], atol=1e-8)


def test_scikit_learns_own_kernels():
    model = fitted(RBF(2.0), NUMBERS)
    rows = model.encoder_.transform(NUMBERS)
    np.testing.assert_allclose(model.kernel_(rows), np.exp(-(euclidean_distances(rows) ** 2) / 8))
    assert fitted(2.0 * RWMKernel(gamma=0.1) + WhiteKernel(0.1), FRAME).predict(FRAME).shape == (N,)
    assert fitted(DotProduct() * RWMKernel(gamma=0.1) + WhiteKernel(0.1), NUMBERS).predict(NUMBERS).shape == (N,)


def test_powers_of_kernels():
    model = fitted(RWMKernel(gamma=0.3) ** 2, NUMBERS)
    rows = model.encoder_.transform(NUMBERS)
    np.testing.assert_allclose(model.kernel_(rows), RWMKernel(model.mixture_, 0.6)(rows))


def test_a_bent_kernel_in_a_sum():
    fitted(LaplacianKernel(RBFKernel()) + RWMKernel(), NUMBERS)


@pytest.mark.parametrize("X", [FRAME, GAPPY], ids=["mixed", "gaps"])
def test_scikit_learns_own_kernels_know_no_categories(X):
    with pytest.raises(KernelError, match=r"RBF of scikit-learn takes no categories, and the table has \d categorical"):
        fitted(RBF() + RWMKernel(), X)


# ---------------------------------------------------------------- predicting in blocks


@pytest.mark.parametrize(
    "kernel", ["rwm", "gmm", "rbf", "lap", RWMKernel(gamma=0.3) + RBFKernel(), RBF(), LaplacianKernel(RBF())], ids=repr
)
@pytest.mark.parametrize("machine", [MixtureSVC, MixtureSVR, MixtureOneClassSVM])
@pytest.mark.slow
def test_predicting_in_blocks(monkeypatch, kernel, machine):
    X = FRAME if isinstance(kernel, str) else NUMBERS
    model = fitted(kernel, X, machine)
    score = model.predict if machine is MixtureSVR else model.decision_function
    whole = score(X)
    single = np.concatenate([np.atleast_1d(score(X[i : i + 1])) for i in range(N)])
    np.testing.assert_allclose(single, whole, rtol=1e-12, atol=1e-13)
    for block in (1, 7, N - 1, N, N + 1):
        monkeypatch.setattr(decision, "CELLS", block * len(model.support_))
        np.testing.assert_allclose(score(X), whole, rtol=1e-12, atol=1e-13)
    monkeypatch.setattr(decision, "CELLS", 1)  # less than one row of the matrix
    np.testing.assert_allclose(score(X), whole, rtol=1e-12, atol=1e-13)


def test_no_matrix_is_larger_than_allowed(monkeypatch):
    monkeypatch.setattr(decision, "CELLS", 60)
    shapes = []

    class Watched(RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            shapes.append((len(X), len(X if Y is None else Y)))
            return super().__call__(X, Y, eval_gradient)

    model = fitted(Watched(), NUMBERS, probability=False)
    shapes.clear()
    model.predict(NUMBERS)
    assert max(n * m for n, m in shapes) <= max(60, len(model.support_))
    assert sum(n for n, _ in shapes) == N


def test_without_support_vectors_everything_is_the_intercept():
    model = MixtureSVR(epsilon=100.0, random_state=0).fit(NUMBERS, NUMBERS[:, 0])
    assert len(model.support_) == 0
    assert set(model.predict(NUMBERS)) == {model.intercept_[0]}


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 8)])
def test_the_share_of_a_blend_follows_from_labels(weights):
    kernel = BlendKernel(Mixture([0.5, 0.5], [[0.0, 0.0], [2.0, 2.0]], [np.eye(2)] * 2), gamma=0.3, share=0.9)
    rows, codes = NUMBERS[:8], FEW[:8]
    plain, mixed = kernel.pair_terms(rows).halves(0.3)
    found = kernel_factory.evidence_kernel(kernel, rows, codes, weights)
    assert found.share == pytest.approx(evidence_share(0.6, plain, mixed, codes, weights))
    assert (found.gamma, found.mixture) == (kernel.gamma, kernel.mixture)
