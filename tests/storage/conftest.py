"""Models that several tests save: fitted once."""

import pytest

from mixkern.storage import save

from .example import machines


@pytest.fixture(scope="package")
def models():
    return machines()


@pytest.fixture(scope="package")
def content(models, tmp_path_factory):
    """Give the bytes of a good file."""
    return save(models["svc"], tmp_path_factory.mktemp("good") / "svc.mixkern").read_bytes()
