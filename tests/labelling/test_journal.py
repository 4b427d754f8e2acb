"""The journal of labels: on disk when an event is added, recorded once, and never half."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from threading import Barrier, Thread

import pytest

from mixkern.errors import JournalError
from mixkern.labelling.journal import FORMAT, EstimatePoint, Event, Journal


def event(request, row_key="x", **facts):
    return Event(
        **{"user": "anna", "action": "label", "label": "yes", "row": 0} | facts, request=request, row_key=row_key
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "risk.labels"


@pytest.fixture
def journal(path):
    with Journal(path) as opened:
        yield opened


def requests_on_disk(path):
    connection = sqlite3.connect(path)
    try:
        return [request for (request,) in connection.execute("SELECT request FROM event ORDER BY id")]
    finally:
        connection.close()


# ---------------------------------------------------------------- events


def test_events_are_on_disk_when_add_returns(journal, path):
    for i in range(5):
        journal.add([event(f"{i}")])
        assert requests_on_disk(path) == [f"{each}" for each in range(i + 1)]


def test_every_field_of_an_event_is_kept(journal):
    given = Event(
        user="Ännä 🦊",
        action="undo",
        request="r",
        row_key="k",
        row=2**40,
        label="a'; DROP TABLE event; --",
        source="random",
        reason="why\nso",
        seconds=1.25,
        undoes="q",
        renames="former",
        at="2026-11-17T09:12:44.000Z",
    )
    journal.add([given])
    (found,) = journal.events()
    assert found == Event(**{**vars(given), "id": 1})


def test_a_repeated_request_is_recorded_once(journal):
    assert journal.add([event("1"), event("2")]) == 2
    assert journal.add([event("1"), event("2", label="no"), event("3")]) == 1
    assert [(each.request, each.label) for each in journal.events()] == [("1", "yes"), ("2", "yes"), ("3", "yes")]


def test_one_request_may_have_many_rows(journal):
    assert journal.add([event("1", key) for key in "abcab"]) == 3


def test_requests_of_two_persons_may_have_the_same_name(journal):
    assert journal.add([event("1", user="anna"), event("1", user="ben")]) == 2


def test_events_are_numbered_in_their_order(journal):
    journal.add([event("1"), event("2")])
    journal.add([event("3")])
    assert [each.id for each in journal.events()] == sorted(each.id for each in journal.events())
    assert [each.request for each in journal.events(after=journal.events()[1].id)] == ["3"]


def test_the_time_of_an_event_is_utc(journal):
    journal.add([event("1")])
    at = journal.events()[0].at
    assert at.endswith("Z")
    assert abs(time.mktime(time.strptime(at[:19], "%Y-%m-%dT%H:%M:%S")) - time.mktime(time.gmtime())) < 60


@pytest.mark.parametrize(
    "wrong", [event("2", label=None), event("2", row="x"), event("2", seconds="fast"), event("2", label=["a"])]
)
def test_events_are_recorded_all_or_none(journal, wrong):
    journal.add([event("1")])
    with pytest.raises((sqlite3.Error, JournalError)):
        journal.add([event("a"), wrong, event("b")])
    assert [each.request for each in journal.events()] == ["1"]
    assert journal.add([event("3")]) == 1  # and the next one is recorded


def test_an_iterator_that_fails_leaves_no_events(journal):
    def failing():
        yield event("1")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        journal.add(failing())
    assert journal.events() == []


def test_a_full_disk_is_a_journal_error_and_the_journal_can_still_be_used(journal):
    journal.add([event("1")])
    (pages,) = journal._connection.execute("PRAGMA page_count").fetchone()
    journal._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(JournalError, match="full"):
        journal.add([event(f"{i}", reason="x" * 1000) for i in range(2, 200)])
    journal._connection.execute("PRAGMA max_page_count = 100000")
    assert journal.add([event("2")]) == 1
    assert [each.request for each in journal.events()] == ["1", "2"]


# ---------------------------------------------------------------- files


def test_a_journal_is_continued(path):
    with Journal(path) as first:
        first.add([event("1")])
        first.set_meta(target="risk")
        first.add_estimate(EstimatePoint(8, 0.7, 0.5, 0.9))
    with Journal(path) as again:
        assert [each.request for each in again.events()] == ["1"]
        assert again.meta()["target"] == "risk"
        assert again.estimates() == [EstimatePoint(8, 0.7, 0.5, 0.9)]


def test_facts_are_replaced(journal):
    journal.set_meta(target="risk", table="a")
    journal.set_meta(table="b")
    assert journal.meta() | {"kind": "", "format": ""} == {"target": "risk", "table": "b", "kind": "", "format": ""}


def test_there_is_one_estimate_for_each_number_of_labels(journal):
    for point in (EstimatePoint(12, 0.8, 0.6, 0.9), EstimatePoint(8, 0.7, 0.5, 0.9), EstimatePoint(12, 0.9, 0.7, 1.0)):
        journal.add_estimate(point)
    assert journal.estimates() == [EstimatePoint(8, 0.7, 0.5, 0.9), EstimatePoint(12, 0.9, 0.7, 1.0)]


def test_a_file_that_is_no_sqlite_is_refused_and_not_changed(path):
    path.write_text("age,risk\n51,yes\n" * 100)
    before = path.read_bytes()
    with pytest.raises(
        JournalError, match=r"risk\.labels cannot be read as a journal of labels: file is not a database"
    ):
        Journal(path)
    assert path.read_bytes() == before


def test_another_sqlite_file_is_refused_and_not_changed(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE event (id)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"risk\.labels is an SQLite file, but no journal of labels"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused(path):
    with Journal(path) as journal:
        journal.set_meta(format=str(FORMAT + 1))
    with pytest.raises(JournalError, match=f"has format {FORMAT + 1}, .* reads formats up to {FORMAT}"):
        Journal(path)


@pytest.fixture
def older(path):
    """A journal of format 1, with two events."""
    with Journal(path) as journal:
        journal.add([event("1"), event("2", "y", label="no")])
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE event DROP COLUMN renames")
    connection.execute("UPDATE meta SET value = '1' WHERE name = 'format'")
    connection.commit()
    connection.close()
    return path


def test_an_older_journal_is_read_without_a_change(older):
    with Journal(older) as journal:
        assert [(each.label, each.renames) for each in journal.events()] == [("yes", ""), ("no", "")]
        assert journal.of_request("anna", "1")[0].label == "yes"
        assert journal.meta()["format"] == "1"


def test_an_older_journal_gets_the_new_format_when_it_is_written(older):
    with Journal(older) as journal, Journal(older) as second:
        journal.add([event("3", "", action="rename", label="maybe", renames="yes")])
        second.add([event("4")])
        assert journal.meta()["format"] == str(FORMAT)
        assert [each.renames for each in second.events()] == ["", "", "yes", ""]


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(JournalError, match=r"there is no folder .*nowhere"):
        Journal(tmp_path / "nowhere" / "a.labels")


def test_a_folder_is_no_journal(tmp_path):
    with pytest.raises(JournalError, match="cannot be read as a journal"):
        Journal(tmp_path)


def test_a_missing_journal_is_created_only_where_it_is_wanted(path):
    with pytest.raises(JournalError, match=r"There is no risk\.labels"):
        Journal(path, read_only=True)
    assert not path.exists()


def test_reading_changes_nothing_and_needs_no_right_to_write(path, monkeypatch):
    with Journal(path) as journal:
        journal.add([event("1")])
    before = path.read_bytes()
    for access in (os.access, lambda *_: False):
        monkeypatch.setattr(os, "access", access)
        with Journal(path, read_only=True) as journal:
            assert [each.request for each in journal.events()] == ["1"]
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_journal_that_may_not_be_written_is_read_while_another_process_writes(path, monkeypatch):
    with Journal(path) as writer:
        writer.add([event("1")])
        monkeypatch.setattr(os, "access", lambda *_: False)
        with Journal(path, read_only=True) as journal:
            writer.add([event("2")])
            assert [each.request for each in journal.events()] == ["1", "2"]


def test_an_empty_file_is_no_journal_to_read(path):
    path.touch()
    with pytest.raises(JournalError, match="is an SQLite file, but no journal"):
        Journal(path, read_only=True)
    assert path.stat().st_size == 0


def test_an_empty_file_becomes_a_journal(path):
    path.touch()
    with Journal(path) as journal:
        assert journal.add([event("1")]) == 1


def test_a_damaged_journal_is_refused(path):
    with Journal(path) as journal:
        journal.add([event(f"{i}") for i in range(50)])
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(JournalError), Journal(path) as journal:
        journal.events()


# ---------------------------------------------------------------- several processes


def test_two_open_journals_read_the_events_of_each_other(path):
    with Journal(path) as first, Journal(path) as second:
        first.add([event("1")])
        assert [each.request for each in second.events()] == ["1"]
        second.add([event("2"), event("1")])
        assert [each.request for each in first.events(after=1)] == ["2"]


def test_a_reader_does_not_wait_for_a_writer(path):
    with Journal(path) as writer, Journal(path) as reader:
        writer.add([event("1")])
        with writer._transaction():
            writer._connection.execute("INSERT INTO meta VALUES ('half', 'done')")
            assert [each.request for each in reader.events()] == ["1"]
            assert "half" not in reader.meta()


def test_a_journal_may_be_created_by_several_at_the_same_moment(path):
    n, found = 8, []
    barrier = Barrier(n)

    def work(i):
        barrier.wait()
        try:
            with Journal(path) as journal:
                found.append(journal.add([event(f"{i}")]))
        except Exception as error:  # shown by the assertion
            found.append(error)

    threads = [Thread(target=work, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * n
    assert sorted(requests_on_disk(path)) == sorted(f"{i}" for i in range(n))


def test_threads_may_share_a_journal(journal):
    n, each = 8, 20

    def work(name):
        for i in range(each):
            journal.add([event(f"{name} {i}")])

    threads = [Thread(target=work, args=(name,)) for name in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({found.request for found in journal.events()}) == n * each


# Forks a process for each line of its input, so that imports, which take seconds, are made once.
WRITER = """
import os, sys
from itertools import count
from mixkern.labelling.journal import Event, Journal
for line in sys.stdin:
    child = os.fork()
    if not child:
        print("child", os.getpid(), flush=True)
        journal = Journal(sys.argv[1])
        for i in count():
            request = f"{line.strip()} {i}"
            rows = [dict(row_key=f"{at}", row=at) for at in range(3)]
            journal.add([Event(user="anna", action="label", request=request, label="yes", **row) for row in rows])
            print(request, flush=True)
    print("ended by", os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.posix
@pytest.mark.slow
def test_no_event_is_lost_or_halved_when_a_writing_process_is_killed(path):
    draw, promised = random.Random(0), set()
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        for number in range(20):
            parent.stdin.write(f"{number}\n")
            parent.stdin.flush()
            child = int(parent.stdout.readline().removeprefix("child "))
            lines = [parent.stdout.readline().strip() for _ in range(draw.randint(1, 30))]
            time.sleep(draw.uniform(0.0, 0.02))  # a moment of which nothing is known
            os.kill(child, signal.SIGKILL)
            while not lines[-1].startswith("ended by"):
                lines.append(parent.stdout.readline().strip())
            assert lines.pop() == f"ended by {signal.SIGKILL.value}"
            promised |= set(lines)
            with Journal(path) as journal:
                found = [(each.request, each.row) for each in journal.events()]
            assert promised <= {request for request, _ in found}
            assert len(found) == len(set(found)) == 3 * len({request for request, _ in found})
        parent.stdin.close()
    assert len(promised) >= 100
