"""From a table to a kernel: densities, encoders, and every kind of table that somebody will come with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from mixkern import (
    LaplacianSVC,
    Mixture,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
)
from mixkern.errors import (
    ColumnChoiceWarning,
    ColumnMismatchError,
    DensityChoiceWarning,
    InfiniteValueError,
    MixtureError,
    NotATableError,
    OptionError,
    UnseenCategoryWarning,
)

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
    with pytest.warns(
        DensityChoiceWarning, match="15 rows of 30 continuous columns: too few rows for full covariances"
    ):
        model = fitted(name, blobs(15, 30))
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


@pytest.mark.parametrize("name", ["rwm"])
def test_ten_thousand_columns(name):
    """Far too wide for full covariances; the signal is in the first of them."""
    X = np.random.RandomState(0).standard_normal((100, 10_000))
    X[:, :200] += 2.0 * (np.arange(100) % 2)[:, None]
    model = clone(MACHINES[name]).set_params(encoder="passthrough", probability=False)
    with pytest.warns(DensityChoiceWarning, match=r"Choose them yourself: density=VBMixture\(covariance_type='diag'\)"):
        model.fit(X, few(100, 20))
    assert model.mixture_.covariance_type == "diag"
    assert model.score(X, np.arange(100) % 2) > 0.9


def test_many_columns_and_enough_rows(monkeypatch):
    monkeypatch.setattr("mixkern.estimators.default_density.MOST_COLUMNS", 3)
    with pytest.warns(DensityChoiceWarning, match="40 rows of 4 continuous columns: too many columns for full"):
        fitted("rwm", blobs(d=4))
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


def test_a_mixture_and_its_encoder_are_the_machine_itself():
    table = pd.DataFrame(blobs(), columns=["a", "b"]).assign(c=["u", "v"] * 20)
    table.loc[::7, "a"] = np.nan
    whole = MixtureSVC(random_state=0).fit(table, few())
    rows = whole.encoder_.transform(table)
    part = MixtureSVC(density=whole.mixture_, random_state=0).fit(rows, few())
    np.testing.assert_array_equal(part.decision_function(rows), whole.decision_function(table))
    np.testing.assert_array_equal(part.predict_proba(rows), whole.predict_proba(table))
    np.testing.assert_array_equal(part.novelty(rows), whole.novelty(table))


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
    further = MixtureSVC(density=density).fit(shifted[:40], names[:40], X_unlabelled=shifted[40:])
    np.testing.assert_array_equal(further.decision_function(X), informed.decision_function(X))


@pytest.mark.parametrize("machine", [MixtureSVR, MixtureOneClassSVM])
def test_machines_without_classes_have_no_labels_for_a_density(machine):
    with pytest.raises(MixtureError, match="use_labels=True needs labels"):
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
            r"it is a GaussianMixture\. .* becomes one so: Mixture\.from_sklearn\(model\)",
        ),
        ("vb", "density must be None, a VBMixture or a Mixture, but it is a str"),
        (VBMixture, "density must be None, a VBMixture or a Mixture, but it is a type"),
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
    with pytest.raises(MixtureError, match=r"X must be encoded already and encoder be None\. Give density=VBMixture"):
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
