"""How the cells of a column are written: the decimal sign, the unit and the order of dates, found from all of them."""

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mixkern.encoding.cell import Kind
from mixkern.encoding.grammar import (
    COMMA,
    PERCENT,
    POINT,
    SIGNS,
    boolean,
    is_date,
    is_two_way_date,
    moment,
    number,
    plain_dates,
    plain_numbers,
    unit_of,
)
from mixkern.errors import Hint, TableError, hint
from mixkern.parts import model_part
from mixkern.wording import listing, shortened

_CLEAR = re.compile(r"-?\d+([.,])(?:\d{1,2}|\d{4,})", re.ASCII)  # no group of three digits: a decimal sign
_FEW_GAPS = 3  # texts that are named one by one
_LOOKED_AT = 10_000  # distinct texts that are compared with numbers and dates for a note
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")  # 31/12/24
_MEASURE = re.compile(r"\W{0,2}\d[\d.,]*\s?(?:\W|[^\W\d]{1,3})?\W?")  # 3 cm
SIGN_ROWS = 1000  # rows from which decimal signs are detected


@model_part("Spelling")
@dataclass(frozen=True)
class Spelling:
    """How the cells of a column are written. All cells of a column are read with one spelling, in later tables too.

    Attributes
    ----------
    kind : Kind
        NUMBER, BOOLEAN or DATE.
    decimal : str
        Decimal sign of numbers, "." or ",".
    unit : str
        Percent sign or currency of all numbers, such as "%", "$" or "EUR"; empty where they have none.
    day_first : bool or None
        Whether the day comes first in dates such as 31/12/2024; ``None`` where there are no such dates.

    Examples
    --------
    >>> Spelling(Kind.NUMBER, decimal=",", unit="EUR").value("1.234,50 EUR")
    1234.5
    """

    kind: Kind
    decimal: str = POINT
    unit: str = ""
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if self.kind not in (Kind.NUMBER, Kind.BOOLEAN, Kind.DATE) or self.decimal not in SIGNS:
            raise TableError(f"A column cannot be written as {self.kind} with the decimal sign {self.decimal!r}.")

    def value(self, cell: str) -> Any:
        """Return the float, boolean or date (UTC) in a cell; ``None`` where there is none.

        Numbers without the unit of the column are numbers in that unit.
        """
        if self.kind is Kind.DATE:
            return moment(cell, self.day_first)
        if self.kind is Kind.BOOLEAN:
            return boolean(cell)
        found = number(cell, self.decimal) or (number(cell, self.decimal, self.unit) if self.unit else None)
        return None if found is None else found.value


def spelling_of(distinct: Collection[str], decimal: str = POINT) -> Spelling | None:
    """Return how the distinct cells of a column are written; ``None`` where they are texts.

    Numbers with leading zeros are texts, because they may be codes, and so are dates such as 01/02/2024 where each of
    them may have the day or the month first.

    Parameters
    ----------
    distinct : collection of str
        The distinct cells, without gaps.
    decimal : {".", ","}, default="."
        Decimal sign of the column; see :func:`decimal_signs`.

    Examples
    --------
    >>> spelling_of(["12,5 %", "7 %"], ",").unit, spelling_of(["12 %", "7 EUR"]), spelling_of(["007", "12"])
    ('%', None, None)
    >>> spelling_of(["01/02/2024", "12/31/2024"]).day_first, spelling_of(["01/02/2024", "03/02/2024"])
    (False, None)
    """
    if not distinct:
        return None
    first = next(iter(distinct))
    unit = unit_of(first)
    if plain_numbers(distinct, decimal) is not None or _fit(distinct, lambda cell: _is_number(cell, decimal, unit)):
        return Spelling(Kind.NUMBER, decimal, unit)
    if _fit(distinct, lambda cell: boolean(cell) is not None):
        return Spelling(Kind.BOOLEAN)
    if moment(first) is not None and plain_dates(distinct) is not None:
        return Spelling(Kind.DATE)
    orders = date_orders(distinct)
    return Spelling(Kind.DATE, day_first=orders[0]) if len(orders) == 1 else None


def date_orders(distinct: Iterable[str]) -> tuple[bool | None, ...]:
    """Return the values of ``day_first`` that make dates of all cells.

    None where a cell is no date, two where all dates could have either order, and otherwise one: ``None`` for dates
    that can be read in one way only.

    >>> date_orders(["06.06.2020"]), date_orders(["01/02/2024"]), date_orders(["31/12/2024"]), date_orders(["x"])
    ((None,), (True, False), (True,), ())
    """
    orders: tuple[bool | None, ...] = (None,)
    for cell in distinct:
        if orders[0] is None and is_two_way_date(cell):
            orders = (True, False)
        orders = tuple(order for order in orders if moment(cell, order) is not None)
        if not orders:
            return ()
    return orders


