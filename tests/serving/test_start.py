"""The server over real connections: addresses, limits, tokens, and workers that are killed or hang."""

import base64
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pytest

from mixkern.errors import ModelFileError, OptionError
from mixkern.serving import Limits, ModelServer
from mixkern.serving.request import ARROW, JSON
from mixkern.web.guard import HEADERS

pytestmark = pytest.mark.slow  # servers and processes

TOKEN = "a long token, é = 12345"


@pytest.fixture(scope="module")
def shared(path):
    """A server with two workers, for tests that leave no trace."""
    with ModelServer(path, workers=2, limits=Limits(rows=200)) as server:
        yield server


@pytest.fixture
def served(path):
    """Start servers, which are stopped after the test."""
    found = []

    def started(**options):
        found.append(ModelServer(path, **options).start())
        wait_for(lambda: len(found[-1].processes) == options.get("workers", 1))
        return found[-1]

    yield started
    for server in found:
        server.stop()


@pytest.fixture
def web(shared, client):
    return client(shared.url)


@pytest.fixture(scope="module")
def rows(table, records):
    return records(table[:20])


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


# ---------------------------------------------------------------- addresses


def test_predictions_are_those_of_assess(web, rows, model, table, shared):
    found = web.send("POST", "/predict?all_classes=true", rows)
    expected = model.assess(table[:20], all_classes=True)
    assert found.status == 200
    assert pd.DataFrame(found.json["predictions"]).to_dict("list") == expected.to_dict("list")
    assert found.headers["x-model-sha256"] == shared.description.sha256


def test_arrow_in_and_out(web, table, model):
    sink = io.BytesIO()
    arrow = pa.Table.from_pandas(table[:20], preserve_index=False)
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    found = web.send("POST", "/predict", sink.getvalue(), Content_Type=ARROW)
    assert found.headers["content-type"] == ARROW
    assert pa.ipc.open_stream(found.body).read_all().to_pydict() == model.assess(table[:20]).to_dict("list")
    as_json = web.send("POST", "/predict", sink.getvalue(), Content_Type=ARROW, Accept=JSON)
    assert as_json.json["predictions"] == pa.ipc.open_stream(found.body).read_all().to_pylist()


def test_the_page_describes_the_model(web, shared):
    found = web.send("GET", "/")
    text = found.body.decode()
    assert found.status == 200
    assert found.headers["content-type"].startswith("text/html")
    assert all(word in text for word in ("Predicting churn", "Pässau", "curl ", shared.description.sha256, "smoker"))
    assert web.send("GET", "/style.css").headers["content-type"].startswith("text/css")


