"""Blocks as an HTML page."""

from matplotlib import pyplot as plt

from mixkern.report.block import Mark, Paragraph, Picture, Section
from mixkern.report.page import page


def test_a_page_has_the_title_that_it_is_given_and_no_letter_that_breaks_it():
    written = page([Section("one", "One", (Paragraph("5 % of `a`, \ud800 and \x00"),))], title="<a & b>")
    assert written.count("&lt;a &amp; b&gt;") == 2
    assert "5\N{NO-BREAK SPACE}% of <code>a</code>, \N{REPLACEMENT CHARACTER} and \N{REPLACEMENT CHARACTER}" in written
    written.encode()


def test_a_picture_may_have_a_dark_side_and_names():
    def draw():
        return plt.subplots(figsize=(1, 1))[0]

    picture = Picture("a", "A", "It.", draw, True, draw, (Mark(1, "<b>"),))
    written = page([Section("one", "One", (picture,))], title="T")
    assert '<source srcset="data:image/svg+xml;base64,' in written
    assert "<bdi>&lt;b&gt;</bdi></li></ul>" in written
