"""A slow reader of text tables, cell by cell, to compare the reader of the library with.

It shares no code with the library but messages: Python's csv reads the records of the whole text, and each column is
typed by a literal grammar of single cells.
"""

import codecs
import csv
import datetime as dt
import io
import re
from collections import Counter

POINT, COMMA = ".", ","
GAP_WORDS = {
    *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None"),
    *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
}
NAMES = {"\t": "a tab", ";": "a semicolon", "|": "a pipe", ",": "a comma", " ": "a space"}
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
UNITS = ("%", "$", "€", "EUR", "USD")


class Refused(Exception):  # noqa: N818
    """A table that is refused, with the sentence."""


# ---------------------------------------------------------------- cells


def is_gap(cell):
    return cell.strip() in GAP_WORDS


def number(cell, sign):
    """Return a number in Python's spelling, and whether it has leading zeros; ``None`` where it is no number."""
    cell = cell.strip()
    other = COMMA if sign == POINT else POINT
    group = re.fullmatch(
        rf"[+-]?[1-9]\d{{0,2}}([{other}'\u2019 \u00a0\u202f])\d{{3}}(\1\d{{3}})*({re.escape(sign)}\d*)?", cell, re.ASCII
    )
    if group:
        cell = cell.replace(group[1], "")
    elif sign == COMMA and POINT in cell:
        return None
    plain = cell.replace(sign, POINT)
    form = r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?"
    if not re.fullmatch(form, plain, re.ASCII | re.IGNORECASE):
        return None
    return plain, bool(re.match(r"[+-]?0\d", plain, re.ASCII))


def split(cell):
    """Return a cell without its percent sign or currency, and that unit."""
    cell = cell.strip()
    for unit in UNITS:
        if unit != "%" and cell.lstrip("+-").startswith(unit) and len(cell) - len(cell.lstrip("+-")) <= 1:
            rest = cell[: -len(cell.lstrip("+-")) or None] if cell[:1] in "+-" else ""
            first = cell.lstrip("+-")[len(unit) :].lstrip()
            if re.match(r"[+-]?[.,]?\d", first):
                return rest + first, unit
        if cell.endswith(unit) and re.match(r"[+-]?[.,]?\d", cell):
            return cell[: -len(unit)].rstrip(), unit
    return cell, ""


def boolean(cell):
    return {"true": True, "false": False}.get(cell.strip().lower())


def moment(cell, day_first):
    """Return a date; ``day_first`` is the order of 01/02/2024."""
    cell = cell.strip()
    iso = r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?"
    try:
        if re.fullmatch(iso, cell, re.ASCII):
            found = dt.datetime.fromisoformat(cell)
            return found.astimezone(dt.UTC).replace(tzinfo=None) if found.tzinfo else found
        parts = re.fullmatch(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})(,?\s+(.+))?", cell, re.ASCII)
        if not parts:
            return None
        one, sign, two, three, clock = parts[1], parts[2], parts[3], parts[4], parts[6]
        if len(one) == 4 and len(three) <= 2:
            year, month, day = one, two, three
        elif len(one) <= 2 and sign == "." and (len(three) == 4 or len(one) == len(two) == len(three) == 2):
            day, month, year = one, two, three
        elif len(one) <= 2 and sign != "." and len(three) == 4 and day_first is not None:
            day, month, year = (one, two, three) if day_first else (two, one, three)
        else:
            return None
        if len(year) == 2:
            year = ("19" if int(year) >= 69 else "20") + year
        return dt.datetime(int(year), int(month), int(day), *(time(clock) if clock else ()))
    except (ValueError, OverflowError):
        return None


def time(clock):
    parts = re.fullmatch(
        r"(\d{1,2}):(\d\d)(:(\d\d)([.,](\d{1,9}))?)?(\s?([ap])\.?m\.?)?", clock, re.ASCII | re.IGNORECASE
    )
    if not parts:
        raise ValueError
    hour = int(parts[1])
    if parts[8]:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if parts[8] in "pP" else 0)
    return hour, int(parts[2]), int(parts[4] or 0), int((parts[6] or "0").ljust(6, "0")[:6])


def is_two_way(cell):
    return bool(re.fullmatch(r"\d{1,2}([-/])\d{1,2}\1\d{4}(,?\s+.+)?", cell.strip(), re.ASCII))


# ---------------------------------------------------------------- columns


def typed(cells, sign):
    """Return the kind of a column and its values, ``None`` for gaps."""
    there = [cell for cell in cells if not is_gap(cell)]
    if not there:
        return "float", [None] * len(cells)
    unit = split(there[0])[1]
    numbers = dict.fromkeys(there)
    for cell in numbers:
        rest, its_unit = split(cell) if unit else (cell, "")
        numbers[cell] = number(rest, sign) if its_unit == unit else None
    if all(one is not None and not one[1] for one in numbers.values()):
        found = as_numbers(cells, {cell: one[0] for cell, one in numbers.items()}, has_gaps=len(there) < len(cells))
        if found is not None:
            return found
    elif all(boolean(cell) is not None for cell in there):
        return "bool", [boolean(cell) for cell in cells]
    else:
        orders = (True, False) if any(map(is_two_way, there)) else (None,)
        orders = [order for order in orders if all(moment(cell, order) is not None for cell in there)]
        if len(orders) == 1:
            return "date", [None if is_gap(cell) else moment(cell, orders[0]) for cell in cells]
    return "text", [None if is_gap(cell) else cell for cell in cells]


