"""The labels that the events of a journal add up to, against a plain replay of the events."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.labelling.answers import INDIVIDUAL, Answers
from mixkern.labelling.journal import Event

POSITIONS = {"a": 0, "b": 1, "c": 2, "d": 3}
USERS = ("anna", "ben", "cleo")


def label(number, key="a", name="yes", user="anna", request=None, source="suggested", action="label"):
    return Event(
        id=number,
        user=user,
        action=action,
        request=request or f"r{number}",
        row_key=key,
        label=name if action == "label" else "",
        source=source,
    )


def undo(number, undoes, user="anna"):
    return Event(id=number, user=user, action="undo", request=f"r{number}", undoes=undoes)


def rename(number, old, new, user="anna"):
    return Event(id=number, user=user, action="rename", request=f"{user} {number}", label=new, renames=old)


def answers_after(*events, fixed=()):
    answers = Answers(POSITIONS, fixed)
    answers.add(events)
    return answers


# ---------------------------------------------------------------- a plain replay


class Class:
    """A class of the replay: its name, and the class that it is a part of."""

    def __init__(self, name):
        self.name, self.whole = name, None

    @property
    def root(self):
        return self if self.whole is None else self.whole.root


class Replay:
    """All questions about labels, answered by going through the list of events that stand."""

    def __init__(self, events, fixed=()):
        self.steps, self.all, self.called, self.fixed = [], [], {}, fixed
        class_of, changes = {}, {}
        for event in events:
            if event.action == "undo":
                self.steps = [each for each in self.steps if (each.user, each.request) != (event.user, event.undoes)]
                self.take_back(*changes.pop((event.user, event.undoes), ()))
                continue
            if event.action == "class" and self.named(event.label) is None:
                self.begin(event.label)
            if event.action == "label":
                class_of[event.id] = self.called.get(event.label) or self.begin(event.label)
            if event.action == "rename":
                changes[event.user, event.request] = self.rename(event.renames, event.label)
            if event.action != "class":
                self.steps.append(event)
        self.classes = [each.name for each in self.all if each.whole is None]
        self.steps = [
            replace(each, label=class_of[each.id].root.name) if each.action == "label" else each for each in self.steps
        ]
        self.stands = [each for each in self.steps if each.action != "rename"]

    def named(self, name):
        return next((each for each in self.all if each.whole is None and each.name == name), None)

    def begin(self, name):
        self.called[name] = Class(name)
        self.all.append(self.called[name])
        return self.called[name]

    def rename(self, old, new):
        renamed = (self.called.get(old) or self.begin(old)).root
        before, other = renamed.name, self.named(new)
        if other in (None, renamed):
            renamed.name, self.called[new], other = new, renamed, None
        renamed.whole = other
        if before in self.fixed and self.named(before) is None:
            self.begin(before)
        return renamed, before, new, other

    def take_back(self, renamed=None, before=None, new=None, into=None):
        if renamed is None or renamed.whole is not into or (into is None and renamed.name != new):
            return
        other = self.named(before)
        if other in (None, renamed):
            renamed.name, renamed.whole, self.called[before] = before, None, renamed
        elif before in self.fixed:
            renamed.whole = other

    def on(self, row):
        return [each for each in self.stands if POSITIONS.get(each.row_key) == row]

    def last_of(self, row, user):
        own = [each for each in self.on(row) if each.user == user]
        return own[-1] if own else None

    def lasts(self, row):
        found = [self.last_of(row, user) for user in USERS]
        return [each for each in found if each is not None]

    def label(self, row):
        labels = [each for each in self.lasts(row) if each.action == "label"]
        return max(labels, key=lambda each: each.id).label if labels else None

    def labels(self):
        return {row: self.label(row) for row in POSITIONS.values() if self.label(row) is not None}

    def labels_of(self, row):
        return {each.user: each.label for each in self.lasts(row) if each.action == "label"}

    def origin(self, row):
        return next(each.source for each in self.on(row) if each.action == "label")

    def count(self, action):
        return sum(
            self.label(row) is None and any(each.action == action for each in self.lasts(row))
            for row in POSITIONS.values()
        )

    def requests(self, user):
        return list(dict.fromkeys(each.request for each in self.steps if each.user == user))

    def history(self, user):
        return [
            each
            for request in reversed(self.requests(user))
            for each in self.stands
            if each.user == user and each.request == request
        ]


@st.composite
def journals(draw):
    """Events of three persons: labels of one row or several, skips, classes, new names, undos that may come twice."""
    events, number = [], 0
    for _ in range(draw(st.integers(0, 25))):
        user = draw(st.sampled_from(USERS))
        what = draw(st.sampled_from(["label", "label", "label", "skip", "unsure", "undo", "undo", "class", "rename"]))
        number += 1
        if what == "undo":
            known = [each.request for each in events if each.user == user] or ["nothing"]
            events.append(undo(number, draw(st.sampled_from(known[-4:])), user))
            continue
        name, source = draw(st.sampled_from(["yes", "no", "maybe"])), draw(st.sampled_from(["random", "suggested"]))
        if what == "rename":
            old = draw(st.sampled_from(["yes", "no", "maybe"]))
            events.append(rename(number, old, name, user))
            continue
        if what == "class":
            events.append(Event(id=number, user=user, action="class", request=f"class {name}", label=name))
            continue
        request = f"{user} {number}"
        for key in draw(st.lists(st.sampled_from("abcdXY"), min_size=1, max_size=3, unique=True)):
            events.append(label(number, key, name, user, request, source, what))
            number += 1
    return events


FIXED = st.sets(st.sampled_from(["yes", "no", "late"]), max_size=2)


@given(journals(), st.integers(1, 5), FIXED)
@settings(deadline=None, max_examples=150)
def test_answers_are_those_of_a_plain_replay(events, n_parts, fixed):
    first = [Event(user="", action="class", request="", label=name) for name in sorted(fixed)]
    answers, replay = Answers(POSITIONS, fixed), Replay([*first, *events], fixed)
    answers.add(first)
    for part in range(n_parts):
        size = -(-len(events) // n_parts) or 1
        answers.add(events[part * size : (part + 1) * size])
    assert answers.labels == replay.labels()
    assert {row: event.label for row, event in answers.latest.items()} == replay.labels()
    assert answers.answered == {row for row in POSITIONS.values() if replay.lasts(row)}
    assert answers.classes == replay.classes
    assert {row: answers.origin(row) for row in answers.labels} == {row: replay.origin(row) for row in answers.labels}
    assert [answers.count(action) for action in ("skip", "unsure")] == [replay.count("skip"), replay.count("unsure")]
    for user in USERS:
        assert answers.history(user) == replay.history(user)
        last = replay.requests(user)[-1:]
        assert answers.last_request(user) == [each for each in replay.steps if each.request in last]
        assert [answers.answer_of(row, user) for row in range(4)] == [replay.last_of(row, user) for row in range(4)]
        assert sorted(answers.labelled_by_one_other(user)) == [
            row for row in replay.labels() if len(replay.lasts(row)) == 1 and replay.lasts(row)[0].user != user
        ]
    assert {row: answers.labels_of(row) for row in range(4)} == {row: replay.labels_of(row) for row in range(4)}
    assert answers.shared() == {row: replay.labels_of(row) for row in range(4) if len(replay.labels_of(row)) > 1}
    assert answers.users() == {
        user: n for user in USERS if (n := sum(user in replay.labels_of(row) for row in range(4)))
    }
    assert answers.last_id == max((each.id for each in events), default=0)


@pytest.mark.slow
@given(journals(), FIXED)
@settings(deadline=None, max_examples=150)
def test_classes_are_different_and_those_of_the_table_and_of_all_labels_are_among_them(events, fixed):
    answers = answers_after(*(Event(user="", action="class", request="", label=name) for name in fixed), fixed=fixed)
    for event in events:
        answers.add([event])
        assert len(set(answers.classes)) == len(answers.classes)
        assert {*fixed, *answers.labels.values()} <= {*answers.classes}


@pytest.mark.slow
@given(journals(), st.sampled_from(["yes", "no", "maybe"]), st.sampled_from(["yes", "no", "new"]))
@settings(deadline=None, max_examples=150)
def test_an_undo_right_after_a_renaming_restores_everything(events, old, new):
    answers = answers_after(*events, Event(user="", action="class", request="", label=old))
    before = answers.classes, answers.labels, [answers.history(user) for user in USERS]
    answers.add([rename(900, old, new, "anna"), undo(901, "anna 900")])
    assert (answers.classes, answers.labels, [answers.history(user) for user in USERS]) == before


# ---------------------------------------------------------------- single rules


def test_the_latest_label_of_any_person_counts():
    assert answers_after(label(1), label(2, name="no", user="ben")).labels == {0: "no"}
    assert answers_after(label(1), label(2, name="no", user="ben"), undo(3, "r2", "ben")).labels == {0: "yes"}


def test_a_person_who_skips_a_row_takes_the_label_back():
    answers = answers_after(label(1), label(2, action="skip"))
    assert answers.labels == {}
    assert answers.count("skip") == 1
    assert answers.answered == {0}


def test_a_batch_is_undone_as_a_whole():
    batch = [label(number, key, request="batch") for number, key in enumerate("abc", start=2)]
    answers = answers_after(label(1, "b", "no"), *batch)
    assert answers.labels == {0: "yes", 1: "yes", 2: "yes"}
    assert answers.last_request("anna") == batch
    answers.add([undo(9, "batch")])
    assert answers.labels == {1: "no"}


def test_an_undo_does_not_undo_the_answers_of_others():
    assert answers_after(label(1), undo(2, "r1", "ben")).labels == {0: "yes"}


def test_an_undo_that_comes_twice_undoes_once():
    assert answers_after(label(1), label(2, name="no"), undo(3, "r2"), undo(4, "r2")).labels == {0: "yes"}


def test_requests_of_two_persons_with_the_same_name_are_two():
    both = [label(1, "a", request="r"), label(2, "b", "no", "ben", request="r")]
    assert answers_after(*both).last_request("ben") == [both[1]]
    assert answers_after(*both, undo(3, "r")).labels == {1: "no"}
    assert answers_after(*both, undo(3, "r", "ben")).labels == {0: "yes"}


def test_classes_stay_when_their_labels_are_undone():
    answers = answers_after(label(1, name="b"), label(2, name="a"), undo(3, "r1"), undo(4, "r2"), label(5, name="a"))
    assert answers.classes == ["b", "a"]


def test_rows_that_the_table_does_not_have_are_kept_apart_until_they_are_undone():
    answers = answers_after(label(1, "X"))
    assert answers.labels == {}
    assert list(answers.unmatched) == ["X"]
    assert len(answers.history("anna")) == 1
    answers.add([undo(2, "r1")])
    assert answers.unmatched == {}


def test_an_unmatched_row_stays_as_long_as_one_of_its_answers_stands():
    answers = answers_after(label(1, "X"), label(2, "X", user="ben"), undo(3, "r2", "ben"))
    assert list(answers.unmatched) == ["X"]


def test_a_correction_does_not_change_how_a_row_was_chosen():
    answers = answers_after(label(1, source="random"), label(2, name="no", source="chosen"))
    assert answers.origin(0) == "random"
    answers.add([undo(3, "r1")])
    assert answers.origin(0) == "chosen"


@pytest.mark.parametrize("source", ["suggested", "random", "chosen", "second", "component", "typed"])
def test_only_rows_that_were_looked_at_are_given_to_a_second_person(source):
    found = answers_after(label(1, source=source)).labelled_by_one_other("ben")
    assert found == ([0] if source in INDIVIDUAL else [])
    assert (source in INDIVIDUAL) == (source not in ("component", "typed"))


def test_every_event_changes_the_version():
    answers, versions = Answers(POSITIONS), set()
    for event in (label(1), label(2, action="skip"), undo(3, "r2"), Event(user="", action="class", request="c")):
        answers.add([event])
        versions.add(answers.version)
    assert len(versions) == 4


# ---------------------------------------------------------------- names of classes


def test_a_renamed_class_keeps_its_place_and_all_labels_get_the_new_name():
    answers = answers_after(
        label(1, name="chrun"),
        label(2, "b", "stays", "ben"),
        label(3, "c", "chrun", "ben"),
        rename(4, "chrun", "churn"),
    )
    assert answers.labels == {0: "churn", 1: "stays", 2: "churn"}
    assert answers.classes == ["churn", "stays"]
    assert answers.labels_of(2) == {"ben": "churn"}
    assert [event.label for event in answers.history("anna")] == ["churn"]


def test_classes_have_numbers_that_stay():
    answers = answers_after(label(1, name="a"), label(2, "b", "b"), label(3, "c", "c"), rename(4, "a", "b"))
    assert (answers.names.numbers, answers.names.current, answers.names.merged) == ([1, 2], ["b", "c"], {0: 1})
    answers.add([rename(5, "b", "d")])
    assert (answers.names.numbers, answers.names.current, answers.names.merged) == ([1, 2], ["d", "c"], {0: 1})
    assert [answers.names.name(number) for number in range(3)] == ["d", "d", "c"]
    assert answers.names_id == 5
    answers.add([label(6, "e", "e")])
    assert answers.names_id == 5
    answers.add([undo(7, "anna 5"), undo(8, "anna 5")])  # the second changes nothing
    assert answers.names_id == 7
    assert answers_after(*answers._log).names_id == 7  # all at once, as when a session is opened again


def test_labels_that_come_later_with_the_former_name_get_the_new_one():
    answers = answers_after(label(1, name="chrun"), rename(2, "chrun", "churn"))
    answers.add([label(3, "b", "chrun", "ben")])
    assert answers.labels == {0: "churn", 1: "churn"}
    assert answers.classes == ["churn"]
    assert answers.names.numbers == [0]
    assert answers.names_id == 2


def test_two_classes_become_one_and_an_undo_makes_them_two_again():
    answers = answers_after(label(1, name="chrun"), label(2, "b", "churn"), rename(3, "chrun", "churn"))
    assert (answers.labels, answers.classes) == ({0: "churn", 1: "churn"}, ["churn"])
    answers.add([label(4, "c", "churn", "ben"), undo(5, "anna 3")])
    assert answers.labels == {0: "chrun", 1: "churn", 2: "churn"}
    assert answers.classes == ["chrun", "churn"]


def test_an_undone_rename_also_changes_labels_that_were_given_since():
    answers = answers_after(label(1, name="a"), rename(2, "a", "b"), label(3, "b", "b", "ben"), undo(4, "anna 2"))
    assert (answers.labels, answers.classes) == ({0: "a", 1: "a"}, ["a"])
    answers.add([label(5, "c", "b", "ben")])  # from a page that has not been updated since
    assert answers.labels[2] == "a"


def test_the_names_of_two_classes_can_be_exchanged():
    answers = answers_after(label(1, "a", "yes"), label(2, "b", "no"))
    answers.add([rename(3, "yes", "other"), rename(4, "no", "yes"), rename(5, "other", "no")])
    assert (answers.labels, answers.classes) == ({0: "no", 1: "yes"}, ["no", "yes"])
    answers.add([label(6, "c", "yes"), label(7, "d", "no")])
    assert [answers.labels[row] for row in (2, 3)] == ["yes", "no"]


def test_a_former_name_can_be_that_of_a_new_class():
    answers = answers_after(label(1, name="a"), rename(2, "a", "b"))
    answers.add([Event(id=3, user="anna", action="class", request="c", label="a"), label(4, "b", "a")])
    assert (answers.labels, answers.classes) == ({0: "b", 1: "a"}, ["b", "a"])


def test_a_renamed_class_can_be_renamed_again_and_back():
    answers = answers_after(label(1, name="a"), rename(2, "a", "b"), rename(3, "b", "c"))
    assert answers.labels == {0: "c"}
    answers.add([rename(4, "c", "a")])
    assert (answers.labels, answers.classes) == ({0: "a"}, ["a"])


def test_a_rename_is_the_last_step_of_the_person_but_no_answer():
    answers = answers_after(label(1, name="a"), rename(2, "a", "b"))
    assert [event.action for event in answers.last_request("anna")] == ["rename"]
    assert [event.action for event in answers.history("anna")] == ["label"]
    answers.add([undo(3, "anna 2"), undo(4, "r1")])
    assert (answers.labels, answers.classes) == ({}, ["a"])


def test_a_class_of_the_table_stays_where_labels_of_the_same_name_were_renamed_before():
    known = Event(user="", action="class", request="", label="a")
    answers = answers_after(known, label(1, name="a"), rename(2, "a", "b"), label(3, "b", "a"), fixed={"a"})
    assert answers.labels == {0: "b", 1: "a"}
    assert sorted(answers.classes) == ["a", "b"]


def test_a_class_of_the_table_stays_whatever_others_undo():
    """Two classes merged and renamed by three persons: the label of one was once called as the table's class."""
    known = Event(user="", action="class", request="", label="F")
    events = [known, label(1, "a", "A"), label(2, "b", "D")]
    events += [rename(3, "A", "F", "ben"), rename(4, "D", "A", "cleo"), rename(5, "A", "C", "anna")]
    answers = answers_after(*events, undo(6, "cleo 4", "cleo"), fixed={"F"})
    assert (answers.labels, answers.classes) == ({0: "F", 1: "C"}, ["F", "C"])
    assert answers.is_kept(events[4])
    assert not answers.is_kept(events[3])


