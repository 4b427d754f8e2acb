"""Requests to `mixkern serve` by many clients at the same time, malformed ones among them, while workers are killed.

Each answer is compared with that of `assess`, bit by bit, and each malformed request has a status that is expected.
"""

import http.client
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from mixkern import MixtureSVC, datasets, save
from mixkern.errors import ColumnChoiceWarning, ignored_warnings

JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
SCRIPT = Path(sys.executable).with_name("mixkern")
N_ROWS = (1, 2, 10, 50)  # of requests
MOST_GROWTH_MIB = 20  # of the largest process


class Load:
    """Requests with the answers that are expected."""

    def __init__(self, model, X):
        self._rows = json.loads(X.to_json(orient="records"))
        self._arrow = pa.Table.from_pandas(X, preserve_index=False)
        self._expected = model.assess(X).to_dict("records")
        self._names = list(X)

    def request(self, draw):
        """Draw a request: method, path, headers, body, status and predictions."""
        start, n = draw.randrange(len(self._rows) - 50), draw.choice(N_ROWS)
        rows, expected = self._rows[start : start + n], self._expected[start : start + n]
        kind = draw.random()
        if kind < 0.5:
            return "POST", "/predict", {"Content-Type": JSON}, json.dumps(rows).encode(), 200, expected
        if kind < 0.6:
            columns = {name: [row[name] for row in rows] for name in self._names}
            body = json.dumps({"columns": columns}).encode()
            by_column = {name: [row[name] for row in expected] for name in expected[0]}
            return "POST", "/predict", {"Content-Type": JSON}, body, 200, by_column
        if kind < 0.75:
            sink = io.BytesIO()
            with pa.ipc.new_stream(sink, self._arrow.schema) as writer:
                writer.write_table(self._arrow.slice(start, n))
            return "POST", "/predict", {"Content-Type": ARROW}, sink.getvalue(), 200, expected
        return (*self._malformed(draw, rows), None)

    def _malformed(self, draw, rows):
        typed, name = {"Content-Type": JSON}, self._names[0]
        whole = json.dumps(rows).encode()
        return draw.choice(
            [
                ("POST", "/predict", typed, whole[: len(whole) // 2], 400),
                ("POST", "/predict", typed, b"\xff\x00" * 50, 400),
                ("POST", "/predict", typed, b"[" * 50_000, 400),
                ("POST", "/predict", typed, json.dumps([{**rows[0], name: "old"}]).encode(), 400),
                ("POST", "/predict", typed, json.dumps([{**rows[0], name: [1, {}]}]).encode(), 400),
                ("POST", "/predict", typed, json.dumps([{"nothing": 1}]).encode(), 400),
                ("POST", "/predict", typed, json.dumps(rows[:1] * 10_001).encode(), 413),
                ("POST", "/predict", {"Content-Type": ARROW}, draw.randbytes(500), 400),
                ("POST", "/predict", {"Content-Type": "text/csv"}, b"a,b\n1,2\n", 415),
                ("POST", "/predict", {**typed, "Accept": "text/html"}, whole, 406),
                ("POST", "/predict?abstain=two", typed, whole, 400),
                ("POST", "/predict", {**typed, "Origin": "http://evil.example"}, whole, 403),
                ("GET", "/predict", {}, None, 405),
                ("GET", "/nowhere", {}, None, 404),
                ("POST", "/predict", {**typed, "Host": "evil.example"}, whole, 421),
            ]
        )


class Clients:
    """Threads that send requests, and what came of them."""

    def __init__(self, load, port, n_requests, n_clients):
        self.load, self.port = load, port
        self.left = list(range(n_requests))
        self.lock = threading.Lock()
        self.statuses, self.wrong, self.repeated, self.times = Counter(), [], 0, []
        self.threads = [threading.Thread(target=self._work) for _ in range(n_clients)]

    def _work(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        while True:
            with self.lock:
                if not self.left:
                    break
                seed = self.left.pop()
            method, path, headers, body, status, expected = self.load.request(random.Random(seed))  # noqa: S311
            while True:
                start = time.perf_counter()
                try:
                    connection.request(method, path, body, headers)
                    answer = connection.getresponse()
                    content = answer.read()
                    break
                except (OSError, http.client.HTTPException):  # not answered: sent again
                    connection.close()
                    with self.lock:
                        self.repeated += 1
            seconds = time.perf_counter() - start
            is_right = answer.status == status and b"Traceback" not in content
            if is_right and expected is not None:
                is_right = self._predictions(answer, content) == expected
            with self.lock:
                self.statuses[answer.status] += 1
                self.times.append(seconds)
                if not is_right:
                    self.wrong.append((seed, answer.status, status, content[:200]))
        connection.close()

    def _predictions(self, answer, content):
        if answer.headers["content-type"] == ARROW:
            return pa.ipc.open_stream(content).read_all().to_pylist()
        return json.loads(content)["predictions"]


def children(process):
    """Return the processes that a process has started."""
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def resident(process):
    """Return the resident memory of a process in MiB."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    except OSError:
        return 0.0


def attack(process, clients, n_kills, n_requests):
    """Kill a worker several times while requests are answered, and record the largest memory."""
    most, killed = 0.0, 0
    while any(thread.is_alive() for thread in clients.threads):
        done = n_requests - len(clients.left)
        workers = children(process)
        if killed < n_kills and done > n_requests * (killed + 1) / (n_kills + 1) and workers:
            os.kill(workers[0], signal.SIGKILL)
            killed += 1
        most = max(most, resident(process) + sum(map(resident, workers)))
        time.sleep(0.02)
    return most, killed


def served(folder, n_workers):
    """Fit a model and start its server; return process, port, errors, requests."""
    heart = datasets.load("heart")
    X = heart.X.astype(float).reset_index(drop=True)
    X.iloc[::7, 0] = np.nan
    with ignored_warnings(ColumnChoiceWarning):
        model = MixtureSVC(random_state=0).fit(X, heart.few_labels(per_class=10, random_state=0))
    path = save(model, folder / "heart.mixkern")
    errors = (folder / "errors").open("w+")
    command = [SCRIPT, "serve", path, "--workers", str(n_workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)  # noqa: S603
    port = int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])
    return process, port, errors, Load(model, X)


def wait_until_ready(port, n_workers):
    """Wait until all workers are ready."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/health")
        found = json.loads(connection.getresponse().read())
        connection.close()
        if found["workers"] == n_workers:
            return
        time.sleep(0.1)


def run(*, tiny: bool = False) -> None:
    """Send requests, and print figures; raise an error for wrong or lost answers, tracebacks and growing processes."""
    n_requests, n_clients, n_kills = (300, 10, 1) if tiny else (10_000, 50, 3)
    n_workers = 2
    with tempfile.TemporaryDirectory() as folder:
        process, port, errors, load = served(Path(folder), n_workers)
        try:
            wait_until_ready(port, n_workers)
            before = [resident(each) for each in (process.pid, *children(process.pid))]
            clients = Clients(load, port, n_requests, n_clients)
            start = time.perf_counter()
            for thread in clients.threads:
                thread.start()
            most, killed = attack(process.pid, clients, n_kills, n_requests)
            seconds = time.perf_counter() - start
            wait_until_ready(port, n_workers)
            after = [resident(each) for each in (process.pid, *children(process.pid))]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        errors.seek(0)
        log = errors.read()
        errors.close()
    half, nearly = np.percentile(clients.times, [50, 99]) * 1000
    print(f"{sum(clients.statuses.values()):,} requests by {n_clients} clients, {n_workers} workers, {killed} killed")
    print(f"answers by status: {dict(sorted(clients.statuses.items()))}; wrong: {len(clients.wrong)}")
    print(f"sent again, because a connection broke: {clients.repeated}; lines in the log: {len(log.splitlines())}")
    print(f"{n_requests / seconds:.0f} requests/s, median {half:.1f} ms, 99 % within {nearly:.1f} ms")
    texts = [", ".join(f"{each:.0f}" for each in found) for found in (before, after)]
    print(f"resident MiB of server and workers: {texts[0]} before, {texts[1]} after, {most:.0f} in all at most")
    if clients.wrong or "Traceback" in log or sum(clients.statuses.values()) != n_requests:
        raise SystemExit(f"wrong answers or a traceback: {clients.wrong[:5]}\n{log[:2000]}")
    if clients.repeated or killed != n_kills:
        raise SystemExit(f"{clients.repeated} requests were lost by {killed} of {n_kills} kills")
    if max(after) > max(before) + MOST_GROWTH_MIB:
        raise SystemExit(f"a process has grown by more than {MOST_GROWTH_MIB} MiB")
