import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from mixkern import MixtureSVC, MixtureSVR, VBMixture
from mixkern.errors import LabelError, LengthError

N = 40
TRUE = np.arange(N) % 2
X = np.random.RandomState(0).standard_normal((N, 2)) + TRUE[:, None]
DENSITY = VBMixture(n_components=3)
FEW = np.where(np.arange(N) < 20, TRUE, -1)
WEIGHTS = np.random.RandomState(1).uniform(0.5, 2, N)


def test_accuracy_is_that_of_the_labelled_rows():
    model = MixtureSVC(density=DENSITY, probability=False, random_state=0).fit(X, FEW)
    predicted = model.predict(X)
    assert model.score(X, TRUE) == accuracy_score(TRUE, predicted)
    assert model.score(X, TRUE, WEIGHTS) == accuracy_score(TRUE, predicted, sample_weight=WEIGHTS)
    assert model.score(X, FEW) == accuracy_score(TRUE[:20], predicted[:20])
    assert model.score(X, FEW, WEIGHTS) == accuracy_score(TRUE[:20], predicted[:20], sample_weight=WEIGHTS[:20])
    assert model.score(X, TRUE + 5) == 0  # classes that were absent in fit


def test_r_squared_is_that_of_the_rows_with_a_target():
    y = np.where(np.arange(N) < 20, X[:, 0], np.nan)
    model = MixtureSVR(density=DENSITY, random_state=0).fit(X, y)
    assert model.score(X, y) == r2_score(y[:20], model.predict(X)[:20])
    assert model.score(X, X[:, 0], WEIGHTS) == r2_score(X[:, 0], model.predict(X), sample_weight=WEIGHTS)


def test_what_cannot_be_compared():
    model = MixtureSVC(density=DENSITY, probability=False, random_state=0).fit(X, FEW)
    with pytest.raises(LabelError, match=r"^The labels of y, 'a', 'b', are of another type than those in fit, 0, 1\."):
        model.score(X, ["a", "b"] * 20)
    with pytest.raises(LengthError, match="X has 40 rows, but y has 3 labels"):
        model.score(X, [0, 1, 0])
    with pytest.raises(LabelError, match="All labelled rows have a sample weight of zero"):
        model.score(X, FEW, np.where(FEW < 0, 1.0, 0.0))
