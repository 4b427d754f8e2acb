"""Restore a model from the state in a file, and check that its parts fit together.

Objects of trusted types may still hold anything. So no object from skops is used itself: its attributes are read by
name, checked, and passed to constructors, which check them again. At last, shapes are compared and a few rows
predicted.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils.validation import check_is_fitted

from mixkern.density import DensitySearch, Mixture, Rows, VBMixture
from mixkern.encoding import CategoricalColumn, ContinuousColumn, Kind, Labels, TableEncoder
from mixkern.encoding.frame import FRAME_KINDS
from mixkern.errors import ModelFileError, OptionError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.base import MixtureEstimator
from mixkern.estimators.classifier import MixtureClassifier
from mixkern.estimators.novelty import Novelty
from mixkern.imports import optional
from mixkern.kernels import LaplacianKernel
from mixkern.storage.archive import SAVE
from mixkern.storage.state import FITTED, other_dual, type_name
from mixkern.storage.trust import ESTIMATORS, KERNELS
from mixkern.svm import DecisionFunction
from mixkern.wording import shortened

MOST_GRAPH_ROWS, MOST_NEIGHBORS, MOST_DEGREE = 50_000, 1_000, 16  # larger graphs take hours, or all memory

_PAIRS = ("class_weight", "class_shares", "pairwise_kernels_kwargs")  # parameters that are dicts
_SEQUENCES = (  # and bounds
    "categorical",
    "continuous",
    "length_scale",
    "mean_precision_prior",
    "mean_prior",
    "precision_prior",
    "rows",
    "weight_concentration_prior",
)
_KERNELS_IN, _MIXTURES_IN, _ESTIMATORS_IN = (
    ("base", "k1", "k2", "kernel"),
    ("density", "mixture"),
    ("density", "encoder"),
)
_CATEGORY_TYPES = ("object", "str", "string", "bool", "int8", "int16", "int32", "int64", "float32", "float64")


def restore_model(state: Any) -> Any:
    """Return the model of a state that was read from a file."""
    if type_name(state) not in ESTIMATORS:
        raise ModelFileError(f"it holds a {type_name(state)}, which is no estimator of mixkern.")
    return _Builder().estimator(state)


class _Builder:
    """Construct the parts of one model; equal mixtures become one object."""

    def __init__(self) -> None:
        self._mixtures: dict[str, Mixture] = {}

    def estimator(self, state: Any) -> Any:
        given, model = _current_attributes(vars(state)), type(state)()
        if isinstance(model, MixtureClassifier):  # files of classifiers that did not have the parameter yet
            given = {"probability": False, **given}
        names = [name for name in model.get_params(deep=False) if name in given]
        model.set_params(**{name: self.parameter(name, given[name]) for name in names})
        _check_rules(model)
        names = [name for name in FITTED if name in given and name not in ("_decision", "_labels")]
        parts = {name: self.fitted(name, given[name]) for name in names}
        if "_decision" in given:
            parts["_decision"] = _decision(given["_decision"], parts.get("kernel_"), parts.get("intercept_"))
        if "classes_" in parts and isinstance(model, MixtureClassifier):
            parts["_labels"] = _labels(parts["classes_"], given.get("_labels"))
        elif "classes_" in parts:
            parts["classes_"].flags.writeable = False  # those of a density
        model.__dict__.update({**parts, **other_dual(model, parts)})
        return model

    def parameter(self, name: str, value: Any) -> Any:
        """Return a parameter of an estimator or a kernel."""
        if isinstance(value, Kernel) and name in _KERNELS_IN:
            return self.kernel(value)
        if isinstance(value, Mixture) and name in _MIXTURES_IN:
            return self.mixture(value)
        if isinstance(value, (VBMixture, TableEncoder)) and name in _ESTIMATORS_IN:
            return self.estimator(value)
        if isinstance(value, DensitySearch) and name == "density":
            return self.search(value)
        if name in _PAIRS and isinstance(value, list):
            return _of_pairs(value, name)
        if name in _SEQUENCES or name.endswith("_bounds"):
            return _plain(value, name)
        return _random(value) if name == "random_state" else _scalar(value, name)

    def search(self, state: Any) -> DensitySearch:
        """Return a search that is not fitted."""
        given = vars(state)
        _require(type(state) is DensitySearch and type(given.get("density")) in (VBMixture, type(None)), "density")
        names = [name for name in DensitySearch().get_params(deep=False) if name in given]
        return DensitySearch(**{name: self.parameter(name, given[name]) for name in names})

    def kernel(self, state: Any) -> Any:
        _require(type_name(state) in KERNELS, "kernel")
        kernel = type(state)(**{name: self.parameter(name, value) for name, value in vars(state).items()})
        if isinstance(kernel, LaplacianKernel):
            _check_graph(kernel)
        return kernel

    def mixture(self, value: Any) -> Mixture:
        _require(type(value) is Mixture and "weights" in vars(value), "mixture")
        return self._mixtures.setdefault(value.key, value)

    def fitted(self, name: str, value: Any) -> Any:
        """Return a fitted attribute."""
        rule = _RULES.get(name)
        if rule is not None:
            _require(rule(value), name)
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
        _require(value is None or type(value) is kind, kind.__name__)
        return None if value is None else self.estimator(value)


def _current_attributes(given: dict[str, Any]) -> dict[str, Any]:
    """Return saved attributes under their present names; in format 1, the decision function was two arrays."""
    if "_sum_rows" not in given or "_decision" in given:
        return given
    decision = object.__new__(DecisionFunction)
    vars(decision).update(support=given["_sum_rows"], coefficients=given.get("_sum_coefficients"))
    return {**given, "_decision": decision}


def _require(is_so: object, what: str) -> None:
    if not is_so:
        raise ModelFileError(f"its {what} is not valid.", hint=SAVE)


def _own(value: Any) -> Any:
    """Return a copy of an array: equal arrays are one in a file, and must not change together."""
    return np.array(value) if isinstance(value, np.ndarray) else value


def _check_rules(model: Any) -> None:
    """Raise an error for parameters that ``fit`` would not accept."""
    if isinstance(model, MixtureEstimator):
        try:
            model.check_parameters()
        except OptionError as error:
            raise ModelFileError(f"one of its parameters is invalid: {shortened(str(error), 200)}") from error


def _scalar(value: Any, name: str) -> Any:
    """Return a number, a text or None; anything else is an error."""
    _require(value is None or isinstance(value, (bool, int, float, str)), name)
    return value


def _plain(value: Any, name: str) -> Any:
    """Return numbers, texts, arrays of numbers, or sequences of them; anything else is an error."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return _own(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(each, name) for each in value)
    return _scalar(value, name)


