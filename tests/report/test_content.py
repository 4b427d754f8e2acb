"""The report of a model: its chapters, and one page for any table."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mixkern import MixtureSVC, datasets
from mixkern.density import VBMixture
from mixkern.errors import LengthError, MixkernWarning, OptionError
from mixkern.report import write_model_report
from mixkern.report.content import sections
from mixkern.report.facts import ModelFacts

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chapters(facts):
    found = sections(facts, n_suggestions=4, figures=False, more={"File": "mine.csv"})
    return {chapter.name: chapter.blocks for chapter in found}


def column_table(facts):
    found = sections(facts, n_suggestions=0, figures=False, more={})
    return next(chapter.blocks[1] for chapter in found if chapter.name == "columns")


def test_suggestions_have_row_numbers_and_values(chapters, facts, plain):
    (table,) = chapters["next"]
    assert table.columns == ("Row", "Why", "size", "town")
    assert len(table.rows) == 4
    _, X, y = plain
    for row, _, size, town in table.rows:
        i = int(row) - 1
        assert y[i] is None
        assert (float(size), town) == (pytest.approx(X["size"][i], rel=1e-8), X["town"][i])


def test_the_most_unusual_row_is_first(plain):
    model, X, y = plain
    strange = X.copy()
    strange.loc[100, "size"] = 500.0
    found = sections(ModelFacts.of(model, strange, y, "level"), n_suggestions=0, figures=False, more={})
    (table,) = next(chapter.blocks for chapter in found if chapter.name == "unusual")
    assert table.columns == ("Row", "Novelty", "Component", "Predicted", "Unusual cells", "size", "town")
    assert table.rows[0][0] == "101"
    assert re.fullmatch(r"size 500 \(-?[\d.]+ to -?[\d.]+\)", table.rows[0][4])
    assert table.rows[0][5] == "500"
    assert table.rows[0][1] == "100 %"
    assert len(table.rows) == 10


def test_each_class_has_a_line(chapters, facts):
    table = next(block for block in chapters["accuracy"] if getattr(block, "name", "") == "classes")
    assert [row[:2] for row in table.rows] == [("high", "4"), ("low", "5")]
    assert sum(int(row[2]) for row in table.rows) == 120


def test_each_column_has_a_line(chapters):
    chart, table = chapters["columns"]
    assert table.columns[-1] == "Values"
    assert [row[0] for row in table.rows] == ["size", "town"]
    assert table.rows[0][2:4] == ("number", "none")
    assert (table.rows[1][0], *table.rows[1][2:]) == ("town", "2 categories", "none", "Kassel (50 %), Passau (50 %)")
    assert {row[0]: row[1] for row in table.rows} == {bar.name: bar.amount for bar in chart.bars}


def test_gaps_are_counted_in_the_table_that_came(plain):
    model, X, y = plain
    found = ModelFacts.of(model, X.assign(size=np.where(np.arange(120) < 30, np.nan, X["size"])), y, "level")
    assert column_table(found).rows[0][3] == "30 (25 %)"


def test_remarks_of_the_encoder_are_shown(nasty):
    model, X, y = nasty
    table = column_table(ModelFacts.of(model, X, y, "label"))
    assert any(each.remark for each in model.encoder_.encoded_columns_) == (table.columns[-1] == "Remark")


def test_settings_come_with_versions_and_what_was_added(chapters):
    (table,) = chapters["settings"]
    settings = dict(table.rows)
    assert settings["File"] == "mine.csv"
    assert settings["Target"] == "level"
    assert settings["numpy"] == np.__version__
    assert "MixtureSVC(random_state=0)" in settings["Model"]


def test_labels_that_may_be_mistaken_have_a_line_each(tmp_path, outline_of):
    iris = datasets.load("iris")
    y = np.array(iris.few_labels(per_class=30, random_state=0), dtype=object)
    path, model = tmp_path / "a.html", MixtureSVC(random_state=0).fit(iris.X, y)
    write_model_report(model, iris.X, y, path, figures=False)
    assert "None of 90 labels stands out as mistaken." in outline_of(path).text
    slips = np.flatnonzero(np.isin(y, iris.classes))[::10]
    y[slips] = np.array(iris.classes, dtype=object)[(np.arange(len(slips)) + 1) % 3]
    write_model_report(model.fit(iris.X, y), iris.X, y, path, figures=False)
    text = outline_of(path).text
    assert re.search(r"\d of 90 labels stands? out as mistaken\.", text)
    assert "Check the labels that may be mistaken, which are listed below." in text


@pytest.fixture(scope="module")
def page(nasty_page, outline_of):
    return outline_of(nasty_page)


def test_it_is_well_formed_and_links_lead_somewhere(page):
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert [name for name in page.ids if not name.startswith("table-")] == [
        "summary",
        "map",
        "accuracy",
        "confidence",
        "mistaken",
        "next",
        "components",
        "unusual",
        "columns",
        "card",
        "settings",
    ]


def test_what_users_have_named_is_text(page):
    assert "<script>alert(1)</script>" in page.text
    assert page.source.count("<img") == 2  # the outline asserts that there is one script, and no attribute on...
    assert "\x00" not in page.source
    assert "גיל המטופל" in page.text
    assert "long" * 50 not in page.text  # cut; more of it is in a title
    assert "a&b.csv" in page.text
    assert "Predicting </h1><script>alert(3)</script>" in page.text


def test_it_needs_nothing_from_outside(page):
    assert "default-src 'none'" in page.source
    assert not re.search(r"(src|href|action|srcset)\s*=\s*[\"']?\s*(https?:)?//", page.source)
    assert "url(" not in page.source
    assert len(page.source) < 1e6


def test_pictures_are_there_for_light_and_dark_pages(page):
    assert all(source.startswith("data:image/") for source in page.sources)
    assert all(page.alts)
    assert len(page.sources) == 2
    dark = re.findall(
        r'srcset="data:image/(png|svg\+xml);base64,([^"]+)" media="\(prefers-color-scheme: dark\)"', page.source
    )
    assert [kind for kind, _ in dark] == ["png", "svg+xml"]
    light = base64.b64decode(page.sources[0].partition(",")[2])
    corners = [
        Image.open(io.BytesIO(each)).convert("RGB").getpixel((2, 2)) for each in (light, base64.b64decode(dark[0][1]))
    ]
    assert min(corners[0]) > 240
    assert max(corners[1]) < 40


def test_without_figures_it_needs_no_matplotlib(nasty, tmp_path, monkeypatch):
    def missing(*_, **__):
        raise AssertionError("matplotlib was imported")

    monkeypatch.setattr("mixkern.report.pictures.optional", missing)
    monkeypatch.setattr("mixkern.plot.figure.optional", missing)
    source = write_model_report(*nasty, tmp_path / "plain.html", figures=False).read_text("utf-8")
    assert "<img" not in source
    assert "written without figures" in source


def test_a_failure_leaves_the_old_page(nasty, tmp_path, monkeypatch):
    path = tmp_path / "old.html"
    path.write_text("old")

    def fails(*_, **__):
        raise RuntimeError("no more ink")

    monkeypatch.setattr("mixkern.report.content.page", fails)
    with pytest.raises(RuntimeError, match="no more ink"):
        write_model_report(*nasty, path, figures=False)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["old.html"]


def test_the_same_model_makes_the_same_page(plain, tmp_path):
    paths = (write_model_report(*plain, tmp_path / name, figures=False) for name in ("a.html", "b.html"))
    assert len({path.read_bytes() for path in paths}) == 1


def table(n, **columns):
    return pd.DataFrame({name: each(n) for name, each in columns.items()})


RANDOM = np.random.RandomState(0)
CASES = {
    "one column": (table(60, x=lambda n: RANDOM.normal(size=n) + 5 * (np.arange(n) % 2)), 2, 0.3),
    "one category": (table(60, x=lambda n: np.array(["a", "b", "c"])[np.arange(n) % 3]), 3, 0.3),
    "only categories": (
        table(90, x=lambda n: RANDOM.choice(list("ab"), n), y=lambda n: RANDOM.choice(list("cde"), n)),
        2,
        0.2,
    ),
    "all labelled": (table(40, x=lambda n: RANDOM.normal(size=n), y=lambda n: RANDOM.normal(size=n)), 2, 1.0),
    "twenty classes": (
        table(200, x=lambda n: np.arange(n) % 20 + 0.1 * RANDOM.normal(size=n), y=RANDOM.normal),
        20,
        0.4,
    ),
    "one label each": (table(50, x=lambda n: RANDOM.normal(size=n) + 5 * (np.arange(n) % 2)), 2, 0.0),
}

PICTURED = ("one column", "twenty classes")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::mixkern.errors.MixkernWarning")
def test_tables_of_all_kinds(name, tmp_path, outline_of):
    X, n_classes, share = CASES[name]
    if name == "twenty classes":
        X = X.assign(y=RANDOM.normal(size=len(X)))
    codes = np.arange(len(X)) % n_classes
    y = np.where(np.arange(len(X)) < max(n_classes, share * len(X)), codes, -1)
    model = MixtureSVC(random_state=0).fit(X, y)
    found = outline_of(write_model_report(model, X, y, tmp_path / "a.html", figures=name in PICTURED))
    assert found.open == []
    assert "nan" not in re.sub(r"<style>.*</style>|data:[^\"]*", "", found.source, flags=re.DOTALL).lower().split()
    assert ("Every row has a label." in found.text) == (share == 1.0)
    assert ("The accuracy cannot be estimated" in found.text) == (share == 0.0)


@pytest.mark.filterwarnings("ignore::mixkern.errors.MixkernWarning")
def test_five_hundred_columns_show_the_few_that_matter(tmp_path, outline_of):
    random = np.random.RandomState(0)
    group = np.arange(100) % 2
    X = pd.DataFrame(random.normal(size=(100, 500)), columns=[f"column {j}" for j in range(500)])
    X.iloc[:, 70:90] += 9 * group[:, None]
    y = np.where(np.arange(100) < 10, group, -1)
    model = MixtureSVC(density=VBMixture(covariance_type="diag"), random_state=0).fit(X, y)
    path = write_model_report(model, X, y, tmp_path / "wide.html", figures=False)
    found = outline_of(path)
    assert "The 40 of 500 columns" in found.text
    assert "column 77" in found.text
    assert path.stat().st_size < 100_000


def test_further_cases_that_have_no_labels_or_probabilities(plain, tmp_path, outline_of):
    model, X, y = plain
    without = outline_of(write_model_report(model, X, None, tmp_path / "a.html", figures=False, n_suggestions=0))
    assert "None of the rows has a label" in without.text
    assert "No suggestions were requested." in without.text
    silent = MixtureSVC(probability=False, random_state=0).fit(X, y)
    found = outline_of(write_model_report(silent, X, y, tmp_path / "b.html", figures=False, n_suggestions=0))
    assert "Fit it with probability=True" in found.text


def test_a_density_that_has_seen_the_labels_is_not_judged_by_them(plain, tmp_path, outline_of):
    _, X, y = plain
    model = MixtureSVC(density=VBMixture(use_labels=True), random_state=0).fit(X, y)
    found = outline_of(write_model_report(model, X, y, tmp_path / "a.html", figures=False))
    assert "was fitted with the labels" in found.text


@pytest.mark.parametrize("wrong", [-1, 1.5, "ten", True])
def test_what_is_wrong_is_refused(nasty, tmp_path, wrong):
    with pytest.raises(OptionError, match="n_suggestions must be a whole number, 0 or more, but it is"):
        write_model_report(*nasty, tmp_path / "a.html", n_suggestions=wrong)
    with pytest.raises(OptionError, match="model must be a fitted MixtureSVC or LaplacianSVC"):
        write_model_report(None, *nasty[1:], tmp_path / "a.html")
    with pytest.raises(LengthError, match="X has 120 rows, but source has 1 cell"):
        write_model_report(*nasty, tmp_path / "a.html", source=["random"])
    assert not list(tmp_path.iterdir())


def test_new_categories_are_announced_once(plain, tmp_path):
    model, X, y = plain
    with pytest.warns(MixkernWarning) as caught:
        write_model_report(model, X.assign(town="Ulm"), y, tmp_path / "a.html", figures=False)
    assert len(caught) == 1
