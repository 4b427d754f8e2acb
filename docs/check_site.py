"""Check a built site without a network: links and anchors exist, and pages load nothing from elsewhere.

``python docs/check_site.py docs/_build/html`` prints each fault, and ends with status 1 if there is one.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose address a browser loads with the page, by element; <a href> is only followed by a click.
LOADED = {
    "audio": ["src"],
    "embed": ["src"],
    "iframe": ["src"],
    "img": ["src", "srcset"],
    "link": ["href"],
    "object": ["data"],
    "script": ["src"],
    "source": ["src", "srcset"],
    "video": ["src", "poster"],
}
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "genindex", "author", "license"}  # <link rel=...>
IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")


class Page(HTMLParser):
    """Addresses and anchors of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.followed: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        self.loaded += IN_STYLE.findall(found.get("style", ""))
        if tag in ("a", "area") and "href" in found:
            self.followed.append(found["href"])
        if tag == "link" and set(found.get("rel", "").split()) & NOT_LOADED:
            self.followed.append(found.get("href", ""))
            return
        for name in LOADED.get(tag, []):
            self.loaded += addresses(found[name], is_set=name == "srcset") if name in found else []


def addresses(value: str, is_set: bool) -> list[str]:
    """Return the addresses in an attribute; a srcset has several, each followed by a size.

    >>> addresses("a.png, b.png 2x", is_set=True)
    ['a.png', 'b.png']
    """
    return [part.split()[0] for part in value.split(",") if part.strip()] if is_set else [value]


class Site:
    """A folder of HTML pages and style sheets, and what is wrong with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.pages = {
            path: Page(path.read_text("utf-8"))
            for path in sorted(self.folder.rglob("*.html"))
            if "_static" not in path.parts  # a theme keeps its templates there
        }

    def faults(self) -> Iterator[str]:
        """Yield each fault as a line of text."""
        for path, page in self.pages.items():
            for address in dict.fromkeys(page.loaded + page.followed):
                if is_elsewhere(address):
                    if address in page.loaded:
                        yield f"{self._name(path)} loads {address} from elsewhere"
                elif not address.startswith(("data:", "mailto:")) and self._is_missing(address, path):
                    yield f"{self._name(path)} links to {address}, which does not exist"
        for path in sorted(self.folder.rglob("*.css")):
            for address in filter(is_elsewhere, dict.fromkeys(IN_STYLE.findall(path.read_text("utf-8")))):
                yield f"{self._name(path)} loads {address} from elsewhere"

    def _is_missing(self, address: str, path: Path) -> bool:
        """Whether a relative address leads to no file, or to an anchor that its page lacks."""
        parts = urlsplit(address)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not target.is_relative_to(self.folder):
            return True
        return (
            bool(parts.fragment) and target in self.pages and unquote(parts.fragment) not in self.pages[target].anchors
        )

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


def is_elsewhere(address: str) -> bool:
    """Whether an address is on another host.

    >>> is_elsewhere("//cdn.org/a.js"), is_elsewhere("a.js")
    (True, False)
    """
    return bool(urlsplit(address).netloc)


def main(site: str) -> int:
    """Print all faults of a site, and return the exit status."""
    if not (Path(site) / "index.html").is_file():
        print(f"{site} has no index.html. Build the site first: make docs.", file=sys.stderr)
        return 1
    found = list(Site(Path(site)).faults())
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
