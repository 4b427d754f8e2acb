"""The state of a model that is saved: parameters and fitted attributes, without caches and callbacks."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

from mixkern.density import Mixture
from mixkern.encoding import CategoricalColumn, ContinuousColumn, Labels
from mixkern.errors import ModelFileError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.novelty import Novelty
from mixkern.storage.trust import ESTIMATORS, KERNELS, SEARCHES
from mixkern.svm import DecisionFunction
from mixkern.svm.one_vs_one import sklearn_sign

# Fitted attributes that predictions need; the kernel of _decision is kernel_, and the codes of _labels are empty.
FITTED = (
    "C_",
    "_decision",
    "_fitted_kind",
    "_labels",
    "_novelty",
    "_order",
    "bound_trace_",
    "class_table_",
    "classes_",
    "columns_",
    "converged_",
    "density_",
    "dual_coef_",
    "encoder_",
    "feature_names_in_",
    "fell_back_",
    "intercept_",
    "kernel_",
    "lower_bound_",
    "mixture_",
    "n_components_",
    "n_features_in_",
    "n_iter_",
    "n_labels_",
    "n_samples_seen_",
    "n_support_",
    "offset_",
    "repair_change_",
    "slope_",
    "support_",
    "support_vectors_",
)


def type_name(thing: object) -> str:
    """Return the name of an object's type, as in a file."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def state_of(thing: Any) -> Any:
    """Return a model, or a part of one, as it is saved.

    >>> state_of(np.float64(0.5)), state_of({"yes": 2})
    (0.5, [('yes', 2)])
    """
    if isinstance(thing, (BaseEstimator, Kernel)):
        return _estimator_state(thing)
    if isinstance(thing, Labels):
        return _category_type(thing.dtype)
    if isinstance(thing, DecisionFunction):
        return _with_attributes(thing, {"support": thing.support, "coefficients": thing.coefficients})
    if isinstance(thing, (Novelty, ContinuousColumn, CategoricalColumn)):
        return _with_attributes(thing, {field.name: state_of(getattr(thing, field.name)) for field in fields(thing)})
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, Mapping):  # skops converts keys to texts: False would become True
        return [(state_of(key), state_of(value)) for key, value in thing.items()]
    if isinstance(thing, (list, tuple)):
        return type(thing)(state_of(each) for each in thing)
    if thing is None or isinstance(thing, (bool, int, float, str, np.ndarray, np.random.RandomState, Mixture)):
        return thing
    raise ModelFileError(
        f"the model holds a {type_name(thing)}, and only numbers, texts, arrays and types of mixkern can be saved. "
        "Set it to something else, and fit again."
    )


def _estimator_state(thing: Any) -> Any:
    """Return a copy of an estimator or a kernel with the attributes that are saved."""
    if type_name(thing) not in (*ESTIMATORS, *SEARCHES, *KERNELS):
        raise ModelFileError(
            f"the model holds a {type_name(thing)}, and only estimators of mixkern and kernels of mixkern and "
            "scikit-learn can be saved. Fit it with one of those."
        )
    parts = thing.get_params(deep=False)
    if getattr(thing, "rows", None) is not None:  # of a graph
        parts["rows"] = np.asarray(thing.rows, dtype=float)
    parts |= {name: vars(thing)[name] for name in FITTED if name in vars(thing)}
    parts |= other_dual(thing, parts)
    return _with_attributes(thing, {name: state_of(part) for name, part in parts.items()})


def other_dual(estimator: Any, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Convert ``dual_coef_`` and ``intercept_`` between estimators and files, in either direction.

    Files have one row for each support vector, and values for two classes that are positive for the first.
    """
    sign = sklearn_sign(len(parts.get("classes_", ()))) if isinstance(estimator, MixtureSVC) else 1.0
    arrays = {name: parts[name].T for name in ("dual_coef_", "intercept_") if name in parts}
    return {name: np.ascontiguousarray(sign * array) for name, array in arrays.items()}


def _with_attributes(thing: Any, parts: dict[str, Any]) -> Any:
    """Return an object of the same type with only these attributes."""
    shell = object.__new__(type(thing))
    vars(shell).update(parts)
    return shell


def _category_type(dtype: Any) -> Any:
    """Return a pandas type of categories as plain values; None for labels of other types."""
    if dtype is None:
        return None
    kind = {"categories": dtype.categories.tolist(), "ordered": bool(dtype.ordered), "of": str(dtype.categories.dtype)}
    return state_of(kind)
