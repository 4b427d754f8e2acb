"""The most unusual rows of a table, and the cells that make them unusual."""

import numpy as np
from scipy.special import logsumexp

from mixkern.explain.unusual_cells import UnusualCells, unusual_cells
from mixkern.report.blocks import Block
from mixkern.report.columns import Feature
from mixkern.report.facts import ModelFacts
from mixkern.report.table import TextTable
from mixkern.typing import Floats, Ints
from mixkern.wording import percent, shortened

N_UNUSUAL = 10
MOST_CELLS = 3  # named for a row
MOST_VALUES = 6  # columns shown of a row
FAR = 4.0  # part from which a cell is unusual: two standard deviations
TINY = 0.005  # share of the rows that a component of very few rows has at most
LONGEST = 40  # letters of a category or a name


def unusual_blocks(facts: ModelFacts) -> tuple[Block, ...]:
    """Return the table of the most unusual rows."""
    novelty = _novelty(facts)
    rows = _most_novel(facts, novelty)
    cells = unusual_cells(facts.model.mixture_, facts.rows[rows])
    parts = _feature_parts(facts, cells)
    shown = _shown(facts, parts)
    lines = tuple(
        (
            *facts.row_cells(i),
            percent(novelty[i]),
            f"{facts.components[i]}",
            facts.classes[facts.predicted[i]],
            _reason(facts, cells, parts[line], i, line),
            *facts.cells(shown, i),
        )
        for line, i in enumerate(rows)
    )
    first = (*facts.row_headings, "Novelty", "Component", "Predicted", "Unusual cells")
    columns = (*first, *(each.name for each in shown))
    at = len(facts.row_headings)
    numbers = {0, at, at + 1, *(j for j, each in enumerate(shown, start=len(first)) if each.is_number)}
    some = "" if len(shown) == len(facts.features) else f" The {len(shown)} columns with the most unusual cells follow."
    caption = (
        "Novelty is the share of rows in denser places, computed without components of very few rows. A row near "
        "100 % may be an error, or belong to a class that has no label yet. A cell is unusual beside the other cells "
        "of its row; in brackets is what 95 % of similar rows have, or how many of them have the same category. Rows "
        f"are counted from 1, without the header.{some}"
    )
    return (
        TextTable(
            "unusual", "Rows unlike all others", caption, columns, lines, numbers=frozenset(numbers), is_stacked=True
        ),
    )


def _novelty(facts: ModelFacts) -> Floats:  # (n,)
    """Return the share of rows in denser places; a component of very few rows does not make these rows usual."""
    is_tiny = (facts.sizes > 0) & (facts.sizes <= max(1, TINY * facts.n_rows))
    if not is_tiny.any() or is_tiny.all():
        return facts.novelty
    log_density = logsumexp(facts.table.log_joint[:, ~is_tiny], axis=1)
    return 1 - np.searchsorted(np.sort(log_density), log_density, side="right") / facts.n_rows


def _most_novel(facts: ModelFacts, novelty: Floats) -> Ints:
    """Return the rows of highest novelty; among equal ones, the least probable first."""
    n = min(N_UNUSUAL, facts.n_rows)
    limit = np.partition(novelty, facts.n_rows - n)[facts.n_rows - n]
    some = np.flatnonzero(novelty >= limit)
    order = np.lexsort((facts.table[some].log_density, -novelty[some]))
    return some[order][:n]


def _feature_parts(facts: ModelFacts, cells: UnusualCells) -> Floats:  # (n, columns)
    """Return how unusual each cell is; that of a text is the most unusual of the numbers that encode it."""
    positions = [list(each.positions or (each.position,)) for each in facts.features]
    return np.column_stack([cells.parts[:, own].max(axis=1) for own in positions])


def _shown(facts: ModelFacts, parts: Floats) -> list[Feature]:
    """Return the columns with the most unusual cells, in the order of the table."""
    best = np.argsort(-parts.max(axis=0), kind="stable")[:MOST_VALUES]
    return [facts.features[j] for j in np.sort(best)]


def _reason(facts: ModelFacts, cells: UnusualCells, parts: Floats, i: int, line: int) -> str:
    """Name the most unusual cells of a row, and what was expected."""
    order = np.argsort(-parts, kind="stable")
    far = [j for j in order[:MOST_CELLS] if parts[j] >= FAR]
    texts = [_cell(facts, cells, facts.features[j], i, line) for j in far or order[:1]]
    return "; ".join(texts) if far else f"no single cell, but their combination; most of all {texts[0]}"


def _cell(facts: ModelFacts, cells: UnusualCells, feature: Feature, i: int, line: int) -> str:
    name, (value,) = shortened(feature.name, LONGEST), facts.cells([feature], i)
    if feature.texts is not None:
        return f"the words of {name}"
    if feature.categories is not None:
        share = cells.shares[line, feature.position - cells.means.shape[1]]
        return f"{name} {shortened(value, LONGEST)} ({percent(share)})"
    middle, deviation = cells.means[line, feature.position], cells.deviations[line, feature.position]
    column = facts.rows[:, feature.position]
    expected = np.clip([middle - 2 * deviation, middle + 2 * deviation], np.nanmin(column), np.nanmax(column))
    low, high = (feature.text(float(each)) for each in expected)
    return f"{name} {value} ({low} to {high})"
