"""The report in Chromium: it loads nothing, reports no error, fits the screen, and its tables sort and filter."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from mixkern.report.blocks import Section
from mixkern.report.page import page as page_of
from mixkern.report.table import TextTable

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
def browser():
    """Return the path of Chromium."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("Chromium is not installed, and CI must run the browser tests")
    if found is None:
        pytest.skip("Chromium is not installed")
    return found


@pytest.fixture(scope="module")
def open_page(browser):
    """Return a function that opens a page, and returns its elements and the messages of the console."""

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
    assert elements.count("<script") == 1
    assert "Settings and versions" in elements


@pytest.mark.parametrize(("width", "scheme", "ground"), [(1280, 1, "rgb(255, 255, 255)"), (500, 0, "rgb(22, 24, 27)")])
def test_pictures_are_there_and_all_fits_the_screen(nasty_page, tmp_path, open_page, width, scheme, ground):
    """A copy of the page measures itself: the page itself may run no other script than its own."""
    source = re.sub(r"script-src 'sha256-[^']+'", "script-src 'unsafe-inline'", nasty_page.read_text("utf-8"), count=1)
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


# ---------------------------------------------------------------- sorting and filtering


GAP = "\N{EN DASH}"
NAMES = ["Ülm", "kassel 10", "Kassel 9", "<script>alert(1)</script>", "Passau", "Bonn", "Aachen"]
COUNTS = ["1,200", "7", GAP, "-3", "0.5", "7", "1e3"]
SHARES = ["< 1 %", "1 %", "12 %", "> 99 %", "100 %", GAP, "82 % (45 to 99 %)"]
TABLE = TextTable(
    "towns",
    "Towns",
    "",
    ("Town", "Count", "Share"),
    tuple(zip(NAMES, COUNTS, SHARES, strict=True)),
    footer=(("Sum", "0", "0"),),
    is_stacked=True,
)


@pytest.fixture(scope="module")
def context(browser):
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def towns(context, tmp_path):
    """Return a function that opens a page with one table on a screen of some width."""
    path = tmp_path / "towns.html"
    path.write_text(page_of([Section("one", "One", (TABLE,))], title="T"), "utf-8")

    def run(width=1366):
        opened = context.new_page(viewport={"width": width, "height": 800})
        opened.messages = []
        opened.on("console", lambda message: opened.messages.append(message.text))
        opened.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        opened.goto(path.as_uri())
        return opened

    return run


def column(opened, j):
    """Return the cells of a column as they are shown."""
    rows = opened.locator("tbody tr:visible")
    return [rows.nth(i).locator("th, td").nth(j).inner_text().replace("\xa0", " ") for i in range(rows.count())]


def test_tables_sort_by_any_column_and_back(towns):
    opened = towns()
    opened.get_by_role("button", name="Count").click()
    assert column(opened, 1) == ["-3", "0.5", "7", "7", "1e3", "1,200", GAP]  # gaps are last
    assert opened.locator("th[aria-sort=ascending]").inner_text() == "Count"
    opened.get_by_role("button", name="Count").press("Enter")  # by keys, too
    assert column(opened, 1) == ["1,200", "1e3", "7", "7", "0.5", "-3", GAP]
    assert opened.locator("th[aria-sort=descending]").count() == 1
    opened.get_by_role("button", name="Count").click()
    assert column(opened, 0) == NAMES  # as written
    assert opened.locator("[aria-sort]").count() == 0
    opened.get_by_role("button", name="Share").click()
    assert column(opened, 2) == ["< 1 %", "1 %", "12 %", "82 % (45 to 99 %)", "> 99 %", "100 %", GAP]
    opened.get_by_role("button", name="Town").click()
    assert column(opened, 0)[1:5] == ["Aachen", "Bonn", "Kassel 9", "kassel 10"]
    assert opened.locator("tfoot tr").count() == 1
    assert opened.messages == []


def test_tables_filter_by_words(towns):
    opened = towns()
    box = opened.get_by_role("searchbox", name="Filter rows: Towns")
    box.fill("KASSEL  9")
    assert column(opened, 0) == ["Kassel 9"]
    assert opened.get_by_role("status").inner_text() == "1 of 7 rows"
    opened.get_by_role("button", name="Count").click()
    assert column(opened, 0) == ["Kassel 9"]  # sorting keeps the filter
    box.fill("")
    assert len(column(opened, 0)) == 7
    assert opened.get_by_role("status").inner_text() == ""


def test_a_phone_shows_every_column_and_can_sort(towns):
    opened = towns(400)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 400
    row = opened.locator("tbody tr").first
    for text, label in zip(("1,200", "< 1 %"), ("Count", "Share"), strict=True):
        cell = row.locator("td", has_text=text.replace(" ", "\xa0"))
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400
        assert cell.get_attribute("data-label") == label
    opened.get_by_role("combobox", name="Sort rows: Towns").select_option("Count \N{DOWNWARDS ARROW}")
    assert column(opened, 1)[0] == "1,200"
    assert opened.get_by_role("row").count() == 8  # seven and the footer: the heading is hidden


@pytest.mark.parametrize(("width", "scheme"), [(1366, "light"), (400, "dark")])
def test_pages_are_accessible(context, nasty_page, width, scheme):
    opened = context.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened.goto(nasty_page.as_uri())
    if width > 1000:
        opened.get_by_role("button", name="Row").first.click()
    found = Axe().run(opened).response["violations"]
    grave = [f"{each['id']}: {each['help']}" for each in found if each["impact"] in ("serious", "critical")]
    assert grave == []


def test_the_page_of_a_hostile_table_runs_its_own_script_only(context, nasty_page):
    opened = context.new_page()
    opened.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    opened.goto(nasty_page.as_uri())
    assert opened.locator(".tools").count() > 1  # the script of the page ran
    opened.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = 1'}))")
    opened.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">')")
    opened.wait_for_timeout(200)
    assert opened.evaluate("window.ran") is None


def test_at_the_width_of_a_laptop_the_page_is_used(context, nasty_page):
    opened = context.new_page(viewport={"width": 1366, "height": 768})
    opened.goto(nasty_page.as_uri())
    boxes = [opened.locator(f"#{name} > *").last.bounding_box() for name in ("summary", "map")]
    right = min(box["x"] + box["width"] for box in boxes)
    assert right > 1366 * 0.95
