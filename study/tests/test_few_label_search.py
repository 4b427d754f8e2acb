"""A search on few labels: the best value, ties, and rows without a label."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from mixkern_study import few_label_search
from mixkern_study.few_label_search import FewLabelSearch


def test_the_better_value_is_found():
    X = np.random.RandomState(0).normal(size=(60, 2))
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


def test_several_settings_are_chosen_together():
    X = np.random.RandomState(0).normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    values = (("linear", 1.0), ("rbf", 1e-6), ("rbf", 1.0))
    best = FewLabelSearch(SVC(), ("kernel", "gamma"), values, random_state=0).fit(X, y).best_estimator_
    assert (best.kernel, best.gamma) == ("rbf", 1.0)


class Watching(LabelSpreading):
    """Keep the labels that it is fitted to."""

    seen = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append((X, y))
        return super().fit(X, y)


def two_clusters(n):
    random = np.random.RandomState(0)
    X = np.concatenate([random.normal(-3, 1, (n, 2)), random.normal(3, 1, (n, 2))])
    y = np.full(2 * n, -1)
    y[[0, 1, 2, 3, n, n + 1, n + 2, n + 3]] = [0, 0, 0, 0, 1, 1, 1, 1]
    return X, y


@pytest.mark.filterwarnings("ignore:invalid value")  # of a row whose neighbours have no label
def test_rows_without_a_label_are_in_every_training_part_and_are_no_class():
    X, y = two_clusters(50)
    Watching.seen.clear()
    search = FewLabelSearch(Watching("knn"), "n_neighbors", (7, 3), random_state=0).fit(X, y)
    assert search.classes_.tolist() == [0, 1]
    *rated, (last_X, last_y) = Watching.seen
    assert {(labels == -1).sum() for _, labels in rated} == {92}
    assert {(labels != -1).sum() for _, labels in rated} == {6}  # two of eight are left out
    assert (len(last_X), (last_y == -1).sum()) == (100, 92)
    assert (search.predict(X) == np.repeat([0, 1], 50)).all()


@pytest.mark.filterwarnings("ignore:invalid value")  # of a row whose neighbours have no label
def test_settings_are_rated_on_a_part_of_many_rows(monkeypatch):
    monkeypatch.setattr(few_label_search, "RATED_ROWS", 30)
    X, y = two_clusters(50)
    Watching.seen.clear()
    FewLabelSearch(Watching("knn"), "n_neighbors", (7, 3), random_state=0).fit(X, y)
    sizes = [len(rows) for rows, _ in Watching.seen]
    assert set(sizes[:-1]) == {28}
    assert sizes[-1] == 100


def test_probabilities_are_there_where_the_classifier_has_them():
    X, y = [[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]
    search = FewLabelSearch(LogisticRegression(), "C", (1.0, 10.0), random_state=0).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(X), search.best_estimator_.predict_proba(X))
    assert not hasattr(FewLabelSearch(SVC(), "C", (1.0, 10.0), random_state=0).fit(X, y), "predict_proba")
    assert hasattr(FewLabelSearch(KNeighborsClassifier(), "n_neighbors", (1, 2)).fit(X, y), "predict_proba")
