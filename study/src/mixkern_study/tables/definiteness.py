"""How often RWM's kernel matrices are not positive semi-definite."""

import math
from collections.abc import Sequence

import numpy as np

from mixkern_study.evaluation import MOST_EIGENVALUES
from mixkern_study.protocol import RATED, Experiment
from mixkern_study.ranking import READING_TITLE
from mixkern_study.result_table import COUNT, IN_PARENTHESES, SECONDS, Cell, StudyTable
from mixkern_study.store import Result, Store


def definiteness_table(store: Store) -> StudyTable:
    """Count RWM's kernel matrices that are not positive semi-definite.

    Parameters
    ----------
    store : Store
        Results.

    Returns
    -------
    StudyTable

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [cell.to_text() for cell in definiteness_table(Store(f"{folder}/paper.sqlite")).rows[0]]
    ['Paper', '- (100)', '- (0)', '-', '-']
    """
    rows: list[tuple[Cell, ...]] = [
        (Cell("Paper"), Cell(published=100.0, spec=COUNT), Cell(published=0.0, spec=COUNT), Cell(), Cell())
    ]
    for experiment in Experiment:
        for reading in RATED:
            results = store.results(experiment=experiment.value, method="rwm", reading=str(reading))
            known = [result for result in results if not math.isnan(result.smallest_eigenvalue)]
            if known:
                rows.append(_definiteness_row(f"{experiment.value}: {READING_TITLE[reading]}", known))
    return StudyTable(
        name="definiteness",
        title="RWM's kernel matrices",
        caption=(
            f"Among the labelled rows (at most {MOST_EIGENVALUES}) of each fold and repeat, with the chosen settings. "
            "A matrix counts as not positive semi-definite where its smallest eigenvalue is negative beyond rounding, "
            f"taken at its largest. {IN_PARENTHESES} The paper reports 100 matrices, all of them positive "
            "semi-definite, and not with which settings."
        ),
        columns=("Experiment and reading", "matrices", "not PSD", "smallest eigenvalue", "largest negative mass"),
        rows=tuple(rows),
    )


def is_beyond_rounding(result: Result) -> bool:
    """Tell whether the smallest eigenvalue is negative for sure.

    Rounding is n times epsilon times the largest eigenvalue, as :func:`mixkern.kernels.definiteness` has it. That one
    is at most n, because no value of the kernel exceeds 1.
    """
    n = min(result.n_labelled, MOST_EIGENVALUES)
    return result.smallest_eigenvalue < -float(n * n * np.finfo(float).eps)


def _definiteness_row(label: str, results: Sequence[Result]) -> tuple[Cell, ...]:
    return (
        Cell(label),
        Cell(float(len(results)), spec=COUNT),
        Cell(float(sum(map(is_beyond_rounding, results))), spec=COUNT),
        Cell(min(result.smallest_eigenvalue for result in results), spec=SECONDS),
        Cell(max(result.negative_mass for result in results), spec=SECONDS),
    )
