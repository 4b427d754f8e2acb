"""One kernel on one fold: settings are rated on the labelled rows, chosen by each reading, and tested once.

Several draws of labels, those of all experiments and repeats, walk through the same settings side by side, because a
bent kernel is dear to make and does not depend on the labels.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from mixkern.density import Mixture, Rows
from mixkern.estimators.kernel_factory import KernelName, named_kernel, replaced
from mixkern.kernels import LaplacianKernel, definiteness
from mixkern.search import Rating, SearchTrial
from mixkern.search.gram_cache import DistanceGramCache, GramCache, LaplacianGramCache, LaplacianKernels
from mixkern.search.grid import KernelPoint, kernel_points
from mixkern.search.scoring import Scorer
from mixkern.search.trials import Trials
from mixkern.svm import DecisionFunction, Dual, Remedy, classifier
from mixkern.svm.decision import readable
from mixkern.svm.dual import NotConvergedWarning
from mixkern.svm.folds import Train, fewer_folds, label_folds
from mixkern.svm.one_vs_one import chosen, class_scores
from mixkern.typing import Floats, Ints
from mixkern_study.fold import StudyFold
from mixkern_study.protocol import RATED, DensityStrategy, Protocol, Reading
from mixkern_study.store import CellKey, Result

SHAPES = ((1.0, 1.0), (1.0, 0.1), (0.1, 1.0))  # alpha and beta of the first stage, where a table has categories
MOST_EIGENVALUES = 2_000  # rows whose kernel matrix is examined

Visits = Iterator[SearchTrial]
Stop = tuple[KernelPoint, tuple[float, ...]]  # a kernel, and every C to try with it


@dataclass(frozen=True, eq=False)
class Draw:
    """Which training rows have a label, in one experiment and one repeat."""

    experiment: int
    repeat: int
    labelled: Ints
    seed: int


@dataclass(frozen=True)
class Found:
    """A trial, the density that its kernel was made from, and the first reading that asked for it.

    A reading may not choose what only a later one, which has peeked at more, has asked for.
    """

    density: str
    trial: SearchTrial
    asked_by: Reading = RATED[0]


class Contest:
    """One kernel on one fold, for several draws of labels.

    Parameters
    ----------
    fold : StudyFold
        Rows to learn from and rows to test on.
    densities : mapping of str to Mixture
        The one found without labels first, then those that the ceiling chooses from.
    kernel : {"rwm", "gmm", "rbf", "lap"}
        Which kernel.
    protocol : Protocol
        Everything else.
    """

    def __init__(self, fold: StudyFold, densities: Mapping[str, Mixture], kernel: str, protocol: Protocol) -> None:
        self.fold, self.protocol, self.name = fold, protocol, KernelName(kernel)
        self.plain = next(iter(densities))
        self.has_density = self.name in (KernelName.RWM, KernelName.GMM)
        self.densities = dict(densities) if self.has_density else {self.plain: densities[self.plain]}
        if self.has_density and protocol.density == DensityStrategy.DEFAULT:  # the paper's own is taken as it is
            self.densities = {name: mixture.steadied(len(fold.train)) for name, mixture in densities.items()}
        self._fields = {name: _Field(self, mixture) for name, mixture in self.densities.items()}

    def results(self, draws: Sequence[Draw]) -> tuple[list[Result], list[tuple[CellKey, str, SearchTrial]]]:
        """Search, choose and test; give the results by every reading, and all trials."""
        start = perf_counter()
        tours = [
            {name: field.tour(draw, self.protocol.scout_rows) for name, field in self._fields.items()} for draw in draws
        ]
        found: list[list[Found]] = [[] for _ in draws]
        for name in self.densities:
            visits = [_walk(tour[name], self._first_stage()) for tour in tours]
            for abreast in zip(*visits, strict=True):
                for each, trial in zip(found, abreast, strict=True):
                    each.append(Found(name, trial))
        for tour, each in zip(tours, found, strict=True):
            self._second_stage(tour, each)
        finals = [self._final(draw, each) for draw, each in zip(draws, found, strict=True)]
        seconds = (perf_counter() - start) / len(draws)
        results: list[Result] = []
        trials: list[tuple[CellKey, str, SearchTrial]] = []
        for draw, each, final in zip(draws, found, finals, strict=True):
            n_trials = len(each) + len(final)
            tested = self._tested(draw, final or each)
            results += [replace(result, search_s=seconds, n_trials=n_trials) for result in tested]
            trials += [(self._key(draw), one.density, one.trial) for one in final or each]
        return results, trials

    def _key(self, draw: Draw) -> CellKey:
        return CellKey(draw.experiment, self.fold.data_set, self.fold.number, draw.repeat, str(self.name))

    # ---------------------------------------------------------------- settings

    def _first_stage(self) -> list[Stop]:
        """Give all kernels with every C, in an order in which neighbours share most work."""
        shapes = SHAPES if self.fold.is_mixed else SHAPES[:1]
        pairs: Sequence[tuple[float | None, tuple[float, ...]]] = [(None, self.protocol.C)]
        if self.name is KernelName.LAP:
            pairs = ratios(self.protocol)
        return [
            (KernelPoint(gamma, alpha, beta, ratio), C)
            for alpha, beta in shapes
            for gamma in self.protocol.gamma
            for ratio, C in pairs
        ]

    def _second_stage(self, tour: Mapping[str, Trials], found: list[Found]) -> None:
        """For tables with categories: all values of alpha and beta, at the best of the first stage by each reading.

        Not for LAP, whose graph would be another for each.
        """
        if not self.fold.is_mixed or self.name is KernelName.LAP:
            return
        for reading in RATED:
            best = self._best(found, reading)
            seen = {(one.trial.point.key, one.trial.C) for one in found if one.density == best.density}
            weights = self.protocol.weights
            points = kernel_points([best.trial.gamma], weights, weights, [best.trial.point.ratio])
            stops = [(point, (best.trial.C,)) for point in points if (point.key, best.trial.C) not in seen]
            found += [Found(best.density, trial, reading) for trial in _walk(tour[best.density], stops)]

    def _final(self, draw: Draw, found: list[Found]) -> list[Found]:
        """Rate the best settings by each reading again, on more rows; nothing where all rows were rated on already."""
        if len(draw.labelled) <= self.protocol.scout_rows:
            return []
        finalists: dict[tuple[Any, ...], Found] = {}
        for reading in RATED:
            for one in self._ordered(found, reading)[: self.protocol.n_finalists]:
                finalists.setdefault((one.density, one.trial.point.key, one.trial.C), replace(one, asked_by=reading))
        final = []
        for name, field in self._fields.items():
            mine = sorted((f for f in finalists.values() if f.density == name), key=lambda f: f.trial.point.order)
            if mine:
                visits = _walk(
                    field.tour(draw, self.protocol.max_labelled), [(f.trial.point, (f.trial.C,)) for f in mine]
                )
                final += [replace(one, trial=trial) for one, trial in zip(mine, visits, strict=True)]
        return final

    def _best(self, found: Iterable[Found], reading: Reading) -> Found:
        return self._ordered(found, reading)[0]

    def _ordered(self, found: Iterable[Found], reading: Reading) -> list[Found]:
        """Sort by a reading, the best first; the ceiling alone may choose among densities."""
        mine = [one for one in found if RATED.index(one.asked_by) <= RATED.index(reading)]
        of_choice = [one for one in mine if reading is Reading.CEILING or one.density == self.plain]
        return sorted(of_choice, key=lambda one: one.trial.order_by(_rating(reading)))

    # ---------------------------------------------------------------- testing

    def _tested(self, draw: Draw, found: list[Found]) -> Iterator[Result]:
        """Train with the chosen settings on all labelled rows, and test; equal choices once."""
        known: dict[tuple[Any, ...], Result] = {}
        for reading in RATED:
            best = self._best(found, reading)
            choice = (best.density, best.trial.point.key, best.trial.C)
            if choice not in known:
                known[choice] = self._test(draw, best)
            yield replace(known[choice], reading=str(reading), rated_error=best.trial.error_by(_rating(reading)))

    def _test(self, draw: Draw, best: Found) -> Result:
        field, trial = self._fields[best.density], best.trial
        codes = self.fold.train_codes[draw.labelled]
        start = perf_counter()
        kernel = field.kernel(trial.point)
        K = kernel(field.train[draw.labelled])
        built = perf_counter()
        dual = self._train(trial.C, K, codes)
        trained = perf_counter()
        support = readable(kernel, field.train[draw.labelled[dual.support]])
        decision = DecisionFunction(kernel, support, dual.coefficients, dual.intercepts)
        right = predicted(decision(field.test), codes) == self.fold.test_codes
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
            accuracy=float(right.mean()),
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
        with warnings.catch_warnings():  # a machine that has not converged is tested as it is
            warnings.simplefilter("ignore", NotConvergedWarning)
            return classifier(K, compact(codes), C=C)


class _Field:
    """A density, and the rows as the kernel reads them: what all draws of labels share."""

    def __init__(self, contest: Contest, mixture: Mixture) -> None:
        self._contest = contest
        base = named_kernel(contest.name, mixture)
        fold = contest.fold
        self.train, self.test = (Rows(readable(base, Rows(rows, mixture)), mixture) for rows in (fold.train, fold.test))
        self._base = base
        self._bent = None
        if contest.name is KernelName.LAP:
            random = np.random.RandomState(contest.protocol.seed_of(fold.data_set, fold.number, "graph"))
            graph = _some(np.arange(len(self.train)), contest.protocol.max_graph_rows, random)
            self._bent = LaplacianKernels(LaplacianKernel(base, readable(base, self.train[graph])))

    def kernel(self, point: KernelPoint) -> Any:
        """Give the kernel with its settings."""
        if self._bent is not None:
            return self._bent.kernel(point)
        return replaced(self._base, gamma=point.gamma, alpha=point.alpha, beta=point.beta)

    def tour(self, draw: Draw, most: int) -> Trials:
        """Give a tour through settings for one draw of labels, rated on so many of its rows at most."""
        protocol, fold = self._contest.protocol, self._contest.fold
        random = np.random.RandomState(draw.seed)
        rows = _some_of_each(draw.labelled, fold.train_codes[draw.labelled], most, random)
        others = _some(np.setdiff1d(np.arange(len(self.train)), draw.labelled), protocol.max_unlabelled, random)
        known, codes = np.unique(fold.train_codes[rows], return_inverse=True)
        folds = label_folds(codes, fewer_folds(codes, protocol.n_inner_folds), random)
        other_codes = None
        if len(others):
            position = np.full(fold.n_classes, -1)
            position[known] = np.arange(len(known))
            other_codes = position[fold.train_codes[others]]
        scorer = Scorer(codes, np.ones(len(codes)), folds, self._trainer, other_codes)
        return Trials(self._grams(self.train[rows], self.train[others] if len(others) else None), scorer)

    def _grams(self, labelled: Rows, others: Rows | None) -> GramCache:
        if self._bent is not None:
            return LaplacianGramCache(self._bent, labelled, others)
        return DistanceGramCache(self._base, labelled, others)

    def _trainer(self, C: float) -> Train:
        max_iter = self._contest.protocol.max_iter

        def train(K: Floats, codes: Ints, kept: Ints) -> Dual:  # noqa: ARG001
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotConvergedWarning)
                return classifier(K, codes, C=C, max_iter=max_iter, remedy=Remedy.NONE)

        return train


def compact(codes: Ints) -> Ints:
    """Give the classes that occur new numbers, from 0 without gaps."""
    return np.unique(codes, return_inverse=True)[1]


def predicted(values: Floats, codes: Ints) -> Ints:
    """Give predicted classes from decision values of a machine that was trained on some codes."""
    known = np.unique(codes)
    return known[chosen(class_scores(values, len(known)))]


def _rating(reading: Reading) -> Rating:
    return Rating.EXPECTED_ERROR if reading is Reading.EXPECTED_ERROR else Rating.OPTIMISTIC


def _walk(tour: Trials, stops: Iterable[Stop]) -> Visits:
    for point, C in stops:
        yield from tour.grid([point], C)


def ratios(protocol: Protocol) -> Sequence[tuple[float, tuple[float, ...]]]:
    """Give the ratios gamma_I / gamma_A that differ, and for each every C = 1 / gamma_A that comes with it."""
    found: dict[float, list[float]] = {}
    for intrinsic in protocol.intrinsic:
        for ambient in protocol.ambient:
            found.setdefault(_rounded(intrinsic / ambient), []).append(_rounded(1 / ambient))
    return [(ratio, tuple(sorted(found[ratio]))) for ratio in sorted(found)]


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")


def _some(rows: Ints, most: int, random: np.random.RandomState) -> Ints:
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))


def _some_of_each(rows: Ints, codes: Ints, most: int, random: np.random.RandomState) -> Ints:
    """Draw rows, classes in proportion but at least two of each that has as many."""
    if len(rows) <= most:
        return rows
    drawn = []
    for code in np.unique(codes):
        own = rows[codes == code]
        n = min(len(own), max(2, round(most * len(own) / len(rows))))
        drawn.append(random.choice(own, n, replace=False))
    return np.sort(np.concatenate(drawn))
