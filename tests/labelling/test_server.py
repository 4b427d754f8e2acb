"""The server over real connections: who gets in, what is refused, and that no answer is lost or doubled."""

import json
import struct
import time
import urllib.parse
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.labelling.conftest import two_groups

from mixkern.errors import JournalError
from mixkern.labelling import Journal, LabelServer, LabelSession, LabelTable
from mixkern.labelling import server as server_module
from mixkern.labelling import session as session_module
from mixkern.labelling.answers import Answers
from mixkern.labelling.journal import Event
from mixkern.labelling.learner import Structure
from mixkern.web.guard import HEADERS, MOST_BYTES

pytestmark = pytest.mark.slow  # servers and threads

PASSWORD = "correct horse, b&ttery=staple é"


def quiet(session):
    """Leave the learner out: most tests need no model."""
    session.learner.start = lambda: None
    return session


@pytest.fixture(scope="module")
def shared(tmp_path_factory, table):
    """A server of two persons for tests that leave no trace."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(session_module, "WAIT_S", 0.0)
        session = quiet(LabelSession(table, Journal(tmp_path_factory.mktemp("labels") / "risk.labels")))
        session.learner.structure = Structure.of(table, np.arange(len(table)), 2, 0)
        with LabelServer(session, ["anna", "ben"], closes=session.journal).start() as server:
            yield server


@pytest.fixture
def anna(shared, client):
    return client(shared.addresses["anna"])


@pytest.fixture
def stranger(shared, client):
    return client(shared.url, is_in=False)


def error_of(found):
    return json.loads(found.body)["error"]


KEYS = LabelTable.of(two_groups()[0], target="risk").keys  # of the rows of the table


def answer(row, number, label="yes", keys=KEYS, **facts):
    return {
        "id": f"{number}",
        "key": keys[row],
        "action": "label",
        "label": label,
        "seconds": 1.5,
        "source": "chosen",
    } | facts


# ---------------------------------------------------------------- who gets in


def test_a_token_becomes_a_cookie(stranger):
    found = stranger.send("GET", stranger.start)
    assert (found.status, found.headers["location"]) == (303, "/")
    cookie = found.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie


def test_the_page_names_table_and_person_but_not_the_token(anna, shared):
    found = anna.send("GET", "/")
    text = found.body.decode()
    assert found.status == 200
    assert found.headers["content-type"].startswith("text/html")
    assert all(word in text for word in ("customers", "risk", "anna"))
    assert shared.addresses["anna"].partition("token=")[2] not in text


def test_persons_are_told_apart(shared, client):
    assert [client(shared.addresses[user]).get("/api/state")["user"] for user in ("anna", "ben")] == ["anna", "ben"]


PATHS = ["state", "next", "rows/1", "history", "doubts", "disagreements", "map", "predictions", "cell?row=0&column=0"]
POSTS = ["answers", "undo", "classes", "rename", "component", "selection"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", ["", "mixkern_{port}=wrong", "mixkern_{port}=", "other={token}"])
def test_nothing_is_read_without_the_cookie(stranger, path, cookie):
    stranger.cookie = cookie.format(port=stranger.port, token=stranger.start.partition("token=")[2])
    found = stranger.send("GET", f"/api/{path}")
    assert found.status == 401
    assert error_of(found) == "Open the address that mixkern label has printed, or log in again."


@pytest.mark.parametrize("path", POSTS)
def test_nothing_is_written_without_the_cookie(stranger, shared, path):
    before = len(shared.session.journal.events())
    found = stranger.send(
        "POST",
        f"/api/{path}",
        {"answers": [answer(0, "x")], "id": "x", "name": "x", "key": KEYS[0], "keys": KEYS[:2], "label": "x"},
    )
    assert found.status == 401
    assert len(shared.session.journal.events()) == before


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=%00%ff", "?token=" + "x" * 5000])
def test_the_page_needs_the_token(stranger, query):
    found = stranger.send("GET", f"/{query}")
    assert found.status == 401
    assert "set-cookie" not in found.headers
    assert b"ends with a token" in found.body


def test_the_token_is_no_password_for_the_api(stranger):
    assert stranger.send("GET", f"/api/state?{stranger.start.partition('?')[2]}").status == 401


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.nip.io:{port}", "127.0.0.1:1", "localhost:1", ""])
def test_other_names_of_the_server_are_refused(anna, host):
    found = anna.send("GET", "/api/state", headers={"Host": host.format(port=anna.port)})
    assert found.status == 421 or (found.status == 400 and not host)


def test_the_other_name_of_this_machine_is_allowed(anna):
    assert anna.send("GET", "/api/state", headers={"Host": f"localhost:{anna.port}"}).status == 200


def test_requests_through_a_proxy_with_a_known_name(open_session, client):
    session = quiet(open_session())
    with LabelServer(session, ["anna"], names=["label.example"]).start() as server:
        anna = client(server.url)
        proxied = {"Host": "label.example", "Origin": "https://label.example", "Sec-Fetch-Site": "same-origin"}
        assert anna.send("POST", "/api/classes", {"name": "yes"}, proxied).status == 200
        others = ({"Host": "other.example"}, 421), ({"Origin": "https://other.example"}, 403)
        for headers, status in others:
            assert anna.send("POST", "/api/classes", {"name": "no"}, proxied | headers).status == status
    assert session.classes == ["yes"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
    ids=str,
)
def test_other_pages_cannot_write(anna, headers, status):
    headers = {name: value.format(port=anna.port) for name, value in headers.items()}
    assert anna.send("POST", "/api/classes", {"name": "yes"}, headers).status == status


@pytest.mark.parametrize("path", ["state", "next"])  # the next card reserves its row
@pytest.mark.parametrize(
    ("site", "status"), [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)]
)
def test_other_pages_cannot_read(anna, path, site, status):
    assert anna.send("GET", f"/api/{path}", headers={"Sec-Fetch-Site": site}).status == status


def test_a_link_on_another_page_opens_the_page(anna):
    assert anna.send("GET", "/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status == 200


# ---------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 200),
        ("GET", "/api/state", 200),
        ("GET", "/api/map", 200),
        ("HEAD", "/api/state", 200),
        ("GET", "/static/main.js", 200),
        ("GET", "/static/icon.svg", 200),
        ("GET", "/static/nothing.js", 404),
        ("GET", "/static/", 404),
        ("GET", "/nothing", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/api/rows/-1", 400),
        ("GET", "/api/rows/80", 400),
        ("POST", "/api/state", 405),
        ("GET", "/api/answers", 405),
        ("DELETE", "/api/answers", 405),
        ("PUT", "/static/main.js", 405),
        ("GET", "/login", 303),
    ],
)
def test_every_answer_has_the_headers(anna, method, path, status):
    found = anna.send(method, path)
    assert found.status == status
    for name, value in HEADERS.items():
        assert found.headers.get_all(name) == [value]
    assert "server" not in found.headers
    if status >= 400:
        assert set(json.loads(found.body)) == {"error"}


def test_refused_hosts_and_strangers_get_the_headers_too(stranger):
    for found in (stranger.send("GET", "/", headers={"Host": "evil.example"}), stranger.send("GET", "/api/state")):
        assert found.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_an_unexpected_error_is_a_sentence_with_headers(serve, open_session, client, monkeypatch):
    server = serve(session=quiet(open_session()))
    monkeypatch.setattr(server.session, "add_class", lambda *_: 1 / 0)
    found = client(server.url).send("POST", "/api/classes", {"name": "a"})
    assert found.status == 500
    assert found.headers["content-security-policy"] == HEADERS["content-security-policy"]
    assert b"division" not in found.body
    assert set(json.loads(found.body)) == {"error"}


# ---------------------------------------------------------------- static files


@pytest.mark.parametrize(
    "path",
    [
        *("/static/../index.html", "/static/../../server.py", "/static/%2e%2e/index.html", "/static/..%2findex.html"),
        *("/static/%2e%2e%2f%2e%2e%2fserver.py", "/static//etc/passwd", "/static/%2fetc%2fpasswd"),
        *("/static/..%5cindex.html", "/static/vendor/../../index.html", "/static/%252e%252e/index.html"),
        *("/static/%00", "/static/main.js%00", "/static/" + "a" * 3000, "/static/" + "a/" * 1500, "/static/vendor"),
        "/static/%ff%fe",
    ],
)
def test_only_static_files_are_served(stranger, path):
    assert stranger.send("GET", path).status == 404


def test_static_files_have_their_types(stranger):
    types = {"main.js": "javascript", "style.css": "text/css", "icon.svg": "image/svg+xml"}
    for name, kind in types.items():
        assert kind in stranger.send("GET", f"/static/{name}").headers["content-type"]


# ---------------------------------------------------------------- bodies


def test_a_body_that_is_declared_as_too_large_is_refused(anna):
    found = anna.send("POST", "/api/classes", b"x" * (MOST_BYTES + 1), {"Content-Type": "application/json"})
    assert found.status == 413
    assert error_of(found) == "The request is too large: 1 MiB are allowed."


def test_a_body_of_chunks_that_is_too_large_is_refused(anna):
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    found = anna.send("POST", "/api/classes", headers=headers, chunks=[b" " * 65536] * (MOST_BYTES // 65536 + 2))
    assert found.status == 413
    assert error_of(found) == "The request is too large: 1 MiB are allowed."
    assert found.headers["content-security-policy"] == HEADERS["content-security-policy"]


def test_a_body_of_chunks_is_read(anna):
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    assert anna.send("POST", "/api/classes", headers=headers, chunks=[b'{"name"', b': "yes"}']).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json-seq"])
def test_only_json_is_accepted(anna, kind):
    assert anna.send("POST", "/api/classes", b'{"name": "yes"}', {"Content-Type": kind}).status == 415


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"null", b"[]", b'"x"', b"5", b"\xff\xfe", b"{'name': 'x'}", b'{"name": "x"} x'),
        *(b"[" * 100_000, b'{"name": ' * 50_000, b'{"name": ' + b"[" * 900 + b"]" * 900 + b"}"),
        b'{"name": ' + b"9" * 10_000 + b"}",
    ],
    ids=lambda body: body[:12].decode("latin-1"),
)
@pytest.mark.parametrize("path", POSTS)
def test_bodies_that_are_no_objects_are_refused(anna, path, body):
    found = anna.send("POST", f"/api/{path}", body, {"Content-Type": "application/json"})
    assert found.status == 400
    assert error_of(found)


WRONG = [None, True, 1.5, [], {}, "", -1, 10**30, ["x"], {"a": 1}]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *[("classes", "name"), ("undo", "id"), ("component", "id"), ("component", "label"), ("component", "key")],
        *[("selection", "id"), ("selection", "label"), ("selection", "keys")],
        *[("rename", "id"), ("rename", "name"), ("rename", "label")],
    ],
)
@pytest.mark.parametrize("value", WRONG, ids=str)
def test_fields_of_the_wrong_type_are_refused(anna, path, name, value):
    found = anna.send(
        "POST",
        f"/api/{path}",
        {"key": KEYS[0], "keys": KEYS[:2], "label": "yes", "id": "wrong", "name": "yes", "merges": False}
        | {name: value},
    )
    assert found.status in ((400, 410) if name.startswith("key") else (400,))
    assert error_of(found)


@pytest.mark.parametrize("value", WRONG, ids=str)
@pytest.mark.parametrize("name", ["key", "action", "label", "id"])
def test_fields_of_an_answer_of_the_wrong_type_are_refused(anna, shared, name, value):
    before = len(shared.session.journal.events())
    found = anna.send("POST", "/api/answers", {"answers": [answer(0, "w") | {name: value}]})
    assert found.status == (410 if name == "key" and isinstance(value, str) else 400)
    assert error_of(found)
    assert len(shared.session.journal.events()) == before


@pytest.mark.parametrize("name", ["key", "action", "id", "label"])
def test_missing_fields_of_an_answer_are_refused(anna, shared, name):
    before = len(shared.session.journal.events())
    given = answer(0, "m")
    del given[name]
    assert anna.send("POST", "/api/answers", {"answers": [given]}).status == 400
    assert len(shared.session.journal.events()) == before


GONE = "This table has no such row any more, or has it with other cells."


@pytest.mark.parametrize("key", ["", "x", "0" * 24, KEYS[0].upper() + "#0", "\ud800"])
def test_rows_that_the_table_does_not_have_are_refused_by_a_status_of_their_own(anna, shared, key):
    before = len(shared.session.journal.events())
    for path, body in (
        ("answers", {"answers": [answer(0, "fine"), answer(0, "gone") | {"key": key}]}),
        ("component", {"key": key, "label": "yes", "id": "gone"}),
        ("selection", {"keys": [key], "label": "yes", "id": "gone"}),
    ):
        found = anna.send("POST", f"/api/{path}", body)
        assert (found.status, error_of(found)) == (410, GONE)
    assert len(shared.session.journal.events()) == before


@pytest.mark.parametrize("answers", [None, {}, "x", 5, [], [None], [[]], ["x"], [5]], ids=str)
def test_answers_that_are_no_list_of_objects_are_refused(anna, answers):
    assert anna.send("POST", "/api/answers", {"answers": answers}).status == 400


@pytest.mark.parametrize("held", [None, 5, "x", {"a": 1}, [None, "x", 1.5, [1]], [10**30, -1], True], ids=str)
def test_cards_that_the_page_holds_may_be_anything(anna, held):
    found = anna.send("POST", "/api/answers", {"answers": [answer(1, "held")], "next": True, "held": held})
    assert found.status in (200, 400)


@pytest.mark.parametrize("seconds", [None, -1, 1e9, "fast", [], True, 10**400], ids=lambda each: str(each)[:9])
def test_a_time_that_cannot_be_is_left_out(anna, shared, seconds):
    name = f"time {str(seconds)[:9]}"
    anna.post("/api/answers", {"answers": [answer(2, name, seconds=seconds)]})
    assert next(each.seconds for each in shared.session.journal.events() if each.request == name) is None


def test_numbers_that_are_no_json_are_left_out_or_refused(anna):
    body = json.dumps({"answers": [answer(2, "nan", seconds=float("nan"))]}).encode()
    assert anna.send("POST", "/api/answers", body, {"Content-Type": "application/json"}).status in (200, 400)


@pytest.mark.parametrize("label", ["NA", " ", "a\nb", "\x00", "\ud800", "x" * 201])
def test_labels_that_are_no_labels_are_refused_with_a_sentence(anna, label):
    body = json.dumps({"answers": [answer(0, "bad", label)]}).encode()
    found = anna.send("POST", "/api/answers", body, {"Content-Type": "application/json"})
    assert found.status == 400
    assert error_of(found)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "rows/80",
            "rows/99999999999999999999",
            "rows/" + "9" * 5000,
            "next?n=0",
            "next?n=51",
            "next?n=x",
            "next?n=-1",
        ),
        *("next?n=" + "9" * 5000, "history?before=x", "history?before=-1", "history?before=" + "9" * 30),
        *("cell", "cell?row=0", "cell?row=0&column=4", "cell?row=80&column=0", "cell?row=a&column=b"),
        *("cell?row=-1&column=0", "cell?row=0&column=0.5", "next?n=%C2%B2"),
    ],
    ids=lambda path: path[:24],
)
def test_numbers_out_of_range_are_refused(anna, path):
    found = anna.send("GET", f"/api/{path}")
    assert found.status in (400, 404)
    assert set(json.loads(found.body)) == {"error"}


# ---------------------------------------------------------------- the API


@pytest.fixture
def own(serve, open_session, client, table):
    """A server of its own, and its first person."""
    session = quiet(open_session())
    session.learner.structure = Structure.of(table, np.arange(len(table)), 2, 0)
    server = serve(["anna", "ben"], session=session)
    return server, client(server.addresses["anna"])


def test_answers_are_saved_and_the_next_card_comes_with_them(own):
    server, anna = own
    card = anna.get("/api/next")["card"]
    assert card["key"] == KEYS[card["row"]]
    found = anna.post("/api/answers", {"answers": [answer(card["row"], "1")], "next": True, "held": []})
    assert found["saved"] == 1
    assert found["card"]["row"] != card["row"]
    assert server.y[card["row"]] == "yes"
    assert anna.get("/api/state")["counts"]["labels"] == 1
    without = anna.post("/api/answers", {"answers": [answer(found["card"]["row"], "2")]})
    assert (without["card"], without["message"]) == (None, "")


def test_a_repeated_post_is_recorded_once(own):
    server, anna = own
    body = {"answers": [answer(3, "same"), answer(4, "same")]}
    assert [anna.post("/api/answers", body)["saved"] for _ in range(3)] == [2, 2, 2]
    assert len(server.session.journal.events()) == 2


def test_undo_brings_the_card_back(own):
    server, anna = own
    row = anna.get("/api/next")["card"]["row"]
    anna.post("/api/answers", {"answers": [answer(row, "1", "no")]})
    found = anna.post("/api/undo", {"id": "u"})
    assert found["undone"] == {
        "row": row,
        "number": row + 1,
        "action": "label",
        "label": "no",
        "renames": "",
        "is_kept": False,
        "rows": 1,
    }
    assert found["card"]["row"] == row
    assert anna.post("/api/undo", {"id": "u2"}) == {"undone": None, "card": None}
    assert server.session.labels == {}


def test_a_repeated_undo_undoes_once(own):
    server, anna = own
    anna.post("/api/answers", {"answers": [answer(3, "1")]})
    anna.post("/api/answers", {"answers": [answer(4, "2", "no")]})
    first, second = anna.post("/api/undo", {"id": "u"}), anna.post("/api/undo", {"id": "u"})
    assert server.session.labels == {3: "yes"}
    assert second["undone"] == first["undone"]


def test_several_cards_for_the_table_view(own, table):
    _, anna = own
    cards = anna.get("/api/next?n=20")["cards"]
    assert len({card["row"] for card in cards}) == 20
    held = ",".join(str(card["row"]) for card in cards)
    assert anna.get(f"/api/next?held={held}")["card"]["row"] not in {card["row"] for card in cards}
    assert anna.get("/api/next")["card"]["row"] == cards[0]["row"]  # after a reload


def test_when_no_row_is_left_a_sentence_says_why(own, table):
    _, anna = own
    rows = [answer(row, f"r{row}") for row in range(len(table) - 1)]
    anna.post("/api/answers", {"answers": rows})
    last = [answer(len(table) - 1, "last", action="skip")]
    found = anna.post("/api/answers", {"answers": last, "next": True})
    assert found["card"] is None
    assert found["message"].startswith("1 row without a label was skipped")
    anna.post("/api/answers", {"answers": [answer(len(table) - 1, "now")]})
    assert anna.get("/api/next") == {"card": None, "message": "Every row has a label."}
    assert anna.get("/api/next?n=5") == {"cards": [], "message": "Every row has a label."}


def test_classes_history_components_and_lists(own, client):
    server, anna = own
    assert anna.post("/api/classes", {"name": " maybe "})["classes"] == [
        {"number": 0, "name": "maybe", "count": 0, "in_table": False}
    ]
    n = anna.post("/api/component", {"id": "c", "key": KEYS[5], "label": "yes"})["labelled"]
    assert n == len(server.session.labels) > 0
    assert len(anna.get("/api/history")["events"]) == min(n, 50)
    row = next(iter(server.session.labels))
    ben = client(server.addresses["ben"])
    ben.post("/api/answers", {"answers": [answer(row, "b", "maybe")]})
    assert anna.get("/api/disagreements")["rows"][0]["row"] == row
    assert anna.get("/api/doubts") == {"doubts": []}
    assert anna.get("/api/rows/7")["card"]["source"] == "chosen"
    assert anna.get("/api/cell?row=0&column=0")["text"] == "c00000"
    assert anna.post("/api/undo", {"id": "u"})["undone"]["rows"] == n


def test_a_selection_labels_those_of_its_rows_that_have_no_label(own):
    server, anna = own
    anna.post("/api/answers", {"answers": [answer(3, "1", "no")]})
    body = {"id": "s", "label": "yes", "keys": [KEYS[5], KEYS[3], "0" * 24, KEYS[4], KEYS[4]]}
    assert [anna.post("/api/selection", body) for _ in range(2)] == [
        {"labelled": 2, "gone": ["0" * 24]}
    ] * 2  # sent again
    assert server.session.labels == {3: "no", 4: "yes", 5: "yes"}
    events = [event for event in server.session.journal.events() if event.request == "s"]
    assert [(event.row, event.source) for event in events] == [(4, "selection"), (5, "selection")]
    undone = anna.post("/api/undo", {"id": "u"})
    assert (undone["undone"]["rows"], undone["card"]) == (2, None)
    assert server.session.labels == {3: "no"}
    found = anna.send("POST", "/api/selection", {"id": "t", "label": "yes", "keys": KEYS * 7})
    assert (found.status, error_of(found)) == (400, "At most 500 rows can be labelled at once, but there are 560.")


def test_an_answer_finds_its_class_by_its_number(own):
    server, anna = own
    for name in ("x", "z"):
        anna.post("/api/classes", {"name": name})
    digest = anna.get("/api/state")["digest"]
    for old, new in (("x", "tmp"), ("z", "x"), ("tmp", "z")):  # the names of two classes are exchanged
        anna.post("/api/rename", {"id": f"{old} {new}", "name": old, "label": new, "merges": False})
    late = {"label": "x", "class": 0}  # of a page that was not updated since
    anna.post("/api/answers", {"answers": [answer(3, "a", **late, digest=digest)]})
    anna.post("/api/selection", {"id": "b", "keys": KEYS[4:6], **late, "digest": digest})
    assert server.session.labels == {3: "z", 4: "z", 5: "z"}
    anna.post("/api/answers", {"answers": [answer(6, "c", **late, digest="of another table")]})
    for number in (-1, 2, 10**30, "0", None):
        anna.post("/api/answers", {"answers": [answer(7, f"d{number}", **late | {"class": number}, digest=digest)]})
    assert (server.session.labels[6], server.session.labels[7]) == ("x", "x")  # by the name


def test_the_undo_of_a_row_that_is_gone_says_so(own):
    server, anna = own
    gone = Event(user="anna", action="label", request="g", row_key="0" * 24, row=500, label="yes", source="random")
    server.session.record([gone])
    undone = anna.post("/api/undo", {"id": "u"})
    assert (undone["undone"]["row"], undone["undone"]["number"], undone["card"]) == (None, None, None)


def test_the_undo_of_a_selection_of_one_row_opens_a_card_that_counts(own):
    server, anna = own
    anna.post("/api/selection", {"id": "s", "label": "yes", "keys": [KEYS[5]]})
    card = anna.post("/api/undo", {"id": "u"})["card"]
    assert (card["row"], card["source"]) == (5, "chosen")
    anna.post("/api/answers", {"answers": [answer(5, "a", source=card["source"])]})
    assert server.session.journal.events()[-1].source == "chosen"


def test_a_journal_that_cannot_be_written_is_tried_again_by_the_page(own, monkeypatch):
    server, anna = own

    def full(events):
        raise JournalError("risk.labels cannot be written: the disk is full.")

    monkeypatch.setattr(server.session.journal, "add", full)
    found = anna.send("POST", "/api/answers", {"answers": [answer(3, "1")]})
    assert (found.status, error_of(found)) == (503, "risk.labels cannot be written: the disk is full.")
    assert server.session.labels == {}


def test_a_class_is_renamed_and_the_undo_says_so(own, client):
    server, anna = own
    anna.post("/api/answers", {"answers": [answer(3, "1", "chrun")]})
    body = {"id": "r", "name": "chrun", "label": " churn ", "merges": False}
    found = anna.post("/api/rename", body)
    assert found == {
        "classes": [{"number": 0, "name": "churn", "count": 1, "in_table": False}],
        "merged": {},
        "names": 2,
    }
    assert anna.post("/api/rename", body) == found  # sent again
    ben = client(server.addresses["ben"])
    ben.post("/api/answers", {"answers": [answer(4, "b", "chrun")]})  # from a page that was not updated since
    assert server.session.labels == {3: "churn", 4: "churn"}
    undone = anna.post("/api/undo", {"id": "u"})
    facts = {"row": None, "number": None, "action": "rename", "label": "churn", "renames": "chrun", "rows": 1}
    assert undone == {
        "undone": facts | {"is_kept": False},
        "card": None,
        "classes": [{"number": 0, "name": "chrun", "count": 2, "in_table": False}],
        "merged": {},
        "names": 4,
    }
    assert server.session.labels == {3: "chrun", 4: "chrun"}


def test_a_rename_to_another_class_needs_a_confirmation(own):
    server, anna = own
    anna.post("/api/answers", {"answers": [answer(3, "1", "chrun"), answer(4, "2", "churn")]})
    body = {"id": "r", "name": "chrun", "label": "churn", "merges": False}
    found = anna.send("POST", "/api/rename", body)
    assert found.status == 400
    assert error_of(found) == "There is a class 'churn' already. Confirm that the two become one."
    assert anna.post("/api/rename", body | {"merges": True})["merged"] == {"0": 1}
    assert server.session.labels == {3: "churn", 4: "churn"}


def test_map_and_predictions_are_bytes_with_versions(own):
    _, anna = own
    found = anna.send("GET", "/api/map")
    assert (found.headers["x-structure"], found.headers["content-type"]) == ("2", "application/octet-stream")
    assert len(found.body) == 4 + 28 * struct.unpack_from("<I", found.body)[0] == 4 + 28 * 80
    found = anna.send("GET", "/api/predictions")
    assert (found.headers["x-model"], len(found.body)) == ("0", 3 * 80)


def test_texts_of_people_are_escaped_in_the_page(serve, open_session, client, groups):
    table = LabelTable.of(groups()[0], target="<b>risk", name="<script>alert(1)</script>")
    server = serve(['<img src=x onerror="alert(1)">'], session=quiet(open_session(table)))
    text = client(server.url).send("GET", "/").body.decode()
    assert not any(word in text for word in ("<script>alert", "<img src=x", "<b>risk"))


# ---------------------------------------------------------------- passwords


@pytest.fixture
def guarded(serve, open_session, client, monkeypatch):
    monkeypatch.setattr(server_module, "LOG_IN_S", 0.0)
    server = serve(["anna"], session=quiet(open_session()), password=PASSWORD)
    return client(server.url, is_in=False)


def form(**fields):
    return urllib.parse.urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_right_password_opens_the_page(guarded):
    found = guarded.send("GET", "/")
    assert (found.status, found.headers["location"]) == (303, "/login")
    assert guarded.send("GET", "/login").status == 200
    found = guarded.send("POST", "/login", *form(user=" anna ", password=PASSWORD))
    assert found.status == 303
    guarded.cookie = found.headers["set-cookie"].partition(";")[0]
    assert PASSWORD not in guarded.cookie
    assert guarded.get("/api/state")["user"] == "anna"
    assert guarded.send("GET", "/").status == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "anna", "password": "wrong"},
        {"user": "anna", "password": ""},
        {"user": "eve", "password": PASSWORD},
        {"user": "", "password": PASSWORD},
        {"user": "a" * 1000, "password": PASSWORD},
        {"user": "anna"},
        {},
        {f"field{i}": "x" for i in range(20)},
        {"user": "anna", "password": "\x00é\ud800".encode("utf-8", "surrogatepass")},
    ],
    ids=lambda fields: ",".join(fields)[:20],
)
def test_a_wrong_password_or_name_is_refused(guarded, fields):
    found = guarded.send("POST", "/login", *form(**fields))
    assert found.status == 403
    assert "set-cookie" not in found.headers
    assert b"The name or the password is wrong." in found.body


def test_wrong_passwords_wait_for_each_other(guarded, monkeypatch):
    monkeypatch.setattr(server_module, "LOG_IN_S", 0.1)
    start = time.monotonic()
    with ThreadPoolExecutor(5) as pool:
        found = list(pool.map(lambda i: guarded.send("POST", "/login", *form(user="anna", password=f"{i}")), range(5)))
    assert [each.status for each in found] == [403] * 5
    assert time.monotonic() - start >= 5 * 0.1


def test_a_password_is_needed_for_the_api_and_there_is_no_token(guarded):
    assert guarded.send("GET", "/api/state").status == 401
    assert "token" not in guarded.start
    assert guarded.send("GET", "/?token=").status == 303


def test_other_pages_cannot_log_in(guarded):
    body, headers = form(user="anna", password=PASSWORD)
    assert guarded.send("POST", "/login", body, headers | {"Origin": "http://evil.example"}).status == 403


# ---------------------------------------------------------------- many persons


def work_of(number, n, n_rows):
    """Answers of one person: rows that others label, too."""
    for i in range(n):
        yield answer((number * 7 + i * 3) % n_rows, f"{number} {i}", f"class {(number + i) % 4}")


def send_all(browser, number, n, n_rows):
    step = n // 5
    for i, each in enumerate(work_of(number, n, n_rows)):
        for _ in range(2 if i % 5 == 0 else 1):  # some are sent again, as after a lost connection
            assert browser.post("/api/answers", {"answers": [each], "next": i % step == 1})["saved"] == 1
        if i % step == 0:
            state = browser.get("/api/state")
            assert state["counts"]["mine"] > 0
            browser.get("/api/history")


def check_all(server, users, n):
    """Compare what was sent with the journal, and the journal with the session."""
    session, table = server.session, server.session.table
    events = session.journal.events()
    assert len(events) == len(users) * n
    for number, user in enumerate(users):
        sent = [(each["key"], each["label"]) for each in work_of(number, n, len(table))]
        assert [(each.row_key, each.label) for each in events if each.user == user] == sent
    expected = [None] * len(table)
    for event in events:
        expected[event.row] = event.label
    assert session.y.tolist() == server.y.tolist() == expected
    again = Answers(table.positions)
    again.add(events)
    assert again.labels == session.labels


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 500])
def test_no_answer_of_twenty_persons_is_lost_or_doubled(serve, open_session, client, n):
    users = [f"person {number}" for number in range(20)]
    session = open_session() if n > 100 else quiet(open_session())
    server = serve(users, session=session)
    with ThreadPoolExecutor(20) as threads:
        tasks = [
            threads.submit(send_all, client(server.addresses[user]), number, n, len(session.table))
            for number, user in enumerate(users)
        ]
        for task in tasks:
            task.result()
    check_all(server, users, n)


def test_no_row_is_given_to_two_of_ten_persons(serve, open_session, client, groups):
    table = LabelTable.of(groups(150)[0], target="risk")
    users = [f"person {number}" for number in range(10)]
    server = serve(users, session=quiet(open_session(table, overlap=0.0)))

    def label_all(user):
        browser, card, rows = client(server.addresses[user]), None, []
        card = browser.get("/api/next")["card"]
        while card is not None:
            rows.append(card["row"])
            given = answer(card["row"], f"{user} {len(rows)}", user, table.keys)
            card = browser.post("/api/answers", {"answers": [given], "next": True})["card"]
        return rows

    with ThreadPoolExecutor(10) as threads:
        found = dict(zip(users, threads.map(label_all, users), strict=True))
    assert Counter(row for rows in found.values() for row in rows) == Counter(range(150))
    assert server.y.tolist() == [next(user for user in users if row in found[user]) for row in range(150)]
