"""Requests that are refused before the application sees them, headers of all answers, and errors without tracebacks."""

import asyncio
import json
import logging

import pytest
from starlette.requests import ClientDisconnect

from mixkern.web.address import Address
from mixkern.web.guard import HEADERS, MOST_BYTES, Guard, in_one_line, too_large

LOCAL = Address("127.0.0.1", 8000)


async def echo(scope, receive, send):
    """Answer with the length of the body."""
    n, more = 0, True
    while more:
        message = await receive()
        n, more = n + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})
    await send({"type": "http.response.body", "body": str(n).encode()})


def answer(method="POST", parts=(b"",), app=echo, **headers):
    """Send one request through the guard; return status, headers and body."""
    given = {"host": "127.0.0.1:8000"} | {name.replace("_", "-"): value for name, value in headers.items()}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    queue = [{"type": "http.request", "body": part, "more_body": at < len(parts) - 1} for at, part in enumerate(parts)]
    sent = []

    async def receive():
        return queue.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(app, LOCAL)({"type": "http", "method": method, "headers": raw}, receive, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://127.0.0.1:8000"}, 200),
        ({"origin": "http://127.0.0.1:8000", "sec_fetch_site": "same-origin"}, 200),
        ({"sec_fetch_site": "none"}, 200),
        ({"host": "evil.example:8000"}, 421),
        ({"host": ""}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:8001"}, 403),
        ({"origin": "http://localhost:8000"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://[bad"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"content_length": str(MOST_BYTES + 1)}, 413),
        ({"content_length": "9" * 4000}, 413),
        ({"content_length": "9" * 19}, 413),
    ],
    ids=str,
)
def test_requests_of_other_pages_and_large_ones_are_refused(headers, status):
    found, own, body = answer(**headers)
    assert found == status
    assert {name.encode(): value.encode() for name, value in HEADERS.items()}.items() <= own.items()
    if status != 200:
        assert body.startswith(b'{"error": "')


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        (
            {"host": "evil.example:80"},
            (
                "This server is not known by that name: the Host header is 'evil.example:80'. Use a name of its own, "
                "or give it this name when it is started."
            ),
        ),
        (
            {"origin": "https://models.example"},
            (
                "The request comes from another page: its Origin is 'https://models.example', and a page of the Host "
                "'127.0.0.1:8000' is expected. A proxy must pass both headers on as they are."
            ),
        ),
        (
            {"sec_fetch_site": "cross-site"},
            "The request comes from another page: Sec-Fetch-Site is 'cross-site', and 'same-origin' is expected.",
        ),
    ],
)
def test_what_came_and_what_was_expected(headers, text):
    assert json.loads(answer(**headers)[2]) == {"error": text}


def test_long_headers_are_shortened():
    assert len(answer(host="a" * 5000)[2]) < 300
    assert len(answer(origin="http://" + "a" * 5000)[2]) < 400


def test_reading_is_allowed_from_other_sites_because_cookies_are_not_sent_then():
    assert answer("GET", sec_fetch_site="cross-site")[0] == 200
    assert answer("HEAD", origin="http://evil.example")[0] == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_checked_as_well(method):
    assert answer(method, origin="http://evil.example")[0] == 403


def test_a_body_of_unknown_length_is_limited():
    assert answer(parts=[b"x" * 1000] * 20)[2] == b"20000"
    assert answer(parts=[b"x" * MOST_BYTES])[0] == 200
    assert answer(parts=[b"x" * MOST_BYTES, b"x"])[0] == 413


def test_the_headers_of_the_application_stay():
    assert answer()[1][b"x-own"] == b"1"


def test_other_connections_are_not_passed_on():
    async def fail(*_):
        raise AssertionError

    asyncio.run(Guard(fail, LOCAL)({"type": "websocket", "headers": []}, None, None))


def test_a_lifespan_is_passed_on():
    seen = []

    async def note(scope, *_):
        seen.append(scope["type"])

    asyncio.run(Guard(note, LOCAL)({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]


def test_the_limit_is_named():
    async def call(sent):
        async def receive():
            return {"type": "http.request", "body": b"x" * 2001}

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"127.0.0.1:8000")]
        await Guard(echo, LOCAL, 2000)({"type": "http", "method": "POST", "headers": headers}, receive, send)

    sent = []
    asyncio.run(call(sent))
    assert sent[0]["status"] == 413
    assert json.loads(sent[1]["body"]) == {"error": too_large(2000)}


def test_an_error_is_answered_and_logged_in_one_line_without_its_text(caplog):
    async def fail(*_):
        raise ValueError("secret cell")

    with caplog.at_level(logging.ERROR, "mixkern.web"):
        status, own, body = answer(app=fail)
    assert (status, json.loads(body)) == (500, {"error": "The server failed: ValueError."})
    assert own[b"x-content-type-options"] == b"nosniff"
    (record,) = caplog.records
    assert record.exc_info is None
    assert record.getMessage().startswith("mixkern: a request failed: ValueError (test_guard.py, line ")
    assert "secret" not in record.getMessage()


def test_an_error_after_the_first_bytes_is_logged_and_nothing_else_is_sent(caplog):
    async def fail(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})
        raise KeyError

    with caplog.at_level(logging.ERROR, "mixkern.web"):
        assert answer(app=fail)[0] == 200
    assert len(caplog.records) == 1


def test_a_client_that_has_gone_is_no_error(caplog):
    async def gone(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        raise ClientDisconnect

    answer(app=gone)
    assert not caplog.records


def test_an_error_without_a_traceback():
    assert in_one_line(KeyError("x")) == "KeyError"


def test_a_request_that_is_cancelled_is_answered_without_a_log(caplog):
    async def stopped(*_):
        raise asyncio.CancelledError

    status, _, body = answer(app=stopped)
    assert (status, json.loads(body)) == (503, {"error": "The server is being stopped."})
    assert not caplog.records
