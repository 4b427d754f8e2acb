"""Tables of the readings of the paper's protocol: labels, density, responsibilities, LAP's graph, who chooses."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mixkern.report.table import TextTable
from mixkern.wording import counted
from mixkern_study.data_sets import paper_titles
from mixkern_study.protocol import DensityStrategy, Experiment, LabelChoice, Reading, Responsibilities
from mixkern_study.published import KERNELS, published_accuracies
from mixkern_study.ranking import (
    READING_TITLE,
    Ranking,
    Scores,
    common_titles,
    kernel_scores,
    mean_gap,
    published_ranking,
    ranking,
    scores,
)
from mixkern_study.result_table import PERCENT, RANK, WINS, Cell
from mixkern_study.store import Store
from mixkern_study.variant import GRAPHS, LABEL_TITLE, MIXED, SMALL, graph_title

HONEST, OPTIMISTIC, CEILING = str(Reading.EXPECTED_ERROR), str(Reading.OPTIMISTIC), str(Reading.CEILING)
PUBLISHED = "published"
SIGNED = "+.2f"
WITH_DENSITY = ("rwm", "gmm")


def _titles(table: Scores, experiment: int, kernels: Sequence[str]) -> list[str]:
    """Return the data sets of the paper that all kernels have."""
    return [title for title in common_titles(table, kernels) if title in published_accuracies(experiment)]


# ---------------------------------------------------------------- labels


def labels_table(store: Store, reading: str) -> TextTable:
    """Return experiment 1 by each choice of labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = labels_table(Store(f"{folder}/paper.sqlite"), "optimistic")
    >>> [row[0].to_text() for row in table.rows]
    ['by components', 'denser half', 'denser half of each class', 'at random', 'published']
    """
    tables = {
        choice: scores(store.with_protocol(replace(store.protocol, labels=str(choice))), 1, reading)
        for choice in LabelChoice
    }
    filled = [table for table in tables.values() if _titles(table, 1, KERNELS)]
    titles = [t for t in published_accuracies(1) if filled and all(t in _titles(each, 1, KERNELS) for each in filled)]
    rows = [_labels_row(LABEL_TITLE[choice], table, titles) for choice, table in tables.items()]
    paper, theirs = published_ranking(1, KERNELS, titles), published_accuracies(1)
    support = [theirs[t][k].n_support for t in titles for k in KERNELS]
    return TextTable(
        name=f"labels_{reading}",
        title=f"Experiment 1 by the choice of labels: {READING_TITLE[reading]}",
        caption=(
            f"Mean accuracies in percent over {counted(len(titles), 'data set')}; the lead of RWM over RBF; mean ranks "
            "among the four kernels; the mean number of support vectors of all kernels; and the mean absolute "
            "difference from the published accuracies, over data sets, of RBF alone and of all kernels."
        ),
        columns=_LABELS_COLUMNS,
        rows=(*rows, (Cell(PUBLISHED), *_ranking_cells(paper, float(np.mean(support)) if support else None))),
    )


_LABELS_COLUMNS = (
    *("Labels", *(kernel.upper() for kernel in KERNELS), "RWM ahead"),
    *(*(f"{kernel.upper()} rank" for kernel in KERNELS), "SV", "RBF differs", "all differ"),
)


def _labels_row(label: str, table: Scores, titles: Sequence[str]) -> tuple[Cell, ...]:
    if not _titles(table, 1, KERNELS):
        return (Cell(label), *(Cell() for _ in _LABELS_COLUMNS[1:]))
    support = float(np.mean([table[t][k].n_support for t in titles for k in KERNELS]))
    gaps = mean_gap(table, 1, ["rbf"], titles), mean_gap(table, 1, KERNELS, titles)
    return (Cell(label), *_ranking_cells(ranking(table, KERNELS, titles), support, *gaps))


def _ranking_cells(found: Ranking, support: float | None, *gaps: float) -> tuple[Cell, ...]:
    """Return accuracies, the lead of RWM, ranks, support vectors and differences."""
    means = [found.means[kernel] for kernel in KERNELS]
    ranks = [found.rank(kernel) for kernel in KERNELS]
    return (
        *(Cell(mean, is_best=mean == max(means)) for mean in means),
        Cell(found.means["rwm"] - found.means["rbf"], spec=SIGNED),
        *(Cell(rank, spec=RANK, is_best=rank == min(ranks)) for rank in ranks),
        Cell(support, spec=".1f"),
        *(Cell(gap) for gap in (*gaps, None, None)[:2]),
    )


# ---------------------------------------------------------------- density


def density_table(store: Store, experiment: int, reading: str) -> TextTable:
    """Return accuracies of RWM and GMM with the project's density and with the paper's, beside the published ones.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     density_table(Store(f"{folder}/paper.sqlite"), 2, "optimistic").columns
    ('Data set', 'RWM', "RWM, paper's density", 'GMM', "GMM, paper's density")
    """
    tables = [scores(_with_density(store, strategy), experiment, reading) for strategy in DensityStrategy]
    published = published_accuracies(experiment)
    both = [t for t in published if all(t in _titles(table, experiment, WITH_DENSITY) for table in tables)]

    def percents(titles: Sequence[str]) -> list[float | None]:
        """Return the means over data sets of each kernel with each density; None where one is missing."""
        found: list[float | None] = []
        for kernel in WITH_DENSITY:
            for table in tables:
                is_done = titles and all(kernel in table.get(t, {}) for t in titles)
                found.append(float(np.mean([table[t][kernel].percent for t in titles])) if is_done else None)
        return found

    def row(label: str, titles: Sequence[str]) -> tuple[Cell, ...]:
        values = percents(titles)
        best = max((each for each in values if each is not None), default=None)
        cells = [Cell(each, is_best=each is not None and each == best) for each in values]
        for i, kernel in enumerate(WITH_DENSITY):
            paper = float(np.mean([published[t][kernel].percent for t in titles])) if titles else None
            cells[2 * i] = replace(cells[2 * i], published=paper)
        return (Cell(label), *cells)

    return TextTable(
        name=f"density_{experiment}_{reading}",
        title=f"Experiment {experiment}, {Experiment(experiment).title}: the paper's density, {READING_TITLE[reading]}",
        caption=(
            "Percent of right labels. In parentheses: as published. The paper's density is searched over alpha0, beta0 "
            "and w0 by representativity, without mergers, and its covariances are not shrunk. The same rows are "
            f"labelled for both. The mean is over {counted(len(both), 'data set')}."
        ),
        columns=("Data set", "RWM", "RWM, paper's density", "GMM", "GMM, paper's density"),
        rows=tuple(row(title, [title]) for title in published),
        footer=(row("Mean", both),),
    )


def _with_density(store: Store, strategy: str) -> Store:
    return store.with_protocol(replace(store.protocol, density=str(strategy)))


def densities_table(store: Store) -> TextTable:
    """Return means and ranks of the three experiments with either density, by each reading.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(densities_table(Store(f"{folder}/paper.sqlite")).rows)
    15
    """
    rows = []
    for experiment in Experiment:
        tables = {
            (str(strategy), reading): scores(_with_density(store, strategy), experiment, reading)
            for reading in (HONEST, OPTIMISTIC)
            for strategy in DensityStrategy
        }
        titles = [
            t
            for t in published_accuracies(experiment)
            if all(t in _titles(table, experiment, KERNELS) for table in tables.values())
        ]
        for (strategy, reading), table in tables.items():
            label = f"{experiment.value}: {READING_TITLE[reading]}, {_DENSITY_TITLE[strategy]}"
            rows.append((Cell(label), *_short_cells(ranking(table, KERNELS, titles))))
        label = f"{experiment.value}: {PUBLISHED}"
        rows.append((Cell(label), *_short_cells(published_ranking(experiment, KERNELS, titles))))
    return TextTable(
        name="densities",
        title="The paper's density in all experiments",
        caption=(
            "Mean accuracies in percent on the data sets that all kernels have by all readings, the lead of RWM over "
            "RBF, and mean ranks. RBF and LAP use no density; their ranks depend on those of the others. The paper's "
            "rule finds one density, so there is no ceiling of it."
        ),
        columns=(
            *("Experiment, reading, density", *(kernel.upper() for kernel in KERNELS), "RWM ahead"),
            *(f"{kernel.upper()} rank" for kernel in KERNELS),
        ),
        rows=tuple(rows),
    )


_DENSITY_TITLE = {str(DensityStrategy.DEFAULT): "our density", str(DensityStrategy.PAPER): "the paper's density"}


def _short_cells(found: Ranking) -> tuple[Cell, ...]:
    return _ranking_cells(found, None)[: len(KERNELS) * 2 + 1]


# ---------------------------------------------------------------- who chooses with labels

CHOOSERS: Mapping[str, Mapping[str, str]] = {
    "all optimistic": dict.fromkeys(KERNELS, OPTIMISTIC),
    "RWM at the ceiling, others optimistic": {**dict.fromkeys(KERNELS, OPTIMISTIC), "rwm": CEILING},
    "GMM at the ceiling, others optimistic": {**dict.fromkeys(KERNELS, OPTIMISTIC), "gmm": CEILING},
    "RWM and GMM at the ceiling": dict.fromkeys(KERNELS, CEILING),
}


def choosers_table(store: Store) -> TextTable:
    """Return ranks and wins where the density of one kernel alone is chosen with labels.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [row[0].to_text() for row in choosers_table(Store(f"{folder}/paper.sqlite")).rows[:2]]
    ['1: published', '1: all optimistic']
    """
    rows = []
    for experiment in (1, 2):
        tables = {name: kernel_scores(store, experiment, readings) for name, readings in CHOOSERS.items()}
        titles = [
            t
            for t in published_accuracies(experiment)
            if all(t in _titles(table, experiment, KERNELS) for table in tables.values())
        ]
        found = {PUBLISHED: published_ranking(experiment, KERNELS, titles)}
        found |= {name: ranking(table, KERNELS, titles) for name, table in tables.items()}
        rows += [(Cell(f"{experiment}: {name}"), *_rank_cells(each)) for name, each in found.items()]
    return TextTable(
        name="choosers",
        title="Who chooses with labels",
        caption=(
            "Mean ranks and wins of the four kernels on the same data sets, from our accuracies. At the ceiling a "
            "kernel's density is the best of six by labels of unlabelled rows; the others' density has seen no label. "
            "The published line is computed from the published accuracies, those in bold face as ties."
        ),
        columns=(
            *("Experiment, readings", *(f"{kernel.upper()} rank" for kernel in KERNELS)),
            *(f"{kernel.upper()} wins" for kernel in KERNELS),
        ),
        rows=tuple(rows),
    )


def _rank_cells(found: Ranking) -> tuple[Cell, ...]:
    ranks, wins = [found.rank(k) for k in KERNELS], [found.wins(k) for k in KERNELS]
    return (
        *(Cell(rank, spec=RANK, is_best=rank == min(ranks)) for rank in ranks),
        *(Cell(each, spec=WINS, is_best=each == max(wins)) for each in wins),
    )


# ---------------------------------------------------------------- responsibilities and graph


def responsibilities_table(store: Store) -> TextTable:
    """Return RWM with responsibilities from all columns and from numbers alone, on tables with columns of both kinds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(responsibilities_table(Store(f"{folder}/paper.sqlite")).rows)
    12
    """
    keys = [(choice, reading) for reading in (HONEST, OPTIMISTIC) for choice in Responsibilities]
    rows, differences = [], []
    for experiment in Experiment:
        tables = [
            scores(store.with_protocol(replace(store.protocol, responsibilities=str(choice))), experiment, reading)
            for choice, reading in keys
        ]
        for title in (paper_titles()[name] for name in MIXED):
            values = [table[title]["rwm"].percent if "rwm" in table.get(title, {}) else math.nan for table in tables]
            differences.append((values[1] - values[0], values[3] - values[2]))
            paper = published_accuracies(experiment)[title]["rwm"].percent
            rows.append((Cell(f"{experiment.value}: {title}"), *map(Cell, values), Cell(paper)))
    first, second = np.mean(differences, axis=0).tolist()  # NaN as long as one is missing
    footer = (Cell("Mean difference"), Cell(), Cell(first, spec=SIGNED), Cell(), Cell(second, spec=SIGNED), Cell())
    return TextTable(
        name="responsibilities",
        title="RWM: responsibilities from all columns, or from numbers alone",
        caption=(
            "Percent of right labels on the four tables with columns of both kinds. The paper writes the distance as a "
            "function of the continuous columns; here all columns count by default."
        ),
        columns=(
            *("Experiment and data set", "all columns", "numbers alone"),
            *("all columns, optimistic", "numbers alone, optimistic", PUBLISHED),
        ),
        rows=tuple(rows),
        footer=(footer,),
    )


def graph_table(store: Store) -> TextTable:
    """Return experiment 1 of LAP by each reading of its graph, the one nearest to the published accuracies first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(graph_table(Store(f"{folder}/paper.sqlite")).rows)
    9
    """
    titles = [paper_titles()[name] for name in SMALL]
    found = []
    for graph in GRAPHS:
        of_graph = store.with_protocol(replace(store.protocol, **graph))
        tables = {reading: scores(of_graph, 1, reading) for reading in (HONEST, OPTIMISTIC)}
        found.append((graph_title(graph["graph_weights"], graph["normalised"], graph["degree"]), tables))
    done = [t for t in titles if all("lap" in table.get(t, {}) for _, tables in found for table in tables.values())]
    rows = [_graph_row(label, tables, done) for label, tables in found]
    rows.sort(key=lambda row: row[6].value if isinstance(row[6].value, float) else math.inf)
    published = published_accuracies(1)
    paper = float(np.mean([published[t]["lap"].percent for t in done])) if done else None
    return TextTable(
        name="graph",
        title="Experiment 1: LAP by the reading of its graph",
        caption=(
            f"Mean accuracy of LAP in percent on {counted(len(done), 'small data set')} "
            f"({', '.join(titles)}), the mean difference from the published accuracies, and its mean absolute value; "
            "the reading that is nearest to the published ones by the optimistic reading comes first. Edges have the "
            "weight 1 (binary) or exp(-d^2 / (2 t^2)) with t the mean length of an edge (heat)."
        ),
        columns=(
            *("Graph", "accuracy", "difference", "absolute"),
            *("accuracy, optimistic", "difference, optimistic", "absolute, optimistic"),
        ),
        rows=(*rows, (Cell(PUBLISHED), Cell(paper), Cell(), Cell(), Cell(paper), Cell(), Cell())),
    )


def _graph_row(label: str, tables: Mapping[str, Scores], titles: Sequence[str]) -> tuple[Cell, ...]:
    if not titles:
        return (Cell(label), *(Cell() for _ in range(6)))
    published = published_accuracies(1)
    cells = [Cell(label)]
    for reading in (HONEST, OPTIMISTIC):
        percents = np.array([tables[reading][t]["lap"].percent for t in titles])
        differences = percents - [published[t]["lap"].percent for t in titles]
        cells += [
            Cell(float(percents.mean()), spec=PERCENT),
            Cell(float(differences.mean()), spec=SIGNED),
            Cell(float(np.abs(differences).mean()), spec=PERCENT),
        ]
    return tuple(cells)