def as_numbers(cells, plain, *, has_gaps):
    is_whole = all(len(one) < 4000 and re.fullmatch(r"[+-]?\d+", one) for one in plain.values())
    floats = [float(plain[cell]) if cell in plain else None for cell in cells]
    if not is_whole:
        return "float", floats
    whole = [int(plain[cell]) if cell in plain else None for cell in cells]
    largest = max(abs(value) for value in whole if value is not None)
    if has_gaps and largest < 2**53:
        return "float", floats
    if all(value is None or -(2**63) <= value < 2**63 for value in whole):
        return "int", whole
    return ("exact", whole) if len(str(largest)) <= 76 else None


def decimal_signs(columns, delimiter):
    def is_number(cell, sign):
        return number(split(cell)[0], sign) is not None

    balances = [
        sum(is_number(cell, COMMA) - is_number(cell, POINT) for cell in cells if COMMA in cell or POINT in cell)
        for cells in columns
    ]
    total = sum(balances)
    has_groups = not total and any(COMMA in cell and is_number(cell, POINT) for cells in columns for cell in cells)
    common = COMMA if total > 0 or (has_groups and delimiter == ";") else POINT
    return [COMMA if balance > 0 else POINT if balance < 0 else common for balance in balances]


# ---------------------------------------------------------------- texts


def text_of(content, name):
    """Return the text of a file, and its encoding."""
    encoding = next((encoding for mark, encoding in MARKS if content.startswith(mark)), "utf-8")
    try:
        return content.decode(encoding), encoding
    except UnicodeDecodeError as error:
        allowed = {*range(32, 256)} - {0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D} | {9, 10, 12, 13}
        is_cut = error.reason == "unexpected end of data"
        if encoding == "utf-8" and content[: error.start].isascii() and set(content) <= allowed and not is_cut:
            return content.decode("cp1252"), "cp1252"
        before = error.object[: error.start].decode(error.encoding, errors="ignore")  # without the byte order mark
        is_mac = "\n" not in content.decode(encoding, errors="replace")
        line = 1 + before.count("\r" if is_mac else "\n")
        wrong, encoding = error.object[error.start], encoding.removesuffix("-sig")
        raise Refused(f"{name}, line {line}: byte 0x{wrong:02x} is not text in {encoding}.") from error
    except UnicodeError as error:
        raise Refused(f"{name} is not in {encoding}: {error}.") from error


def records_of(text, delimiter, has_spaces):
    """Return all records as far as they can be read, the lines at which they begin, and an error of csv."""
    ends = []
    lines = io.StringIO(text).readlines()

    def each():
        for i, line in enumerate(lines):
            ends.append(i + 1)
            yield line

    reader = csv.reader(each(), delimiter=delimiter, skipinitialspace=has_spaces, strict=True)
    found, starts = [], []
    while True:
        start = len(ends)
        try:
            record = next(reader, None)
        except csv.Error as error:
            return found, starts, (str(error), start, "".join(lines[start : len(ends)]), len(ends))
        if record is None:
            return found, [*starts, start], None
        found.append(blanks_kept(record, "".join(lines[start : len(ends)]), delimiter) if has_spaces else record)
        starts.append(start)


def blanks_kept(record, text, delimiter):
    """Return the fields of a record with the blanks before those that have no quotes."""
    kept = []
    text = text.rstrip("\r\n")
    for cell in record:
        n_blanks = len(text) - len(text.lstrip(" "))
        if text[n_blanks : n_blanks + 1] == '"':
            kept.append(cell)
            text = text[n_blanks + 2 + len(cell.replace('"', '""')) :]
        else:
            kept.append(text[:n_blanks] + cell)
            text = text[n_blanks + len(cell) :]
        text = text.removeprefix(delimiter)
    return kept


def delimiter_of(text):
    best = (0.0, 0, COMMA)
    for delimiter in ("\t", ";", "|", ","):
        widths = [len(record) for record in first_records(text, delimiter) if record]
        if not widths or widths[0] < 2:
            continue
        agreed = widths.count(widths[0]) / len(widths)
        if agreed >= 0.9 and len(widths) > 1:
            return delimiter
        best = max(best, (agreed, widths[0], delimiter))
    return best[2]


def first_records(text, delimiter):
    lines = text.split("\n")
    whole = [f"{line}\n" for line in (lines[:-1] if len(lines) > 2 else lines)]
    found = []
    try:
        for record in csv.reader(whole, delimiter=delimiter):
            found.append(record)
            if len(found) > 1000:
                break
    except csv.Error:
        pass
    return found


