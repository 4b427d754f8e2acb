"""All that a machine says of rows, in one frame."""

import numpy as np
import pytest

from mixkern import MixtureSVC, TableEncoder, datasets


@pytest.fixture(scope="module")
def heart():
    return datasets.load("heart")


@pytest.fixture(scope="module")
def encoder(heart):
    return TableEncoder(continuous=list(heart.continuous), categorical=list(heart.categorical))


@pytest.fixture(scope="module")
def model(heart, encoder):
    return MixtureSVC(encoder=encoder, random_state=0).fit(heart.X, heart.few_labels(per_class=10, random_state=0))


def test_it_says_what_the_single_methods_say(model, heart):
    X = heart.X[::3]
    found = model.assess(X, all_classes=True)
    assert found["label"].tolist() == model.predict(X).tolist()
    odds = model.predict_proba(X)
    assert (found["probability"] == odds.max(axis=1)).all()
    assert (found[[f"probability_{label}" for label in model.classes_]].to_numpy() == odds).all()
    assert (found["component"] == model.responsibilities(X).argmax(axis=1)).all()
    assert (found["novelty"] == model.novelty(X)).all()
    assert found.index.tolist() == X.index.tolist()


def test_arrays_have_no_names():
    rows = np.random.RandomState(0).normal(size=(30, 2))
    model = MixtureSVC(random_state=0).fit(rows, [0] * 5 + [1] * 5 + [-1] * 20)
    assert model.assess(rows[:4]).index.tolist() == [0, 1, 2, 3]


def test_without_probabilities(heart, encoder):
    y = heart.few_labels(per_class=10, random_state=0)
    model = MixtureSVC(encoder=encoder, random_state=0, probability=False).fit(heart.X, y)
    assert model.assess(heart.X)["probability"].isna().all()
