"""scikit-learn's tools with labels of which most are missing: as -1, as None and as NaN, in arrays and in frames."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
    cross_validate,
    learning_curve,
    validation_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixkern import MixtureSVC, MixtureSVR, SemiSupervisedSplit, SVCSearch, TableEncoder, VBMixture
from mixkern.errors import NoLabelsError, OneClassError
from mixkern.estimators.score import NoScoreWarning

N = 60
TRUE = np.arange(N) % 2
X = np.random.RandomState(0).standard_normal((N, 2)) + 4 * TRUE[:, None]
X.flags.writeable = False
FRAME = pd.DataFrame(X, columns=["a", "b"])
FEW = np.where(np.arange(N) < 16, TRUE, -1)
LABELS = {
    "-1": FEW,
    "None": np.array([None if code < 0 else "ny"[code] for code in FEW], dtype=object),
    "NaN": np.where(FEW < 0, np.nan, FEW),
    "series": pd.Series([None if code < 0 else "ny"[code] for code in FEW]),
}
TABLES = {"array": X, "frame": FRAME, "polars": pl.from_pandas(FRAME)}
QUICK = MixtureSVC(density=VBMixture(n_components=3), probability=False, random_state=0)
FOLDS = SemiSupervisedSplit(3)

each_label = pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
each_pair = pytest.mark.parametrize(  # each label and each table are in a quick one
    ("table", "y"),
    [
        pytest.param(table, y, id=f"{name}-{label}", marks=pytest.mark.slow if (i - j) % 3 else ())
        for i, (name, table) in enumerate(TABLES.items())
        for j, (label, y) in enumerate(LABELS.items())
    ],
)


def truth(y):
    """Return the true labels in the type of y."""
    return TRUE if y is FEW or np.asarray(y).dtype.kind == "f" else np.array(["n", "y"], dtype=object)[TRUE]


# ---------------------------------------------------------------- model selection


@each_pair
def test_cross_val_score(table, y):
    assert cross_val_score(QUICK, table, y, cv=FOLDS, error_score="raise").mean() == 1


@each_label
def test_grid_search(y):
    search = GridSearchCV(QUICK, {"kernel": ["rbf", "rwm"], "density__n_components": [2]}, cv=FOLDS).fit(FRAME, y)
    assert search.score(FRAME, truth(y)) == 1
    assert set(search.cv_results_["mean_test_score"]) == {1.0}


@each_label
@pytest.mark.slow
def test_curves(y):
    _, train, test = learning_curve(QUICK, X, y, cv=FOLDS, train_sizes=[0.8, 1.0], error_score="raise")
    assert np.isfinite(train).all()
    assert test[-1].mean() == 1
    _, test = validation_curve(QUICK, X, y, param_name="C", param_range=[1.0, 10.0], cv=FOLDS, error_score="raise")
    assert test.mean() == 1


@pytest.mark.slow
def test_halving_search():
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    grid = {"C": [0.1, 1.0, 10.0]}
    search = HalvingGridSearchCV(QUICK, grid, cv=FOLDS, resource="max_iter", min_resources=100, max_resources=300)
    assert search.fit(X, FEW).score(X, TRUE) == 1


@each_label
def test_plain_folds_score_the_rows_that_have_a_label(y):
    folds = (
        3 if y is FEW else KFold(3, shuffle=True, random_state=0)
    )  # with a number, scikit-learn compares the labels, and None with texts
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = cross_val_score(QUICK, X, y, cv=folds, error_score=np.nan)
    assert {each.category for each in caught} <= {NoScoreWarning, FitFailedWarning}
    assert np.nanmean(scores) == 1
    assert np.isnan(scores).any() == bool(caught)
    assert all("cv=SemiSupervisedSplit()" in str(each.message) for each in caught)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_numbers_of_folds_need_labels_that_can_be_compared():
    for y in (LABELS["None"], LABELS["NaN"], LABELS["series"]):
        with pytest.raises((TypeError, ValueError)):  # of scikit-learn, before mixkern is called
            cross_val_score(QUICK, X, y, cv=3)


def test_a_fold_without_a_label_names_the_splitter():
    model = clone(QUICK).fit(X, FEW)
    text = r"^None of the 44 rows has a label, so the score is NaN\. In .* use cv=SemiSupervisedSplit\(\)\.$"
    with pytest.warns(NoScoreWarning, match=text):
        assert np.isnan(model.score(X[16:], FEW[16:]))
    regressor = MixtureSVR(density=VBMixture(n_components=3), random_state=0).fit(X, np.where(FEW < 0, np.nan, FEW))
    text = r"^1 of the 44 rows have a target, so the score is NaN\. .* use cv=SemiSupervisedSplit\(regression=True\)\.$"
    with pytest.warns(NoScoreWarning, match=text):
        assert np.isnan(regressor.score(X[16:], [1.0] + [None] * 43))


def test_a_training_fold_of_one_class_names_the_splitter():
    with pytest.raises(OneClassError, match=r"fold of a cross-validation, use cv=SemiSupervisedSplit\(\)\."):
        QUICK.fit(X, np.where(TRUE == 0, -1, FEW))
    with pytest.raises(NoLabelsError, match=r"fold of a cross-validation, use cv=SemiSupervisedSplit\(\)\."):
        QUICK.fit(X, np.full(N, -1))


def test_regression():
    y = np.where(np.arange(N) % 3, np.nan, X[:, 0])
    model = MixtureSVR(density=VBMixture(n_components=3), random_state=0)
    assert cross_val_score(model, X, y, cv=SemiSupervisedSplit(3, regression=True)).mean() > 0.8
    assert np.isfinite(cross_val_score(model, X, y, cv=3)).all()
    model.fit(X, y)
    assert model.score(X, y) == model.score(X[::3], y[::3])


# ---------------------------------------------------------------- pipelines and frames


@each_pair
def test_pipeline(table, y):
    model = make_pipeline(StandardScaler(), QUICK).fit(table, y)
    assert model.score(table, truth(y)) == 1
    assert cross_val_score(model, table, y, cv=FOLDS, error_score="raise").mean() == 1


def test_column_transformer():
    table = FRAME.assign(town=["Kassel", "Passau", None] * (N // 3))
    scaled = ColumnTransformer([("numbers", StandardScaler(), ["a", "b"])], remainder="passthrough")
    model = make_pipeline(scaled.set_output(transform="pandas"), QUICK).fit(table, FEW)
    assert model[-1].encoder_.categorical_ == ["remainder__town"]
    assert model.score(table, TRUE) > 0.9


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@each_table
def test_set_output(table, kind):
    encoded = TableEncoder().set_output(transform=kind).fit_transform(table)
    assert type(encoded).__module__.partition(".")[0] == kind
    expected = ["a", "b"] if table is not X else ["x0", "x1"]
    assert list(encoded.columns) == expected
    np.testing.assert_array_equal(encoded.to_numpy(), TableEncoder().fit_transform(table))
    pipeline = make_pipeline(TableEncoder(), MixtureSVC(density=VBMixture(), encoder="passthrough", probability=False))
    assert pipeline.set_output(transform=kind).fit(table, FEW).score(table, TRUE) == 1
    assert list(pipeline[-1].feature_names_in_) == expected


@each_label
def test_permutation_importance(y):
    model = clone(QUICK).fit(FRAME, y)
    found = permutation_importance(model, FRAME, y, n_repeats=2, random_state=0)
    assert np.isfinite(found.importances).all()
    assert found.importances_mean.max() > 0


# ---------------------------------------------------------------- meta-estimators


def test_calibration():
    labelled = FEW >= 0
    few = CalibratedClassifierCV(QUICK, cv=2).fit(X[labelled], FEW[labelled])
    assert few.score(X, TRUE) == 1
    frozen = FrozenEstimator(clone(QUICK).fit(X, FEW))  # the density of all rows
    calibrated = CalibratedClassifierCV(frozen).fit(X[labelled], FEW[labelled])
    assert calibrated.score(X, TRUE) == 1
    assert calibrated.classes_.tolist() == [0, 1]
    with pytest.raises((TypeError, ValueError)):  # of scikit-learn, before mixkern is called
        CalibratedClassifierCV(QUICK, cv=2).fit(X, LABELS["None"])


@pytest.mark.parametrize("ensemble", [VotingClassifier, StackingClassifier])
def test_ensembles_of_labelled_rows(ensemble):
    density = clone(QUICK).fit(X, FEW)
    rows, labelled = density.encoder_.transform(X), FEW >= 0
    informed = MixtureSVC(density=density.mixture_, random_state=0)
    model = ensemble([("mixture", informed), ("line", LogisticRegression())])
    assert model.fit(rows[labelled], FEW[labelled]).score(rows, TRUE) == 1


# ---------------------------------------------------------------- metadata, copies, processes


def test_metadata_routing():
    weights = np.where(np.arange(N) == 0, 100.0, 1.0)
    with config_context(enable_metadata_routing=True):
        model = clone(QUICK).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        direct = clone(QUICK).fit(X, FEW, sample_weight=weights)
        routed = make_pipeline(TableEncoder(), clone(model).set_params(encoder="passthrough"))
        routed.fit(X, FEW, sample_weight=weights)
        np.testing.assert_allclose(routed.decision_function(X), direct.decision_function(X))
        search = GridSearchCV(model, {"C": [1.0]}, cv=FOLDS).fit(X, FEW, sample_weight=weights)
        by_hand = clone(QUICK).set_params(C=1.0).fit(X, FEW, sample_weight=weights)
        np.testing.assert_array_equal(search.decision_function(X), by_hand.decision_function(X))
        scores = cross_validate(model, X, FEW, cv=FOLDS, params={"sample_weight": weights}, error_score="raise")
        assert scores["test_score"].mean() == 1


@each_label
def test_clone_and_pickle(y):
    model = clone(QUICK).fit(FRAME, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    assert not hasattr(clone(model), "classes_")
    np.testing.assert_array_equal(clone(model).fit(FRAME, y).predict(FRAME), model.predict(FRAME))


def test_searches_inside_tools():
    search = SVCSearch(QUICK, C=[1.0, 10.0], gamma=[0.1], cv=2, random_state=0)
    assert cross_val_score(search, FRAME, LABELS["None"], cv=FOLDS, error_score="raise").mean() == 1
    assert make_pipeline(StandardScaler(), search).fit(FRAME, FEW).score(FRAME, FEW) == 1


@pytest.mark.slow
def test_processes():
    found = Parallel(n_jobs=2)(delayed(clone(QUICK).fit)(X, y) for y in LABELS.values())
    for model, y in zip(found, LABELS.values(), strict=True):
        np.testing.assert_array_equal(model.predict(X), clone(QUICK).fit(X, y).predict(X))
    scores = cross_val_score(QUICK, X, FEW, cv=FOLDS, n_jobs=2, error_score="raise")
    np.testing.assert_array_equal(scores, cross_val_score(QUICK, X, FEW, cv=FOLDS, error_score="raise"))
