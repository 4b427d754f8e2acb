"""What the readings mean for the paper's claim, said by the numbers."""

import math
from collections.abc import Mapping

from mixkern.wording import counted
from mixkern_study.protocol import Experiment, Reading
from mixkern_study.ranking import ALPHA, Standing

LEAST_LEAD = 0.5  # percentage points; a share of less says nothing
HONEST, PUBLISHED = str(Reading.EXPECTED_ERROR), "published"
WORDS = {
    PUBLISHED: "as published",
    str(Reading.CEILING): "at the ceiling",
    str(Reading.OPTIMISTIC): "by the optimistic reading",
    HONEST: "with no label peeked at",
}


def verdict(experiment: int, standings: Mapping[str, Standing]) -> str:
    """Say how RWM and RBF stand by each reading, and what remains of RWM's lead when no label is peeked at.

    Parameters
    ----------
    experiment : {1, 2, 3}
        Which.
    standings : mapping of str to Standing
        From :func:`mixkern_study.ranking.standings`.
    """
    honest = standings[HONEST]
    about = f"Experiment {experiment}, {Experiment(experiment).title}"
    if honest.n_data_sets == 0 or not {"rwm", "rbf"} <= set(honest.methods):
        return f"{about}: there is no data set yet that all kernels, RWM and RBF among them, have by all readings."
    means = "; ".join(
        f"{standings[name].means['rwm']:.2f} % and {standings[name].means['rbf']:.2f} % {words}"
        for name, words in WORDS.items()
    )
    first = f"{about}, on {counted(honest.n_data_sets, 'data set')}: mean accuracies of RWM and RBF are {means}."
    return " ".join([first, _remains(standings), *_rank(standings)])


def lead(standing: Standing) -> float:
    """Give by how many percentage points RWM is ahead of RBF, to the digits that are shown."""
    return round(standing.means["rwm"] - standing.means["rbf"], 2) + 0.0  # and no negative zero


def _remains(standings: Mapping[str, Standing]) -> str:
    own, published, optimistic = (lead(standings[name]) for name in (HONEST, PUBLISHED, str(Reading.OPTIMISTIC)))
    position = f"is ahead by {own:.2f} points" if own > 0 else f"is behind by {-own:.2f} points"
    text = f"When no label is peeked at, RWM {position if own else 'is neither ahead nor behind'}"
    shares = [
        f"{100 * own / other:.0f} % of its {words} of {other:.2f}"
        for other, words in ((published, "published lead"), (optimistic, "lead by the optimistic reading"))
        if other >= LEAST_LEAD
    ]
    if own > 0 and shares:
        return f"{text}: {' and '.join(shares)}."
    others = f"{published:+.2f} as published and {optimistic:+.2f} by the optimistic reading"
    return f"{text}; the difference is {others}."


def _rank(standings: Mapping[str, Standing]) -> list[str]:
    honest, published = standings[HONEST], standings[PUBLISHED]
    if honest.test is None or math.isnan(honest.rank("rwm")):
        return []
    gap = abs(honest.rank("rwm") - honest.rank("rbf"))
    is_clear = honest.test.p_value < ALPHA and gap >= honest.test.critical_difference(ALPHA)
    differ = "differ" if is_clear else "do not differ"
    return [
        (
            f"Its mean rank among {counted(len(honest.methods), 'kernel')} is then {honest.rank('rwm'):.2f} and RBF's "
            f"{honest.rank('rbf'):.2f} (published: {published.rank('rwm'):.2f} and {published.rank('rbf'):.2f}); by "
            f"Friedman's and Nemenyi's tests at {ALPHA:g} the two {differ} significantly."
        )
    ]
