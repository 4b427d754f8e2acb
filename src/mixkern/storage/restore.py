"""From what a file holds to a model: every part is made anew, of the type that it must have.

Types that are trusted may still hold anything. So nothing that skops has made is used as it is: attributes are taken by
name, compared with what they should be, and given to constructors, which refuse what cannot be.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from mixkern.density import Mixture, VBMixture
from mixkern.encoding import CategoricalColumn, ContinuousColumn, Kind, Labels, TableEncoder
from mixkern.errors import ModelFileError, OptionError
from mixkern.estimators.base import MixtureEstimator
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.estimators.novelty import Novelty
from mixkern.imports import optional
from mixkern.kernels import LaplacianKernel
from mixkern.storage.archive import SAVE
from mixkern.storage.state import LEARNED, type_name
from mixkern.storage.trust import ESTIMATORS, KERNELS
from mixkern.svm import DecisionFunction
from mixkern.wording import shortened

MOST_GRAPH_ROWS, MOST_NEIGHBORS, MOST_DEGREE = 50_000, 1_000, 16  # beyond, a graph takes hours, or all memory

_PAIRS = ("class_weight", "class_shares", "pairwise_kernels_kwargs")  # settings that are dicts
_SEQUENCES = ("categorical", "continuous", "length_scale", "mean_prior", "precision_prior", "rows")  # and bounds
_KERNELS_IN, _MIXTURES_IN, _ESTIMATORS_IN = (
    ("base", "k1", "k2", "kernel"),
    ("density", "mixture"),
    ("density", "encoder"),
)
_CATEGORY_TYPES = ("object", "str", "string", "bool", "int8", "int16", "int32", "int64", "float32", "float64")


def model_of(shell: Any) -> Any:
    """Make the model that a file holds."""
    if type_name(shell) not in ESTIMATORS:
        raise ModelFileError(f"it holds a {type_name(shell)}, which is no estimator of mixkern.")
    return _Builder().estimator(shell)


class _Builder:
    """Makes the parts of one model; equal mixtures become one."""

    def __init__(self) -> None:
        self._mixtures: dict[str, Mixture] = {}

    def estimator(self, shell: Any) -> Any:
        given, model = vars(shell), type(shell)()
        names = [name for name in model.get_params(deep=False) if name in given]
        model.set_params(**{name: self.setting(name, given[name]) for name in names})
        _check_rules(model)
        names = [name for name in LEARNED if name in given and name not in ("_decision", "_labels")]
        parts = {name: self.learned(name, given[name]) for name in names}
        if "_decision" in given:
            parts["_decision"] = _decision(given["_decision"], parts.get("kernel_"), parts.get("intercept_"))
        if "classes_" in parts and isinstance(model, MixtureClassifier):
            parts["_labels"] = _labels(parts["classes_"], given.get("_labels"))
        elif "classes_" in parts:
            parts["classes_"].flags.writeable = False  # those of a density
        model.__dict__.update(parts)
        return model

    def setting(self, name: str, value: Any) -> Any:
        """Make a setting of an estimator or a kernel: what users have given."""
        if isinstance(value, Kernel) and name in _KERNELS_IN:
            return self.kernel(value)
        if isinstance(value, Mixture) and name in _MIXTURES_IN:
            return self.mixture(value)
        if isinstance(value, (VBMixture, TableEncoder)) and name in _ESTIMATORS_IN:
            return self.estimator(value)
        if name in _PAIRS and isinstance(value, list):
            return _of_pairs(value, name)
        if name in _SEQUENCES or name.endswith("_bounds"):
            return _plain(value, name)
        return _random(value) if name == "random_state" else _scalar(value, name)

    def kernel(self, shell: Any) -> Any:
        _demand(type_name(shell) in KERNELS, "kernel")
        kernel = type(shell)(**{name: self.setting(name, value) for name, value in vars(shell).items()})
        if isinstance(kernel, LaplacianKernel):
            _check_graph(kernel)
        return kernel

    def mixture(self, value: Any) -> Mixture:
        _demand(type(value) is Mixture and "weights" in vars(value), "mixture")
        return self._mixtures.setdefault(value.key, value)

    def learned(self, name: str, value: Any) -> Any:
        """Make something that was learned."""
        rule = _RULES.get(name)
        if rule is not None:
            _demand(rule(value), name)
            return _own(value)
        return self._parts()[name](value)

    def _parts(self) -> Mapping[str, Callable[[Any], Any]]:
        return {
            "mixture_": self.mixture,
            "kernel_": self.kernel,
            "density_": lambda value: self._one(value, VBMixture),
            "encoder_": lambda value: self._one(value, TableEncoder),
            "_novelty": _novelty,
            "columns_": _columns,
        }

    def _one(self, value: Any, kind: type) -> Any:
        _demand(value is None or type(value) is kind, kind.__name__)
        return None if value is None else self.estimator(value)


def _demand(is_so: object, what: str) -> None:
    if not is_so:
        raise ModelFileError(f"its {what} is not valid.", hint=SAVE)


def _own(value: Any) -> Any:
    """Copy an array: equal ones are one in a file, and who writes into one should not change another."""
    return np.array(value) if isinstance(value, np.ndarray) else value


def _check_rules(model: Any) -> None:
    """Refuse settings that a machine would refuse to be fitted with."""
    if isinstance(model, MixtureEstimator):
        try:
            model.check_parameters()
        except OptionError as error:
            raise ModelFileError(f"one of its settings cannot be: {shortened(str(error), 200)}") from error


def _scalar(value: Any, name: str) -> Any:
    """Accept one number or word, or None."""
    _demand(value is None or isinstance(value, (bool, int, float, str)), name)
    return value


def _plain(value: Any, name: str) -> Any:
    """Accept numbers, words, arrays of numbers, and sequences of them."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return _own(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(each, name) for each in value)
    return _scalar(value, name)