def _random(value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state()
        _require(0 <= state[2] <= 624, "random_state")  # NumPy reads at this position without checking it
        return value
    return _scalar(value, "random_state")


def _of_pairs(value: list[Any], name: str) -> dict[Any, Any]:
    """Return a dict of pairs; for a kernel of scikit-learn, it may not set the number of processes."""
    _require(all(type(pair) is tuple and len(pair) == 2 for pair in value), name)
    made = {_scalar(key, name): _scalar(each, name) for key, each in value}
    _require(name != "pairwise_kernels_kwargs" or set(made) <= {"degree", "coef0", "gamma"}, name)
    return made


def _check_graph(kernel: LaplacianKernel) -> None:
    """Raise an error for a graph that is too large to compute."""
    rows: Any = kernel.rows
    _require(rows is None or (_is_rows(rows) and len(rows) <= MOST_GRAPH_ROWS), "graph")
    _require(_is_count(kernel.n_neighbors) and kernel.n_neighbors <= MOST_NEIGHBORS, "number of neighbours")
    _require(_is_count(kernel.degree) and kernel.degree <= MOST_DEGREE, "degree of the graph")


# ---------------------------------------------------------------- fitted attributes, by name


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
    "_fitted_kind": lambda value: type(value) is str and value in FRAME_KINDS,
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
    "n_labels_": lambda value: _is_array(value, 1, "i"),
    "n_samples_seen_": _is_count,
    "n_support_": lambda value: _is_array(value, 1, "i"),
    "offset_": _is_number,
    "repair_change_": _is_number,
    "slope_": lambda value: value is None or _is_number(value),
    "support_": lambda value: _is_array(value, 1, "i"),
    "support_vectors_": _is_rows,
}


def _decision(state: Any, kernel: Any, intercepts: Any) -> DecisionFunction:
    """Return the decision functions, which are sums of the kernel, or of the base of a deformed kernel."""
    _require(type(state) is DecisionFunction and kernel is not None and intercepts is not None, "decision function")
    support, coefficients = vars(state).get("support"), vars(state).get("coefficients")
    _require(_is_rows(support) and _is_array(coefficients, 2, "f"), "decision function")
    base = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    return DecisionFunction(base, _own(support), _own(coefficients), intercepts)


def _novelty(state: Any) -> Novelty:
    _require(type(state) is Novelty, "novelty")
    rows, sampled = vars(state).get("rows"), vars(state).get("sampled", vars(state).get("drawn"))  # "drawn" in format 1
    _require(_is_rows(rows) and _is_rows(sampled) and len(rows), "novelty")
    return Novelty(_own(rows), _own(sampled))


def _columns(states: Any) -> tuple[ContinuousColumn | CategoricalColumn, ...]:
    _require(type(states) is tuple and states, "columns")
    return tuple(map(_column, states))


