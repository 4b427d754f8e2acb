"""Persons of the labelling page: tokens, passwords and cookies."""

import pytest

from mixkern.labelling.access import Access
from mixkern.web.address import Address

LOCAL = Access(Address("127.0.0.1", 8000), ["anna", "ben"])
PUBLIC = Access(Address("0.0.0.0", 8000), ["anna"], "secret")


def token_of(address):
    return address.partition("token=")[2]


def test_every_person_has_an_address_of_their_own():
    addresses = LOCAL.addresses()
    assert list(addresses) == ["anna", "ben"]
    assert all(address.startswith("http://127.0.0.1:8000/?token=") for address in addresses.values())
    assert [LOCAL.user_of(token_of(address)) for address in addresses.values()] == ["anna", "ben"]


def test_tokens_are_long_and_never_the_same():
    tokens = {token_of(Access(Address("127.0.0.1", 8000), ["anna"]).addresses()["anna"]) for _ in range(20)}
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
    assert Access(Address(host, 8000), ["anna"], "secret").addresses() == {"anna": base}


def test_logging_in_needs_the_password_and_a_known_name():
    access = Access(Address("0.0.0.0", 8000), ["anna"], "sécret")
    first, second = access.log_in("anna", "sécret"), access.log_in("anna", "sécret")
    assert first != second
    assert access.user_of(first) == access.user_of(second) == "anna"
    assert access.log_in("anna", "secret") is None
    assert access.log_in("anna", "") is None
    assert access.log_in("eve", "sécret") is None


def test_without_a_password_there_is_no_log_in():
    assert LOCAL.log_in("anna", "") is None


def test_each_port_has_a_cookie_of_its_own():
    assert LOCAL.cookie != Access(Address("127.0.0.1", 8001), ["anna"]).cookie
