"""Whether the parts of a model fit together: shapes agree, and it predicts."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.density import VBMixture
from mixkern.encoding import TableEncoder
from mixkern.errors import ModelFileError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.base import MixtureEstimator
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.storage.archive import SAVE

TRIED = 3  # rows that a machine must be able to predict


def check_sound(model: Any) -> None:
    """Refuse a model whose parts do not fit together, by comparing shapes and by predicting a few rows."""
    check_is_fitted(model)
    if isinstance(model, TableEncoder):
        _check_encoder(model)
    elif isinstance(model, VBMixture):
        _check_density(model)
    else:
        _check_machine(model)
    _try(model)


def _agree(is_so: bool, what: str) -> None:
    if not is_so:
        raise ModelFileError(f"the parts of its model do not fit together: {what}.", hint=SAVE)


def _check_names(estimator: Any, n: int) -> None:
    _agree(estimator.n_features_in_ == n, "number of columns")
    _agree(len(getattr(estimator, "feature_names_in_", range(n))) == n, "names of columns")


def _check_encoder(encoder: TableEncoder) -> None:
    n = len(encoder.columns_)
    _check_names(encoder, n)
    names = [column.name for column in encoder.columns_]
    by_name = {name: i for i, name in enumerate(names)}
    expected = [by_name[name] for name in (*encoder.continuous_, *encoder.categorical_)]
    _agree(len(by_name) == n and vars(encoder)["_order"] == expected, "order of columns")
    _agree(list(getattr(encoder, "feature_names_in_", names)) == names, "names of columns")


def _check_density(density: VBMixture) -> None:
    _check_names(density, density.mixture_.n_features)


def _check_machine(machine: MixtureEstimator) -> None:
    mixture, encoder = machine.mixture_, machine.encoder_
    if encoder is None:
        _check_names(machine, mixture.n_features)
    else:
        _check_encoder(encoder)
        _check_names(machine, len(encoder.columns_))
        widths = encoder.n_continuous_, len(encoder.categorical_)
        _agree(widths == (mixture.n_continuous, len(mixture.categories)), "encoder and mixture")
    if machine.density_ is not None:
        _check_density(machine.density_)
        _agree(machine.density_.mixture_ == mixture, "density and mixture")
    q, n, hidden = len(machine.intercept_), mixture.n_features, vars(machine)
    decision = hidden["_decision"]
    _agree(decision.support.shape == (len(decision.coefficients), n), "rows and coefficients")
    _agree(machine.support_vectors_.shape == (len(machine.support_), n), "support vectors and mixture")
    _agree(machine.dual_coef_.shape == (len(machine.support_), q), "support vectors and coefficients")
    _agree(decision.coefficients.shape[1] == q == _n_functions(machine), "coefficients and classes")
    novelty = hidden["_novelty"]
    _agree(novelty.rows.shape[1] == n == novelty.sampled.shape[1], "training rows and mixture")


def _n_functions(machine: MixtureEstimator) -> int:
    """Count the decision functions that a machine has."""
    if not isinstance(machine, MixtureClassifier):
        return 1
    c = len(machine.classes_)
    if isinstance(machine, MixtureSVC):
        _agree(machine.n_support_.shape == (c,), "support vectors and classes")
        return c * (c - 1) // 2
    return 1 if c == 2 else c


def _try(model: Any) -> None:
    """Predict a few rows: some that are known, and one that has nothing but gaps."""
    if isinstance(model, TableEncoder):
        return
    if isinstance(model, VBMixture):
        model.mixture_.responsibilities(_blank(model.mixture_.n_features))
        return
    machine = _without_encoder(model)
    rows = np.vstack([vars(model)["_decision"].support[:TRIED], _blank(model.mixture_.n_features)])
    for name in ("predict", "predict_proba", "decision_function", "score_samples", "novelty", "responsibilities"):
        if hasattr(machine, name):
            _agree(len(getattr(machine, name)(rows)) == len(rows), name)


def _blank(n: int) -> Any:
    return np.full((1, n), np.nan)


def _without_encoder(model: Any) -> Any:
    """Give a machine that takes rows as they are encoded."""
    machine = copy(model)
    machine.encoder_, machine.n_features_in_ = None, model.mixture_.n_features
    vars(machine).pop("feature_names_in_", None)
    return machine
