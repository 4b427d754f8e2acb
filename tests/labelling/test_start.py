"""Start and stop of the labelling page from Python."""

import getpass
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from mixkern import label
from mixkern.errors import JournalError, LabelError, OptionError
from mixkern.labelling import Journal, LabelServer
from mixkern.labelling import start as start_module

pytestmark = pytest.mark.slow  # servers and threads


@pytest.fixture
def page(tmp_path, groups):
    """Start pages, which are stopped after the test."""
    found = []

    def started(y=None, **options):
        options = {"target": "risk", "journal": tmp_path / "risk.labels", "browser": False} | options
        server = label(groups()[0], y, **options)
        found.append(server)
        return server

    yield started
    for server in found:
        server.stop()


def port_of(server):
    return int(server.url.partition("127.0.0.1:")[2].partition("/")[0])


def is_open(server):
    port = port_of(server)
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_y_has_the_labels_so_far(page, client, learned, truth):
    server = page()
    browser = client(server.url)
    assert server.y.tolist() == [None] * 80
    for number in range(12):
        card = browser.get("/api/next")["card"]
        row = card["row"]
        given = {"id": f"{number}", "key": card["key"], "action": "label", "label": str(truth[row])}
        browser.post("/api/answers", {"answers": [given]})
        assert server.y[row] == truth[row]
    assert sum(each is not None for each in server.y) == 12
    learned(server.session.learner, lambda each: each.model is not None and len(each.model.positions) == 12)
    state = browser.get("/api/state")
    assert (state["stage"], state["counts"]["labels"]) == ("ready", 12)
    assert 1 <= state["counts"]["random"] <= 4
    assert browser.get("/api/rows/0")["card"]["guess"] is not None


def test_a_journal_has_the_same_port_again_unless_it_is_taken(page, client):
    first = page()
    client(first.url).post("/api/classes", {"name": "yes"})  # the port is recorded with the first event
    port = port_of(first)
    second = page()  # beside it
    assert port_of(second) != port
    for server in (second, first):
        server.stop()
    third = page()
    assert port_of(third) == port


def test_labels_that_there_are_already_and_classes(page):
    y = np.array([None] * 80, dtype=object)
    y[3] = "no"
    server = page(y, classes=["yes"])
    assert server.y.tolist() == y.tolist()
    assert server.session.classes == ["yes", "no"]


def test_stop_releases_port_threads_and_journal(page, tmp_path):
    before = set(threading.enumerate())
    server = page()
    port = int(server.url.partition("127.0.0.1:")[2].partition("/")[0])
    assert is_open(server)
    server.session.add_class("anna", "maybe")
    server.stop()
    assert set(threading.enumerate()) <= before
    with socket.create_server(("127.0.0.1", port)):
        pass
    with Journal(tmp_path / "risk.labels", read_only=True) as journal:
        assert journal.meta()["target"] == "risk"
    assert len(server.y) == 80  # the labels can still be read
    server.stop()  # once more does nothing


def test_a_page_is_a_context_manager(page):
    with page() as server:
        assert is_open(server)
    assert not is_open(server)


def test_a_page_is_continued(page):
    with page() as server:
        server.session.add_class("anna", "maybe")
    assert page().session.classes == ["maybe"]


def test_a_page_is_shown_as_a_link_in_notebooks(page):
    server = page(users="anna")
    assert server.url.startswith("http://127.0.0.1:")
    assert f'href="{server.url}"' in server._repr_html_()
    assert repr(server) == f"LabelServer('{server.url}', 0 labels of 80 rows)"
    server.addresses = {"anna": 'http://x/?a=1&b="><script>'}
    assert "<script>" not in server._repr_html_()
    assert "&amp;b=&quot;&gt;&lt;script&gt;" in server._repr_html_()


def test_each_person_has_an_address(page, client):
    server = page(users=["anna", "ben", "anna"])
    assert list(server.addresses) == ["anna", "ben"]
    assert client(server.addresses["ben"]).get("/api/state")["user"] == "ben"


def test_by_default_the_name_is_that_of_the_account(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: " anna ")
    assert start_module.account() == "anna"
    for wrong in ("", "\x00", "x" * 100):
        monkeypatch.setattr(getpass, "getuser", lambda wrong=wrong: wrong)
        assert start_module.account() == "me"


def test_the_page_is_opened_in_the_browser(page, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert opened == [page(browser=True).url]


def test_by_default_the_journal_lies_in_the_current_folder(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page(journal=None)
    assert Path("risk.labels").is_file()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "", "example.org"])
def test_other_machines_need_a_password(open_session, host):
    with pytest.raises(OptionError, match="so a password is needed"):
        LabelServer(open_session(), ["anna"], host=host)


def test_a_public_server_listens_with_a_password(serve, open_session, client):
    session = open_session()
    session.learner.start = lambda: None
    server = serve(session=session, host="0.0.0.0", password="secret")
    browser = client(server.url.replace("localhost", "127.0.0.1"), is_in=False)
    assert browser.send("GET", "/").headers["location"] == "/login"


def test_a_port_in_use_is_a_sentence(open_session):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=f"Port {port} of 127.0.0.1 cannot be used: .*Choose another port"):
            LabelServer(open_session(), ["anna"], port=port)


def test_a_port_that_cannot_be_is_a_sentence(open_session):
    with pytest.raises(OptionError, match="port must be a whole number from 0 to 65535, but it is 70000"):
        LabelServer(open_session(), ["anna"], port=70_000)


@pytest.fixture
def sockets(monkeypatch):
    """Sockets that were opened; those that are still open are closed after the test."""
    found, original = [], socket.create_server

    def opened(*args, **options):
        found.append(original(*args, **options))
        return found[-1]

    monkeypatch.setattr(socket, "create_server", opened)
    yield found
    for each in found:
        each.close()


@pytest.mark.parametrize("users", [[""], ["a\nb"], ["x" * 65], []], ids=str)
def test_persons_need_names_and_no_port_stays_open_without(open_session, users, sockets):
    with pytest.raises(OptionError, match="name"):
        LabelServer(open_session(), users)
    assert all(each.fileno() == -1 for each in sockets)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"audit": 1.5}, OptionError),
        ({"overlap": -0.1}, OptionError),
        ({"users": ""}, OptionError),
        ({"target": "age"}, LabelError),
        ({"journal": "/nowhere/at/all/a.labels"}, JournalError),
    ],
    ids=str,
)
def test_wrong_arguments_are_errors(page, options, error, sockets):
    with pytest.raises(error):
        page(**options)


def test_a_server_that_was_not_started_can_be_stopped(serve):
    server = serve(is_started=False)
    server.stop()
    assert not is_open(server)
