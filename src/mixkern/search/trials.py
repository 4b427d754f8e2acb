"""Order of the trials of a search: a grid, or Keerthi and Lin's line."""

from collections.abc import Iterator, Sequence

from mixkern.errors import OptionError
from mixkern.search.gram_cache import DistanceGramCache, GramCache
from mixkern.search.grid import KernelPoint, line
from mixkern.search.scoring import Scorer, SearchTrial


class Trials:
    """Trials of hyperparameters, one after the other.

    Parameters
    ----------
    cache : GramCache
        Kernel matrices.
    scorer : Scorer
        Labels and folds.
    """

    def __init__(self, cache: GramCache, scorer: Scorer) -> None:
        self._cache, self._scorer = cache, scorer

    def grid(self, points: Sequence[KernelPoint], C: Sequence[float]) -> Iterator[SearchTrial]:
        """Try every C with every kernel."""
        for point in points:
            yield from self._of_kernel(point, C)

    def lines(
        self, shapes: Sequence[tuple[float, float]], C: Sequence[float], gamma: Sequence[float]
    ) -> Iterator[SearchTrial]:
        """Try a linear SVM with every C, then the line through the best one, for each pair of alpha and beta."""
        assert isinstance(self._cache, DistanceGramCache)  # Laplacian kernels are refused before
        for alpha, beta in shapes:
            linear = []
            for trial in self._of_kernel(KernelPoint(None, alpha, beta), C):
                linear.append(trial)
                yield trial
            unit = self._cache.unit(alpha, beta)
            best = min(linear, key=lambda trial: trial.order)
            for c, g in line(best.C * unit, C, gamma):
                yield from self._of_kernel(KernelPoint(g, alpha, beta), [c])

    def _of_kernel(self, point: KernelPoint, C: Sequence[float]) -> Iterator[SearchTrial]:
        """Compute the matrices of a kernel once, and try every C with them."""
        among, towards = self._cache.among(point), self._cache.towards(point)
        for each in C:
            yield self._scorer.trial(point, each, among, towards)


def distinct_shapes(alpha: Sequence[float], beta: Sequence[float]) -> list[tuple[float, float]]:
    """Give the pairs of alpha and beta that differ in their ratio: a common factor is made up for by C.

    >>> len(distinct_shapes([1.0, 2.0], [1.0, 2.0]))  # (2, 2) has the ratio of (1, 1)
    3
    """
    pairs = [(a, b) for a in alpha for b in beta if a or b]
    if not pairs:
        raise OptionError("alpha and beta are both 0, so all rows would be equal.")
    return list({f"{b / (a + b):.9g}": (a, b) for a, b in reversed(pairs)}.values())[::-1]
