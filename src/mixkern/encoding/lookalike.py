"""Texts that look like something else: numbers, dates, identifiers."""

import datetime as dt
from collections.abc import Collection

from mixkern.encoding.cell import parsed


def not_numbers(texts: Collection[str]) -> list[str]:
    """Give the texts that spell no number.

    >>> not_numbers(["1", "2.5", "high"])
    ['high']
    """
    return [text for text in texts if parsed(text) is None]


def are_dates(texts: Collection[str]) -> bool:
    """Tell whether nearly all texts are dates as ISO 8601 writes them; digits alone are numbers.

    >>> are_dates(["2024-05-01", "2024-05-02T12:00"]), are_dates(["20240501"]), are_dates(["May", "June"])
    (True, False, False)
    """
    spared = _spared(len(texts))
    for text in texts:
        spared -= not _is_date(text)
        if spared < 0:
            return False
    return bool(texts)


def are_identifiers(n_distinct: int, n_texts: int) -> bool:
    """Tell whether nearly every row has a text of its own.

    >>> are_identifiers(95, 100), are_identifiers(50, 100)
    (True, False)
    """
    return n_distinct >= n_texts - _spared(n_texts)


def _spared(n: int) -> int:
    """Allow one text in ten to be otherwise: a real column has a slip here and there."""
    return n // 10


def _is_date(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return not text.isdecimal()
