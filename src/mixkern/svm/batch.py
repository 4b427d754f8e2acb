"""Many small C-SVMs at once: sequential minimal optimisation, one step of all problems at a time.

A search over C, gamma and the weights of a kernel trains thousands of classifiers on a handful of labels. Each takes
libsvm some microseconds, and ten times as long to be called. Here the problems are rows of arrays, and every step is
one operation on all of them. Steps and the end are those of libsvm (Fan, Chen and Lin, 2005: the pair of largest
decrease to second order; stop where the largest violation is below the tolerance).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixkern.errors import ignored_warnings
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import Repair
from mixkern.svm.libsvm import classifier
from mixkern.svm.one_vs_one import n_functions
from mixkern.typing import Bools, Floats, Ints

TOL = 1e-3  # largest violation, as in libsvm
TINY = 1e-12  # least curvature of a step: kernels need not be positive semi-definite
KEPT = 0.8  # finished problems are replaced once fewer than this share is unfinished
AT_ONCE = 2**15  # rows of all problems at work: their arrays have 256 KiB each
PATIENCE = 1_000  # steps after which a problem is left to libsvm, which is then quicker
NONE = -1  # in rows of a problem: no row, all rows of shorter problems are at the front


@dataclass(frozen=True, eq=False)
class PairProblems:
    """Which rows each classifier of a pair of classes is trained on.

    Attributes
    ----------
    rows : ndarray of int, shape (q, r)
        Positions of the training rows of each problem, then -1 up to the longest.
    signs : ndarray of shape (q, r)
        1 for rows of the first class of the pair, -1 for those of the second, 0 for no row.
    """

    rows: Ints
    signs: Floats

    @classmethod
    def of(cls, codes: Ints, kept: Bools) -> "PairProblems":
        """List the problems of all pairs of classes, for each set of training rows.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            Class of each row, 0 to c - 1.
        kept : ndarray of bool, shape (f, n)
            Training rows of each set; each has rows of every class.

        Returns
        -------
        PairProblems
            Of f c (c - 1) / 2 problems: all pairs of the first set, then those of the second.
        """
        n_classes = int(codes.max()) + 1
        found = [
            (np.append(np.flatnonzero(part & (codes == a)), np.flatnonzero(part & (codes == b))), a)
            for part in kept
            for a in range(n_classes)
            for b in range(a + 1, n_classes)
        ]
        rows = np.full((len(found), max(len(each) for each, _ in found)), NONE)
        signs = np.zeros(rows.shape)
        for i, (each, first) in enumerate(found):
            rows[i, : len(each)] = each
            signs[i, : len(each)] = np.where(codes[each] == first, 1.0, -1.0)
        return cls(rows, signs)


@dataclass(frozen=True, eq=False)
class PairSolutions:
    """Classifiers of pairs of classes: f(x) = sum_i coefficients_i k(x, x_i) + intercept.

    Attributes
    ----------
    coefficients : ndarray of shape (t, f, n, c (c - 1) / 2)
        For each setting, each set of training rows, each row and each pair.
    intercepts : ndarray of shape (t, f, c (c - 1) / 2)
        The same for intercepts.
    """

    coefficients: Floats
    intercepts: Floats


def pair_classifiers(
    K: Floats, codes: Ints, kept: Bools, kernel: Ints, C: Floats, *, max_iter: int = 20_000
) -> PairSolutions:
    """Train one against one with several kernels, values of C and sets of training rows.

    Parameters
    ----------
    K : ndarray of shape (p, n, n)
        Kernel matrices.
    codes : ndarray of int, shape (n,)
        Class of each row, 0 to c - 1.
    kept : ndarray of bool, shape (f, n)
        Training rows of each set.
    kernel, C : ndarray of shape (t,)
        Settings: the position of a kernel matrix, and a value of C.
    max_iter : int, default=20000
        Steps at most.

    Returns
    -------
    PairSolutions
        As those of :func:`~mixkern.svm.classifier` for each setting and each set of training rows, to the tolerance.

    Examples
    --------
    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> K, codes, everything = np.outer(x, x)[None], np.array([1, 1, 0, 0]), np.ones((1, 4), dtype=bool)
    >>> found = pair_classifiers(K, codes, everything, np.array([0]), np.array([9.0]))
    >>> found.coefficients[0, 0, :, 0], found.intercepts[0, 0]
    (array([ 0. , -0.5,  0.5,  0. ]), array([0.]))
    """
    problems, n, n_pairs = PairProblems.of(codes, kept), K.shape[1], n_functions(int(codes.max()) + 1)
    n_settings, n_problems = len(kernel), len(problems.rows)
    setting, which = np.repeat(np.arange(n_settings), n_problems), np.tile(np.arange(n_problems), n_settings)
    signs = problems.signs[which]
    beta, intercepts = _Binary(
        values=np.ascontiguousarray(K).reshape(-1),
        n=n,
        starts=kernel[setting] * n**2,
        rows=problems.rows[which] % n,
        signs=signs,
        bounds=signs * C[setting, None],
    ).solve(max_iter)
    coefficients = np.zeros((len(setting), n + 1))  # the last place is that of no row
    np.put_along_axis(coefficients, problems.rows[which], beta, axis=1)
    return PairSolutions(
        coefficients[:, :n].reshape(n_settings, len(kept), n_pairs, n).swapaxes(2, 3),
        intercepts.reshape(n_settings, len(kept), n_pairs),
    )


@dataclass(frozen=True, eq=False)
class _Binary:
    """Binary problems that wait, one for each row of the arrays."""

    values: Floats  # of all kernel matrices, one after the other
    n: int  # rows of a matrix
    starts: Ints  # (q,): where the matrix of each problem begins
    rows: Ints  # (q, r): no row is the last one, whose bounds of no width exclude it
    signs: Floats  # (q, r): y_i
    bounds: Floats  # (q, r): y_i C

    def solve(self, max_iter: int) -> tuple[Floats, Floats]:
        """Return the coefficients and the intercept of each problem.

        So many problems are at work that their arrays stay in the processor's cache; those that are finished are
        replaced by the next.
        """
        n, n_started = len(self.rows), 0
        beta, intercepts = np.zeros(self.rows.shape), np.zeros(n)
        size, limit = max(1, AT_ONCE // self.rows.shape[1]), min(max_iter, PATIENCE)
        which = n_steps = np.zeros(0, dtype=np.intp)  # problems at work, and how many steps each has made
        work = self._begin(slice(0))
        while n_started < n or len(which):
            top, i, bottom = work.violation()
            is_open = (top - bottom > TOL) & (n_steps < limit)
            if is_open.sum() >= KEPT * min(size, len(which) + n - n_started):
                work.step(top, i, is_open)
                n_steps = n_steps + 1
                continue
            done = ~is_open
            beta[which[done]] = work.beta[done]
            intercepts[which[done]] = work.intercepts(top, bottom)[done]
            for p in which[done & (top - bottom > TOL)]:
                beta[p], intercepts[p] = self._by_libsvm(p, max_iter)
            n_more = min(size - int(is_open.sum()), n - n_started)
            work = work.continued(np.flatnonzero(is_open), self._begin(slice(n_started, n_started + n_more)))
            which = np.append(which[is_open], np.arange(n_started, n_started + n_more))
            n_steps = np.append(n_steps[is_open], np.zeros(n_more, dtype=np.intp))
            n_started += n_more
        return beta, intercepts

    def _begin(self, which: slice) -> "_AtWork":
        starts, rows, bounds = self.starts[which], self.rows[which], self.bounds[which]
        return _AtWork(
            values=self.values,
            n=self.n,
            starts=starts,
            rows=rows,
            lower=np.minimum(0.0, bounds),
            upper=np.maximum(0.0, bounds),
            diagonal=self.values[starts[:, None] + rows * (self.n + 1)],
            beta=np.zeros(rows.shape),
            gradient=self.signs[which].copy(),
        )

    def _by_libsvm(self, p: int, max_iter: int) -> tuple[Floats, float]:
        """Return the coefficients and the intercept of a problem that needs many steps."""
        at = np.flatnonzero(self.signs[p])
        rows, codes = self.rows[p, at], (self.signs[p, at] < 0).astype(int)
        K, C = self.values[self.starts[p] + rows[:, None] * self.n + rows], float(np.abs(self.bounds[p]).max())
        with ignored_warnings(NotConvergedWarning):
            dual = classifier(K, codes, C=C, tol=TOL, max_iter=max_iter, repair=Repair.NONE)
        beta = np.zeros(self.rows.shape[1])
        beta[at[dual.support]] = dual.coefficients[:, 0]
        return beta, float(dual.intercepts[0])


@dataclass(frozen=True, eq=False)
class _AtWork:
    """Binary problems at work: coefficients are y_i alpha_i, so signs are in their bounds."""

    values: Floats
    n: int
    starts: Ints  # (q,)
    rows: Ints  # (q, r), and so are all others
    lower: Floats
    upper: Floats
    diagonal: Floats  # K_ii
    beta: Floats
    gradient: Floats  # y_i - sum_j K_ij beta_j

    def violation(self) -> tuple[Floats, Ints, Floats]:
        """Return the largest gradient among coefficients that may grow, where it is, and the least among the others."""
        rising = np.where(self.beta < self.upper, self.gradient, -np.inf)
        falling = np.where(self.beta > self.lower, self.gradient, np.inf)
        i = rising.argmax(axis=1)
        return rising[np.arange(len(i)), i], i, falling.min(axis=1)

    def step(self, top: Floats, i: Ints, is_open: Bools) -> None:
        """Move the pair of coefficients that decreases each objective most, to second order."""
        at = np.arange(len(i))
        K_i = self._kernel_rows(i)
        slope = top[:, None] - self.gradient
        curvature = np.maximum(self.diagonal[at, i][:, None] + self.diagonal - 2 * K_i, TINY)
        can_fall = (self.beta > self.lower) & (slope > 0)
        j = np.where(can_fall, slope * slope / curvature, -1.0).argmax(axis=1)
        room_i, room_j = self.upper[at, i] - self.beta[at, i], self.beta[at, j] - self.lower[at, j]
        delta = np.minimum(slope[at, j] / curvature[at, j], np.minimum(room_i, room_j))
        delta[~is_open] = 0.0
        # At a bound exactly: what rounding leaves would be moved again and again.
        self.beta[at, i] = np.where(delta == room_i, self.upper[at, i], self.beta[at, i] + delta)
        self.beta[at, j] = np.where(delta == room_j, self.lower[at, j], self.beta[at, j] - delta)
        self.gradient[:] -= delta[:, None] * (K_i - self._kernel_rows(j))

    def _kernel_rows(self, position: Ints) -> Floats:
        """Return the kernel between one row of each problem and all of its rows."""
        row = self.rows[np.arange(len(position)), position]
        return self.values[(self.starts + row * self.n)[:, None] + self.rows]

    def intercepts(self, top: Floats, bottom: Floats) -> Floats:
        """Return the mean gradient of coefficients between their bounds; where there are none, the middle."""
        is_free = (self.beta > self.lower) & (self.beta < self.upper)
        n_free = is_free.sum(axis=1)
        mean = np.where(is_free, self.gradient, 0.0).sum(axis=1) / np.maximum(n_free, 1)
        with np.errstate(invalid="ignore"):
            return np.where(n_free > 0, mean, (top + bottom) / 2)

    def continued(self, kept: Ints, new: "_AtWork") -> "_AtWork":
        """Return some of these problems, and new ones."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(self, name)[kept], getattr(new, name)])
            for name in ("starts", "rows", "lower", "upper", "diagonal", "beta", "gradient")
        }
        return replace(self, **arrays)
