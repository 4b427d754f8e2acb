"""``mixkern paper``: run, report, figures."""

import json

import pytest
from click.testing import CliRunner

from mixkern import datasets
from mixkern.cli import cli
from mixkern_study import BASELINES, KERNELS, Protocol, Result, Store
from mixkern_study.cli import paper as paper_module
from mixkern_study.variant import PEERS


def run(*arguments):
    return CliRunner().invoke(cli, ["paper", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def few_settings(monkeypatch):
    """Replace the paper's grids, which take minutes, by small ones."""
    small = {"C": (1.0, 100.0), "gamma": (0.1, 1.0), "intrinsic": (1.0,), "ambient": (0.01,), "priors": (1.0,)}
    monkeypatch.setattr(paper_module, "Protocol", lambda **given: Protocol(**{**small, **given}))
    return small


@pytest.mark.slow
def test_run_then_report(tmp_path, few_settings):
    path, page = tmp_path / "p.sqlite", tmp_path / "p.html"
    options = ("--store", path, "--folds", 2)
    done = run("run", "--experiment", 1, "--data-sets", "iris,seeds", "--jobs", 1, "--repeats", 1, *options)
    assert done.exit_code == 0, done.output
    for word in ("Iris", "Seeds", "RWM", "GMM", "RBF", "LAP", "Next: mixkern paper report --store"):
        assert word in done.output
    store = Store(path, Protocol(**few_settings, n_folds=2))
    assert {result.data_set for result in store.results()} == {"iris", "seeds"}
    assert {result.method for result in store.results()} == {*KERNELS, *PEERS}
    done = run("report", "--output", page, "--pages", tmp_path / "pages", "--no-figures", *options)
    assert done.exit_code == 0, done.output
    assert "<html" in page.read_text("utf-8")
    assert (tmp_path / "pages" / "index.md").exists()
    again = run("run", "--experiment", 1, "--data-sets", "iris,seeds", "--jobs", 1, "--repeats", 1, *options)
    assert again.exit_code == 0
    assert len(store.runs()) == 1


def add_result(store):
    cell = {"experiment": 1, "data_set": "iris", "fold": 0, "repeat": 0, "method": "rbf", "reading": "optimistic"}
    store.add([Result(**cell, accuracy=0.9, n_labelled=12)])


@pytest.fixture
def calls(monkeypatch):
    """Record what would be run."""
    found = []

    def recorded(name):
        return lambda store, **options: found.append((name, store.protocol, options))

    for name in ("run", "run_times", "run_variants"):
        monkeypatch.setattr(paper_module, name, recorded(name))
    return found


def test_all_experiments_with_the_peers_in_the_first_two(tmp_path, calls):
    done = run("run", "--store", tmp_path / "p.sqlite")
    assert done.exit_code == 0, done.output
    assert [name for name, *_ in calls] == ["run", "run", "run_times"]
    (_, protocol, kernels), (_, _, peers), (_, _, times) = calls
    assert protocol == Protocol()
    assert (kernels["experiments"], kernels["kernels"]) == ([1, 2, 3], list(KERNELS))
    assert (peers["experiments"], peers["kernels"], peers["baselines"]) == ([1, 2], (), PEERS)
    assert kernels["repeats"] == peers["repeats"] == {1: 5, 2: 1}
    assert kernels["data_sets"] == peers["data_sets"] == times["data_sets"] == list(datasets.names())


def test_readings_are_run_on_the_same_data_sets(tmp_path, calls):
    datasets.load("wine").X.assign(kind=datasets.load("wine").y).to_csv(tmp_path / "mine.csv", index=False)
    options = ("--store", tmp_path / "p.sqlite", "--readings", "--jobs", 1)
    assert run("run", "--data-sets", "iris", *options).exit_code == 0
    name, protocol, given = calls[-1]
    assert (name, protocol) == ("run_variants", Protocol())
    assert (given["data_sets"], given["repeats"], given["n_jobs"]) == (["iris"], {1: 5, 2: 1}, 1)
    run("run", "--experiment", 1, "--repeats", 2, *options, "--table", tmp_path / "mine.csv", "--target", "kind")
    name, _, given = calls[-1]
    assert name == "run_variants"
    assert ([each.name for each in given["data_sets"]], given["repeats"]) == (["mine"], 2)
    assert (given["experiments"], given["kernels"]) == ([1], list(KERNELS))
    calls.clear()
    run("run", "--data-sets", "iris", *options[:2])
    assert "run_variants" not in {name for name, *_ in calls}


def test_settings_are_in_the_next_command(tmp_path, calls):
    """Those that identify the results, without the usual ones."""
    options = ("--labels", "dense_per_class", "--density", "paper", "--seed", "7")
    done = run("run", "--experiment", 1, "--data-sets", "iris", "--store", tmp_path / "p.sqlite", *options)
    assert done.exit_code == 0, done.output
    assert {protocol for _, protocol, _ in calls} == {Protocol(labels="dense_per_class", density="paper", seed=7)}
    shown = " ".join(done.output.split())
    assert shown.endswith("--labels dense_per_class --density paper --seed 7")
    plain = run("run", "--experiment", 1, "--data-sets", "iris", "--store", tmp_path / "p.sqlite")
    assert not any(name in plain.output for name in ("--labels", "--density", "--folds", "--seed"))


def test_a_report_of_other_labels_is_another_report(tmp_path, few_settings):
    options = ("--store", tmp_path / "p.sqlite", "--folds", 2)
    add_result(Store(tmp_path / "p.sqlite", Protocol(**few_settings, n_folds=2, labels="dense")))
    page = ("--output", tmp_path / "p.html", "--no-figures")
    assert "no results of these settings yet" in run("report", *page, *options).output
    assert run("report", *page, *options, "--labels", "dense").exit_code == 0


@pytest.mark.slow
def test_a_table_of_your_own_and_baselines(tmp_path, few_settings):
    wine = datasets.load("wine")
    wine.X.assign(kind=wine.y).to_csv(tmp_path / "mine.csv", index=False)
    options = ("--store", tmp_path / "p.sqlite", "--folds", 2, "--jobs", 1)
    done = run(
        "run",
        "--experiment",
        1,
        "--kernels",
        "rbf",
        "--baselines",
        "--table",
        tmp_path / "mine.csv",
        "--target",
        "kind",
        *options,
    )
    assert done.exit_code == 0, done.output
    assert "mine" in done.output
    methods = {result.method for result in Store(tmp_path / "p.sqlite", Protocol(**few_settings, n_folds=2)).results()}
    assert methods == {"rbf", *BASELINES}


@pytest.mark.slow
def test_run_times(tmp_path, few_settings):
    options = ("--store", tmp_path / "p.sqlite", "--folds", 2)
    done = run("run", "--experiment", "times", "--data-sets", "iris", *options)
    assert done.exit_code == 0, done.output
    assert len(Store(tmp_path / "p.sqlite", Protocol(**few_settings, n_folds=2)).timings()) == 2 * 6


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(store, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(paper_module, "run", interrupted)
    done = run("run", "--experiment", 1, "--data-sets", "iris", "--store", tmp_path / "p.sqlite")
    assert done.exit_code == 130
    assert "the same command goes on from there" in done.output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("run", "--data-sets", "irsi"), "Did you mean 'iris'?"),
        (("run", "--kernels", "rwm,rvm"), "Did you mean 'rwm'?"),
        (("run", "--experiment", "4"), "'4' is not one of"),
        (("run", "--table", "nowhere.csv"), "does not exist"),
        (("run", "--repeats", "0"), "0 is not in the range"),
        (("run", "--labels", "densest"), "'densest' is not one of"),
        (("report", "--density", "representativity"), "'representativity' is not one of"),
        (("figures", "--only", "openml:1"), "There is no 'openml:1'"),
        (("figures", "--only", "introduktion"), "Did you mean 'introduction'?"),
    ],
)
def test_typos(tmp_path, arguments, why):
    done = run(*arguments)
    assert done.exit_code == 2
    assert why in " ".join(done.output.replace("│", " ").split())


def test_a_report_of_nothing(tmp_path):
    options = ("--store", tmp_path / "p.sqlite", "--output", tmp_path / "p.html")
    done = run("report", *options)
    assert done.exit_code == 1
    assert "Next: mixkern paper run" in done.output
    assert not (tmp_path / "p.sqlite").exists()
    Store(tmp_path / "p.sqlite")
    assert "no results of these settings yet" in run("report", *options).output
    assert not (tmp_path / "p.html").exists()


def test_a_report_that_cannot_be_written(tmp_path, few_settings):
    options = ("--store", tmp_path / "p.sqlite", "--folds", 2)
    add_result(Store(tmp_path / "p.sqlite", Protocol(**few_settings, n_folds=2)))
    (tmp_path / "file").write_text("")
    done = run("report", "--output", tmp_path / "file" / "p.html", "--no-figures", *options)
    assert done.exit_code == 1
    assert "The report could not be written" in done.output


@pytest.mark.slow
def test_figures(tmp_path):
    done = run("figures", "--only", "distances,published_ranks", "--folder", tmp_path / "f", "--format", "svg")
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "f").iterdir()} == {"distances.svg", "published_ranks.svg"}
    assert json.dumps(done.output).count("svg:") == 2
