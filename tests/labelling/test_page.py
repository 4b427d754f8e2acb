"""The labelling page in Chromium, with the server of the command ``mixkern label``."""

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from threading import Timer

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from mixkern import datasets

pytestmark = pytest.mark.slow

SCRIPT = Path(sys.executable).with_name("mixkern")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WAIT_S = 20.0
PEOPLE = ("loop", "steps", "map", "keys", "table", "axe", "net")
CLASSES = ("absent", "present")
N_KILLS = 20

# Texts of saved and unsaved answers, in the order in which the page has shown them.
RECORDER = """() => {
  window.shown = [];
  for (const id of ["live", "last"]) {
    const box = document.getElementById(id);
    new MutationObserver(() => window.shown.push(box.textContent)).observe(box, {childList: true, subtree: true});
  }
}"""


# ---------------------------------------------------------------- server and browser


class Server:
    """The command in a process of its own."""

    def __init__(self, table, target, *options):
        self.table, self.journal = table, table.with_suffix(".labels")
        own = ["--target", target, "--journal", self.journal, "--no-browser"]
        self._command = [SCRIPT, "label", table, *own, *options]
        self._errors = table.with_suffix(".errors").open("a+")
        self.process, self.addresses = None, {}

    def start(self, n_users=1, port=0):
        """Start it, and read the address of each person."""
        command = [*map(str, self._command), "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        lines = [self.process.stdout.readline().strip().split(maxsplit=1) for _ in range(n_users)]
        self.addresses = {name: url for url, name in ([*line, "me"][:2] for line in lines)}
        return self

    @property
    def url(self):
        return next(iter(self.addresses.values()))

    @property
    def port(self):
        return int(self.url.split("/")[2].rpartition(":")[2])

    def kill(self):
        """End it at once, as a loss of power does."""
        self.process.kill()
        self.process.wait(WAIT_S)
        self.process.stdout.close()

    def close(self):
        """End it, and check that it has reported no error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(WAIT_S)
        self.process.stdout.close()
        self._errors.seek(0)
        text = self._errors.read()
        self._errors.close()
        assert "Traceback" not in text, text

    def events(self, user=None):
        """Return the events of the journal as mappings."""
        with closing(sqlite3.connect(self.journal)) as file:
            file.row_factory = sqlite3.Row
            found = [dict(event) for event in file.execute("SELECT * FROM event ORDER BY id")]
        return [event for event in found if user in (None, event["user"])]

    def answers(self, user):
        """Return the answers of a person that are not undone: those of the same row in their order."""
        events = self.events(user)
        undone = {event["undoes"] for event in events if event["action"] == "undo"}
        found = {}
        for event in events:
            if event["action"] in ("label", "skip", "unsure") and event["request"] not in undone:
                found.setdefault(event["row"], []).append(event["label"] or event["action"])
        return found


@pytest.fixture(scope="module")
def serve():
    """Start servers, which are ended after the tests."""
    running = []

    def start(table, target, *options, n_users=1):
        running.append(Server(table, target, *options))
        return running[-1].start(n_users)

    yield start
    for server in running:
        server.close()


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None and os.environ.get("CI") == "true":
        pytest.fail("Chromium is not installed, and CI must run the browser tests")
    if path is None:
        pytest.skip("Chromium is not installed")
    expect.set_options(timeout=1000 * WAIT_S)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


class Visits:
    """Windows of the browser, and what went wrong in them."""

    def __init__(self, browser):
        self._browser, self.contexts, self.problems, self.requests = browser, [], [], []

    def __call__(self, address, is_broken=False, **options):
        """Open an address in a window with cookies of its own; with is_broken, requests may fail."""
        context = self._browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(1000 * WAIT_S)
        self.contexts.append(context)
        host = address.split("/")[2]
        context.on("request", lambda request: self._request(request, host))
        context.on("console", lambda message: self._message(message, is_broken))
        context.on("dialog", self._dialog)
        page = context.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.goto(address)
        return page

    def _request(self, request, host):
        self.requests.append(request.url)
        if request.url.split("/")[:3] != ["http:", "", host]:
            self.problems.append(f"request: {request.url}")

    def _message(self, message, is_broken):
        is_expected = is_broken and "Failed to load resource" in message.text
        if message.type == "error" and not is_expected:
            self.problems.append(f"console: {message.text}")

    def _dialog(self, dialog):
        if dialog.type != "beforeunload":
            self.problems.append(f"dialog: {dialog.message}")
        dialog.accept()

    def close(self):
        for context in self.contexts:
            context.close()
        assert self.problems == []


@pytest.fixture
def visit(browser):
    """Open windows, in which no request may leave the server, and no error may be reported."""
    found = Visits(browser)
    yield found
    found.close()


@pytest.fixture(scope="module")
def truth():
    """The class of each row of Heart."""
    return [str(label) for label in datasets.load("heart").y]


def write_heart(folder):
    path = folder / "heart.csv"
    datasets.load("heart").X.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def heart(serve, tmp_path_factory):
    """A server for Heart without labels; each test is a person of its own."""
    users = [option for name in PEOPLE for option in ("--user", name)]
    table = write_heart(tmp_path_factory.mktemp("heart"))
    return serve(table, "disease", "--overlap", "0", *users, n_users=len(PEOPLE))


# ---------------------------------------------------------------- what a person does


def current(page, but=None):
    """Return the row of the card, which is another one than the row before."""
    other = "" if but is None else f':not([data-row="{but}"])'
    return int(page.locator(f"#card[data-row]{other}").get_attribute("data-row"))


def add_class(page, name):
    """Add a class by keys; the input is open where there is no class yet."""
    page.wait_for_selector("#card[data-row]")
    page.wait_for_selector("#classes button, #new-class-form:not([hidden])")
    if page.locator("#new-class-form").is_hidden():
        page.keyboard.press("n")
    expect(page.locator("#new-class-name")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.locator("#new-class-form")).to_be_hidden()
    expect(page.locator("#classes bdi", has_text=re.compile(f"^{re.escape(name)}$"))).to_have_count(1)


def key_of(page, name):
    """Return the key of a class."""
    return page.locator(f"#classes [data-class={json.dumps(name)}]").get_attribute("aria-keyshortcuts")


def answer(page, key):
    """Answer the card by a key, and wait until it is saved; return its row and the sentence about it."""
    row = current(page)
    page.keyboard.press(key)
    return row, outcome(page, f"Saved row {row + 1} ")


def outcome(page, text):
    """Wait for a sentence about an answer, and return all of it."""
    page.wait_for_function("text => document.getElementById('last').textContent.startsWith(text)", arg=text)
    expect(page.locator("#last")).to_have_attribute("data-state", "saved")
    return page.locator("#last").text_content()


def label_by(page, truth, n):
    """Label rows with their classes; return them."""
    rows = []
    for _ in range(n):
        rows.append(answer(page, key_of(page, truth[current(page)]))[0])
        current(page, but=rows[-1])
    return rows


# ---------------------------------------------------------------- labelling


def test_thirty_labels_by_keys(heart, visit, truth):
    page = visit(heart.addresses["loop"])
    for name in CLASSES:
        add_class(page, name)
    rows, sources, sentences = [], [], []
    for _ in range(30):
        row = current(page, but=rows[-1] if rows else None)
        sources.append(page.locator("#card").get_attribute("data-source"))
        badge = page.locator("#card .badge", has_text="drawn at random")
        expect(badge).to_have_count(1 if sources[-1] == "random" else 0)
        expect(page.locator("#guess")).to_have_count(0)
        sentences.append(answer(page, key_of(page, truth[row]))[1])
        rows.append(row)
    labels = [event for event in heart.events("loop") if event["action"] == "label"]
    assert [event["row"] for event in labels] == rows
    assert [event["label"] for event in labels] == [truth[row] for row in rows]
    assert [event["source"] for event in labels] == sources
    assert len(set(rows)) == 30
    assert set(sources) == {"suggested", "random"}
    assert 5 <= sources.count("random") <= 7
    assert all("The model expected" in text for text in sentences[15:])
    expect(page.locator("#estimate-value b")).to_have_text(re.compile(r"^\d+\s%$"))
    expect(page.locator("#curve canvas")).to_be_visible()
    expect(page.locator("#progress")).to_contain_text("drawn at random")
    page.keyboard.press("g")
    expect(page.locator("#guess li")).to_have_count(2)
    page.keyboard.press("g")
    expect(page.locator("#guess")).to_have_count(0)


def test_undo_back_skip_and_reload(heart, visit, truth):
    page = visit(heart.addresses["steps"])
    for name in CLASSES:
        add_class(page, name)
    rows = label_by(page, truth, 5)
    skipped, _ = answer(page, "s")
    unclear, _ = answer(page, "u")
    before = current(page, but=unclear)
    page.reload()
    assert current(page) == before
    labels = {row: [truth[row]] for row in rows}
    assert heart.answers("steps") == {**labels, skipped: ["skip"], unclear: ["unsure"]}
    for row in (unclear, skipped, rows[-1]):
        page.keyboard.press("z")
        outcome(page, f"Undone: Row {row + 1} ")
        assert current(page) == row
    del labels[rows[-1]]
    assert heart.answers("steps") == labels

    page.reload()
    assert current(page) == before
    expect(page.locator("#history button[data-row]")).to_have_count(4)
    for row in (rows[3], rows[2]):
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#card")).to_have_attribute("data-row", str(row))
        expect(page.locator("#card .own")).to_contain_text(truth[row])
    other = next(name for name in CLASSES if name != truth[rows[2]])
    answer(page, key_of(page, other))
    assert current(page, but=rows[2]) == before
    labels[rows[2]] = [truth[rows[2]], other]
    assert heart.answers("steps") == labels
    again = label_by(page, truth, 6)  # what was undone comes again, each row once
    assert len(set(again)) == 6
    assert {unclear, skipped, rows[4]} <= set(again)
    assert heart.answers("steps") == {**labels, **{row: [truth[row]] for row in again}}


def test_the_table_view_by_keys(heart, visit, truth):
    page = visit(heart.addresses["table"])
    for name in CLASSES:
        add_class(page, name)
    page.keyboard.press("t")
    expect(page.locator("#table-view tr[data-row]")).to_have_count(20)
    rows = page.locator("#table-view tr[data-row]").evaluate_all("all => all.map(each => Number(each.dataset.row))")
    for row in rows:
        expect(page.locator("#table-view tr[aria-selected=true]")).to_have_attribute("data-row", str(row))
        page.keyboard.press(key_of(page, truth[row]))
    expect(page.locator("#table-view .answer[data-state=saved]")).to_have_count(20)
    assert heart.answers("table") == {row: [truth[row]] for row in rows}
    page.keyboard.press("z")
    expect(page.locator("#table-view .answer[data-state=none]")).to_have_count(1)
    assert rows[-1] not in heart.answers("table")
    page.keyboard.press("Enter")
    expect(page.locator("#table-view .answer[data-state=none]")).to_have_count(20)
    following = page.locator("#table-view tr[data-row]").evaluate_all("all => all.map(each => each.dataset.row)")
    assert not set(map(int, following)) & set(rows[:-1])


def test_the_map(heart, visit):
    page = visit(heart.addresses["map"])
    for name in CLASSES:
        add_class(page, name)
    expect(page.locator(".map-note")).to_be_hidden()
    box = page.locator("#map-plot").bounding_box()
    x, y, row = next(_points(page, box))
    page.mouse.click(x, y)
    expect(page.locator("#card")).to_have_attribute("data-row", str(row))
    expect(page.locator("#card")).to_have_attribute("data-source", "chosen")
    page.keyboard.press("Escape")
    expect(page.locator("#close-card")).to_have_count(0)

    n = select(page, x, y)
    assert n > 1
    assert heart.answers("map") == {}
    page.locator("#map-selection [data-class=present]").click()
    expect(page.locator("#confirm-title")).to_have_text(f"Label {n} rows as present?")
    page.locator("#confirm-yes").click()
    outcome(page, f"Saved {n} rows as present")
    assert list(heart.answers("map").values()) == [["present"]] * n
    page.keyboard.press("z")
    outcome(page, f"Undone: {n} rows are ")
    assert heart.answers("map") == {}


def test_keys_label_the_selection_while_it_is_open(heart, visit):
    page = visit(heart.addresses["keys"], bypass_csp=True)
    for name in CLASSES:
        add_class(page, name)
    expect(page.locator(".map-note")).to_be_hidden()
    row, key = current(page), key_of(page, "present")
    x, y, _ = next(_points(page, page.locator("#map-plot").bounding_box()))
    n = select(page, x, y)
    panel = page.locator("#map-selection")
    expect(panel.locator("[data-class=present] kbd")).to_have_text(key)
    expect(page.locator("#target")).to_have_text(
        f"Classes and their keys label the {n} selected rows, not row {row + 1}."
    )
    assert page.locator("#card-view").evaluate("box => box.inert")
    assert findings(page) == []
    page.keyboard.press("s")  # for single rows only
    page.keyboard.press("u")
    page.keyboard.press(key)
    expect(page.locator("#confirm-title")).to_have_text(f"Label {n} rows as present?")
    page.keyboard.press("Escape")  # a wrong key
    expect(page.locator("#confirm")).to_be_hidden()
    expect(panel).to_be_visible()
    assert heart.answers("keys") == {}

    page.keyboard.press(key)
    expect(page.locator("#confirm-yes")).to_be_focused()
    page.keyboard.press("Enter")
    outcome(page, f"Saved {n} rows as present")
    assert list(heart.answers("keys").values()) == [["present"]] * n
    expect(panel).to_be_hidden()
    expect(page.locator("#target")).to_be_hidden()
    page.keyboard.press("z")
    outcome(page, f"Undone: {n} rows are ")
    assert heart.answers("keys") == {}

    select_until(page, x, y, re.compile(f"^{n} rows selected"))
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert not page.locator("#card-view").evaluate("box => box.inert")
    found, _ = answer(page, key)  # the row on the card again
    assert heart.answers("keys") == {found: ["present"]}
    current(page, but=found)

    select(page, x, y)
    page.locator("#back").click()  # another card: the selection is closed, keys are for the card
    expect(page.locator("#card")).to_have_attribute("data-row", str(found))
    expect(panel).to_be_hidden()


def test_visible_rows_are_selected_and_labelled_without_a_mouse(heart, visit):
    page = visit(heart.addresses["keys"])
    for name in CLASSES:
        add_class(page, name)
    expect(page.locator(".map-note")).to_be_hidden()
    current(page)
    page.keyboard.press("m")
    for _ in range(4):
        page.keyboard.press("+")
    page.keyboard.press("a")
    text = page.locator("#map-selection p").text_content()
    n = int(re.match(r"\d+", text)[0])
    expect(page.locator("#map-selection [data-class]").first).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#confirm-yes")).to_be_focused()
    page.keyboard.press("Enter")
    outcome(page, f"Saved {n} row{'s' if n > 1 else ''} " if n > 1 else "Saved row")
    page.keyboard.press("z")
    outcome(page, "Undone: ")


def test_labelled_rows_are_left_out_of_a_selection_also_while_there_is_one_class(serve, visit, tmp_path):
    users = ("--user", "anna", "--user", "ben")
    server = serve(write_heart(tmp_path), "disease", *users, "--classes", "present", n_users=2)
    page = visit(server.addresses["anna"])
    current(page)
    expect(page.locator(".map-note")).to_be_hidden()
    x, y, _ = next(_points(page, page.locator("#map-plot").bounding_box()))
    n = select(page, x, y)
    page.keyboard.press("1")
    expect(page.locator("#confirm-yes")).to_be_focused()
    page.keyboard.press("Enter")
    outcome(page, f"Saved {n} rows as present")
    select_until(page, x, y, re.compile(rf"^0 rows selected\. {n} labelled rows left out"))
    assert list(server.answers("anna").values()) == [["present"]] * n


def test_a_selection_ends_with_its_map(heart, visit):
    page = visit(heart.addresses["keys"])
    current(page)
    expect(page.locator(".map-note")).to_be_hidden()
    x, y, _ = next(_points(page, page.locator("#map-plot").bounding_box()))
    select(page, x, y)
    expect(page.locator("#map-selection")).to_be_visible()

    def with_a_later_structure(route):
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"structure": 99})

    page.route("**/api/state", with_a_later_structure)
    expect(page.locator("#map-selection")).to_be_hidden()
    page.unroute_all(behavior="wait")


def select_until(page, x, y, text):
    """Draw a lasso until the sentence about it has a text: the map follows the labels after a moment."""
    for _ in range(int(5 * WAIT_S)):
        select(page, x, y)
        if text.search(page.locator("#map-selection p").text_content()):
            return
        page.wait_for_timeout(200)
    pytest.fail(page.locator("#map-selection p").text_content())


def select(page, x, y):
    """Draw a lasso around a place of the map; return how many rows are selected."""
    page.keyboard.down("Shift")
    page.mouse.move(x - 45, y - 45)
    page.mouse.down()
    for dx, dy in ((45, -45), (45, 45), (-45, 45), (-45, -40)):
        page.mouse.move(x + dx, y + dy, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    return int(re.match(r"\d+", page.locator("#map-selection p").text_content())[0])


def _points(page, box):
    """Return places of points without a label, and their rows, as the sentence below the map describes them."""
    for y in np.linspace(0.35, 0.8, 10) * box["height"] + box["y"]:
        for x in np.linspace(0.2, 0.8, 40) * box["width"] + box["x"]:
            page.mouse.move(x, y)
            text = page.locator("#map-help").text_content()
            if text.startswith("Row ") and "Labelled" not in text:
                yield x, y, int(re.match(r"Row (\d+)", text)[1]) - 1


@pytest.mark.parametrize("width", [1280, 768, 400])
def test_the_panel_of_a_selection_covers_no_row_and_moves_nothing(heart, visit, width):
    page = visit(heart.addresses["keys"], viewport={"width": width, "height": 800})
    current(page)
    expect(page.locator(".map-note")).to_be_hidden()
    plot, panel = page.locator("#map-plot"), page.locator("#map-selection")
    page.evaluate("() => document.getElementById('map').scrollIntoView()")
    before = plot.bounding_box()
    plot.focus()
    page.keyboard.press("+")
    page.keyboard.press("a")
    expect(panel).to_be_visible()
    assert (plot.bounding_box()["width"], plot.bounding_box()["height"]) == (before["width"], before["height"])
    above, below = panel.bounding_box(), plot.bounding_box()
    if above["y"] > below["y"]:
        above, below = below, above
    assert above["y"] + above["height"] <= below["y"] + 1


# ---------------------------------------------------------------- names of classes

BROKEN = """() => {
  const broken = [];
  for (const name of document.querySelectorAll("#classes bdi, #class-counts bdi, #card dt")) {
    const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (const word of node.data.matchAll(/[^ ]+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (tops.size > 1) broken.push(word[0]);
      }
    }
    if (name.scrollHeight > name.clientHeight + 1 && name.clientHeight) broken.push(`${name.textContent} is cut`);
  }
  return broken;
}"""


@pytest.mark.parametrize("width", [1280, 1100, 768, 400, 360])
def test_names_break_between_words_only(serve, visit, groups, tmp_path, width):
    names = ["manager", "agriculture", "sales and service", "misclassifications", "long_term_unemployed"]
    frame = groups(40)[0].rename(columns={"age": "local_unemployment_rate", "income": "telecommunications"})
    path = tmp_path / "customers.csv"
    frame.to_csv(path, index=False)
    server = serve(path, "job", "--user", "anna", "--classes", ",".join(names))
    page = visit(server.url, viewport={"width": width, "height": 800})
    current(page)
    expect(page.locator("#classes button")).to_have_count(len(names))
    expect(page.locator("#class-counts li")).to_have_count(len(names))
    assert page.evaluate(BROKEN) == []
    assert page.locator("#classes bdi").all_text_contents() == names
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    expect(page.locator("#person")).to_have_text("user anna")
    page.locator("#help-open").click()
    heights = page.locator("#help-keys kbd").evaluate_all("all => all.map(each => each.offsetHeight)")
    assert max(heights) - min(heights) <= 1


@pytest.fixture
def customers(serve, groups, tmp_path):
    """A server for a table that has labels of its own, of the class "no"."""
    frame, classes = groups(40)
    path = tmp_path / "customers.csv"
    frame.assign(risk=np.where((classes == "no") & (np.arange(40) < 12), "no", "")).to_csv(path, index=False)
    return serve(path, "risk", "--user", "anna", "--user", "ben", "--overlap", "0", n_users=2)


def rename(page, name):
    """Rename the class that the dialog offers, by keys."""
    page.keyboard.press("r")
    expect(page.locator("#rename-class")).to_be_focused()
    page.keyboard.press("Tab")
    page.locator("#rename-name").press("ControlOrMeta+a")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_class_is_renamed_by_keys(customers, visit, scheme):
    page = visit(customers.addresses["anna"], bypass_csp=True, color_scheme=scheme)
    other = visit(customers.addresses["ben"])
    add_class(page, "yse")
    key = key_of(page, "yse")
    rows = []
    for _ in range(3):
        rows.append(answer(page, key)[0])
        current(page, but=rows[-1])
    rename(page, "yes")
    outcome(page, "Class yse is now yes, with all its labels.")
    assert key_of(page, "yes") == key
    expect(page.locator("#classes [data-class=yes] .count")).to_have_text("3")
    expect(page.locator("#class-counts bdi", has_text="yes")).to_have_count(1)
    page.locator("#tab-history").click()
    expect(page.locator("#history .class-name bdi", has_text="yes")).to_have_count(3)
    expect(other.locator("#classes [data-class=yes] .count")).to_have_text("3")
    events = customers.events()
    assert [event["label"] for event in events if event["action"] == "label"] == ["yse"] * 3
    assert [(event["renames"], event["label"]) for event in events if event["action"] == "rename"] == [("yse", "yes")]

    page.keyboard.press("z")
    outcome(page, "Undone: the renaming of yse to yes.")
    expect(page.locator("#classes [data-class=yse] .count")).to_have_text("3")
    expect(page.locator("#classes [data-class=yes]")).to_have_count(0)
    page.keyboard.press("r")
    expect(page.locator("#rename")).to_be_visible()
    assert findings(page) == []


def test_a_late_answer_does_not_bring_a_former_name_back(customers, visit):
    page = visit(customers.addresses["anna"])
    add_class(page, "yse")
    key, held = key_of(page, "yse"), []
    page.route("**/api/state", lambda route: held.append((route, route.fetch())))

    def wait_for_request():
        for _ in range(int(20 * WAIT_S)):
            if held:
                return held.pop()
            page.wait_for_timeout(50)
        pytest.fail("The page does not ask for the state")

    route, former = wait_for_request()
    assert '"yse"' in former.text()
    rename(page, "yes")
    outcome(page, "Class yse is now yes, with all its labels.")
    route.fulfill(response=former)
    route, now = wait_for_request()  # the former answer was read
    assert key_of(page, "yes") == key
    route.fulfill(response=now)
    page.unroute("**/api/state")
    expect(page.locator("#classes [data-class=yse]")).to_have_count(0)


def test_renaming_to_another_class_merges_after_a_question(customers, visit):
    page = visit(customers.addresses["anna"])
    for name in ("yse", "yes"):
        add_class(page, name)
    for name in ("yse", "yse", "yes"):
        row, _ = answer(page, key_of(page, name))
        current(page, but=row)
    expect(page.locator("#classes [data-class=yse] .count")).to_have_text("2")
    rename(page, "yes")
    expect(page.locator("#confirm-title")).to_have_text("Merge yse into yes?")
    expect(page.locator("#confirm-body")).to_contain_text("2 labels of yse become labels of it.")
    page.keyboard.press("Escape")
    expect(page.locator("#confirm")).to_be_hidden()
    expect(page.locator("#rename")).to_be_visible()
    assert "rename" not in {event["action"] for event in customers.events()}
    page.locator("#rename-name").press("Enter")
    page.locator("#confirm-yes").press("Enter")
    outcome(page, "Class yse is now yes")
    expect(page.locator("#classes [data-class=yes] .count")).to_have_text("3")
    expect(page.locator("#classes [data-class=yse]")).to_have_count(0)
    row = current(page)
    page.keyboard.press("2")  # of yse until now: no other class has it
    expect(page.locator("#last")).to_have_text("Key 2 has no class now: yse is part of yes.")
    assert (key_of(page, "yes"), current(page)) == ("3", row)
    page.keyboard.press("z")
    outcome(page, "Undone: the renaming of yse to yes.")
    expect(page.locator("#classes [data-class=yes] .count")).to_have_text("1")
    expect(page.locator("#classes [data-class=yse] .count")).to_have_text("2")


def test_changes_of_classes_by_another_person_are_shown_and_keys_stay(customers, visit):
    page, other = (visit(customers.addresses[name]) for name in ("anna", "ben"))
    for name in ("yse", "yes", "maybe"):
        add_class(page, name)
    expect(other.locator("#last")).to_have_text(re.compile("Class maybe was added. It has the key 4.$"))
    page.keyboard.press("r")
    page.locator("#rename-class").select_option("yse")
    page.locator("#rename-name").fill("yes")
    page.locator("#rename-name").press("Enter")
    page.locator("#confirm-yes").press("Enter")
    expect(other.locator("#last")).to_have_text("Class yse is now part of yes.")
    assert [key_of(other, name) for name in ("no", "yes", "maybe")] == ["1", "3", "4"]
    row, _ = answer(other, "4")
    assert customers.answers("ben") == {row: ["maybe"]}
    expect(other.locator("#class-counts li.c3 bdi")).to_have_text("maybe")
    other.reload()
    assert [key_of(other, name) for name in ("no", "yes", "maybe")] == ["1", "3", "4"]
    later = visit(customers.addresses["ben"])  # another tab
    assert [key_of(later, name) for name in ("no", "yes", "maybe")] == ["1", "2", "3"]


def test_a_class_that_becomes_part_of_one_with_an_earlier_key_is_named_with_it(customers, visit):
    page, other = (visit(customers.addresses[name]) for name in ("anna", "ben"))
    for name in ("yes", "yse"):
        add_class(page, name)
    expect(other.locator("#classes [data-class=yse]")).to_have_count(1)
    page.keyboard.press("r")
    page.locator("#rename-class").select_option("yse")
    page.locator("#rename-name").fill("yes")
    page.locator("#rename-name").press("Enter")
    page.locator("#confirm-yes").press("Enter")
    expect(other.locator("#last")).to_have_text("Class yse is now part of yes.")
    other.keyboard.press("3")
    expect(other.locator("#last")).to_have_text("Key 3 has no class now: yse is part of yes.")


def test_a_renaming_that_another_person_has_continued_is_not_undone(customers, visit):
    page, other = (visit(customers.addresses[name]) for name in ("anna", "ben"))
    add_class(page, "yse")
    rename(page, "yes")
    outcome(page, "Class yse is now yes")
    expect(other.locator("#classes [data-class=yes]")).to_have_count(1)
    rename(other, "yep")
    outcome(other, "Class yes is now yep")
    page.keyboard.press("z")
    text = "The renaming of yse to yes cannot be undone: the class was renamed or"
    expect(page.locator("#last")).to_contain_text(text)
    expect(page.locator("#classes [data-class=yep]")).to_have_count(1)
    other.keyboard.press("z")
    outcome(other, "Undone: the renaming of yes to yep.")


def test_a_class_that_is_renamed_while_the_dialog_is_open(customers, visit):
    page, other = visit(customers.addresses["anna"], is_broken=True), visit(customers.addresses["ben"])
    for name in ("yse", "maybe"):
        add_class(page, name)
    page.keyboard.press("r")
    expect(page.locator("#rename-class")).to_be_focused()
    expect(other.locator("#classes [data-class=yse]")).to_have_count(1)
    rename(other, "yes")
    outcome(other, "Class yse is now yes")
    expect(page.locator("#classes [data-class=yes]")).to_have_count(1)
    page.locator("#rename-name").fill("maybe")
    page.keyboard.press("Enter")
    page.locator("#confirm-yes").press("Enter")
    expect(page.locator("#rename-note")).to_have_text("There is no class 'yse'. Another person may have renamed it.")
    page.locator("#rename-class").select_option("yes")  # the dialog offers the present classes now
    page.locator("#rename-name").fill("yep")
    page.keyboard.press("Enter")
    outcome(page, "Class yes is now yep")


def test_a_card_that_arrives_late_has_the_present_names(customers, visit):
    page = visit(customers.addresses["anna"])
    add_class(page, "yse")
    row, _ = answer(page, key_of(page, "yse"))
    current(page, but=row)
    held = []
    page.route("**/api/rows/*", lambda route: held.append((route, route.fetch())), times=1)
    page.locator("#back").click()
    for _ in range(int(20 * WAIT_S)):
        if held:
            break
        page.wait_for_timeout(50)
    rename(page, "yes")
    outcome(page, "Class yse is now yes")
    ((route, former),) = held
    assert '"yse"' in former.text()
    route.fulfill(response=former)
    expect(page.locator("#card .own")).to_have_text("Your label: yes")


def test_a_class_of_the_table_is_not_renamed(customers, visit):
    page = visit(customers.addresses["anna"], is_broken=True)
    current(page)
    page.keyboard.press("r")
    expect(page.locator("#rename-class option")).to_have_text(["no (in the table)"])
    page.locator("#rename-name").fill("nein")
    page.keyboard.press("Enter")
    expect(page.locator("#rename-note")).to_contain_text("The table has the class 'no' in ")
    page.keyboard.press("Escape")
    expect(page.locator("#classes [data-class=no]")).to_have_count(1)
    assert customers.events() == []


# ---------------------------------------------------------------- several persons


def test_two_persons_at_once(serve, visit, groups, tmp_path):
    frame, classes = groups(40)
    path = tmp_path / "customers.csv"
    frame.to_csv(path, index=False)
    users = ("--user", "anna", "--user", "ben", "--classes", "no,yes", "--overlap", "0.5")
    server = serve(path, "risk", *users, n_users=2)
    pages = {name: visit(server.addresses[name]) for name in ("anna", "ben")}
    for turn in range(10):
        rows = {}
        for name, page in pages.items():
            rows[name] = current(page)
            is_wrong = name == "ben" and turn % 4 == 3
            is_yes = (classes[rows[name]] == "yes") != is_wrong
            page.keyboard.press("2" if is_yes else "1")
        for name, page in pages.items():
            outcome(page, f"Saved row {rows[name] + 1} ")
            current(page, but=rows[name])
    labels = [event for event in server.events() if event["action"] == "label"]
    assert max(Counter((event["user"], event["row"]) for event in labels).values()) == 1
    by_row = Counter(event["row"] for event in labels)
    seconds = [event["row"] for event in labels if event["source"] == "second"]
    assert sorted(row for row, n in by_row.items() if n > 1) == sorted(seconds)
    assert len(seconds) > 2
    page = pages["anna"]
    expect(page.locator("#agreement")).to_contain_text(f"of {len(seconds)} rows that both have labelled")
    expect(page.locator("#users")).to_contain_text("ben: 10 labels")
    page.locator("#tab-again").click()
    by_user = {(event["user"], event["row"]): event["label"] for event in labels}
    differing = [row for row in seconds if by_user["anna", row] != by_user["ben", row]]
    expect(page.locator("#disagreements button[data-row]")).to_have_count(len(differing))


def test_log_in(serve, visit, groups, tmp_path):
    path, secret = tmp_path / "customers.csv", tmp_path / "secret.txt"
    groups()[0].to_csv(path, index=False)
    secret.touch(0o600)
    secret.write_text("tulip")
    server = serve(path, "risk", "--user", "anna", "--password-file", secret)
    page = visit(server.url, is_broken=True, bypass_csp=True)
    assert findings(page) == []
    page.locator("#user").fill("anna")
    page.locator("#password").fill("rose")
    page.keyboard.press("Enter")
    expect(page.locator("#login .error")).to_have_text("The name or the password is wrong.")
    page.locator("#user").fill("anna")
    page.locator("#password").fill("tulip")
    page.keyboard.press("Enter")
    current(page)


# ---------------------------------------------------------------- failures


def test_a_server_that_is_killed_loses_no_answer(visit, truth, tmp_path):
    server = Server(write_heart(tmp_path), "disease", "--user", "anna", "--classes", ",".join(CLASSES)).start()
    draw = random.Random(0)
    try:
        page = visit(server.url, is_broken=True)
        port, given, n_unsent = server.port, {}, 0
        page.evaluate(RECORDER)
        for _ in range(N_KILLS):
            _label_until_killed(page, server, truth, given, draw)
            n_unsent += page.locator("#save-state").get_attribute("data-state") != "saved"
            server.start(port=port)
            other = page.context.new_page()  # the new address, once in the same browser
            other.goto(server.url)
            current(other)
            other.close()
            expect(page.locator("#save-state")).to_have_attribute("data-state", "saved")
            current(page)
        shown = set(page.evaluate("() => window.shown"))
        saved = {int(found[1]) - 1 for text in shown if (found := re.match(r"Saved row (\d+) ", text))}
        assert len(given) > 2 * N_KILLS
        assert n_unsent > N_KILLS // 2  # kills after which answers waited in the browser
        assert len(saved) > N_KILLS
        assert saved <= given.keys()
        assert server.answers("anna") == {row: [label] for row, label in given.items()}
        expect(page.locator("#alert")).to_be_hidden()
    finally:
        server.close()


def _label_until_killed(page, server, truth, given, draw):
    """Label rows as quickly as cards come, during which the server is killed; add the labels to those given."""
    timer = Timer(draw.uniform(0.0, 0.5), server.kill)
    timer.start()
    row = None
    while True:
        is_over = not timer.is_alive()
        card = page.evaluate("() => [...document.querySelectorAll('#card[data-row]')].map(e => e.dataset.row)[0]")
        if card is not None and int(card) != row:
            row = int(card)
            given[row] = truth[row]
            page.keyboard.press(key_of(page, truth[row]))
        elif is_over:
            break
    timer.join()


@pytest.fixture
def changing(groups, tmp_path):
    """A server for a table that changes before it is started again, and the table."""
    frame = groups(40)[0]
    path = tmp_path / "customers.csv"
    frame.to_csv(path, index=False)
    server = Server(path, "risk", "--user", "anna", "--classes", "no,yes").start()
    yield server, frame
    server.close()


def start_again(server, frame, page):
    """Start the server again with another table, on the same port, and log the browser in."""
    port = server.port
    frame.to_csv(server.table, index=False)
    server.start(port=port)
    other = page.context.new_page()
    other.goto(server.url)
    current(other)
    other.close()


def identifier(page):
    """Return the text of the column that names the row of the card."""
    return page.locator(".value[data-column=id] dd").text_content()


def test_answers_find_their_rows_in_a_table_that_was_sorted_meanwhile(changing, visit):
    server, frame = changing
    page = visit(server.url, is_broken=True)
    expect(page.locator(".map-note")).to_be_hidden()
    names = [identifier(page)]
    row, _ = answer(page, "1")
    server.kill()
    current(page, but=row)
    names.append(identifier(page))
    page.keyboard.press("2")  # stays in the browser
    expect(page.locator("#alert")).to_contain_text("1 label is not saved yet")
    with page.expect_event("load"):  # the page has the former table, and is loaded again
        start_again(server, frame[::-1], page)
    expect(page.locator("#save-state")).to_have_attribute("data-state", "saved")
    row = current(page)
    assert identifier(page) == frame["id"][::-1].iloc[row]
    names.append(identifier(page))
    answer(page, "1")
    page.locator("#tab-history").click()
    expect(page.locator("#history button[data-row]")).to_have_count(3)
    order = frame["id"][::-1].tolist()
    found = page.locator("#history button[data-row]").evaluate_all("all => all.map(each => Number(each.dataset.row))")
    assert [order[row] for row in reversed(found)] == names
    expect(page.locator("#alert")).to_be_hidden()


def test_an_answer_whose_row_is_gone_stays_in_the_browser_until_it_is_discarded(changing, visit):
    server, frame = changing
    page = visit(server.url, is_broken=True, bypass_csp=True)
    current(page)
    server.kill()
    name, number = identifier(page), current(page) + 1
    page.keyboard.press("2")
    expect(page.locator("#alert")).to_contain_text("1 label is not saved yet")
    with page.expect_event("load"):
        start_again(server, frame[frame["id"] != name], page)
    expect(page.locator("#alert")).to_contain_text(
        "1 answer was not saved: the table has no such row any more, or has it with other cells: "
        f"the former row {number} (yes). It stays in this browser, and the page sends it again when it is opened."
    )
    assert findings(page) == []
    row, _ = answer(page, "1")  # others are saved
    current(page, but=row)
    page.locator("#discard").click()
    expect(page.locator("#alert")).to_be_hidden()
    page.reload()
    current(page)
    expect(page.locator("#alert")).to_be_hidden()
    assert len(server.answers("anna")) == 1


def test_rows_of_a_selection_that_are_gone_stay_in_the_browser(changing, visit):
    server, frame = changing
    page = visit(server.url, is_broken=True)
    expect(page.locator(".map-note")).to_be_hidden()
    current(page)
    page.locator("#map-plot").focus()
    page.keyboard.press("a")
    expect(page.locator("#map-selection p")).to_have_text("40 rows selected.")
    server.kill()
    page.keyboard.press("2")
    page.locator("#confirm-yes").press("Enter")
    expect(page.locator("#alert")).to_contain_text("40 labels are not saved yet")
    port = server.port
    frame[3:].to_csv(server.table, index=False)
    server.start(port=port)
    with page.context.expect_page() as other, page.expect_event("load"):
        page.evaluate("address => { window.open(address); }", server.url)
    other.value.close()
    expect(page.locator("#alert")).to_contain_text(re.compile("1 answer was not saved: .*: 3 rows .yes.. It stays"))
    assert len(server.answers("anna")) == 37
    page.locator("#discard").click()
    expect(page.locator("#alert")).to_be_hidden()


def test_keys_stay_when_the_table_has_changed_and_the_page_says_so(changing, visit):
    server, frame = changing
    page = visit(server.url, is_broken=True)
    current(page)
    for name in ("yse", "maybe"):
        add_class(page, name)
    page.keyboard.press("r")
    page.locator("#rename-class").select_option("yse")
    page.locator("#rename-name").fill("yes")
    page.locator("#rename-name").press("Enter")
    page.locator("#confirm-yes").press("Enter")
    outcome(page, "Class yse is now yes")
    assert [key_of(page, name) for name in ("no", "yes", "maybe")] == ["1", "2", "4"]
    server.kill()
    with page.expect_event("load"):
        start_again(server, frame[::-1], page)
    expect(page.locator("#last")).to_have_text(
        "The table has changed, so the page was loaded again. Your answers are saved."
    )
    assert [key_of(page, name) for name in ("no", "yes", "maybe")] == ["1", "2", "4"]


def test_the_question_for_the_first_class_ends_when_another_person_adds_it(serve, visit, groups, tmp_path):
    path = tmp_path / "customers.csv"
    groups(40)[0].to_csv(path, index=False)
    server = serve(path, "risk", "--user", "anna", "--user", "ben", n_users=2)
    page, other = (visit(server.addresses[name]) for name in ("anna", "ben"))
    for one in (page, other):
        expect(one.locator("#new-class-name")).to_be_focused()
    other.keyboard.type("11")  # too early: the classes of the first person are not there yet
    page.keyboard.type("yes")
    page.keyboard.press("Enter")
    expect(other.locator("#new-class-form")).to_be_hidden()
    row, _ = answer(other, "1")
    assert server.answers("ben") == {row: ["yes"]}


def test_the_nearest_rows_come_to_the_first_card_of_a_new_start(changing, visit):
    server, frame = changing
    page = visit(server.url, is_broken=True)
    for key in ("1", "2", "1", "2"):
        answer(page, key)
    server.kill()
    start_again(server, frame, page)
    other = visit(server.url)
    expect(other.locator("#nearest li")).to_have_count(3)


# ---------------------------------------------------------------- hostile tables

SCRIPT_TEXT = "<script>window.hacked = 1</script>"
IMAGE_TEXT = '<img src=x onerror="window.hacked=1">'
CLOSING_TEXT = "</dd></dl></article></body></html>"
TARGET = "<u>target {{6*6}}</u>"
HEBREW = "שלום עולם"
RIGHT_TO_LEFT = f"\u202e{HEBREW}\u202c مرحبا"
HOSTILE = [
    SCRIPT_TEXT,
    IMAGE_TEXT,
    CLOSING_TEXT,
    "{{7*7}}",
    "${7*7}<%= 7*7 %>",
    "=HYPERLINK(1)",
    RIGHT_TO_LEFT,
    "javascript:window.hacked=1",
]


@pytest.fixture(scope="module", params=[("csv", 130_000), pytest.param(("parquet", 1_000_000), marks=pytest.mark.slow)])
def hostile(request, serve, tmp_path_factory):
    """A table whose cells, columns, classes, name and user try to be more than text, and with a cell that is long."""
    kind, longest = request.param
    n, rng = 48, np.random.default_rng(0)
    columns = {
        "betrag": [f"{1000 + value:,.2f}".translate(str.maketrans(",.", ".,")) for value in 900 * rng.random(n)],
        "anteil": [f"{value:.3f}".replace(".", ",") for value in rng.random(n)],
        **{name: [HOSTILE[i % min(2 + j, len(HOSTILE))] for i in range(n)] for j, name in enumerate(HOSTILE)},
        "text": [f"{i} {HOSTILE[i % len(HOSTILE)]} " + "x" * (longest if i % 4 == 3 else 10) for i in range(n)],
    }
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / "<img src=x onerror=window.hacked=1>{{7*7}}"
    path = path.with_name(f"{path.name}.{kind}")
    frame = pd.DataFrame(columns)
    if kind == "csv":
        frame.to_csv(path, sep=";", index=False)
    else:
        frame.to_parquet(path, index=False)
    return serve(path, TARGET, "--user", "<b>eve</b>"), columns


def test_texts_of_a_hostile_table_stay_texts(hostile, visit):
    server, columns = hostile
    page = visit(server.url)
    names = [SCRIPT_TEXT, "{{7*7}}", "=1+1", f"</button>{IMAGE_TEXT}", HEBREW]
    for name in names:
        add_class(page, name)
    assert page.locator("#classes button bdi").all_text_contents() == names
    for turn in range(6):
        row, _ = answer(page, str(1 + turn % len(names)))
        current(page, but=row)
    while page.locator(".value[data-column=text] .fold").count() == 0:
        current(page, but=answer(page, "s")[0])
    row = current(page)
    shown = page.locator(".value").evaluate_all(
        "all => all.map(each => [each.dataset.column, each.querySelector('dd').firstChild.textContent])"
    )
    cut = {name: values[row] for name, values in columns.items()}
    n_letters = len(cut["text"])
    assert n_letters > 130_000
    cut["text"] = cut["text"][:2000] + " …"
    assert dict(shown) == cut
    page.keyboard.press("e")
    expect(page.locator(".value[data-column=text] .long.open")).to_be_visible()
    assert len(page.locator(".value[data-column=text] .long").text_content()) == min(n_letters, 200_000)
    page.keyboard.press("e")
    expect(page.locator("h1")).to_have_text(f"{server.table.name} column {TARGET}")
    for tab in ("again", "history"):
        page.locator(f"#tab-{tab}").click()
    expect(page.locator("#history .class-name")).to_have_count(6)
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_selector("#table-view tr[data-row]")
    heads = page.locator("#table-view thead th").all_text_contents()
    assert sorted(heads) == sorted(["Row", "Answer", *columns])
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("user <b>eve</b>")
    page.keyboard.press("Escape")
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("main :is(img, script, iframe, object, embed)").count() == 0
    labels = [event["label"] for event in server.events() if event["action"] == "label"]
    assert labels == [*names, names[0]]


# ---------------------------------------------------------------- accessibility and network


def findings(page):
    """Return the serious findings of axe-core."""
    found = Axe().run(page).response["violations"]
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(heart, visit, truth, scheme):
    page = visit(heart.addresses["axe"], bypass_csp=True, color_scheme=scheme, reduced_motion="reduce")
    for name in CLASSES:
        add_class(page, name)
    label_by(page, truth, 4)
    page.keyboard.press("g")
    assert findings(page) == []
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.wait_for_selector("#table-view tr[data-row]")
    page.keyboard.press("1")
    expect(page.locator("#table-view .answer[data-state=saved]")).to_have_count(1)
    assert findings(page) == []


def test_the_page_fits_a_phone(heart, visit):
    page = visit(heart.addresses["net"], viewport={"width": 390, "height": 844}, has_touch=True)
    current(page)
    for _ in range(2):
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
        page.locator("#table-switch").tap()
    assert page.evaluate("() => document.body.dataset.view") == "card"


def test_every_request_goes_to_the_server(heart, visit):
    page = visit(heart.addresses["net"])
    current(page)
    page.locator("#table-switch").click()  # a key would go to the input for the first class
    page.wait_for_selector("#table-view tr[data-row]")
    base = heart.url.partition("?")[0]
    paths = {request.removeprefix(base).partition("?")[0] for request in visit.requests}
    assert {"api/state", "api/next", "api/map", "static/main.js", "static/style.css"} <= paths
    assert all(request.startswith(base) for request in visit.requests)
