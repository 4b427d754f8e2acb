"""An item of the paper: what it says, which code does it, what differs, and what checks it."""

from dataclasses import dataclass
from enum import StrEnum


class ItemVerdict(StrEnum):
    """How the code compares with an item of the paper."""

    EXACT = "exact"  # a formula, compared with a plain transcription of it
    AS_WRITTEN = "as written"  # a procedure, followed as far as the paper describes it
    READING = "readings"  # the paper's words allow several: they are named, and run
    DIFFERS = "differs"  # something else is done, and named
    SLIP = "slip of the paper"  # what is printed cannot be meant
    OUTLOOK = "outlook"  # the paper leaves it to later work


@dataclass(frozen=True)
class PaperItem:
    """One item of the paper.

    Attributes
    ----------
    item : str
        What the paper says.
    place : str
        Section, equation, table or figure of the paper.
    code : tuple of str
        Dotted names of what implements it.
    verdict : ItemVerdict
        How they compare.
    note : str
        What differs, or which readings there are; may be empty for the first two verdicts.
    checks : tuple of str
        Tests (``file::name``), figures of the paper (``figure 3``) and tables of the report (``table run_times``).

    Examples
    --------
    >>> from mixkern_study.items import ITEMS
    >>> ITEMS[0].place, str(ITEMS[0].verdict)
    ('3.1, equations 1 to 5', 'exact')
    """

    item: str
    place: str
    code: tuple[str, ...]
    verdict: ItemVerdict
    note: str
    checks: tuple[str, ...]


EXACT, AS_WRITTEN, READING = ItemVerdict.EXACT, ItemVerdict.AS_WRITTEN, ItemVerdict.READING
DIFFERS, SLIP, OUTLOOK = ItemVerdict.DIFFERS, ItemVerdict.SLIP, ItemVerdict.OUTLOOK
