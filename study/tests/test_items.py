"""The table of the paper's items: names, tests and figures that it cites exist, and what it says of slips holds."""

import csv
import importlib
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mixkern import datasets
from mixkern.kernels import RBFKernel
from mixkern.report.table import TextTable
from mixkern.svm import label_folds
from mixkern_study import Store, accuracy_table
from mixkern_study.items import ITEMS, ItemVerdict, items_table
from mixkern_study.plot import paper_figures
from mixkern_study.protocol import RATED
from mixkern_study.report.content import sections
from mixkern_study.result_table import to_csv, to_latex

ROOT = Path(__file__).parents[2]
WHOLE = (ItemVerdict.EXACT, ItemVerdict.AS_WRITTEN)
CODE = sorted({name for item in ITEMS for name in item.code})
CHECKS = sorted({check for item in ITEMS for check in item.checks})
TESTS = [check for check in CHECKS if "::" in check]
FIGURES = [check for check in CHECKS if re.fullmatch(r"figure \d+", check)]
TABLES = [check for check in CHECKS if check.startswith("table ")]


def resolved(name):
    """Return what a dotted name stands for: a module, and attributes in it."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


# ---------------------------------------------------------------- what the table cites


@pytest.mark.parametrize("name", CODE)
def test_code_exists(name):
    assert resolved(name) is not None


@pytest.mark.parametrize("check", TESTS)
def test_cited_tests_exist(check):
    path, name = check.split("::")
    assert re.search(rf"^\s*def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


def test_all_figures_of_the_paper_are_cited():
    drawn = {int(n) for figure in paper_figures().values() for n in re.findall(r"\d+", figure.number)}
    assert {int(each.split()[1]) for each in FIGURES} == drawn == set(range(1, 16))


def test_cited_tables_exist(tmp_path):
    store = Store(tmp_path / "empty.sqlite")
    tables = [accuracy_table(store, experiment, reading) for experiment in (1, 2, 3) for reading in RATED]
    tables += [
        block for each in sections(store, figures=False) for block in each.blocks if isinstance(block, TextTable)
    ]
    assert {each.removeprefix("table ") for each in TABLES} <= {table.name for table in tables}


def test_every_check_is_of_a_known_kind():
    assert len(CHECKS) == len(TESTS) + len(FIGURES) + len(TABLES)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.item[:40])
def test_items_are_complete(item):
    assert item.item
    assert item.place
    assert item.code
    assert item.checks
    assert item.note or item.verdict in WHOLE
    assert item.verdict is not ItemVerdict.EXACT or any("::" in check for check in item.checks)


def test_all_verdicts_occur_and_no_item_twice():
    assert {item.verdict for item in ITEMS} == set(ItemVerdict)
    assert len({item.item for item in ITEMS}) == len(ITEMS)


def test_the_table_has_a_row_for_each_item():
    table = items_table()
    assert len(table.rows) == len(ITEMS)
    assert not any(table.is_number(j) for j in range(len(table.columns)))
    assert len(list(csv.reader(to_csv(table).splitlines()))) == len(ITEMS) + 1
    assert to_latex(table).count(r"\\") == len(ITEMS) + 1
    assert table.to_markdown().count("\n") == len(ITEMS) + 4


# ---------------------------------------------------------------- slips of the paper


def published(name):
    """Return the rows of a published table by data set."""
    text = files("mixkern_study").joinpath("data", name).read_text("utf-8")
    return {row["data_set"]: row for row in csv.DictReader(text.splitlines())}


def test_two_printed_matrices_are_no_covariances():
    for matrix in ([[0.00, -0.01], [-0.01, 0.10]], [[-0.34, -0.24], [-0.24, 0.33]]):
        assert np.linalg.eigvalsh(matrix).min() < 0
    assert np.linalg.eigvalsh([[0.34, -0.24], [-0.24, 0.33]]).min() > 0


def test_squared_counts_are_no_distances_of_binary_columns():
    codes = np.array([[0.0, 0.0], [1.0, 1.0]])  # two rows that differ in two columns
    binary = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    assert RBFKernel(0.1, n_categorical=2)(codes)[0, 1] == pytest.approx(np.exp(-0.1 * 2**2))
    three, wide = np.column_stack([codes, codes[:, :1]]), np.column_stack([binary, binary[:, :2]])
    assert RBFKernel(0.1, n_categorical=3)(three)[0, 1] == pytest.approx(np.exp(-0.1 * 3**2))
    assert rbf_kernel(wide, gamma=0.1)[0, 1] == pytest.approx(np.exp(-0.1 * 2 * 3))


def test_four_folds_of_eight_rows_have_two_each():
    folds = label_folds(np.repeat([0, 1], 4), 4, np.random.RandomState(0))
    np.testing.assert_array_equal(np.bincount(folds), [2, 2, 2, 2])


def test_ecoli_has_two_classes_of_two_rows():
    assert sorted(datasets.load("ecoli").y.value_counts())[:3] == [2, 2, 5]
    assert published("accuracy_exp1.csv")["Ecoli"]["n_labelled"] == "32"


def test_published_training_sets_are_four_fifths():
    table = published("accuracy_exp3.csv")
    sizes = {name: len(datasets.load(name).y) for name in datasets.names()}
    gaps = [abs(float(table[datasets.load(name).title]["n_labelled"]) - 0.8 * n) for name, n in sizes.items()]
    assert max(gaps) == pytest.approx(1.4)


def test_the_u_of_run_times_has_the_size_of_a_fold():
    rows = [row for title, row in published("run_times.csv").items() if title not in ("Mean", "Iris")]
    for row in rows:
        assert float(row["n_unlabelled"]) == pytest.approx(2.5 * float(row["n_labelled"]), abs=0.51)


def test_published_mean_run_times_are_not_those_of_the_rows():
    table = published("run_times.csv")
    mean = table.pop("Mean")
    columns = ("model_estimation", "rwm_building", "lap_building")
    assert [mean[column] for column in columns] == ["13.430", "3.794", "121.938"]
    found = [np.mean([float(row[column]) for row in table.values()]) for column in columns]
    np.testing.assert_allclose(found, [10.701, 3.459, 126.819], atol=0.001)
