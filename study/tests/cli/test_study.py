"""``mixkern study``: the leaderboard from a terminal."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from mixkern import datasets
from mixkern.cli import cli
from mixkern_study import OUTSIDE, TUNING, WIDE, Method, Protocol, Store, optional_method
from mixkern_study.cli import study as study_module


def run(*arguments):
    return CliRunner().invoke(cli, ["study", "leaderboard", *map(str, arguments)], catch_exceptions=False)


SMALL = ("--budgets", 4, "--choices", "random", "--draws", 2, "--jobs", 1)


@pytest.mark.slow
def test_a_small_leaderboard_and_its_pages(tmp_path):
    options = ("--data-sets", "iris,wine", "--methods", "rbf,svc", "--store", tmp_path / "b.sqlite", *SMALL)
    done = run(*options, "--output", tmp_path / "out")
    assert done.exit_code == 0, done.output
    for word in ("Leaderboard, 4 labels per class, random rows", "MixtureSVC, RBF", "SVC", "Seconds", "b.sqlite"):
        assert word in done.output
    page = (tmp_path / "out" / "leaderboard.md").read_text("utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", page):
        assert (tmp_path / "out" / link).stat().st_size > 50
    assert "Accuracy by data set" in page
    assert (tmp_path / "out" / "images" / "leaderboard_random.png").read_bytes().startswith(b"\x89PNG")
    before = Store(tmp_path / "b.sqlite").entries()
    assert len(before) == 2 * 2 * 2
    again = run(*options)
    assert again.exit_code == 0
    assert repr(Store(tmp_path / "b.sqlite").entries()) == repr(before)
    shown = run(*options, "--show-only", "--data-sets", "wine", "--output", tmp_path / "plain", "--no-picture")
    assert "1 data set of 2 draws" in " ".join(shown.output.split())
    assert not (tmp_path / "plain" / "images").exists()


@pytest.mark.parametrize("target", ["", ":kind"])
@pytest.mark.slow
def test_a_table_of_your_own(tmp_path, target):
    wine = datasets.load("wine")
    wine.X.assign(kind=wine.y).to_csv(tmp_path / "mine.csv", index=False)
    store = tmp_path / "b.sqlite"
    done = run("--csv", f"{tmp_path / 'mine.csv'}{target}", "--methods", "bayes", "--store", store, *SMALL)
    assert done.exit_code == 0, done.output
    assert {entry.data_set for entry in Store(store).entries()} == {"mine"}


def test_names_of_groups(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(study_module, "run_leaderboard", lambda store, **options: calls.append(options["data_sets"]))
    for given in ("", "outside,iris", "paper", "wide", "wide-tuning,sonar"):
        run(*(("--data-sets", given) if given else ()), "--store", tmp_path / "b.sqlite")
    assert calls == [
        [*datasets.names(), *OUTSIDE],
        [*OUTSIDE, "iris"],
        datasets.names(),
        list(WIDE),
        [*TUNING, "sonar"],
    ]


def test_methods_that_are_left_out_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(study_module, "run_leaderboard", lambda store, **options: None)
    monkeypatch.setattr(optional_method, "find_spec", lambda name: None)
    everything = run("--data-sets", "iris", "--store", tmp_path / "b.sqlite")
    assert "Note: Left out: TabPFN needs tabpfn, which is not installed: pip install tabpfn." in everything.output
    assert "Left out" not in run("--methods", "svc", "--store", tmp_path / "b.sqlite").output


def test_a_method_that_is_not_installed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(optional_method, "find_spec", lambda name: None)
    done = run("--data-sets", "iris", "--methods", "lightgbm", "--store", tmp_path / "b.sqlite", *SMALL)
    assert done.exit_code == 1
    assert "pip install lightgbm" in done.output


def test_probabilities_can_be_left_out(tmp_path):
    options = ("--data-sets", "iris", "--methods", "bayes", "--store", tmp_path / "b.sqlite", *SMALL)
    run(*options, "--no-probabilities")
    assert {entry.reliability for entry in Store(tmp_path / "b.sqlite").entries()} == {""}


def test_seeds_are_kept_apart(tmp_path):
    options = ("--data-sets", "iris", "--methods", "bayes", "--store", tmp_path / "b.sqlite", *SMALL)
    run(*options, "--seed", 1)
    assert Store(tmp_path / "b.sqlite").entries() == []
    assert len(Store(tmp_path / "b.sqlite", Protocol(seed=1)).entries()) == 2


def test_failures_are_reported(tmp_path, monkeypatch):
    def no(data):
        raise ValueError("too hard")

    methods = {"never": Method("Never", no, "")}
    monkeypatch.setattr(
        study_module,
        "run_leaderboard",
        lambda store, **o: study_module_run(store, **{**o, "methods": methods}),
    )
    monkeypatch.setattr(study_module, "leaderboard_methods", lambda: methods)
    done = run("--data-sets", "iris", "--store", tmp_path / "b.sqlite", *SMALL)
    assert done.exit_code == 0, done.output
    assert "2 draws failed. The first: never on iris, 4 labels per class: ValueError: too hard" in " ".join(
        done.output.split()
    )


study_module_run = study_module.run_leaderboard


def test_ctrl_c_says_how_to_go_on(tmp_path, monkeypatch):
    def interrupted(store, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(study_module, "run_leaderboard", interrupted)
    done = run("--data-sets", "iris", "--store", tmp_path / "b.sqlite")
    assert done.exit_code == 130
    assert "the same command goes on from there" in done.output


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    options = ("--data-sets", "iris", "--methods", "bayes", "--store", tmp_path / "b.sqlite", *SMALL)
    done = run(*options, "--output", tmp_path / "file" / "deep", "--no-picture")
    assert done.exit_code == 1
    assert "could not be written" in done.output


def test_nothing_to_show(tmp_path):
    done = run("--show-only", "--store", tmp_path / "b.sqlite")
    assert done.exit_code == 1
    assert "Next: mixkern study leaderboard" in done.output
    assert not (tmp_path / "b.sqlite").exists()
    Store(tmp_path / "b.sqlite")
    assert "no data set yet" in run("--show-only", "--store", tmp_path / "b.sqlite").output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--data-sets", "irsi"), "Did you mean 'iris'?"),
        (("--methods", "svc,forst"), "Did you mean 'forest'?"),
        (("--choices", "rndom"), "Did you mean 'random'?"),
        (("--budgets", "4,x"), "'4,x' is not a list of whole numbers"),
        (("--budgets", "0"), "is not a list of whole numbers"),
        (("--draws", "0"), "0 is not in the range"),
        (("--csv", "nowhere.csv:label"), "There is no file 'nowhere.csv'"),
    ],
)
def test_typos(arguments, why):
    done = run(*arguments)
    assert done.exit_code == 2
    assert why in " ".join(done.output.replace("│", " ").split())


def test_tables_are_as_wide_as_they_must_be(capsys):
    cells = tuple(study_module.Cell(value) for value in ("a", *np.arange(40.0).tolist()))
    table = study_module.TextTable("t", "Wide", "", tuple(f"column {i}" for i in range(41)), (cells,))
    study_module.print_table(table)
    assert "column 40" in capsys.readouterr().out
