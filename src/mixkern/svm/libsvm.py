"""libsvm on kernel matrices, guarded against matrices that it does not converge on.

scikit-learn's machines do the work. They are given precomputed matrices, and what they learn becomes a :class:`Dual`,
so that nobody has to compute a kernel with rows that are not support vectors.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, OneClassSVM

from mixkern.errors import warn
from mixkern.kernels import Repair, Repaired, definiteness, is_definite, repaired
from mixkern.svm.dual import Dual, NotConvergedWarning
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of

MAX_ITER = 1_000_000  # where max_iter is -1: endless in scikit-learn; here a few seconds for thousands of rows


class Remedy(StrEnum):
    """What to do about a kernel matrix that is not positive semi-definite."""

    AUTO = "auto"  # clip where it does harm: always for numbers, for classes where libsvm does not converge
    NONE = "none"  # nothing, ever
    CLIP = "clip"
    FLIP = "flip"
    SHIFT = "shift"


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Give the pairs of classes that are told apart, in libsvm's order.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def classifier(
    K: Floats,
    codes: Ints,
    *,
    C: float = 1.0,
    sample_weight: Floats | None = None,
    class_weight: Mapping[int, float] | str | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    remedy: str = Remedy.AUTO,
) -> Dual:
    """Tell classes apart, one against one: the C-SVM.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Class of each, 0 to c - 1, none of them missing.

    Returns
    -------
    Dual
        One function for each pair of :func:`pairs`; positive speaks for the first of the two.
    """
    machine = SVC(kernel="precomputed", C=C, class_weight=class_weight, tol=tol, max_iter=max_iter)
    return _guarded(machine, K, codes, sample_weight, remedy)


def regressor(
    K: Floats,
    y: Floats,
    *,
    C: float = 1.0,
    epsilon: float = 0.1,
    sample_weight: Floats | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    remedy: str = Remedy.AUTO,
) -> Dual:
    """Follow numbers within a tube of width epsilon: the epsilon-SVR. One function."""
    machine = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=tol, max_iter=max_iter)
    # On an indefinite matrix libsvm converges, at the edge of its box, to a function that has little to do with y.
    if remedy == Remedy.AUTO and not is_definite(K):
        remedy = Remedy.CLIP
    return _guarded(machine, K, y, sample_weight, remedy)


def one_class(
    K: Floats,
    *,
    nu: float = 0.5,
    sample_weight: Floats | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    remedy: str = Remedy.AUTO,
) -> Dual:
    """Enclose all but a share nu of the rows. One function, positive inside."""
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=tol, max_iter=max_iter)
    return _guarded(machine, K, None, sample_weight, remedy)


def _guarded(machine: Any, K: Floats, y: Any, sample_weight: Floats | None, remedy: str) -> Dual:
    """Solve; where that fails for want of definiteness, say so and solve the repaired problem."""
    remedy = one_of(Remedy, remedy, "repair")
    if machine.max_iter == -1:
        machine.max_iter = MAX_ITER
    is_repaired = remedy in (Remedy.CLIP, Remedy.FLIP, Remedy.SHIFT)
    if is_repaired:
        dual = _solved_repaired(machine, K, y, sample_weight, Repair(remedy))
    else:
        dual = _solved(machine, K, y, sample_weight)
    if dual.converged:
        return dual
    report = definiteness(K)
    if is_repaired or report.is_definite:
        warn(_gave_up(machine), NotConvergedWarning)
        return dual
    facts = (
        f"libsvm has not converged after {machine.max_iter} iterations on a kernel matrix that is not positive "
        f"semi-definite: its smallest eigenvalue is {report.smallest:.3g}, and negative ones make up "
        f"{report.negative_mass:.1%} of its spectrum."
    )
    if remedy is Remedy.NONE:
        warn(f"{facts} What it has so far is used. Repair the matrix: repair='clip'.", NotConvergedWarning)
        return dual
    dual = _solved_repaired(machine, K, y, sample_weight, Repair.CLIP)
    again = "" if dual.converged else f" Then, {_gave_up(machine)}"
    warn(
        f"{facts} They were clipped, and it was trained again; repair='clip' does so at once.{again}",
        NotConvergedWarning,
    )
    return dual


def _gave_up(machine: Any) -> str:
    return (
        f"libsvm has not converged after {machine.max_iter} iterations. Scale the columns, lower C or raise max_iter; "
        "what it has so far is used."
    )


def _solved_repaired(machine: Any, K: Floats, y: Any, sample_weight: Floats | None, how: Repair) -> Dual:
    fixed = repaired(K, how)
    return for_given_rows(_solved(machine, fixed.matrix, y, sample_weight), fixed)


def for_given_rows(dual: Dual, fixed: Repaired) -> Dual:
    """Let a dual of a repaired matrix take kernel values as they are: f(x) = k_x P a, so a becomes P a."""
    n = len(fixed.matrix)
    spread = np.zeros((n, dual.coefficients.shape[1]))
    spread[dual.support] = dual.coefficients
    return replace(dual, support=np.arange(n), coefficients=fixed.rows(spread.T).T, change=fixed.change)


def _solved(machine: Any, K: Floats, y: Any, sample_weight: Floats | None) -> Dual:
    if sample_weight is not None and not sample_weight.all():
        # libsvm leaves such rows out and numbers the others anew, scikit-learn does not number them back
        kept = np.flatnonzero(sample_weight)
        dual = _solved(machine, K[np.ix_(kept, kept)], None if y is None else y[kept], sample_weight[kept])
        return replace(dual, support=kept[dual.support])
    # Everything was checked on the way here, and checking takes longer than solving where labels are few.
    with (
        warnings.catch_warnings(),
        config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(K, y, sample_weight=sample_weight)
    coefficients, intercepts = machine.dual_coef_, machine.intercept_
    if isinstance(machine, SVC):
        coefficients, intercepts = _one_against_one(machine)
    else:
        coefficients = coefficients.T
    return Dual(
        machine.support_.astype(np.intp),
        np.ascontiguousarray(coefficients, dtype=float),
        np.array(intercepts, dtype=float),
        converged=not machine.fit_status_,
        n_iter=max(1, int(np.max(machine.n_iter_))),
    )


def _one_against_one(machine: SVC) -> tuple[Floats, Floats]:
    """Unfold libsvm's table: of a row of class i, its coefficients against the c - 1 other classes."""
    table, counts = machine.dual_coef_, machine.n_support_
    if len(counts) == 2:  # scikit-learn turns the sign, so that positive is the second class
        return -table.T, -machine.intercept_
    of_class = np.repeat(np.arange(len(counts)), counts)
    unfolded = np.zeros((table.shape[1], len(machine.intercept_)))
    for q, (i, j) in enumerate(pairs(len(counts))):
        unfolded[of_class == i, q] = table[j - 1, of_class == i]
        unfolded[of_class == j, q] = table[i, of_class == j]
    return unfolded, machine.intercept_
