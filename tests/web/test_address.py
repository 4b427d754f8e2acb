"""Addresses of servers: known names in the Host header, who needs a secret, and ports."""

import socket

import pytest

from mixkern.errors import OptionError
from mixkern.web.address import Address, check_host, open_socket

LOCAL = Address("127.0.0.1", 8000)
PUBLIC = Address("0.0.0.0", 8000)


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


def test_further_names_are_known_with_any_port():
    named = Address("127.0.0.1", 8000, ["Models.example"])
    assert all(map(named.is_known_host, ("models.example", "MODELS.example:443", "127.0.0.1:8000")))
    assert not named.is_known_host("models.example.evil")
    assert not named.is_known_host("10.0.0.5:8000")


@pytest.mark.parametrize(
    ("host", "url"),
    [("0.0.0.0", "http://localhost:8000/"), ("::1", "http://[::1]:8000/"), ("10.0.0.5", "http://10.0.0.5:8000/")],
)
def test_the_address_of_a_browser(host, url):
    assert Address(host, 8000).url == url


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "", "example.org"])
def test_other_machines_need_a_secret(host):
    with pytest.raises(OptionError, match="so a token is needed"):
        check_host(host, "", "token")
    check_host(host, "secret", "token")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_none(host):
    check_host(host, "", "token")


def test_port_zero_is_a_free_one():
    with open_socket("127.0.0.1", 0) as first, open_socket("127.0.0.1", 0) as second:
        assert first.getsockname()[1] != second.getsockname()[1]


def test_a_port_in_use_is_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OptionError, match=f"Port {port} of 127.0.0.1 cannot be used: .*Choose another port"):
            open_socket("127.0.0.1", port)


@pytest.mark.parametrize("port", [-1, 70_000, "80", None])
def test_a_port_that_cannot_be_is_a_sentence(port):
    with pytest.raises(OptionError, match="port must be a whole number from 0 to 65535, but it is"):
        open_socket("127.0.0.1", port)
