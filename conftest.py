"""What every test and doctest may rely on."""

import base64
import gc
import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

mpl.use("Agg")  # no window, wherever the tests run
gc.set_threshold(50_000, 20, 20)  # modules and tests are many objects, among which searches for garbage take long


# Modules that import CuPy at once, whose doctests are looked for
collect_ignore = [] if find_spec("cupy") else ["src/mixkern/engine/gpu"]


@cache
def missing_gpu() -> str | None:
    """Give the reason why no GPU can be used, None where one can."""
    from mixkern.device import missing_gpu

    reason = missing_gpu()
    return None if reason is None else reason[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of a GPU where there is none, and those of Unix on Windows."""
    for item in items:
        if item.get_closest_marker("gpu") and missing_gpu():
            item.add_marker(pytest.mark.skip(reason=missing_gpu()))
        if item.get_closest_marker("posix") and sys.platform == "win32":
            item.add_marker(pytest.mark.skip(reason="needs forks, signals or permissions of Unix"))


def pytest_collection_finish() -> None:
    """Leave modules and tests, which stay until the end, out of later searches for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no picture open: pyplot remembers them all, and complains from the twentieth on."""
    yield
    plt.close("all")


class Outline(HTMLParser):
    """Tags, links, pictures and text of an HTML page; tags must match, and no script may run but that of its tables."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.text = source, ""
        self.open: list[str] = []
        self.ids: list[str | None] = []
        self.links: list[str | None] = []
        self.sources: list[str | None] = []
        self.alts: list[str | None] = []
        self.policy, self.script = "", ""
        self.feed(source)
        self._check_script()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag refers to."""
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.sources.append(given["src"])
            self.alts.append(given["alt"])
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        assert not any(name.startswith("on") for name in given)
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert tag != "script" or not given
        if tag not in ("meta", "img", "source"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last tag."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect text, and the script."""
        if self.open[-1:] == ["script"]:
            self.script += data
        else:
            self.text += data

    def _check_script(self) -> None:
        """Check that the page has the script of the package and no other, and that its policy allows no other."""
        from mixkern.report.page import table_script

        assert self.source.lower().count("<script") == 1
        assert self.script == table_script()
        checksum = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()
        allowed = [each.split() for each in self.policy.split(";")]
        assert ["script-src", f"'sha256-{checksum}'"] in allowed
        assert ["default-src", "'none'"] in allowed


@pytest.fixture(scope="session")
def outline_of() -> Callable[[Path], Outline]:
    """Give a function that reads the outline of an HTML page."""
    return lambda path: Outline(path.read_text("utf-8"))
