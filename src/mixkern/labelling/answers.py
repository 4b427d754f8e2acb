"""What the events of a journal add up to: the label of each row, and what each person has done."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from mixkern.labelling.journal import ANSWERS, Action, Event, Source

INDIVIDUAL = (Source.SUGGESTED, Source.RANDOM, Source.CHOSEN, Source.SECOND)  # labels given to a row that was looked at


class Answers:
    """Labels, skipped rows and classes, after the events of a journal.

    The label of a row is the latest one of any person that was not undone. Events are added in the order of the
    journal.

    Parameters
    ----------
    positions : mapping of str to int
        Position of each content key in the table. Events of other rows are kept apart, in ``unmatched``.

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

    def __init__(self, positions: Mapping[str, int]) -> None:
        self._positions, self._keys = positions, {position: key for key, position in positions.items()}
        self._stacks: dict[str, dict[str, list[Event]]] = defaultdict(dict)  # by row and user, the latest last
        self._events: dict[str, dict[str, list[Event]]] = defaultdict(dict)  # by user and request, not undone
        self._latest: dict[int, Event] = {}  # label of each row
        self.answered: set[int] = set()  # rows that have a label, or were skipped or found unclear by someone
        self.classes: list[str] = []  # in the order of their first label
        self.unmatched: dict[str, Event] = {}  # labels of rows that are not in the table, by content key
        self.last_id = 0
        self.version = 0  # changes with every event

    def add(self, events: Iterable[Event]) -> None:
        """Take further events into account."""
        for event in events:
            self.last_id = max(self.last_id, event.id)
            self.version += 1
            if event.action == Action.UNDO:
                self._undo(event)
            elif event.action == Action.CLASS:
                self._add_class(event.label)
            elif event.action in ANSWERS:
                self._answer(event)

    def _add_class(self, name: str) -> None:
        if name not in self.classes:
            self.classes.append(name)

    def _answer(self, event: Event) -> None:
        if event.action == Action.LABEL:
            self._add_class(event.label)
        self._events[event.user].setdefault(event.request, []).append(event)
        self._stacks[event.row_key].setdefault(event.user, []).append(event)
        self._refresh(event.row_key)

    def _undo(self, event: Event) -> None:
        for each in self._events[event.user].pop(event.undoes, []):  # none where it was undone before
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
        return [event for request in reversed(requests) for event in requests[request]]

    def users(self) -> dict[str, int]:
        """Return the number of rows that each person has labelled."""
        counts: Counter[str] = Counter()
        for position in self._latest:
            counts.update(list(self.labels_of(position)))
        return dict(sorted(counts.items()))

    def labels_of(self, position: int) -> dict[str, str]:
        """Return the label of a row by each person."""
        return {
            user: stack[-1].label
            for user, stack in self._of(position).items()
            if stack and stack[-1].action == Action.LABEL
        }

    def shared(self) -> dict[int, dict[str, str]]:
        """Return the rows that two persons or more have labelled, with the label of each."""
        found = {position: self.labels_of(position) for position in self._latest}
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
