"""Blocks as HTML, and a page of them."""

import re

import pytest
from matplotlib import pyplot as plt

from mixkern.plot.style import DARK, LIGHT, N_STYLES
from mixkern.report.blocks import OTHERS, Alert, Card, Cards, Gauge, Paragraph, Section, Share, Tile, Tiles
from mixkern.report.page import page, render
from mixkern.report.pictures import Mark, Picture
from mixkern.report.table import TextTable


def mark(code):
    """Return the mark of a class beside a share."""
    written = render(Cards((Card("", "", "", (("", (Share(code, 1.0, "", ""),)),), (), ()),)))
    return written[written.index("<svg") : written.index("</svg>")]


def test_a_page_has_its_title_and_no_letter_that_breaks_it():
    written = page([Section("one", "One", (Paragraph("5 % of `a`, \ud800 and \x00"),))], title="<a & b>")
    assert written.startswith("<!DOCTYPE html>\n")
    assert written.count("&lt;a &amp; b&gt;") == 2
    assert "5\N{NO-BREAK SPACE}% of <code>a</code>, \N{REPLACEMENT CHARACTER} and \N{REPLACEMENT CHARACTER}" in written
    written.encode()


def test_code_and_texts_are_escaped():
    assert render(Paragraph("<i> & `<b>`")) == "<p>&lt;i&gt; &amp; <code>&lt;b&gt;</code></p>\n"
    assert render(Paragraph("one ` only")) == "<p>one ` only</p>\n"


def test_a_picture_may_have_a_dark_side_and_names():
    def draw():
        return plt.subplots(figsize=(1, 1))[0]

    picture = Picture("a", "A", "It.", draw, True, draw, (Mark(1, "<b>"),))
    written = page([Section("one", "One", (picture,))], title="T")
    assert '<source srcset="data:image/svg+xml;base64,' in written
    assert "<bdi>&lt;b&gt;</bdi></li></ul>" in written


def test_names_are_isolated_and_cut():
    written = render(Tiles((Tile("5", "rows"), Tile("6", '"' * 500), Tile("7", "x" * 10**6))))
    assert written.startswith('<dl class="tiles"><div><dt><bdi>rows</bdi></dt><dd>5</dd></div>')
    assert '<bdi title="&#34;&#34;' in written
    assert written.count("…") == 3  # the longest is cut in its title, too
    assert len(written) < 7_000


def test_cards_show_shares_and_warnings():
    shares = (Share(0, 0.75, "<a>", "3"), Share(OTHERS, 0.25, "2 others", "1"))
    card = Card("Component 1", "4 rows", "No label", (("Labels", shares),), ("Column", "Here"), (("age", "5"),))
    written = render(Cards((card,)))
    assert '<i class="c0" style="width:75.00%"></i><i class="others" style="width:25.00%"></i>' in written
    assert "<bdi>&lt;a&gt;</bdi> (3)" in written
    assert '<p class="warning">No label</p>' in written
    row = '<th scope="row" title="age"><bdi><span class="word">age</span></bdi></th><td title="5">'
    assert f'{row}<bdi><span class="word">5</span></bdi></td>' in written
    plain = render(Cards((Card("Component 1", "4 rows", "", (), ("Column", "Here"), ()),)))
    assert "alarmed" not in plain
    assert "No column sets it apart." in plain


def test_lines_of_a_card_are_broken_at_spaces_only_and_the_whole_text_is_a_title():
    text = f"1972-01-01 to {'x' * 50}"
    written = render(Cards((Card("", "", "", (), ("Column", "Here"), (("age", text),)),)))
    assert f'<td title="{text}"><bdi><span class="word">1972-01-01</span> <span class="word">to</span> ' in written
    assert f'<span class="word">{"x" * 25}…</span></bdi></td>' in written


def test_an_alert_is_escaped():
    assert render(Alert("Old.", "Fit <it> by `fit`.")) == (
        '<p class="alert" role="note"><b>Old.</b> Fit &lt;it&gt; by <code>fit</code>.</p>\n'
    )


def test_the_mark_of_a_class_stands_beside_its_name():
    table = TextTable("a", "A", "", ("Class", "Labels"), (("yes", "3"),), classes=(0,), is_stacked=True)
    assert re.search(r'data-label="Class"><span><svg .*</svg>&nbsp;<bdi>yes</bdi></span></th>', render(table))


def test_a_gauge_has_the_text_that_it_draws():
    written = render(Gauge(0.8, 0.5, 1.0, "About 80 %"))
    assert 'role="img" aria-label="About 80 %"' in written
    assert "left:50.00%;width:50.00%" in written
    assert "left:80.00%" in written


def test_no_two_classes_have_the_same_mark():
    marks = {mark(code) for code in (OTHERS, *range(N_STYLES))}
    assert len(marks) == N_STYLES + 1


def test_marks_have_the_shapes_and_colours_of_pictures():
    assert "<circle" in mark(0)
    assert "M1.5 1.5h9v9" in mark(2)
    n = len(LIGHT.classes)
    assert 'class="mark c2"' in mark(n + 2)
    written = page([], title="T")
    for theme in (LIGHT, DARK):
        assert all(f"--c{i}: {each};" in written for i, each in enumerate(theme.classes))


def test_an_unknown_block_is_an_error():
    with pytest.raises(AttributeError):
        render(Section("a", "A", ()))
