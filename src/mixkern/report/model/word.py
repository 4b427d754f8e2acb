"""Numbers in sentences."""

from collections.abc import Sequence


def number(n: float) -> str:
    """Write a count so that thousands can be told from millions.

    >>> number(5473)
    '5,473'
    """
    return f"{n:,.0f}"


def many(n: int, noun: str) -> str:
    """Write a count and what it counts.

    >>> many(1, "row"), many(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number(n)} {noun}" if n == 1 else f"{number(n)} {noun}s"


def listed(items: Sequence[str], most: int = 6) -> str:
    """Write items as a sentence does, and count those that are too many.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a, b and c', 'a, b and 1 more')
    """
    shown, rest = list(items[:most]), len(items) - most
    last = f"{rest} more" if rest > 0 else shown.pop() if len(shown) > 1 else ""
    return f"{', '.join(shown)} and {last}" if last else ", ".join(shown)
