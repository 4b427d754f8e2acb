"""``mixkern paper data`` and accuracies on a terminal."""

import json
import statistics

import pytest
from click.testing import CliRunner

from mixkern import datasets
from mixkern_study import KERNELS, Result, Store, published_accuracies
from mixkern_study.cli.table import data_command, own_table, print_accuracies


def run(*arguments):
    return CliRunner().invoke(data_command, arguments, catch_exceptions=False)


def test_all_twenty_data_sets_are_listed_beside_the_paper():
    done = run()
    assert done.exit_code == 0
    for name in datasets.names():
        assert name in done.output
    assert "6435 / 6345 *" in done.output
    assert "15 of 20 sets agree with the paper in every figure." in done.output


def test_a_table_of_the_user_has_all_labels(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(["id,age,kind", *(f"k{i},{i % 7},{('a', 'b', '')[i % 3]}" for i in range(30))]))
    table = own_table(path, "kind")
    assert (table.n_samples, list(table.X), table.classes) == (20, ["age"], ("a", "b"))
    assert capsys.readouterr().err.splitlines() == [
        "Note: mine.csv: Not learned from, because nearly all values differ: 'id'.",
        "Note: mine.csv: 10 rows without a label cannot be tested, and are left out.",
    ]


def test_figures_as_json():
    rows = json.loads(run("--json").stdout)
    assert len(rows) == 20
    assert rows[8]["ours"]["n_samples"] == rows[8]["paper"]["n_samples"] == 150


PERCENT = {"rwm": 0.9, "gmm": 0.8, "rbf": 0.9, "lap": 1.0, "forest": 0.95}


def fill(store, *data_sets, methods=KERNELS, experiment=1, n_folds=5, reading="expected_error"):
    store.add(
        Result(
            experiment=experiment,
            data_set=data_set,
            fold=fold,
            repeat=0,
            method=method,
            reading="default" if method == "forest" else reading,
            accuracy=PERCENT[method],
            n_labelled=12,
        )
        for data_set in data_sets
        for method in methods
        for fold in range(n_folds)
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "p.sqlite")


@pytest.fixture
def printed(capsys, store):
    def lines(*arguments):
        print_accuracies(store, *arguments)
        return capsys.readouterr().out.splitlines()

    return lines


def cells(lines, name):
    (line,) = [line for line in lines if line.startswith(name)]
    return line.removeprefix(name).split()


@pytest.mark.parametrize("experiment", [1, 2, 3])
def test_four_kernels_fit_into_eighty_characters(store, printed, experiment):
    fill(store, "two_moons", "page_blocks", "a_rather_long_name_of_a_table", experiment=experiment, n_folds=1)
    lines = printed(experiment)
    assert lines[0].startswith(f"Experiment {experiment}, ")
    assert lines[0].endswith("training labels")
    assert max(map(len, lines)) <= 80
    assert all(kernel.upper() in lines[1] for kernel in KERNELS)


def test_ours_stand_beside_the_published(store, printed):
    fill(store, "iris", "wine")
    lines = printed(1)
    paper = published_accuracies(1)
    mean = statistics.mean(paper[title]["rwm"].percent for title in ("Iris", "Wine"))
    assert cells(lines, "Wine")[:2] == ["90.0", "(96.0)"]
    assert cells(lines, "Mean  ")[:2] == ["90.0", f"({mean:.1f})"]
    assert cells(lines, "Mean rank")[::2] == ["2.50", "4.00", "2.50", "1.00"]
    assert cells(lines, "Wins")[::2] == ["0.0", "0.0", "0.0", "2.0"]
    assert lines[-2:] == ["Mean, rank and wins: the kernels on 2 data sets that all have.", ""]


def test_the_best_of_a_row_is_bold_and_the_published_dim(store, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    fill(store, "iris", methods=("rwm", "gmm", "rbf"))
    print_accuracies(store, 1)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Iris")]
    assert line.count("\x1b[1m  90.0") == 2
    assert line.count("\x1b[1m") == 2
    assert line.count("\x1b[2m") == 3


def test_baselines_are_columns_and_tables_of_your_own_rows(store, printed):
    fill(store, "iris", "mine", methods=(*KERNELS, "forest"))
    lines = printed(1)
    assert lines[1].split()[-1] == "forest"
    assert cells(lines, "mine") == ["90.0", "80.0", "90.0", "100.0", "95.0"]
    assert cells(lines, "Mean rank") == ["3.50", "5.00", "3.50", "1.00", "2.00"]  # nothing like it was published


def test_kernels_are_ranked_as_published_and_then_with_all_methods(store, printed):
    fill(store, "iris", "wine", methods=(*KERNELS, "forest"))
    lines = printed(1)
    assert cells(lines, "Mean rank  ")[::2] == ["2.50", "4.00", "2.50", "1.00"]
    assert cells(lines, "Mean rank  ")[1].startswith("(")
    assert cells(lines, "Mean rank, all") == ["3.50", "5.00", "3.50", "1.00", "2.00"]
    assert lines[-3:] == [
        "Mean, rank and wins: the kernels on 2 data sets that all have.",
        "Mean, rank and wins, all: 2 data sets that all methods have.",
        "",
    ]


def test_holes_are_dashes(store, printed):
    fill(store, "iris", n_folds=2)
    fill(store, "wine", methods=("rwm",))
    lines = printed(1)
    assert cells(lines, "Iris")[6] == "100.0*"
    assert cells(lines, "Wine")[2] == "-"
    assert not any(line.startswith("Mean") for line in lines)  # of one data set
    assert "fewer than 5 folds" in lines[-2]


def test_nothing_is_printed_of_nothing(printed):
    assert printed(2) == []
