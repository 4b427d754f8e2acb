"""A table with all types of columns, its model, and a client."""

import http.client
import json
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC, TableEncoder, save
from mixkern.errors import ColumnChoiceWarning, ignored_warnings
from mixkern.serving.predictor import Predictor

N = 120
JSON = "application/json"


def mixed_table(n=N):
    """Two groups of rows with numbers, categories, booleans, dates, comments and gaps, and the group of each row."""
    random = np.random.RandomState(0)
    group = random.randint(2, size=n)
    words = (["came late", "delivery slow", "parcel lost"], ["invoice wrong", "price too high", "please refund"])
    notes = [f"{random.choice(words[g])} {random.choice(words[g])} again, case {i}" for i, g in enumerate(group)]
    frame = pd.DataFrame(
        {
            "age": (random.normal(size=n) + 5 * group + 30),
            "town": np.array(["Ulm", "Kassel", "Pässau"], dtype=object)[(group + (random.rand(n) < 0.2)) % 3],
            "smoker": pd.array(group ^ (random.rand(n) < 0.2), dtype="boolean"),
            "since": pd.Timestamp("2023-01-01 12:30")
            + pd.to_timedelta(random.randint(0, 300, n) + 400 * group, unit="D"),
            "wait": pd.to_timedelta(random.randint(60, 9000, n), unit="s"),
            "note": pd.Series(notes, dtype=object),
        }
    )
    for i, name in enumerate(frame):
        frame.loc[i :: 11 + i, name] = None
    return frame, np.where(group == 1, "yes", "no")


@pytest.fixture(scope="package")
def table():
    return mixed_table()[0]


@pytest.fixture(scope="package")
def model():
    frame, truth = mixed_table()
    y = pd.Series(truth, dtype=object)
    y[30:] = None
    encoder = TableEncoder(categorical=["town", "smoker"], continuous=["age"])
    with ignored_warnings(ColumnChoiceWarning):  # about the comments
        return MixtureSVC(encoder=encoder, random_state=0).fit(frame, y)


@pytest.fixture(scope="package")
def path(model, tmp_path_factory):
    return save(model, tmp_path_factory.mktemp("serving") / "people.mixkern", notes={"target": "churn"})


@pytest.fixture(scope="package")
def predictor(model):
    return Predictor(model, 1000)


@pytest.fixture(scope="package")
def records():
    """Convert rows of a table to what JSON has."""

    def converted(frame):
        found = []
        for row in frame.to_dict("records"):
            cells = {name: None if pd.isna(cell) else cell for name, cell in row.items()}
            cells["since"] = None if cells["since"] is None else cells["since"].isoformat()
            cells["wait"] = None if cells["wait"] is None else cells["wait"].total_seconds()
            found.append(cells)
        return found

    return converted


class Client:
    """Sends requests to a server, each over a connection of its own."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port = parts.hostname, parts.port

    def send(self, method, path, body=None, chunks=None, **headers):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body, own = json.dumps(body).encode(), {"Content-Type": JSON} | own
        try:
            connection.request(method, path, chunks or body, own, encode_chunked=chunks is not None)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        is_json = answer.headers.get("content-type") == JSON
        found = json.loads(content) if is_json else None
        return SimpleNamespace(status=answer.status, headers=answer.headers, body=content, json=found)


@pytest.fixture(scope="session")
def client():
    return Client
