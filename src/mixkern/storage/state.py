"""What of a model goes into a file: settings and what was learned, without caches, rows to go on from and callbacks."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import Kernel

from mixkern.density import Mixture, VBMixture
from mixkern.encoding import CategoricalColumn, ContinuousColumn, Labels
from mixkern.errors import ModelFileError
from mixkern.estimators.novelty import Novelty
from mixkern.storage.trust import ESTIMATORS, KERNELS
from mixkern.svm import DecisionFunction

# What fit has learned and predictions need; _decision has the kernel kernel_, and the codes of _labels are empty.
LEARNED = (
    "C_",
    "_decision",
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
    "n_support_",
    "offset_",
    "repair_change_",
    "slope_",
    "support_",
    "support_vectors_",
)


def type_name(thing: object) -> str:
    """Name the type of an object as a file does."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def bare(thing: Any) -> Any:
    """Give a model, or a part of one, as it goes into a file.

    >>> bare(np.float64(0.5)), bare({"yes": 2})
    (0.5, [('yes', 2)])
    """
    if isinstance(thing, (BaseEstimator, Kernel)):
        return _shell(thing)
    if isinstance(thing, Labels):
        return _category_type(thing.dtype)
    if isinstance(thing, DecisionFunction):
        return _emptied(thing, {"support": thing.support, "coefficients": thing.coefficients})
    if isinstance(thing, (Novelty, ContinuousColumn, CategoricalColumn)):
        return _emptied(thing, {field.name: bare(getattr(thing, field.name)) for field in fields(thing)})
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, Mapping):  # skops makes texts of keys, and a False would come back as True
        return [(bare(key), bare(value)) for key, value in thing.items()]
    if isinstance(thing, (list, tuple)):
        return type(thing)(bare(each) for each in thing)
    if thing is None or isinstance(thing, (bool, int, float, str, np.ndarray, np.random.RandomState, Mixture)):
        return thing
    raise ModelFileError(
        f"the model holds a {type_name(thing)}, and a file may hold numbers, texts, arrays and types of mixkern only. "
        "Set it to something else, and fit again."
    )


def _shell(thing: Any) -> Any:
    """Give an estimator or a kernel that has what goes into a file, and nothing else."""
    if type_name(thing) not in (*ESTIMATORS, *KERNELS):
        raise ModelFileError(
            f"the model holds a {type_name(thing)}, and a file may hold estimators of mixkern and kernels of mixkern "
            "and scikit-learn only. Fit it with one of those."
        )
    parts = thing.get_params(deep=False)
    if isinstance(thing, VBMixture):
        parts["callback"] = None  # it watches a fit, and is no part of what was learned
    if getattr(thing, "rows", None) is not None:  # of a graph
        parts["rows"] = np.asarray(thing.rows, dtype=float)
    parts |= {name: vars(thing)[name] for name in LEARNED if name in vars(thing)}
    return _emptied(thing, {name: bare(part) for name, part in parts.items()})


def _emptied(thing: Any, parts: dict[str, Any]) -> Any:
    """Give an object of the same type with these attributes alone."""
    shell = object.__new__(type(thing))
    vars(shell).update(parts)
    return shell


def _category_type(dtype: Any) -> Any:
    """Give the type of pandas categories as plain values; None for labels of other types."""
    if dtype is None:
        return None
    kind = {"categories": dtype.categories.tolist(), "ordered": bool(dtype.ordered), "of": str(dtype.categories.dtype)}
    return bare(kind)