@pytest.mark.posix
def test_the_command_of_the_page_works(shared, web):
    command = shared.description.command(shared.url, has_token=False).replace("\\\n", "")
    done = subprocess.run(["sh", "-c", f"{command} --silent"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["predictions"][0]["label"] in ("yes", "no")


def test_facts_of_the_model(web, model, path):
    facts = web.send("GET", "/model").json
    assert facts["classes"] == ["no", "yes"]
    assert facts["labels"] == model.n_labels_.tolist()
    assert [column["name"] for column in facts["columns"]] == list(model.feature_names_in_)
    assert facts["limits"]["rows"] == 200
    done = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
    assert facts["sha256"] == done.stdout.split()[0]


def test_the_description_for_generated_clients(web, closed):
    found = web.send("GET", "/openapi.json").json
    assert found["components"]["schemas"]["Row"]["required"] == ["age", "town", "smoker", "since", "wait", "note"]
    assert "security" not in found
    own = closed.send("GET", "/openapi.json", Authorization=f"Bearer {TOKEN}".encode()).json
    assert own["security"] == [{"token": []}]


def test_health(web):
    assert web.send("GET", "/health/live").json == {"status": "live"}
    wait_for(lambda: web.send("GET", "/health").json == {"status": "ready", "workers": 2})


def test_a_server_that_is_not_ready_says_so(path, client, rows):
    with ModelServer(path) as server:
        web = client(server.url)
        first = web.send("GET", "/health")
        assert (first.status, first.json["status"]) in ((503, "starting"), (200, "ready"))
        assert web.send("POST", "/predict", rows).status == 200  # waits for a worker
        assert web.send("GET", "/health").status == 200


def samples(web):
    text = web.send("GET", "/metrics").body.decode()
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_requests_are_counted_by_status_with_times_and_rows(web, rows):
    before = samples(web)
    web.send("POST", "/predict", rows)
    web.send("POST", "/predict", [{}])
    web.send("GET", "/predict")
    web.send("GET", "/nowhere/at/all")
    web.send("BREW", "/")
    after = samples(web)

    def more(name):
        return after.get(name, 0) - before.get(name, 0)

    for path, method, status in (("/predict", "POST", 200), ("/predict", "POST", 400), ("/predict", "GET", 405)):
        assert more(f'mixkern_http_requests_total{{path="{path}",method="{method}",status="{status}"}}') == 1
    assert more('mixkern_http_requests_total{path="other",method="GET",status="404"}') == 1
    assert more('mixkern_http_requests_total{path="/",method="other",status="405"}') == 1
    assert more("mixkern_predicted_rows_total") == 20
    assert more("mixkern_predict_seconds_count") == 3
    assert after['mixkern_predict_seconds_bucket{le="+Inf"}'] == after["mixkern_predict_seconds_count"]
    assert after["mixkern_predict_running"] == 0
    wait_for(lambda: samples(web)["mixkern_workers_ready"] == 2)


# ---------------------------------------------------------------- what is refused


ADDRESSES = "Addresses are /, /predict, /model, /openapi.json, /health, /health/live and /metrics."


@pytest.mark.parametrize(
    ("method", "place", "status", "text"),
    [
        ("GET", "/predict", 405, "/predict takes POST, but the method is GET."),
        ("DELETE", "/model", 405, "/model takes GET and HEAD, but the method is DELETE."),
        ("GET", "/predict/", 404, f"There is no address '/predict/'. Did you mean '/predict'? {ADDRESSES}"),
        ("GET", "/../../etc/passwd", 404, f"There is no address '/../../etc/passwd'. {ADDRESSES}"),
        ("GET", "/style.css/../app.py", 404, f"There is no address '/style.css/../app.py'. {ADDRESSES}"),
    ],
)
def test_other_addresses_and_methods(web, method, place, status, text):
    found = web.send(method, place)
    assert (found.status, found.json) == (status, {"error": text})
    assert found.headers["allow"] == {"/predict": "POST", "/model": "GET, HEAD"}.get(place if status == 405 else "")
    assert all(found.headers[name] == value for name, value in HEADERS.items())


@pytest.mark.parametrize(
    ("query", "headers", "status", "text"),
    [
        ("", {"Content_Type": "text/csv"}, 415, "Content-Type must be"),
        ("", {"Content_Encoding": "gzip"}, 415, "must not be compressed"),
        ("", {"Accept": "text/html"}, 406, "Accept must allow"),
        ("?abstain=2", {}, 400, "abstain must be"),
        ("?colour=red", {}, 400, "There is no option 'colour'"),
        ("", {"Host": "evil.example"}, 421, "not known by that name: the Host header is 'evil.example'."),
        (
            "",
            {"Origin": "http://evil.example"},
            403,
            "another page: its Origin is 'http://evil.example', and a page of",
        ),
        ("", {"Sec_Fetch_Site": "cross-site"}, 403, "another page: Sec-Fetch-Site is 'cross-site', and 'same-origin'"),
    ],
)
def test_requests_that_are_refused(web, rows, query, headers, status, text):
    found = web.send("POST", f"/predict{query}", rows, **headers)
    assert found.status == status
    assert text in found.json["error"]


def test_large_requests_are_refused(web, rows):
    found = web.send("POST", "/predict", rows * 11)
    assert (found.status, found.json["error"]) == (413, "The request has 220 rows, and 200 are allowed. Send parts.")
    large = [b" " * (1 << 20)] * 9
    for body in ({"body": b"".join(large)}, {"chunks": large, "Transfer_Encoding": "chunked"}):
        found = web.send("POST", "/predict", **body, Content_Type=JSON)
        assert (found.status, found.json["error"]) == (413, "The request is too large: 8 MiB are allowed.")


@pytest.mark.parametrize("junk", [b"\x00" * 100, b"GET\r\n\r\n", b"POST /predict HTTP/9.9\r\n\r\n", b"A" * 100_000])
def test_what_is_no_http_is_refused_and_the_server_goes_on(web, junk, rows):
    with socket.create_connection((web.host, web.port), timeout=20) as connection:
        connection.sendall(junk)
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(10_000)
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 421")) or not answer
    assert web.send("POST", "/predict", rows).status == 200


def test_a_client_that_goes_away_costs_nothing(web, rows):
    for _ in range(5):
        with socket.create_connection((web.host, web.port), timeout=20) as connection:
            head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\nContent-Type: {JSON}\r\n"
            connection.sendall(f"{head}Content-Length: 1000\r\n\r\n[".encode())
    assert web.send("POST", "/predict", rows).status == 200
    wait_for(lambda: samples(web)["mixkern_predict_running"] == 0)


# ---------------------------------------------------------------- tokens


@pytest.fixture(scope="module")
def closed(path, client):
    """A server that other machines can reach, with a token and the name of a proxy."""
    with ModelServer(path, host="0.0.0.0", token=TOKEN, names=["models.example"]) as server:
        web = client(server.url)
        wait_for(lambda: web.send("GET", "/health").status == 200)
        yield web


@pytest.mark.parametrize("place", ["/", "/model", "/openapi.json", "/metrics", "/style.css", "/nowhere"])
def test_everything_but_health_needs_the_token(closed, place):
    for header in ("", "Bearer", "Bearer wrong", "Basic a long token", "Digest x", "Basic !!", "Basic " + "A" * 5000):
        found = closed.send("GET", place, **({"Authorization": header} if header else {}))
        assert (found.status, found.json["error"][:17]) == (401, "A token is needed")
        assert found.headers.get_all("www-authenticate") == ['Bearer realm="mixkern"', 'Basic realm="mixkern"']
    right = f"Bearer {TOKEN}".encode()
    assert closed.send("GET", place, Authorization=right).status == (404 if place == "/nowhere" else 200)
    assert closed.send("GET", "/health/live").status == 200


def test_a_browser_asks_for_the_token(closed, rows):
    basic = f"Basic {base64.b64encode(f'anyone:{TOKEN}'.encode()).decode()}"
    page = closed.send("GET", "/", Authorization=basic)
    assert page.status == 200
    assert "Authorization: Bearer TOKEN" in page.body.decode()
    assert TOKEN not in page.body.decode()
    assert closed.send("POST", "/predict", rows).status == 401
    assert closed.send("POST", "/predict", rows, Authorization=basic).status == 200


def test_the_name_of_a_proxy_is_known(closed):
    for host, status in (("models.example", 401), ("models.example:443", 401), ("other.example", 421)):
        assert closed.send("GET", "/", Host=host).status == status


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "", "example.org"])
def test_other_machines_need_a_token(path, host):
    with pytest.raises(OptionError, match="so a token is needed"):
        ModelServer(path, host=host)


