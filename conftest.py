"""What every test and doctest may rely on."""

import gc
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

mpl.use("Agg")  # no window, wherever the tests run
gc.set_threshold(50_000, 20, 20)  # modules and tests are many objects, among which searches for garbage take long


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
    """Tags, links, pictures and text of an HTML page; tags must match, and no script may run."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.text = source, ""
        self.open: list[str] = []
        self.ids: list[str | None] = []
        self.links: list[str | None] = []
        self.sources: list[str | None] = []
        self.alts: list[str | None] = []
        self.feed(source)

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
        assert not any(name.startswith("on") for name in given)
        assert tag not in ("script", "link", "iframe")
        if tag not in ("meta", "img", "source"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last tag."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self.text += data


@pytest.fixture(scope="session")
def outline_of() -> Callable[[Path], Outline]:
    """Give a function that reads the outline of an HTML page."""
    return lambda path: Outline(path.read_text("utf-8"))
