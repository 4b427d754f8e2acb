"""The twenty data sets of the paper, generators of artificial ones, tables from files and from OpenML."""

from mixkern.datasets.dataset import Dataset
from mixkern.datasets.external import read_dataset
from mixkern.datasets.generators import (
    make_adidas,
    make_clouds,
    make_concentric,
    make_cross,
    make_five_processes,
    make_ripley,
    make_three_moons,
    make_two_moons,
    make_two_rings,
)
from mixkern.datasets.registry import load, names

__all__ = [
    "Dataset",
    "load",
    "make_adidas",
    "make_clouds",
    "make_concentric",
    "make_cross",
    "make_five_processes",
    "make_ripley",
    "make_three_moons",
    "make_two_moons",
    "make_two_rings",
    "names",
    "read_dataset",
]
