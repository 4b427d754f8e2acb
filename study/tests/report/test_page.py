"""One page with everything in it: it needs nothing else, and it is well formed."""

import re

import pytest

from mixkern_study import Store
from mixkern_study.report import write_report


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
        "readings_1",
        "readings_2",
        "statistics",
        "run_times",
        "definiteness",
        "settings",
    }
    # Three diagrams of each experiment that has results, three as published, and the figure.
    assert len(outline.sources) == 2 * 3 + 3 + 1
    assert sum(source.startswith("data:image/svg+xml;base64,") for source in outline.sources) == 9
    assert "A small & plain one" in outline.alts
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


def test_browsers_are_told_to_refuse_scripts(outline):
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in outline.source
