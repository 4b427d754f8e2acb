"""The classes of a labelling session, and their names after some were renamed."""

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Renaming:
    """What a renaming has changed, so that it can be taken back.

    Attributes
    ----------
    number : int
        The class.
    old, new : str
        Its name before and after.
    into : int or None
        The class that it has become a part of; None where it only has another name.
    """

    number: int
    old: str
    new: str
    into: int | None


class ClassNames:
    """Classes by the names that events have called them, and the name that each has now.

    A former name still finds its class, so that labels from a page that was not updated since get the new name. It is
    free again for another class: one that is added with this name, or is renamed to it.

    Parameters
    ----------
    fixed : collection of str, default=()
        Classes of the table. They stay, also where labels of a journal that had the same name were renamed.

    Examples
    --------
    >>> names = ClassNames()
    >>> names.add("chrun"), names.add("stays")
    (0, 1)
    >>> renaming = names.rename("chrun", "churn")
    >>> names.current, names.of("chrun")
    (['churn', 'stays'], 'churn')
    >>> names.take_back(renaming), names.current
    (True, ['chrun', 'stays'])
    """

    def __init__(self, fixed: Collection[str] = ()) -> None:
        self._fixed = fixed
        self._names: list[str] = []  # of each class, by its number
        self._into: dict[int, int] = {}  # number of a class -> that of the class it has become a part of
        self._numbers: dict[str, int] = {}  # of the class that has, or was the last to have, a name

    @property
    def numbers(self) -> list[int]:
        """Numbers of all classes, in the order in which they were added; a class that was merged is none."""
        return [number for number in range(len(self._names)) if number not in self._into]

    @property
    def current(self) -> list[str]:
        """Names of all classes, in the same order."""
        return [self._names[number] for number in self.numbers]

    @property
    def merged(self) -> dict[int, int]:
        """Numbers of the classes that were merged, each with that of the class that it is a part of."""
        return {number: self._whole(number) for number in self._into}

    def name(self, number: int) -> str:
        """Return the present name of a class by its number."""
        return self._names[self._whole(number)]

    def of(self, name: str) -> str:
        """Return the present name of a class; that of an unknown class is returned as it is."""
        return self.name(self._numbers[name]) if name in self._numbers else name

    def add(self, name: str) -> int:
        """Add a class unless there is one that has this name now; return its number."""
        if self._present(name) is None:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return self._numbers[name]

    def find(self, name: str) -> int:
        """Return the number of the class that a label names, now or formerly; a new one for an unknown name."""
        return self._numbers[name] if name in self._numbers else self.add(name)

    def rename(self, old: str, new: str) -> Renaming:
        """Rename a class; it becomes a part of another one that has the new name."""
        number = self._whole(self.find(old))
        other = self._present(new)
        change = Renaming(number, self._names[number], new, None if other == number else other)
        if change.into is not None:
            self._into[number] = change.into
        else:
            self._names[number] = new
            self._numbers[new] = number
        if change.old in self._fixed:
            self.add(change.old)
        return change

    def take_back(self, change: Renaming) -> bool:
        """Give a class the name that it had before a renaming; two classes that were merged are two again.

        Return whether it was possible: nothing is changed where the class was renamed again or merged since, and where
        another class has the former name now.
        """
        number = change.number
        name = change.new if change.into is None else change.old  # a class that was merged keeps its own
        is_as_it_was = self._into.get(number) == change.into and self._names[number] == name
        other = self._present(change.old)
        if not is_as_it_was or (other not in (None, number) and change.old not in self._fixed):
            return False
        self._into.pop(number, None)
        if other not in (None, number):  # the table has a class of this name
            self._into[number] = other
            return True
        self._names[number] = change.old
        self._numbers[change.old] = number
        return True

    def _whole(self, number: int) -> int:
        """Return the number of the class that a class is a part of, or its own."""
        while number in self._into:
            number = self._into[number]
        return number

    def _present(self, name: str) -> int | None:
        """Return the number of the class that has a name now."""
        number = None if name not in self._numbers else self._whole(self._numbers[name])
        return number if number is not None and self._names[number] == name else None
