"""The study and ``from_paper`` of the library are one definition of the paper's method."""

import numpy as np
import pytest

from mixkern import DensitySearch, MixtureSVC, SVCSearch, datasets
from mixkern.search import Scoring
from mixkern_study import Draw, Evaluation, Experiment, Protocol, rating, study_fold
from mixkern_study.fold import fitted_density, labelled_rows


def test_the_grids_are_the_same():
    protocol, search = Protocol(density="paper"), SVCSearch.from_paper()
    assert (protocol.C, protocol.gamma) == (search.C, search.gamma)
    assert protocol.weights == search.alpha == search.beta
    assert protocol.priors == search.estimator.density.precision_prior
    assert (protocol.n_inner_folds, protocol.max_unlabelled) == (search.cv, search.max_unlabelled)


@pytest.mark.slow
def test_the_density_is_the_same():
    protocol = Protocol(density="paper", priors=(0.1, 10.0))
    fold = study_fold(datasets.load("iris"), 0, protocol)
    seed = protocol.seed_of("iris", 0, "density")
    density = DensitySearch.from_paper(precision_prior=protocol.priors)
    model = MixtureSVC.from_paper(density=density, encoder="passthrough", random_state=seed)
    model.learn_structure(fold.train)
    assert fitted_density(fold, "paper", protocol) == model.mixture_


@pytest.mark.slow
@pytest.mark.parametrize(("batch_rows", "tolerance"), [(0, 1e-6), (rating.BATCH_ROWS, 1e-3)])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_the_choice_is_the_same(monkeypatch, name, batch_rows, tolerance):
    """On the same folds, every setting has the same errors in a search as in the study.

    Trials that are computed together agree to the tolerance of the solver, those by libsvm are the same.
    """
    monkeypatch.setattr(rating, "BATCH_ROWS", batch_rows)
    protocol = Protocol(density="paper", priors=(10.0,), C=(0.1, 1.0, 10.0), gamma=(0.01, 0.1, 1.0))
    fold = study_fold(datasets.load(name), 0, protocol)
    mixture = fitted_density(fold, "paper", protocol)
    draw = Draw(1, 0, labelled_rows(fold, mixture, Experiment(1), 0, protocol), protocol.seed_of(name, 0, 0))
    ((results, trials),) = Evaluation(fold, {"paper": mixture}, "rwm", protocol).results([draw])
    y = np.full(len(fold.train), -1)
    y[draw.labelled] = fold.train_codes[draw.labelled]
    estimator = MixtureSVC.from_paper(density=mixture, probability=False, random_state=0)
    search = SVCSearch.from_paper(estimator=estimator, C=protocol.C, gamma=protocol.gamma, random_state=draw.seed)
    search.fit(fold.train, y)
    found = {(t.C, t.gamma): (t.validation_error, t.expected_error, t.log_loss) for t in search.trials_}
    expected = {(t.C, t.gamma): (t.validation_error, t.expected_error, t.log_loss) for t in trials}
    assert found.keys() == expected.keys()
    for key, errors in expected.items():
        assert found[key][0] == errors[0]
        assert found[key] == pytest.approx(errors, rel=1e-6, abs=tolerance)
    (chosen,) = (result for result in results if result.reading == "expected_error")
    assert (search.best_.C, search.best_.gamma) == (chosen.C, chosen.gamma)
    assert -search.best_score_ == pytest.approx(chosen.rated_error, rel=1e-6, abs=tolerance)
    assert search.scoring == Scoring.NEG_EXPECTED_ERROR
    assert search.score(fold.test, fold.test_codes) == pytest.approx(chosen.accuracy)
