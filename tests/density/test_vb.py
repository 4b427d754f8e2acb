"""The estimator: settings, labels, blocks, and extreme tables."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from mixkern import datasets
from mixkern.density import BoundRecorder, Mixture, VBMixture
from mixkern.density.priors import PrecisionPrior
from mixkern.density.settings import _is_positive_definite
from mixkern.errors import InterruptedWarning, LengthError, MixtureError, OptionError
from mixkern.fitting import NotConvergedWarning

NAN = np.nan
PLAIN = {"prune": False, "merge": False, "progressive": False}


@pytest.fixture(scope="module")
def blobs():
    """Three clusters far apart, and the cluster of each row."""
    random = np.random.default_rng(0)
    owners = np.repeat([0, 1, 2], [100, 150, 50])
    X = random.normal(size=(300, 2)) * 0.5 + np.array([[0, 0], [6, 0], [0, 6]])[owners]
    X.flags.writeable = False
    return X, owners


def fitted(X, y=None, **settings):
    return VBMixture(**({"n_components": 8, "random_state": 0} | settings)).fit(X, y)


@parametrize_with_checks([VBMixture(n_components=3)])
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- what it learns


@pytest.mark.parametrize("precision_prior", [*map(str, PrecisionPrior), 3.0])
def test_finds_the_clusters(kind, blobs, precision_prior):
    X, owners = blobs
    density = fitted(X, covariance_type=kind, precision_prior=precision_prior)
    assert density.n_components_ == 3
    assert density.converged_
    table = np.zeros((3, 3))
    np.add.at(table, (owners, density.predict(X)), 1)
    assert (table.max(axis=1) == [100, 150, 50]).all()
    np.testing.assert_allclose(np.sort(density.mixture_.weights), [1 / 6, 1 / 3, 1 / 2], atol=0.01)


def test_attributes_and_methods_say_the_same(blobs):
    X, _ = blobs
    density = fitted(X)
    assert isinstance(density.mixture_, Mixture)
    assert density.n_components_ == density.mixture_.n_components
    assert density.lower_bound_ == density.bound_trace_[-1]
    assert density.n_iter_ == len(density.bound_trace_)
    assert density.n_features_in_ == 2
    np.testing.assert_array_equal(density.score_samples(X), density.mixture_.log_density(X))
    np.testing.assert_array_equal(density.predict_proba(X), density.mixture_.responsibilities(X))
    np.testing.assert_array_equal(density.predict(X), density.predict_proba(X).argmax(axis=1))
    np.testing.assert_array_equal(density.predict(X), clone(density).fit_predict(X))
    assert density.score(X) == pytest.approx(density.score_samples(X).mean())
    rows, components = density.sample(7)
    assert (rows.shape, components.shape) == ((7, 2), (7,))


def test_the_bound_is_the_evidence_for_one_component(kind, blobs, literal):
    """In the table's own units, so the inner coordinates are invisible."""
    X = blobs[0][:30] * [1, 10] + 50
    inverse = {"full": np.diag([0.5, 2.0]), "tied": np.diag([0.5, 2.0]), "diag": np.array([0.5, 2.0])}
    given = {"full": np.diag([2.0, 0.5]), "tied": np.diag([2.0, 0.5]), "diag": [2.0, 0.5], "spherical": 0.5}[kind]
    density = fitted(
        X,
        covariance_type=kind,
        n_components=1,
        precision_prior=given,
        mean_prior=[49.0, 51.0],
        mean_precision_prior=0.3,
        degrees_of_freedom_prior=4.5,
    )
    expected = literal.log_evidence_of_owners(
        kind, X, [0] * 30, 1, 1.0, 0.3, [49.0, 51.0], inverse.get(kind, np.full(2, 2.0)), 4.5
    )
    assert density.lower_bound_ == pytest.approx(expected, rel=1e-9)
    counts = 30 / 30.3
    np.testing.assert_allclose(density.mixture_.means[0], counts * X.mean(axis=0) + (1 - counts) * np.array([49, 51]))


@pytest.mark.parametrize("scale", [1e-6, pytest.param(1.0, marks=pytest.mark.slow), 1e6])
@pytest.mark.parametrize("precision_prior", ["typical", "evidence"])
def test_units_do_not_matter(kind, blobs, scale, precision_prior):
    X = np.asarray(blobs[0])
    settings = {"covariance_type": kind, "precision_prior": precision_prior}
    one, other = fitted(X, **settings), fitted(scale * X - 3 * scale, **settings)
    np.testing.assert_allclose(other.mixture_.means, scale * (one.mixture_.means - 3), rtol=1e-5, atol=1e-5 * scale)
    np.testing.assert_allclose(other.mixture_.covariances, scale**2 * one.mixture_.covariances, rtol=1e-5)
    n_cells = X.size
    assert other.lower_bound_ + n_cells * np.log(scale) == pytest.approx(one.lower_bound_, rel=1e-6)


