"""A labelling session: who gets which row, what was answered, and the labels so far.

Requests of several persons come in several threads: what they change is guarded by one lock.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock
from time import monotonic
from typing import Any

import numpy as np

from mixkern.advice.source import LabelSource, n_random
from mixkern.defaults import AUDIT, OVERLAP
from mixkern.encoding.grammar import is_gap_word
from mixkern.errors import JournalError, OptionError
from mixkern.labelling.agreement import Agreement
from mixkern.labelling.answers import TOGETHER, Answers
from mixkern.labelling.journal import ANSWERS, Action, EstimatePoint, Event, Journal, Source
from mixkern.labelling.learner import LabelState, Learner, Model
from mixkern.labelling.table import LabelTable, unmatched_note
from mixkern.typing import Objects
from mixkern.wording import counted, shown

LEASE_S = 600.0  # for which a row is reserved for the person who has its card
QUEUE, QUEUE_PER_USER = 20, 4  # suggestions that are prepared
WAIT_S = 1.5  # for the first suggestions
TRIES = 64  # random draws before all rows are looked at
LONGEST_LABEL, LONGEST_NAME = 200, 64  # letters
MOST_ANSWERS = 500  # in one request
GIVEN = (Source.SUGGESTED, Source.RANDOM, Source.SECOND)  # by the server, with a card
MOST_OF_COMPONENT = 500  # rows that are labelled at once
FEWEST_IN_COMPONENT = 3  # labels, all of one class, before a component may be labelled as a whole


@dataclass(frozen=True)
class Answer:
    """What a person has answered for one row.

    Attributes
    ----------
    row : int
        Position of the row.
    action : {"label", "skip", "unsure"}
        What to record.
    request : str
        Made by the page: an answer that is sent twice is recorded once. Answers with the same one are undone together.
    label : str
        The label; empty for other actions.
    source : str
        How the row was chosen, see :class:`~mixkern.labelling.journal.Source`.
    seconds : float or None
        How long the person looked at it.
    """

    row: int
    action: str
    request: str
    label: str = ""
    source: str = Source.CHOSEN
    seconds: float | None = None


@dataclass(frozen=True)
class Reservation:
    """A row that one person has the card of."""

    user: str
    until: float
    source: Source
    reason: str


class LabelSession:
    """Labels of a table, given by persons.

    Parameters
    ----------
    table : LabelTable
        The table.
    journal : Journal
        Where each answer is recorded before the call returns.
    audit : float, default=0.2
        Share of rows that are drawn at random, so that the accuracy can be estimated.
    overlap : float, default=0.1
        Share of a person's rows that another person has labelled before.
    seed : int, default=0
        Seed of all draws.

    Attributes
    ----------
    notes : list of str
        What was found when the journal was opened: labels whose rows are not in the table.
    """

    def __init__(
        self, table: LabelTable, journal: Journal, *, audit: float = AUDIT, overlap: float = OVERLAP, seed: int = 0
    ) -> None:
        self.table, self.journal, self.audit, self.overlap = table, journal, audit, overlap
        self.lock = RLock()
        self._random = np.random.default_rng(seed)
        self._reserved: dict[int, Reservation] = {}
        self._n_cards: dict[str, int] = {}  # given to each person
        self.given = {row: label for row, label in enumerate(table.given) if label is not None}
        self.answers = Answers(table.positions, set(self.given.values()))
        for name in table.first_classes():
            self.answers.add([Event(user="", action=Action.CLASS, request="", label=name)])
        self.learner = Learner(table, self._label_state, self._keep_estimate, seed)
        self.notes = self._opened()

    def _opened(self) -> list[str]:
        """Check that the journal belongs to the table, and read it."""
        meta = self.journal.meta()
        if meta.get("target", self.table.target) != self.table.target:
            raise JournalError(
                f"{self.journal.path.name} has labels of column {meta['target']!r}, but the column is "
                f"{self.table.target!r}. Name another journal, or the other column."
            )
        columns = json.dumps(self.table.columns)
        self._facts = {"target": self.table.target, "table": self.table.name, "columns": columns}
        self.read_journal()
        lost = self.answers.unmatched
        rows = [f"row {event.row + 1}" for event in lost.values()]
        notes = [unmatched_note(len(lost), rows)] if lost else []
        if lost and meta.get("columns", columns) != columns:
            notes.append("The table has other columns than before, and rows are found by the texts of all columns.")
        return notes

    def remember(self, **facts: str) -> None:
        """Record facts about the session with its first event: a session that is read changes nothing."""
        self._facts |= facts

    def start(self) -> None:
        """Begin to learn in the background."""
        self.learner.start()

    def stop(self) -> None:
        """Stop learning; the journal stays open."""
        self.learner.stop()

    def read_journal(self) -> None:
        """Read the events that were added since, also by other processes; the learner follows them."""
        with self.lock:
            events = self.journal.events(after=self.answers.last_id)
            self.answers.add(events)
        if events:
            self.learner.notify()

    # ---------------------------------------------------------------- labels

    @property
    def classes(self) -> list[str]:
        """All classes, in the order of their keys on the page."""
        with self.lock:
            return self.answers.classes

    def is_kept(self, event: Event) -> bool:
        """Return whether a renaming stays although its person has undone it.

        It cannot be taken back where the class was renamed again or merged since, or another class has its former name.
        """
        with self.lock:
            return self.answers.is_kept(event)

    def class_names(self, classes: Iterable[str | int]) -> list[str]:
        """Return the names that classes have now, of those named in another way before, or of their numbers."""
        with self.lock:
            names = self.answers.names
            return [names.of(each) if isinstance(each, str) else names.name(each) for each in classes]

    def label_of(self, number: int, name: str) -> str:
        """Return the present name of the class with a number; ``name`` where no class has it.

        A page that was not updated since may call a class by a name that another one has now.
        """
        with self.lock:
            names = self.answers.names
            return names.name(number) if number in {*names.numbers, *names.merged} else name

    @property
    def labels(self) -> dict[int, str]:
        """Label of each row that has one: those of the journal replace those of the table."""
        with self.lock:
            return {**self.given, **self.answers.labels}

    @property
    def y(self) -> Objects:
        """Labels of all rows so far, None where there is none."""
        found: Objects = np.full(len(self.table), None, dtype=object)
        for row, label in self.labels.items():
            found[row] = label
        return found

    def sources(self) -> Objects:
        """Return how each labelled row was chosen; None where unknown.

        It is "random", "component" for those labelled with many others by one answer, else "suggested".
        """
        known: dict[str, LabelSource] = {Source.RANDOM: LabelSource.RANDOM}
        known |= dict.fromkeys(TOGETHER, LabelSource.COMPONENT)
        found: Objects = np.array(self.table.sources, dtype=object)
        with self.lock:
            for row in self.answers.labels:
                found[row] = str(known.get(self.answers.origin(row), LabelSource.SUGGESTED))
        return found

    def _label_state(self) -> LabelState:
        """Return the labels of this moment, for the learner."""
        with self.lock:
            labels = self.labels
            positions = np.array(sorted(labels), dtype=np.intp)
            at = {name: code for code, name in enumerate(self.classes)}
            sources = self.sources()[positions]
            n_users = len({each.user for each in self._reserved.values()})
            return LabelState(
                version=self.answers.version,
                positions=positions,
                codes=np.array([at[labels[row]] for row in positions.tolist()], dtype=np.intp),
                is_suggested=np.asarray(sources == LabelSource.SUGGESTED, dtype=bool),
                is_untested=np.asarray(sources == LabelSource.COMPONENT, dtype=bool),
                taken=np.array([*self.answers.answered, *self._reserved], dtype=np.intp),
                n_suggestions=QUEUE + QUEUE_PER_USER * max(1, n_users),
                classes=tuple(self.answers.names.numbers),
            )

    def _keep_estimate(self, model: Model) -> None:
        """Record the estimated accuracy, for the curve."""
        estimate = model.estimate
        if estimate is not None and estimate.value is not None and estimate.interval is not None:
            with self.lock:
                self.journal.add_estimate(EstimatePoint(estimate.n_labels, estimate.value, *estimate.interval))

    # ---------------------------------------------------------------- answers

    def answer(self, user: str, answers: Sequence[Answer]) -> int:
        """Record answers; they are on disk when this returns. Return how many rows were answered.

        An answer that was recorded before is not recorded again, and counts.
        """
        if not 0 < len(answers) <= MOST_ANSWERS:
            raise OptionError(f"One to {MOST_ANSWERS} answers can be sent at once, but there are {len(answers)}.")
        name = checked_user(user)
        with self.lock:
            self.record(self._event(name, each) for each in answers)
            for each in answers:
                self._reserved.pop(each.row, None)
        return len(answers)

    def _event(self, user: str, answer: Answer) -> Event:
        """Check an answer."""
        if answer.action not in ANSWERS:
            raise OptionError(f"The action must be 'label', 'skip' or 'unsure', but it is {shown(answer.action)}.")
        self._check_row(answer.row)
        held = self._reserved.get(answer.row)
        is_held = held is not None and held.user == user
        return Event(
            user=user,
            action=answer.action,
            request=checked_request(answer.request),
            row_key=self.table.keys[answer.row],
            row=answer.row,
            label=checked_label(answer.label) if answer.action == Action.LABEL else "",
            source=held.source if held is not None and is_held else self._claimed_source(answer),
            reason=held.reason if held is not None and is_held else "",
            seconds=None if answer.seconds is None else round(float(answer.seconds), 3),
        )

    def _claimed_source(self, answer: Answer) -> Source:
        """Return how a row was chosen that is not reserved: its card may come from a server that ran before."""
        is_open = answer.row not in self.answers.answered and answer.row not in self._reserved
        return Source(answer.source) if is_open and answer.source in GIVEN else Source.CHOSEN

    def record(self, events: Iterable[Event]) -> int:
        """Write events to the journal, and take them into account; return how many were new."""
        with self.lock:
            if self._facts:  # only now: a session that is read changes nothing
                self.journal.set_meta(**self._facts)
                self._facts = {}
            n = self.journal.add(events)
            self.read_journal()
        return n

    def _check_row(self, row: Any) -> None:
        if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < len(self.table):
            raise OptionError(f"There is no row {shown(row)}: rows are counted from 0 to {len(self.table) - 1}.")

    def undo(self, user: str, request: str) -> list[Event]:
        """Undo the latest step of a person that is not undone, answers or a new name of a class; return its events."""
        name, request = checked_user(user), checked_request(request)
        with self.lock:
            before = self.journal.of_request(name, request)
            if before:  # the page has sent it again
                return self.journal.of_request(name, before[0].undoes)
            self.read_journal()
            undone = list(self.answers.last_request(name))
            if undone:
                self.record([Event(user=name, action=Action.UNDO, request=request, undoes=undone[0].request)])
                self._reserve_again(name, undone)
        return undone

    def _reserve_again(self, user: str, undone: Sequence[Event]) -> None:
        """Reserve a row whose answer was undone for the same person: the card is shown again."""
        row = self.table.positions.get(undone[0].row_key)
        if len(undone) == 1 and row is not None and row not in self._reserved:
            first = undone[0]
            self._reserved[row] = Reservation(user, monotonic() + LEASE_S, source_again(first), first.reason)

    def add_class(self, user: str, name: str) -> None:
        """Add a class that has no label yet."""
        label = checked_label(name)
        with self.lock:
            if label not in self.answers.classes:
                request = f"class {label} {self.answers.last_id}"  # a name may be added again after it was changed
                self.record([Event(user=checked_user(user), action=Action.CLASS, request=request, label=label)])

    def rename_class(self, user: str, old: str, new: str, request: str, *, merges: bool = False) -> None:
        """Give a class another name: all its labels have it from now on, in the page, ``y`` and exports.

        Parameters
        ----------
        user : str
            The person; :meth:`undo` takes it back.
        old, new : str
            The names. Another class with the new name and this one become one.
        request : str
            Made by the page: what is sent twice is recorded once.
        merges : bool, default=False
            Whether the new name may be that of another class.
        """
        name, request, label = checked_user(user), checked_request(request), checked_label(new)
        with self.lock:
            before = self.journal.of_request(name, request)
            if before:
                if (before[0].renames, before[0].label) != (old, label):
                    raise OptionError("This request was recorded with other names before. Send it with another id.")
                return  # the page has sent it again
            self.read_journal()
            self._check_rename(old, label, merges=merges)
            self.record([Event(user=name, action=Action.RENAME, request=request, label=label, renames=old)])

    def _check_rename(self, old: str, new: str, *, merges: bool) -> None:
        if old not in self.classes:
            raise OptionError(f"There is no class {shown(old)}. Another person may have renamed it.")
        n_given = sum(label == old for label in self.given.values())
        if n_given:
            rows = counted(n_given, "row")
            raise OptionError(
                f"The table has the class {shown(old)} in {rows}, and the table is never written. Replace it in column "
                f"{self.table.target!r} of the table and start again. Labels of the journal can then be renamed here."
            )
        if new == old:
            raise OptionError(f"The class has the name {shown(old)} already.")
        if new in self.classes and not merges:
            raise OptionError(f"There is a class {shown(new)} already. Confirm that the two become one.")

    def label_component(self, user: str, row: int, label: str, request: str) -> int:
        """Label the most typical rows of a row's component that have no label; return how many."""
        self._check_row(row)
        return self._label_together(user, label, request, Source.COMPONENT, lambda: self.typical_rows(row))

    def label_selection(self, user: str, rows: Sequence[int], label: str, request: str) -> int:
        """Label those of some rows that have no label; return how many."""
        if len(rows) > MOST_ANSWERS:
            raise OptionError(f"At most {MOST_ANSWERS} rows can be labelled at once, but there are {len(rows)}.")
        for row in rows:
            self._check_row(row)
        return self._label_together(user, label, request, Source.SELECTION, lambda: sorted({*rows} - {*self.labels}))

    def _label_together(
        self, user: str, label: str, request: str, source: Source, rows_now: Callable[[], list[int]]
    ) -> int:
        """Give one label to many rows; return how many."""
        name, label, request = checked_user(user), checked_label(label), checked_request(request)
        with self.lock:
            before = self.journal.of_request(name, request)
            if before:  # the page has sent it again
                return len(before)
            self.read_journal()
            rows, keys = rows_now(), self.table.keys
            facts: dict[str, Any] = {"action": Action.LABEL, "label": label, "source": source}
            self.record(Event(user=name, request=request, row_key=keys[row], row=row, **facts) for row in rows)
            for row in rows:
                self._reserved.pop(row, None)
        return len(rows)

    def typical_rows(self, row: int) -> list[int]:
        """Return rows without a label that are typical of a row's component, the most typical first."""
        structure = self.learner.structure
        if structure is None or not structure.is_complete:
            return []
        with self.lock:
            is_free = (each for each in structure.typical(int(structure.component[row])) if self._is_free(each))
            return [each for each, _ in zip(is_free, range(MOST_OF_COMPONENT), strict=False)]

    # ---------------------------------------------------------------- who gets which row

    def next_row(self, user: str, held: Collection[int] = ()) -> tuple[int, Reservation] | None:
        """Reserve a row for a person; None where no row is left.

        Parameters
        ----------
        user : str
            The person.
        held : collection of int, default=()
            Rows whose cards the person has open: they are not given again, also by a server that was started since and
            has not reserved them. Others that are reserved for the person come first: cards that were lost when the
            page was loaded again.
        """
        name = checked_user(user)
        self.learner.wait_for_suggestions(WAIT_S)
        with self.lock:
            self.read_journal()
            now = monotonic()
            self._reserved = {row: each for row, each in self._reserved.items() if each.until > now}
            mine = [(row, each) for row, each in self._reserved.items() if each.user == name and row not in held]
            if mine:
                return mine[0]
            found = self._chosen(name, held)
            if found is None:
                return None
            row, source, reason = found
            self._n_cards[name] = self._n_cards.get(name, 0) + 1
            self._reserved[row] = Reservation(name, now + LEASE_S, source, reason)
            return row, self._reserved[row]

    def _chosen(self, user: str, held: Collection[int]) -> tuple[int, Source, str] | None:
        n = self._n_cards.get(user, 0)
        if int((n + 1) * self.overlap + 1e-9) > int(n * self.overlap + 1e-9):
            taken = {*self._reserved, *held}
            rows = [row for row in self.answers.labelled_by_one_other(user) if row not in taken]
            if rows:
                reason = "Another person has labelled this row as well, so that labels can be compared."
                return int(self._random.choice(rows)), Source.SECOND, reason
        n_turns = len(self.labels) + len(self._reserved)
        if not n_random(n_turns, 1, self.audit):
            for suggestion in self.learner.suggestions:
                if suggestion.row not in held and self._is_free(suggestion.row):
                    return suggestion.row, Source.SUGGESTED, suggestion.reason
        row = self._random_row(held)
        return None if row is None else (row, Source.RANDOM, "Drawn at random, to measure the accuracy.")

    def _is_free(self, row: int) -> bool:
        return row not in self.given and row not in self.answers.answered and row not in self._reserved

    def _random_row(self, held: Collection[int]) -> int | None:
        for row in self._random.integers(len(self.table), size=TRIES).tolist():
            if row not in held and self._is_free(row):
                return int(row)
        free = [row for row in range(len(self.table)) if row not in held and self._is_free(row)]
        return int(self._random.choice(free)) if free else None

    # ---------------------------------------------------------------- people

    def agreement(self) -> Agreement | None:
        """Return how far persons agree on their common rows, with kappa where these are enough; None without any.

        Labels that were given to many rows by one answer do not count.
        """
        with self.lock:
            shared = self.answers.shared(but=TOGETHER)
        return Agreement.of(shared)

    def disagreements(self) -> dict[int, dict[str, str]]:
        """Return the rows that persons have labelled differently, with the label of each person."""
        with self.lock:
            shared = self.answers.shared()
        return {row: labels for row, labels in shared.items() if len(set(labels.values())) > 1}


def checked_label(label: Any) -> str:
    """Return a label without spaces around it, or raise an error.

    >>> checked_label(" yes ")
    'yes'
    >>> checked_label("NA")
    Traceback (most recent call last):
    mixkern.errors.OptionError: 'NA' is a gap in tables, and no label. Use another word.
    """
    text = _text(label, "A label", LONGEST_LABEL)
    if is_gap_word(text):
        raise OptionError(f"{text!r} is a gap in tables, and no label. Use another word.")
    return text


def source_again(event: Event) -> Source:
    """Return how a row was chosen whose answer was undone: its card is shown now."""
    return Source.CHOSEN if event.source in TOGETHER else Source(event.source)


def checked_user(user: Any) -> str:
    """Return the name of a person, or raise an error."""
    return _text(user, "A name", LONGEST_NAME)


def checked_request(request: Any) -> str:
    """Return the identifier of a request, or raise an error."""
    return _text(request, "An id", LONGEST_LABEL)


def _text(value: Any, what: str, most: int) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > most or not text.isprintable():
        raise OptionError(f"{what} must be a text of 1 to {most} printable letters, but it is {shown(value, 40)}.")
    return text
