"""What stands in a report, chapter by chapter; how it is written is the business of others."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mixkern.report.blocks import Block, Heading, Paragraph, Section
from mixkern.report.pictures import Picture
from mixkern_study import RankTest
from mixkern_study.plot import critical_difference, paper_figures
from mixkern_study.protocol import RATED, Experiment
from mixkern_study.ranking import ALPHA, READING_TITLE, Standing, method_title, standings
from mixkern_study.report import text
from mixkern_study.report.verdict import verdict
from mixkern_study.store import Store
from mixkern_study.tables import (
    PUBLISHED_STATISTICS,
    accuracy_table,
    definiteness_table,
    published_test,
    readings_table,
    run_time_table,
    settings_table,
    statistics_table,
)


def sections(store: Store, *, figures: bool) -> list[Section]:
    """Give the whole report: how to read it and the readings first, settings last."""
    found = {experiment.value: standings(store, experiment) for experiment in Experiment}
    return [
        Section("index", "How to read this", (*text.INTRODUCTION, *text.HOW_TO_READ)),
        Section("readings", "The readings side by side", _readings(store, found)),
        *(
            Section(
                f"experiment_{experiment.value}",
                f"Experiment {experiment.value}: {experiment.title}",
                _experiment(store, experiment.value, found[experiment.value], figures),
            )
            for experiment in Experiment
        ),
        Section("statistics", "Statistics", (*text.STATISTICS, statistics_table())),
        Section("run_times", "Run-times", (*text.RUN_TIMES, run_time_table(store))),
        Section("definiteness", "Definiteness", (*text.DEFINITENESS, definiteness_table(store))),
        Section("figures", "Figures", _figures() if figures else (text.NO_FIGURES,)),
        Section("settings", "Settings and versions", (*text.SETTINGS, settings_table(store), *text.HOW_TO_ADD)),
    ]


def _readings(store: Store, found: Mapping[int, Mapping[str, Standing]]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for experiment, each in found.items():
        blocks.append(Paragraph(verdict(experiment, each)))
        if each["published"].n_data_sets:
            blocks.append(readings_table(store, experiment))
    return tuple(blocks)


def _experiment(store: Store, experiment: int, found: Mapping[str, Standing], figures: bool) -> tuple[Block, ...]:
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


def _diagram(experiment: int, reading: str, found: Standing) -> list[Block]:
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
    return tuple(Picture(each.name, each.title, each.caption, each.draw) for each in paper_figures().values())
