"""Cards, state, lists and map: values for JSON that agree with the model and never lead the hand."""

import datetime as dt
import json
import struct
import sys
from collections import defaultdict
from threading import Event, Thread

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mixkern.cli.journal import label_table, table_to_label
from mixkern.labelling import LabelTable
from mixkern.labelling import learner as learner_module
from mixkern.labelling.cards import LONGEST_CELL, LONGEST_WHOLE, N_HISTORY, Cards
from mixkern.labelling.learner import Doubt, Structure, Suggestion
from mixkern.labelling.row_key import packed
from mixkern.labelling.session import Answer

ROWS = [*range(20), 40, 55]


def give(session, row, label="yes", user="anna", action="label"):
    session.answer(user, [Answer(row, action, f"{user} {session.answers.last_id}", label)])


def checked(value):
    """Return what a page would read."""
    return json.loads(json.dumps(value, allow_nan=False))


@pytest.fixture(scope="module")
def structure(table):
    return Structure.of(table, np.arange(len(table)), 2, 0)


@pytest.fixture
def trained(open_session, truth, structure):
    """Cards of a session with some labels and a model, without threads."""

    def train(rows=ROWS, is_one=False):
        session = open_session()
        session.learner.structure = structure
        for row in rows:
            give(session, row, "yes" if is_one else str(truth[row]))
        session.learner.update(structure, session._label_state())
        return Cards(session)

    return train


# ---------------------------------------------------------------- cards


def test_a_card_has_the_documented_fields(trained, table):
    card = checked(trained().card("anna", 60))
    assert list(card) == [
        *("row", "key", "number", "names", "source", "reason", "own_action", "own_label", "values", "guess"),
        *("nearest", "component"),
    ]
    assert (card["row"], card["number"], card["source"]) == (60, 61, "chosen")
    assert (card["key"], card["names"]) == (table.keys[60], 0)
    expected = {"column", "text", "is_gap", "is_cut", "length", "kind", "unusual", "histogram", "share", "common"}
    assert all(set(value) == expected for value in card["values"])
    assert [value["column"] for value in card["values"]] == ["id", "age", "income", "sex"]
    assert set(card["component"]) == {"number", "rows", "labels", "offer", "label"}


def test_a_card_before_anything_was_learned(open_session):
    cards = Cards(open_session())
    card = checked(cards.card("anna", 0))
    assert (card["guess"], card["nearest"], card["component"]) == (None, [], None)
    assert checked(cards.state("anna"))["stage"] == "sample"
    assert cards.map_bytes() == (0, struct.pack("<I", 0))
    assert cards.prediction_bytes() == (0, b"")


def test_the_guess_is_that_of_the_model(trained, table, structure):
    cards = trained()
    model = cards.session.learner.model
    for row in (60, 61, 75):
        guess = checked(cards.card("anna", row))["guess"]
        shares = dict(zip(cards.session.classes, [0.0, 0.0], strict=True))
        for code, share in zip(
            model.estimator.classes_, model.estimator.predict_proba(structure.rows[np.array([row])])[0], strict=True
        ):
            shares[cards.session.classes[code]] = share
        assert guess["label"] == cards.session.classes[model.predicted[row]]
        found = {each["label"]: each["probability"] for each in (guess, *guess["others"])}
        assert found == pytest.approx(shares)
        assert sum(found.values()) == pytest.approx(1)


def test_the_nearest_rows_are_the_most_similar_labelled_ones(trained, structure):
    cards = trained()
    model = cards.session.learner.model
    for row in (60, ROWS[3]):
        similarity = np.asarray(model.kernel(structure.rows[np.array([row])], structure.rows[np.array(ROWS)]))[0]
        expected = sorted(
            (each for each in zip(-similarity, ROWS, strict=True) if each[1] != row), key=lambda each: each[0]
        )[:3]
        found = checked(cards.card("anna", row))["nearest"]
        assert [each["row"] for each in found] == [at for _, at in expected]
        assert [each["similarity"] for each in found] == pytest.approx([-each for each, _ in expected])
        labels = cards.session.labels
        assert [each["label"] for each in found] == [labels[each["row"]] for each in found]
        assert all(len(each["values"]) <= 6 for each in found)


