"""Tables, sessions and clients that the tests of labelling share."""

import http.client
import json
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from mixkern.labelling import Journal, LabelServer, LabelSession, LabelTable
from mixkern.labelling import session as session_module

N_ROWS = 80


def two_groups(n=N_ROWS, seed=0):
    """Two groups of rows with numbers, categories, gaps and an identifier, and the group of each row."""
    values, group = make_blobs(n, centers=[[0.0, 0.0], [9.0, 9.0]], random_state=seed)
    sex = np.where(group == 1, "m", "w").astype(object)
    sex[::9] = None
    frame = pd.DataFrame({"id": [f"c{i:05}" for i in range(n)], "age": values[:, 0].round(3), "income": values[:, 1]})
    return frame.assign(sex=sex), np.where(group == 1, "yes", "no")


class Client:
    """A browser: it keeps cookies, and sends JSON."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port, self.start = parts.hostname, parts.port, f"{parts.path}?{parts.query}"
        self.cookie = ""

    def send(self, method, path, body=None, headers=(), chunks=None):
        """Send one request; return status, headers and body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        own = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None and not isinstance(body, bytes):
            body, own["Content-Type"] = json.dumps(body).encode(), "application/json"
        try:
            connection.request(
                method, path, chunks or body, {**own, **dict(headers)}, encode_chunked=chunks is not None
            )
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        return SimpleNamespace(status=answer.status, headers=answer.headers, body=content)

    def log_in(self):
        """Open the address with the token."""
        found = self.send("GET", self.start)
        self.cookie = found.headers["set-cookie"].partition(";")[0]
        return self

    def get(self, path):
        found = self.send("GET", path)
        assert found.status == 200, found.body
        return json.loads(found.body)

    def post(self, path, body):
        found = self.send("POST", path, body)
        assert found.status == 200, found.body
        return json.loads(found.body)


@pytest.fixture(scope="session")
def groups():
    """A frame and the class of each row."""
    return two_groups


@pytest.fixture(scope="session")
def table():
    """A table without labels."""
    return LabelTable.of(two_groups()[0], target="risk", name="customers")


@pytest.fixture(scope="session")
def truth():
    """The class of each row of the table."""
    return two_groups()[1]


@pytest.fixture
def open_session(tmp_path, table, monkeypatch):
    """Open sessions, which are closed after the test; the threads of the learner are not started."""
    monkeypatch.setattr(session_module, "WAIT_S", 0.0)
    found = []

    def opened(own=None, name="risk.labels", **options):
        session = LabelSession(own or table, Journal(tmp_path / name), **options)
        found.append(session)
        return session

    yield opened
    for session in found:
        session.stop()
        session.journal.close()


@pytest.fixture
def serve(open_session):
    """Start servers, which are stopped after the test."""
    found = []

    def served(users=("anna",), session=None, is_started=True, **options):
        server = LabelServer(session or open_session(), users, **options)
        found.append(server)
        return server.start() if is_started else server

    yield served
    for server in found:
        server.stop()


@pytest.fixture(scope="session")
def client():
    """Return the browser of an address, logged in unless it is not wanted."""

    def opened(url, is_in=True):
        found = Client(url)
        return found.log_in() if is_in else found

    return opened


@pytest.fixture(scope="session")
def learned():
    """Wait until a learner has found something; not every change wakes those who wait."""

    def wait(learner, condition):
        deadline = time.monotonic() + 120
        while not condition(learner):
            assert time.monotonic() < deadline, learner.error
            time.sleep(0.01)

    return wait