def _random(value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state()
        _demand(0 <= state[2] <= 624, "random_state")  # where NumPy reads next, without looking whether it may
        return value
    return _scalar(value, "random_state")


def _of_pairs(value: list[Any], name: str) -> dict[Any, Any]:
    """Make a dict of pairs; one for a kernel of scikit-learn may not say how many processes to start."""
    _demand(all(type(pair) is tuple and len(pair) == 2 for pair in value), name)
    made = {_scalar(key, name): _scalar(each, name) for key, each in value}
    _demand(name != "pairwise_kernels_kwargs" or set(made) <= {"degree", "coef0", "gamma"}, name)
    return made


def _check_graph(kernel: LaplacianKernel) -> None:
    """Refuse a graph that would take forever to make."""
    rows: Any = kernel.rows
    _demand(rows is None or (_is_rows(rows) and len(rows) <= MOST_GRAPH_ROWS), "graph")
    _demand(_is_count(kernel.n_neighbors) and kernel.n_neighbors <= MOST_NEIGHBORS, "number of neighbours")
    _demand(_is_count(kernel.degree) and kernel.degree <= MOST_DEGREE, "degree of the graph")


# ---------------------------------------------------------------- what was learned, by name


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_array(value: Any, n_dims: int, kind: str, *, finite: bool = True) -> bool:
    is_one = type(value) is np.ndarray and value.ndim == n_dims and value.dtype.kind in kind
    return is_one and (not finite or kind != "f" or (value.dtype == np.float64 and bool(np.isfinite(value).all())))


def _is_rows(value: Any) -> bool:  # which may have gaps
    return _is_array(value, 2, "f", finite=False) and value.dtype == np.float64 and not np.isinf(value).any()


def _is_names(value: Any) -> bool:
    return _is_array(value, 1, "O") and all(type(name) is str for name in value)


def _is_classes(value: Any) -> bool:
    is_one = _is_names(value) or _is_array(value, 1, "biuU") or _is_array(value, 1, "f", finite=False)
    return is_one and len(value) >= 2 and len(set(value.tolist())) == len(value)


_RULES: dict[str, Callable[[Any], bool]] = {
    "C_": _is_number,
    "_order": lambda value: type(value) is list and all(map(_is_count, value)),
    "bound_trace_": lambda value: _is_array(value, 1, "f", finite=False),
    "class_table_": lambda value: _is_array(value, 2, "f"),
    "classes_": _is_classes,
    "converged_": lambda value: type(value) is bool,
    "dual_coef_": lambda value: _is_array(value, 2, "f"),
    "feature_names_in_": _is_names,
    "fell_back_": lambda value: type(value) is bool,
    "intercept_": lambda value: _is_array(value, 1, "f"),
    "lower_bound_": lambda value: type(value) is float,
    "n_components_": _is_count,
    "n_features_in_": _is_count,
    "n_iter_": _is_count,
    "n_support_": lambda value: _is_array(value, 1, "i"),
    "offset_": _is_number,
    "repair_change_": _is_number,
    "slope_": lambda value: value is None or _is_number(value),
    "support_": lambda value: _is_array(value, 1, "i"),
    "support_vectors_": _is_rows,
}


def _decision(shell: Any, kernel: Any, intercepts: Any) -> DecisionFunction:
    """Make the decision functions, which are sums of the kernel, or of the base of a deformed one."""
    _demand(type(shell) is DecisionFunction and kernel is not None and intercepts is not None, "decision function")
    support, coefficients = vars(shell).get("support"), vars(shell).get("coefficients")
    _demand(_is_rows(support) and _is_array(coefficients, 2, "f"), "decision function")
    base = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    return DecisionFunction(base, _own(support), _own(coefficients), intercepts)


def _novelty(shell: Any) -> Novelty:
    _demand(type(shell) is Novelty, "novelty")
    rows, sampled = vars(shell).get("rows"), vars(shell).get("sampled")
    _demand(_is_rows(rows) and _is_rows(sampled) and len(rows), "novelty")
    return Novelty(_own(rows), _own(sampled))


def _columns(shells: Any) -> tuple[ContinuousColumn | CategoricalColumn, ...]:
    _demand(type(shells) is tuple and shells, "columns")
    return tuple(map(_column, shells))


def _column(shell: Any) -> ContinuousColumn | CategoricalColumn:
    _demand(type(shell) in (ContinuousColumn, CategoricalColumn), "column")
    given = {field.name: vars(shell).get(field.name) for field in fields(shell)}
    texts_are = all(type(given[name]) is str for name in ("name", "kind", "remark"))
    _demand(texts_are and given["kind"] in tuple(Kind) and _is_count(given["n_gaps"]), "column")
    if type(shell) is ContinuousColumn:
        numbers = [given[name] for name in ("origin", "mean", "deviation")]
        _demand(_is_count(given["n_values"]) and all(map(_is_number, numbers)) and given["deviation"] > 0, "column")
    else:
        known = given["categories"]
        _demand(type(known) is tuple and all(type(text) is str for text in known), "column")
        _demand(len(set(known)) == len(known), "column")
    return type(shell)(**{**given, "kind": Kind(given["kind"])})


def _labels(classes: NDArray[Any], given: Any) -> Labels:
    """Make the way back from codes to labels; pandas categories need pandas."""
    nobody = np.empty(0, dtype=np.intp)
    if given is None:
        return Labels(nobody, np.array(classes))
    _demand(type(given) is list and all(type(pair) is tuple and len(pair) == 2 for pair in given), "type of labels")
    facts = {"categories": None, "ordered": None, "of": None, **dict(given)}
    known, ordered, of = facts["categories"], facts["ordered"], facts["of"]
    is_plain = type(known) is list and all(isinstance(each, (bool, int, float, str)) for each in known)
    _demand(is_plain and type(ordered) is bool and set(classes.tolist()) <= set(known), "type of labels")
    pandas = optional("pandas", purpose="A model of categorical labels")
    index = pandas.Index(known, dtype=of if of in _CATEGORY_TYPES else None)
    return Labels(nobody, np.array(classes), pandas.CategoricalDtype(index, ordered=ordered))
