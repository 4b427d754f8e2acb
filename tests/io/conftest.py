"""What the tests of tables share: files on disk, damaged files, and what an encoder has learned."""

import importlib.util
from pathlib import Path

import pytest

from mixkern import datasets


@pytest.fixture(scope="session")
def damage():
    """The module that damages files; with --import-mode=importlib tests cannot import their neighbours."""
    spec = importlib.util.spec_from_file_location("damage", Path(__file__).with_name("damage.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def credit_frame():
    """Credit A with a label in every twentieth row."""
    credit = datasets.load("credit_a")
    return credit.X.assign(approved=credit.y.where(credit.y.index % 20 == 0))


@pytest.fixture
def written(tmp_path):
    def write(content, name="mine.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write