def _column(state: Any) -> ContinuousColumn | CategoricalColumn:
    _require(type(state) in (ContinuousColumn, CategoricalColumn), "column")
    given = {field.name: vars(state).get(field.name) for field in fields(state)}
    has_texts = all(type(given[name]) is str for name in ("name", "kind", "remark"))
    _require(has_texts and given["kind"] in tuple(Kind) and _is_count(given["n_gaps"]), "column")
    if type(state) is ContinuousColumn:
        numbers = [given[name] for name in ("origin", "mean", "deviation")]
        _require(_is_count(given["n_values"]) and all(map(_is_number, numbers)) and given["deviation"] > 0, "column")
    else:
        known = given["categories"]
        _require(type(known) is tuple and all(type(text) is str for text in known), "column")
        _require(len(set(known)) == len(known), "column")
    return type(state)(**{**given, "kind": Kind(given["kind"])})


def _labels(classes: NDArray[Any], given: Any) -> Labels:
    """Return the labels of the classes; pandas categories need pandas."""
    no_codes = np.empty(0, dtype=np.intp)
    if given is None:
        return Labels(no_codes, np.array(classes))
    _require(type(given) is list and all(type(pair) is tuple and len(pair) == 2 for pair in given), "type of labels")
    facts = {"categories": None, "ordered": None, "of": None, **dict(given)}
    known, ordered, of = facts["categories"], facts["ordered"], facts["of"]
    is_plain = type(known) is list and all(isinstance(each, (bool, int, float, str)) for each in known)
    _require(is_plain and type(ordered) is bool and set(classes.tolist()) <= set(known), "type of labels")
    pandas = optional("pandas", purpose="A model of categorical labels")
    index = pandas.Index(known, dtype=of if of in _CATEGORY_TYPES else None)
    return Labels(no_codes, np.array(classes), pandas.CategoricalDtype(index, ordered=ordered))


N_PREDICTED = 3  # training rows that are predicted as a check


def check_model(model: Any) -> None:
    """Raise an error for a model whose parts do not fit together: compare shapes, and predict a few rows."""
    check_is_fitted(model)
    if isinstance(model, TableEncoder):
        _check_encoder(model)
    elif isinstance(model, VBMixture):
        _check_density(model)
    else:
        _check_estimator(model)
    _check_predictions(model)


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


def _check_estimator(estimator: MixtureEstimator) -> None:
    mixture, encoder = estimator.mixture_, estimator.encoder_
    if encoder is None:
        _check_names(estimator, mixture.n_features)
    else:
        _check_encoder(encoder)
        _check_names(estimator, len(encoder.columns_))
        widths = encoder.n_continuous_, len(encoder.categorical_)
        _agree(widths == (mixture.n_continuous, len(mixture.categories)), "encoder and mixture")
    if estimator.density_ is not None:
        _check_density(estimator.density_)
        _agree(estimator.density_.mixture_ == mixture, "density and mixture")
    q, n, decision = len(estimator.intercept_), mixture.n_features, vars(estimator)["_decision"]
    _agree(decision.support.shape == (len(decision.coefficients), n), "rows and coefficients")
    _agree(estimator.support_vectors_.shape == (len(estimator.support_), n), "support vectors and mixture")
    _agree(estimator.dual_coef_.shape == (q, len(estimator.support_)), "support vectors and coefficients")
    _agree(decision.coefficients.shape[1] == q == _n_functions(estimator), "coefficients and classes")
    novelty = vars(estimator)["_novelty"]
    _agree(novelty.rows.shape[1] == n == novelty.sampled.shape[1], "training rows and mixture")


def _n_functions(estimator: MixtureEstimator) -> int:
    """Return the number of decision functions of an estimator."""
    if not isinstance(estimator, MixtureClassifier):
        return 1
    c = len(estimator.classes_)
    _agree(len(getattr(estimator, "n_labels_", range(c))) == c, "labels and classes")
    if isinstance(estimator, MixtureSVC):
        _agree(estimator.n_support_.shape == (c,), "support vectors and classes")
        return c * (c - 1) // 2
    return 1 if c == 2 else c


def _check_predictions(model: Any) -> None:
    """Predict a few training rows, and a row of gaps."""
    if isinstance(model, TableEncoder):
        return
    if isinstance(model, VBMixture):
        model.mixture_.responsibilities(_row_of_gaps(model.mixture_.n_features))
        return
    values = np.vstack([vars(model)["_decision"].support[:N_PREDICTED], _row_of_gaps(model.mixture_.n_features)])
    for name in ("predict", "predict_proba", "decision_function", "score_samples", "novelty", "responsibilities"):
        if hasattr(model, name):
            _agree(len(getattr(model, name)(Rows(values, model.mixture_))) == len(values), name)


def _row_of_gaps(n: int) -> Any:
    return np.full((1, n), np.nan)
