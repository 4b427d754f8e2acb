"""Secrets: comparison, and files that only their owner can read."""

import pytest

from mixkern.errors import OptionError
from mixkern.web.secret import are_equal, new_token, read_secret


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "token.txt"
    path.touch(0o600)
    return path


def test_tokens_differ():
    assert len({new_token() for _ in range(50)}) == 50


@pytest.mark.parametrize(
    ("first", "second", "is_equal"),
    [("a", "a", True), ("a", "b", False), ("", "", True), ("é", "e", False), ("a" * 9, "a", False)],
)
def test_secrets_are_compared(first, second, is_equal):
    assert are_equal(first, second) == is_equal


def test_half_a_surrogate_pair_is_compared():
    assert not are_equal("secret", "\ud800")


def test_blanks_around_a_secret_are_left_out(file):
    file.write_text("  sécret word\n", "utf-8")
    assert read_secret(file, "password") == "sécret word"


@pytest.mark.posix
def test_a_file_that_others_can_read_is_refused(file):
    file.write_text("secret")
    file.chmod(0o644)
    with pytest.raises(OptionError, match="Other accounts of this machine can read token") as caught:
        read_secret(file, "token")
    assert "chmod 600" in caught.value.on("cli")


def test_an_empty_file_is_refused(file):
    file.write_text("\n")
    with pytest.raises(OptionError, match=r"is empty\. Write the token into it"):
        read_secret(file, "token")


def test_a_short_secret_is_refused(file):
    file.write_text("short")
    with pytest.raises(OptionError, match="has 5 characters, and 16 or more are needed"):
        read_secret(file, "token", 16)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "none.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(OptionError, match="cannot be read: "):
        read_secret(path, "token")
