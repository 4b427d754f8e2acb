"""Methods of libraries that are optional: gradient boosting, a mixture classifier of scikit-activeml, and TabPFN.

A library is imported when its method is trained. TabPFN is left out where its weights are not on the computer: nothing
is downloaded.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mixkern.encoding import UNLABELLED
from mixkern_study.method import Learner, Method, Numeric, TrainingData

TABPFN = "tabpfn"
WEIGHTS = re.compile(r"tabpfn-v(?P<version>[0-9.]+)-(classifier.*\.ckpt|(?!regressor).*\.safetensors)")


@dataclass(frozen=True)
class OptionalMethod:
    """A method of a library that may not be installed.

    Attributes
    ----------
    title : str
        Its name in tables.
    module, classifier : str
        Where its class is.
    package : str
        Name of the package that has it, for ``pip install``.
    settings : dict
        Those that differ from the defaults.
    uses_unlabelled : bool
        Whether it is trained on all rows, -1 as the label of those without.
    names_settings : bool
        Whether its settings are part of the text that identifies results, which the oldest two do not have.
    """

    title: str
    module: str
    classifier: str
    package: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    uses_unlabelled: bool = False
    names_settings: bool = True

    @property
    def is_installed(self) -> bool:
        """Whether its library is installed."""
        return find_spec(self.module.partition(".")[0]) is not None

    def method(self, **further: Any) -> Method:
        """Return the method, with further settings."""
        settings = {**self.settings, **further}
        text = f"{self.package} {_version(self.package)}"
        if self.names_settings:
            shown = {**settings, **{name: Path(value).name for name, value in further.items()}}
            text += f", {self.classifier}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
        return Method(self.title, partial(_learner, self, settings), text)


# Few rows need other settings than the defaults of LightGBM, which never splits fewer than 40.
OPTIONAL: Mapping[str, OptionalMethod] = {
    "xgboost": OptionalMethod("XGBoost", "xgboost", "XGBClassifier", "xgboost", {"n_jobs": 1}, names_settings=False),
    "catboost": OptionalMethod(
        "CatBoost",
        "catboost",
        "CatBoostClassifier",
        "catboost",
        {"thread_count": 1, "verbose": False, "allow_writing_files": False},
        names_settings=False,
    ),
    "lightgbm": OptionalMethod(
        "LightGBM",
        "lightgbm",
        "LGBMClassifier",
        "lightgbm",
        {"min_child_samples": 1, "min_data_in_bin": 1, "n_jobs": 1, "verbose": -1},
    ),
    "activeml_mixture": OptionalMethod(
        "Mixture classifier",
        "skactiveml.classifier",
        "MixtureModelClassifier",
        "scikit-activeml",
        {"missing_label": UNLABELLED},
        uses_unlabelled=True,
    ),
    TABPFN: OptionalMethod(
        "TabPFN", "tabpfn", "TabPFNClassifier", "tabpfn", {"device": "cpu", "ignore_pretraining_limits": True}
    ),
}


def optional_methods() -> dict[str, Method]:
    """Return the methods whose libraries are installed, TabPFN where its weights are there, too.

    >>> set(optional_methods()) <= set(OPTIONAL)
    True
    """
    found = {name: each.method() for name, each in OPTIONAL.items() if name != TABPFN and each.is_installed}
    weights = tabpfn_weights()
    if OPTIONAL[TABPFN].is_installed and weights is not None:
        found[TABPFN] = OPTIONAL[TABPFN].method(model_path=str(weights))
    return found


def why_left_out(name: str) -> str:
    """Return why an optional method is not available, as a sentence with the next step; empty where it is."""
    if name in optional_methods():
        return ""
    optional = OPTIONAL[name]
    if not optional.is_installed:
        return f"{optional.title} needs {optional.package}, which is not installed: pip install {optional.package}."
    return (
        f"{optional.title} needs its weights, which are not downloaded here, and there are none in {weights_folder()}. "
        "Put a file with the weights of a classifier there, or its folder into TABPFN_MODEL_CACHE_DIR."
    )


def weights_folder() -> Path:
    """Return the folder that TabPFN keeps its weights in."""
    given = os.environ.get("TABPFN_MODEL_CACHE_DIR", "").strip()
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", "").strip() or ".tabpfn_models") / "tabpfn"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tabpfn"
    return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache") / "tabpfn"


def tabpfn_weights() -> Path | None:
    """Return the file of weights of the newest version, its plain variant first; None where there is none."""
    folder = weights_folder()
    found = [(WEIGHTS.fullmatch(path.name), path) for path in folder.iterdir()] if folder.is_dir() else []
    files = [(match["version"], -len(path.name), path) for match, path in found if match]
    return max(files)[-1].resolve() if files else None


def _version(package: str) -> str:
    """Return the version of a package, empty for a copy that was not installed under that name."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _learner(optional: OptionalMethod, settings: Mapping[str, Any], data: TrainingData) -> Learner:
    estimator = getattr(import_module(optional.module), optional.classifier)(**settings)
    return Numeric(estimator, data, uses_unlabelled=optional.uses_unlabelled)
