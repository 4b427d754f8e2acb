"""One kernel on one fold, against literal searches; no reading uses labels that are hidden from it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixkern import datasets
from mixkern.kernels import LaplacianKernel, RBFKernel, RWMKernel, definiteness
from mixkern_study import Draw, Evaluation, Experiment, Protocol, study_fold
from mixkern_study import evaluation as evaluation_module
from mixkern_study.evaluation import Candidate, ratios
from mixkern_study.fold import density_names, fitted_density, labelled_rows
from mixkern_study.protocol import RATED
from mixkern_study.rating import rated

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


def evaluated(fold, densities, kernel, protocol, draw):
    """Return the results and the stored trials of one draw of labels."""
    (found,) = Evaluation(fold, densities, kernel, protocol).results([draw])
    return found


def lying_about(fold, draw):
    """Shuffle the labels of unlabelled rows and of test rows."""
    lies = np.array(fold.train_codes)
    hidden = np.setdiff1d(np.arange(len(lies)), draw.labelled)
    lies[hidden] = np.random.RandomState(0).permutation(lies[hidden])
    return replace(fold, train_codes=lies, test_codes=fold.test_codes[::-1])


def best_of(trials, error):
    """Return the least error of each density, C and gamma: trials with other ratios are not stored."""
    found = {}
    for each in trials:
        found.setdefault((each.density, each.C, each.gamma), []).append(getattr(each, error))
    return {key: min(errors) for key, errors in found.items()}


def by_reading(results):
    return {result.reading: result for result in results}


def settings(result):
    return result.density, result.C, result.gamma, result.alpha, result.beta, repr(result.ratio)


@pytest.mark.parametrize("kernel", ["rbf", "rwm", "lap"])
def test_the_accuracy_is_that_of_a_plain_svm_with_the_chosen_settings(iris, kernel):
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    results, _ = evaluated(fold, densities, kernel, SMALL, draw)
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
    results, trials = evaluated(fold, densities, "rbf", SMALL, draw)
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
        true, trials = evaluated(fold, densities, kernel, SMALL, draw)
        misled, other_trials = evaluated(lying, densities, kernel, SMALL, draw)
        a, b = by_reading(true)["expected_error"], by_reading(misled)["expected_error"]
        assert settings(a) == settings(b)
        assert best_of(trials, "expected_error") == best_of(other_trials, "expected_error")
        assert best_of(trials, "optimistic_error") != best_of(other_trials, "optimistic_error")


@pytest.mark.parametrize("repeat", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2, 3))])
@pytest.mark.slow
def test_no_reading_uses_hidden_labels_where_columns_are_weighed(heart, repeat):
    """Settings that were tried for a reading with more labels cannot be chosen."""
    fold, densities = heart
    protocol = replace(SMALL, weights=(0.0, 0.2, 0.5, 1.0))
    draw = draw_of(fold, densities["default"], repeat=repeat)
    for kernel in ("rwm", "rbf"):
        true, misled = (
            by_reading(evaluated(each, densities, kernel, protocol, draw)[0])["expected_error"]
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
            by_reading(evaluated(each, densities, kernel, protocol, draw)[0])["expected_error"]
            for each in (fold, lying_about(fold, draw))
        )
        assert settings(true) == settings(misled)


def test_test_labels_change_nothing_but_the_accuracy(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    other = replace(fold, test_codes=(fold.test_codes + 1) % 3)
    for kernel in ("rwm", "lap"):
        a, b = (evaluated(each, densities, kernel, SMALL, draw)[0] for each in (fold, other))
        assert [settings(r) for r in a] == [settings(r) for r in b]
        assert [r.accuracy for r in a] != [r.accuracy for r in b]


@pytest.mark.parametrize("kernel", ["rwm", "gmm"])
def test_the_papers_own_density_is_taken_as_it_is(iris, kernel):
    fold, densities = iris
    own = {"paper": densities["default"]}
    evaluation = Evaluation(fold, own, kernel, replace(SMALL, density="paper"))
    assert evaluation.densities == own
    assert own["paper"].steadied(len(fold.train)) != own["paper"]
    assert Evaluation(fold, densities, "rwm", SMALL).densities["default"] == densities["default"].steadied(
        len(fold.train)
    )


def test_only_the_ceiling_chooses_among_densities(iris):
    fold, densities = iris
    results, trials = evaluated(fold, densities, "rwm", SMALL, draw_of(fold, densities["default"]))
    found = by_reading(results)
    assert found["expected_error"].density == found["optimistic"].density == "default"
    assert found["ceiling"].rated_error <= found["optimistic"].rated_error
    assert found["ceiling"].rated_error == min(t.optimistic_error for t in trials)
    assert {trial.density for trial in trials} == {"default", "w0=0.1", "w0=10.0"}


def test_kernels_without_a_density_have_one_ceiling(iris):
    fold, densities = iris
    for kernel in ("rbf", "lap"):
        found = by_reading(evaluated(fold, densities, kernel, SMALL, draw_of(fold, densities["default"]))[0])
        assert settings(found["ceiling"]) == settings(found["optimistic"])
        assert found["ceiling"].density == ""


@pytest.mark.parametrize("kernel", ["rwm", pytest.param("lap", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_draws_together_are_draws_alone(iris, kernel):
    fold, densities = iris
    draws = [draw_of(fold, densities["default"], e, r) for e, r in ((1, 0), (1, 1), (2, 0), (3, 0))]
    together = Evaluation(fold, densities, kernel, SMALL).results(draws)
    for draw, (results, trials) in zip(draws, together, strict=True):
        alone, _ = evaluated(fold, densities, kernel, SMALL, draw)
        assert [(settings(r), r.accuracy) for r in results] == [(settings(r), r.accuracy) for r in alone]
        assert {(r.experiment, r.repeat) for r in (*results, *trials)} == {(draw.experiment, draw.repeat)}


def test_with_all_labels_there_is_nothing_to_be_optimistic_about(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"], experiment=3)
    found = by_reading(evaluated(fold, densities, "rwm", SMALL, draw)[0])
    assert settings(found["expected_error"]) == settings(found["optimistic"])
    assert found["optimistic"].n_labelled == 120


def test_many_labels_are_rated_on_some_and_trained_on_all():
    """All settings on 40 rows, the best two on 60, the best one trained on 142."""
    protocol = replace(SMALL, scout_rows=40, max_labelled=60, n_finalists=2, priors=())
    fold, densities = situation("wine", protocol)
    draw = draw_of(fold, densities["default"], 3, protocol=protocol)
    results, trials = evaluated(fold, densities, "rbf", protocol, draw)
    assert len(trials) == 2
    assert {result.n_trials for result in results} == {4 + 2}
    assert results[0].n_labelled == len(fold.train) == 142
    scouts, _ = evaluated(fold, densities, "rbf", replace(protocol, scout_rows=200), draw)
    assert {result.n_trials for result in scouts} == {4}


def test_finalists_are_the_best_of_the_scouts():
    protocol = replace(SMALL, scout_rows=40, max_labelled=142, n_finalists=3, priors=())
    fold, densities = situation("wine", protocol)
    draw = draw_of(fold, densities["default"], 3, protocol=protocol)
    _, first = evaluated(fold, densities, "rbf", replace(protocol, max_labelled=40, n_finalists=4), draw)
    best = sorted((trial for trial in first), key=lambda trial: (trial.validation_error, trial.log_loss))[:3]
    _, final = evaluated(fold, densities, "rbf", protocol, draw)
    assert {(t.C, t.gamma) for t in final} == {(t.C, t.gamma) for t in best}


MIXED = replace(SMALL, weights=(0.0, 0.2, 0.5, 1.0), ceiling_weights=(0.0, 1.0))


@pytest.fixture
def tried(monkeypatch):
    """Record the settings of each call of the function that rates them."""
    calls = []

    def recorded(ratings, settings):
        found = rated(ratings, settings)
        calls.append((ratings, settings, found))
        return found

    monkeypatch.setattr(evaluation_module, "rated", recorded)
    return calls


def literal_grid(protocol, weights):
    """Return every C with every kernel that differs: kernels depend on gamma alpha and gamma beta."""
    kernels = {
        (f"{gamma * alpha:.9g}", f"{gamma * beta:.9g}")
        for gamma in protocol.gamma
        for alpha in weights
        for beta in weights
        if alpha or beta
    }
    return {(kernel, C) for kernel in kernels for C in protocol.C}


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["rwm", "rbf"])
def test_mixed_tables_try_all_alpha_and_beta_with_each_cost_and_gamma(heart, tried, kernel):
    """The full grid for the density without labels, alpha = 0 included; a coarser one for those of the ceiling."""
    fold, densities = heart
    results, _ = evaluated(fold, densities, kernel, MIXED, draw_of(fold, densities["default"]))
    n_trials = 0
    for i, (_, settings, (trials,)) in enumerate(tried):
        visited = [(point.key[1:3], C) for point, values in settings for C in values]
        assert len(visited) == len(set(visited)) == len(trials)  # no kernel twice
        assert set(visited) == literal_grid(MIXED, MIXED.ceiling_weights if i else MIXED.weights)
        assert {trial.alpha for trial in trials} >= {0.0, 1.0}
        n_trials += len(trials)
    assert len(tried) == (3 if kernel == "rwm" else 1)
    assert {result.n_trials for result in results} == {n_trials}


@pytest.mark.slow
def test_the_papers_grid_of_a_mixed_table_is_tried_in_full(heart):
    """Eleven values of alpha and of beta, six of gamma and of C, without alpha = beta = 0 and without equal kernels."""
    fold, densities = heart
    evaluation = Evaluation(fold, densities, "rwm", Protocol())
    found = evaluation._settings("default")
    pairs = {(point.alpha, point.beta) for point, _ in found if point.gamma == 0.001}
    assert pairs == {(a, b) for a in Protocol().weights for b in Protocol().weights if a or b}
    assert {(point.key[1:3], C) for point, values in found for C in values} == literal_grid(
        Protocol(), Protocol().weights
    )
    assert all(values == Protocol().C for _, values in found)


def test_the_best_of_each_cost_and_gamma_by_each_reading_is_stored(heart, tried):
    """Literally, among all trials of a draw."""
    fold, densities = heart
    _, stored = evaluated(fold, densities, "rwm", MIXED, draw_of(fold, densities["default"]))
    everything = [(name, trial) for name, (*_, (trials,)) in zip(densities, tried, strict=True) for trial in trials]
    expected = set()
    for error, names in (
        ("expected_error", ["default"]),
        ("optimistic_error", ["default"]),
        ("optimistic_error", list(densities)),
    ):
        for name in names:
            for C in MIXED.C:
                for gamma in MIXED.gamma:
                    mine = [t for d, t in everything if (d, t.C, t.gamma) == (name, C, gamma)]
                    best = min(mine, key=lambda t: (getattr(t, error), t.log_loss))
                    expected.add((name, C, gamma, best.alpha, best.beta))
    found = [(t.density, t.C, t.gamma, t.alpha, t.beta) for t in stored]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_labels_of_many_rows_are_rated_on_some_first_where_weights_are_swept(heart, tried):
    """The full grid on ``sweep_rows``, the best by each reading on all labels; none is chosen by an earlier reading."""
    fold, densities = heart
    protocol = replace(MIXED, sweep_rows=12, n_sweep_finalists=2, scout_rows=300)
    draw = draw_of(fold, densities["default"], 2)
    assert 12 < len(draw.labelled) < 300
    results, stored = evaluated(fold, densities, "rwm", protocol, draw)
    assert [len(ratings[0].codes) for ratings, *_ in tried] == [12] * 3 + [len(draw.labelled)] * (len(tried) - 3)
    finals = sum(len(found[0]) for *_, found in tried[3:])
    assert 2 <= finals <= 3 * 2
    assert len(stored) <= finals
    assert {result.n_trials for result in results} == {sum(len(found[0]) for *_, found in tried)}


def test_a_sweep_has_three_stages(heart, tried):
    """All settings on ``sweep_rows``, the best on ``scout_rows``, the best of these on all labels."""
    fold, densities = heart
    protocol = replace(MIXED, sweep_rows=12, n_sweep_finalists=5, scout_rows=30, n_finalists=2, priors=())
    densities = {"default": densities["default"]}
    draw = draw_of(fold, densities["default"], 3)
    results, stored = evaluated(fold, densities, "rwm", protocol, draw)
    (first,), (second,), (third,) = (found for *_, found in tried)
    assert [len(ratings[0].codes) for ratings, *_ in tried] == [12, 30, len(fold.train)]
    assert [len(first), len(second), len(third)] == [len(literal_grid(MIXED, MIXED.weights)), 5, 2]

    def best(trials, n):
        ordered = sorted(trials, key=lambda trial: (trial.validation_error, trial.log_loss))[:n]
        return {(trial.point.key, trial.C) for trial in ordered}

    assert best(second, 5) == best(first, 5)
    assert best(third, 2) == best(second, 2)
    assert {result.n_trials for result in results} == {len(first) + 5 + 2}
    assert len(stored) == len({(trial.C, trial.gamma) for trial in third})
    chosen = {(result.C, result.gamma, result.alpha, result.beta) for result in results}
    (winner,) = best(third, 1)
    assert chosen == {(t.C, t.gamma, t.alpha, t.beta) for t in third if (t.point.key, t.C) == winner}


def test_a_reading_never_chooses_what_a_later_one_alone_has_rated(iris):
    """Candidates that were rated on all rows for the ceiling are there for the ceiling alone, however good they are."""
    fold, densities = iris
    evaluation = Evaluation(fold, densities, "rwm", SMALL)
    rating = evaluation._rows["default"].rating(draw_of(fold, densities["default"]), 300)
    (trials,) = rated([rating], evaluation._settings("default"))
    perfect = replace(trials[0], validation_error=0.0, expected_error=-1.0, optimistic_error=0.0, log_loss=0.0)
    usual = [Candidate("default", replace(t, validation_error=0.5, expected_error=0.5)) for t in trials[1:]]
    for i, first in enumerate(RATED):
        late = Candidate("default", perfect, first)
        for j, reading in enumerate(RATED):
            assert (evaluation._best([*usual, late], reading) is late) == (j >= i)


def test_responsibilities_from_numbers_change_rwm_alone(heart):
    fold, densities = heart
    numbers = replace(SMALL, responsibilities="numbers")
    for kernel in ("rwm", "gmm"):
        usual, other = (Evaluation(fold, densities, kernel, each).densities for each in (SMALL, numbers))
        assert (usual == other) == (kernel == "gmm")
    steadied = densities["default"].steadied(len(fold.train))
    found = Evaluation(fold, densities, "rwm", numbers).densities["default"]
    assert found == steadied.with_common_categories()
    # Literally: categories that are equally frequent in all components say nothing about the component.
    rows = fold.train[:20]
    other_categories = fold.train[20:40].copy()
    n_numbers = rows.shape[1] - fold.n_categorical
    other_categories[:, :n_numbers] = rows[:, :n_numbers]
    np.testing.assert_allclose(found.responsibilities(rows), found.responsibilities(other_categories), atol=1e-12)
    assert abs(steadied.responsibilities(rows) - steadied.responsibilities(other_categories)).max() > 0.01


@pytest.mark.slow
def test_gaps_are_no_obstacle():
    fold, densities = situation("credit_a", replace(SMALL, weights=(0.0, 1.0), C=(1.0,), gamma=(0.1,), priors=()))
    protocol = replace(SMALL, weights=(0.0, 1.0), C=(1.0,), gamma=(0.1,), priors=())
    assert np.isnan(fold.train).any()
    for kernel in ("rwm", "rbf", "lap"):
        results, _ = evaluated(fold, densities, kernel, protocol, draw_of(fold, densities["default"]))
        assert all(0.3 < result.accuracy <= 1 for result in results)


def test_classes_without_labels_are_never_predicted():
    fold, densities = situation("ecoli", replace(SMALL, priors=()))
    rows = np.sort(np.concatenate([np.flatnonzero(fold.train_codes == code)[:6] for code in (0, 5)]))
    draw = Draw(1, 0, rows, 0)
    known = set(fold.train_codes[rows])
    assert len(known) == 2
    best_possible = np.isin(fold.test_codes, list(known)).mean()
    for result in evaluated(fold, densities, "rbf", replace(SMALL, priors=()), draw)[0]:
        assert result.accuracy <= best_possible


def test_a_graph_of_some_rows(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"])
    results, _ = evaluated(fold, densities, "lap", replace(SMALL, max_graph_rows=50), draw)
    assert all(result.accuracy > 0.7 for result in results)


def test_definiteness_is_that_of_the_matrix_trained_on(iris):
    fold, densities = iris
    draw = draw_of(fold, densities["default"], 2)
    for result in evaluated(fold, densities, "rwm", SMALL, draw)[0]:
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
