"""Tokens, passwords, known hosts, and the requests that are refused before the application sees them."""

import asyncio

import pytest

from mixkern.labelling.access import HEADERS, MOST_BYTES, Access, Guard

LOCAL = Access("127.0.0.1", 8000, ["anna", "ben"])
PUBLIC = Access("0.0.0.0", 8000, ["anna"], "secret")


def token_of(address):
    return address.partition("token=")[2]


# ---------------------------------------------------------------- persons


def test_every_person_has_an_address_of_their_own():
    addresses = LOCAL.addresses()
    assert list(addresses) == ["anna", "ben"]
    assert all(address.startswith("http://127.0.0.1:8000/?token=") for address in addresses.values())
    assert [LOCAL.user_of(token_of(address)) for address in addresses.values()] == ["anna", "ben"]


def test_tokens_are_long_and_never_the_same():
    tokens = {token_of(Access("127.0.0.1", 8000, ["anna"]).addresses()["anna"]) for _ in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize("token", ["", "x", "é\x00", "a" * 10_000])
def test_other_tokens_belong_to_no_person(token):
    assert LOCAL.user_of(token) is None
    assert PUBLIC.user_of(token) is None


@pytest.mark.parametrize(
    ("host", "base"),
    [("0.0.0.0", "http://localhost:8000/"), ("::1", "http://[::1]:8000/"), ("10.0.0.5", "http://10.0.0.5:8000/")],
)
def test_an_address_with_a_password_has_no_token(host, base):
    assert Access(host, 8000, ["anna"], "secret").addresses() == {"anna": base}


def test_logging_in_needs_the_password_and_a_known_name():
    access = Access("0.0.0.0", 8000, ["anna"], "sécret")
    first, second = access.log_in("anna", "sécret"), access.log_in("anna", "sécret")
    assert first != second
    assert access.user_of(first) == access.user_of(second) == "anna"
    assert access.log_in("anna", "secret") is None
    assert access.log_in("anna", "") is None
    assert access.log_in("eve", "sécret") is None


def test_without_a_password_there_is_no_log_in():
    assert LOCAL.log_in("anna", "") is None


def test_each_port_has_a_cookie_of_its_own():
    assert LOCAL.cookie != Access("127.0.0.1", 8001, ["anna"]).cookie


# ---------------------------------------------------------------- hosts


@pytest.mark.parametrize(
    "name", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000", "127.0.0.1", "localhost"]
)
def test_names_of_this_machine_are_known(name):
    assert LOCAL.is_known_host(name)
    assert PUBLIC.is_known_host(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", ":8000", "evil.example", "evil.example:8000", "127.0.0.1.evil.example:8000", "localhost.evil.example"),
        *("127.0.0.1:8001", "localhost:80", "127.0.0.1:8000/x", "127.0.0.1:8000?x", "127.0.0.1:x", "127.0.0.1:99999"),
        *("[::1", "[evil]:8000", "127.0.0.1:8000, evil.example", "localhost\t:8000", "10.0.0.5:8000", "0.0.0.0:8000"),
    ],
)
def test_other_names_are_not_known(name):
    assert not LOCAL.is_known_host(name)


def test_a_public_server_is_known_by_addresses_but_not_by_names_of_others():
    assert PUBLIC.is_known_host("10.0.0.5:8000")
    assert not PUBLIC.is_known_host("rebind.evil.example:8000")


# ---------------------------------------------------------------- guard


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
    ],
    ids=str,
)
def test_requests_of_other_pages_and_large_ones_are_refused(headers, status):
    found, own, body = answer(**headers)
    assert found == status
    assert {name.encode(): value.encode() for name, value in HEADERS.items()}.items() <= own.items()
    if status != 200:
        assert body.startswith(b'{"error": "')


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
