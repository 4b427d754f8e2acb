"""Cross-validation on next to nothing."""

import numpy as np
import pytest
from sklearn.svm import SVC

from mixkern_study.leaderboard.tuning import FewLabelSearch

RANDOM = np.random.RandomState(0)


def test_the_better_value_is_found():
    X = RANDOM.normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    search = FewLabelSearch(SVC(), "gamma", (1e-6, 1.0), random_state=0).fit(X, y)
    assert search.best_estimator_.gamma == 1.0
    assert (search.predict(X) == y).mean() > 0.8


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 1], [0, 0, 0, 0, 1], [0, 1, 2, 3]])
def test_any_handful_of_labels_will_do(labels):
    X = np.arange(len(labels), dtype=float)[:, None]
    search = FewLabelSearch(SVC(), "C", (1.0, 10.0), random_state=0).fit(X, labels)
    assert set(search.predict(X)) <= set(labels)


def test_equal_values_are_decided_by_their_order():
    X, y = [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"]
    assert FewLabelSearch(SVC(), "C", (10.0, 1.0, 100.0), random_state=0).fit(X, y).best_estimator_.C == 10.0