def decimal_signs(columns: Sequence[Sequence[str]], delimiter: str = "") -> tuple[str, ...]:
    """Return the decimal sign of each column, detected from its first cells.

    A cell counts if it is a number with one sign and not with the other: 3,14 but not 1,234. A column without such
    cells gets the sign of the other columns.

    >>> decimal_signs([["3,14", "2,5"], ["1", "2"], ["1.5", ""]], ";")
    (',', ',', '.')
    """
    balances = [_balance(cells) for cells in columns]
    total = sum(balances)
    has_groups = not total and any(COMMA in cell and _is_some_number(cell, POINT) for each in columns for cell in each)
    # Files are delimited by semicolons where the comma is the decimal sign.
    common = COMMA if total > 0 or (has_groups and delimiter == ";") else POINT
    return tuple(_sign(balance) or common for balance in balances)


def spelling_notes(columns: Mapping[str, tuple[Spelling, str]]) -> list[tuple[str, Hint]]:
    """Return text and hint of a note for each kind of spelling that is not plain.

    Parameters
    ----------
    columns : mapping from str to (Spelling, str)
        The spelling of each column, and one of its cells: with thousands marks if there are any.

    Examples
    --------
    >>> notes = spelling_notes({"rate": (Spelling(Kind.NUMBER, ",", "%"), "12,5 %")})
    >>> notes[0][0]
    "'rate': 12,5 % was read as 12.5, the number that is written."
    """
    found: dict[str, list[str]] = {}
    for name, (spelling, cell) in columns.items():
        for manner in _manners(spelling, cell):
            found.setdefault(manner, []).append(name)
    notes = []
    for manner in (each for each in _MANNERS if each in found):
        names = found[manner]
        spelling, cell = columns[names[0]]
        text = f"{listing(names)}: {cell.strip()} was read as {_shown(spelling, cell)}, {manner}."
        notes.append((text, _THOUSANDS[spelling.decimal] if manner == GROUPED else _MANNERS[manner]))
    return notes


def order_note(examples: Mapping[str, str]) -> tuple[str, Hint]:
    """Return text and hint of a note on columns of dates that could have the day or the month first.

    >>> order_note({"sold": "01/02/2024"})[0]
    "Dates that could have the day or the month first are read as texts: 'sold' (01/02/2024)."
    """
    name, example = next(iter(examples.items()))
    return (
        f"Dates that could have the day or the month first are read as texts: {listing(examples)} ({example.strip()}).",
        hint(
            python=f"Convert them before: X[{name!r}] = pd.to_datetime(X[{name!r}], dayfirst=True), or dayfirst=False.",
            cli="Write them in the form 2024-12-31.",
        ),
    )


def near_miss(
    name: str, distinct: Sequence[str], decimal: str, line_of: Callable[[str], int | None]
) -> tuple[str, Hint]:
    """Return text and hint of a note on the cells that keep a column of texts from being numbers or dates.

    Both are empty where there are none.

    >>> text, step = near_miss("a", ["1", "2", "x"], ".", lambda cell: 4)
    >>> print(text, step.cli)
    'a' holds numbers, but also 'x' (line 4): all were read as text. Correct these cells, or read them as gaps: --gap x
    """
    looked_at = distinct[:_LOOKED_AT]
    numbers = {cell for cell in looked_at if _is_some_number(cell, decimal)}
    others = {"numbers": [cell for cell in looked_at if cell not in numbers]}
    others["dates"] = [cell for cell in looked_at if not is_date(cell)] if others["numbers"] else []
    for what, odd in others.items():
        if odd and 2 * len(odd) < len(looked_at):
            place = f"{'first in ' if len(odd) > 1 else ''}line {line_of(odd[0])}"
            found = f"{name!r} holds {what}, but also {listing(map(shortened, odd), limit=3)} ({place}): "
            return f"{found}all were read as text.", _gaps_hint(odd)
    dates = [cell for cell in looked_at if _DATE.fullmatch(cell.strip())]
    measures = [cell for cell in looked_at if any(map(str.isdigit, cell)) and _MEASURE.fullmatch(cell.strip())]
    forms = (("dates", dates, "Write them in the form 2024-12-31."), ("numbers", measures, "Write plain numbers."))
    for what, alike, step in forms:
        example = next((cell for cell in alike if what == "dates" or cell not in numbers), None)
        if len(looked_at) > 2 and 2 * len(alike) > len(looked_at) and example is not None:
            found = f"{name!r} holds {what} in a form such as {example!r}: they were read as text."
            return found, hint(python=step, cli=step)
    return "", Hint()


