"""Readings of the paper's protocol: single changes of it, and the cells of the experiments that each is run on.

All were fixed before the first of them was run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from mixkern.datasets import Dataset
from mixkern.wording import listing, nearest
from mixkern_study.experiment import run
from mixkern_study.protocol import DensityStrategy, LabelChoice, Protocol, Responsibilities, StudyError
from mixkern_study.published import KERNELS
from mixkern_study.runner import OnStep
from mixkern_study.store import Store

REPEATS: Mapping[int, int] = {1: 5, 2: 1}  # draws of labels in a fold: few labels need many
PEERS = ("transductive_svm", "s3vm")  # beside the kernels in experiments 1 and 2, as the paper's outlook asks
MIXED = ("australian", "credit_a", "credit_g", "heart")  # with columns of both kinds
SMALL = ("ecoli", "glass", "heart", "iris", "seeds", "two_moons", "wine")  # whose graphs are quick to compute


@dataclass(frozen=True)
class Variant:
    """One reading of the protocol.

    Attributes
    ----------
    name : str
        Its key in :func:`variants`.
    title : str
        What differs, in a few words.
    changes : mapping
        Settings of the protocol.
    experiments, kernels : tuple
        Which of them are run.
    data_sets : tuple of str or None
        Which data sets; None is all.
    """

    name: str
    title: str
    changes: Mapping[str, Any] = field(hash=False)
    experiments: tuple[int, ...]
    kernels: tuple[str, ...] = KERNELS
    data_sets: tuple[str, ...] | None = None

    def protocol(self, base: Protocol) -> Protocol:
        """Return the protocol of this reading."""
        return replace(base, **self.changes)


LABEL_TITLE: Mapping[str, str] = {
    LabelChoice.COMPONENTS: "by components",
    LabelChoice.DENSE: "denser half",
    LabelChoice.DENSE_PER_CLASS: "denser half of each class",
    LabelChoice.RANDOM: "at random",
}
GRAPHS: tuple[Mapping[str, Any], ...] = tuple(
    {"graph_weights": weights, "normalised": normalised, "degree": degree}
    for degree, weights, normalised in product((1, 2), ("binary", "heat"), (True, False))
)


def graph_title(weights: str, normalised: bool, degree: int) -> str:
    """Return a reading of LAP's graph in words.

    >>> graph_title("heat", normalised=False, degree=2)
    'heat, not normalised, p = 2'
    """
    return f"{weights}, {'normalised' if normalised else 'not normalised'}, p = {degree}"


def _graph_variant(graph: Mapping[str, Any]) -> Variant:
    title = graph_title(graph["graph_weights"], graph["normalised"], graph["degree"])
    name = title.replace(", p = ", "_p").replace(", ", "_").replace(" ", "_")
    return Variant(f"graph_{name}", f"LAP's graph: {title}", graph, (1,), ("lap",), SMALL)


VARIANTS: tuple[Variant, ...] = (
    *(
        Variant(f"labels_{choice}", f"labels {LABEL_TITLE[choice]}", {"labels": str(choice)}, (1,))
        for choice in LabelChoice
        if choice is not LabelChoice.COMPONENTS
    ),
    Variant("density_paper", "the paper's density", {"density": str(DensityStrategy.PAPER)}, (1, 2, 3), ("rwm", "gmm")),
    Variant(
        "responsibilities_numbers",
        "responsibilities from numbers alone",
        {"responsibilities": str(Responsibilities.NUMBERS)},
        (1, 2, 3),
        ("rwm",),
        MIXED,
    ),
    *(_graph_variant(graph) for graph in GRAPHS[1:]),  # the first one is the default
)


def variants(names: Iterable[str] | None = None) -> dict[str, Variant]:
    """Return readings by name, by default all.

    >>> list(variants())[:3]
    ['labels_dense', 'labels_dense_per_class', 'labels_random']
    """
    known = {variant.name: variant for variant in VARIANTS}
    chosen = list(known if names is None else names)
    for name in chosen:
        if name not in known:
            raise StudyError(f"There is no reading {name!r}.{nearest(name, known)} There are {listing(known)}.")
    return {name: known[name] for name in chosen}


def run_variants(
    store: Store,
    names: Iterable[str] | None = None,
    *,
    experiments: Iterable[int] = (1, 2, 3),
    kernels: Iterable[str] = KERNELS,
    data_sets: Iterable[str | Dataset] | None = None,
    repeats: int | Mapping[int, int] = REPEATS,
    n_jobs: int = -1,
    on_step: OnStep | None = None,
) -> None:
    """Run readings of the protocol into a store; cells that a reading does not touch are not computed again.

    Parameters
    ----------
    store : Store
        With the protocol that readings change.
    names : iterable of str, default=None
        Which, see :func:`variants`; by default all.
    experiments, kernels, data_sets
        As in :func:`run`; a reading is run on those of them that it is for.
    repeats, n_jobs, on_step
        As in :func:`run`.
    """
    chosen, given = variants(names).values(), None if data_sets is None else list(data_sets)
    allowed = list(experiments), list(kernels)
    common: dict[str, Any] = {"repeats": repeats, "n_jobs": n_jobs, "on_step": on_step}
    labels = [each.changes["labels"] for each in chosen if "labels" in each.changes]
    if labels and 1 in allowed[0]:  # together: kernels are computed once for all choices of labels
        run(store, experiments=[1], kernels=allowed[1], data_sets=given, labels=labels, **common)
    for each in chosen:
        if "labels" not in each.changes:
            run(
                store.with_protocol(each.protocol(store.protocol)),
                experiments=[experiment for experiment in each.experiments if experiment in allowed[0]],
                kernels=[kernel for kernel in each.kernels if kernel in allowed[1]],
                data_sets=_of_reading(each, given),
                **common,
            )


def _of_reading(variant: Variant, given: list[str | Dataset] | None) -> list[str | Dataset] | None:
    """Return the data sets that a reading is run on; None is all of the paper."""
    if given is None:
        return None if variant.data_sets is None else list(variant.data_sets)
    return [each for each in given if variant.data_sets is None or each in variant.data_sets]
