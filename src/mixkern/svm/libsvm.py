"""libsvm on kernel matrices, with a repair of matrices on which it does not converge.

scikit-learn's estimators are fitted to precomputed matrices, and the result becomes a :class:`Dual`, so that
predictions need the kernel with support vectors only.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.svm import SVC, SVR, OneClassSVM

from mixkern.errors import KernelError, hint, ignored_warnings, warn
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import Repair, Repaired, definiteness, is_definite, repaired
from mixkern.svm.decision import Dual
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of

GAVE_UP = hint(
    python="Scale the columns, lower C or raise max_iter.",
    cli="Another kernel may converge, for example: --kernel rbf.",
)
MAX_ITER = 1_000_000  # where max_iter is -1: unlimited in scikit-learn; here a few seconds for thousands of rows
LARGEST_NU = 1 - 1e-9  # with sample weights


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return all pairs of classes, in libsvm's order.

    >>> pairs(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def n_classes_of(n_pairs: int) -> int:
    """Return the number of classes that have so many pairs.

    >>> [n_classes_of(n_pairs) for n_pairs in (1, 3, 45)]
    [2, 3, 10]
    """
    return round((1 + np.sqrt(1 + 8 * n_pairs)) / 2)


def pair_positions(n_classes: int) -> Ints:  # (c, c)
    """Return the position of each pair of classes in :func:`pairs`, in either order; those on the diagonal are -1.

    >>> pair_positions(3)
    array([[-1,  0,  1],
           [ 0, -1,  2],
           [ 1,  2, -1]])
    """
    positions = np.full((n_classes, n_classes), -1)
    first, second = np.triu_indices(n_classes, 1)
    positions[first, second] = positions[second, first] = np.arange(len(first))
    return positions


def classifier(
    K: Floats,
    codes: Ints,
    *,
    C: float = 1.0,
    sample_weight: Floats | None = None,
    class_weight: Mapping[int, float] | str | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    repair: str = Repair.AUTO,
) -> Dual:
    """Train a C-SVM, one against one.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Class of each, 0 to c - 1, none of them missing.

    Returns
    -------
    Dual
        One function for each pair of :func:`pairs`, positive for the first of the two.
    """
    svm = SVC(kernel="precomputed", C=C, class_weight=class_weight, tol=tol, max_iter=max_iter)
    return _guarded(svm, K, codes, sample_weight, repair)


def regressor(
    K: Floats,
    y: Floats,
    *,
    C: float = 1.0,
    epsilon: float = 0.1,
    sample_weight: Floats | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    repair: str = Repair.AUTO,
) -> Dual:
    """Train an epsilon-SVR; one function."""
    svm = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=tol, max_iter=max_iter)
    # On an indefinite matrix libsvm converges, at the edge of its box, to a function that has little to do with y.
    if repair == Repair.AUTO and not is_definite(K):
        repair = Repair.CLIP
    return _guarded(svm, K, y, sample_weight, repair)


def one_class(
    K: Floats,
    *,
    nu: float = 0.5,
    sample_weight: Floats | None = None,
    tol: float = 1e-3,
    max_iter: int = -1,
    repair: str = Repair.AUTO,
) -> Dual:
    """Train a one-class SVM; one function, positive inside."""
    if sample_weight is not None:
        # libsvm takes weights from the first row on until their sum is nu times that of all. Rounding errors could lead
        # it beyond the last row, and so beyond the end of its arrays.
        nu = min(nu, LARGEST_NU)
    svm = OneClassSVM(kernel="precomputed", nu=nu, tol=tol, max_iter=max_iter)
    return _guarded(svm, K, None, sample_weight, repair)


def _guarded(svm: Any, K: Floats, y: Any, sample_weight: Floats | None, repair: str) -> Dual:
    """Solve; where an indefinite matrix prevents convergence, warn and solve with the repaired matrix."""
    repair = one_of(Repair, repair, "repair")
    if svm.max_iter == -1:
        svm.max_iter = MAX_ITER
    is_repaired = repair in (Repair.CLIP, Repair.FLIP, Repair.SHIFT)
    dual = _solved_repaired(svm, K, y, sample_weight, repair) if is_repaired else _solved(svm, K, y, sample_weight)
    if dual.converged:
        return dual
    if is_repaired or is_definite(K):
        warn(_gave_up(svm), NotConvergedWarning, hint=GAVE_UP)
        return dual
    report = definiteness(K)
    facts = (
        f"libsvm has not converged after {svm.max_iter} iterations on a kernel matrix that is not positive "
        f"semi-definite: its smallest eigenvalue is {report.smallest:.3g}, and negative ones make up "
        f"{report.negative_mass:.1%} of its spectrum."
    )
    if repair is Repair.NONE:
        clip = hint(python="Repair the matrix: repair='clip'.")
        warn(f"{facts} The result so far is used.", NotConvergedWarning, hint=clip)
        return dual
    dual = _solved_repaired(svm, K, y, sample_weight, Repair.CLIP)
    again = "" if dual.converged else f" Then, {_gave_up(svm)}"
    warn(
        f"{facts} They were clipped, and the SVM was trained again.{again}",
        NotConvergedWarning,
        hint=hint(python="To clip them at once: repair='clip'."),
    )
    return dual


def _gave_up(svm: Any) -> str:
    return f"libsvm has not converged after {svm.max_iter} iterations. The result so far is used."


def _solved_repaired(svm: Any, K: Floats, y: Any, sample_weight: Floats | None, how: Repair) -> Dual:
    fixed = repaired(K, how)
    dual = for_given_rows(_solved(svm, fixed.matrix, y, sample_weight), fixed)
    return dual.by_class(y) if isinstance(svm, SVC) else dual


def for_given_rows(dual: Dual, fixed: Repaired) -> Dual:
    """Convert a dual of a repaired matrix to the given kernel values: f(x) = k_x P a, so a becomes P a."""
    n = len(fixed.matrix)
    spread = np.zeros((n, dual.coefficients.shape[1]))
    spread[dual.support] = dual.coefficients
    return replace(dual, support=np.arange(n), coefficients=fixed.rows(spread.T).T, change=fixed.change)


def _solved(svm: Any, K: Floats, y: Any, sample_weight: Floats | None) -> Dual:
    if sample_weight is not None and not sample_weight.all():
        # libsvm leaves such rows out and numbers the others anew, scikit-learn does not number them back
        kept = np.flatnonzero(sample_weight)
        dual = _solved(svm, K[np.ix_(kept, kept)], None if y is None else y[kept], sample_weight[kept])
        return replace(dual, support=kept[dual.support])
    # All arguments have been checked before, and checking takes longer than solving where labels are few.
    with (
        ignored_warnings(UserWarning),  # of convergence, and that many classes may be a regression
        config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        _fit(svm, K, y, sample_weight)
    coefficients, intercepts = svm.dual_coef_, svm.intercept_
    if isinstance(svm, SVC):
        coefficients, intercepts = _one_against_one(svm)
    else:
        coefficients = coefficients.T
    return Dual(
        svm.support_.astype(np.intp),
        np.ascontiguousarray(coefficients, dtype=float),
        np.array(intercepts, dtype=float),
        converged=not svm.fit_status_,
        n_iter=max(1, int(np.max(svm.n_iter_))),
    )


def _fit(svm: Any, K: Floats, y: Any, sample_weight: Floats | None) -> None:
    try:
        svm.fit(K, y, sample_weight=sample_weight)
    except ValueError as error:  # of scikit-learn: the only one that is left once all arguments are checked
        raise KernelError(
            "libsvm has found no finite solution: numbers are too large. Lower C or the sample weights, or express the "
            "targets in a larger unit."
        ) from error


def _one_against_one(svm: SVC) -> tuple[Floats, Floats]:
    """Expand libsvm's table, which holds the coefficients of each row against the c - 1 other classes."""
    table, counts = svm.dual_coef_, svm.n_support_
    if len(counts) == 2:  # scikit-learn turns the sign, so that positive is the second class
        return -table.T, -svm.intercept_
    ends, positions = np.append(0, np.cumsum(counts)), pair_positions(len(counts))
    unfolded = np.zeros((table.shape[1], len(svm.intercept_)))
    for label in range(len(counts)):
        own = slice(ends[label], ends[label + 1])  # the table is sorted by class
        unfolded[own, np.delete(positions[label], label)] = table[:, own].T
    return unfolded, svm.intercept_