def test_a_label_keeps_its_class_when_another_person_undoes_a_renaming():
    events = [label(1, "a", "A"), label(2, "b", "D"), Event(id=3, user="", action="class", request="", label="F")]
    answers = answers_after(*events, rename(4, "A", "F", "ben"), rename(5, "D", "A"), label(6, "c", "A", "ben"))
    answers.add([undo(7, "anna 5")])
    assert answers.labels == {0: "F", 1: "D", 2: "D"}


def test_a_name_that_another_class_has_now_does_not_come_back():
    renaming = rename(3, "A", "B")
    answers = answers_after(label(1, "a", "A"), label(2, "b", "C", "ben"), renaming, rename(4, "C", "A", "ben"))
    answers.add([undo(5, "anna 3")])
    assert (answers.labels, answers.classes) == ({0: "B", 1: "A"}, ["B", "A"])
    assert answers.is_kept(renaming)


def test_a_class_that_was_renamed_again_keeps_its_name():
    first, second = rename(2, "A", "B"), rename(3, "B", "C", "ben")
    answers = answers_after(label(1, "a", "A"), first, second, undo(4, "anna 2"))
    assert answers.labels == {0: "C"}
    assert answers.is_kept(first)
    answers.add([undo(5, "ben 3", "ben")])
    assert answers.labels == {0: "B"}


def test_a_former_name_of_a_merged_class_still_finds_it():
    answers = answers_after(label(1, "a", "A"), label(2, "b", "B"), rename(3, "A", "B"), label(4, "c", "A", "ben"))
    assert answers.labels == {0: "B", 1: "B", 2: "B"}
    answers.add([undo(5, "anna 3")])
    assert answers.labels == {0: "A", 1: "B", 2: "A"}
