import dataclasses

import numpy as np
import pytest

from mixkern import datasets
from mixkern.encoding import encode_labels
from mixkern.errors import LabelError


@pytest.mark.parametrize("name", ["iris", "glass", "heart"])
def test_few_labels_keeps_so_many_of_each_class(name):
    data = datasets.load(name)
    y = data.few_labels(per_class=3, random_state=1)
    labels = encode_labels(y)
    assert tuple(labels.classes) == data.classes
    assert np.bincount(labels.codes[labels.is_labelled]).tolist() == [3] * len(data.classes)
    assert (data.y[labels.is_labelled] == y[labels.is_labelled]).all()


def test_few_labels_takes_all_of_a_class_that_has_fewer():
    labels = encode_labels(datasets.load("ecoli").few_labels(per_class=4, random_state=0))
    counts = dict(zip(labels.classes, np.bincount(labels.codes[labels.is_labelled]).tolist(), strict=True))
    assert counts["imL"] == counts["imS"] == 2
    assert counts["cp"] == 4


def test_few_labels_depends_on_the_seed_alone():
    data = datasets.load("iris")
    assert data.few_labels(random_state=3).equals(data.few_labels(random_state=3))
    assert not data.few_labels(random_state=3).equals(data.few_labels(random_state=4))


def test_few_labels_wants_at_least_one():
    with pytest.raises(ValueError, match="per_class must be a whole number, 1 or more, but it is 0"):
        datasets.load("iris").few_labels(per_class=0)


def test_repr_is_short():
    assert len(repr(datasets.load("satimage", raw=True))) < 1500


def test_few_labels_refuses_a_class_that_means_unlabelled():
    data = datasets.load("ripley")
    signed = dataclasses.replace(data, y=data.y.replace(0, -1))
    with pytest.raises(LabelError, match="-1 is a class here, but it marks unlabelled rows"):
        signed.few_labels()


@pytest.mark.slow
def test_the_key_outlives_rounding_and_nothing_else():
    data = datasets.load("satimage")
    assert dataclasses.replace(data, X=data.X * (1 + 1e-15)).key == data.key
    assert dataclasses.replace(data, X=data.X * (1 + 1e-6)).key != data.key
    assert dataclasses.replace(data, y=data.y.sample(frac=1, random_state=0)).key != data.key
