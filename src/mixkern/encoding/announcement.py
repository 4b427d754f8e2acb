"""What the encoder tells of a table: choices that it made, categories that are new, values that it ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mixkern.encoding.inference import Reading
from mixkern.errors import Hint, hint
from mixkern.wording import counted, few_lines, listing, shortened

LIMIT = 5  # categories of a column
SETTLE = hint(
    python="\nTo choose, name the columns: TableEncoder(continuous=[...], categorical=[...]), "
    "given to an estimator as encoder=.",
    cli="\nTo choose, name a column: --continuous COLUMN or --categorical COLUMN.",
)
COUNT = hint(python="\nencoder.unseen(X) counts them.")


@dataclass(frozen=True)
class Unseen:
    """Categories of one column that were not there at fit time."""

    name: str
    counts: Mapping[str, int]  # cells of each, most frequent first
    n_cells: int  # of the column, known categories included, gaps not


def choices(names: Sequence[str], readings: Sequence[Reading]) -> tuple[str, Hint]:
    """Give a text with the columns that could be read in two ways, a line for each reason, and what to do next."""
    found: dict[str, list[str]] = {}
    advice: dict[str, str] = {}
    for name, how in zip(names, readings, strict=True):
        if how.is_choice:
            found.setdefault(how.reason, []).append(name)
            if how.advice:
                advice.setdefault(how.reason, f"\nTo convert {name!r}: {how.advice}")
    if not found:
        return "", Hint()
    lines = [f"{listing(group)}: {reason}" for reason, group in found.items()]
    text = "\n  ".join(["Some columns could be read in two ways.", *lines])
    return text, replace(SETTLE, python="".join([*advice.values(), SETTLE.python]))


def unseen_categories(found: Sequence[Unseen]) -> str:
    """Count the cells with new categories, and list the most frequent ones."""
    n_cells = sum(sum(column.counts.values()) for column in found)
    is_one = n_cells == 1
    first = (
        f"{counted(n_cells, 'cell')} {'holds a category that was' if is_one else 'hold categories that were'} "
        f"not there at fit time; {'it is' if is_one else 'they are'} coded as 'other'."
    )
    lines = [f"{column.name!r}: {_tally(column)}" for column in found]
    return "\n  ".join([first, *few_lines(lines)])


def ignored_values(counts: Mapping[str, int]) -> str:
    """Count the values in columns that were empty at fit time."""
    lines = [f"{name!r}: {counted(n, 'value')}" for name, n in counts.items() if n]
    return (
        "\n  ".join(["Values are ignored, and read as gaps, in columns that held none at fit time.", *few_lines(lines)])
        + "\nFit again, with rows that have values in these columns."
    )


def _tally(column: Unseen) -> str:
    shown = [f"{shortened(category)!r} ({count})" for category, count in list(column.counts.items())[:LIMIT]]
    rest = len(column.counts) - LIMIT
    if rest <= 0:
        return ", ".join(shown)
    if sum(column.counts.values()) == column.n_cells:
        return f"all {counted(column.n_cells, 'cell')}, as in an identifier"
    return f"{', '.join(shown)} and {rest} more"
