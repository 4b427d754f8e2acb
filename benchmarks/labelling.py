"""The labelling page on a table of 100,000 rows and 20 columns, through the command and HTTP as a browser would.

Times from the start of the command to its address, from there to the first card, from an answer to the next card, and
from an answer to the map and the accuracy that include it.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

N_ROWS, N_COLUMNS, N_LABELS = 100_000, 20, 40
TINY_N_ROWS, TINY_N_LABELS = 500, 12
ROOT = Path(__file__).parents[1]


def made_table(n_rows: int, random: np.random.RandomState) -> tuple[pd.DataFrame, np.ndarray]:
    """Make a table of eight groups, with numbers, categories and gaps, and three classes."""
    group = random.randint(8, size=n_rows)
    values = 2 * random.normal(size=(8, N_COLUMNS))[group] + random.normal(size=(n_rows, N_COLUMNS))
    frame = pd.DataFrame({f"number {i}": values[:, i].round(3) for i in range(N_COLUMNS - 4)})
    for i in range(N_COLUMNS - 4, N_COLUMNS):
        frame[f"category {i}"] = pd.Series(np.abs(values[:, i]).clip(0, 4).astype(int)).map("value {}".format)
    frame = frame.mask(random.uniform(size=frame.shape) < 0.01)
    return frame, np.array(["low", "middle", "high"])[group % 3]


class Client:
    """A browser, as far as the server can tell: one connection, a cookie."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._connection.request("GET", f"/?{parts.query}")
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = answer.headers["set-cookie"].partition(";")[0]
        self.get("/")

    def get(self, path: str) -> bytes:
        """Give the content of an address."""
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        return self._connection.getresponse().read()

    def json(self, path: str) -> Any:
        """Give the JSON of an address."""
        return json.loads(self.get(path))

    def post(self, path: str, body: Any) -> Any:
        """Send JSON, and give the answer."""
        headers = {"Cookie": self._cookie, "Content-Type": "application/json"}
        self._connection.request("POST", path, json.dumps(body), headers)
        return json.loads(self._connection.getresponse().read())


def run(*, tiny: bool = False) -> None:
    """Start the command on a made table, label some rows, and print times."""
    n_rows, n_labels = (TINY_N_ROWS, TINY_N_LABELS) if tiny else (N_ROWS, N_LABELS)
    frame, truth = made_table(n_rows, np.random.RandomState(0))
    print(f"mixkern label, {n_rows:,} rows, {N_COLUMNS} columns, {n_labels} labels", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path, index=False)
        command = [sys.executable, "-m", "mixkern", "label", str(path), "--target", "class", "--no-browser"]
        start = time.perf_counter()
        server = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=dict(os.environ)
        )
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[0]
            ready = time.perf_counter()
            print(f"  address {ready - start:.2f} s after the start of the command", flush=True)
            _label(Client(address), truth, n_labels)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


def _label(client: Client, truth: np.ndarray, n_labels: int) -> None:
    start = time.perf_counter()
    client.json("/api/state")
    card = client.json("/api/next")["card"]
    print(f"  first card {time.perf_counter() - start:.2f} s after the page, target 2 s", flush=True)
    nexts, updates = [], []
    for i in range(n_labels):
        answer = {"id": f"answer {i}", "key": card["key"], "action": "label", "label": str(truth[card["row"]])}
        start = time.perf_counter()
        card = client.post("/api/answers", {"answers": [answer], "next": True})["card"]
        nexts.append(time.perf_counter() - start)
        while time.perf_counter() < start + 30:
            state = client.json("/api/state")
            if state["stage"] == "ready" and state["version"] and state["model"] >= state["version"]:
                client.get("/api/predictions")
                updates.append(time.perf_counter() - start)
                break
            if state["stage"] == "ready" and not state["version"]:  # one class so far
                break
            time.sleep(0.02)
    print(f"  next card {_spread(nexts)}, target 100 ms (95 %)", flush=True)
    print(f"  map and accuracy {_spread(updates)}, target 1,000 ms", flush=True)


def _spread(times: list[float]) -> str:
    if not times:
        return "never"
    median, most = np.percentile(times, [50, 95])
    return f"{1e3 * median:.0f} ms (median), {1e3 * most:.0f} ms (95 %)"