def _gaps_hint(texts: Sequence[str]) -> Hint:
    """Return how to read texts as gaps: all of them where they are few, else how to name them."""
    step, are_few = "Correct these cells, or read them as gaps:", len(texts) <= _FEW_GAPS
    given = [repr(list(texts)), " ".join(f"--gap {shlex.quote(each)}" for each in texts)]
    python, cli = given if are_few else ["[...]", "--gap TEXT, once for each of them"]
    return hint(python=f"{step} read_table(..., gaps={python}).", cli=f"{step} {cli}")


def padded_number(distinct: Sequence[str], decimal: str) -> str:
    """Return the first number with leading zeros in a column of numbers; empty where a text is no number.

    >>> padded_number(["20095", "00123"], "."), padded_number(["00123", "x"], ".")
    ('00123', '')
    """
    found = ""
    for cell in distinct[:_LOOKED_AT]:
        one = number(cell, decimal, unit_of(cell))
        if one is None:
            return ""
        found = found or (cell if one.is_padded else "")
    return found


GROUPED = "with thousands set apart"
_ISO = hint(
    python="If that is wrong, convert them before: pd.to_datetime(X[...], format=...).",
    cli="If that is wrong, write dates in the form 2024-12-31.",
)
_DAY_FIRST, _MONTH_FIRST = "with the day first", "with the month first"
_PERCENTAGE, _MONEY = "the number that is written", "without the currency"
_MANNERS = {_PERCENTAGE: Hint(), _MONEY: Hint(), _DAY_FIRST: _ISO, _MONTH_FIRST: _ISO, GROUPED: Hint()}
_THOUSANDS = {
    sign: hint(
        python=f"If that is a decimal sign: decimal={other!r}.", cli=f"If that is a decimal sign: --decimal {other}"
    )
    for sign, other in ((POINT, COMMA), (COMMA, POINT))
}


def _manners(spelling: Spelling, cell: str) -> Iterator[str]:
    """Yield how a cell is read, as far as it could be read otherwise."""
    if spelling.kind is Kind.DATE and spelling.value(cell) is not None and not cell.strip()[:4].isdecimal():
        yield _MONTH_FIRST if spelling.day_first is False else _DAY_FIRST
    found = number(cell, spelling.decimal, spelling.unit) if spelling.kind is Kind.NUMBER else None
    if found is not None and spelling.unit:
        yield _PERCENTAGE if spelling.unit == PERCENT else _MONEY
    is_clear = bool(spelling.unit) and spelling.decimal in cell  # the note on the unit shows it
    if found is not None and found.is_grouped and not is_clear:
        yield GROUPED


def _shown(spelling: Spelling, cell: str) -> str:
    """Return the value of a cell as text."""
    if spelling.kind is Kind.DATE:
        return str(spelling.value(cell)).removesuffix(" 00:00:00")
    found = number(cell, spelling.decimal, spelling.unit)
    return found.plain if found else cell


def _is_number(cell: str, decimal: str, unit: str) -> bool:
    found = number(cell, decimal, unit)
    return found is not None and not found.is_padded


def _is_some_number(cell: str, decimal: str) -> bool:
    """Return whether a cell is a number, with any unit or none."""
    return number(cell, decimal, unit_of(cell)) is not None


def _fit(cells: Iterable[str], fits: Callable[[str], bool]) -> bool:
    return all(map(fits, cells))


def _sign(balance: int) -> str | None:
    if balance == 0:
        return None
    return COMMA if balance > 0 else POINT


def _balance(cells: Sequence[str]) -> int:
    """Return the number of cells that are numbers only with a decimal comma, less those only with a point."""
    marked = [cell for cell in cells if COMMA in cell or POINT in cell]
    found = [_CLEAR.fullmatch(cell) for cell in marked]
    clear = [match[1] for match in found if match]
    unclear = [cell for cell, match in zip(marked, found, strict=True) if not match]
    balance = sum(_is_some_number(cell, COMMA) - _is_some_number(cell, POINT) for cell in unclear)
    return balance + 2 * clear.count(COMMA) - len(clear)
