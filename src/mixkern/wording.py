"""Numbers, names and lists in messages and reports."""

import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a question about the known name that is nearest to a typo, or an empty text.

    >>> nearest("irsi", ["iris", "wine"])
    " Did you mean 'iris'?"
    >>> nearest("WINE", ["iris", "wine"])
    " Did you mean 'wine'?"
    >>> nearest("zebra", ["iris", "wine"])
    ''
    """
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(str(name).lower(), list(by_lower), n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def listing(items: Iterable[object], limit: int = 5) -> str:
    """Return the first few items and the number of the others.

    >>> listing(["a", "b"])
    "'a', 'b'"
    >>> listing(range(8), limit=3)
    '0, 1, 2 and 5 more'
    """
    shown = [repr(item) for item in items]
    rest = len(shown) - limit
    return ", ".join(shown) if rest <= 0 else f"{', '.join(shown[:limit])} and {rest} more"


def names_argument(names: Iterable[str]) -> str:
    """Return names as they are typed in a shell, for an option that takes names with commas between them.

    A name that holds a comma, begins with a quote, or begins or ends with a blank is put in double quotes.

    >>> print(names_argument(["age", "town"]), names_argument(["price, EUR", 'a"b']))
    age,town '"price, EUR",a"b'
    """
    return shlex.quote(",".join(map(quoted_name, names)))


def quoted_name(name: str) -> str:
    """Return a name as it is written in a list with commas: in double quotes where it needs them."""
    is_plain = name and "," not in name and not name.startswith('"') and name == name.strip()
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, singular or plural.

    >>> counted(1, "row"), counted(1200, "cell")
    ('1 row', '1,200 cells')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def joined(items: Sequence[str], most: int = 6) -> str:
    """Join the first few items as in a sentence, and count the rest.

    >>> joined(["a", "b", "c"]), joined(["a", "b", "c"], most=2), joined(["a"])
    ('a, b and c', 'a, b and 1 more', 'a')
    """
    rest = len(items) - most
    if rest > 0:
        return f"{', '.join(items[:most])} and {rest} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]]))


def percent(share: float) -> str:
    """Return a share in per cent; only exact shares are "0 %" and "100 %".

    >>> percent(0.184), percent(0.001), percent(0.999), percent(1.0)
    ('18 %', '< 1 %', '> 99 %', '100 %')
    """
    if 0 < share <= 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"


def few_lines(lines: Sequence[str], limit: int = 5) -> list[str]:
    """Return the first few lines, one for each column, and the number of the others.

    >>> few_lines(["'a': 1 value", "'b': 2 values", "'c': 5 values"], limit=2)
    ["'a': 1 value", "'b': 2 values", 'and 1 more column']
    """
    rest = len(lines) - limit
    return [*lines[:limit], *([f"and {counted(rest, 'more column')}"] if rest > 0 else [])]


def shown(value: object, width: int = 80) -> str:
    """Return how a value is shown in a message: on one line, or as its type where it takes several.

    >>> import numpy as np
    >>> shown("a"), shown([1.5]), shown(np.zeros((2, 2)))
    ("'a'", '[1.5]', 'of type ndarray')
    """
    text = repr(value)
    return f"of type {type(value).__name__}" if "\n" in text else shortened(text, width)


def brief(value: object) -> str:
    """Return a value of a table as people write it: four digits of a number, no time of a date that is midnight.

    >>> brief(51.715414), brief(20.0), brief(123456.7), brief(0.00001234), brief("Ulm"), brief(None)
    ('51.72', '20', '123457', '1.234e-05', 'Ulm', '')
    >>> import datetime as dt
    >>> brief(dt.datetime(2024, 5, 31)), brief(dt.datetime(2024, 5, 31, 12))
    ('2024-05-31', '2024-05-31 12:00:00')
    """
    if value is None or value != value:  # NaN and NaT
        return ""
    if isinstance(value, float):
        is_plain = 1e3 <= abs(value) < 1e10 or (value.is_integer() and abs(value) < 1e10)
        return f"{value:.0f}" if is_plain else f"{value:.4g}"
    return str(value).removesuffix(" 00:00:00")


def shortened(text: str, width: int = 40) -> str:
    """Return a text cut to a width, with an ellipsis.

    >>> shortened("short"), shortened("a rather long story", width=8)
    ('short', 'a rathe…')
    """
    return text if len(text) <= width else text[: width - 1] + "…"
