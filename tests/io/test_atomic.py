"""Files are whole, or the old ones."""

import os
import sys
from pathlib import Path

import pytest

from mixkern.io.atomic import whole_file, write_whole


def test_text_and_bytes(tmp_path):
    assert write_whole(tmp_path / "a" / "b.txt", "±").read_text("utf-8") == "±"
    assert write_whole(tmp_path / "c.png", b"\x00").read_bytes() == b"\x00"
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"b.txt", "c.png"}


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fails(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_others_may_read_it(tmp_path):
    assert write_whole(tmp_path / "a.txt", "x").stat().st_mode & 0o444 == 0o444


def test_what_is_written_piece_by_piece_is_there_at_the_end_or_not_at_all(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def fails():
        with whole_file(path) as file:
            file.write(b"half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_permissions_are_those_of_the_user_or_of_the_old_file(tmp_path):
    before = os.umask(0o077)
    try:
        path = write_whole(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    assert write_whole(path, "y").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_one_and_a_device_is_written_to(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    write_whole(Path(os.devnull), "x")
    assert not Path(os.devnull).is_file()
