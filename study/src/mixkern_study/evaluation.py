"""Evaluate one kernel on one fold: rate settings on the labelled rows, choose by each reading, and test once.

All draws of labels, those of all experiments and repeats, are rated with one kernel matrix before the next is computed:
a Laplacian kernel is expensive and does not depend on the labels.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from mixkern.defaults import KernelName
from mixkern.density import Mixture, Rows
from mixkern.estimators.kernel_factory import named_kernel, replaced
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import LaplacianKernel, Repair, definiteness
from mixkern.sampling import class_subsample, subsample
from mixkern.search import Scoring, SearchTrial
from mixkern.search.gram_cache import DistanceGramCache, GramCache, LaplacianGramCache, LaplacianKernels
from mixkern.search.grid import KernelPoint, kernel_points
from mixkern.search.trial import Settings
from mixkern.svm import DecisionFunction, Dual, classifier
from mixkern.svm.decision import values_for
from mixkern.svm.folds import Train, fewer_folds, label_folds
from mixkern.svm.one_vs_one import chosen, class_scores
from mixkern.typing import Floats, Ints
from mixkern_study.fold import StudyFold
from mixkern_study.protocol import RATED, DensityStrategy, Protocol, Reading, Responsibilities
from mixkern_study.rating import Rating, rated
from mixkern_study.record import CellKey, Result, Trial

LAP_SHAPES = ((1.0, 1.0), (1.0, 0.1), (0.1, 1.0), (0.0, 1.0))  # alpha and beta of LAP: each pair has its own graph
MOST_EIGENVALUES = 2_000  # rows whose kernel matrix is examined


@dataclass(frozen=True, eq=False)
class Draw:
    """The training rows that have a label, in one experiment and one repeat."""

    experiment: int
    repeat: int
    labelled: Ints
    seed: int
    labels: str = "components"  # how they were chosen


@dataclass(frozen=True)
class Candidate:
    """A trial, the density of its kernel, and the first reading that it was rated for.

    A reading may not choose trials that were rated on more rows for a later one, which has read more labels.
    """

    density: str
    trial: SearchTrial
    reading: Reading = RATED[0]


@dataclass(frozen=True)
class _Stage:
    """Labelled rows that settings are rated on, and how many of the best by each reading reach the next stage."""

    n_rows: int
    n_kept: int


class Evaluation:
    """One kernel on one fold, with several draws of labels.

    Parameters
    ----------
    fold : StudyFold
        Rows to learn from and rows to test on.
    densities : mapping of str to Mixture
        The one found without labels first, then those that the ceiling chooses from.
    kernel : {"rwm", "gmm", "rbf", "lap"}
        Which kernel.
    protocol : Protocol
        All other settings.
    """

    def __init__(self, fold: StudyFold, densities: Mapping[str, Mixture], kernel: str, protocol: Protocol) -> None:
        self.fold, self.protocol, self.name = fold, protocol, KernelName(kernel)
        self.plain = next(iter(densities))
        self.has_density = self.name in (KernelName.RWM, KernelName.GMM)
        self.is_swept = fold.is_mixed and self.name is not KernelName.LAP
        self.densities = dict(densities) if self.has_density else {self.plain: densities[self.plain]}
        if self.has_density:
            self.densities = {name: self._of_kernel(mixture) for name, mixture in self.densities.items()}
        self._rows = {name: _KernelRows(self, mixture) for name, mixture in self.densities.items()}

    def _of_kernel(self, mixture: Mixture) -> Mixture:
        """Return a density as RWM and GMM use it."""
        if self.protocol.density == DensityStrategy.DEFAULT:  # the paper's own is taken as it is
            mixture = mixture.steadied(len(self.fold.train))
        if self.name is KernelName.RWM and self.protocol.responsibilities == Responsibilities.NUMBERS:
            mixture = mixture.with_common_categories()
        return mixture

    def results(self, draws: Sequence[Draw]) -> list[tuple[list[Result], list[Trial]]]:
        """Search, choose and test; return for each draw the results by every reading, and the trials to store."""
        start = perf_counter()
        found: list[list[Candidate]] = [[] for _ in draws]
        for name, rows in self._rows.items():
            ratings = [rows.rating(draw, self._stages[0].n_rows) for draw in draws]
            for each, trials in zip(found, rated(ratings, self._settings(name)), strict=True):
                each += [Candidate(name, trial) for trial in trials]
        rounds = [self._rounds(draw, each) for draw, each in zip(draws, found, strict=True)]
        seconds = (perf_counter() - start) / len(draws)
        results = []
        for draw, (*earlier, last) in zip(draws, rounds, strict=True):
            facts: dict[str, Any] = {"search_s": seconds, "n_trials": sum(map(len, earlier)) + len(last)}
            tested = [replace(result, **facts) for result in self._tested(draw, last)]
            kept = self._kept(last)
            results.append((tested, [Trial.of(self._key(draw), one.density, one.trial) for one in kept]))
        return results

    def _kept(self, found: list[Candidate]) -> list[Candidate]:
        """Return the trials that are stored: the best alpha, beta and ratio of each C and gamma, by each reading."""
        best: dict[tuple[Any, ...], Candidate] = {}
        for reading in RATED:
            for one in self._ordered(found, reading):
                best.setdefault((reading, one.density, one.trial.C, one.trial.gamma), one)
        return list({id(one): one for one in best.values()}.values())

    def _key(self, draw: Draw) -> CellKey:
        return CellKey(draw.experiment, self.fold.data_set, self.fold.number, draw.repeat, str(self.name))

    # ---------------------------------------------------------------- settings

    def _settings(self, density: str) -> list[Settings]:
        """Return all kernels of a density with every C, in an order in which neighbours share most work."""
        protocol = self.protocol
        if self.name is KernelName.LAP:
            return [
                (KernelPoint(gamma, alpha, beta, ratio), C)
                for alpha, beta in (LAP_SHAPES if self.fold.is_mixed else LAP_SHAPES[:1])
                for gamma in protocol.gamma
                for ratio, C in ratios(protocol)
            ]
        weights = protocol.weights if density == self.plain else protocol.ceiling_weights
        weights = weights if self.fold.is_mixed else (1.0,)
        return [(point, protocol.C) for point in kernel_points(protocol.gamma, weights, weights, [None])]

    @property
    def _stages(self) -> tuple["_Stage", ...]:
        """How settings are rated where many rows are labelled; a sweep of alpha and beta has one stage more."""
        protocol = self.protocol
        stages = (_Stage(protocol.scout_rows, protocol.n_finalists), _Stage(protocol.max_labelled, 0))
        return (_Stage(protocol.sweep_rows, protocol.n_sweep_finalists), *stages) if self.is_swept else stages

    def _rounds(self, draw: Draw, found: list[Candidate]) -> list[list[Candidate]]:
        """Rate the best settings of each stage again on the rows of the next, until all labelled rows were used."""
        rounds = [found]
        for stage, after in pairwise(self._stages):
            if len(draw.labelled) <= stage.n_rows:
                break
            rounds.append(self._rated_again(draw, rounds[-1], stage.n_kept, after.n_rows))
        return rounds

    def _rated_again(self, draw: Draw, found: list[Candidate], n_kept: int, n_rows: int) -> list[Candidate]:
        """Rate the best settings by each reading on more rows."""
        best: dict[tuple[Any, ...], Candidate] = {}
        for reading in RATED:
            for one in self._ordered(found, reading)[:n_kept]:
                best.setdefault((one.density, one.trial.point.key, one.trial.C), replace(one, reading=reading))
        again = []
        for name, rows in self._rows.items():
            mine = sorted((one for one in best.values() if one.density == name), key=lambda one: one.trial.point.order)
            if mine:
                settings = [(one.trial.point, (one.trial.C,)) for one in mine]
                trials = rated([rows.rating(draw, n_rows)], settings)[0]
                again += [replace(one, trial=trial) for one, trial in zip(mine, trials, strict=True)]
        return again

    def _best(self, found: Iterable[Candidate], reading: Reading) -> Candidate:
        return self._ordered(found, reading)[0]

    def _ordered(self, found: Iterable[Candidate], reading: Reading) -> list[Candidate]:
        """Sort by a reading, the best first; the ceiling alone may choose among densities."""
        mine = [one for one in found if RATED.index(one.reading) <= RATED.index(reading)]
        of_choice = [one for one in mine if reading is Reading.CEILING or one.density == self.plain]
        return sorted(of_choice, key=lambda one: one.trial.order_by(_scoring(reading)))

    # ---------------------------------------------------------------- testing

    def _tested(self, draw: Draw, found: list[Candidate]) -> Iterator[Result]:
        """Train with the chosen settings on all labelled rows, and test; equal choices once."""
        tested: dict[tuple[Any, ...], Result] = {}
        for reading in RATED:
            best = self._best(found, reading)
            choice = (best.density, best.trial.point.key, best.trial.C)
            if choice not in tested:
                tested[choice] = self._test(draw, best)
            yield replace(tested[choice], reading=str(reading), rated_error=best.trial.error_by(_scoring(reading)))

    def _test(self, draw: Draw, best: Candidate) -> Result:
        rows, trial = self._rows[best.density], best.trial
        codes = self.fold.train_codes[draw.labelled]
        start = perf_counter()
        kernel = rows.kernel(trial.point)
        K = kernel(rows.train[draw.labelled])
        built = perf_counter()
        dual = self._train(trial.C, K, codes)
        trained = perf_counter()
        support = values_for(kernel, rows.train[draw.labelled[dual.support]])
        decision = DecisionFunction(kernel, support, dual.coefficients, dual.intercepts)
        is_correct = predicted(decision(rows.test), codes) == self.fold.test_codes
        tested = perf_counter()
        report = None
        if self.name is KernelName.RWM:
            some = np.linspace(0, len(K) - 1, min(len(K), MOST_EIGENVALUES)).astype(int)
            report = definiteness(K[np.ix_(some, some)])
        return Result(
            experiment=draw.experiment,
            data_set=self.fold.data_set,
            fold=self.fold.number,
            repeat=draw.repeat,
            method=str(self.name),
            reading="",
            accuracy=float(is_correct.mean()),
            n_labelled=len(draw.labelled),
            n_support=len(dual.support),
            C=trial.C,
            gamma=trial.gamma,
            alpha=trial.alpha,
            beta=trial.beta,
            ratio=trial.ratio,
            density=best.density if self.has_density else "",
            n_components=self.densities[best.density].n_components if self.has_density else 0,
            smallest_eigenvalue=np.nan if report is None else report.smallest,
            negative_mass=np.nan if report is None else report.negative_mass,
            building_s=built - start,
            training_s=trained - built,
            testing_s=tested - trained,
            seed=draw.seed,
        )

    @staticmethod
    def _train(C: float, K: Floats, codes: Ints) -> Dual:
        with warnings.catch_warnings():  # a classifier that has not converged is tested as it is
            warnings.simplefilter("ignore", NotConvergedWarning)
            return classifier(K, compact(codes), C=C)


class _KernelRows:
    """The base kernel of one density, and the rows as it reads them: shared by all draws of labels."""

    def __init__(self, evaluation: Evaluation, mixture: Mixture) -> None:
        self._evaluation = evaluation
        base = named_kernel(evaluation.name, mixture)
        fold = evaluation.fold
        self.train = Rows(values_for(base, Rows(fold.train, mixture)), mixture)
        self.test = Rows(values_for(base, Rows(fold.test, mixture)), mixture)
        self._base = base
        self._laplacian = None
        if evaluation.name is KernelName.LAP:
            random = np.random.RandomState(evaluation.protocol.seed_of(fold.data_set, fold.number, "graph"))
            graph = np.sort(subsample(np.arange(len(self.train)), evaluation.protocol.max_graph_rows, random))
            kernel = laplacian_kernel(base, values_for(base, self.train[graph]), evaluation.protocol)
            self._laplacian = LaplacianKernels(kernel, self.train)

    def kernel(self, point: KernelPoint) -> Any:
        """Return the kernel with its settings."""
        if self._laplacian is not None:
            return self._laplacian.kernel(point)
        return replaced(self._base, gamma=point.gamma, alpha=point.alpha, beta=point.beta)

    def rating(self, draw: Draw, most: int) -> Rating:
        """Return what rates settings for one draw of labels, on at most ``most`` of its rows."""
        protocol, fold = self._evaluation.protocol, self._evaluation.fold
        random = np.random.RandomState(draw.seed)
        rows = draw.labelled
        if len(rows) > most:
            rows = rows[class_subsample(fold.train_codes[rows], most, random)]
        others = np.setdiff1d(np.arange(len(self.train)), draw.labelled)
        others = np.sort(subsample(others, protocol.max_unlabelled, random))
        known, codes = np.unique(fold.train_codes[rows], return_inverse=True)
        folds = label_folds(codes, fewer_folds(codes, protocol.n_inner_folds), random)
        other_codes = None
        if len(others):
            position = np.full(fold.n_classes, -1)
            position[known] = np.arange(len(known))
            other_codes = position[fold.train_codes[others]]
        return Rating(self._grams(rows, others), codes, folds, self._trainer, other_codes, protocol.max_iter)

    def _grams(self, rows: Ints, others: Ints) -> GramCache:
        """Return the matrices among some training rows, and between others and these."""
        labelled, unlabelled = self.train[rows], self.train[others] if len(others) else None
        if self._laplacian is not None:
            kernels = self._laplacian
            return LaplacianGramCache(kernels.last, labelled, unlabelled, kernels, (rows, others))
        return DistanceGramCache(self._base, labelled, unlabelled)

    def _trainer(self, C: float) -> Train:
        max_iter = self._evaluation.protocol.max_iter

        def train(K: Floats, codes: Ints, kept: Ints) -> Dual:  # noqa: ARG001
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConvergedWarning)
                return classifier(K, codes, C=C, max_iter=max_iter, repair=Repair.NONE)

        return train


def laplacian_kernel(base: Any, rows: Any, protocol: Protocol) -> LaplacianKernel:
    """Return the kernel LAP of a protocol on the graph of some rows."""
    return LaplacianKernel(
        base,
        rows,
        degree=protocol.degree,
        weights=protocol.graph_weights,
        normalised=protocol.normalised,
    )


def compact(codes: Ints) -> Ints:
    """Return class codes renumbered from 0 without gaps."""
    return np.unique(codes, return_inverse=True)[1]


def predicted(values: Floats, codes: Ints) -> Ints:
    """Return predicted classes from the decision values of a classifier that was trained on some codes."""
    known = np.unique(codes)
    return known[chosen(class_scores(values, len(known)))]


def _scoring(reading: Reading) -> Scoring:
    return Scoring.NEG_EXPECTED_ERROR if reading is Reading.EXPECTED_ERROR else Scoring.OPTIMISTIC_ACCURACY


def ratios(protocol: Protocol) -> Sequence[tuple[float, tuple[float, ...]]]:
    """Return the ratios gamma_I / gamma_A that differ, each with every C = 1 / gamma_A that occurs with it."""
    found: dict[float, list[float]] = {}
    for intrinsic in protocol.intrinsic:
        for ambient in protocol.ambient:
            found.setdefault(_rounded(intrinsic / ambient), []).append(_rounded(1 / ambient))
    return [(ratio, tuple(sorted(found[ratio]))) for ratio in sorted(found)]


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")