def test_the_nearest_rows_show_the_columns_that_differ_most(open_session):
    n, rng = 60, np.random.default_rng(0)
    frame = pd.DataFrame({f"c{i}": rng.normal(size=n) for i in range(9)})
    frame.iloc[1] = frame.iloc[0]
    frame.loc[1, "c7"], frame.loc[1, "c3"] = frame["c7"].max(), frame["c3"].median()
    frame.loc[0, "c7"], frame.loc[0, "c3"] = frame["c7"].min(), frame["c3"].max()
    table = LabelTable.of(frame, target="risk")
    session = open_session(table)
    session.learner.structure = Structure.of(table, np.arange(n), 2, 0)
    give(session, 1)
    session.learner.update(session.learner.structure, session._label_state())
    (near,) = checked(Cards(session).card("anna", 0))["nearest"]
    assert [each["column"] for each in near["values"]] == ["c7", "c3", "c0", "c1", "c2", "c4"]
    assert near["values"][0]["text"] == table.cells["c7"][1].as_py()


def test_a_gap_of_a_nearest_row_is_marked(open_session, tmp_path):
    path = tmp_path / "customers.csv"
    path.write_text("\n".join(["age,kind", *(f"{'' if i % 7 == 3 else i * 1.5},{'xy'[i % 2]}" for i in range(60))]))
    table = label_table(table_to_label(str(path), [], target="risk"))
    session = open_session(table)
    session.learner.structure = Structure.of(table, np.arange(60), 2, 0)
    give(session, 3)
    session.learner.update(session.learner.structure, session._label_state())
    (near,) = checked(Cards(session).card("anna", 0))["nearest"]
    found = {each["column"]: (each["text"], each["is_gap"]) for each in near["values"]}
    assert found == {"age": ("", True), "kind": ("y", False)}
    (past,) = Cards(session).history("anna")["events"]
    assert past["text"] == "age gap, kind y"


def test_a_word_for_a_gap_is_a_gap_with_its_text(open_session, tmp_path):
    path = tmp_path / "customers.csv"
    lines = [f"{'NA' if i % 7 == 3 else i * 1.5},{'?' if i % 5 == 2 else 'xy'[i % 2]}" for i in range(60)]
    path.write_text("\n".join(["age,kind", *lines]))
    cards = Cards(open_session(label_table(table_to_label(str(path), [], target="risk"))))
    for row in range(20):
        age, kind = checked(cards.card("anna", row))["values"]
        assert (age["is_gap"], kind["is_gap"]) == (row % 7 == 3, row % 5 == 2)
        assert age["text"] == lines[row].split(",")[0]
        assert (age["histogram"]["at"] is None) == age["is_gap"]
        assert (kind["share"] is None) == kind["is_gap"]
        assert {each["text"] for each in kind["common"]} == {"x", "y"}


def test_a_person_sees_only_their_own_answer(trained):
    cards = trained()
    give(cards.session, 3, "maybe", "ben")
    give(cards.session, 4, action="skip", user="ben")
    assert [cards.card("ben", 3)[name] for name in ("own_action", "own_label")] == ["label", "maybe"]
    assert [cards.card("ben", 4)[name] for name in ("own_action", "own_label")] == ["skip", None]
    assert cards.card("cleo", 3)["own_label"] is None


def test_a_second_card_does_not_show_the_label_of_the_other_person(open_session):
    session = open_session(overlap=1.0)
    give(session, 3, "secret", "ben")
    (card,) = Cards(session).next_cards("anna")
    assert (card["row"], card["source"]) == (3, "second")
    assert "secret" not in json.dumps(card)


def test_reasons_do_not_contain_the_predicted_class(trained):
    cards = trained()
    for card in cards.next_cards("anna", 20):
        assert card["reason"]
        assert not {"'yes'", "'no'", "yes", "no"} & set(card["reason"].rstrip(".").split())


