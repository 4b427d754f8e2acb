"""Names that load when they are used, and optional libraries."""

import sys
from types import ModuleType

import pytest

import mixkern
from mixkern.errors import MissingExtraError
from mixkern.imports import lazy_names, optional


@pytest.fixture
def package(monkeypatch):
    """An empty package with a lazy name."""
    module = ModuleType("lazy_package")
    monkeypatch.setitem(sys.modules, "lazy_package", module)
    module.__getattr__, module.__dir__ = lazy_names("lazy_package", {"counted": "mixkern.wording"})
    return module


def test_a_name_is_loaded_when_first_used_and_kept(package):
    assert "counted" not in vars(package)
    assert "counted" in dir(package)
    assert package.counted(2, "row") == "2 rows"
    assert "counted" in vars(package)


def test_a_room_is_a_name_of_its_package():
    assert mixkern.kernels is sys.modules["mixkern.kernels"]


def test_other_names_are_attribute_errors(package):
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'listing'"):
        package.listing  # noqa: B018


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(
        MissingExtraError, match=r"Converting needs skops, which is not installed\. .*'mixkern\[convert\]'"
    ):
        optional("skops", purpose="Converting")
    assert optional("mixkern.wording", purpose="Nothing").counted(1, "row") == "1 row"
