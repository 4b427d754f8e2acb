"""Other learners on the same folds and the same labels, as extra columns."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from mixkern.density import Mixture, one_hot_rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import InterruptedWarning
from mixkern.estimators import LaplacianSVC, QuasiNewtonS3VC, TransductiveSVC
from mixkern.typing import Floats, Ints
from mixkern_study.evaluation import Draw
from mixkern_study.fold import StudyFold
from mixkern_study.protocol import Reading
from mixkern_study.store import Result


@dataclass(frozen=True)
class Lesson:
    """What a peer is given: rows of L, their classes (-1 where there is no label), rows of T, and a density."""

    train: Floats
    codes: Ints
    test: Floats
    mixture: Mixture
    seed: int

    @property
    def numbers(self) -> tuple[Floats, Floats]:
        """Give both kinds of rows as plain numbers: gaps filled, one column for each category."""
        return one_hot_rows(self.mixture, self.train), one_hot_rows(self.mixture, self.test)


Peer = Callable[[Lesson], Ints]  # gives the predicted classes of T


def labels_only(estimator: Any) -> Peer:
    """Make a peer of any classifier of scikit-learn: it learns from the labelled rows alone.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> peer = labels_only(GaussianNB())
    """

    def predict(lesson: Lesson) -> Ints:
        train, test = lesson.numbers
        has_label = lesson.codes != UNLABELLED
        return np.asarray(seeded(estimator, lesson.seed).fit(train[has_label], lesson.codes[has_label]).predict(test))

    return predict


def all_rows(estimator: Any) -> Peer:
    """Make a peer of any classifier that takes -1 for an unlabelled row."""

    def predict(lesson: Lesson) -> Ints:
        train, test = lesson.numbers
        return np.asarray(seeded(estimator, lesson.seed).fit(train, lesson.codes).predict(test))

    return predict


def machine(estimator: Any) -> Peer:
    """Make a peer of a machine of mixkern: it is given the density that the kernels have."""

    def predict(lesson: Lesson) -> Ints:
        own = seeded(estimator, lesson.seed).set_params(density=lesson.mixture)
        return np.asarray(own.fit(lesson.train, lesson.codes).predict(lesson.test))

    return predict


PEERS: Mapping[str, Peer] = {
    "svc": labels_only(SVC()),
    "forest": labels_only(RandomForestClassifier()),
    "spreading": all_rows(LabelSpreading(kernel="knn")),
    "propagation": all_rows(LabelPropagation(kernel="knn", max_iter=5_000)),
    "self_training": all_rows(SelfTrainingClassifier(SVC(probability=True))),
    "laplacian_svm": machine(LaplacianSVC(probability=False)),
    "transductive_svm": machine(TransductiveSVC()),
    "s3vm": machine(QuasiNewtonS3VC()),
}


def peer_result(fold: StudyFold, mixture: Mixture, name: str, peer: Peer, draw: Draw) -> Result:
    """Let a peer learn and test it."""
    codes = np.full(len(fold.train), UNLABELLED)
    codes[draw.labelled] = fold.train_codes[draw.labelled]
    start = perf_counter()
    lesson = Lesson(fold.train, codes, fold.test, mixture, draw.seed)
    with warnings.catch_warnings():  # peers are taken as they come, rows without a neighbour and all
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", InterruptedWarning)  # a machine that was stopped half way is no result
        try:
            right = peer(lesson) == fold.test_codes
        except InterruptedWarning:
            raise KeyboardInterrupt from None
    return Result(
        experiment=draw.experiment,
        data_set=fold.data_set,
        fold=fold.number,
        repeat=draw.repeat,
        method=name,
        reading=str(Reading.DEFAULT),
        accuracy=float(right.mean()),
        n_labelled=len(draw.labelled),
        training_s=perf_counter() - start,
        seed=draw.seed,
    )


def seeded(estimator: Any, seed: int) -> Any:
    """Give a copy of an estimator whose every seed, those of estimators inside included, is this one."""
    own = clone(estimator)
    seeds = [name for name in own.get_params() if name == "random_state" or name.endswith("__random_state")]
    return own.set_params(**dict.fromkeys(seeds, seed))
