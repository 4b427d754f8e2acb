"""A store with the results of a small study."""

import shutil

import pytest

from mixkern_study import KERNELS, Store

from .example import READINGS, SETS, accuracy_of, result


@pytest.fixture(scope="package")
def filled(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("filled") / "paper.sqlite")
    store.add(
        result(data_set, method, fold, accuracy_of(data_set, method, fold, repeat), reading=reading, repeat=repeat)
        for data_set in SETS
        for method in KERNELS
        for fold in range(5)
        for repeat in range(2)
        for reading in READINGS
    )
    return store.path


@pytest.fixture
def store(filled, tmp_path):
    """Give a copy, so that tests may add to it."""
    return Store(shutil.copy(filled, tmp_path))
