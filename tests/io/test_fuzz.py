"""Generated text tables, whole and damaged: the same cells, types, lines and refusals as the reference reader.

``MIXKERN_FUZZ=20000 pytest tests/io/test_fuzz.py -m slow`` compares 20,000 files.
"""

import csv
import importlib.util
import io
import os
import random
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from mixkern.errors import TableFileError
from mixkern.io import table_file

N_QUICK, N_SLOW = 200, int(os.environ.get("MIXKERN_FUZZ", "1000"))
KINDS = {"int64": "int", "double": "float", "bool": "bool", "timestamp[us]": "date", "string": "text"}


def neighbour(name):
    """Import a module beside this one; with --import-mode=importlib tests cannot."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference, damage = neighbour("reference"), neighbour("damage")


# ---------------------------------------------------------------- tables


def group(digits, mark):
    """Return a whole number with marks between thousands."""
    return f"{int(digits):,}".replace(",", mark)


def numbers(draw):
    sign = draw.choice(".,")
    form = draw.randrange(12)

    def cell():
        whole = str(draw.randrange(10 ** draw.choice([1, 3, 6])))
        minus = draw.choice(["", "", "", "-", "+" if form == 8 else ""])
        if form < 3:
            return f"{minus}{whole}"
        if form < 6:
            return f"{minus}{whole}{sign}{draw.randrange(1000)}"
        return {
            6: f"{whole}{sign}5e{draw.randrange(-9, 9)}",
            7: group(whole, draw.choice([",", ".", "'", " ", "\u00a0"])),
            8: f"{minus}{whole}{sign}",
            9: draw.choice(["0", "00", "0"]) + whole,
            10: str(draw.choice([2**53 + 1, 2**62, -(2**63), 2**63, 2**64, 10**30, 10**80, int(whole)])),
            11: draw.choice([f"{sign}5", "inf", "-Infinity", "1e400", "NAN", whole, "1_0", "-", "1-2", "0x10", "e5"]),
        }[form]

    return cell


def measures(draw):
    sign = draw.choice(".,")
    form = draw.choice(["{} %", "{}%", "${}", "-${}", "{} EUR", "€ {}", "EUR{}", "$-{}", "{} cm", "%{}"])
    return lambda: form.format(f"{draw.randrange(1000)}{sign}{draw.randrange(100)}")


def dates(draw):
    form = draw.choice(
        ["{y:04}-{m:02}-{d:02}"] * 3
        + ["{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{d:02}.{m:02}.{s:02}", "{y}/{m}/{d}", "{d:02}/{m:02}/{y}"]
        + ["{m:02}/{d:02}/{y}", "{d}-{m}-{y}"]
    )
    clocks = ["", "", " {h:02}:{n:02}", "T{h:02}:{n:02}:{s:02}", " {h:02}:{n:02}:{s:02}.{f}", ", {h}:{n:02} pm"]
    clocks += ["T{h:02}:{n:02}Z", "T{h:02}:{n:02}:{s:02}+02:00", " {h:02}", " {h:02}:{n:02}:60"]
    clock = draw.choice(clocks)

    def cell():
        part = draw.randrange
        last = draw.choice([12, 28, 31])
        parts = {"y": part(1, 3000), "m": part(1, 13), "d": part(1, last + 1), "h": part(24), "n": part(60)}
        return (form + clock).format(**parts, s=part(60), f=part(10 ** draw.choice([1, 3, 6, 9])))

    return cell


def words(draw):
    alphabet = draw.choice(["abc", "aä€ \u2028", 'a"', "a,;\t|", "a\n", "a\r\n", "1 ", "🎉é\ufeff", " \u00a0\x0b\x0ca"])
    return lambda: "".join(draw.choices(alphabet, k=draw.randrange(4)))


def column(draw):
    """Return a function that draws the cells of a column, with gaps and cells of other kinds."""
    kinds = (numbers, numbers, measures, dates, words, words, lambda d: lambda: d.choice(["true", "False", "TRUE "]))
    cell, other = draw.choice(kinds)(draw), draw.choice(kinds)(draw)
    gaps, odd, padded = (draw.choice([0, 0, rate]) for rate in (0.3, 0.05, 0.2))
    gap_words = draw.choice([[""], ["NA", ""], sorted(reference.GAP_WORDS), [" ", "NA "]])

    def drawn():
        if draw.random() < gaps:
            return draw.choice(gap_words)
        found = other() if draw.random() < odd else cell()
        return draw.choice([" ", "  ", "\t"]) + found if draw.random() < padded else found

    return drawn


def written(draw):
    """Return the bytes of a table."""
    width, n_rows = draw.choice([1, 2, 3, 5]), draw.choice([0, *[1, 2, 5, 30] * 4])
    columns = [column(draw) for _ in range(width)]
    names = [draw.choice([*[f"x{i}"] * 9, f" x{i} ", f'"{i}', f"größe {i}"]) for i in range(width)]
    if draw.random() < 0.2:
        names[0] = draw.choice(["", "", "Unnamed: 0", names[-1], "7"])
        columns[0] = draw.choice([columns[0], iter(range(99)).__next__, iter(range(10_000, 10_099)).__next__])
    rows = [[str(cell()) for cell in columns] for _ in range(n_rows)]
    if rows and draw.random() < 0.05:  # a ragged row
        row = draw.choice(rows)
        row.append("more") if draw.random() < 0.5 else row.pop()
    text = draw.choice([by_csv, by_csv, by_hand])(draw, [names, *rows])
    if draw.random() < 0.1:
        text = draw.choice(["\n", "  \n", "sep=;\n", '"sep=,"\r\n']) + text
    encoding = draw.choice(
        ["utf-8"] * 12 + ["utf-8-sig", "utf-16", "utf-32", "cp1252", "cp1252", "latin-1", "utf-16-le"]
    )
    return text.encode(encoding, errors="replace" if encoding in ("cp1252", "latin-1") else "strict")


def by_csv(draw, rows):
    file = io.StringIO()
    quoting = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    end = draw.choice(["\n", "\n", "\r\n", "\r"])
    csv.writer(file, delimiter=draw.choice(",;\t|"), quoting=quoting, lineterminator=end).writerows(rows)
    text = file.getvalue()
    return text.removesuffix(end) if draw.random() < 0.2 else text


def by_hand(draw, rows):
    """Write rows without care: quotes as they are, blanks after delimiters, blank lines."""
    delimiter = draw.choice([",", ", ", ";", "; ", "\t", "|"])
    blank = draw.choice(["", "", "\n", "  \n", "\r\n", '""\n'])
    end = draw.choice(["\n", "\r\n"])
    quotes = draw.choice([0, 0.3, 1])

    def field(cell):
        return '"{}"'.format(cell.replace('"', '""')) if draw.random() < quotes else cell

    lines = [delimiter.join(map(field, row)) + end + (blank if draw.random() < 0.2 else "") for row in rows]
    return "".join(lines)


def file(seed):
    """Return a generated file; one of four is damaged."""
    draw = random.Random(seed)
    content = written(draw)
    if seed % 4 == 0 and content:
        noise = np.random.default_rng(seed)
        for _ in range(draw.randrange(1, 3)):
            harm = draw.choice(damage.HARMS[:5])
            content = harm(content, noise) if content else content
    return content


# ---------------------------------------------------------------- comparison


def by_reference(content, name):
    try:
        encoding, delimiter, names, rows, lines, kinds = reference.read(content, name)
    except reference.Refused as refusal:
        return str(refusal)
    columns = dict(zip(names, kinds, strict=True))
    is_numbered = all(re.fullmatch(" *(0|[1-9][0-9]*) *", row[0]) for row in rows)
    if names[0] == "column 1" and len(names) > 1 and is_numbered:
        del columns["column 1"]
    return encoding.removesuffix("-sig"), delimiter, rows, lines, columns


def by_library(path):
    try:
        opened = table_file(path)
        block = opened.whole()
    except TableFileError as error:
        return str(error.args[0])
    rows = [list(row) for row in zip(*(cells.to_pylist() for cells in block.cells.columns), strict=True)]
    columns = {}
    for name, values in zip(block.typed.column_names, block.typed.columns, strict=True):
        found = [int(value) if isinstance(value, Decimal) else value for value in values.to_pylist()]
        columns[name] = KINDS.get(str(values.type), "exact"), found
    lines = [opened.line_of(row) for row in range(len(rows))]
    return opened.dialect.encoding.removesuffix("-sig"), opened.dialect.delimiter, rows, lines, columns


def compare(seeds, path, monkeypatch):
    """Compare both readers; return the number of refused files.

    Columns of plain numbers are found from one row, from two, or not before they are read; in two of three files, the
    blocks are short.
    """
    n_refused = 0
    for seed in seeds:
        content = file(seed)
        path.write_bytes(content)
        monkeypatch.setattr("mixkern.io.blocks.FIRST_ROWS", (1, 2, 1000)[seed % 3])
        monkeypatch.setattr("mixkern.io.text_blocks.BLOCK", (16, 1 << 22, 64)[seed // 3 % 3])
        monkeypatch.setattr("mixkern.io.source.CHUNK", (7, 1 << 20)[seed // 9 % 2])
        expected, found = by_reference(content, path.name), by_library(path)
        n_refused += isinstance(expected, str)
        assert repr(found) == repr(expected), f"seed {seed}: {content!r}"  # 1 and 1.0 differ, and so do 0.0 and -0.0
    return n_refused


def test_generated_files(tmp_path, monkeypatch):
    assert 80 < compare(range(2 * N_QUICK), tmp_path / "a.csv", monkeypatch) < 240


@pytest.mark.slow
def test_more_generated_files(tmp_path, monkeypatch):
    compare(range(2 * N_QUICK, 2 * N_QUICK + N_SLOW), tmp_path / "a.csv", monkeypatch)


ODD = [
    *(
        "007",
        "-007",
        "+07",
        "00",
        "0",
        "-0",
        "0x1F",
        "0X1f",
        "0.50",
        "-0.5",
        "00.5",
        "0e5",
        "5e-05",
        "1E+05",
        "+5",
        ".5",
        "5.",
    ),
    *("inf", "-Infinity", "NAN", "1e400", "1e-400", "9007199254740993", "-9007199254740993", "1234567890123456789"),
    *("9223372036854775808", "-9223372036854775808", "1" * 40, "12345678901234567890.5", "1.5", "-1,5", "1,234.5"),
    *(
        " 12",
        "12 ",
        "\t12",
        " 007",
        "  -07",
        "\u00a012",
        "\x0b12",
        "1_000",
        "1 000",
        "1-2",
        "12-05",
        "-",
        "e5",
        "1d5",
        "٣",
    ),
    *(
        "true",
        "FALSE",
        "2024-12-31",
        "31.12.2024",
        "2024-12-31 09:30",
        "12:05",
        "x",
        "0x",
        "ü",
        '"',
        "a,b",
        "5 %",
        "$3.20",
    ),
    *("NA ", " nan", *sorted(reference.GAP_WORDS)),
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_odd_cells_after_plain_numbers(seed, tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    for i, odd in enumerate(ODD):
        draw = random.Random(1000 * seed + i)
        others = [odd] * 2 + draw.choices(ODD, k=2)
        columns = [["7", "12", *["5"] * 9], ["1.5", "", *["-2.25"] * 9], ["3", "", *["10"] * 9], ["x", *["1e-05"] * 10]]
        columns.append(["0,5", "0,25", *["3,75"] * 9])
        for column, cell in zip(columns, others, strict=False):
            column[draw.choice([0, 3, 8, 10])] = cell
        text = io.StringIO()
        rows = [["a", "b", "c", "d", "e"], *zip(*columns, strict=True)]
        delimiter, quoting = draw.choice([",", ";", "\t", "|", "; "]), draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        csv.writer(text, delimiter=delimiter[0], quoting=quoting, lineterminator="\n").writerows(rows)
        content = text.getvalue().replace(delimiter[0], delimiter).encode()
        path.write_bytes(content)
        expected = by_reference(content, path.name)
        monkeypatch.setattr("mixkern.io.text_blocks.BLOCK", draw.choice([16, 100]))
        notes = []
        for n_first in (1, 2, 1000):
            monkeypatch.setattr("mixkern.io.blocks.FIRST_ROWS", n_first)
            assert repr(by_library(path)) == repr(expected), (odd, n_first, content)
            opened = table_file(path)
            opened.table()
            notes.append([str(note) for note in opened.notes])
        assert notes[0] == notes[1] == notes[2], (odd, content)
