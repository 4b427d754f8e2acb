"""The report in a real browser: it loads nothing, complains of nothing, and fits the screen."""

import json
import re
import shutil
import subprocess

import pytest

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")

MEASURE = """<script>addEventListener("load", () => {
  const images = [...document.images].map(each => [each.naturalWidth, each.currentSrc.length]);
  const wide = [...document.querySelectorAll("main *")].filter(each => !each.closest(".scroll"))
    .filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.tagName + each.className);
  document.body.dataset.found = JSON.stringify({images, wide, across: document.documentElement.scrollWidth,
    ground: getComputedStyle(document.body).backgroundColor, loaded: performance.getEntriesByType("resource").length,
    title: document.title, cards: document.querySelectorAll(".card").length});
});</script></body>"""


def opened(path, width, scheme, profile):
    """Give what the browser shows, and what it says."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--log-level=0"]
    options += [f"--user-data-dir={profile}", f"--window-size={width},844", "--virtual-time-budget=4000"]
    options += [f"--blink-settings=preferredColorScheme={scheme}", "--dump-dom", path.as_uri()]
    ran = subprocess.run([BROWSER, *options], capture_output=True, text=True, timeout=90, check=False)
    return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


def test_it_runs_nothing_and_says_nothing(nasty_page, tmp_path):
    dom, said = opened(nasty_page, 1280, 1, tmp_path)
    assert said == []
    assert "<script" not in dom
    assert "Settings and versions" in dom


@pytest.mark.parametrize(("width", "scheme", "ground"), [(1280, 1, "rgb(255, 255, 255)"), (500, 0, "rgb(22, 24, 27)")])
def test_pictures_are_there_and_all_fits_the_screen(nasty_page, tmp_path, width, scheme, ground):
    """A copy of the page measures itself: the page itself may run no script."""
    source = nasty_page.read_text("utf-8").replace("style-src", "script-src 'unsafe-inline'; style-src", 1)
    copy = tmp_path / "copy.html"
    copy.write_text(source.replace("</body>", MEASURE), "utf-8")
    dom, said = opened(copy, width, scheme, tmp_path / "profile")
    assert said == []
    found = json.loads(
        re.search(r"data-found=\"([^\"]*)\"", dom)[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">")
    )
    assert len(found["images"]) == 2
    assert all(each[0] > 300 for each in found["images"])
    assert found["loaded"] == 0
    assert found["wide"] == []
    assert found["across"] <= width
    assert found["ground"] == ground
    assert found["cards"] > 1