@pytest.mark.parametrize("token", ["short", "a" * 15, "a" * 20 + "\n"])
def test_a_weak_token_is_refused(path, token):
    with pytest.raises(OptionError, match="token must have 16 printable characters or more"):
        ModelServer(path, token=token)


# ---------------------------------------------------------------- the log


def test_requests_are_logged_without_queries_cells_and_tokens(path, client, rows, tmp_path):
    token = "0123456789abcdef"
    with ModelServer(path, token=token, log=tmp_path / "log") as server:
        web, right = client(server.url), {"Authorization": f"Bearer {token}"}
        assert web.send("POST", "/predict?all_classes=true", rows, **right).status == 200
        web.send("POST", "/predict", [{"town": "Pässau"}], **right)
        web.send("GET", "/predict", **right)
        web.send("GET", f"/model?token={token}")
        web.send("GET", "/health/live", Host="evil.example")
        web.send("GET", "/health/live", X_Forwarded_For="10.0.0.7")  # a proxy on this machine
    text = (tmp_path / "log").read_text()
    found = [json.loads(line) for line in text.splitlines()]
    assert [(each["method"], each["path"], each["status"], each["rows"]) for each in found] == [
        ("POST", "/predict", 200, 20),
        ("POST", "/predict", 400, 0),
        ("GET", "/predict", 405, 0),
        ("GET", "/model", 401, 0),
        ("GET", "/health/live", 421, 0),
        ("GET", "/health/live", 200, 0),
    ]
    assert [each["client"] for each in found] == ["127.0.0.1"] * 5 + ["10.0.0.7"]
    assert all(each["milliseconds"] > 0 for each in found)
    assert not any(word in text for word in (token, "Pässau", "P\\u00e4ssau", "all_classes", "evil"))


