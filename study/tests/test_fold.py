"""Folds, densities and the choice of labels."""

import math
from dataclasses import replace

import numpy as np
import pytest

from mixkern import DensitySearch, VBMixture, datasets
from mixkern.density import Mixture
from mixkern.density.preprocessing import jitter
from mixkern_study import Experiment, Protocol, study_fold
from mixkern_study.fold import dense_rows, density_names, fitted_density, labelled_rows
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
    """Those of the paper's strategy have no mergers."""
    fold, seed = study_fold(datasets.load("iris"), 0, PROTOCOL), PROTOCOL.seed_of("iris", 0, "density")
    protocol = replace(PROTOCOL, density="paper")
    assert density_names(protocol) == ["paper", "paper w0=0.1", "paper w0=1.0"]
    rows = jitter(fold.train, 4, np.random.RandomState(seed))
    for name, merge in (("w0=1.0", True), ("paper w0=1.0", False)):
        expected = VBMixture(merge=merge, precision_prior=1.0, random_state=seed).fit(rows).mixture_
        assert fitted_density(fold, name, protocol) == expected


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


def test_a_single_class_teaches_nothing(iris):
    fold, mixture = iris
    one_class = type(fold)(**{**vars(fold), "train_codes": np.zeros(120, dtype=int)})
    with pytest.raises(StudyError, match="have found a single class"):
        labelled_rows(one_class, mixture, Experiment.FOUR_PER_CLASS, 0, PROTOCOL)


@pytest.mark.slow
def test_page_blocks_gives_several_classes():
    """Nine of ten rows are of one class: dense rows alone would all be of that class."""
    fold = study_fold(datasets.load("page_blocks"), 0, PROTOCOL)
    mixture = fitted_density(fold, "default", PROTOCOL)
    counts = [
        len(set(fold.train_codes[labelled_rows(fold, mixture, Experiment.FOUR_PER_CLASS, r, PROTOCOL)]))
        for r in range(5)
    ]
    assert np.mean(counts) > 2
