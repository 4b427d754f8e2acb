"""What estimators give of themselves for an export; tests/export compares the predictions of the files."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mixkern import MixtureOneClassSVM, MixtureSVC, MixtureSVR, datasets
from mixkern.density import Rows
from mixkern.export import Predicted, Predictor


@pytest.fixture(scope="module")
def iris():
    data = datasets.load("iris")
    return MixtureSVC(random_state=0).fit(data.X, data.few_labels(per_class=4, random_state=0)), data.X


def test_the_decisions_add_up_to_those_of_the_classifier(iris):
    model, X = iris
    rows = model.rows_of(X)
    own, avoiding = Predictor(**model._exported_parts()).decisions
    total = own(rows) + avoiding(Rows(rows.values, avoiding.kernel.mixture))
    np.testing.assert_allclose(total, model.decide(X), atol=1e-12)


def test_two_classes_have_one_function():
    data = datasets.load("two_moons")
    model = MixtureSVC(random_state=0).fit(data.X[:200], np.where(np.arange(200) % 20, -1, data.y[:200]))
    decisions = Predictor(**model._exported_parts()).decisions
    assert [decision.coefficients.shape[1] for decision in decisions] == [1] * len(decisions)


def test_log_densities_are_those_of_rows_without_gaps(iris):
    model, X = iris
    found = Predictor(**model._exported_parts()).log_densities
    assert (np.diff(found) >= 0).all()
    np.testing.assert_allclose(found, np.sort(model.rows_of(X).log_density))


@pytest.mark.parametrize(
    ("estimator", "predicted"),
    [
        (MixtureSVC, Predicted.CLASSES),
        (MixtureSVR, Predicted.NUMBER),
        (MixtureOneClassSVM, Predicted.INLIERS),
    ],
)
def test_unfitted_estimators_are_refused(estimator, predicted, tmp_path):
    assert estimator._predicted is predicted
    with pytest.raises(NotFittedError):
        estimator().to_onnx(tmp_path / "a.onnx")
    assert not list(tmp_path.iterdir())
