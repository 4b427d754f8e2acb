"""Files are complete or absent."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mixkern.whole_file import whole_file, write_whole


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


@pytest.mark.posix
def test_permissions_are_those_of_the_user_or_of_the_old_file(tmp_path):
    before = os.umask(0o077)
    try:
        path = write_whole(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    assert write_whole(path, "y").stat().st_mode & 0o777 == 0o640


@pytest.mark.posix
def test_a_link_stays_one_and_a_device_is_written_to(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    write_whole(Path(os.devnull), "x")
    assert not Path(os.devnull).is_file()


WRITER = """
import sys, time
from pathlib import Path
from mixkern.whole_file import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.mark.posix
def test_the_file_of_a_killed_process_is_removed_by_the_next_writer(tmp_path):
    path = tmp_path / "a[1].csv"
    killed, running = (
        subprocess.Popen([sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    )
    for process in (killed, running):
        assert process.stdout.readline() == b"ready\n"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert len(list(tmp_path.iterdir())) == 2
    other = tmp_path / f".a[1].csv.{0:08x}-{killed.pid}-abc"  # of another computer
    other.touch()
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 3  # with the file of the process that still runs
    running.communicate(b"")
    assert path.read_text() == "half"
    assert sorted(tmp_path.iterdir()) == sorted([path, other])
    for process in (killed, running):
        process.stdin.close()
        process.stdout.close()


def test_a_long_name(tmp_path):
    path = tmp_path / ("n" * 250 + ".csv")
    assert write_whole(path, "x").read_text() == "x"