def broken(error, name, delimiter):
    """Return the sentence for an error of csv."""
    message, start, text, end = error
    opened = open_quote(text, delimiter)
    if "new-line" in message:
        return (
            f"{name}, line {end}: a carriage return inside a row. Save the file with ordinary line ends, or put "
            "quotes around the cell."
        )
    if "expected after" in message:
        return (
            f"{name}, line {end}: text follows a closing quote. Write a quote inside a text twice, and look for a "
            f"quote that was not closed from line {start + 1} on."
        )
    if opened is not None:
        return (
            f"{name}, line {start + 1 + opened}: a quote opens that is not closed. Close it, or write it twice if it "
            "is part of the text."
        )
    return f"{name}, line {start + 1}: a field of more than 131,072 characters. Leave the column out of the file."


def open_quote(text, delimiter):
    """Return the number of lines before an unclosed quote."""
    opened, is_start, i = None, True, 0
    while i < len(text):
        if opened is not None:
            if text[i : i + 2] == '""':
                i += 1
            elif text[i] == '"':
                opened = None
        elif text[i] == '"' and is_start:
            opened = i
        is_start = text[i] in (delimiter, "\n") or (is_start and text[i] == " ")
        i += 1
    return None if opened is None else text[:opened].count("\n")


def wrong_length(record, width, line, end, name, delimiter, is_first):
    fields = f"{len(record):,} field{'s' * (len(record) != 1)}"
    start = f"{name}, line {line}: {fields}, but the header has {width}."
    if end > line:
        return f"{start} A quote opens in this row and closes in line {end}: one may be missing."
    if len(record) == width + 1 and is_first:
        start += " If all rows have one more, give the column without a name one, or drop the last delimiter."
    if len(record) > width:
        return f"{start} Put quotes around texts that contain {NAMES.get(delimiter, repr(delimiter))}."
    return f"{start} Complete the row; an empty cell is written as nothing between two delimiters."


# ---------------------------------------------------------------- tables


def read(content, name):  # noqa: C901
    """Return the encoding, the delimiter, the names, the rows, their lines, and kind and values of each column."""
    if not content.strip(b"\r\n\t \xef\xbb\xbf"):
        raise Refused(f"{name} is empty. Expected a line of column names, and a line for each row.")
    text, encoding = text_of(content, name)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    separator = re.match(r'"?sep=(.)"?\r?\n', text)
    body = text[separator.end() :] if separator else text
    delimiter = separator[1] if separator else delimiter_of(body)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Refused(
            f"{name}, line {line}: holds a NUL byte, which no text does. The file is binary, or damaged, or in UTF-16."
        )
    found = [cell for record in first_records(body, delimiter) for cell in record[1:] if cell]
    has_spaces = delimiter != " " and bool(found) and all(cell.startswith(" ") for cell in found)
    records, starts, error = records_of(text, delimiter, has_spaces)
    rows, lines, names = [], [], None
    for i, record in enumerate(records):
        line, end = starts[i] + 1, starts[i + 1] if i + 1 < len(starts) else error[1]
        if i < bool(separator):
            continue
        if names is None:
            if any(cell.strip() for cell in record):
                names = header(record, end, name)
        elif len(record) == len(names) or (not record and len(names) == 1):
            rows.append(record)  # a blank line is a row of a single column, if others follow
            lines.append(line)
        elif record and not (len(names) > 1 and len(record) == 1 and not record[0].strip()):
            raise Refused(wrong_length(record, len(names), line, end, name, delimiter, not rows))
    if error is not None:
        raise Refused(broken(error, name, delimiter))
    while rows and not rows[-1]:
        del rows[-1], lines[-1]
    rows = [row or [""] for row in rows]
    if names is None or not rows:
        raise Refused(f"{name} has a line of column names, but no rows. Expected a line for each row.")
    columns = [[row[i] for row in rows] for i in range(len(names))]
    signs = decimal_signs([cells[:1000] for cells in columns], delimiter)
    stripped = [[cell.lstrip(" ") for cell in cells] if has_spaces else cells for cells in columns]
    kinds = [typed(cells, sign) for cells, sign in zip(stripped, signs, strict=True)]
    return encoding, delimiter, names, rows, lines, kinds


def header(record, line, name):
    cells = [cell for cell in record if cell.strip()]
    if all(number(cell, POINT) or number(cell, COMMA) or is_gap(cell) for cell in cells):
        counts = [[str(i + first) for i in range(len(cells))] for first in (0, 1)]
        if len(cells) == 1 or cells not in counts:
            shown = ", ".join(map(repr, record[:3])) + (f" and {len(record) - 3} more" if len(record) > 3 else "")
            raise Refused(
                f"{name}, line {line}: expected column names, but found numbers: {shown}. Put a line with a name for "
                "each column before it."
            )
    names = [cell.strip() for cell in record]
    names = [cell or f"column {i + 1}" for i, cell in enumerate(names)]
    if record[0].strip() == "Unnamed: 0" and len(record) > 1:
        names[0] = "column 1"
    double = next((cell for cell, count in Counter(names).items() if count > 1), None)
    if double is not None:
        places = " and ".join(str(i + 1) for i, cell in enumerate(names) if cell == double)
        raise Refused(f"{name}, line {line}: columns {places} have the same name, {double!r}. Rename them.")
    return names
