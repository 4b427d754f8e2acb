"""``mixkern serve``: the first line is the address, Ctrl-C ends it, and wrong options are sentences."""

import http.client
import json
import re
import shlex
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest

from mixkern.cli.commands import serve
from mixkern.serving import Limits


@contextmanager
def serving(script, *arguments, errors, end=signal.SIGINT):
    """Start the command; give a function that sends requests, and end it by a signal."""
    with errors.open("w") as file:
        command = [script, "serve", *map(str, arguments)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True)
        url = urlsplit(process.stdout.readline().strip())

        def send(method, path, body=None, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=60)
            own = {"Content-Type": "application/json"} | headers
            connection.request(method, path, None if body is None else json.dumps(body), own)
            answer = connection.getresponse()
            found = answer.read()
            connection.close()
            return answer.status, found

        try:
            yield send
        finally:
            process.send_signal(end)
            rest = process.communicate(timeout=30)[0]
    assert process.returncode == 0
    assert rest == ""


def test_the_commands_of_the_page_on_deployment_have_options_that_exist():
    page = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text("utf-8")
    found = re.findall(r"mixkern serve (\S+\.mixkern [^`\n]+)", page)
    assert len(found) >= 4
    for text in found:
        serve.make_context("serve", shlex.split(text), resilient_parsing=False)


def test_limits_are_those_of_the_library():
    found = serve.make_context("serve", ["churn.mixkern"]).params
    names = {"rows": "max_rows", "body_mib": "max_mib", "requests": "max_requests", "seconds": "timeout"}
    assert Limits(**{name: found[option] for name, option in names.items()}) == Limits()


@pytest.mark.posix
@pytest.mark.slow
def test_answers_are_those_of_predict(script, run, model, table, people, tmp_path):
    run("predict", model, table, "-o", tmp_path / "out.csv", "--probabilities")
    expected = pd.read_csv(tmp_path / "out.csv")
    rows = json.loads(people.drop(columns="churn").to_json(orient="records"))
    own = {"errors": tmp_path / "errors", "end": signal.SIGTERM}  # as systemd and containers do
    log = tmp_path / "log"
    with serving(script, model, "--workers", 2, "--max-rows", 90, "--log", log, **own) as send:
        status, found = send("POST", "/predict?all_classes=true", rows)
        assert send("POST", "/predict", rows * 2)[0] == 413
        assert send("GET", "/")[0] == 200
    assert status == 200
    found = pd.DataFrame(json.loads(found)["predictions"])
    for name in ("label", "probability", "component", "novelty", "probability_no", "probability_yes"):
        assert found[name].tolist() == expected[name].tolist(), name
    assert [json.loads(line)["rows"] for line in log.read_text().splitlines()] == [len(rows), 0, 0]
    assert (tmp_path / "errors").read_text() == "Serving people.mixkern: 2 columns, 2 classes. Stop by Ctrl-C.\n"


@pytest.mark.posix
@pytest.mark.slow
def test_a_token_from_a_file(script, model, tmp_path):
    token = tmp_path / "token.txt"
    token.touch(0o600)
    token.write_text("0123456789abcdef\n")
    options = ("--host", "0.0.0.0", "--token-file", token, "--name", "models.example")
    with serving(script, model, *options, "--log", "-", errors=tmp_path / "errors") as send:
        assert send("GET", "/model")[0] == 401
        assert send("GET", "/model", Authorization="Bearer 0123456789abcdef")[0] == 200
        assert send("GET", "/model", Authorization="Bearer 0123456789abcdef", Host="models.example")[0] == 200
        assert send("GET", "/model", Host="other.example")[0] == 421
    errors = (tmp_path / "errors").read_text().splitlines()
    assert [json.loads(line)["status"] for line in errors if line.startswith("{")] == [401, 200, 200, 421]


@pytest.mark.posix
def test_other_machines_need_a_token(run, model, tmp_path):
    assert "so a token is needed" in run("serve", model, "--host", "0.0.0.0", code=1).stderr
    token = tmp_path / "token.txt"
    token.write_text("0123456789abcdef")
    token.chmod(0o644)
    assert "chmod 600" in run("serve", model, "--token-file", token, code=1).stderr
    token.chmod(0o600)
    token.write_text("short")
    done = run("serve", model, "--token-file", token, code=1)
    assert "has 5 characters, and 16 or more are needed" in done.stderr


def test_a_log_that_cannot_be_written(run, model, tmp_path):
    done = run("serve", model, "--log", tmp_path, code=1)
    assert f"The log of requests, {tmp_path}, cannot be written: Is a directory. Choose another file." in done.stderr


def test_files_that_are_no_models(run, table, tmp_path):
    assert "there is no such file" in run("serve", tmp_path / "a.mixkern", code=1).stderr
    assert "people.csv" in run("serve", table, code=1).stderr


@pytest.mark.parametrize("option", ["--workers", "--max-rows", "--max-mib", "--max-requests", "--timeout"])
def test_limits_are_positive(run, model, option):
    assert "Invalid value" in run("serve", model, option, "0", code=2).stderr
