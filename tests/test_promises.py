"""The pages on security and reproducibility: every promise names its tests, and these tests exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("docs/security.md", "docs/reproducibility.md")}
DOCUMENTS = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")})
CITATION = re.compile(r"\b((?:study/)?tests/[\w/]+\.py)::(\w+)")
PROMISE = re.compile(r"^- \*\*(?:.+\n)+", re.MULTILINE)  # a list item that begins in bold


@cache
def names_in(path):
    """Names of the tests in a file, read and not run; none for a file that is not there."""
    file = ROOT / path
    tree = ast.parse(file.read_text("utf-8")) if file.exists() else ast.Module([], [])
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name for each in ast.walk(tree) if isinstance(each, functions) and each.name.startswith("test_")}


def missing(text):
    """Citations of tests that do not exist."""
    return [f"{path}::{name}" for path, name in CITATION.findall(text) if name not in names_in(path)]


def promises(text):
    """List items that begin in bold, one by one."""
    return [item for block in PROMISE.findall(text) for item in re.split(r"^(?=- )", block, flags=re.MULTILINE) if item]


def test_every_test_that_a_document_names_exists():
    assert {page.name: found for page in DOCUMENTS if (found := missing(page.read_text("utf-8")))} == {}


@pytest.mark.parametrize("page", PAGES)
def test_every_promise_names_a_test(page):
    found = promises(PAGES[page])
    assert len(found) >= 10
    assert [item.split("**")[1] for item in found if not CITATION.search(item)] == []


def test_missing_tests_and_promises_without_one_are_noticed():
    text = f"- **One.** `{Path(__file__).relative_to(ROOT)}::test_that_is_not_there`\n- **Two.** No test.\n"
    assert missing(text) == ["tests/test_promises.py::test_that_is_not_there"]
    assert missing("`tests/no_such_file.py::test_a`") == ["tests/no_such_file.py::test_a"]
    assert [CITATION.search(item) is None for item in promises(text)] == [False, True]
