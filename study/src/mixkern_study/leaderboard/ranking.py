"""Ranking of the methods of the leaderboard, and comparisons with the default MixtureSVC."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mixkern.typing import Floats
from mixkern_study.calibration import expected_calibration_error
from mixkern_study.method_list import LABELS_ONLY, REFERENCE
from mixkern_study.record import Entry
from mixkern_study.statistics import RankTest, holm, rank_biserial, rank_test, signed_rank_p

DIGITS = 9  # equal accuracies may differ in the last digits, by the order of summation


@dataclass(frozen=True)
class Place:
    """Accuracy, rank and seconds of a method.

    Attributes
    ----------
    method : str
        Its name.
    accuracy, balanced_accuracy : float
        In percent, means over data sets; each data set is the mean of its draws.
    ece : float
        Expected calibration error in percent, mean over data sets; each is computed from all draws of one budget. NaN
        where the method has no probabilities.
    log_loss : float
        Mean over data sets; NaN where the method has no probabilities.
    rank, wins : float
        Mean rank over data sets, 1 the best, and on how many it is best; shared ones count in parts. NaN where there
        is one data set or one method.
    worst : float
        The largest loss of accuracy against the labels-only baseline, in percentage
        points over data sets: negative where there is a loss. NaN where the baseline has no entries, and for itself.
    worst_set : str
        The data set of that loss.
    seconds : float
        Mean seconds of one core for one whole fit: structure, fit and predict.
    n_failed : int
        Draws on which it has failed.
    """

    method: str
    accuracy: float
    balanced_accuracy: float
    ece: float
    log_loss: float
    rank: float
    wins: float
    worst: float
    worst_set: str
    seconds: float
    n_failed: int


@dataclass(frozen=True)
class Comparison:
    """A method against the default :class:`MixtureSVC`, over data sets.

    Attributes
    ----------
    method : str
        Its name.
    difference : float
        Mean accuracy of the default minus that of the method, in percentage points.
    effect : float
        Matched-pairs rank-biserial correlation: 1 where the default is better on all data sets, -1 where it is worse.
    p_value, corrected_p : float
        Wilcoxon's signed-rank test, two-sided, and after Holm's correction for all comparisons.
    """

    method: str
    difference: float
    effect: float
    p_value: float
    corrected_p: float


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Ranking of methods on the data sets that all of them have finished.

    Attributes
    ----------
    methods : tuple of str
        The best mean accuracy first.
    data_sets : tuple of str
        Data sets that all methods have finished.
    left_out : tuple of str
        Those on which some method lacks draws that another has.
    accuracy, balanced_accuracy : ndarray of shape (n, k)
        In percent, by data set and method.
    places : tuple of Place
        In the order of ``methods``.
    comparisons : tuple of Comparison
        All others with the default; empty where it has no entries.
    n_draws : int
        Draws behind each figure of a data set, at least.
    test : RankTest or None
        Ranks and Friedman's test; None where there are fewer than two data sets or methods.
    """

    methods: tuple[str, ...]
    data_sets: tuple[str, ...]
    left_out: tuple[str, ...]
    accuracy: Floats
    balanced_accuracy: Floats
    places: tuple[Place, ...]
    comparisons: tuple[Comparison, ...]
    n_draws: int
    test: RankTest | None


