"""Data sets that the paper does not have, all without a network: nobody has chosen settings on them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.imports import optional
from mixkern_study.ranking import title_of

SEED = 2015  # of the one draw of each artificial set


def _generated(name: str) -> Dataset:
    make = getattr(datasets, f"make_{name}")
    X, y = make(random_state=SEED)
    source = f"drawn by mixkern.datasets.{make.__name__}(random_state={SEED})"
    return _data_set(name, X, y, str(make.__doc__).partition("\n")[0], "mixkern", source)


def _bundled(name: str, load: Callable[[], Any], words: str) -> Dataset:
    bunch = load()
    source = f"sklearn.datasets.{load.__name__}"
    return _data_set(name, bunch.data, np.asarray(bunch.target_names)[bunch.target], words, "scikit-learn", source)


def _data_set(name: str, X: Any, y: Any, words: str, creators: str, source: str) -> Dataset:
    pandas = optional("pandas", purpose="mixkern_study.leaderboard")
    X = X[:, np.ptp(X, axis=0) > 0]  # corners of a picture that are always empty say nothing
    columns = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return Dataset(
        name=name,
        title=any_title(name),
        X=pandas.DataFrame(X, columns=list(columns)),
        y=pandas.Series(y, name="class"),
        continuous=columns,
        categorical=(),
        description=words,
        creators=creators,
        source=source,
        licence="",
    )


OUTSIDE: Mapping[str, Callable[[], Dataset]] = {
    "adidas": partial(_generated, "adidas"),
    "breast_cancer": partial(_bundled, "breast_cancer", load_breast_cancer, "Cell nuclei: benign or malignant."),
    "cross": partial(_generated, "cross"),
    "digits": partial(_bundled, "digits", load_digits, "Handwritten digits, 8 x 8 pixels each."),
    "five_processes": partial(_generated, "five_processes"),
    "three_moons": partial(_generated, "three_moons"),
    "two_rings": partial(_generated, "two_rings"),
}


def any_title(name: str) -> str:
    """Give what readers see: the title that a data set has here or in the paper; others are their own.

    >>> any_title("two_rings"), any_title("credit_a"), any_title("my_own")
    ('Two Rings', 'Credit A', 'my_own')
    """
    return name.replace("_", " ").title() if name in OUTSIDE else title_of(name)


def load_any(name: str) -> Dataset:
    """Load a data set from outside the paper, or any that :func:`mixkern.datasets.load` knows.

    >>> load_any("breast_cancer").X.shape, load_any("iris").X.shape
    ((569, 30), (150, 4))
    """
    return OUTSIDE[name]() if name in OUTSIDE else datasets.load(name)