def test_a_log_that_cannot_be_written(path, tmp_path):
    with pytest.raises(OptionError, match="cannot be written"):
        ModelServer(path, log=tmp_path / "no" / "log")


# ---------------------------------------------------------------- workers


@pytest.mark.posix
def test_a_killed_worker_costs_no_request(served, client, rows):
    server = served(workers=2)
    web = client(server.url)
    expected = web.send("POST", "/predict", rows).json
    at = {30, 60, 150}

    def ask(i):
        if i in at and server.processes:
            os.kill(server.processes[0], signal.SIGKILL)
        return web.send("POST", "/predict", rows)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(300)))
    assert [each.status for each in found] == [200] * 300
    assert all(each.json == expected for each in found)
    assert samples(web)["mixkern_workers_replaced_total"] >= 1
    wait_for(lambda: len(server.processes) == 2)


@pytest.mark.posix
def test_a_worker_that_hangs_is_replaced_in_time(served, client, rows, capfd):
    server = served(limits=Limits(seconds=1.5))
    web = client(server.url)
    (process,) = server.processes
    os.kill(process, signal.SIGSTOP)
    found = web.send("POST", "/predict", rows)
    assert found.status == 503
    assert found.json["error"] == "There was no answer within 1.5 s. Send fewer rows, or try again later."
    assert found.headers["retry-after"] == "1"
    wait_for(lambda: server.processes not in ([], [process]))
    assert web.send("POST", "/predict", rows).status == 200
    server.stop()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.posix
def test_requests_beyond_the_limit_are_refused_at_once(served, client, rows):
    server = served(limits=Limits(requests=2, seconds=20))
    web = client(server.url)
    (process,) = server.processes
    os.kill(process, signal.SIGSTOP)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(web.send, "POST", "/predict", rows) for _ in range(2)]
        wait_for(lambda: samples(web)["mixkern_predict_running"] == 2)
        found = web.send("POST", "/predict", rows)
        assert found.status == 503
        assert found.json["error"] == "2 requests are being answered, which is the limit. Try again later."
        assert web.send("GET", "/health").status == 200
        os.kill(process, signal.SIGCONT)
        assert [each.result().status for each in waiting] == [200, 200]