def test_several_cards_are_different_rows(trained):
    cards = trained()
    rows = [card["row"] for card in cards.next_cards("anna", 10)]
    assert len(set(rows)) == 10
    assert not set(rows) & set(ROWS)
    assert [card["row"] for card in cards.next_cards("anna", 3)] == rows[:3]  # lost by a reload
    assert cards.next_cards("anna", 1, rows)[0]["row"] not in rows


def test_no_card_is_left_when_all_rows_have_an_answer(open_session, table):
    session = open_session()
    for row in range(len(table)):
        give(session, row, action="skip")
    assert Cards(session).next_cards("anna", 5) == []


KINDS = {
    "whole": [1, 2, 3, None],
    "number": [0.5, 1.5, np.nan, 2.5],
    "infinite": [np.inf, -np.inf, 1.0, 2.0],
    "boolean": [True, False, None, True],
    "category": ["m", "w", None, "m"],
    "hostile": ["<script>alert(1)</script>", "\x00\x1f\u202e", "'; DROP TABLE", "m"],
    "date": [dt.date(2026, 1, 1), dt.date(2025, 1, 1), None, dt.date(1900, 1, 1)],
    "moment": [dt.datetime(2026, 1, 1, 5, 6, 7, 8), dt.datetime(2025, 1, 1), None, dt.datetime(1900, 1, 1)],
    "constant": ["same"] * 4,
    "gaps": pa.array([None] * 4, pa.float64()),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_is_json(open_session, kind):
    values = KINDS[kind]
    column = pa.concat_arrays([pa.array(values)] * 6)
    table = LabelTable.of(pa.table({kind: column, "b": np.arange(24) % 5 / 2}), target="risk")
    cards = Cards(open_session(table))
    for row in range(4):
        value = checked(cards.card("anna", row))["values"][0]
        assert value["is_gap"] == (table.cells[kind][row].as_py() is None)
        assert value["text"] == (table.cells[kind][row].as_py() or "")
        assert value["kind"] in ("number", "category", "text", "other")
    checked(cards.state("anna"))


def test_a_cell_of_ten_megabytes_is_cut(open_session):
    texts = ["x" * 10_000_000, *[f"word {i}" for i in range(19)]]
    table = LabelTable.of(pd.DataFrame({"text": texts, "b": np.arange(20) % 5 / 2}), target="risk")
    cards = Cards(open_session(table))
    value = cards.card("anna", 0)["values"][0]
    assert (len(value["text"]), value["is_cut"], value["length"]) == (LONGEST_CELL, True, 10_000_000)
    assert len(json.dumps(cards.card("anna", 0))) < 10_000
    assert cards.cell(0, 0) == "x" * LONGEST_WHOLE
    assert cards.card("anna", 1)["values"][0]["is_cut"] is False


def test_a_cell_that_is_a_gap_is_an_empty_text(open_session, table):
    assert Cards(open_session()).cell(0, table.columns.index("sex")) == ""


# ---------------------------------------------------------------- components


def test_a_component_with_labels_of_one_class_is_offered(trained, truth, structure):
    cards = trained()
    card = cards.card("anna", 60)
    k = int(structure.component[60])
    inside = [row for row in ROWS if structure.component[row] == k]
    component = checked(card["component"])
    assert component["number"] == k
    assert component["rows"] == structure.sizes[k]
    assert component["labels"] == {str(truth[60]): len(inside)}
    assert component["label"] == truth[60]
    assert component["offer"] == len(cards.session.typical_rows(60)) > 0


def test_a_component_with_few_labels_or_two_classes_is_not_offered(trained, truth):
    few = [int(np.flatnonzero(truth == name)[0]) for name in ("no", "yes")]
    assert trained(few).card("anna", 60)["component"]["offer"] == 0
    cards = trained()
    row = next(row for row in ROWS if truth[row] == truth[60])
    give(cards.session, row, "no" if truth[row] == "yes" else "yes")
    cards.session.learner.update(cards.session.learner.structure, cards.session._label_state())
    assert cards.card("anna", 60)["component"]["offer"] == 0


# ---------------------------------------------------------------- state


def test_the_state_counts_everything(trained, table):
    cards = trained()
    give(cards.session, 70, action="skip")
    give(cards.session, 71, action="unsure")
    give(cards.session, ROWS[0], "maybe", "ben")
    state = checked(cards.state("anna"))
    assert state["rows"] == len(table)
    assert (state["table"], state["target"], state["user"]) == ("customers", "risk", "anna")
    assert state["counts"] == {"labels": 22, "skipped": 1, "unsure": 1, "random": 0, "mine": 22}
    labels = list(cards.session.labels.values())
    assert state["classes"] == [
        {"number": number, "name": name, "count": labels.count(name), "in_table": False}
        for number, name in enumerate(cards.session.classes)
    ]
    assert (state["merged"], state["names"], state["digest"]) == ({}, 0, table.digest)
    assert state["users"] == [{"name": "anna", "labels": 22}, {"name": "ben", "labels": 1}]
    assert (state["stage"], state["structure"]) == ("ready", 2)
    assert state["stage_text"] == "The structure was learned from 80 rows."
    assert state["model"] < state["version"]  # answers after the model
    assert state["estimate"]["labels"] == 22
    assert state["estimate"]["low"] <= state["estimate"]["value"] <= state["estimate"]["high"]
    first, basis = state["estimate"]["sentences"]
    assert "are predicted correctly" in first
    assert basis.startswith("This is based on 22 labels")
    assert [point["labels"] for point in state["curve"]] == [22]
    assert state["components"] == {"total": 2, "without_label": 0}
    assert state["agreement"]["rows"] == 1
    assert state["n_disagreements"] == 1


def test_cards_and_map_have_the_new_names_before_the_model_is_updated(trained, truth):
    cards = trained()
    _, before = cards.prediction_bytes()
    card, n = cards.card("anna", 60), len(truth)
    names = cards.session.classes
    old, new = names[0], f"certainly {names[0]}"
    cards.session.rename_class("ben", old, new, "r")
    found = checked(cards.card("anna", 60))
    assert _labels_on(found) == [new if label == old else label for label in _labels_on(card)]
    assert cards.prediction_bytes()[1] == before
    state = cards.state("anna")
    assert [each["name"] for each in state["classes"]] == [new, names[1]]
    assert state["merged"] == {}
    assert state["names"] == found["names"] > card["names"]
    cards.session.rename_class("ben", new, names[1], "s", merges=True)
    found = checked(cards.card("anna", 60))
    assert set(_labels_on(found)) == {names[1]}
    assert found["guess"]["probability"] == pytest.approx(1.0)
    assert set(cards.prediction_bytes()[1][:n]) == {1}
    assert cards.state("anna")["merged"] == {0: 1}


def test_cards_and_map_while_classes_are_renamed(trained, monkeypatch):
    cards = trained()
    session, names, found, errors = cards.session, cards.session.classes, [], []
    known = {f"{name}{end}" for name in names for end in ("", "!")}
    before = cards.prediction_bytes()
    is_over = Event()

    def look():
        try:
            while not is_over.is_set():
                found.append(cards.prediction_bytes() == before)
                found.append({each["name"] for each in cards.classes()["classes"]} <= known)
                found.append(len(set(session.class_names(names))) == len(names))
                found.append(set(cards._names(session.learner.model)) <= known and len(session.classes) == len(names))
                found.append(set(_labels_on(cards.card("anna", 60))) <= known)
        except BaseException as error:
            errors.append(error)
            raise

    monkeypatch.setattr(session.learner, "notify", lambda: None)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread = Thread(target=look)
        thread.start()
        for turn in range(40):
            old, new = (names[0], f"{names[0]}!") if turn % 2 == 0 else (f"{names[0]}!", names[0])
            session.rename_class("ben", old, new, str(turn))
        is_over.set()
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []
    assert len(found) > 4
    assert all(found)


def _labels_on(card):
    """Return the names of classes on a card."""
    guess = [card["guess"], *card["guess"]["others"]]
    return [each["label"] for each in (*guess, *card["nearest"])] + sorted(card["component"]["labels"])


def test_the_state_names_the_classes_of_the_table(open_session, groups):
    given = ["no", *[None] * 79]
    session = open_session(LabelTable.of(groups()[0], given, target="risk"))
    give(session, 3, "yes")
    classes = Cards(session).state("anna")["classes"]
    assert [(each["name"], each["in_table"]) for each in classes] == [("no", True), ("yes", False)]


def test_a_rename_is_not_in_the_history(trained):
    cards = trained()
    cards.session.rename_class("anna", "yes", "certainly", "r")
    events = cards.history("anna")["events"]
    assert {event["action"] for event in events} == {"label"}
    assert {event["label"] for event in events} == {"no", "certainly"}


def test_the_model_has_the_version_of_the_labels_after_an_update(trained):
    state = trained().state("anna")
    assert state["model"] == state["version"] > 0


def test_labels_of_one_class_are_nothing_to_compute(trained):
    state = checked(trained(is_one=True).state("anna"))
    assert (state["model"], state["version"], state["estimate"]) == (0, 0, None)


def test_a_failed_update_is_in_the_state(trained):
    cards = trained()
    cards.session.learner.error = "ValueError: no"
    expected = "The model could not be updated. Labels are still saved. ValueError: no"
    assert cards.state("anna")["stage_text"] == expected


def test_the_state_while_a_sample_is_learned(open_session, table):
    session = open_session()
    session.learner.structure = Structure.of(table, np.arange(0, 80, 2), 1, 0)
    cards = Cards(session)
    state = checked(cards.state("anna"))
    assert (state["stage"], state["structure"]) == ("learning", 1)
    assert "suggestions come from a sample so far" in state["stage_text"]
    component = cards.card("anna", 1)["component"]
    k = int(session.learner.structure.component[np.arange(0, 80, 2) == 0][0])
    assert cards.card("anna", 0)["component"]["rows"] == 2 * session.learner.structure.sizes[k]  # of all rows
    assert component["offer"] == 0


class Interrupted(defaultdict):
    """A dict during whose first iteration another thread does something, unless a lock keeps it waiting."""

    thread = None

    def _paused(self, values):
        for each in values:
            yield each
            if not self.thread.ident:
                self.thread.start()
                self.thread.join(0.2)

    def __iter__(self):
        return self._paused(super().__iter__())

    def values(self):
        return self._paused(super().values())

    def items(self):
        return self._paused(super().items())


def test_the_state_can_be_read_while_others_answer(trained):
    cards = trained()
    session = cards.session
    stacks = Interrupted(dict, session.answers._latest)
    stacks.thread = Thread(target=give, args=(session, 70, "yes", "ben"))
    session.answers._latest = stacks
    assert cards.state("anna")["counts"]["labels"] in (22, 23)
    stacks.thread.join()
    assert cards.state("anna")["counts"]["labels"] == 23


# ---------------------------------------------------------------- lists


def test_the_history_has_pages_with_the_newest_first(open_session):
    session = open_session()
    for row in range(60):
        give(session, row, f"label {row % 3}")
    give(session, 0, user="ben")
    session.undo("anna", "u")
    cards = Cards(session)
    first = checked(cards.history("anna"))
    assert len(first["events"]) == N_HISTORY
    assert first["more"] is True
    second = cards.history("anna", first["events"][-1]["id"])
    assert second["more"] is False
    rows = [event["row"] for event in (*first["events"], *second["events"])]
    assert rows == list(range(58, -1, -1))
    assert first["events"][0]["text"].startswith("age ")
    assert set(first["events"][0]) == {"id", "row", "number", "action", "label", "source", "at", "text"}


def test_the_history_has_rows_that_are_not_in_the_table_any_more(open_session, groups):
    X, _ = groups()
    session = open_session()
    give(session, 5)
    session.journal.close()
    cards = Cards(open_session(LabelTable.of(X.assign(age=np.arange(80.0)), target="risk")))
    (event,) = checked(cards.history("anna"))["events"]
    assert (event["row"], event["number"], event["text"]) == (None, None, "")


def test_doubts_and_disagreements_are_named(trained):
    cards = trained()
    model = cards.session.learner.model
    object.__setattr__(model, "doubts", (Doubt(5, 0, 1, 0.83, 0.9),))
    names = cards.session.classes
    assert checked(cards.doubts()) == [
        {
            "row": 5,
            "number": 6,
            "label": names[0],
            "likely": names[1],
            "probability": 0.83,
            "reason": f"The other labels predict '{names[1]}' with 90 %.",
        }
    ]
    give(cards.session, 5, "maybe", "ben")
    own = cards.session.answers.labels_of(5)
    assert checked(cards.disagreements()) == [
        {"row": 5, "number": 6, "labels": [{"user": user, "label": own[user]} for user in ("anna", "ben")]}
    ]


# ---------------------------------------------------------------- map


def read_map(content):
    (n,) = struct.unpack_from("<I", content)
    assert len(content) == 4 + 4 * n + 8 * n + 16 * n
    rows = np.frombuffer(content, "<u4", n, 4)
    return rows, np.frombuffer(content, "<f4", 2 * n, 4 + 4 * n).reshape(n, 2), content[4 + 12 * n :]


def test_the_map_has_the_documented_layout(trained, table, truth):
    cards = trained()
    version, content = cards.map_bytes()
    rows, places, keys = read_map(content)
    assert version == 2
    assert rows.tolist() == list(range(80))
    assert keys == packed(table.keys)
    assert (np.abs(places) <= 1).all()
    centres = [places[truth == name].mean(axis=0) for name in ("no", "yes")]
    assert np.linalg.norm(centres[0] - centres[1]) > 0.5  # the groups lie apart
    assert cards.map_bytes()[1] is content


def test_predictions_have_the_documented_layout(trained, truth):
    cards = trained()
    model = cards.session.learner.model
    version, content = cards.prediction_bytes()
    predicted, confidence, given = np.frombuffer(content, np.uint8).reshape(3, 80)
    names = cards.session.classes
    assert version == model.version
    assert np.mean(np.array(names)[predicted] == truth) > 0.9
    assert (confidence >= 127).all()
    assert {row: names[code] for row, code in enumerate(given) if code != 255} == cards.session.labels


def test_predictions_without_a_classifier_are_none(trained):
    version, content = trained(is_one=True).prediction_bytes()
    predicted, confidence, given = np.frombuffer(content, np.uint8).reshape(3, 80)
    assert version == 0
    assert (predicted == 255).all()
    assert (confidence == 0).all()
    assert (given != 255).sum() == len(ROWS)


def test_predictions_belong_to_the_rows_of_the_map(open_session, table, truth, monkeypatch):
    monkeypatch.setattr(learner_module, "MAP_ROWS", 25)
    session = open_session()
    structure = session.learner.structure = Structure.of(table, np.arange(0, 80, 2), 1, 0)
    for row in ROWS:
        give(session, row, str(truth[row]))
    session.learner.update(structure, session._label_state())
    cards = Cards(session)
    rows, _, keys = read_map(cards.map_bytes()[1])
    assert keys == packed(table.keys[row] for row in rows)
    assert len(rows) == 25
    _, _, given = np.frombuffer(cards.prediction_bytes()[1], np.uint8).reshape(3, 25)
    assert {int(row): cards.session.classes[code] for row, code in zip(rows, given, strict=True) if code != 255} == {
        row: label for row, label in session.labels.items() if row in rows
    }


def test_a_new_structure_has_a_map_and_predictions_of_its_own(trained, table):
    cards = trained()
    cards.map_bytes()
    cards.session.learner.structure = Structure.of(table, np.arange(80), 3, 0)
    assert cards.map_bytes()[0] == 3
    assert cards.prediction_bytes()[0] == 0  # the model belongs to the earlier one
    cards.session.learner.suggestions = (Suggestion(70, "why"),)
    checked(cards.card("anna", 70))
