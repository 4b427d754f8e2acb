"""Sections of the report, independent of the format that they are written in."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from mixkern.report.blocks import Block, Bullets, Heading, Paragraph, Section
from mixkern.report.pictures import Picture
from mixkern.report.table import TextTable
from mixkern.wording import counted
from mixkern_study.items import items_table
from mixkern_study.plot import critical_difference, paper_figures, published_panels
from mixkern_study.protocol import RATED, Experiment, LabelChoice, Reading
from mixkern_study.published import KERNELS, PUBLISHED_STATISTICS, published_accuracies
from mixkern_study.ranking import ALPHA, READING_TITLE, Ranking, method_title, published_test, rankings, scores
from mixkern_study.report import text
from mixkern_study.result_table import Cell, cells_of, is_there
from mixkern_study.statistics import RankTest
from mixkern_study.store import Store
from mixkern_study.tables import (
    accuracy_table,
    choosers_table,
    definiteness_table,
    densities_table,
    density_table,
    graph_table,
    labels_table,
    readings_table,
    responsibilities_table,
    run_time_table,
    settings_table,
    statistics_table,
    summary_table,
)
from mixkern_study.tables.variant import CHOOSERS

LEAST_LEAD = 0.5  # percentage points; shares of a smaller lead are not reported
HONEST, OPTIMISTIC, PUBLISHED = str(Reading.EXPECTED_ERROR), str(Reading.OPTIMISTIC), "published"
WORDS = {
    PUBLISHED: "as published",
    str(Reading.CEILING): "at the ceiling",
    OPTIMISTIC: "by the optimistic reading",
    HONEST: "with training labels only",
}


def sections(store: Store, *, figures: bool) -> list[Section]:
    """Return all sections: the summary first, settings last."""
    found = {experiment.value: rankings(store, experiment) for experiment in Experiment}
    return [
        Section("index", "In five minutes", (*text.INTRODUCTION, *_summary(store, found, figures))),
        Section("protocol", "How the experiments were run", (*text.HOW, *text.HOW_TO_READ)),
        Section("readings", "The readings side by side", _readings(store, found)),
        *(
            Section(
                f"experiment_{experiment.value}",
                f"Experiment {experiment.value}: {experiment.title}",
                _experiment(store, experiment.value, found[experiment.value], figures),
            )
            for experiment in Experiment
        ),
        Section("labels", "Which rows are labelled", (*text.LABELS, *(labels_table(store, each) for each in RATED))),
        Section("density", "The paper's density", (*text.DENSITY, densities_table(store), *_densities(store))),
        Section(
            "choosers",
            "Who chooses with labels",
            (*text.CHOOSERS, choosers_table(store), *(Paragraph(_capital(each)) for each in _choosers(store))),
        ),
        Section(
            "details", "Details", (*text.DETAILS, responsibilities_table(store), *_graph(store), graph_table(store))
        ),
        Section("items", "Paper, code, verdict", (*text.EVERY_ITEM, items_table())),
        Section("statistics", "Statistics", (*text.STATISTICS, statistics_table())),
        Section("run_times", "Run-times", (*text.RUN_TIMES, run_time_table(store))),
        Section("definiteness", "Definiteness", (*text.DEFINITENESS, definiteness_table(store))),
        Section("figures", "Figures", _figures() if figures else (text.NO_FIGURES,)),
        Section("settings", "Settings and versions", (*text.SETTINGS, settings_table(store), *text.HOW_TO_ADD)),
    ]


def _summary(store: Store, found: Mapping[int, Mapping[str, Ranking]], figures: bool) -> tuple[Block, ...]:
    """Return the claims of the paper, a picture of all accuracies, and a verdict on each experiment."""
    blocks: list[Block] = [summary_table(store)]
    panels = {
        READING_TITLE[reading]: {
            kernel: [
                (title, row[kernel].percent, ours[title][kernel].percent)
                for title, row in published_accuracies(1).items()
                if kernel in ours.get(title, {})
            ]
            for kernel in KERNELS
        }
        for reading in RATED
        for ours in [scores(store, 1, reading)]
    }
    if figures and all(pairs for panel in panels.values() for pairs in panel.values()):
        caption = (
            "A dot for each data set and kernel, in percent of right labels; on the diagonal, ours are as published. "
            "The legend has the mean absolute difference of each kernel."
        )
        draw = partial(published_panels, panels)
        blocks.append(Picture("published", "Experiment 1: published accuracies and ours", caption, draw))
    blocks.append(Bullets((text.items_sentence(), *findings(store))))
    blocks += [Paragraph(verdict(experiment, each)) for experiment, each in found.items()]
    return tuple(blocks)


def _densities(store: Store) -> list[Block]:
    return [density_table(store, experiment, reading) for experiment in Experiment for reading in (HONEST, OPTIMISTIC)]


def _graph(store: Store) -> list[Block]:
    """Say which reading of LAP's graph is nearest to the published accuracies."""
    rows = [row for row in cells_of(graph_table(store)) if is_there(row[6].value)]
    if not rows:
        return []
    best = max(rows, key=lambda row: cast(float, row[4].value))
    return [
        Paragraph(
            "LAP's graph: the paper fixes 7 neighbours and p = 1, and says neither how edges are weighted nor whether "
            "the Laplacian is normalised. Public copies of the code that it was ported from have heat weights and the "
            "normalised Laplacian by default; here edges are binary by default. By the optimistic reading, "
            f"'{rows[0][0].value}' is nearest to the published accuracies (mean absolute difference "
            f"{rows[0][6].text}), and '{best[0].value}' is the most accurate ({best[4].text} %)."
        )
    ]