def test_evidence_is_a_better_bound_than_any_fixed_prior_of_its_form(blobs):
    X, _ = blobs
    best = fitted(X, precision_prior="evidence_isotropic", tol=1e-9, n_components=3, **PLAIN).lower_bound_
    for w0 in (0.01, 0.1, 1.0, 10.0):
        assert fitted(X, precision_prior=w0, tol=1e-9, n_components=3, **PLAIN).lower_bound_ <= best + 1e-6


def test_degrees_chosen_by_evidence_raise_the_bound(blobs):
    X, _ = blobs
    settings = {"precision_prior": "evidence", "tol": 1e-9, "n_components": 3, **PLAIN}
    auto = fitted(X, degrees_of_freedom_prior="auto", **settings)
    for degrees in (2.0, 5.0, 50.0):
        assert fitted(X, degrees_of_freedom_prior=degrees, **settings).lower_bound_ <= auto.lower_bound_ + 1e-6


def test_larger_precision_priors_make_more_components(blobs):
    X = np.random.default_rng(0).uniform(size=(400, 2))
    few, many = (fitted(X, precision_prior=w0, n_components=20).n_components_ for w0 in (0.5, 200.0))
    assert few < many


def test_without_pruning_every_component_stays(blobs):
    X, _ = blobs
    density = fitted(X, n_components=12, **PLAIN)
    assert density.n_components_ == 12
    assert np.diff(fitted(X, precision_prior=1.0, n_components=12, **PLAIN).bound_trace_).min() > -1e-7


@pytest.mark.filterwarnings("ignore::mixkern.fitting.NotConvergedWarning")
def test_random_state_decides(blobs):
    X, _ = blobs
    for init in ("k-means++", "random"):
        settings = {"init": init, "n_components": 5, "max_iter": 2, **PLAIN}
        one, same, other = (fitted(X, random_state=seed, **settings) for seed in (1, 1, 2))
        assert one.mixture_ == same.mixture_ != other.mixture_


def test_more_starts_are_never_worse():
    X = np.random.default_rng(0).normal(size=(80, 2))
    settings = {"init": "random", "n_components": 5, "precision_prior": 2.0, **PLAIN}
    assert fitted(X, n_init=6, **settings).lower_bound_ > fitted(X, n_init=1, **settings).lower_bound_


# ---------------------------------------------------------------- weights, gaps, categories


def test_integer_weights_are_copies_of_rows(kind, blobs):
    X = np.array(blobs[0])
    X[::9, 0] = NAN
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    settings = {"covariance_type": kind, "n_components": 1, "precision_prior": 1.0, "tol": 1e-10}
    weighted = VBMixture(**settings).fit(X, sample_weight=weights)
    copies = VBMixture(**settings).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.mixture_.means, copies.mixture_.means, rtol=1e-6)
    np.testing.assert_allclose(weighted.mixture_.covariances, copies.mixture_.covariances, rtol=1e-6)
    assert weighted.lower_bound_ == pytest.approx(copies.lower_bound_, rel=1e-8)


def test_categories_separate_what_numbers_do_not():
    random = np.random.default_rng(0)
    owners = np.repeat([0, 1], 100)
    codes = np.where(random.random((200, 4)) < 0.9, owners[:, None], 1 - owners[:, None]).astype(float)
    codes[random.random((200, 4)) < 0.1] = NAN
    X = np.column_stack([random.normal(size=200), codes])
    density = fitted(X, n_categorical=4, weight_concentration_prior=1.0)
    assert density.n_components_ == 2
    agreement = np.mean(density.predict(X) == owners)
    assert max(agreement, 1 - agreement) > 0.9
    assert [table.shape for table in density.mixture_.categories] == [(2, 3)] * 4  # with room for "other"


def test_categories_that_come_later_count_as_other():
    X = np.column_stack([np.random.default_rng(0).normal(size=40), np.arange(40) % 2])
    density = fitted(X, n_categorical=1)
    assert (
        density.score_samples([[0.0, 2]])[0]
        == density.score_samples([[0.0, 77]])[0]
        < density.score_samples([[0.0, 1]])[0]
    )


def test_only_categories(kind):
    random = np.random.default_rng(0)
    owners = np.repeat([0, 1], 60)
    X = np.where(random.random((120, 5)) < 0.9, owners[:, None], 2 - owners[:, None]).astype(float)
    density = fitted(X, n_categorical=5, covariance_type=kind, weight_concentration_prior=1.0)
    assert density.n_components_ == 2
    assert density.mixture_.n_continuous == 0
    assert (density.score_samples(X) < 0).all()


def test_frames_and_lists_are_tables_too(blobs):
    pandas = pytest.importorskip("pandas")
    X, _ = blobs
    frame = pandas.DataFrame(X, columns=["a", "b"])
    density = fitted(frame)
    assert density.mixture_ == fitted(X).mixture_ == fitted(X.tolist()).mixture_
    assert density.feature_names_in_.tolist() == ["a", "b"]


# ---------------------------------------------------------------- labels


