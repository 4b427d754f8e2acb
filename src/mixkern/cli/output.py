"""What a command says: an answer for people or for scripts, and notes beside it."""

import json
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from typing import Any

import click

from mixkern.cli.spoken import spoken
from mixkern.encoding.jsonable import jsonable
from mixkern.errors import MixkernWarning

PREFIX = "mixkern_"  # of a column of ours whose name the table has already

Notes = list[str]


@contextmanager
def noting(notes: Notes) -> Iterator[None]:
    """Collect what the library warns of, in the words of the command line; of one kind the first will do."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MixkernWarning)
        yield
    found: dict[type[Warning], list[str]] = {}
    for each in caught:
        if issubclass(each.category, MixkernWarning):
            found.setdefault(each.category, []).append(spoken(str(each.message)))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    for first, *others in found.values():
        notes.append(first + ("\nIt is so in later rows, too." if set(others) - {first} else ""))


def give(answer: Mapping[str, Any], notes: Notes, show: Callable[[], None], *, as_json: bool) -> None:
    """Print an answer; notes go with it where a script reads, else to the other stream."""
    if as_json:
        is_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")  # then all signs are told by numbers
        text = json.dumps(jsonable({**answer, "notes": notes}), indent=1, ensure_ascii=is_ascii, allow_nan=False)
        click.echo(text)
        return
    show()
    tell(notes)


def tell(notes: Notes) -> None:
    """Print notes on the stream that is not the answer's."""
    for note in notes:
        click.echo(f"Note: {note}", err=True)


def free_name(name: str, taken: Collection[str]) -> str:
    """Name a column of ours so that the table has no other of this name.

    >>> free_name("label", ["age"]), free_name("label", ["label"]), free_name("label", ["label", "mixkern_label"])
    ('label', 'mixkern_label', 'mixkern_label_2')
    """
    ours = f"{PREFIX}{name}"
    names = chain([name, ours], (f"{ours}_{i}" for i in count(2)))
    return next(each for each in names if each not in taken)