def _readings(store: Store, found: Mapping[int, Mapping[str, Ranking]]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for experiment, each in found.items():
        blocks.append(Paragraph(verdict(experiment, each)))
        if each["published"].n_data_sets:
            blocks.append(readings_table(store, experiment))
    return tuple(blocks)


def _experiment(store: Store, experiment: int, found: Mapping[str, Ranking], figures: bool) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if not store.results(experiment=experiment):
        blocks.append(text.NO_RESULTS)
    else:
        blocks.append(Paragraph(verdict(experiment, found)))
        for reading in RATED:
            blocks += [Heading(READING_TITLE[reading].capitalize()), accuracy_table(store, experiment, reading)]
            if figures:
                blocks += _diagram(experiment, str(reading), found[str(reading)])
    if figures:
        blocks += [Heading("As published"), _published_diagram(experiment)]
    return tuple(blocks)


def _diagram(experiment: int, reading: str, found: Ranking) -> list[Block]:
    if found.test is None:
        return []
    title = f"Experiment {experiment}: mean ranks, {READING_TITLE[reading]}"
    caption = f"Ours, on {found.n_data_sets} data sets of the paper. Kernels under one bar do not differ significantly."
    draw = partial(critical_difference, _titled(found.test), alpha=ALPHA)
    return [Picture(f"ranks_{experiment}_{reading}", title, caption, draw, is_lines=True)]


def _published_diagram(experiment: int) -> Picture:
    paper = PUBLISHED_STATISTICS[experiment]
    draw = partial(
        critical_difference,
        _titled(published_test(experiment, bold_is_tie=True)),
        alpha=paper.alpha,
        value=paper.critical_difference,
    )
    title = f"Experiment {experiment}: mean ranks, as published"
    caption = (
        f"Ranks of the published accuracies, those in bold face as ties, with the paper's critical difference "
        f"{paper.critical_difference:.3f} at {paper.alpha:g}."
    )
    return Picture(f"ranks_{experiment}_published", title, caption, draw, is_lines=True)


def _titled(test: RankTest) -> RankTest:
    return replace(test, methods=tuple(map(method_title, test.methods)))


def _figures() -> tuple[Block, ...]:
    return tuple(
        Picture(each.name, f"Figure {each.number}: {each.title}", each.caption, each.draw)
        for each in paper_figures().values()
    )


# ---------------------------------------------------------------- sentences from numbers


def findings(store: Store) -> list[str]:
    """Return a sentence on each reading of the protocol that has results on all four kernels."""
    sentences = []
    labels = _rows_of(labels_table(store, OPTIMISTIC))
    if len(labels) == len(LabelChoice) + 1:
        ranks = "; ".join(f"{row['RWM rank'].text} {name}" for name, row in labels.items() if name != PUBLISHED)
        sentences.append(
            "Which rows are labelled (page of labels): in experiment 1, RWM's mean rank by the optimistic reading is "
            f"{ranks}. Published: {labels[PUBLISHED]['RWM rank'].text}."
        )
    densities = _rows_of(densities_table(store))
    ours, theirs = (densities.get(f"1: optimistic, {words}") for words in ("our density", "the paper's density"))
    if ours is not None and theirs is not None:
        sentences.append(
            "The paper's own density rule (page of the density): in experiment 1, RWM has "
            f"{theirs['RWM'].text} % with it and {ours['RWM'].text} % with the project's density, by the optimistic "
            f"reading; its mean rank is {theirs['RWM rank'].text} and {ours['RWM rank'].text}."
        )
    return sentences + [f"Who chooses with labels (page of that name): {each}" for each in _choosers(store)[:1]]


def _choosers(store: Store) -> list[str]:
    """Return a sentence for each experiment on the readings in which one kernel alone chooses with labels."""
    rows, sentences = _rows_of(choosers_table(store)), []
    for experiment in (1, 2):
        ranks = {
            name: [cast(float, row[f"{kernel.upper()} rank"].value) for kernel in KERNELS]
            for name in (PUBLISHED, *CHOOSERS)
            if (row := rows.get(f"{experiment}: {name}")) is not None
        }
        if len(ranks) > len(CHOOSERS):
            published = ranks.pop(PUBLISHED)
            gaps = {name: sum(abs(a - b) for a, b in zip(each, published, strict=True)) for name, each in ranks.items()}
            nearest = min(gaps, key=lambda name: gaps[name])
            readings_of: dict[str, list[str]] = {}  # by the kernel with the best mean rank
            for name, each in ranks.items():
                readings_of.setdefault(KERNELS[int(np.argmin(each))].upper(), []).append(f"'{name}'")
            firsts = [f"{first} by {' and '.join(names)}" for first, names in readings_of.items()]
            sentences.append(
                f"in experiment {experiment}, of four readings '{nearest}' comes nearest to the published mean ranks "
                f"({_listed(ranks[nearest])} for RWM, GMM, RBF and LAP; published {_listed(published)}). The kernel "
                f"with the best mean rank is {'; '.join(firsts)}. That proves nothing about the authors."
            )
    return sentences


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _listed(ranks: Sequence[float]) -> str:
    return ", ".join(f"{rank:.2f}" for rank in ranks)


def _rows_of(table: TextTable) -> dict[str, dict[str, Cell]]:
    """Return the rows of a table that have numbers, by their headings."""
    rows = (dict(zip(table.columns, row, strict=True)) for row in cells_of(table))
    return {
        str(row[table.columns[0]].value): row
        for row in rows
        if any(isinstance(cell.value, float) and is_there(cell.value) for cell in row.values())
    }


def verdict(experiment: int, rankings: Mapping[str, Ranking]) -> str:
    """Return sentences on the accuracies of RWM and RBF by each reading, and on the lead of RWM.

    Parameters
    ----------
    experiment : {1, 2, 3}
        Which.
    rankings : mapping of str to Ranking
        From :func:`mixkern_study.ranking.rankings`.
    """
    honest = rankings[HONEST]
    about = f"Experiment {experiment}, {Experiment(experiment).title}"
    if honest.n_data_sets == 0 or not {"rwm", "rbf"} <= set(honest.methods):
        return f"{about}: there is no data set yet that all kernels, RWM and RBF among them, have by all readings."
    means = "; ".join(
        f"{rankings[name].means['rwm']:.2f} % and {rankings[name].means['rbf']:.2f} % {words}"
        for name, words in WORDS.items()
    )
    first = f"{about}, on {counted(honest.n_data_sets, 'data set')}: mean accuracies of RWM and RBF are {means}."
    return " ".join([first, _remains(rankings), *_rank(rankings)])


def lead(ranking: Ranking) -> float:
    """Return the lead of RWM over RBF in percentage points, to the digits that are shown."""
    return round(ranking.means["rwm"] - ranking.means["rbf"], 2) + 0.0  # and no negative zero


def _remains(rankings: Mapping[str, Ranking]) -> str:
    own, published, optimistic = (lead(rankings[name]) for name in (HONEST, PUBLISHED, OPTIMISTIC))
    position = f"is ahead by {own:.2f} points" if own > 0 else f"is behind by {-own:.2f} points"
    text = f"With training labels only, RWM {position if own else 'is neither ahead nor behind'}"
    shares = [
        f"{100 * own / other:.0f} % of its {words} of {other:.2f}"
        for other, words in ((published, "published lead"), (optimistic, "lead by the optimistic reading"))
        if other >= LEAST_LEAD
    ]
    if own > 0 and shares:
        return f"{text}: {' and '.join(shares)}."
    others = f"{published:+.2f} as published and {optimistic:+.2f} by the optimistic reading"
    return f"{text}; the difference is {others}."


def _rank(rankings: Mapping[str, Ranking]) -> list[str]:
    honest, published = rankings[HONEST], rankings[PUBLISHED]
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
