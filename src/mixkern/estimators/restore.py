"""Restore a fitted estimator from its parts, and check that they fit together."""

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import CompoundKernel, Exponentiation, KernelOperator

from mixkern.density import Rows
from mixkern.errors import ModelFileError, OptionError
from mixkern.estimators.novelty import Novelty
from mixkern.kernels import LaplacianKernel
from mixkern.parts import ROWS, agree, check_width, is_array, require
from mixkern.svm import DecisionFunction
from mixkern.wording import shortened

N_PREDICTED = 3  # support vectors that are predicted as a check
MOST_CELLS = 2**22  # numbers that predictions compute: where there are more than in the file, none are made as a check
PREDICTIONS = ("predict", "predict_proba", "decision_function", "score_samples", "novelty", "responsibilities")


def set_dual(estimator: Any, decision: DecisionFunction, sign: float) -> None:
    """Set the support vectors and their coefficients, which are the last rows of a decision function."""
    is_one = ROWS.accepts(decision.support) and is_array(decision.coefficients, 2)
    require(is_one and is_array(decision.intercepts, 1), "decision function")
    start = len(decision.support) - len(estimator.support_)
    is_deformed = isinstance(estimator.kernel_, LaplacianKernel)  # which has rows of its graph before them
    agree(start >= 0 if is_deformed else start == 0, "support vectors and decision function")
    agree(len(decision.coefficients) == len(decision.support), "rows and coefficients")
    coefficients = decision.coefficients[start:].T
    estimator.support_vectors_ = np.array(decision.support[start:])
    estimator.dual_coef_ = -coefficients if sign < 0 else np.array(coefficients)
    estimator.intercept_ = -decision.intercepts if sign < 0 else np.array(decision.intercepts)


def check_parts(estimator: Any, decision: DecisionFunction, novelty: Novelty, n_functions: int) -> None:
    """Raise an error for an estimator whose parts do not fit together: compare shapes, and predict a few rows."""
    try:
        estimator.check_parameters()
    except OptionError as error:
        raise ModelFileError(f"one of its parameters is invalid: {shortened(str(error), 200)}") from error
    mixture, encoder, density = estimator.mixture_, estimator.encoder_, estimator.density_
    n = mixture.n_features
    check_width(estimator, n if encoder is None else encoder.n_features_in_)
    if encoder is not None:
        widths = encoder.n_continuous_, len(encoder.categorical_)
        agree(widths == (mixture.n_continuous, len(mixture.categories)), "encoder and mixture")
    agree(density is None or density.mixture_ == mixture, "density and mixture")
    agree(decision.support.shape[1] == n, "support vectors and mixture")
    agree(decision.coefficients.shape[1] == len(decision.intercepts) == n_functions, "coefficients and classes")
    require(ROWS.accepts(novelty.rows) and ROWS.accepts(novelty.sampled) and len(novelty.rows), "novelty")
    agree(novelty.rows.shape[1] == n == novelty.sampled.shape[1], "training rows and mixture")
    most_rows = max(len(novelty.rows), len(novelty.sampled), len(decision.support), mixture.n_continuous**2)
    n_cells = mixture.n_components * most_rows  # of responsibilities, or of the metrics of all components
    if n_cells <= max(MOST_CELLS, mixture.covariances.size) and not _has_graph(decision.kernel):
        _check_predictions(estimator, decision)


def _check_predictions(estimator: Any, decision: DecisionFunction) -> None:
    """Predict a few support vectors, and a row of gaps."""
    mixture = estimator.mixture_
    values = np.vstack([decision.support[:N_PREDICTED], np.full((1, mixture.n_features), np.nan)])
    for name in PREDICTIONS:
        if hasattr(estimator, name):
            agree(len(getattr(estimator, name)(Rows(values, mixture))) == len(values), name)


def _has_graph(kernel: Any) -> bool:
    """Whether a kernel would compute a graph of many rows when it is evaluated."""
    waiting = [kernel]
    while waiting:
        part = waiting.pop()
        if isinstance(part, LaplacianKernel):
            return True
        if isinstance(part, KernelOperator):
            waiting += [part.k1, part.k2]
        elif isinstance(part, Exponentiation):
            waiting.append(part.kernel)
        elif isinstance(part, CompoundKernel):
            waiting += part.kernels
    return False
