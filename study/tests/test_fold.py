"""Folds, densities and the choice of labels."""

import csv
import math
import warnings
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from mixkern import DensitySearch, VBMixture, datasets
from mixkern.density import Mixture
from mixkern.density.preprocessing import jitter
from mixkern_study import Experiment, LabelChoice, Protocol, study_fold
from mixkern_study.fold import StudyFold, dense_rows, dense_rows_per_class, density_names, fitted_density, labelled_rows
from mixkern_study.protocol import StudyError

PROTOCOL = Protocol(priors=(0.1, 1.0))


def test_folds_are_disjoint_stratified_and_complete():
    wine = datasets.load("wine")
    folds = [study_fold(wine, i, PROTOCOL) for i in range(5)]
    assert sum(len(fold.test) for fold in folds) == len(wine.X)
    shares = np.bincount(np.unique(wine.y, return_inverse=True)[1]) / len(wine.y)
    for fold in folds:
        assert len(fold.train) + len(fold.test) == len(wine.X)
        np.testing.assert_allclose(np.bincount(fold.test_codes) / len(fold.test), shares, atol=0.03)


def test_rows_are_scaled_by_the_training_rows_alone():
    wine = datasets.load("wine")
    fold = study_fold(wine, 0, PROTOCOL)
    np.testing.assert_allclose(fold.train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(fold.train.std(axis=0), 1)
    assert abs(fold.test.mean(axis=0)).max() > 0.05


def test_both_kinds_of_columns():
    assert study_fold(datasets.load("heart"), 0, PROTOCOL).is_mixed
    assert not study_fold(datasets.load("iris"), 0, PROTOCOL).is_mixed


def test_a_fold_that_is_not_there():
    with pytest.raises(StudyError, match="from 0 to 4, but the fold is 5"):
        study_fold(datasets.load("iris"), 5, PROTOCOL)


def test_tables_that_cannot_be_split():
    iris = datasets.load("iris")
    with pytest.raises(StudyError, match="must have two classes"):
        study_fold(replace(iris, y=iris.y.where(iris.y != iris.y, "same")), 0, PROTOCOL)
    few = replace(iris, X=iris.X[::25], y=iris.y[::25])
    with pytest.raises(StudyError, match="largest of 3 has 2"):
        study_fold(few, 0, PROTOCOL)
    with pytest.raises(StudyError, match="rows without a label"):
        study_fold(replace(iris, y=iris.y.where(iris.y != "setosa")), 0, PROTOCOL)


def test_densities_have_names_and_differ():
    fold = study_fold(datasets.load("iris"), 0, PROTOCOL)
    assert density_names(PROTOCOL) == ["default", "w0=0.1", "w0=1.0"]
    found = {name: fitted_density(fold, name, PROTOCOL) for name in density_names(PROTOCOL)}
    assert all(isinstance(mixture, Mixture) for mixture in found.values())
    assert len({mixture.key for mixture in found.values()}) == 3
    assert fitted_density(fold, "default", PROTOCOL) == found["default"]


def test_densities_of_the_ceiling_have_the_prior_that_their_name_says():
    """The paper's rule finds one density, without others to choose from."""
    fold, seed = study_fold(datasets.load("iris"), 0, PROTOCOL), PROTOCOL.seed_of("iris", 0, "density")
    rows = jitter(fold.train, 4, np.random.RandomState(seed))
    expected = VBMixture(precision_prior=1.0, random_state=seed).fit(rows).mixture_
    assert fitted_density(fold, "w0=1.0", PROTOCOL) == expected
    assert density_names(replace(PROTOCOL, density="paper")) == ["paper"]


@pytest.mark.slow
def test_the_papers_search_is_over_all_priors(monkeypatch):
    """Of w0 those of the protocol; no component is merged."""
    searches = []

    def recorded(search, rows):
        searches.append(search)
        return plain_fit(search, rows)

    plain_fit = DensitySearch.fit
    monkeypatch.setattr(DensitySearch, "fit", recorded)
    fold = study_fold(datasets.load("iris"), 0, PROTOCOL)
    chosen = fitted_density(fold, "paper", Protocol(density="paper", priors=(0.1, 1.0)))
    (search,) = searches
    assert chosen == search.mixture_
    assert (search.scoring, search.density.merge) == ("representativity", False)
    assert search.precision_prior == (0.1, 1.0)
    assert min(len(search.weight_concentration_prior), len(search.mean_precision_prior)) > 1
    n_tried = 2 * len(search.weight_concentration_prior) * len(search.mean_precision_prior)
    assert len(search.cv_results_["rank_test_score"]) == n_tried


# ---------------------------------------------------------------- labels


@pytest.fixture(scope="module")
def iris():
    fold = study_fold(datasets.load("iris"), 0, PROTOCOL)
    return fold, fitted_density(fold, "default", PROTOCOL)


def test_numbers_of_labels(iris):
    fold, mixture = iris
    first = labelled_rows(fold, mixture, Experiment.FOUR_PER_CLASS, 0, PROTOCOL)
    second = labelled_rows(fold, mixture, Experiment.A_TENTH, 0, PROTOCOL)
    assert len(first) == 4 * 3
    assert len(second) == max(12, math.ceil(0.1 * 120))
    assert set(first) <= set(second)
    assert labelled_rows(fold, mixture, Experiment.ALL, 0, PROTOCOL).tolist() == list(range(120))


def test_a_tenth_holds_the_labels_of_the_first_experiment():
    fold = study_fold(datasets.load("vehicle"), 0, PROTOCOL)
    mixture = fitted_density(fold, "default", PROTOCOL)
    for repeat in range(3):
        first = labelled_rows(fold, mixture, Experiment.FOUR_PER_CLASS, repeat, PROTOCOL)
        second = labelled_rows(fold, mixture, Experiment.A_TENTH, repeat, PROTOCOL)
        assert len(second) == len(np.unique(second)) == math.ceil(len(fold.train) / 10)
        assert set(first) < set(second)


def with_labels(choice):
    return replace(PROTOCOL, labels=choice)


def four_per_class(fold, mixture, choice, repeat=0):
    return labelled_rows(fold, mixture, Experiment.FOUR_PER_CLASS, repeat, with_labels(choice))


def is_dense(density, among):
    """Return for each row whether at most half of some rows are denser, literally."""
    return np.array([(density[among] > each).sum() < (len(density[among]) + 1) // 2 for each in density])


@pytest.mark.parametrize("choice", list(LabelChoice))
def test_every_choice_draws_as_many_rows_at_random_but_the_same_in_every_run(iris, choice):
    fold, mixture = iris
    draws = [four_per_class(fold, mixture, choice, repeat) for repeat in range(4)]
    for repeat, rows in enumerate(draws):
        assert len(rows) == len(np.unique(rows)) == 4 * 3
        assert rows.tolist() == sorted(rows)
        assert rows.tolist() == four_per_class(fold, mixture, choice, repeat).tolist()
        second = labelled_rows(fold, mixture, Experiment.A_TENTH, repeat, with_labels(choice))
        assert set(rows) <= set(second)
    assert len({tuple(rows) for rows in draws}) == 4


def test_dense_labels_lie_in_the_denser_half_of_all_rows(iris):
    fold, mixture = iris
    density = mixture.log_density(fold.train)
    dense, drawn = is_dense(density, np.arange(120)), set()
    assert dense.sum() == 60
    for repeat in range(20):
        rows = four_per_class(fold, mixture, "dense", repeat)
        assert dense[rows].all()
        drawn.update(rows)
    assert len(drawn) > 50  # any of them


def test_dense_labels_per_class_are_four_of_each_from_its_denser_half(iris):
    fold, mixture = iris
    density, drawn = mixture.log_density(fold.train), set()
    for repeat in range(20):
        rows = four_per_class(fold, mixture, "dense_per_class", repeat)
        assert np.bincount(fold.train_codes[rows]).tolist() == [4, 4, 4]
        for label in range(3):
            mine = np.flatnonzero(fold.train_codes == label)
            assert is_dense(density, mine)[rows[fold.train_codes[rows] == label]].all()
        drawn.update(rows)
    assert len(drawn) > 50


def test_small_classes_give_all_their_rows_and_the_number_of_labels_is_the_same():
    """Two classes of Ecoli have two rows, or fewer in a fold: others make up for them."""
    fold = study_fold(datasets.load("ecoli"), 0, PROTOCOL)
    mixture = fitted_density(fold, "default", PROTOCOL)
    sizes, density = np.bincount(fold.train_codes, minlength=fold.n_classes), mixture.log_density(fold.train)
    assert sorted(sizes)[1] < 4
    for repeat in range(5):
        rows = four_per_class(fold, mixture, "dense_per_class", repeat)
        assert len(np.unique(rows)) == len(rows) == 4 * 8 == 32
        counts = np.bincount(fold.train_codes[rows], minlength=8)
        assert (counts >= np.minimum(sizes, 4)).all()
        assert counts[sizes < 4].tolist() == sizes[sizes < 4].tolist()
        n_more = 32 - np.minimum(sizes, 4).sum()
        assert is_dense(density, np.arange(len(density)))[rows].sum() >= n_more


def test_random_labels_may_be_any_rows(iris):
    fold, mixture = iris
    drawn = np.concatenate([four_per_class(fold, mixture, "random", repeat) for repeat in range(60)])
    assert len(set(drawn)) == 120
    assert np.bincount(fold.train_codes[drawn]) / len(drawn) == pytest.approx([1 / 3] * 3, abs=0.05)


def test_labels_by_components_are_rows_from_dense_regions_of_components(iris):
    """The first draw with two classes of the function that is tested below."""
    fold, mixture = iris
    random = np.random.RandomState(PROTOCOL.seed_of("iris", 0, 3, "labels"))
    expected = dense_rows(fold.train, mixture, 12, random)
    assert four_per_class(fold, mixture, "components", 3).tolist() == sorted(expected)
    assert PROTOCOL.labels == "components"


def test_labels_do_not_depend_on_the_density_of_the_kernels(iris):
    """They are drawn by the density that is given: that of the strategy "default" in a study."""
    fold, mixture = iris
    for choice in LabelChoice:
        usual = four_per_class(fold, mixture, choice)
        other = replace(with_labels(choice), density="paper", C=(1.0,), responsibilities="numbers")
        assert usual.tolist() == labelled_rows(fold, mixture, Experiment.FOUR_PER_CLASS, 0, other).tolist()


def published_sizes(experiment):
    """Read the paper's |L|, which its text does not round in words."""
    path = resources.files("mixkern_study") / "data" / f"accuracy_exp{experiment}.csv"
    rows = csv.DictReader(path.read_text("utf-8").splitlines())
    return {row["data_set"]: int(row["n_labelled"]) for row in rows if row["data_set"] != "Mean"}


def training_sizes(name):
    """Return the number of classes of a data set, and of training rows in each fold."""
    codes = np.unique(np.asarray(datasets.load(name).y).astype(str), return_inverse=True)[1]
    splitter = StratifiedKFold(PROTOCOL.n_folds, shuffle=True, random_state=PROTOCOL.seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return int(codes.max()) + 1, [len(train) for train, _ in splitter.split(codes, codes)]


def test_the_numbers_of_labels_are_the_published_ones():
    """In each fold of all twenty data sets; the paper's slips are in other figures than |L|."""
    found = {1: {}, 2: {}}
    for name in datasets.names():
        n_classes, sizes = training_sizes(name)
        for n in set(sizes):
            nothing, codes = np.empty((n, 0)), np.arange(n) % 2
            fold = StudyFold(name, 0, nothing, nothing[:0], codes, codes[:0], 0, n_classes)
            for experiment, by_title in found.items():
                rows = labelled_rows(fold, None, Experiment(experiment), 0, with_labels("random"))
                by_title.setdefault(datasets.load(name).title, set()).add(len(rows))
    for experiment, by_title in found.items():
        assert len(by_title) == 20
        assert by_title == {title: {n} for title, n in published_sizes(experiment).items()}


@pytest.mark.parametrize(("n", "share", "expected"), [(552, 0.1, 56), (640, 0.1, 64), (100, 0.14, 14), (101, 0.14, 15)])
def test_a_share_of_the_rows_is_rounded_up_and_what_floats_leave_is_not(n, share, expected):
    """0.14 times 100 is 14, though a little more in floats."""
    nothing, codes = np.empty((n, 0)), np.arange(n) % 2
    fold = StudyFold("some", 0, nothing, nothing[:0], codes, codes[:0], 0, 2)
    protocol = replace(with_labels("random"), share=share)
    assert len(labelled_rows(fold, None, Experiment.A_TENTH, 0, protocol)) == expected


def test_repeats_draw_other_labels(iris):
    fold, mixture = iris
    draws = {tuple(labelled_rows(fold, mixture, Experiment.FOUR_PER_CLASS, r, PROTOCOL)) for r in range(5)}
    assert len(draws) == 5


def test_labels_lie_in_the_denser_half_of_their_component():
    X, _ = datasets.make_ripley(random_state=0)
    mixture = VBMixture(random_state=0).fit(X).mixture_
    component, density = mixture.responsibilities(X).argmax(axis=1), mixture.log_density(X)
    for seed in range(5):
        for row in dense_rows(X, mixture, 16, np.random.RandomState(seed)):
            own = np.sort(density[component == component[row]])
            assert density[row] >= own[(len(own) - 1) // 2] - 1e-12


@pytest.mark.slow
def test_components_get_their_share():
    """Literally: over many draws, the mean number of labels of a component is its share of the rows."""
    X, _ = datasets.make_ripley(random_state=0)
    mixture = VBMixture(random_state=0).fit(X).mixture_
    component = mixture.responsibilities(X).argmax(axis=1)
    shares = np.bincount(component, minlength=mixture.n_components) / len(X)
    counts = np.zeros(mixture.n_components)
    for seed in range(400):
        drawn = dense_rows(X, mixture, 8, np.random.RandomState(seed))
        assert len(np.unique(drawn)) == 8
        here = np.bincount(component[drawn], minlength=mixture.n_components)
        assert (abs(here - 8 * shares) < 1 + 1e-9).all()
        counts += here
    np.testing.assert_allclose(counts / 400, 8 * shares, atol=0.12)


def test_all_rows_can_be_drawn():
    X, _ = datasets.make_ripley(n=40, random_state=0)
    mixture = VBMixture(random_state=0).fit(X).mixture_
    assert sorted(dense_rows(X, mixture, 40, np.random.RandomState(0))) == list(range(40))


@pytest.mark.slow
def test_a_single_class_teaches_nothing(iris):
    fold, mixture = iris
    one_class = type(fold)(**{**vars(fold), "train_codes": np.zeros(120, dtype=int)})
    with pytest.raises(StudyError, match="have found a single class"):
        labelled_rows(one_class, mixture, Experiment.FOUR_PER_CLASS, 0, PROTOCOL)


@pytest.mark.slow
def test_page_blocks_gives_several_classes():
    """Nine of ten rows are of one class: dense rows alone would nearly all be of that class."""
    fold = study_fold(datasets.load("page_blocks"), 0, PROTOCOL)
    mixture = fitted_density(fold, "default", PROTOCOL)
    counts = {
        choice: np.mean(
            [len(set(fold.train_codes[four_per_class(fold, mixture, choice, repeat)])) for repeat in range(5)]
        )
        for choice in LabelChoice
    }
    assert min(counts.values()) >= 2  # by drawing again
    assert counts["components"] > 2
    assert counts["dense_per_class"] == 5


def test_labels_of_each_class_come_from_the_denser_half_of_its_rows():
    random = np.random.RandomState(0)
    log_density, codes = random.normal(size=60), np.repeat([0, 1, 2], [30, 20, 10])
    rows = dense_rows_per_class(log_density, codes, 4, random)
    for label in range(3):
        kept = rows[codes[rows] == label]
        assert len(set(kept.tolist())) == 4
        assert log_density[kept].min() >= np.median(log_density[codes == label])


def test_a_class_of_few_rows_has_fewer_labels():
    codes = np.repeat([0, 1], [5, 2])
    assert (codes[dense_rows_per_class(np.zeros(7), codes, 4, np.random.RandomState(0))] == 1).sum() == 2
