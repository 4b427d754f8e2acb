"""One kernel on one fold, against literal searches; no reading uses labels that are hidden from it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixkern import datasets
from mixkern.kernels import LaplacianKernel, RBFKernel, RWMKernel, definiteness
from mixkern.search.grid import KernelPoint
from mixkern_study import Draw, Evaluation, Experiment, Protocol, study_fold
from mixkern_study.evaluation import ratios
from mixkern_study.fold import density_names, fitted_density, labelled_rows

SMALL = Protocol(C=(0.1, 10.0), gamma=(0.05, 1.0), priors=(0.1, 10.0), intrinsic=(0.01, 1.0), ambient=(0.01, 1.0))


def situation(name, protocol=SMALL, number=0):
    fold = study_fold(datasets.load(name), number, protocol)
    return fold, {each: fitted_density(fold, each, protocol) for each in density_names(protocol)}


@pytest.fixture(scope="module")
def iris():
    return situation("iris")


@pytest.fixture(scope="module")
def heart():
    return situation("heart", replace(SMALL, weights=(0.0, 0.5, 1.0)))


def draw_of(fold, mixture, experiment=1, repeat=0, protocol=SMALL):
    rows = labelled_rows(fold, mixture, Experiment(experiment), repeat, protocol)
    return Draw(experiment, repeat, rows, protocol.seed_of(fold.data_set, fold.number, repeat))


def lying_about(fold, draw):
    """Shuffle the labels of unlabelled rows and of test rows."""
    lies = np.array(fold.train_codes)
    hidden = np.setdiff1d(np.arange(len(lies)), draw.labelled)
    lies[hidden] = np.random.RandomState(0).permutation(lies[hidden])
    return replace(fold, train_codes=lies, test_codes=fold.test_codes[::-1])


def by_reading(results):
    return {result.reading: result for result in results}


def settings(result):
    return result.density, result.C, result.gamma, result.alpha, result.beta, repr(result.ratio)


@pytest.mark.parametrize("kernel", ["rbf", "rwm", "lap"])
def test_the_accuracy_is_that_of_a_plain_svm_with_the_chosen_settings(iris, kernel):
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    results, _ = Evaluation(fold, densities, kernel, SMALL).results([draw])
    rows, codes = fold.train[draw.labelled], fold.train_codes[draw.labelled]
    for result in results:
        if kernel == "rbf":
            among, towards = (rbf_kernel(each, rows, gamma=result.gamma) for each in (rows, fold.test))
        else:
            whole = {
                "rwm": lambda r=result: RWMKernel(densities[r.density].steadied(len(fold.train)), r.gamma),
                "lap": lambda r=result: LaplacianKernel(RBFKernel(r.gamma), fold.train, ratio=r.ratio),
            }[kernel]()
            among, towards = whole(rows), whole(fold.test, rows)
        svm = SVC(kernel="precomputed", C=result.C, break_ties=True).fit(among, codes)
        assert result.accuracy == pytest.approx((svm.predict(towards) == fold.test_codes).mean())
        assert result.n_support == len(svm.support_)
        assert result.n_labelled == 12


def test_the_optimistic_choice_in_plain_loops(iris):
    """Every setting is rated by errors on rows left out and on unlabelled rows; the fewest win."""
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    results, trials = Evaluation(fold, densities, "rbf", SMALL).results([draw])
    rows, codes = fold.train[draw.labelled], fold.train_codes[draw.labelled]
    others = np.setdiff1d(np.arange(len(fold.train)), draw.labelled)
    for trial in trials:
        svm = SVC(gamma=trial.gamma, C=trial.C, break_ties=True).fit(rows, codes)
        wrong = (svm.predict(fold.train[others]) != fold.train_codes[others]).sum()
        n_left_out = round(trial.validation_error * len(codes))
        assert trial.optimistic_error == pytest.approx((wrong + n_left_out) / len(fold.train))
    best = min(trials, key=lambda each: (each.optimistic_error, each.log_loss))
    assert (by_reading(results)["optimistic"].C, by_reading(results)["optimistic"].gamma) == (best.C, best.gamma)


def test_no_reading_uses_hidden_labels(iris):
    """With other labels on unlabelled rows and test rows, the honest choice is the same."""
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    lying = lying_about(fold, draw)
    for kernel in ("rwm", "gmm", "rbf", "lap"):
        true, trials = Evaluation(fold, densities, kernel, SMALL).results([draw])
        misled, other_trials = Evaluation(lying, densities, kernel, SMALL).results([draw])
        a, b = by_reading(true)["expected_error"], by_reading(misled)["expected_error"]
        assert settings(a) == settings(b)
        assert [t.expected_error for t in trials] == [t.expected_error for t in other_trials]
        assert [t.optimistic_error for t in trials] != [t.optimistic_error for t in other_trials]


@pytest.mark.parametrize("repeat", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2, 3))])
@pytest.mark.slow
def test_no_reading_uses_hidden_labels_where_columns_are_weighed(heart, repeat):
    """Settings that were tried for a reading with more labels cannot be chosen."""
    fold, densities = heart
    protocol = replace(SMALL, weights=(0.0, 0.2, 0.5, 1.0))
    draw = draw_of(fold, densities["default"], repeat=repeat)
    for kernel in ("rwm", "rbf"):
        true, misled = (
            by_reading(Evaluation(each, densities, kernel, protocol).results([draw])[0])["expected_error"]
            for each in (fold, lying_about(fold, draw))
        )
        assert settings(true) == settings(misled)


@pytest.mark.parametrize("repeat", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2, 3))])
def test_no_reading_uses_hidden_labels_in_the_final(iris, repeat):
    fold, densities = iris
    protocol = replace(SMALL, scout_rows=8, n_finalists=2)
    draw = draw_of(fold, densities["default"], 2, repeat)
    for kernel in ("rwm", "lap"):
        true, misled = (
            by_reading(Evaluation(each, densities, kernel, protocol).results([draw])[0])["expected_error"]
            for each in (fold, lying_about(fold, draw))
        )
        assert settings(true) == settings(misled)


def test_test_labels_change_nothing_but_the_accuracy(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    other = replace(fold, test_codes=(fold.test_codes + 1) % 3)
    for kernel in ("rwm", "lap"):
        a, b = (Evaluation(each, densities, kernel, SMALL).results([draw])[0] for each in (fold, other))
        assert [settings(r) for r in a] == [settings(r) for r in b]
        assert [r.accuracy for r in a] != [r.accuracy for r in b]


def test_the_papers_own_density_is_taken_as_it_is(iris):
    fold, densities = iris
    own = {"representativity": densities["default"]}
    evaluation = Evaluation(fold, own, "rwm", replace(SMALL, density="representativity"))
    assert evaluation.densities == own
    assert Evaluation(fold, densities, "rwm", SMALL).densities["default"] == densities["default"].steadied(
        len(fold.train)
    )


def test_only_the_ceiling_chooses_among_densities(iris):
    fold, densities = iris
    results, trials = Evaluation(fold, densities, "rwm", SMALL).results([draw_of(fold, densities["default"])])
    found = by_reading(results)
    assert found["expected_error"].density == found["optimistic"].density == "default"
    assert found["ceiling"].rated_error <= found["optimistic"].rated_error
    assert found["ceiling"].rated_error == min(t.optimistic_error for t in trials)
    assert {trial.density for trial in trials} == {"default", "w0=0.1", "w0=10.0"}


def test_kernels_without_a_density_have_one_ceiling(iris):
    fold, densities = iris
    for kernel in ("rbf", "lap"):
        found = by_reading(Evaluation(fold, densities, kernel, SMALL).results([draw_of(fold, densities["default"])])[0])
        assert settings(found["ceiling"]) == settings(found["optimistic"])
        assert found["ceiling"].density == ""


@pytest.mark.parametrize("kernel", ["rwm", pytest.param("lap", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_draws_together_are_draws_alone(iris, kernel):
    fold, densities = iris
    draws = [draw_of(fold, densities["default"], e, r) for e, r in ((1, 0), (1, 1), (2, 0), (3, 0))]
    together, trials = Evaluation(fold, densities, kernel, SMALL).results(draws)
    alone = [result for draw in draws for result in Evaluation(fold, densities, kernel, SMALL).results([draw])[0]]
    assert [(settings(r), r.accuracy) for r in together] == [(settings(r), r.accuracy) for r in alone]
    assert {(trial.experiment, trial.repeat) for trial in trials} == {(1, 0), (1, 1), (2, 0), (3, 0)}


def test_with_all_labels_there_is_nothing_to_be_optimistic_about(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"], experiment=3)
    found = by_reading(Evaluation(fold, densities, "rwm", SMALL).results([draw])[0])
    assert settings(found["expected_error"]) == settings(found["optimistic"])
    assert found["optimistic"].n_labelled == 120


def test_many_labels_are_rated_on_some_and_trained_on_all():
    """All settings on 40 rows, the best two on 60, the best one trained on 142."""
    protocol = replace(SMALL, scout_rows=40, max_labelled=60, n_finalists=2, priors=())
    fold, densities = situation("wine", protocol)
    draw = draw_of(fold, densities["default"], 3, protocol=protocol)
    results, trials = Evaluation(fold, densities, "rbf", protocol).results([draw])
    assert len(trials) == 2
    assert {result.n_trials for result in results} == {4 + 2}
    assert results[0].n_labelled == len(fold.train) == 142
    scouts, _ = Evaluation(fold, densities, "rbf", replace(protocol, scout_rows=200)).results([draw])
    assert {result.n_trials for result in scouts} == {4}


def test_finalists_are_the_best_of_the_scouts():
    protocol = replace(SMALL, scout_rows=40, max_labelled=142, n_finalists=3, priors=())
    fold, densities = situation("wine", protocol)
    evaluation = Evaluation(fold, densities, "rbf", protocol)
    draw = draw_of(fold, densities["default"], 3, protocol=protocol)
    _, first = Evaluation(fold, densities, "rbf", replace(protocol, max_labelled=40, n_finalists=4)).results([draw])
    best = sorted((trial for trial in first), key=lambda trial: (trial.validation_error, trial.log_loss))[:3]
    _, final = evaluation.results([draw])
    assert {(t.C, t.gamma) for t in final} == {(t.C, t.gamma) for t in best}


def test_mixed_tables_weigh_both_kinds_of_columns(heart):
    fold, densities = heart
    protocol = replace(SMALL, weights=(0.0, 0.5, 1.0))
    results, trials = Evaluation(fold, densities, "rwm", protocol).results([draw_of(fold, densities["default"])])
    visited = [(t.density, KernelPoint(t.gamma, t.alpha, t.beta).key, t.C) for t in trials]
    assert len(visited) == len(set(visited))  # no kernel twice
    best = by_reading(results)["optimistic"]
    pairs = {(t.alpha, t.beta) for t in trials if (t.C, t.gamma, t.density) == (best.C, best.gamma, "default")}
    assert {(0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.5, 0.5)} <= pairs


@pytest.mark.slow
def test_gaps_are_no_obstacle():
    fold, densities = situation("credit_a", replace(SMALL, weights=(0.0, 1.0), C=(1.0,), gamma=(0.1,), priors=()))
    protocol = replace(SMALL, weights=(0.0, 1.0), C=(1.0,), gamma=(0.1,), priors=())
    assert np.isnan(fold.train).any()
    for kernel in ("rwm", "rbf", "lap"):
        results, _ = Evaluation(fold, densities, kernel, protocol).results([draw_of(fold, densities["default"])])
        assert all(0.3 < result.accuracy <= 1 for result in results)


def test_classes_without_labels_are_never_predicted():
    fold, densities = situation("ecoli", replace(SMALL, priors=()))
    rows = np.sort(np.concatenate([np.flatnonzero(fold.train_codes == code)[:6] for code in (0, 5)]))
    draw = Draw(1, 0, rows, 0)
    known = set(fold.train_codes[rows])
    assert len(known) == 2
    best_possible = np.isin(fold.test_codes, list(known)).mean()
    for result in Evaluation(fold, densities, "rbf", replace(SMALL, priors=())).results([draw])[0]:
        assert result.accuracy <= best_possible


def test_a_graph_of_some_rows(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    results, _ = Evaluation(fold, densities, "lap", replace(SMALL, max_graph_rows=50)).results([draw])
    assert all(result.accuracy > 0.7 for result in results)


def test_definiteness_is_that_of_the_matrix_trained_on(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"], 2)
    for result in Evaluation(fold, densities, "rwm", SMALL).results([draw])[0]:
        kernel = RWMKernel(densities[result.density].steadied(len(fold.train)), result.gamma)
        report = definiteness(kernel(fold.train[draw.labelled]))
        assert result.smallest_eigenvalue == pytest.approx(report.smallest, abs=1e-12)
        assert result.negative_mass == pytest.approx(report.negative_mass, abs=1e-12)


def test_ratios_of_the_papers_grid():
    found = ratios(Protocol())
    assert [ratio for ratio, _ in found] == pytest.approx([10.0**i for i in range(-8, 9)])
    assert sum(len(C) for _, C in found) == 81
    assert dict(found)[1e8] == (1e6,)
    assert dict(found)[1.0] == pytest.approx([10.0**i for i in range(-2, 7)])
