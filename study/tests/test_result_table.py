"""Formats of a table, read back; strange names in all of them."""

import csv
import io
import math
import re
from html.parser import HTMLParser

from mixkern.report.table import TextTable, markdown_escaped
from mixkern_study.result_table import Cell, is_there, latex_escaped, text_rows, to_csv, to_latex

STRANGE = "A & B <c>"
TABLE = TextTable(
    name="strange",
    title="50 % of A_b & <c>",
    caption='A "caption" with $5, #1, {x}, ~, ^ and \\.',
    columns=("Data set", "A|B", "plain"),
    rows=(
        (Cell(STRANGE), Cell(1.5, deviation=0.25, published=2.0, is_best=True), Cell(-3.0, spec=".1f")),
        (Cell("x_y*z|w"), Cell(None, published=4.0, is_published_best=True), Cell("text, with comma")),
    ),
    footer=((Cell("Mean"), Cell(math.nan), Cell(1e-9, spec=".3g")),),
)


def test_csv_reads_back():
    found = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert found == [
        ["Data set", "A|B", "A|B deviation", "A|B published", "plain"],
        [STRANGE, "1.5", "0.25", "2", "-3"],
        ["x_y*z|w", "", "", "4", "text, with comma"],
        ["Mean", "", "", "", "1e-09"],
    ]


class Cells(HTMLParser):
    """Read the texts of a table, and see that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.rows, self.open, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("meta", "img"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and {"th", "td"} & set(self.open):
            self.rows[-1][-1] += data


def test_html_reads_back():
    cells = Cells()
    cells.feed(TABLE.to_html())
    assert cells.open == []
    assert cells.rows == [
        list(TABLE.columns),
        [STRANGE, "1.50 ± 0.25(2.00)", "-3.0"],
        ["x_y*z|w", "-(4.00)", "text, with comma"],
        ["Mean", "-", "1e-09"],
    ]
    assert "<b>1.50 ± 0.25</b>" in TABLE.to_html()
    assert "<c>" not in TABLE.to_html()


def test_latex_is_balanced_and_escaped():
    text = to_latex(TABLE)
    bare = re.sub(r"\\[\\&%$#_{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("#%_~^") & set(bare)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 4
    assert {re.sub(r"\\&", "", row).count("&") for row in rows} == {len(TABLE.columns) - 1}
    assert r"A \& B \textless{}c\textgreater{} & \textbf{1.50 $\pm$ 0.25} (2.00) & $-$3.0 \\" in text
    assert r"\begin{tabular}{lrr}" in text


def test_markdown_has_as_many_cells_everywhere():
    lines = [line for line in TABLE.to_markdown().splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(TABLE.columns) + 1}
    assert lines[2] == r"| A \& B \<c\> | **1.50 ± 0.25** (2.00) | -3.0 |"
    assert lines[3] == r"| x\_y\*z\|w | - **(4.00)** | text, with comma |"


def test_text_rows_are_rows_and_footer():
    assert text_rows(TABLE)[0] == [STRANGE, "1.50 ± 0.25 (2.00)", "-3.0"]
    assert len(text_rows(TABLE)) == 3


def test_escapes_leave_plain_text_alone():
    assert markdown_escaped("plain text, 1.5 (2)") == latex_escaped("plain text, 1.5 (2)") == "plain text, 1.5 (2)"
    assert latex_escaped("2026-11-15 and 1e-05") == "2026-11-15 and 1e-05"  # no minus signs
    assert markdown_escaped("two\nlines") == "two lines"


def test_nan_and_none_are_not_there():
    assert [is_there(value) for value in (0.0, "", -1, math.nan, None)] == [True, True, True, False, False]
