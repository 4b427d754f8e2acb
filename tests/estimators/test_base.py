"""From a table to a kernel: densities, encoders, and every kind of table that somebody will come with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from mixkern import (
    DensitySearch,
    LaplacianSVC,
    Mixture,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
)
from mixkern.advice import estimated_accuracy
from mixkern.advice.gain import cross_validated_gain
from mixkern.density import one_hot_rows
from mixkern.density.preprocessing import jitter
from mixkern.errors import (
    ColumnChoiceWarning,
    ColumnMismatchError,
    DensityChoiceWarning,
    DrawnRowsWarning,
    InfiniteValueError,
    LabelError,
    MixtureError,
    ModelFileError,
    NotATableError,
    OptionError,
    UnseenCategoryWarning,
)
from mixkern.estimators.base import default_density, default_prior, limited
from mixkern.io import save
from mixkern.kernels import BlendKernel, RWMKernel

MACHINES = {
    "rwm": MixtureSVC(random_state=0),
    "gmm": MixtureSVC("gmm", random_state=0),
    "rbf": MixtureSVC("rbf", random_state=0),
    "laplacian": LaplacianSVC(random_state=0),
    "svr": MixtureSVR(random_state=0),
    "one-class": MixtureOneClassSVM(random_state=0),
}
each_machine = pytest.mark.parametrize("name", MACHINES)
N = 40


def blobs(n=N, d=2, seed=0):
    X = np.random.RandomState(seed).standard_normal((n, d)) + 3 * (np.arange(n) % 2)[:, None]
    X.flags.writeable = False
    return X


def few(n=N, n_labels=8):
    return np.where(np.arange(n) < n_labels, np.arange(n) % 2, -1)


def fitted(name, X, y=None):
    """A machine on a table, after everything that it can say about the table was asked for and is a number."""
    y = few(len(X)) if y is None else y
    model = clone(MACHINES[name])
    model.fit(X, np.where(y < 0, np.nan, y) if isinstance(model, MixtureSVR) else y)
    assert_sane(model, X)
    return model


def assert_sane(model, X):
    predicted = model.predict(X)
    assert len(predicted) == len(X)
    novelty = model.novelty(X)
    assert ((novelty >= 0) & (novelty <= 1)).all()
    np.testing.assert_allclose(model.responsibilities(X).sum(axis=1), 1)
    if isinstance(model, MixtureSVR):
        assert np.isfinite(predicted).all()
        return
    assert np.isfinite(model.decision_function(X)).all()
    if isinstance(model, MixtureSVC):
        p = model.predict_proba(X)
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert (p[np.arange(len(X)), np.searchsorted(model.classes_, predicted)] == p.max(axis=1)).all()


# ---------------------------------------------------------------- tables that are hard


@each_machine
def test_no_row_without_a_label(name):
    fitted(name, blobs(), np.arange(N) % 2)


@each_machine
def test_one_label_in_each_class(name):
    fitted(name, blobs(), few(n_labels=2))


@each_machine
def test_a_class_of_one_label(name):
    y = few()
    y[[3, 5, 7]] = -1
    fitted(name, blobs(), y)


@each_machine
@pytest.mark.parametrize("c", [2, 3])
def test_all_rows_equal(name, c):
    fitted(name, np.ones((20, 3)), np.arange(20) % c)


@each_machine
def test_one_column(name):
    fitted(name, blobs(d=1))


@each_machine
def test_gaps_among_numbers(name):
    X = np.where(np.random.RandomState(1).uniform(size=(N, 2)) < 0.25, np.nan, blobs())
    fitted(name, X)


@each_machine
@pytest.mark.slow
def test_gaps_among_numbers_and_categories(name):
    table = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=["u", "v"] * 20, d=["p", "q", "q", "r"] * 10)
    table.loc[::7, "a"] = np.nan
    table.loc[::5, "c"] = None
    table.loc[3::8, "d"] = None
    model = fitted(name, table)
    assert model.mixture_.n_continuous == len(model.mixture_.categories) == 2
    empty = pd.DataFrame({"a": [np.nan], "b": [np.nan], "c": pd.Series([None], dtype=object), "d": ["p"]})
    assert np.isfinite(np.asarray(model.predict(empty), dtype=float)).all()


@each_machine
def test_categories_only(name):
    table = pd.DataFrame({"a": np.random.RandomState(0).choice(list("xyz"), N), "b": ["u", "v"] * 20})
    model = fitted(name, table)
    assert model.mixture_.n_continuous == 0
    if isinstance(model, MixtureSVC):
        assert model.score(table, np.arange(N) % 2) > 0.9


@each_machine
def test_a_column_of_nothing_but_gaps(name):
    fitted(name, np.column_stack([blobs(), np.full(N, np.nan)]))


@each_machine
def test_a_constant_column(name):
    fitted(name, np.column_stack([blobs(), np.ones(N)]))


@each_machine
def test_two_rows_in_all(name):
    with pytest.warns(DensityChoiceWarning, match="2 rows of 2 continuous columns: too few rows"):
        fitted(name, blobs(2), np.array([0, 1]))


@each_machine
def test_more_columns_than_rows(name):
    model = fitted(name, blobs(15, 30))
    assert model.mixture_.covariance_type == "common"


@each_machine
def test_too_few_rows_for_matrices(name):
    with pytest.warns(
        DensityChoiceWarning, match="15 rows of 10 continuous columns: too few rows for full covariances"
    ):
        model = fitted(name, blobs(15, 10))
    assert model.mixture_.covariance_type == "diag"


@each_machine
def test_the_same_row_with_different_labels(name):
    fitted(name, np.vstack([np.tile(blobs()[:1], (6, 1)), blobs()]), np.append([0, 1] * 3, few()))


@each_machine
def test_whole_numbers_of_few_values(name):
    X = np.random.RandomState(0).randint(1, 6, (N, 3)).astype(float)
    with pytest.warns(ColumnChoiceWarning):
        model = fitted(name, X)
    assert model.mixture_.n_components <= 3
    kernel = getattr(model.kernel_, "base", model.kernel_)
    assert 1e-3 < kernel.gamma < 100


@each_machine
def test_rows_from_far_away(name):
    model = fitted(name, blobs())
    for scale in (1e3, 1e6, 1e12):
        assert_sane(model, scale * blobs())
        assert (model.novelty(scale * blobs()[:4] + scale) == 1).all()


@each_machine
def test_categories_that_nobody_has_seen(name):
    table = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=["u", "v"] * 20)
    model = fitted(name, table)
    with pytest.warns(UnseenCategoryWarning, match="'c': 'new'"):
        assert_sane(model, table.assign(c="new"))


@pytest.mark.parametrize("d", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_columns(d):
    """Far too wide for full covariances; the signal is in the first of them."""
    X = np.random.RandomState(0).standard_normal((100, d))
    X[:, :200] += 2.0 * (np.arange(100) % 2)[:, None]
    model = clone(MACHINES["rwm"]).set_params(encoder="passthrough", probability=False)
    model.fit(X, few(100, 20))
    assert model.mixture_.covariance_type == "common"
    assert model.score(X, np.arange(100) % 2) > 0.9


def test_many_columns_and_enough_rows(monkeypatch):
    monkeypatch.setattr("mixkern.estimators.base.MAX_FULL_COLUMNS", 3)
    assert fitted("rwm", blobs(d=4)).mixture_.covariance_type == "common"
    assert fitted("rwm", blobs(d=3)).mixture_.covariance_type == "full"


def test_categories_are_no_columns_of_a_covariance():
    """Two numbers and ten categories need no more rows than two numbers."""
    table = pd.DataFrame(blobs(8), columns=["a", "b"])
    for i in range(10):
        table[f"c{i}"] = np.random.RandomState(i).choice(["u", "v"], 8)
    assert fitted("rwm", table, few(8, 8)).mixture_.covariance_type == "full"


def test_who_says_which_density_is_not_warned():
    model = MixtureSVC(density=VBMixture(covariance_type="diag", random_state=0)).fit(blobs(10, 8), few(10))
    assert model.mixture_.covariance_type == "diag"


# ---------------------------------------------------------------- densities


def test_a_mixture_is_used_as_it_is():
    X = blobs()
    mixture = VBMixture(random_state=0).fit(X).mixture_
    model = MixtureSVC(density=mixture, random_state=0)
    for machine in (model, clone(model)):
        machine.fit(X, few())
        assert machine.mixture_ == mixture
        assert machine.kernel_.mixture == mixture
        assert machine.density_ is None
        assert machine.encoder_ is None
        assert machine.n_features_in_ == 2
    np.testing.assert_array_equal(model.decision_function(X), clone(model).fit(X, few()).decision_function(X))


@pytest.mark.parametrize(
    "how", [{"unlabelled": "ignore"}, {"density": VBMixture(precision_prior="typical")}], ids=["ignore", "avoid"]
)
def test_a_mixture_and_its_encoder_are_the_machine_itself(how):
    table = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=["u", "v"] * 20)
    table.loc[::7, "a"] = np.nan
    whole = MixtureSVC(**how, random_state=0).fit(table, few())
    rows = whole.encoder_.transform(table)
    part = MixtureSVC(**{**how, "density": whole.mixture_}, random_state=0).fit(rows, few())
    assert part.avoiding_share_ == whole.avoiding_share_
    assert (whole.avoiding_share_ > 0) == ("unlabelled" not in how)
    np.testing.assert_array_equal(part.decision_function(rows), whole.decision_function(table))
    np.testing.assert_array_equal(part.predict_proba(rows), whole.predict_proba(table))
    np.testing.assert_array_equal(part.novelty(rows), whole.novelty(table))


def test_a_mixture_of_the_default_density_is_the_same_svm():
    """The default density is continued for the S3VM; a mixture that is given is not."""
    whole = MixtureSVC(random_state=0).fit(blobs(), few())
    rows = whole.encoder_.transform(blobs())
    part = MixtureSVC(density=whole.mixture_, random_state=0).fit(rows, few())
    np.testing.assert_array_equal(part.support_, whole.support_)
    np.testing.assert_array_equal(part.dual_coef_, whole.dual_coef_)
    np.testing.assert_array_equal(part.intercept_, whole.intercept_)
    np.testing.assert_array_equal(part.novelty(rows), whole.novelty(blobs()))
    assert (part.avoiding_values(rows) != whole.avoiding_values(blobs())).any()


def test_a_density_that_sees_the_labels():
    X, y = np.random.RandomState(0).standard_normal((80, 2)), few(80, 40)
    names = [None if code < 0 else "ab"[code] for code in y]
    density = VBMixture(use_labels=True, random_state=0)
    model = MixtureSVC(density=density, random_state=0).fit(X, names)
    assert model.density_.class_table_.shape == (model.mixture_.n_components, 2)
    assert model.density_.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(model.density_.class_table_.sum(axis=1), 1)
    shifted = X + 5 * (np.arange(80) % 2)[:, None]
    informed = MixtureSVC(density=density, random_state=0).fit(shifted, names)
    assert informed.density_.class_table_.max(axis=1).min() > 0.8
    further = MixtureSVC(density=density, random_state=0).fit(shifted[:40], names[:40], X_unlabelled=shifted[40:])
    np.testing.assert_array_equal(further.decision_function(X), informed.decision_function(X))
    unseeded = MixtureSVC(density=density, unlabelled="ignore")
    unseeded.fit(shifted[:40], names[:40], X_unlabelled=shifted[40:])
    alone = clone(informed).set_params(unlabelled="ignore").fit(shifted, names)
    np.testing.assert_array_equal(unseeded.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("machine", [MixtureSVR, MixtureOneClassSVM])
def test_machines_without_classes_have_no_labels_for_a_density(machine):
    with pytest.raises(MixtureError, match="Labels are to be used, but none are given"):
        machine(density=VBMixture(use_labels=True)).fit(blobs(), np.arange(float(N)))


def test_settings_of_a_density_are_kept():
    density = VBMixture(n_components=3, covariance_type="tied", precision_prior=0.5, random_state=0)
    model = MixtureSVC(density=density).fit(blobs(), few())
    expected = {**density.get_params(), "n_categorical": 0}
    assert model.density_.get_params() == expected
    assert model.mixture_.covariance_type == "tied"


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (
            GaussianMixture(2).fit(blobs()),
            r"it is a GaussianMixture\. Convert a fitted .*: Mixture\.from_sklearn\(model\)",
        ),
        ("vb", "density must be None, a VBMixture, a DensitySearch or a Mixture, but it is a str"),
        (VBMixture, "density must be None, a VBMixture, a DensitySearch or a Mixture, but it is a type"),
    ],
)
@each_machine
def test_what_is_no_density(name, density, message):
    with pytest.raises(MixtureError, match=message):
        clone(MACHINES[name]).set_params(density=density).fit(blobs(), few())


def test_a_mixture_of_scikit_learn_by_the_hint():
    mixture = Mixture.from_sklearn(GaussianMixture(2, random_state=0).fit(blobs()))
    assert MixtureSVC(density=mixture).fit(blobs(), few()).score(blobs(), np.arange(N) % 2) > 0.9


@pytest.mark.parametrize("kernel", ["rwm", "gmm"])
def test_a_mixture_of_other_columns(kernel):
    mixture = VBMixture(random_state=0).fit(blobs()).mixture_
    with pytest.raises(MixtureError, match=r"X has 3 columns, but the mixture describes 2\. Encode the table as"):
        MixtureSVC(kernel, density=mixture).fit(blobs(d=3), few())


@pytest.mark.parametrize("d", [1, 3])
def test_a_mixture_of_other_columns_beside_a_kernel_that_does_not_need_it(d):
    mixture = VBMixture(random_state=0).fit(blobs()).mixture_
    with pytest.raises(MixtureError, match="the mixture describes 2"):
        MixtureSVC("rbf", density=mixture).fit(blobs(d=d), few())


# ---------------------------------------------------------------- encoders


def test_an_encoder_with_settings():
    X = np.column_stack([blobs(), np.arange(N) % 2])
    encoder = TableEncoder(continuous=["x0", "x1"], categorical=["x2"])
    model = MixtureSVC(encoder=encoder, random_state=0).fit(X, few())
    assert model.encoder_ is not encoder
    assert model.encoder_.categorical_ == ["x2"]
    assert len(model.mixture_.categories) == 1


def test_rows_as_they_are():
    X = np.column_stack([blobs(), np.arange(N) % 3])
    density = VBMixture(n_categorical=1, random_state=0)
    model = MixtureSVC("rbf", encoder="passthrough", density=density).fit(X, few())
    assert model.encoder_ is None
    assert model.mixture_.n_continuous == 2
    assert model.kernel_.n_categorical == 1
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    plain = MixtureSVC(encoder="passthrough", random_state=0).fit(X[:, :2], few())
    assert plain.mixture_.n_continuous == 2


@pytest.mark.parametrize("encoder", ["pass", TableEncoder, 3])
def test_what_is_no_encoder(encoder):
    with pytest.raises(OptionError, match="encoder must be None, a TableEncoder or 'passthrough', but it is"):
        MixtureSVC(encoder=encoder).fit(blobs(), few())


def test_a_mixture_beside_an_encoder():
    mixture = VBMixture(random_state=0).fit(blobs()).mixture_
    with pytest.raises(MixtureError, match=r"X must be encoded and encoder must be None\. .* density=VBMixture"):
        MixtureSVC(density=mixture, encoder=TableEncoder()).fit(blobs(), few())


# ---------------------------------------------------------------- rows that cannot be


@each_machine
def test_nothing_is_known_before_fit(name):
    model = clone(MACHINES[name])
    for method in ("predict", "novelty", "responsibilities"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(model, method)(blobs())


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (blobs()[0], NotATableError, "two dimensions"),
        (blobs()[:, :1], ColumnMismatchError, "X has 1 features, but TableEncoder is expecting 2"),
        (blobs() * np.inf, InfiniteValueError, "Column 'x0' holds 40 infinite values"),
        (blobs()[:0], ValueError, "X is empty"),
        ([["a", "b"]], ValueError, "x0"),
    ],
)
def test_rows_that_cannot_be(X, error, message):
    model = MixtureSVC(random_state=0, probability=False).fit(blobs(), few())
    for method in (model.predict, model.novelty, model.responsibilities, model.decision_function):
        with pytest.raises(error, match=message):
            method(X)


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
def test_encoded_rows_that_cannot_be():
    model = MixtureSVC(encoder="passthrough", random_state=0, probability=False).fit(blobs(), few())
    with pytest.raises(ValueError, match="X has 3 features, but MixtureSVC is expecting 2 features"):
        model.predict(blobs(d=3))
    with pytest.raises(ValueError, match="contains infinity"):
        model.predict(blobs() * np.inf)


def test_the_table_stays_as_it_is():
    table = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=["u", "v"] * 20)
    table.loc[::7, "a"] = np.nan
    before, y = table.copy(), few()
    MixtureSVC("rbf", random_state=0).fit(table, y).predict_proba(table)
    pd.testing.assert_frame_equal(table, before)
    np.testing.assert_array_equal(y, few())


# ---------------------------------------------------------------- before any work is done


@pytest.mark.parametrize(
    "machine", [MixtureSVC, LaplacianSVC, MixtureSVR, MixtureOneClassSVM, TransductiveSVC, QuasiNewtonS3VC]
)
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"kernel": "rwn"}, r"^kernel must be one of 'blend', 'rwm', 'gmm', 'rbf', 'lap', but it is 'rwn'"),
        ({"gamma": "auto"}, r"^gamma must be 'scale' or 'local' or a positive number, but it is 'auto'\.$"),
        ({"repair": "cut"}, r"^repair must be one of 'auto', 'none', 'clip', 'flip', 'shift', but it is 'cut'"),
        ({"tol": -1.0}, r"^tol must be a positive number, but it is -1\.0\.$"),
    ],
    ids=["kernel", "gamma", "repair", "tol"],
)
def test_wrong_words_are_refused_before_the_density_is_learned(machine, how, why, monkeypatch):
    def fit(*arguments):
        raise AssertionError("the density was fitted")

    monkeypatch.setattr(VBMixture, "fit", fit)
    model = machine(random_state=0)
    rows, y = np.random.RandomState(0).standard_normal((20, 2)), np.arange(20) % 2
    with pytest.raises(AssertionError, match="the density was fitted"):
        model.fit(rows, y)
    if next(iter(how)) not in model.get_params():
        assert (machine, *how) == (QuasiNewtonS3VC, "repair")
        return
    with pytest.raises(OptionError, match=why):
        model.set_params(**how).fit(rows, y)


# ---------------------------------------------------------------- default density


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap", RWMKernel()])
def test_others_want_a_smooth_density(kernel):
    assert default_prior(kernel) == "typical"


@pytest.mark.parametrize("kernel", ["blend", BlendKernel()])
def test_the_blend_wants_the_likeliest(kernel):
    assert default_prior(kernel) == "evidence"


def test_few_rows_of_many_columns_have_diagonal_covariances():
    with pytest.warns(DensityChoiceWarning, match="10 rows of 5 continuous columns: too few rows"):
        density = default_density("evidence", 10, 5, 7)
    assert (str(density.covariance_type), density.precision_prior, density.random_state) == ("diag", "evidence", 7)
    assert str(default_density("evidence", 12, 5).covariance_type) == "full"


# ---------------------------------------------------------------- limits on rows


CODES = np.array([-1, 0, -1, 1, -1, -1, 0])


def limited_rows(n, codes, limit, seed=0):
    return limited(n, codes, limit, np.random.RandomState(seed))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_few_rows_are_all_taken(n):
    assert limited_rows(n, None, 7).tolist() == list(range(n))
    assert limited_rows(7, CODES, 7).tolist() == list(range(7))


def test_labelled_rows_are_kept():
    message = "There are 20 rows, and matrices .* all 3 labelled rows and 5 others, drawn at random, are used"
    for seed in range(10):
        with pytest.warns(DrawnRowsWarning, match=message):
            found = limited_rows(20, CODES, 8, seed)
        assert len(found) == len(set(found)) == 8
        assert {1, 3, 6} <= set(found)
        assert (np.diff(found) > 0).all()


def test_more_labels_than_rows_allowed_are_kept_all_the_same():
    with pytest.warns(DrawnRowsWarning, match="all 3 labelled rows and 0 others"):
        assert limited_rows(20, CODES, 2).tolist() == [1, 3, 6]


def test_of_very_many_labels_some_of_all_classes_are_drawn():
    codes = np.repeat([0, 1, 2, -1], [9_000, 3_000, 3, 500])
    with pytest.warns(DrawnRowsWarning, match=r"needed: 5001 of 12003 labelled rows, drawn at random, are used"):
        found = limited_rows(len(codes), codes, 100)
    assert np.bincount(codes[found]).tolist() == [3749, 1250, 2]  # two of a class at least
    assert (np.diff(found) > 0).all()


def test_without_labels_any_rows_are_drawn():
    with pytest.warns(DrawnRowsWarning, match="would be needed: 4 of them, drawn at random, are used"):
        found = limited_rows(50, None, 4)
    assert len(set(found)) == 4


def test_every_row_is_drawn_at_some_time():
    with pytest.warns(DrawnRowsWarning):
        seen = {i for seed in range(60) for i in limited_rows(10, CODES, 5, seed)}
    assert seen == set(range(10))


def test_the_seed_decides():
    with pytest.warns(DrawnRowsWarning):
        a, b, c = (limited_rows(50, CODES, 10, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_all_labelled():
    with pytest.warns(DrawnRowsWarning, match="all 7 labelled rows and 0 others"):
        assert limited_rows(7, np.zeros(7, dtype=int), 3).tolist() == list(range(7))


# ---------------------------------------------------------------- the density of a row is computed once

PLANE = Mixture([0.5, 0.5], [[0.0, 0.0], [3.0, 3.0]], [np.eye(2), np.diag([2.0, 0.5])])
NAMES = ["blend", "rwm", "gmm", "rbf", "lap"]


def with_gaps(X, every=3):
    X = np.array(X)
    X[::every, 1] = np.nan
    return X


def times_computed(monkeypatch, X, call, mixture=None):
    """How often the density of each row of X is computed by a call, under one mixture or any."""
    seen, original = [], Mixture.row_densities

    def row_densities(self, rows, **how):
        if mixture is None or self == mixture:
            seen.extend(rows[:, 0])
        return original(self, rows, **how)

    monkeypatch.setattr(Mixture, "row_densities", row_densities)
    call(X)
    monkeypatch.undo()
    return {seen.count(value) for value in X[:, 0]}


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("kernel", NAMES)
def test_the_density_of_a_row_is_computed_once(kernel, gaps, monkeypatch):
    train, new = blobs(), blobs(12, seed=1)
    if gaps:
        train, new = with_gaps(train), with_gaps(new, every=1)
    model = MixtureSVC(kernel, density=PLANE, unlabelled="ignore", random_state=0).fit(train, few())
    model.predict(train)
    is_needed = gaps or kernel in ("blend", "rwm")
    for method in (model.predict, model.predict_proba, model.decision_function):
        assert times_computed(monkeypatch, new, method) == {int(is_needed)}
    for method in (model.assess, model.novelty, model.responsibilities):
        assert times_computed(monkeypatch, new, method) == {1}


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
def test_each_of_two_densities_of_a_row_is_computed_once(gaps, monkeypatch):
    train, new = blobs(), blobs(12, seed=1)
    if gaps:
        train, new = with_gaps(train), with_gaps(new)
    model = MixtureSVC(encoder="passthrough", random_state=0).fit(train, few())
    assert model.avoiding_share_ > 0
    for method in (model.predict, model.predict_proba, model.decision_function, model.assess):
        assert times_computed(monkeypatch, new, method, model.mixture_) == {1}
        assert times_computed(monkeypatch, new, method) == {2}
    for method in (model.novelty, model.responsibilities):
        assert times_computed(monkeypatch, new, method) == {1}


@pytest.mark.parametrize("kernel", ["blend", "lap", *NAMES[1:4]])
@pytest.mark.slow
def test_gaps_among_labelled_rows_are_no_trouble(kernel):
    """All that a report reads, for every kernel, from a table with gaps in labelled and other rows."""
    X, y = with_gaps(blobs()), few(n_labels=16)
    model = MixtureSVC(kernel, density=PLANE, random_state=0).fit(X, y)
    whole = model.rows_of(X)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.novelty(X)).all()
    assert len(model.assess(X)) == len(X)
    for by in ("label", "component", "column"):
        assert len(model.explain(X[:3], by))
    assert estimated_accuracy(model, X, y).value > 0.5
    again = clone(model).set_params(probability=False)
    again.read_labels(X, y, None)
    again.learn_structure(X)
    for rows in (whole, X):  # encoded values do as well
        np.testing.assert_allclose(again.train(rows, y).decide(whole), model.decide(whole), atol=1e-9)
    np.testing.assert_array_equal(model.predict(whole), model.predict(X))
    gain = cross_validated_gain(again, whole, one_hot_rows(PLANE, X[:16]), y, np.random.RandomState(0), 0.9)
    assert 0 <= gain.all_rows <= 1


# ---------------------------------------------------------------- a search as the density


SEARCH = DensitySearch(VBMixture(4), precision_prior=[0.1, 10.0], scoring="held_out", cv=2)
EVERY = {**MACHINES, "transductive": TransductiveSVC(random_state=0), "s3vm": QuasiNewtonS3VC(random_state=0)}


@pytest.mark.parametrize(
    "name", [each if each in ("rwm", "svr", "s3vm") else pytest.param(each, marks=pytest.mark.slow) for each in EVERY]
)
def test_a_search_finds_the_density_without_labels(name):
    """The same as a search by hand on the encoded rows, and an estimator with the density that it finds."""
    frame = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=np.where(np.arange(N) % 3 == 0, "u", "v"))
    y = few().astype(float) if name == "svr" else few()
    model = clone(EVERY[name]).set_params(density=SEARCH).fit(frame, y)
    rows = model.encoder_.transform(frame)
    by_hand = clone(SEARCH).set_params(density__n_categorical=1, random_state=0)
    by_hand.fit(jitter(rows, 2, np.random.RandomState(0)))
    assert type(model.density_) is VBMixture
    assert model.mixture_ == by_hand.mixture_
    assert model.density_.precision_prior == by_hand.best_params_["precision_prior"]
    assert SEARCH.density.n_categorical == 0
    assert SEARCH.random_state is None


def test_a_search_with_labels_in_the_density():
    search = clone(SEARCH).set_params(density__use_labels=True)
    model = MixtureSVC(density=search, random_state=0).fit(blobs(), few())
    assert model.density_.classes_.tolist() == [0, 1]
    with pytest.raises(LabelError, match="The density is fitted with labels"):
        SVCSearch(MixtureSVC(density=search)).fit(blobs(), few())


def test_a_search_without_an_estimator_inside():
    search = DensitySearch(precision_prior=[1.0], scoring="bound")
    frame = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=np.where(np.arange(N) % 3 == 0, "u", "v"))
    assert len(MixtureSVC(density=search, random_state=0).fit(frame, few()).mixture_.categories) == 1
    assert search.density is None


def test_a_search_reports_its_trials_within_a_fit(capsys):
    MixtureSVC(density=SEARCH, random_state=0, verbose=2).fit(blobs(), few())
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if "DensitySearch" in line]) == 4


# ---------------------------------------------------------------- halves of a fit


@pytest.mark.parametrize("estimator", [MixtureSVC, TransductiveSVC, MixtureSVR, MixtureOneClassSVM])
def test_half_a_fit_predicts_nothing(estimator, tmp_path):
    model = estimator(density=PLANE, random_state=0)
    model.learn_structure(blobs())
    for attempt in (model.predict, model.decide):
        with pytest.raises(NotFittedError):
            attempt(blobs())
    with pytest.raises(ModelFileError, match="is not fitted"):
        save(model, tmp_path / "model.mixkern")


def test_another_half_of_a_fit_ends_the_predictions_of_the_last():
    X, y = blobs(), few(n_labels=16)
    for half in (
        lambda model: model.learn_structure(100 * X),
        lambda model: model.read_labels(X, np.where(y < 0, -1, 1 - y), None),
    ):
        model = MixtureSVC(density=PLANE, random_state=0).fit(X, y)
        half(model)
        for attempt in (model.predict, model.predict_proba, model.assess, model.explain, model.decide):
            with pytest.raises(NotFittedError):
                attempt(X)
        assert model.rows_of(X).values.shape == X.shape


def test_training_needs_both_other_steps():
    X, y = blobs(), few(n_labels=16)
    with pytest.raises(NotFittedError):
        MixtureSVC(density=PLANE).train(X, y)
