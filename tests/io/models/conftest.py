"""Models that several tests save: fitted once."""

import pytest

from mixkern.io import save

from .example import estimators


@pytest.fixture(scope="package")
def models():
    return estimators()


@pytest.fixture(scope="package")
def content(models, tmp_path_factory):
    """The bytes of a good file."""
    return save(models["svc"], tmp_path_factory.mktemp("good") / "svc.mixkern").read_bytes()
