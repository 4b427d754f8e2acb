"""A fold of the outer cross-validation: training rows, test rows, densities, and the rows that are labelled."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mixkern.datasets import Dataset
from mixkern.density import DensitySearch, Mixture, VBMixture
from mixkern.density.preprocessing import jitter
from mixkern.encoding import TableEncoder
from mixkern.errors import hint
from mixkern.typing import Floats, Ints, RandomState
from mixkern_study.protocol import DensityStrategy, Experiment, LabelChoice, Protocol, StudyError

MOST_DRAWS = 10_000  # of labels, until two classes are among them: the denser half of Page Blocks is nearly one class


@dataclass(frozen=True, eq=False)
class StudyFold:
    """Training rows and test rows of one fold.

    Attributes
    ----------
    data_set : str
        Name of the data set.
    number : int
        Number of the fold, from 0.
    train, test : ndarray of shape (n, d + e)
        Rows, z-scored by the training rows, category codes last.
    train_codes, test_codes : ndarray of int
        Classes.
    n_categorical, n_classes : int
        Categorical columns, and classes of the whole data set.
    """

    data_set: str
    number: int
    train: Floats
    test: Floats
    train_codes: Ints
    test_codes: Ints
    n_categorical: int
    n_classes: int

    @property
    def is_mixed(self) -> bool:
        """Whether there are columns of both kinds, so that alpha and beta are searched."""
        return 0 < self.n_categorical < self.train.shape[1]


def study_fold(data: Dataset, number: int, protocol: Protocol) -> StudyFold:
    """Return a fold of a data set, encoded by its training rows.

    >>> from mixkern import datasets
    >>> fold = study_fold(datasets.load("iris"), 0, Protocol())
    >>> fold.train.shape, fold.test.shape
    ((120, 4), (30, 4))
    """
    if data.y.isna().any():
        raise StudyError(
            f"{data.name!r} has rows without a label, which cannot be tested. Leave them out.",
            hint=hint(python="For a Dataset: data.labelled()."),
        )
    classes, codes = np.unique(np.asarray(data.y).astype(str), return_inverse=True)
    if len(classes) < 2 or np.bincount(codes).max() < protocol.n_folds:
        raise StudyError(
            f"{data.name!r} must have two classes, and one of them a row for each of {protocol.n_folds} folds, but the "
            f"largest of {len(classes)} has {np.bincount(codes).max()}."
        )
    if not 0 <= number < protocol.n_folds:
        raise StudyError(f"Folds are numbered from 0 to {protocol.n_folds - 1}, but the fold is {number}.")
    splitter = StratifiedKFold(protocol.n_folds, shuffle=True, random_state=protocol.seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        train, test = list(splitter.split(codes, codes))[number]
    encoder = TableEncoder(continuous=list(data.continuous), categorical=list(data.categorical)).fit(data.X.iloc[train])
    return StudyFold(
        data_set=data.name,
        number=number,
        train=encoder.transform(data.X.iloc[train]),
        test=encoder.transform(data.X.iloc[test]),
        train_codes=codes[train],
        test_codes=codes[test],
        n_categorical=len(encoder.categorical_),
        n_classes=len(classes),
    )


# ---------------------------------------------------------------- densities


def density_names(protocol: Protocol) -> list[str]:
    """Return the names of a fold's densities: the one found without labels first, then those of the ceiling.

    The paper's rule finds one density, and the ceiling has no other to choose from.

    >>> density_names(Protocol(priors=(0.1, 1.0))), density_names(Protocol(density="paper"))
    (['default', 'w0=0.1', 'w0=1.0'], ['paper'])
    """
    others = protocol.priors if protocol.density == DensityStrategy.DEFAULT else ()
    return [protocol.density, *(f"w0={prior!r}" for prior in others)]


def fitted_density(fold: StudyFold, name: str, protocol: Protocol) -> Mixture:
    """Return one of the densities of a fold, learned from its training rows without labels."""
    seed = protocol.seed_of(fold.data_set, fold.number, "density")
    rows = jitter(fold.train, fold.train.shape[1] - fold.n_categorical, np.random.RandomState(seed))
    is_paper = name == DensityStrategy.PAPER
    density: Any = VBMixture(n_categorical=fold.n_categorical, merge=not is_paper, random_state=seed)
    if is_paper:
        density = DensitySearch.from_paper(density=density, precision_prior=protocol.priors, random_state=seed)
    elif name != DensityStrategy.DEFAULT:
        density.set_params(precision_prior=float(name.removeprefix("w0=")))
    mixture: Mixture = density.fit(rows).mixture_
    return mixture


# ---------------------------------------------------------------- labels


def labelled_rows(fold: StudyFold, mixture: Mixture, experiment: Experiment, repeat: int, protocol: Protocol) -> Ints:
    """Return the training rows that have a label.

    In experiment 1 they are drawn as ``protocol.labels`` says; experiment 2 adds random ones to the same rows, up to a
    share of the rows that is rounded up; in experiment 3 all have one. Draws without at least two classes, one of them
    twice, are drawn again.

    Parameters
    ----------
    fold : StudyFold
        Training rows.
    mixture : Mixture
        Their density, by which regions are dense.
    experiment, repeat, protocol
        Which labels.

    Returns
    -------
    ndarray of int
        Positions in ``fold.train``, ascending.
    """
    if experiment is Experiment.ALL:
        return np.arange(len(fold.train))
    random = np.random.RandomState(protocol.seed_of(fold.data_set, fold.number, repeat, "labels"))
    n_first = min(protocol.labels_per_class * fold.n_classes, len(fold.train))
    draw = _first_draw(fold, mixture, n_first, protocol)
    for _ in range(MOST_DRAWS):
        rows = draw(random)
        counts = np.bincount(fold.train_codes[rows])
        if (counts > 0).sum() > 1 and counts.max() > 1:
            break
    else:
        raise StudyError(
            f"{MOST_DRAWS} draws of {n_first} labels from {fold.data_set!r} have found a single class. Give more "
            "labels per class."
        )
    if experiment is Experiment.A_TENTH:
        others = np.setdiff1d(np.arange(len(fold.train)), rows)
        n_more = max(0, math.ceil(round(protocol.share * len(fold.train), 6)) - len(rows))
        rows = np.append(rows, random.choice(others, n_more, replace=False))
    return np.sort(rows)


def _first_draw(fold: StudyFold, mixture: Mixture, n: int, protocol: Protocol) -> Callable[[RandomState], Ints]:
    """Return what draws the rows that are labelled in experiment 1; densities are computed once for all draws."""
    choice = LabelChoice(protocol.labels)
    if choice is LabelChoice.RANDOM:
        return lambda random: random.choice(len(fold.train), n, replace=False)
    if choice is LabelChoice.COMPONENTS:
        return lambda random: dense_rows(fold.train, mixture, n, random)
    log_density = mixture.log_density(fold.train)
    half = denser_half(log_density, n)
    if choice is LabelChoice.DENSE:
        return lambda random: random.choice(half, n, replace=False)

    def per_class(random: RandomState) -> Ints:
        rows = dense_rows_per_class(log_density, fold.train_codes, protocol.labels_per_class, random)
        # Two classes of Ecoli have two rows: with four of each class, there would be fewer labels than published.
        others = np.setdiff1d(half, rows)
        return np.append(rows, random.permutation(others)[: n - len(rows)])

    return per_class


def denser_half(log_density: Floats, least: int = 0) -> Ints:
    """Return the rows where the density is highest, half of them or ``least``, the densest first.

    >>> denser_half(np.array([-3.0, -1.0, -2.0])), denser_half(np.array([-3.0, -1.0, -2.0]), least=3)
    (array([1, 2]), array([1, 2, 0]))
    """
    return np.argsort(-log_density, kind="stable")[: max((len(log_density) + 1) // 2, least)]


def dense_rows_per_class(log_density: Floats, codes: Ints, n: int, random: np.random.RandomState) -> Ints:
    """Draw n rows of each class from the denser half of its rows; fewer where a class has fewer.

    >>> codes, log_density = np.array([0, 0, 0, 0, 1]), np.array([-1.0, -2.0, -9.0, -9.0, -5.0])
    >>> np.sort(dense_rows_per_class(log_density, codes, 2, np.random.RandomState(0)))
    array([0, 1, 4])
    """
    chosen = []
    for label in np.unique(codes):
        rows = np.flatnonzero(codes == label)
        chosen.append(random.permutation(np.sort(rows[denser_half(log_density[rows], n)]))[:n])
    return np.concatenate(chosen)


def dense_rows(rows: Floats, mixture: Mixture, n: int, random: np.random.RandomState) -> Ints:
    """Draw rows in dense regions: every component gets its share, from the denser half of its rows.

    Shares are rounded at random such that a component with a share of 0.4 rows is drawn from in four of ten draws.

    Examples
    --------
    >>> from mixkern import VBMixture, datasets
    >>> X, _ = datasets.make_ripley(random_state=0)
    >>> mixture = VBMixture(random_state=0).fit(X).mixture_
    >>> len(dense_rows(X, mixture, 8, np.random.RandomState(0)))
    8
    """
    component = mixture.responsibilities(rows).argmax(axis=1)
    log_density = mixture.log_density(rows)
    sizes = np.bincount(component, minlength=mixture.n_components)
    counts = np.diff(np.floor(np.append(0, np.cumsum(n * sizes / len(rows))) + random.uniform())).astype(int)
    counts[np.argmax(sizes)] += n - counts.sum()  # of rounding
    chosen = []
    for k in np.flatnonzero(counts):
        members = np.flatnonzero(component == k)
        dense = members[denser_half(log_density[members], counts[k])]
        chosen.append(random.choice(dense, counts[k], replace=False))
    return np.concatenate(chosen)
