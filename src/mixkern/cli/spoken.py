"""What the library says to those who write Python, said to those who type commands."""

import re
from collections.abc import Callable

from mixkern.encoding.announcement import COUNT, SETTLE

FIT = "mixkern fit TABLE --target COLUMN -o MODEL"

# A phrase of the library, and what it is at a prompt.
PHRASES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (re.escape(SETTLE), "To settle a column, name it: --continuous COLUMN or --categorical COLUMN."),
    (re.escape(f"\n{COUNT}"), ""),
    (r"[;:] (?:for numbers|convert them): X\[.*?\] = pd\.to_\w+\(.*\)", ""),
    (r"\nConvert them, with gaps in place of the rest:(?:\n  .*)*", "\nIf these stand for gaps, say so: --gap TEXT."),
    (r", or make gaps of them: X\[.*?\] = pd\.to_numeric\(.*?\)\.", ", or make gaps of them: --gap TEXT."),
    (
        r" To settle it: density=VBMixture\(.*?\), or reduce the columns first\.",
        " Fewer columns may do better: --drop.",
    ),
    (r"; to tell one class from everything else, use a one-class machine\.", "."),
    (r", or by gaps: X\.replace\(.*?\)\.", ", or leave these cells empty."),
    (r"mixkern\.save\(model, path\) writes one\.", f"{FIT} writes one."),
    (r"a file that mixkern\.save has written", "a file that mixkern fit has written"),
    (r"Save (?:it|the model)(?: again)?(?: with|:) mixkern\.save(?:\(model, path\))?", f"Make one anew: {FIT}"),
    (r"(?<=in row )\d+|(?<=numbers, but row )\d+", lambda match: str(int(match[0]) + 1)),  # at a prompt, from 1 on
    (r"TableEncoder\((continuous|categorical)=\[(.*?)\]\)", lambda match: f"--{match[1]} {_names(match[2])}"),
)


def _names(listed: str) -> str:
    return ",".join(name.strip().strip("'\"") for name in listed.split(","))


def spoken(message: str) -> str:
    """Put the options of commands in place of lines of Python.

    >>> spoken("Or read the column as categories: TableEncoder(categorical=['age']).")
    'Or read the column as categories: --categorical age.'
    """
    for phrase, command in PHRASES:
        message = re.sub(phrase, command, message)
    return message.rstrip()
