"""The classes of a labelling session, and their names after some were renamed."""

from collections.abc import Collection


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
    >>> names.rename("chrun", "churn")
    >>> names.current, names.of("chrun")
    (['churn', 'stays'], 'churn')
    """

    def __init__(self, fixed: Collection[str] = ()) -> None:
        self._fixed = fixed
        self._names: list[str] = []  # of each class, by its number
        self._merged: dict[int, int] = {}  # number of a class -> that of the class it has become a part of
        self._numbers: dict[str, int] = {}  # by present and former names

    @property
    def current(self) -> list[str]:
        """Names of all classes, in the order of their keys."""
        return [name for number, name in enumerate(self._names) if number not in self._merged]

    def name(self, number: int) -> str:
        """Return the present name of a class by its number."""
        while number in self._merged:
            number = self._merged[number]
        return self._names[number]

    def of(self, name: str) -> str:
        """Return the present name of a class; that of an unknown class is returned as it is."""
        return self._names[self._numbers[name]] if name in self._numbers else name

    def former(self) -> dict[str, str]:
        """Return the names that classes had before, each with the present one."""
        return {name: self.of(name) for name in self._numbers if self.of(name) != name}

    def add(self, name: str) -> int:
        """Add a class unless there is one that has this name now; return its number."""
        if self.of(name) != name or name not in self._numbers:
            self._numbers[name] = len(self._names)
            self._names.append(name)
        return self._numbers[name]

    def find(self, name: str) -> int:
        """Return the number of the class that a label names, now or formerly; a new one for an unknown name."""
        return self._numbers[name] if name in self._numbers else self.add(name)

    def rename(self, old: str, new: str) -> None:
        """Rename a class; it becomes a part of another one that has the new name."""
        number = self.find(old)
        if self._names[number] == new:
            return
        if new in self._numbers and self.of(new) == new:
            self._merge(number, self._numbers[new])
        else:
            self._names[number] = new
            self._numbers[new] = number
        if old in self._fixed:
            self.add(old)

    def _merge(self, number: int, into: int) -> None:
        self._merged[number] = into
        for name, each in self._numbers.items():
            if each == number:
                self._numbers[name] = into

    def take_back(self, old: str, new: str) -> None:
        """Leave out a renaming that was undone; labels that were given with the new name since are of the same class.

        Two classes that it had made one are two again.
        """
        number = self.find(old)
        self._numbers.setdefault(new, number)
