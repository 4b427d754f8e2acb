"""One table, written as HTML and Markdown."""

from dataclasses import dataclass

import pytest

from mixkern.report.table import TextTable, markdown_escaped


@dataclass(frozen=True)
class Cell:
    text: str
    note: str = ""
    is_best: bool = False
    is_note_best: bool = False


TABLE = TextTable(
    "t", "A & B", "Of <c>.", ("Name", "n"), (("<x>", "1"),), (("Mean", "2"),), frozenset({1}), classes=(3,)
)
NOTED = TextTable(
    "t", "T", "", ("Set", "a|b", "c"), ((Cell("x_y"), Cell("5 ± 1", "(4)", True), Cell("-", "(<)", False, True)),)
)


def test_html_has_headings_for_rows_and_columns_and_can_be_scrolled_by_keys():
    written = TABLE.to_html()
    assert '<th scope="col" class="number"><bdi>n</bdi></th>' in written
    assert '<th scope="row"><span><svg class="mark c3"' in written
    assert "<bdi>&lt;x&gt;</bdi></span></th>" in written
    assert '<td class="number"><bdi>1</bdi></td>' in written
    assert 'role="region" aria-label="A &amp; B" tabindex="0"' in written
    assert "Of &lt;c&gt;." in written
    foot = written[written.index("<tfoot>") :]
    assert "Mean" in foot
    assert "svg" not in foot


def test_markdown_is_escaped_and_aligned():
    assert TABLE.to_markdown().splitlines() == [
        r"**A \& B.** Of \<c\>.",
        "",
        "| Name | n |",
        "| :--- | ---: |",
        r"| \<x\> | 1 |",
        "| *Mean* | 2 |",
    ]


def test_notes_and_bold_cells():
    assert '<td class="number"><bdi><b>5 ± 1</b></bdi><span class="note">(4)</span></td>' in NOTED.to_html()
    assert '<span class="note"><b>(&lt;)</b></span>' in NOTED.to_html()
    assert NOTED.to_markdown().splitlines()[-1] == r"| x\_y | **5 ± 1** (4) | - **(\<)** |"


@pytest.mark.parametrize(("numbers", "expected"), [(None, [False, True, True]), (frozenset({0}), [True, False, False])])
def test_numbers_are_all_but_the_first_column_by_default(numbers, expected):
    table = TextTable("t", "T", "", ("a", "b", "c"), (), numbers=numbers)
    assert [table.is_number(j) for j in range(3)] == expected


def test_escapes_leave_plain_text_alone():
    assert markdown_escaped("plain text, 1.5 (2)") == "plain text, 1.5 (2)"
    assert markdown_escaped("two\nlines") == "two lines"


def test_long_texts_have_room():
    table = TextTable("t", "Notes", "", ("Row", "Note"), (("1", "late " * 10), ("2", "late")), numbers=frozenset({0}))
    assert table.to_html().count('<td class="long">') == 1
