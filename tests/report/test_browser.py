"""The report in Chromium: it loads nothing, reports no error, and fits the screen."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.slow

MEASURE = """<script>addEventListener("load", () => {
  const images = [...document.images].map(each => [each.naturalWidth, each.currentSrc.length]);
  const wide = [...document.querySelectorAll("main *")].filter(each => !each.closest(".scroll"))
    .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.tagName + each.className);
  document.body.dataset.found = JSON.stringify({images, wide, across: document.documentElement.scrollWidth,
    ground: getComputedStyle(document.body).backgroundColor, loaded: performance.getEntriesByType("resource").length,
    title: document.title, cards: document.querySelectorAll(".card").length});
});</script></body>"""


@pytest.fixture(scope="module")
def open_page():
    """Return a function that opens a page, and returns its elements and the messages of the console."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if browser is None and os.environ.get("CI") == "true":
        pytest.fail("Chromium is not installed, and CI must run the browser tests")
    if browser is None:
        pytest.skip("Chromium is not installed")

    def run(path, width, scheme, profile):
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--log-level=0"]
        options += [f"--user-data-dir={profile}", f"--window-size={width},844", "--virtual-time-budget=4000"]
        options += [f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom", path.as_uri()]
        done = subprocess.run([browser, *options], capture_output=True, text=True, timeout=90, check=False)
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


def test_it_runs_no_script_and_reports_no_error(nasty_page, tmp_path, open_page):
    elements, messages = open_page(nasty_page, 1280, 1, tmp_path)
    assert messages == []
    assert "<script" not in elements
    assert "Settings and versions" in elements


@pytest.mark.parametrize(("width", "scheme", "ground"), [(1280, 1, "rgb(255, 255, 255)"), (500, 0, "rgb(22, 24, 27)")])
def test_pictures_are_there_and_all_fits_the_screen(nasty_page, tmp_path, open_page, width, scheme, ground):
    """A copy of the page measures itself: the page itself may run no script."""
    source = nasty_page.read_text("utf-8").replace("style-src", "script-src 'unsafe-inline'; style-src", 1)
    copy = tmp_path / "copy.html"
    copy.write_text(source.replace("</body>", MEASURE), "utf-8")
    elements, messages = open_page(copy, width, scheme, tmp_path / "profile")
    assert messages == []
    found = json.loads(html.unescape(re.search(r"data-found=\"([^\"]*)\"", elements)[1]))
    assert len(found["images"]) == 2
    assert all(each[0] > 300 for each in found["images"])
    assert found["loaded"] == 0
    assert found["wide"] == []
    assert found["across"] <= width
    assert found["ground"] == ground
    assert found["cards"] > 1
