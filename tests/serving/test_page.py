"""The page of a server in Chromium: it runs no scripts, fits the screen, and can be read by all."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from mixkern import MixtureSVC, save
from mixkern.serving import ModelServer

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SCRIPT = "<script>document.title='run'</script>"
IMAGE = '"><img src=x onerror="document.title=\'run\'">'


TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A model whose names look like code."""
    random = np.random.RandomState(0)
    group = np.arange(60) % 2
    X = pd.DataFrame({SCRIPT: random.normal(size=60) + 5 * group, "long" * 40: np.where(group, IMAGE, "גיל ' $(ls)")})
    y = pd.Series(np.where(group, IMAGE, SCRIPT), dtype=object)
    y[20:] = None
    folder = tmp_path_factory.mktemp("page")
    return save(MixtureSVC(random_state=0).fit(X, y), folder / "a&b.mixkern", notes={"target": SCRIPT})


@pytest.fixture(scope="module")
def address(path):
    with ModelServer(path) as server:
        yield server.url


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None and os.environ.get("CI") == "true":
        pytest.fail("Chromium is not installed, and CI must run the browser tests")
    if path is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.parametrize(("width", "scheme"), [(1366, "light"), (400, "light"), (1366, "dark")])
def test_names_are_text_and_all_fits_the_screen(browser, address, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    assert page.title() == f"Predicting {SCRIPT}"
    assert messages == []
    assert all(url.startswith((address, "data:")) for url in requests)
    assert page.locator("script, img").count() == 0
    assert SCRIPT in page.locator("table").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [each["id"] for each in Axe().run(page).response["violations"]] == []
    context.close()


def test_a_browser_asks_for_a_name_and_the_token(browser, path):
    """Chromium answers a challenge with a name and a password; the page and its style are then shown."""
    with ModelServer(path, token=TOKEN) as server:
        for password, status in ((TOKEN, 200), ("wrong", 401)):
            context = browser.new_context(http_credentials={"username": "anyone", "password": password})
            page, statuses = context.new_page(), []
            page.on("response", lambda response, into=statuses: into.append(response.status))
            assert page.goto(server.url).status == status
            assert (page.title() == f"Predicting {SCRIPT}") == (status == 200)
            assert set(statuses) == {status}
            context.close()