@pytest.fixture(scope="module")
def overlapping():
    """Two clusters one deviation apart, which the numbers alone do not tell apart."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    return random.normal(size=(300, 2)) + 1.2 * y[:, None], y


def test_labels_separate_overlapping_components(overlapping):
    X, y = overlapping
    without = fitted(X, weight_concentration_prior=1.0)
    density = fitted(X, y, use_labels=True, weight_concentration_prior=1.0)
    assert without.n_components_ == 1
    assert density.n_components_ >= 2
    assert density.classes_.tolist() == [0, 1]
    assert density.class_table_.shape == (density.n_components_, 2)
    np.testing.assert_allclose(density.class_table_.sum(axis=1), 1)
    of_rows = density.predict_proba(X) @ density.class_table_
    assert np.mean(of_rows.argmax(axis=1) == y) > 0.75
    assert density.mixture_.n_features == 2  # predictions need no label


@pytest.mark.parametrize(
    ("labels", "unlabelled"),
    [([0, 1], -1), (["no", "yes"], None), ([0.0, 1.0], NAN), (["no", "yes"], NAN)],
)
def test_most_labels_may_be_missing(blobs, labels, unlabelled):
    X, _ = blobs
    y = np.full(300, unlabelled, dtype=object)
    y[:5], y[100:105] = labels[0], labels[1]
    density = fitted(X, y.tolist(), use_labels=True)
    assert list(density.classes_) == labels
    table = density.class_table_[density.predict([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])]
    assert table[0, 0] > 0.7
    assert table[1, 1] > 0.7
    assert abs(table[2, 0] - 0.5) < 0.2  # no label there


def test_labels_are_not_read_unless_they_are_wanted(blobs):
    X, owners = blobs
    assert fitted(X, owners).mixture_ == fitted(X).mixture_
    assert not hasattr(fitted(X, owners), "classes_")
    with pytest.raises(MixtureError, match=r"Labels are to be used, but none are given. Pass them: fit\(X, y\)"):
        fitted(X, use_labels=True)


def test_as_many_labels_as_rows(blobs):
    with pytest.raises(LengthError, match=r"X has 300 rows, but y has 2 labels\. Give one label per row"):
        fitted(blobs[0], [0, 1], use_labels=True)


def test_labels_and_categories_together(blobs):
    X, owners = blobs
    density = fitted(np.column_stack([X, owners % 2]), owners, n_categorical=1, use_labels=True)
    assert len(density.mixture_.categories) == 1
    assert density.class_table_.shape[1] == 3


def test_later_blocks_have_other_labels(blobs):
    """Codes mean the same classes in every block, whichever of them occur there."""
    X, owners = blobs
    names = np.array(["a", "b", "c"])
    density = VBMixture(8, use_labels=True, random_state=0).fit(X, names[owners])
    for _ in range(3):
        density.partial_fit(X[owners > 0], names[owners[owners > 0]])  # no "a"
        density.partial_fit(X[owners == 2], names[owners[owners == 2]])  # one class only
        density.partial_fit(X[owners == 0], [None] * 100)  # no label at all
        density.partial_fit(X[owners == 0], ["new"] * 99 + ["a"])  # never seen before
    assert density.classes_.tolist() == ["a", "b", "c"]
    table = density.class_table_[density.predict([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])]
    assert table.argmax(axis=1).tolist() == [0, 1, 2]


# ---------------------------------------------------------------- going on


@pytest.mark.filterwarnings("ignore::mixkern.fitting.NotConvergedWarning")
def test_warm_start_goes_on(blobs):
    X, _ = blobs
    density = VBMixture(8, max_iter=2, warm_start=True, random_state=0, precision_prior=1.0, **PLAIN)
    bounds = [density.fit(X).lower_bound_ for _ in range(6)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1]
    cold = clone(density).set_params(warm_start=False)
    assert cold.fit(X).lower_bound_ == cold.fit(X).lower_bound_ == pytest.approx(bounds[0])


@pytest.mark.parametrize("precision_prior", [pytest.param(1.0, marks=pytest.mark.slow), "typical"])
@pytest.mark.slow
def test_blocks_in_turn_end_near_a_fit_of_all_rows(kind, precision_prior):
    random = np.random.default_rng(0)
    owners = random.integers(0, 3, 6000)
    X = random.normal(size=(6000, 2)) * 0.5 + np.array([[0, 0], [6, 0], [0, 6]])[owners]
    settings = {"n_components": 8, "covariance_type": kind, "precision_prior": precision_prior, "random_state": 0}
    whole = VBMixture(**settings).fit(X).mixture_
    blocks = VBMixture(**settings)
    for part in np.array_split(X, 12):
        assert blocks.partial_fit(part) is blocks
    mixture = blocks.mixture_
    assert mixture.n_components == whole.n_components == 3
    order, reference = (np.lexsort(m.means.round().T) for m in (mixture, whole))
    np.testing.assert_allclose(mixture.weights[order], whole.weights[reference], atol=0.02)
    np.testing.assert_allclose(mixture.means[order], whole.means[reference], atol=0.06)
    np.testing.assert_allclose(mixture.variances[order], whole.variances[reference], rtol=0.12)
    assert mixture.log_density(X).mean() == pytest.approx(whole.log_density(X).mean(), abs=0.01)
    assert np.isfinite(blocks.bound_trace_).all()


@pytest.mark.slow
def test_blocks_with_gaps_categories_and_weights():
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=(400, 2)), random.integers(0, 3, 400)]).astype(float)
    X[random.random(X.shape) < 0.2] = NAN
    density = VBMixture(4, n_categorical=1, random_state=0)
    for part in np.array_split(X, 4):
        density.partial_fit(part, sample_weight=np.full(len(part), 2.0))
    assert np.isfinite(density.score_samples(X)).all()


def test_the_callback_is_called_after_every_iteration(blobs):
    recorder = BoundRecorder()
    density = VBMixture(8, random_state=0, precision_prior=1.0, **PLAIN).set_callbacks(recorder).fit(blobs[0])
    reports = recorder.steps
    assert [each["iteration"] for each in reports] == list(range(1, density.n_iter_ + 1))
    np.testing.assert_allclose([each["bound"] for each in reports], density.bound_trace_)
    assert reports[-1]["n_components"] == density.n_components_


class StopsAt:
    """Requests a stop at the end of some iteration."""

    max_propagation_depth = None

    def __init__(self, iteration):
        self.iteration, self.densities = iteration, []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "iteration":
            self.densities.append(fitted_estimator)
        return context.task_name == "iteration" and context.task_id + 1 == self.iteration

    def teardown(self, estimator, context):
        pass


def test_a_callback_may_stop_the_ascent_and_gets_the_density_of_each_iteration(blobs):
    X, _ = blobs
    callback = StopsAt(3)
    with pytest.warns(InterruptedWarning, match="stopped early; its last step is used"):
        density = VBMixture(8, random_state=0).set_callbacks(callback).fit(X)
    assert (density.n_iter_, density.converged_) == (3, False)
    assert [each.n_iter_ for each in callback.densities] == [1, 2, 3]
    assert callback.densities[-1].mixture_ == density.mixture_
    assert callback.densities[-1].score(X) == density.score(X)
    with pytest.warns(
        NotConvergedWarning,
        match=r"has not converged within 3 iterations; the last one changed the bound by .*max_iter=2000",
    ):
        assert VBMixture(8, max_iter=3, random_state=0).fit(X).mixture_ == density.mixture_


def test_a_fit_that_is_stopped_on_a_sample_or_in_a_start_ends_with_all_rows(monkeypatch):
    X = np.random.default_rng(0).normal(size=(500, 2))
    monkeypatch.setattr("mixkern.density.progressive.FIRST_SAMPLE", 100)
    with pytest.warns(InterruptedWarning):
        density = VBMixture(3, n_init=2, random_state=0).set_callbacks(StopsAt(2)).fit(X)
    assert density.n_iter_ == 1
    assert density._n_seen == pytest.approx(500)
    recorder = BoundRecorder()
    VBMixture(3, n_init=2, random_state=0).set_callbacks(recorder).fit(X)
    assert [each["iteration"] for each in recorder.steps].count(1) == 3  # two starts on a sample, then all rows


def test_an_error_in_a_callback_leaves_the_density_as_it_was(blobs):
    class Failing(StopsAt):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("no space left")

    density = VBMixture(3, random_state=0).fit(blobs[0])
    before = dict(vars(density.set_callbacks(Failing(0))))
    with pytest.raises(RuntimeError, match="no space left"):
        density.fit(10 * blobs[0])
    assert vars(density) == before


def test_verbose_prints_lines_with_the_elapsed_time(blobs, capsys):
    plain = VBMixture(3, random_state=0).fit(blobs[0])
    assert not capsys.readouterr().out
    VBMixture(3, random_state=0, verbose=1).fit(blobs[0])
    (line,) = capsys.readouterr().out.splitlines()
    n = f"{plain.n_components_} components, bound {plain.lower_bound_:.8g} after {plain.n_iter_} iterations"
    assert re.fullmatch(rf" +\d+\.\d s  VBMixture: {len(blobs[0])} rows of 2 columns: {re.escape(n)}", line)
    VBMixture(3, random_state=0, verbose=2).fit(blobs[0])
    first, *_, last = lines = capsys.readouterr().out.splitlines()
    assert len(lines) == plain.n_iter_ + 1
    assert "iteration 1: bound -" in first
    assert last.endswith(n)
    with pytest.raises(
        MixtureError, match="verbose must be a whole number, 0 or more or True or False, but it is 'loud'"
    ):
        VBMixture(verbose="loud").fit(blobs[0])


# ---------------------------------------------------------------- an estimator like others


def test_clone_pickle_and_parameters(blobs):
    X, _ = blobs
    density = fitted(X, precision_prior="evidence")
    assert not hasattr(clone(density), "mixture_")
    assert clone(density).get_params() == density.get_params()
    again = pickle.loads(pickle.dumps(density))
    assert again.mixture_ == density.mixture_
    again.partial_fit(X)
    assert VBMixture().set_params(tol=0.1).tol == 0.1


def test_not_fitted_yet():
    for use in ("score_samples", "predict", "predict_proba", "score"):
        with pytest.raises(NotFittedError):
            getattr(VBMixture(), use)([[0.0]])
    with pytest.raises(NotFittedError):
        VBMixture().sample()


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"weight_concentration_prior": 0},
            "weight_concentration_prior must be a positive number or None, but it is 0.",
        ),
        (
            {"weight_concentration_prior": NAN},
            "weight_concentration_prior must be a positive number or None, but it is nan.",
        ),
        ({"mean_precision_prior": -1}, "mean_precision_prior must be a positive number or 'auto', but it is -1."),
        (
            {"mean_precision_prior": "much"},
            "mean_precision_prior must be a positive number or 'auto', but it is 'much'.",
        ),
        ({"category_prior": 0.0}, "category_prior must be a positive number, but it is 0.0."),
        (
            {"degrees_of_freedom_prior": 1},
            "degrees_of_freedom_prior must be a number above 1 or 'auto' or None, but it is 1.",
        ),
        (
            {"degrees_of_freedom_prior": "many"},
            "degrees_of_freedom_prior must be a number above 1 or 'auto' or None, but it is 'many'.",
        ),
        ({"mean_prior": [1.0]}, r"mean_prior must be 2 finite numbers, one per continuous column, but it is \[1.0\]."),
        ({"mean_prior": 1.0}, "mean_prior must be 2 finite numbers, one per continuous column, but it is 1.0."),
        ({"mean_prior": [1.0, NAN]}, "mean_prior must be 2 finite numbers"),
        (
            {"precision_prior": 0.0},
            r"precision_prior must be a positive number, 2 positive numbers, a \(2, 2\) positive",
        ),
        ({"precision_prior": [1.0, 2.0, 3.0]}, "precision_prior must be a positive number"),
        ({"precision_prior": None}, "precision_prior must be a positive number"),
        ({"precision_prior": np.ones((2, 2))}, "precision_prior must be a positive number"),
        ({"precision_prior": [[1.0, 0.9], [0.0, 1.0]]}, "precision_prior must be a positive number"),
        ({"precision_prior": np.eye(2), "covariance_type": "diag"}, "precision_prior must be a positive number"),
        (
            {"precision_prior": [1.0, 2.0], "covariance_type": "spherical"},
            "precision_prior must be a positive number or",
        ),
        ({"n_components": 0}, "n_components must be a whole number, 1 or more, but it is 0."),
        ({"n_components": 2.5}, "n_components must be a whole number, 1 or more, but it is 2.5."),
        ({"n_init": 0}, "n_init must be a whole number, 1 or more, but it is 0."),
        ({"max_iter": 0}, "max_iter must be a whole number, 1 or more, but it is 0."),
        ({"n_categorical": -1}, "n_categorical must be a whole number, 0 or more, but it is -1."),
        ({"n_categorical": 3}, "n_categorical is 3, but X has only 2 columns."),
        ({"tol": -1.0}, "tol must be a number, 0 or more, but it is -1.0."),
        ({"tol": NAN}, "tol must be a number, 0 or more, but it is nan."),
    ],
)
def test_settings_that_make_no_density(blobs, settings, text):
    with pytest.raises(MixtureError, match=text):
        fitted(blobs[0], **settings)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"covariance_type": "diags"},
            "covariance_type must be one of 'full', .*but it is 'diags'. Did you mean 'diag'?",
        ),
        ({"init": "kmeans"}, r"init must be one of 'k-means\+\+', 'random', but it is 'kmeans'"),
        ({"precision_prior": "typicle"}, "precision_prior must be one of 'evidence', .*Did you mean 'typical'?"),
    ],
)
def test_words_that_are_no_options(blobs, settings, text):
    with pytest.raises(OptionError, match=text):
        fitted(blobs[0], **settings)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0], LengthError, "X has 3 rows, but sample_weight has 1 number"),
        ([1.0, -1.0, 1.0], MixtureError, r"not negative, but it holds -1\.0 in row 2"),
        ([0.0, 0.0, 0.0], MixtureError, "All sample weights are zero"),
        ([NAN, 1.0, 1.0], MixtureError, "not negative, but it holds nan in row 1"),
        (np.ones((3, 1)), MixtureError, r"one number per row, but have shape \(3, 1\)"),
        (["a", "b", "c"], MixtureError, r"it is of type list and holds others\. Give one number per row"),
    ],
)
def test_weights_that_are_none(weights, error, message):
    for learn in (VBMixture().fit, VBMixture().partial_fit):
        with pytest.raises(error, match=message):
            learn([[1.0], [2.0], [3.0]], sample_weight=weights)


@pytest.mark.parametrize("code", [-1.0, 0.5, 1e9])
def test_codes_that_are_none(code):
    X = np.array([[0.0, 0.0], [1.0, code]])
    with pytest.raises(MixtureError, match="categorical columns must hold whole numbers from 0 to"):
        VBMixture(n_categorical=1).fit(X)


def test_matrices_too_large_for_memory():
    text = "20 covariance matrices of 20000 columns do not fit in memory. Use covariance_type='factor' or 'diag'"
    with pytest.raises(MixtureError, match=text):
        VBMixture().fit(np.zeros((3, 20_000)))


# ---------------------------------------------------------------- extreme tables


def random_gaps(share):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 4)) + np.repeat([[0], [5]], 30, axis=0)
    X[random.random(X.shape) < share] = NAN
    return X


def hard_tables():
    random = np.random.default_rng(0)
    normal = random.normal
    return {
        "fewer rows than columns": normal(size=(5, 20)),
        "duplicated rows": np.repeat(normal(size=(3, 2)), 30, axis=0),
        "one row many times": np.full((50, 3), 0.1),
        "a constant column": np.column_stack([normal(size=50), np.full(50, 7.0)]),
        "collinear columns": normal(size=(60, 1)) @ np.array([[1.0, 2.0, -1.0]]),
        "one row": np.array([[1.0, 2.0, 3.0]]),
        "two rows": np.array([[1.0, 2.0], [1.0, 2.5]]),
        "one column": normal(size=(50, 1)),
        "one cell": np.array([[3.0]]),
        "values around 1e9": 1e9 + normal(size=(60, 2)),
        "values as large as 1e9": 1e9 * normal(size=(60, 2)),
        "values as small as 1e-9": 1e-9 * normal(size=(60, 2)),
        "both at once": normal(size=(60, 2)) * [1e9, 1e-9],
        "values as small as 1e-160": 1e-160 * normal(size=(60, 2)),
        "values as large as 1e140": 1e140 * normal(size=(60, 2)),
        "outliers": np.vstack([normal(size=(98, 2)), [[1e6, 0.0], [0.0, -1e6]]]),
        "whole numbers": random.integers(0, 3, (50, 2)).astype(float),
        "half of the cells missing": random_gaps(0.5),
        "nine tenths of the cells missing": random_gaps(0.9),
        "a column of gaps": np.column_stack([normal(size=(40, 2)), np.full(40, NAN)]),
        "only gaps": np.full((10, 2), NAN),
    }


@pytest.mark.filterwarnings("ignore::mixkern.fitting.NotConvergedWarning")
@pytest.mark.parametrize(
    "precision_prior", ["typical", *(pytest.param(prior, marks=pytest.mark.slow) for prior in ("evidence", 1.0))]
)
@pytest.mark.parametrize("name", hard_tables())
def test_survives(kind, name, precision_prior):
    """No NaN, no warning (those are errors here), and a density that is one."""
    X = hard_tables()[name]
    density = fitted(X, covariance_type=kind, precision_prior=precision_prior, n_components=10, max_iter=100)
    assert 1 <= density.n_components_ <= min(10, len(X))
    assert np.isfinite(density.bound_trace_).all()
    assert np.isfinite(density.score_samples(X)).all()
    np.testing.assert_allclose(density.predict_proba(X).sum(axis=1), 1)
    assert np.isfinite(density.mixture_.sample(5, 0)[0]).all()
    filled = density.mixture_.conditional_mean(X)
    assert np.isfinite(filled).all()
    with np.errstate(all="ignore"):
        low, high = np.nanmin(X, axis=0, initial=np.inf), np.nanmax(X, axis=0, initial=-np.inf)
    spread = (
        np.where(np.isfinite(high - low), high - low, 1.0) + 1e-9 * np.abs(np.where(np.isfinite(low), low, 0)) + 1e-100
    )
    there = np.isfinite(low)
    assert (density.mixture_.means[:, there] >= (low - 0.5 * spread)[there]).all()
    assert (density.mixture_.means[:, there] <= (high + 0.5 * spread)[there]).all()


@pytest.mark.parametrize("largest", [1e200, 1e308])
def test_values_whose_squares_overflow_are_refused(largest):
    X = largest * np.random.default_rng(0).uniform(-1, 1, (20, 2))
    with pytest.raises(MixtureError, match=r"X holds values beyond 1e\+150, whose squares are too large\. Rescale"):
        VBMixture().fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_twenty_thousand_columns(kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 20_000)) + np.repeat([[0.0], [1.0]], 25, axis=0)
    density = fitted(X, covariance_type=kind, n_components=4, max_iter=20)
    assert np.isfinite(density.lower_bound_)
    labels = density.predict(X)
    assert len(set(labels[:25]) & set(labels[25:])) == 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_clusters_are_found_in_spite_of_gaps(kind, share):
    density = fitted(random_gaps(share), covariance_type=kind)
    assert density.n_components_ == 2
    np.testing.assert_allclose(np.sort(density.mixture_.means[:, 0]), [0, 5], atol=1.2)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_outliers_do_not_take_the_rest_along(kind):
    """The cluster is found, its centre pulled by beta0 / N of the way to the prior mean, which the outliers moved."""
    X = hard_tables()["outliers"]
    mixture = fitted(X, covariance_type=kind).mixture_
    main = mixture.weights.argmax()
    assert mixture.weights[main] > 0.9
    assert np.abs(mixture.means[main]).max() < 1e4


def test_categories_seen_once():
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=40), np.arange(40)])
    density = fitted(X, n_categorical=1)
    assert np.isfinite(density.score_samples(X)).all()
    assert density.mixture_.categories[0].shape == (density.n_components_, 41)


def test_a_categorical_column_of_gaps():
    X = np.column_stack([np.random.default_rng(0).normal(size=30), np.full(30, NAN)])
    density = fitted(X, n_categorical=1)
    np.testing.assert_array_equal(density.mixture_.categories[0], 1)


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="infinity"):
        VBMixture().fit([[np.inf], [0.0]])


@pytest.mark.slow
def test_a_stream_of_small_blocks_ends_where_the_whole_table_does():
    X, _ = datasets.make_clouds(n=6000, random_state=0)
    stream = VBMixture(random_state=0)
    for start in range(0, len(X), 500):
        stream.partial_fit(X[start : start + 500])
    whole = VBMixture(random_state=0).fit(X)
    assert stream.n_components_ == whole.n_components_ == 4
    assert stream.score(X) == pytest.approx(whole.score(X), abs=0.01)


def test_the_first_blocks_of_a_stream_are_fitted_together():
    X, _ = datasets.make_clouds(n=900, random_state=0)
    weights = np.r_[np.ones(300), np.full(300, 2.0), np.ones(300)]
    stream = VBMixture(random_state=0)
    for rows in (slice(0, 300), slice(300, 600), slice(600, 900)):
        stream.partial_fit(X[rows], sample_weight=weights[rows])
    assert stream.mixture_ == VBMixture(random_state=0).fit(X, sample_weight=weights).mixture_


def test_the_labels_of_the_first_blocks_are_taken_together(blobs):
    X, owners = blobs
    names = np.array(["a", "b", "c"])[owners]
    stream = VBMixture(8, use_labels=True, random_state=0)
    order = np.random.RandomState(0).permutation(len(X))
    for part in np.array_split(order, 3):
        stream.partial_fit(X[part], names[part])
    whole = VBMixture(8, use_labels=True, random_state=0).fit(X[order], names[order])
    assert stream.mixture_ == whole.mixture_
    assert stream.classes_.tolist() == ["a", "b", "c"]


def two_clusters(n=500):
    random = np.random.RandomState(0)
    return np.vstack([random.standard_normal((n, 2)), random.standard_normal((n, 2)) + 6])


def test_one_more_row_changes_little():
    X = two_clusters(2500)
    density = VBMixture(5, random_state=0).fit(X)
    before = density.mixture_.weights, density.score(X)
    density.partial_fit(X[:1])
    np.testing.assert_allclose(density.mixture_.weights, before[0], atol=0.01)
    assert density.score(X) == pytest.approx(before[1], abs=0.01)


def test_a_block_counts_a_little_more_than_its_share_of_the_rows():
    X = two_clusters(2500)
    density = VBMixture(5, random_state=0).fit(X)
    first = int(density.predict(X[:1])[0])
    density.partial_fit(X[:1250])  # a fifth of all rows then seen, all of the first cluster
    rate = 0.2**0.8
    assert density.mixture_.weights[first] == pytest.approx(0.5 * (1 - rate) + rate, abs=0.01)


def test_a_warm_start_takes_new_priors_and_starts_anew_for_a_new_structure():
    X = two_clusters()
    density = VBMixture(5, warm_start=True, random_state=0).fit(X)
    assert np.diag(density._ascent.prior.inverse_scale)[0] > 0.01
    density.set_params(precision_prior=1e4).fit(X)
    assert np.diag(density._ascent.prior.inverse_scale)[0] < 0.01
    assert density.set_params(covariance_type="diag").fit(X).mixture_.covariance_type == "diag"
    with pytest.raises(MixtureError, match="weight_concentration_prior must be a positive number or None"):
        density.set_params(weight_concentration_prior=-5).fit(X)


@pytest.mark.filterwarnings("ignore::mixkern.fitting.NotConvergedWarning")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_the_callback_is_called_after_mergers_and_the_limit_holds(seed):
    X, _ = datasets.make_ripley(n=500, random_state=0)
    recorder = BoundRecorder()
    density = VBMixture(random_state=seed).set_callbacks(recorder).fit(X)
    assert [step["bound"] for step in recorder.steps] == density.bound_trace_.tolist()
    for limit in (density.n_iter_ - 1, density.n_iter_ // 2):
        assert VBMixture(random_state=seed, max_iter=limit).fit(X).n_iter_ <= limit


def test_rows_of_no_weight_do_not_count():
    X = two_clusters()
    weights = np.zeros(len(X))
    weights[:40] = 1.0
    some = VBMixture(5, random_state=0).fit(X, sample_weight=weights).mixture_
    assert some == VBMixture(5, random_state=0).fit(X[:40], sample_weight=np.ones(40)).mixture_
    weights[1:] = 0
    assert VBMixture(5, random_state=0).fit(X, sample_weight=weights).n_components_ == 1


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_typical_with_degrees_that_choose_themselves_converges(name):
    X = datasets.load(name).X.to_numpy()
    density = VBMixture(degrees_of_freedom_prior="auto", random_state=0).fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert density.converged_


def test_codes_are_checked_where_they_are_used():
    rows = np.column_stack([np.random.RandomState(0).standard_normal(50), np.arange(50) % 3])
    density = VBMixture(3, n_categorical=1, random_state=0).fit(rows)
    rows[0, 1] = -1
    with pytest.raises(MixtureError, match="categorical columns must hold whole numbers"):
        density.score_samples(rows)


@pytest.mark.parametrize("n", [5, 20, 60])
def test_fewer_rows_than_columns_make_one_component_that_means_something(n):
    random = np.random.RandomState(0)
    density = VBMixture(random_state=0).fit(random.standard_normal((n, 50)))
    assert density.n_components_ == 1
    assert density.score(random.standard_normal((200, 50))) > -150


def test_a_component_of_less_than_a_row_leaves():
    X = np.vstack([two_clusters(50), [[40.0, 40.0]], [[-40.0, 30.0]], [[-41.0, 30.0]], [[-40.0, 31.0]]])
    counts = VBMixture(8, random_state=0, merge=False).fit(X)._ascent.statistics.counts
    assert 1 <= counts.min() < 5  # three rows far away keep theirs


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (2.0, True),
        (0.0, False),
        (NAN, False),
        (np.inf, False),
        ([1.0, 1e-9], True),
        ([1.0, 0.0], False),
        ([[2.0, 1.0], [1.0, 2.0]], True),
        ([[1.0, 1.0], [1.0, 1.0]], False),
        ([[1.0, 0.5], [0.0, 1.0]], False),
        ([[1e-12, 0.0], [0.0, 1.0]], True),
        (np.empty((0, 0)), True),
    ],
)
def test_positive_definite(matrix, expected):
    assert _is_positive_definite(np.array(matrix)) is expected


# ---------------------------------------------------------------- columns with one value


def with_constant(X):
    return np.insert(X, 1, 7.0, axis=1)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "factor", "common", "auto"])
def test_a_constant_column_changes_nothing_in_the_others(kind):
    X, _ = datasets.make_two_rings(n=200, random_state=0)
    X = np.hstack([X, X @ [[1.0, 0.5], [-0.5, 1.0]] + 0.1 * np.random.RandomState(0).normal(size=X.shape)])
    density = VBMixture(covariance_type=kind, random_state=0)
    alone, beside = clone(density).fit(X).mixture_, clone(density).fit(with_constant(X)).mixture_
    np.testing.assert_allclose(beside.marginal([0, 2, 3, 4]).full_covariances, alone.full_covariances, rtol=1e-6)
    np.testing.assert_allclose(beside.means[:, [0, 2, 3, 4]], alone.means, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(beside.means[:, 1], 7.0)
    np.testing.assert_allclose(beside.responsibilities(with_constant(X)), alone.responsibilities(X), atol=1e-6)


def test_a_gap_in_a_constant_column_has_its_value():
    X, _ = datasets.make_two_rings(n=100, random_state=0)
    rows = with_constant(X)
    rows[::3, 1] = np.nan
    mixture = VBMixture(random_state=0).fit(rows).mixture_
    np.testing.assert_allclose(mixture.conditional_mean(rows)[:, 1], 7.0)


def test_another_value_in_a_constant_column_is_improbable():
    X, _ = datasets.make_two_rings(n=100, random_state=0)
    density = VBMixture(random_state=0).fit(with_constant(X))
    other = with_constant(X)
    other[:, 1] += 1
    np.testing.assert_allclose(density.score_samples(with_constant(X)) - density.score_samples(other), 101 / 2)
    np.testing.assert_allclose(density.predict_proba(other), density.predict_proba(with_constant(X)), atol=1e-9)


def test_given_priors_beside_a_constant_column():
    X, _ = datasets.make_two_rings(n=100, random_state=0)
    given = {"mean_prior": [0.0, 7.0, 0.0], "precision_prior": np.diag([4.0, 1.0, 9.0])}
    beside = VBMixture(random_state=0, **given).fit(with_constant(X)).mixture_
    alone = VBMixture(random_state=0, mean_prior=[0.0, 0.0], precision_prior=np.diag([4.0, 9.0])).fit(X).mixture_
    np.testing.assert_allclose(beside.means[:, [0, 2]], alone.means, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["full", "factor", "common"])
def test_a_warm_start_begins_again_where_a_constant_column_has_other_values(kind):
    X = np.random.RandomState(0).normal(size=(60, 4))
    density = VBMixture(3, covariance_type=kind, warm_start=True, random_state=0)
    density.fit(with_constant(X[:, 1:])).fit(X)
    assert density.mixture_ == clone(density).fit(X).mixture_


def test_a_stream_learns_a_column_that_was_constant_at_first(monkeypatch):
    monkeypatch.setattr("mixkern.density.vb.WARM_UP", 100)
    X = np.random.RandomState(0).normal(size=(300, 2))
    density = VBMixture(3, random_state=0).partial_fit(with_constant(X[:150]))
    density.partial_fit(np.insert(X[150:], 1, 7 + 2 * X[150:, 0], axis=1))
    deviations = np.sqrt(density.mixture_.variances[:, 1])
    assert (deviations > 0.5).all()  # 1/12 if it had stayed a constant


def test_only_constant_columns():
    density = VBMixture(random_state=0).fit(np.full((10, 3), 2.0))
    assert density.n_components_ == 1
    assert np.isfinite(density.score_samples([[2.0, 2.0, 3.0]])).all()
