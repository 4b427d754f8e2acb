"""Many small C-SVMs at once: sequential minimal optimisation, one step of all problems at a time.

A search over C, gamma and the weights of a kernel trains thousands of classifiers on a handful of labels. Each takes
libsvm some microseconds, and ten times as long to be called. Here the problems are rows of arrays, and every step is
one operation on all of them. Steps and the end are those of libsvm (Fan, Chen and Lin, 2005: the pair of largest
decrease to second order; stop where the largest violation is below the tolerance).
"""

from dataclasses import dataclass

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
    solver = _Solver(K, kernel[setting], problems.rows[which], problems.signs[which], C[setting])
    beta, intercepts = solver.solve(max_iter)
    coefficients = np.zeros((len(setting), n + 1))  # the last place is that of no row
    np.put_along_axis(coefficients, problems.rows[which], beta, axis=1)
    return PairSolutions(
        coefficients[:, :n].reshape(n_settings, len(kept), n_pairs, n).swapaxes(2, 3),
        intercepts.reshape(n_settings, len(kept), n_pairs),
    )


class _Solver:
    """Binary problems, one for each row of its arrays: coefficients are y_i alpha_i, so signs are in their bounds.

    So many problems are solved at a time that their arrays stay in the processor's cache; those that are finished are
    replaced by the next.
    """

    def __init__(self, K: Floats, kernel: Ints, rows: Ints, signs: Floats, C: Floats) -> None:
        self.n = K.shape[1]
        self.values = np.ascontiguousarray(K).reshape(-1)
        self.problems = kernel * self.n**2, rows % self.n, signs, signs * C[:, None]
        self.shape = rows.shape
        self._keep(np.zeros(0, dtype=np.intp), slice(0))

    def solve(self, max_iter: int) -> tuple[Floats, Floats]:
        """Return the coefficients and the intercept of each problem."""
        beta, intercepts, n_loaded = np.zeros(self.shape), np.zeros(self.shape[0]), 0
        which, n_steps = np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)  # problems at work
        size = max(1, AT_ONCE // self.shape[1])
        while n_loaded < len(beta) or len(which):
            top, i, bottom = self._violation()
            is_open = (top - bottom > TOL) & (n_steps < min(max_iter, PATIENCE))
            if is_open.sum() < KEPT * min(size, len(which) + len(beta) - n_loaded):
                done = ~is_open
                beta[which[done]] = self.beta[done]
                intercepts[which[done]] = self._intercepts(done, top, bottom)
                for p in which[done & (top - bottom > TOL)]:
                    beta[p], intercepts[p] = self._by_libsvm(p, max_iter)
                n_more = min(size - is_open.sum(), len(beta) - n_loaded)
                self._keep(np.flatnonzero(is_open), slice(n_loaded, n_loaded + n_more))
                which = np.append(which[is_open], np.arange(n_loaded, n_loaded + n_more))
                n_steps = np.append(n_steps[is_open], np.zeros(n_more, dtype=np.intp))
                n_loaded += n_more
                continue
            self._step(top, i, is_open)
            n_steps += 1
        return beta, intercepts

    def _by_libsvm(self, p: int, max_iter: int) -> tuple[Floats, float]:
        """Return the coefficients and the intercept of a problem that needs many steps."""
        start, rows, signs, bounds = (each[p] for each in self.problems)
        at = np.flatnonzero(signs)
        K = self.values[start + rows[at, None] * self.n + rows[at]]
        C = float(np.abs(bounds).max())
        with ignored_warnings(NotConvergedWarning):
            dual = classifier(K, (signs[at] < 0).astype(int), C=C, tol=TOL, max_iter=max_iter, repair=Repair.NONE)
        beta = np.zeros(len(rows))
        beta[at[dual.support]] = dual.coefficients[:, 0]
        return beta, float(dual.intercepts[0])

    def _keep(self, kept: Ints, new: slice) -> None:
        """Go on with some of the problems at work, and with new ones."""
        starts, rows, signs, bounds = (each[new] for each in self.problems)
        added = {
            "starts": starts,  # of each problem's matrix
            "rows": rows,  # no row is the last one, whose bounds of no width exclude it
            "lower": np.minimum(0.0, bounds),
            "upper": np.maximum(0.0, bounds),
            "beta": np.zeros(rows.shape),
            "gradient": signs,  # y_i - sum_j K_ij beta_j
            "diagonal": self.values[starts[:, None] + rows * (self.n + 1)],
        }
        for name, values in added.items():
            setattr(self, name, np.concatenate([getattr(self, name)[kept], values]) if len(kept) else values.copy())

    def _violation(self) -> tuple[Floats, Ints, Floats]:
        """Return the largest gradient among coefficients that may grow, where it is, and the least among the others."""
        rising = np.where(self.beta < self.upper, self.gradient, -np.inf)
        falling = np.where(self.beta > self.lower, self.gradient, np.inf)
        i = rising.argmax(axis=1)
        return rising[np.arange(len(i)), i], i, falling.min(axis=1)

    def _step(self, top: Floats, i: Ints, is_open: Bools) -> None:
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
        self.gradient -= delta[:, None] * (K_i - self._kernel_rows(j))

    def _kernel_rows(self, position: Ints) -> Floats:
        """Return the kernel between one row of each problem and all of its rows."""
        row = self.rows[np.arange(len(position)), position]
        return self.values[(self.starts + row * self.n)[:, None] + self.rows]

    def _intercepts(self, which: Bools, top: Floats, bottom: Floats) -> Floats:
        """Return the mean gradient of coefficients between their bounds; where there are none, the middle."""
        is_free = (self.beta[which] > self.lower[which]) & (self.beta[which] < self.upper[which])
        n_free = is_free.sum(axis=1)
        mean = np.where(is_free, self.gradient[which], 0.0).sum(axis=1) / np.maximum(n_free, 1)
        return np.where(n_free > 0, mean, (top[which] + bottom[which]) / 2)
