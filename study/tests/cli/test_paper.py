"""``mixkern paper``: run, report, figures."""

import json

import pytest
from click.testing import CliRunner

from mixkern import datasets
from mixkern.cli import cli
from mixkern_study import BASELINES, KERNELS, Protocol, Store
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
    run("run", "--experiment", 1, "--data-sets", "iris", "--kernels", "rbf", "--jobs", 1, *options)
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
