"""What the events of a journal add up to: the label of each row, and what each person has done."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from mixkern.labelling.class_names import ClassNames, Renaming
from mixkern.labelling.journal import ANSWERS, Action, Event, Source

INDIVIDUAL = (Source.SUGGESTED, Source.RANDOM, Source.CHOSEN, Source.SECOND)  # labels given to a row that was looked at
TOGETHER = (Source.COMPONENT, Source.SELECTION)  # labels given to many rows by one answer


class Answers:
    """Labels, skipped rows and classes, after the events of a journal.

    The label of a row is the latest one of any person that was not undone. Events are added in the order of the
    journal. Labels have the names that their classes have now: after a class was renamed, all its labels have the new
    name, also those that come later with the former one, until that is the name of another class.

    Parameters
    ----------
    positions : mapping of str to int
        Position of each content key in the table. Events of other rows are kept apart, in ``unmatched``.
    fixed : collection of str, default=()
        Classes of the table, which stay when labels of the journal are renamed.

    Examples
    --------
    >>> answers = Answers({"x": 0, "y": 1})
    >>> facts = dict(user="anna", action="label", source="random")
    >>> answers.add([Event(request="1", row_key="x", label="yes", **facts)])
    >>> answers.add([Event(request="2", row_key="x", label="no", **facts)])
    >>> answers.labels
    {0: 'no'}
    >>> answers.add([Event(user="anna", action="undo", request="3", undoes="2")])
    >>> answers.labels
    {0: 'yes'}
    """

    def __init__(self, positions: Mapping[str, int], fixed: Collection[str] = ()) -> None:
        self._positions, self._keys = positions, {position: key for key, position in positions.items()}
        self._fixed = fixed
        self._log: list[Event] = []  # all events, as they were recorded
        self.last_id = 0
        self.names_id = 0  # of the last event that has renamed, merged or separated classes
        self._clear()

    def _clear(self) -> None:
        """Forget what the events add up to."""
        self.names = ClassNames(self._fixed)
        self._renamings: dict[tuple[str, str], Renaming] = {}  # by user and request, not undone
        self._kept: set[tuple[str, str]] = set()  # users and requests of renamings that could not be undone
        self._stacks: dict[str, dict[str, list[Event]]] = defaultdict(dict)  # by row and user, the latest last
        self._events: dict[str, dict[str, list[Event]]] = defaultdict(dict)  # by user and request, not undone
        self._latest: dict[int, Event] = {}  # label of each row
        self.answered: set[int] = set()  # rows that have a label, or were skipped or found unclear by someone
        self.unmatched: dict[str, Event] = {}  # labels of rows that are not in the table, by content key

    @property
    def version(self) -> int:
        """A number that changes with every event."""
        return len(self._log)

    @property
    def classes(self) -> list[str]:
        """Names of all classes, in the order in which they were added."""
        return self.names.current

    def add(self, events: Iterable[Event]) -> None:
        """Take further events into account."""
        new = list(events)
        self._log += new
        self.last_id = max((event.id for event in new), default=self.last_id)
        if any(event.action == Action.RENAME or (event.user, event.undoes) in self._renamings for event in new):
            self._clear()  # labels of earlier events get other names
            new = self._log
        for event in self._with_present_names(new):
            self._take(event)

    def _with_present_names(self, events: Sequence[Event]) -> list[Event]:
        """Return events with the names that their classes have after the last of them."""
        names = self.names
        numbers: dict[int, int] = {}  # of the class, by place among the events
        for at, event in enumerate(events):
            if event.action == Action.LABEL:
                numbers[at] = names.find(event.label)
            elif event.action == Action.CLASS:
                names.add(event.label)
            elif event.action == Action.RENAME:
                self._renamings[event.user, event.request] = names.rename(event.renames, event.label)
                self.names_id = event.id
            elif event.action == Action.UNDO:
                change = self._renamings.pop((event.user, event.undoes), None)
                if change is None:
                    continue
                self.names_id = event.id
                if not names.take_back(change):
                    self._kept.add((event.user, event.undoes))
        return [
            replace(event, label=names.name(numbers[at])) if at in numbers else event for at, event in enumerate(events)
        ]

    def is_kept(self, event: Event) -> bool:
        """Return whether a renaming stays although its person has undone it: it could not be taken back."""
        return (event.user, event.request) in self._kept

    def _take(self, event: Event) -> None:
        """Take one event into account, whose label is the present name of a class."""
        if event.action == Action.UNDO:
            self._undo(event)
        elif event.action in (*ANSWERS, Action.RENAME):
            self._events[event.user].setdefault(event.request, []).append(event)
        if event.action in ANSWERS:
            self._stacks[event.row_key].setdefault(event.user, []).append(event)
            self._refresh(event.row_key)

    def _undo(self, event: Event) -> None:
        for each in self._events[event.user].pop(event.undoes, []):  # none where it was undone before
            if each.action in ANSWERS:
                self._stacks[each.row_key][each.user].remove(each)
                self._refresh(each.row_key)

    def _refresh(self, key: str) -> None:
        """Find the latest label of a row."""
        tops = [stack[-1] for stack in self._stacks[key].values() if stack]
        labels = [event for event in tops if event.action == Action.LABEL]
        position = self._positions.get(key)
        if position is None:
            self.unmatched.pop(key, None)
            if labels:
                self.unmatched[key] = _newest(labels)
            return
        (self.answered.add if tops else self.answered.discard)(position)
        self._latest.pop(position, None)
        if labels:
            self._latest[position] = _newest(labels)

    # ---------------------------------------------------------------- rows

    @property
    def labels(self) -> dict[int, str]:
        """Label of each row that has one."""
        return {position: event.label for position, event in self._latest.items()}

    @property
    def latest(self) -> Mapping[int, Event]:
        """The event that each label comes from."""
        return self._latest

    def origin(self, position: int) -> str:
        """Return how a labelled row came to be labelled first: a later correction does not change it."""
        events = [event for stack in self._of(position).values() for event in stack]
        return min((event for event in events if event.action == Action.LABEL), key=lambda event: event.id).source

    def answer_of(self, position: int, user: str) -> Event | None:
        """Return the latest answer of one person for a row."""
        stack = self._of(position).get(user)
        return stack[-1] if stack else None

    def count(self, action: Action) -> int:
        """Return the number of rows without a label that someone has skipped, or found unclear."""
        return sum(
            any(stack and stack[-1].action == action for stack in self._of(position).values())
            for position in self.answered - self._latest.keys()
        )

    def _of(self, position: int) -> dict[str, list[Event]]:
        """Return the answers of each person for a row that someone has answered, else none."""
        return self._stacks[self._keys[position]] if position in self.answered else {}

    # ---------------------------------------------------------------- people

    def last_request(self, user: str) -> list[Event]:
        """Return the events of a person's latest request that is not undone."""
        requests = self._events.get(user)
        return requests[next(reversed(requests))] if requests else []

    def history(self, user: str) -> list[Event]:
        """Return the answers of a person that are not undone, the latest first."""
        requests = self._events.get(user, {})
        events = (event for request in reversed(requests) for event in requests[request])
        return [event for event in events if event.action in ANSWERS]

    def users(self) -> dict[str, int]:
        """Return the number of rows that each person has labelled."""
        counts: Counter[str] = Counter()
        for position in self._latest:
            counts.update(list(self.labels_of(position)))
        return dict(sorted(counts.items()))

    def labels_of(self, position: int, but: Collection[str] = ()) -> dict[str, str]:
        """Return the label of a row by each person, but for those of some sources."""
        return {
            user: stack[-1].label
            for user, stack in self._of(position).items()
            if stack and stack[-1].action == Action.LABEL and stack[-1].source not in but
        }

    def shared(self, but: Collection[str] = ()) -> dict[int, dict[str, str]]:
        """Return the rows that two persons or more have labelled, with the label of each; some sources do not count."""
        found = {position: self.labels_of(position, but) for position in self._latest}
        return {position: labels for position, labels in found.items() if len(labels) > 1}

    def labelled_by_one_other(self, user: str) -> list[int]:
        """Return rows that one other person has labelled by looking at them, and this one has not answered."""
        rows = []
        for position, event in self._latest.items():
            users = [each for each, stack in self._of(position).items() if stack]
            if len(users) == 1 and user not in users and event.source in INDIVIDUAL:
                rows.append(position)
        return rows


def _newest(events: Iterable[Event]) -> Event:
    return max(events, key=lambda event: event.id)