def leaderboard(
    entries: Iterable[Entry],
    *,
    methods: Sequence[str] | None = None,
    data_sets: Sequence[str] | None = None,
    budgets: Sequence[int] | None = None,
    choices: Sequence[str] | None = None,
) -> Leaderboard:
    """Rank methods by entries, all of them or those of some methods, data sets, budgets or choices.

    Parameters
    ----------
    entries : iterable of Entry
        From :meth:`Store.entries`.
    methods, data_sets, budgets, choices : sequence, default=None
        Entries to use; ``None`` is all.

    Returns
    -------
    Leaderboard

    Examples
    --------
    >>> from mixkern_study import Entry
    >>> fact = dict(budget=4, choice="random", draw=0, settings="", n_labelled=8, n_seen=2, structure_s=0, learning_s=1)
    >>> scores = {("iris", "svc"): 0.8, ("iris", "rwm"): 0.9, ("wine", "svc"): 0.9, ("wine", "rwm"): 0.95}
    >>> entries = [
    ...     Entry(data_set=data, method=method, accuracy=score, balanced_accuracy=score, **fact)
    ...     for (data, method), score in scores.items()
    ... ]
    >>> [(place.method, round(place.accuracy, 1), place.rank) for place in leaderboard(entries).places]
    [('rwm', 92.5, 1.0), ('svc', 85.0, 2.0)]
    """
    chosen = {"method": methods, "data_set": data_sets, "budget": budgets, "choice": choices}
    found: dict[str, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for entry in entries:
        if all(values is None or getattr(entry, name) in values for name, values in chosen.items()):
            found[entry.data_set][entry.method].append(entry)
    names = sorted({method for row in found.values() for method in row})
    whole = [name for name, row in found.items() if _is_whole(row, names)]
    table = [[found[data_set][method] for method in names] for data_set in whole]
    accuracy, balanced = (_percents(table, part, len(names)) for part in ("accuracy", "balanced_accuracy"))
    order = np.argsort(-accuracy.sum(axis=0), kind="stable")
    names = [names[i] for i in order]
    accuracy, balanced = accuracy[:, order], balanced[:, order]
    test = rank_test(accuracy, names) if len(whole) > 1 and len(names) > 1 else None
    by_method = {name: [found[data_set][name] for data_set in whole] for name in names}
    return Leaderboard(
        methods=tuple(names),
        data_sets=tuple(whole),
        left_out=tuple(name for name in found if name not in whole),
        accuracy=accuracy,
        balanced_accuracy=balanced,
        places=_places(names, whole, accuracy, balanced, by_method, test),
        comparisons=_comparisons(names, accuracy) if whole else (),
        n_draws=min((len(cell) for row in table for cell in row), default=0),
        test=test,
    )


def _is_whole(row: Mapping[str, Sequence[Entry]], methods: Sequence[str]) -> bool:
    """Whether all methods have entries of the same draws of labels."""
    draws = [{(entry.budget, entry.choice, entry.draw) for entry in row.get(method, ())} for method in methods]
    return all(each == draws[0] for each in draws)


def _percents(table: list[list[list[Entry]]], name: str, k: int) -> Floats:  # (n, k)
    """Average draws; those of one budget count as much as those of another, however many there are."""
    percents = [[100 * _mean_over_budgets(cell, name) for cell in row] for row in table]
    return np.array(percents).reshape(len(table), -1 if table else k).round(DIGITS)


def _mean_over_budgets(entries: list[Entry], name: str) -> float:
    return float(np.mean([np.mean([getattr(entry, name) for entry in part]) for part in _by_budget(entries)]))


def _ece(entries: list[Entry]) -> float:
    """Return the calibration error of all draws of a budget together; NaN where an entry has no probabilities."""
    if not all(entry.bins for entry in entries):
        return math.nan
    return float(np.mean([expected_calibration_error(entry.bins for entry in part) for part in _by_budget(entries)]))


def _by_budget(entries: list[Entry]) -> list[list[Entry]]:
    parts: dict[tuple[int, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        parts[entry.budget, entry.choice].append(entry)
    return list(parts.values())


def _places(
    methods: Sequence[str],
    data_sets: Sequence[str],
    accuracy: Floats,
    balanced: Floats,
    by_method: Mapping[str, Sequence[list[Entry]]],
    test: RankTest | None,
) -> tuple[Place, ...]:
    if not data_sets:
        return ()
    means, balanced_means = accuracy.mean(axis=0), balanced.mean(axis=0)
    plain = accuracy[:, methods.index(LABELS_ONLY)] if LABELS_ONLY in methods else np.full(len(data_sets), np.nan)
    places = []
    for i, method in enumerate(methods):
        cells = by_method[method]
        entries = [entry for cell in cells for entry in cell]
        losses = accuracy[:, i] - plain if method != LABELS_ONLY else np.full(len(data_sets), np.nan)
        worst = int(losses.argmin())
        places.append(
            Place(
                method=method,
                accuracy=float(means[i]),
                balanced_accuracy=float(balanced_means[i]),
                ece=100 * float(np.mean([_ece(cell) for cell in cells])),
                log_loss=float(np.mean([_mean_over_budgets(cell, "log_loss") for cell in cells])),
                rank=math.nan if test is None else float(test.ranks[i]),
                wins=math.nan if test is None else float(test.wins[i]),
                worst=float(losses[worst]),
                worst_set="" if np.isnan(losses[worst]) else data_sets[worst],
                seconds=float(np.mean([entry.seconds for entry in entries])),
                n_failed=sum(bool(entry.error) for entry in entries),
            )
        )
    return tuple(places)


def _comparisons(methods: Sequence[str], accuracy: Floats) -> tuple[Comparison, ...]:
    if REFERENCE not in methods:
        return ()
    reference = accuracy[:, methods.index(REFERENCE)]
    others = [(name, reference - accuracy[:, i]) for i, name in enumerate(methods) if name != REFERENCE]
    p_values = [signed_rank_p(differences) for _, differences in others]
    return tuple(
        Comparison(name, float(differences.mean()), rank_biserial(differences), p, corrected)
        for (name, differences), p, corrected in zip(others, p_values, holm(p_values), strict=True)
    )
