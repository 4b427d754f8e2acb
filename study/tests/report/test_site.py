"""Pages for Sphinx: every link leads to a file, every table is there three times."""

import csv
import itertools
import re

import pytest

from mixkern_study.report import write_pages

PAGES = {
    "index.md",
    "experiment_1.md",
    "experiment_2.md",
    "experiment_3.md",
    "statistics.md",
    "run_times.md",
    "definiteness.md",
    "figures.md",
    "settings.md",
}


@pytest.fixture(scope="module")
def folder(store, tmp_path_factory, few_figures):
    folder = tmp_path_factory.mktemp("site") / "paper"
    written = write_pages(store, folder)
    assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
    return folder


def test_all_pages_are_there(folder):
    assert {path.name for path in folder.glob("*.md")} == PAGES


def test_the_first_page_leads_to_all_others(folder):
    text = (folder / "index.md").read_text("utf-8")
    (entries,) = re.findall(r"```\{toctree\}\n(?::.*\n)+\n(.*?)```", text, re.DOTALL)
    assert {f"{name}.md" for name in entries.split()} == PAGES - {"index.md"}
    assert "side by side" in text


def test_links_and_pictures_lead_to_files_and_all_files_are_used(folder):
    used = set()
    for page in folder.glob("*.md"):
        for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
            assert (folder / target).is_file()
            used.add(folder / target)
    assert used == {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"}


def test_each_page_has_one_title_and_no_gap_between_levels(folder):
    for page in folder.glob("*.md"):
        text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
        levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_tables_are_files_too(folder):
    stems = {path.stem for path in (folder / "tables").glob("*.csv")}
    assert stems == {path.stem for path in (folder / "tables").glob("*.tex")}
    with (folder / "tables" / "accuracy_1_optimistic.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["RWM"] for row in rows if row["Data set"] == "A & B <c>"] == ["62"]
    assert [row["RWM published"] for row in rows if row["Data set"] == "Iris"] == ["92"]


def test_pictures_are_small(folder):
    pictures = list((folder / "images").iterdir())
    assert {path.suffix for path in pictures} == {".png"}
    assert all(path.stat().st_size < 200_000 for path in pictures)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_strange_names_are_escaped(folder):
    assert r"| A \& B \<c\> |" in (folder / "experiment_1.md").read_text("utf-8")
    assert r"It shows \<nothing\>." in (folder / "figures.md").read_text("utf-8")


def test_other_files_stay(store, tmp_path):
    (tmp_path / "mine.md").write_text("mine")
    write_pages(store, str(tmp_path), figures=False)
    assert (tmp_path / "mine.md").read_text() == "mine"
    assert "written without figures" in (tmp_path / "figures.md").read_text("utf-8")
    assert not (tmp_path / "images").exists()
