"""The way through the settings, one trial after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from mixkern.errors import OptionError
from mixkern.search.gram_cache import DistanceGrams, Grams
from mixkern.search.grid import KernelPoint, line
from mixkern.search.scoring import Judge, Scores


@dataclass(frozen=True, kw_only=True)
class SearchTrial(Scores):
    """One setting and what it has achieved, by every rating that could be given.

    Attributes
    ----------
    C, gamma, alpha, beta : float
        The setting; gamma is NaN for a linear machine, the first stage of a line.
    ratio : float
        Of a bent kernel, NaN for others.
    rating : str
        What ``error`` is: ``"optimistic"`` has read labels that nobody would have.
    validation_error, expected_error, optimistic_error : float
        The error by each rating; NaN where it could not be given.
    log_loss : float
        Mean surprise at the labels that were left out: decides between equal errors.
    confidence : float
        Mean probability of the predicted class on unlabelled rows; NaN where none was asked.
    n_support : float
        Mean number of support vectors in the folds.
    """

    C: float
    gamma: float
    alpha: float
    beta: float
    ratio: float
    rating: str

    @property
    def error(self) -> float:
        """What the setting is judged by."""
        return self.error_by(self.rating)

    @property
    def order(self) -> tuple[float, float]:
        """What trials are sorted by, the best first."""
        return self.order_by(self.rating)

    @property
    def point(self) -> KernelPoint:
        """The settings of its kernel."""
        gamma, ratio = (None if np.isnan(value) else value for value in (self.gamma, self.ratio))
        return KernelPoint(gamma, self.alpha, self.beta, ratio)

    @property
    def is_linear(self) -> bool:
        """Whether it is a trial of a linear machine, which finds the line but is not a result."""
        return bool(np.isnan(self.gamma))


class Tour:
    """Kernel matrices and a judge: what every trial needs."""

    def __init__(self, matrices: Grams, judge: Judge, rating: str) -> None:
        self._matrices, self._judge, self._rating = matrices, judge, rating

    def grid(self, points: Sequence[KernelPoint], C: Sequence[float]) -> Iterator[SearchTrial]:
        """Try every C with every kernel."""
        for point in points:
            yield from self._trials(point, C)

    def lines(
        self, shapes: Sequence[tuple[float, float]], C: Sequence[float], gamma: Sequence[float]
    ) -> Iterator[SearchTrial]:
        """Try a linear machine with every C, then the line of the best."""
        assert isinstance(self._matrices, DistanceGrams)  # bent kernels were refused
        for alpha, beta in shapes:
            linear = []
            for trial in self._trials(KernelPoint(None, alpha, beta), C):
                linear.append(trial)
                yield trial
            unit = self._matrices.unit(alpha, beta)
            best = min(linear, key=lambda trial: trial.order)
            for c, g in line(best.C * unit, C, gamma):
                yield from self._trials(KernelPoint(g, alpha, beta), [c])

    def _trials(self, point: KernelPoint, C: Sequence[float]) -> Iterator[SearchTrial]:
        """Make the kernel matrices of a point once, and judge every C by them."""
        among, towards = self._matrices.among(point), self._matrices.towards(point)
        for each in C:
            yield SearchTrial(
                C=each,
                gamma=np.nan if point.gamma is None else point.gamma,
                alpha=point.alpha,
                beta=point.beta,
                ratio=np.nan if point.ratio is None else point.ratio,
                rating=self._rating,
                **asdict(self._judge.scores(each, among, towards)),
            )


def distinct_shapes(alpha: Sequence[float], beta: Sequence[float]) -> list[tuple[float, float]]:
    """Give the pairs of alpha and beta that differ in their ratio: C makes up for their size."""
    pairs = [(a, b) for a in alpha for b in beta if a or b]
    if not pairs:
        raise OptionError("alpha and beta are both 0: nothing is left that rows could differ in.")
    return list({f"{b / (a + b):.9g}": (a, b) for a, b in reversed(pairs)}.values())[::-1]
