"""What reproduces and what does not: claims of the paper, checked on its figures and on ours by each reading."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from mixkern.report.table import TextTable
from mixkern_study.published import KERNELS, PUBLISHED_STATISTICS
from mixkern_study.ranking import READING_TITLE, Ranking, rankings
from mixkern_study.result_table import Cell
from mixkern_study.store import Store


@dataclass(frozen=True)
class Claim:
    """A claim of the paper on an experiment.

    Attributes
    ----------
    experiment : int
        Which.
    words : str
        The claim.
    value : callable
        The number that it is about, from a ranking of the four kernels.
    holds : callable
        Whether it is true of a ranking.
    spec : str
        Format of the number.
    """

    experiment: int
    words: str
    value: Callable[[Ranking], float]
    holds: Callable[[Ranking], bool]
    spec: str = ".2f"


def _rank(found: Ranking) -> float:
    return found.rank("rwm")


def _is_ahead(found: Ranking) -> bool:
    return _lead(found) > 0


def _lead(found: Ranking) -> float:
    return found.means["rwm"] - found.means["rbf"]


def _distance(found: Ranking) -> float:
    """Return by how much the mean rank of RWM is better than the best of the others."""
    return min(found.rank(kernel) for kernel in KERNELS if kernel != "rwm") - found.rank("rwm")


def _spread(found: Ranking) -> float:
    """Return the largest difference among the mean ranks of RWM, GMM and RBF."""
    ranks = [found.rank(kernel) for kernel in ("rwm", "gmm", "rbf")]
    return max(ranks) - min(ranks)


def _limit(found: Ranking, experiment: int) -> float:
    """Return the critical difference at the paper's level of significance."""
    assert found.test is not None
    return found.test.critical_difference(PUBLISHED_STATISTICS[experiment].alpha)


def _is_clear(experiment: int, found: Ranking) -> bool:
    return _distance(found) >= _limit(found, experiment)


def _is_alike(experiment: int, found: Ranking) -> bool:
    return _spread(found) < _limit(found, experiment)


def _is_worst(found: Ranking) -> bool:
    return found.rank("lap") == max(found.rank(kernel) for kernel in KERNELS)


CLAIMS: tuple[Claim, ...] = (
    *(
        claim
        for experiment in (1, 2)
        for claim in (
            Claim(
                experiment, "RWM has the best mean rank; its rank", lambda r: r.rank("rwm"), lambda r: _distance(r) > 0
            ),
            Claim(
                experiment, "RWM is more accurate than RBF; by how many points", _lead, lambda r: _lead(r) > 0, "+.2f"
            ),
            Claim(
                experiment,
                f"RWM's rank is better than all others' by a critical difference "
                f"({PUBLISHED_STATISTICS[experiment].alpha:g}); by how much",
                _distance,
                partial(_is_clear, experiment),
                "+.2f",
            ),
        )
    ),
    Claim(
        3,
        "RWM, GMM and RBF do not differ by a critical difference "
        f"({PUBLISHED_STATISTICS[3].alpha:g}); their ranks differ by",
        _spread,
        partial(_is_alike, 3),
    ),
    *(Claim(e, "LAP has the worst mean rank; its rank", lambda each: each.rank("lap"), _is_worst) for e in (1, 2, 3)),
)


def summary_table(store: Store) -> TextTable:
    """Return the paper's claims on its experiments, as published and by each of our readings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary_table(Store(f"{folder}/paper.sqlite")).columns
    ('Claim', 'published', 'training labels', 'optimistic', 'ceiling', 'Reproduced')
    """
    found = {experiment: rankings(store, experiment) for experiment in (1, 2, 3)}
    return TextTable(
        name="summary",
        title="What reproduces",
        caption=(
            "Claims of the paper on its experiments, with the number that each is about: as published, and from our "
            "accuracies by three readings. Critical differences are Nemenyi's exact ones at the paper's levels of "
            "significance, in parentheses. Bold: the claim holds."
        ),
        columns=("Claim", "published", *READING_TITLE.values(), "Reproduced"),
        rows=tuple(_row(claim, found[claim.experiment]) for claim in CLAIMS),
    )


def _row(claim: Claim, found: Mapping[str, Ranking]) -> tuple[Cell, ...]:
    label = Cell(f"Experiment {claim.experiment}: {claim.words}")
    if any(each.test is None or set(each.methods) != set(KERNELS) for each in found.values()):
        return (label, *(Cell() for _ in range(len(READING_TITLE) + 2)))
    order = ["published", *map(str, READING_TITLE)]
    cells = [Cell(claim.value(found[name]), spec=claim.spec, is_best=claim.holds(found[name])) for name in order]
    return (label, *cells, Cell(verdict_of({name: claim.holds(found[name]) for name in READING_TITLE})))


def verdict_of(holds: Mapping[str, bool]) -> str:
    """Return by which readings a claim holds, in words.

    >>> verdict_of({"expected_error": False, "optimistic": False, "ceiling": True})
    'ceiling only'
    >>> verdict_of({"expected_error": True, "optimistic": True, "ceiling": True})
    'yes'
    """
    true = [READING_TITLE[name] for name, each in holds.items() if each]
    if len(true) == len(holds):
        return "yes"
    if not true:
        return "no"
    return f"{' and '.join(true)} only"
