"""Sessions: who gets which row, what is recorded, and the labels after a restart."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from mixkern.errors import JournalError, OptionError
from mixkern.labelling import Journal, LabelTable
from mixkern.labelling import session as session_module
from mixkern.labelling.journal import Event
from mixkern.labelling.learner import TYPICAL, Structure, Suggestion
from mixkern.labelling.session import Answer, checked_label, checked_request, checked_user


def suggest_all(session):
    """Suggest every row, in the order of the table, without a learner."""
    session.learner.suggestions = tuple(Suggestion(row, f"Reason {row}.") for row in range(len(session.table)))
    return session


def give(session, row, label="yes", user="anna", request=None, action="label", **facts):
    return session.answer(user, [Answer(row, action, request or f"{user} {session.answers.last_id}", label, **facts)])


def close(session):
    session.stop()
    session.journal.close()


def take(session, user, n, label="yes"):
    """Let a person answer n cards; return rows and sources."""
    found = []
    for _ in range(n):
        row, card = session.next_row(user)
        give(session, row, label, user, source=card.source)
        found.append((row, str(card.source)))
    return found


@pytest.fixture(scope="module")
def many(groups):
    return LabelTable.of(groups(130)[0], target="risk", name="customers")


@pytest.fixture(scope="module")
def structure(table):
    return Structure.of(table, np.arange(len(table)), 2, 0)


# ---------------------------------------------------------------- which row is next


@pytest.mark.parametrize(("audit", "n"), [(0.2, 20), (0.5, 50), (0.0, 0), (1.0, 100)])
def test_a_share_of_the_rows_is_random(open_session, many, audit, n):
    session = suggest_all(open_session(many, audit=audit))
    sources = [source for _, source in take(session, "anna", 100)]
    assert Counter(sources) == Counter({"random": n, "suggested": 100 - n})
    if audit == 0.2:
        assert sources[4::5] == ["random"] * 20


def test_a_share_of_the_rows_of_two_persons_is_random(open_session, many):
    session = suggest_all(open_session(many, overlap=0.0))
    sources = [take(session, user, 1)[0][1] for _ in range(50) for user in ("anna", "ben")]
    assert sources.count("random") == 20


def test_random_rows_are_drawn_from_all_rows(open_session, many):
    session = open_session(many, audit=1.0)
    rows = [row for row, _ in take(session, "anna", 100)]
    assert len(set(rows)) == 100
    assert 40 < np.mean(rows) < 90


def test_rows_are_random_while_there_is_no_suggestion(open_session):
    assert {source for _, source in take(open_session(), "anna", 10)} == {"random"}


def test_suggestions_come_in_their_order_with_their_reasons(open_session):
    session = suggest_all(open_session())
    row, card = session.next_row("anna")
    assert (row, card.source, card.reason) == (0, "suggested", "Reason 0.")


def test_no_two_persons_hold_the_same_row_and_no_row_is_left_out(open_session, table):
    session = suggest_all(open_session())
    held = {"anna": [], "ben": [], "cleo": []}
    for n in range(len(table)):
        user = list(held)[n % 3]
        held[user].append(session.next_row(user, held[user])[0])
    assert sorted(row for rows in held.values() for row in rows) == list(range(len(table)))
    assert session.next_row("anna", held["anna"]) is None


def test_reservations_expire(open_session, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(session_module, "monotonic", lambda: now[0])
    session = suggest_all(open_session(audit=0.0))
    assert session.next_row("anna")[0] == 0
    now[0] += session_module.LEASE_S - 1
    assert session.next_row("ben")[0] == 1
    now[0] += 2
    assert session.next_row("cleo")[0] == 0
    assert give(session, 0, "no", "anna") == 1  # whose answer still counts
    assert session.labels == {0: "no"}


def test_rows_that_a_reload_has_lost_come_back_first(open_session):
    session = suggest_all(open_session())
    first, second = session.next_row("anna"), session.next_row("anna", [0])
    assert session.next_row("anna", []) == first
    assert session.next_row("anna", [first[0]]) == second
    assert session.next_row("anna", [first[0], second[0]])[0] not in (first[0], second[0])


@pytest.mark.parametrize("audit", [0.0, 0.5, 1.0])
def test_a_row_that_a_page_holds_is_not_given_again_by_a_server_that_was_started_since(open_session, table, audit):
    held = [3, 0, 7]
    session = suggest_all(open_session(audit=audit))
    found = [session.next_row("anna", held)[0]]
    while (card := session.next_row("anna", [*held, *found])) is not None:
        found.append(card[0])
    assert sorted(found) == sorted(set(range(len(table))) - set(held))


def test_a_second_row_that_a_page_holds_is_not_given_again(open_session):
    session = open_session(overlap=1.0)
    for row in range(2):
        give(session, row, user="ben")
    assert session.next_row("anna", [0])[0] == 1


def test_rows_with_an_answer_do_not_come_again(open_session, table):
    given = [None] * len(table)
    given[7] = "no"
    own = LabelTable(**{**vars_of(table), "given": given})
    session = suggest_all(open_session(own))
    for row, action in ((0, "label"), (1, "skip"), (2, "unsure")):
        give(session, row, action=action)
    rows = [row for row, _ in take(session, "anna", len(table) - 4)]
    assert sorted(rows) == sorted(set(range(len(table))) - {0, 1, 2, 7})
    assert session.next_row("anna") is None


def vars_of(table):
    names = ("name", "target", "cells", "X", "encoder", "given", "sources", "classes")
    return {name: getattr(table, name) for name in names}


# ---------------------------------------------------------------- rows for two persons


def test_a_tenth_of_a_persons_rows_was_labelled_by_another(open_session, many):
    session = suggest_all(open_session(many))
    own = {row for row, _ in take(session, "anna", 50)}
    second = [row for row, source in take(session, "ben", 50) if source == "second"]
    assert len(second) == 5
    assert set(second) <= own


def test_one_person_gets_no_row_twice(open_session, many):
    session = suggest_all(open_session(many, overlap=0.5))
    found = take(session, "anna", 60)
    assert len({row for row, _ in found}) == 60
    assert "second" not in {source for _, source in found}


def test_without_overlap_there_are_no_second_rows(open_session, many):
    session = suggest_all(open_session(many, overlap=0.0))
    take(session, "anna", 40)
    assert "second" not in {source for _, source in take(session, "ben", 40)}


def test_a_third_person_does_not_get_a_row_that_two_have_labelled(open_session, many):
    session = suggest_all(open_session(many, overlap=1.0))
    (first,) = take(session, "anna", 1)
    assert take(session, "ben", 1) == [(first[0], "second")]
    assert take(session, "cleo", 1)[0][1] != "second"


@pytest.mark.parametrize("seed", [0, 1])
def test_agreement_is_cohens_kappa(open_session, many, seed):
    draw = np.random.default_rng(seed)
    session = open_session(many)
    first, second = draw.choice(["a", "b", "c"], (2, 30))
    for row in range(30):
        give(session, row, str(first[row]), "anna")
        give(session, row, str(second[row]), "ben")
    give(session, 50, "a", "anna")
    found = session.agreement()
    assert found.n_rows == 30
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))
    assert found.sentence.endswith(f" of 30 rows that both have labelled. Cohen's kappa is {found.kappa:.2f}.")
    assert session.disagreements() == {
        row: {"anna": str(first[row]), "ben": str(second[row])} for row in range(30) if first[row] != second[row]
    }


# ---------------------------------------------------------------- what is recorded


def test_answers_are_in_the_journal_when_the_call_returns(open_session, tmp_path):
    session = open_session()
    session.answer("anna", [Answer(3, "label", "a", " yes ", seconds=1.23456), Answer(4, "skip", "b", "yes")])
    with Journal(tmp_path / "risk.labels") as other:
        found = [(each.row, each.action, each.label, each.seconds) for each in other.events()]
    assert found == [(3, "label", "yes", 1.235), (4, "skip", "", None)]
    assert session.labels == {3: "yes"}


def test_an_answer_that_is_sent_twice_is_recorded_once(open_session):
    session = open_session()
    assert [give(session, 3, request="a"), give(session, 3, request="a")] == [1, 1]
    assert len(session.journal.events()) == 1


def test_two_persons_may_send_the_same_request_name(open_session):
    session = open_session()
    give(session, 3, "yes", "anna", request="1")
    give(session, 3, "no", "ben", request="1")
    assert session.answers.labels_of(3) == {"anna": "yes", "ben": "no"}


def test_the_source_of_a_reserved_row_is_the_one_that_it_was_given_with(open_session):
    session = suggest_all(open_session(audit=0.0))
    row, _ = session.next_row("anna")
    give(session, row, source="random")
    (event,) = session.journal.events()
    assert (event.source, event.reason) == ("suggested", "Reason 0.")


@pytest.mark.parametrize(
    ("claimed", "recorded"), [("random", "random"), ("chosen", "chosen"), ("made up", "chosen"), ("", "chosen")]
)
def test_a_row_that_an_earlier_server_has_given_keeps_the_source_of_the_page(open_session, claimed, recorded):
    session = open_session()
    give(session, 5, source=claimed)
    assert session.journal.events()[0].source == recorded


@pytest.mark.parametrize("claimed", ["component", "typed"])
def test_a_page_cannot_claim_sources_that_it_never_has(open_session, claimed):
    session = open_session()
    give(session, 5, source=claimed)
    assert session.journal.events()[0].source == "chosen"


def test_a_row_with_an_answer_was_not_drawn_at_random(open_session):
    session = open_session()
    give(session, 5, "yes", "ben")
    give(session, 5, "no", "anna", source="random")
    assert [each.source for each in session.journal.events()] == ["chosen", "chosen"]


def test_a_row_that_is_reserved_for_another_was_not_drawn_for_this_person(open_session):
    session = suggest_all(open_session(audit=0.0))
    row, _ = session.next_row("anna")
    give(session, row, "no", "ben", source="random")
    assert session.journal.events()[0].source == "chosen"


def test_sources_are_random_or_suggested(open_session):
    session = open_session(audit=1.0)
    row, _ = session.next_row("anna")
    give(session, row)
    other = (row + 1) % 80
    give(session, other, source="chosen")
    found = session.sources()
    assert (found[row], found[other]) == ("random", "suggested")
    assert sum(each is not None for each in found) == 2


@pytest.mark.parametrize("row", [-1, 80, 10**30, "3", None, 1.0, True])
def test_rows_that_are_not_in_the_table_are_refused(open_session, row):
    session = open_session()
    with pytest.raises(OptionError, match=r"There is no row .*: rows are counted from 0 to 79"):
        session.answer("anna", [Answer(0, "label", "a", "yes"), Answer(row, "label", "b", "yes")])
    assert session.journal.events() == []


@pytest.mark.parametrize("action", ["undo", "class", "", "Label", None])
def test_other_actions_are_refused(open_session, action):
    with pytest.raises(OptionError, match="The action must be 'label', 'skip' or 'unsure'"):
        open_session().answer("anna", [Answer(0, action, "a", "yes")])


@pytest.mark.parametrize("n", [0, 501])
def test_the_number_of_answers_at_once_is_limited(open_session, n):
    with pytest.raises(OptionError, match=f"One to 500 answers can be sent at once, but there are {n}"):
        open_session().answer("anna", [Answer(0, "skip", f"{i}") for i in range(n)])


@pytest.mark.parametrize(
    "text", ["", " ", "NA", " nan ", "?", "null", "a\nb", "a\x00", "\u202eabc", "x" * 201, 5, None, ["a"]]
)
def test_labels_that_are_no_texts_or_gaps_are_refused(text):
    with pytest.raises(OptionError):
        checked_label(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [(" yes ", "yes"), ("ja, vielleicht", "ja, vielleicht"), ("0", "0"), ("🦊", "🦊"), ("none", "none")],
)
def test_labels_are_kept_without_spaces_around_them(text, label):
    assert checked_label(text) == label
    assert checked_label("x" * 200) == "x" * 200


@pytest.mark.parametrize("check", [checked_user, checked_request])
@pytest.mark.parametrize("text", ["", "\t", "a\tb", "x" * 201, None, 3])
def test_names_and_ids_are_short_printable_texts(check, text):
    with pytest.raises(OptionError, match="must be a text of 1 to"):
        check(text)


def test_classes_are_appended(open_session):
    session = open_session()
    give(session, 0, "b")
    session.add_class("anna", " a ")
    session.add_class("ben", "a")
    give(session, 1, "c")
    session.undo("anna", "u")
    assert session.classes == ["b", "a", "c"]
    with pytest.raises(OptionError):
        session.add_class("anna", "NA")


# ---------------------------------------------------------------- undo


def test_undo_goes_back_step_by_step(open_session):
    session = open_session()
    give(session, 0, "yes")
    give(session, 0, "no")
    give(session, 1, action="skip")
    assert [each.row for each in session.undo("anna", "u1")] == [1]
    assert session.undo("anna", "u2")[0].label == "no"
    assert session.labels == {0: "yes"}
    assert len(session.undo("anna", "u3")) == 1
    assert session.undo("anna", "u4") == []
    assert session.labels == {}


def test_undo_is_of_the_person_alone(open_session):
    session = open_session()
    give(session, 0, user="anna")
    assert session.undo("ben", "u1") == []
    assert session.labels == {0: "yes"}


def test_an_undo_that_is_sent_twice_undoes_once_and_has_the_same_answer(open_session):
    session = open_session()
    give(session, 0, "yes")
    give(session, 1, "no")
    first = session.undo("anna", "u1")
    assert session.undo("anna", "u1") == first
    assert session.labels == {0: "yes"}


@pytest.mark.parametrize("source", ["suggested", "random"])
def test_an_undone_row_is_reserved_again_with_its_source(open_session, source):
    session = suggest_all(open_session(audit=float(source == "random")))
    row, card = session.next_row("anna")
    give(session, row)
    session.undo("anna", "u")
    assert session.next_row("ben")[0] != row
    again, same = session.next_row("anna")
    assert (again, same.source, same.reason) == (row, card.source, card.reason)
    give(session, row, "no", source="chosen")
    assert session.journal.events()[-1].source == source


def test_an_undone_second_row_keeps_its_source(open_session):
    session = suggest_all(open_session(overlap=1.0))
    (first,) = take(session, "anna", 1)
    take(session, "ben", 1)
    session.undo("ben", "u")
    give(session, first[0], "no", "ben", source="second")
    assert session.journal.events()[-1].source == "second"


# ---------------------------------------------------------------- components


def test_a_component_is_labelled_and_undone_as_a_whole(open_session, structure):
    session = open_session()
    session.learner.structure = structure
    give(session, 0, "no")
    members = set(np.flatnonzero(structure.component == structure.component[1]).tolist()) - {0}
    expected = session.typical_rows(1)
    assert set(expected) <= members
    n = session.label_component("anna", 1, "yes", "all")
    assert n == len(expected) > 3
    assert session.labels == {0: "no"} | dict.fromkeys(expected, "yes")
    assert {each.source for each in session.journal.events()[1:]} == {"component"}
    labelled = [row for row in session.labels if row != 0]
    assert set(session.sources()[labelled]) == {"component"}
    assert session._label_state().is_untested.sum() == n
    assert len(session.undo("anna", "u")) == n
    assert session.labels == {0: "no"}
    assert session.next_row("ben")[0] != 0


def test_typical_rows_are_free_and_the_most_typical_first(open_session, structure):
    session = suggest_all(open_session())
    session.learner.structure = structure
    k = structure.component[1]
    rows = session.typical_rows(1)
    assert (structure.rows.responsibilities[rows, k] >= TYPICAL).all()
    log_joint = structure.rows.log_joint[rows, k]
    assert (np.diff(log_joint) <= 0).all()
    give(session, rows[0])
    held, _ = session.next_row("ben")
    assert set(session.typical_rows(1)) == set(rows) - {rows[0], held}


def test_a_component_that_is_sent_twice_is_labelled_once(open_session, structure, monkeypatch):
    monkeypatch.setattr(session_module, "MOST_OF_COMPONENT", 5)
    session = open_session()
    session.learner.structure = structure
    assert session.label_component("anna", 1, "yes", "all") == 5
    assert session.label_component("anna", 1, "yes", "all") == 5
    assert len(session.labels) == 5


def test_components_are_not_labelled_before_all_rows_are_learned(open_session):
    session = open_session()
    assert session.typical_rows(0) == []
    assert session.label_component("anna", 0, "yes", "all") == 0


# ---------------------------------------------------------------- restart, other tables


def test_a_session_is_continued(open_session):
    session = open_session()
    give(session, 0, "yes")
    give(session, 1, "no")
    session.undo("anna", "u")
    close(session)
    again = open_session()
    assert again.labels == {0: "yes"}
    assert again.classes == ["yes", "no"]
    assert again.notes == []
    assert again.undo("anna", "u2")[0].row == 0


def test_labels_of_the_journal_replace_those_of_the_table(open_session, groups):
    X, _ = groups()
    y = np.array([None] * len(X), dtype=object)
    y[:3] = ["no", "yes", "no"]
    session = open_session(LabelTable.of(X, y, target="risk", classes=["maybe"]))
    give(session, 1, "maybe")
    assert session.classes == ["maybe", "no", "yes"]
    assert session.y[:4].tolist() == ["no", "maybe", "no", None]
    session.undo("anna", "u")
    assert session.y[:4].tolist() == ["no", "yes", "no", None]


def test_labels_follow_their_rows_in_a_sorted_table(open_session, groups):
    X, _ = groups()
    session = open_session(LabelTable.of(X, target="risk"))
    for row in (0, 17, 42):
        give(session, row, f"label {row}")
    close(session)
    moved = X.sort_values("age", ignore_index=True)
    again = open_session(LabelTable.of(moved, target="risk"))
    assert again.notes == []
    assert {moved["id"][row]: label for row, label in again.labels.items()} == {
        f"c{row:05}": f"label {row}" for row in (0, 17, 42)
    }


def test_labels_stay_at_their_rows_when_rows_are_appended(open_session, groups):
    X, _ = groups()
    session = open_session(LabelTable.of(X, target="risk"))
    give(session, 17)
    close(session)
    longer = pd.concat([X, X[10:20], X.assign(id="new")], ignore_index=True)  # with a second row 17
    again = open_session(LabelTable.of(longer, target="risk"))
    assert again.labels == {17: "yes"}
    assert again.notes == []


def test_rows_that_have_changed_are_reported(open_session, groups):
    X, _ = groups()
    session = open_session(LabelTable.of(X, target="risk"))
    give(session, 0)
    give(session, 5)
    close(session)
    changed = X.copy()
    changed.loc[5, "age"] = 99.0
    again = open_session(LabelTable.of(changed, target="risk"))
    assert again.labels == {0: "yes"}
    (note,) = again.notes
    assert note.startswith("1 label is of a row that this table does not have")
    assert "row 6" in note


def test_other_columns_are_reported(open_session, groups):
    X, _ = groups()
    session = open_session(LabelTable.of(X, target="risk"))
    give(session, 0)
    close(session)
    again = open_session(LabelTable.of(X.drop(columns="income"), target="risk"))
    assert again.labels == {}
    assert again.notes[1].startswith("The table has other columns than before")
    close(again)
    assert open_session(LabelTable.of(X, target="risk")).labels == {0: "yes"}


def test_skipped_rows_that_are_not_found_are_no_labels_in_the_notes(open_session, groups):
    X, _ = groups()
    session = open_session(LabelTable.of(X, target="risk"))
    give(session, 5, action="skip")
    close(session)
    changed = X.assign(age=0.5)
    assert not any("label is of a row" in note for note in open_session(LabelTable.of(changed, target="risk")).notes)


def test_a_session_that_is_only_read_writes_nothing(open_session, tmp_path):
    close(open_session())
    with Journal(tmp_path / "risk.labels") as journal:
        assert "target" not in journal.meta()


def test_another_target_is_an_error(open_session, groups, tmp_path):
    session = open_session()
    give(session, 0)
    close(session)
    with pytest.raises(JournalError, match="has labels of column 'risk', but the column is 'other'"):
        open_session(LabelTable.of(groups()[0], target="other"))
    with Journal(tmp_path / "risk.labels") as journal:
        assert journal.meta()["target"] == "risk"


def test_two_sessions_of_one_journal_read_each_other(open_session):
    first, second = suggest_all(open_session(audit=0.0)), suggest_all(open_session(audit=0.0))
    give(first, 0, "yes", "anna")
    assert second.next_row("ben")[0] == 1
    assert second.labels == {0: "yes"}
    give(second, 1, "no", "ben")
    first.next_row("anna")
    assert first.labels == {0: "yes", 1: "no"}


def test_the_learner_follows_answers_of_another_process(open_session, monkeypatch):
    first, second = open_session(), open_session()
    calls = []
    monkeypatch.setattr(first.learner, "notify", lambda: calls.append(first.labels))
    first.read_journal()
    assert calls == []
    give(second, 3)
    first.read_journal()
    assert calls == [{3: "yes"}]


def test_rows_of_a_selection_count_like_those_of_a_component(open_session):
    session = suggest_all(open_session())
    give(session, 0)
    session.next_row("anna")
    assert session.label_selection("anna", [0, 1, 2], "no", "s") == 2
    assert session.labels == {0: "yes", 1: "no", 2: "no"}
    assert session.sources()[:3].tolist() == ["suggested", "component", "component"]
    assert session._label_state().is_untested.tolist() == [False, True, True]
    with pytest.raises(OptionError, match="row 80"):
        session.label_selection("anna", [3, 80], "no", "t")
    assert len(session.labels) == 3


def test_labels_that_many_rows_got_at_once_are_no_agreement(open_session):
    session = open_session()
    for row in range(3):
        give(session, row)
    session.record(
        Event(
            user="ben", action="label", request="s", row_key=session.table.keys[row], row=row, label="no", source=source
        )
        for row, source in enumerate(["selection", "component", "chosen"])
    )
    assert session.agreement().n_rows == 1


def test_y_is_a_copy(open_session):
    session = open_session()
    session.y[0] = "yes"
    assert session.y.tolist() == [None] * 80


def test_the_estimates_are_kept_for_the_curve(open_session, truth, structure):
    session = open_session()
    for row in range(16):
        give(session, row, str(truth[row]))
    session.learner.update(structure, session._label_state())
    (point,) = session.journal.estimates()
    estimate = session.learner.model.estimate
    assert (point.n_labels, point.value, point.low, point.high) == (16, estimate.value, *estimate.interval)


# ---------------------------------------------------------------- names of classes


def test_a_renamed_class_has_the_new_name_everywhere_and_after_a_restart(open_session):
    session = open_session()
    give(session, 0, "chrun")
    give(session, 1, "chrun", "ben")
    give(session, 2, "stays")
    session.rename_class("anna", "chrun", "churn", "r")
    for each in (session, open_session()):
        assert each.classes == ["churn", "stays"]
        assert each.labels == {0: "churn", 1: "churn", 2: "stays"}
        assert each.y[:4].tolist() == ["churn", "churn", "stays", None]
        assert each.sources()[:3].tolist() == ["suggested"] * 3
        assert each.class_names(["chrun", "other"]) == ["churn", "other"]


def test_a_rename_is_one_event_and_recorded_once(open_session):
    session = open_session()
    give(session, 0, "chrun")
    for _ in range(2):
        session.rename_class("anna", "chrun", "churn", "r")
    first, second = session.journal.events()
    assert (first.action, first.label) == ("label", "chrun")  # as it was recorded
    assert (second.action, second.renames, second.label, second.user) == ("rename", "chrun", "churn", "anna")


def test_a_request_that_is_sent_again_with_another_name_is_refused(open_session):
    session = open_session()
    give(session, 0, "chrun")
    session.rename_class("anna", "chrun", "churm", "r")
    with pytest.raises(OptionError, match="This request was recorded with other names before"):
        session.rename_class("anna", "chrun", "churn", "r")
    assert session.classes == ["churm"]


def test_an_undo_is_a_step_back_also_where_the_name_stays(open_session):
    session = open_session()
    give(session, 0, "a")
    give(session, 1, "c", "ben")
    session.rename_class("anna", "a", "b", "r")
    session.rename_class("ben", "c", "a", "s")
    (undone,) = session.undo("anna", "u")
    assert session.is_kept(undone)
    assert (session.classes, session.labels) == (["b", "a"], {0: "b", 1: "a"})
    assert session.undo("anna", "v")[0].action == "label"
    assert session.labels == {1: "a"}
    (undone,) = session.undo("ben", "w")
    assert not session.is_kept(undone)
    assert open_session().labels == session.labels == {1: "c"}


def test_classes_are_merged_only_where_it_is_confirmed_and_undo_takes_it_back(open_session):
    session = open_session()
    give(session, 0, "chrun")
    give(session, 1, "churn")
    with pytest.raises(OptionError, match=r"There is a class 'churn' already\. Confirm that the two become one"):
        session.rename_class("anna", "chrun", "churn", "r")
    session.rename_class("anna", "chrun", "churn", "r", merges=True)
    assert (session.labels, session.classes) == ({0: "churn", 1: "churn"}, ["churn"])
    (undone,) = session.undo("anna", "u")
    assert (undone.action, undone.renames, undone.label) == ("rename", "chrun", "churn")
    assert [event.action for event in session.undo("anna", "u")] == ["rename"]  # sent again
    assert (session.labels, session.classes) == ({0: "chrun", 1: "churn"}, ["chrun", "churn"])
    assert open_session().labels == session.labels
    assert session.undo("anna", "v")[0].label == "churn"  # the label before
    assert session.labels == {0: "chrun"}


def test_undo_of_another_person_does_not_take_a_rename_back(open_session):
    session = open_session()
    give(session, 0, "a")
    session.rename_class("anna", "a", "b", "r")
    assert session.undo("ben", "u") == []
    assert session.labels == {0: "b"}
    session.rename_class("ben", "b", "a", "back")
    assert session.labels == {0: "a"}


def test_a_class_of_the_table_is_not_renamed(open_session, table):
    given = [None] * len(table)
    given[7] = given[8] = "chrun"
    session = open_session(LabelTable(**{**vars_of(table), "given": given}))
    give(session, 0, "chrun")
    give(session, 1, "chrn")
    with pytest.raises(
        OptionError,
        match=r"The table has the class 'chrun' in 2 rows, and the table is never written. Replace it in column",
    ):
        session.rename_class("anna", "chrun", "churn", "r")
    session.rename_class("anna", "chrn", "chrun", "r", merges=True)
    assert session.labels == {0: "chrun", 1: "chrun", 7: "chrun", 8: "chrun"}
    assert [event.action for event in session.journal.events()] == ["label", "label", "rename"]


def test_a_table_that_has_a_class_of_a_former_name_keeps_it(open_session, table):
    session = open_session()
    give(session, 0, "a")
    session.rename_class("anna", "a", "b", "r")
    given = [None] * len(table)
    given[7] = "a"
    later = open_session(LabelTable(**{**vars_of(table), "given": given}))
    assert later.labels == {0: "b", 7: "a"}
    assert sorted(later.classes) == ["a", "b"]
    assert later.class_names(later._label_state().classes) == later.classes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("other", "b", "There is no class 'other'. Another person may have renamed it."),
        ("a", "a", "The class has the name 'a' already."),
        ("a", " ", "A label must be a text"),
        ("a", "NA", "'NA' is a gap in tables"),
    ],
)
def test_a_wrong_rename_is_refused_and_not_recorded(open_session, old, new, message):
    session = open_session()
    give(session, 0, "a")
    with pytest.raises(OptionError, match=message):
        session.rename_class("anna", old, new, "r")
    assert len(session.journal.events()) == 1


def test_a_class_can_be_added_again_with_a_former_name(open_session):
    session = open_session()
    session.add_class("anna", "a")
    session.rename_class("anna", "a", "b", "r")
    session.add_class("anna", "a")
    assert session.classes == open_session().classes == ["b", "a"]


def test_a_renamed_class_that_was_given_at_the_start_keeps_its_name_after_a_restart(open_session, table):
    own = LabelTable(**{**vars_of(table), "classes": ("chrun", "stays")})
    open_session(own).rename_class("anna", "chrun", "churn", "r")
    assert open_session(own).classes == ["churn", "stays"]
