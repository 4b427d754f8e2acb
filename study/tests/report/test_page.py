"""The HTML page, well formed and self-contained; Markdown pages, whose links lead to files."""

import csv
import itertools
import re

import pytest

from mixkern_study import Store
from mixkern_study.report import write_pages, write_report

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outline(store, tmp_path_factory, few_figures, outline_of):
    return outline_of(write_report(store, tmp_path_factory.mktemp("page") / "deep" / "paper.html"))


def test_it_is_well_formed_and_links_lead_somewhere(outline):
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.links
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def test_it_needs_nothing_from_outside(outline):
    assert not re.search(r"(src|href|action|srcset)\s*=\s*[\"']?\s*(https?:)?//", outline.source)
    assert "@import" not in outline.source
    assert "url(" not in outline.source
    assert all(source.startswith("data:image/") for source in outline.sources)
    assert len(outline.source) < 8e6


def test_everything_is_there(outline):
    tables = {name.removeprefix("table-") for name in outline.ids if name.startswith("table-")}
    readings = ("expected_error", "optimistic", "ceiling")
    assert tables == {
        *(f"accuracy_{e}_{reading}" for e in (1, 2) for reading in readings),
        *(f"readings_{e}" for e in (1, 2)),
        *(f"labels_{reading}" for reading in readings),
        *(f"density_{e}_{reading}" for e in (1, 2, 3) for reading in readings[:2]),
        *("summary", "densities", "choosers", "responsibilities", "graph", "items"),
        "statistics",
        "run_times",
        "definiteness",
        "settings",
    }
    # Three diagrams of each experiment that has results, three as published, the figure, and that of the first page.
    assert len(outline.sources) == 2 * 3 + 3 + 1 + 1
    assert sum(source.startswith("data:image/svg+xml;base64,") for source in outline.sources) == 9
    assert "Figure 99: A small & plain one" in outline.alts
    assert "It shows <nothing>." in outline.text
    assert "A & B <c>" in outline.text
    assert "There are no results of this experiment in the store yet." in outline.text
    assert "labels_only(GaussianNB())" in outline.text
    assert "RWM is behind by 10.00 points" in outline.text
    assert outline.ids.index("readings") < outline.ids.index("experiment_1") < outline.ids.index("settings")


def test_code_in_words_is_marked(outline):
    assert "<code>expected_error</code>" in outline.source
    assert "`" not in outline.text


def test_without_figures_there_are_none(store, tmp_path):
    source = write_report(store, str(tmp_path / "paper.html"), figures=False).read_text("utf-8")
    assert "<img" not in source
    assert "This was written without figures." in source


def test_an_empty_store_makes_a_page(tmp_path):
    source = write_report(Store(tmp_path / "empty.sqlite"), tmp_path / "paper.html", figures=False).read_text("utf-8")
    assert source.count("There are no results of this experiment in the store yet.") == 3
    assert "nan" not in re.sub(r"<style>.*</style>", "", source, flags=re.DOTALL)


def test_a_failure_leaves_the_old_page(store, tmp_path, monkeypatch):
    path = tmp_path / "paper.html"
    path.write_text("old")

    def fails(*_, **__):
        raise RuntimeError("no more ink")

    monkeypatch.setattr("mixkern_study.report.page.page", fails)
    with pytest.raises(RuntimeError, match="no more ink"):
        write_report(store, path, figures=False)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["paper.html"]


def test_the_same_study_makes_the_same_page(store, outline, tmp_path):
    assert write_report(store, tmp_path / "again.html").read_text("utf-8") == outline.source


def test_the_policy_refuses_scripts(outline):
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in outline.source


PAGES = {
    "index.md",
    "protocol.md",
    "readings.md",
    "labels.md",
    "density.md",
    "choosers.md",
    "details.md",
    "items.md",
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
    assert "What reproduces" in text


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
