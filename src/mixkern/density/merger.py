"""What merging two components could gain, before any row is asked.

Given who owns which row, everything else integrates in closed form: the bound is ln p(X, Z) plus the entropy of the
responsibilities. Merging two components changes the first by a few log normalisers and can only lower the second. So
the change of the first is the most that a merger can gain at once; one that would lose much need not be tried.
"""

import numpy as np
from scipy.special import gammaln

from mixkern.density.posterior import Prior
from mixkern.density.statistics import Statistics
from mixkern.typing import Floats, Positions


def merger_gains(statistics: Statistics, prior: Prior) -> tuple[Positions, Positions, Floats]:
    """Give all pairs of components, and what merging each could gain at most while rows stay dealt out as they are."""
    first, second = np.triu_indices(len(statistics.counts), 1)
    both = statistics.keep(first) + statistics.keep(second)
    spreads, both_spreads = _spreads(statistics, prior), _spreads(both, prior)
    gains = (
        _weight_gains(statistics.counts, both.counts, first, second, prior.concentration)
        + _differences(_log_evidence_of_means(statistics, prior), _log_evidence_of_means(both, prior), first, second)
        + prior.precision.merger_gains(
            prior.degrees, prior.inverse_scale, statistics.counts, spreads, both.counts, both_spreads, first, second
        )
    )
    for alone, together in zip(statistics.category_counts, both.category_counts, strict=True):
        a, b = (_log_evidence_of_categories(table, prior.category_concentration) for table in (alone, together))
        gains += _differences(a, b, first, second)
    return first, second, gains


def _differences(alone: Floats, together: Floats, first: Positions, second: Positions) -> Floats:
    return together - alone[first] - alone[second]


def _spreads(statistics: Statistics, prior: Prior) -> Floats:
    shrinkage = prior.mean_precision * statistics.counts / (prior.mean_precision + statistics.counts)
    return prior.precision.spreads(statistics.scatters, shrinkage, statistics.means - prior.mean)


def _weight_gains(counts: Floats, together: Floats, first: Positions, second: Positions, alpha: float) -> Floats:
    """Logarithm of the Dirichlet integral with one component less, over the one with all."""
    k, n = len(counts), counts.sum()
    fewer = gammaln((k - 1) * alpha) - gammaln((k - 1) * alpha + n) - gammaln(k * alpha) + gammaln(k * alpha + n)
    shares = _differences(gammaln(alpha + counts), gammaln(alpha + together), first, second)
    gains: Floats = fewer + gammaln(alpha) + shares
    return gains


def _log_evidence_of_means(statistics: Statistics, prior: Prior) -> Floats:
    d = statistics.sums.shape[1]
    return 0.5 * d * np.log(prior.mean_precision / (prior.mean_precision + statistics.counts))


def _log_evidence_of_categories(table: Floats, alpha: float) -> Floats:  # (k,)
    n = table.shape[1]
    evidence: Floats = np.sum(gammaln(alpha + table) - gammaln(alpha), axis=1)
    return evidence + gammaln(n * alpha) - gammaln(n * alpha + table.sum(axis=1))