def test_a_body_that_does_not_come_is_refused(served):
    server = served(limits=Limits(seconds=0.5))
    port = int(server.url.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        head = f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {JSON}\r\n"
        connection.sendall(f"{head}Content-Length: 1000\r\n\r\n[".encode())
        answer = b"".join(iter(lambda: connection.recv(10_000), b""))  # until the server closes the connection
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"The body was not sent within 0.5 s." in answer


def test_connections_are_limited(served, client):
    server = served(limits=Limits(connections=5))
    port = int(server.url.rstrip("/").rpartition(":")[2])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    try:
        wait_for(lambda: client(server.url).send("GET", "/health").status == 503)
    finally:
        for each in idle:
            each.close()
    wait_for(lambda: client(server.url).send("GET", "/health").status == 200)


@pytest.mark.posix
def test_stop_ends_all_processes_and_removes_the_copy(path, client, rows):
    before = set(threading.enumerate())
    server = ModelServer(path, workers=2).start()
    wait_for(lambda: len(server.processes) == 2)
    processes, copy = server.processes, server._folder.name
    assert Path(copy).exists()
    server.stop()
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    assert not Path(copy).exists()
    wait_for(lambda: set(threading.enumerate()) <= before)
    server.stop()  # once more does nothing
    assert repr(server) == f"ModelServer('{server.url}', 'people.mixkern')"


@pytest.mark.posix
def test_stopping_while_a_request_is_computed(served, client, rows, capfd):
    server = served()
    os.kill(server.processes[0], signal.SIGSTOP)
    web = client(server.url)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(web.send, "POST", "/predict", rows)
        wait_for(lambda: samples(web)["mixkern_predict_running"] == 1)
        server.stop()
        found = waiting.result()
    assert (found.status, found.json) == (503, {"error": "The server is being stopped."})
    assert "Traceback" not in capfd.readouterr().err


def test_stopping_while_workers_start(path):
    server = ModelServer(path, workers=2).start()
    time.sleep(0.3)
    server.stop()
    assert not Path(server._folder.name).exists()


def test_a_server_that_was_never_started(path):
    server = ModelServer(path)
    server.stop()
    assert not Path(server._folder.name).exists()


def is_running(process):
    """Whether a process exists, and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_workers_end_with_a_server_that_is_killed(path):
    code = (
        "import sys, time; from mixkern.serving import ModelServer\n"
        f"server = ModelServer({str(path)!r}).start()\n"
        "while not server.processes: time.sleep(0.05)\n"
        "print(*server.processes, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        worker = int(process.stdout.readline())
        process.kill()
    wait_for(lambda: not is_running(worker))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("is_computing", [False, True])
def test_no_copy_of_the_model_stays_after_a_server_that_is_killed(path, tmp_path, is_computing):
    code = (
        "import time; from mixkern.serving import ModelServer\n"
        f"server = ModelServer({str(path)!r}, workers=2).start()\n"
        "while len(server.processes) < 2: time.sleep(0.05)\n"
        "print(server.url, *server.processes, flush=True); time.sleep(60)"
    )
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=own) as process:
        _, *workers = process.stdout.readline().split()
        assert list(tmp_path.glob("mixkern-serve-*/model.mixkern"))
        if is_computing:  # one of them does not see the end of the server at once
            os.kill(int(workers[0]), signal.SIGSTOP)
        process.kill()
    wait_for(lambda: not list(tmp_path.glob("mixkern-serve-*")))
    if is_computing:
        os.kill(int(workers[0]), signal.SIGCONT)
    wait_for(lambda: not any(map(is_running, workers)))


@pytest.mark.posix
def test_a_worker_that_ends_alone_leaves_the_copy(served, client, rows):
    server = served(workers=2)
    os.kill(server.processes[0], signal.SIGTERM)
    wait_for(lambda: len(server.processes) < 2)
    assert (Path(server._folder.name) / "model.mixkern").exists()
    wait_for(lambda: len(server.processes) == 2)
    assert client(server.url).send("POST", "/predict", rows).status == 200


@pytest.mark.posix
def test_the_model_stays_the_same_when_its_file_is_replaced(path, tmp_path, client, rows):
    own = tmp_path / "own.mixkern"
    own.write_bytes(path.read_bytes())
    with ModelServer(own) as server:
        web = client(server.url)
        before = web.send("POST", "/predict", rows).json
        own.write_bytes(b"something else")
        os.kill(server.processes[0], signal.SIGKILL)
        assert web.send("POST", "/predict", rows).json == before


# ---------------------------------------------------------------- wrong arguments


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "a.mixkern").write_text("none")
    with pytest.raises(ModelFileError, match=re.escape(str(tmp_path / "a.mixkern"))):
        ModelServer(tmp_path / "a.mixkern")
    with pytest.raises(ModelFileError, match="there is no such file"):
        ModelServer(tmp_path / "b.mixkern")
    with pytest.raises(ModelFileError, match="must be a text or a Path"):
        ModelServer(3)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"workers": 0}, "workers must be"), ({"port": 70_000}, "port must be"), ({"port": -1}, "port must be")],
)
def test_wrong_options(path, options, text):
    with pytest.raises(OptionError, match=text):
        ModelServer(path, **options)
