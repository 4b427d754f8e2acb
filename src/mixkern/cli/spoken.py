"""What the library says to those who write Python, said to those who type commands."""

import re

FIT = "mixkern fit TABLE --target COLUMN -o MODEL"

# A phrase of the library, and what it is at a prompt.
PHRASES: tuple[tuple[str, str], ...] = (
    (
        r" To settle it: density=VBMixture\(.*?\), or reduce the columns first\.",
        " Fewer columns may do better: --drop.",
    ),
)


def spoken(message: str) -> str:
    """Put the options of commands in place of lines of Python.

    >>> spoken("Too wide. To settle it: density=VBMixture(), or reduce the columns first.")
    'Too wide. Fewer columns may do better: --drop.'
    """
    for phrase, command in PHRASES:
        message = re.sub(phrase, command, message)
    return message.rstrip()
