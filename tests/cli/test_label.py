"""mixkern label and mixkern merge: labels in a journal, exported, merged, and learned from."""

import csv
import http.client
import json
import signal
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pandas as pd
import pytest

from mixkern.io import read_model
from mixkern.labelling import Journal
from mixkern.labelling.journal import Event

SERVED_S = 60.0


@pytest.fixture
def table(tmp_path):
    """A table of 40 rows in two groups, without labels; German spelling."""
    path = tmp_path / "kunden.csv"
    lines = ["alter;stadt;umsatz"]
    for i in range(40):
        lines.append(f"{20 + i},5;{'München' if i % 2 else 'Ulm'};{(100 if i < 20 else 900) + i},25")
    path.write_bytes("\n".join(lines).encode("cp1252"))
    return path


def labelled(path, labels, user="anna", source=lambda row: "random"):
    """Write labels into a journal, as the page does."""
    from mixkern.cli.journal import label_table, table_to_label

    data = table_to_label(str(path), [], target="kauf")
    keys = label_table(data).keys
    with Journal(path.with_name("kunden.labels")) as journal:
        journal.set_meta(target="kauf")
        journal.add(
            Event(
                user=user,
                action="label",
                request=f"{user} {row}",
                row_key=keys[row],
                row=row,
                label=label,
                source=source(row),
            )
            for row, label in labels.items()
        )


def rows_of(path, delimiter=";", encoding="cp1252"):
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_the_export_is_the_table_with_labels_in_its_own_spelling(run, table, tmp_path):
    labels = {0: "ja", 1: "nein", 30: "weiß nicht"}
    labelled(table, labels)
    before = table.read_bytes()
    done = run("label", table, "--export", tmp_path / "out.csv")
    assert "3 labels of 40 rows in 'kauf': 1 of 'ja', 1 of 'nein', 1 of 'weiß nicht'." in done.stdout
    assert table.read_bytes() == before
    found, own = rows_of(tmp_path / "out.csv"), rows_of(table)
    for i, (ours, theirs) in enumerate(zip(found, own, strict=True)):
        assert {name: ours[name] for name in theirs} == theirs
        assert ours["kauf"] == labels.get(i, "")
        assert ours["label_source"] == ("random" if i in labels else "")


@pytest.mark.slow
def test_fit_export_and_journal_agree(run, table, tmp_path):
    labels = {i: "ja" if i < 20 else "nein" for i in range(0, 40, 4)}
    labelled(table, labels)
    run("label", table, "--export", tmp_path / "out.csv")
    ours = json.loads(run("fit", table, "--labels", table.with_name("kunden.labels"), "--json").stdout)
    theirs = json.loads(run("fit", tmp_path / "out.csv", "--target", "kauf", "--json").stdout)
    for key in ("target", "rows", "classes", "columns", "label_sources", "accuracy", "C", "components"):
        assert ours[key] == theirs[key], key
    for name in ("kunden", "out"):
        run("predict", tmp_path / f"{name}.mixkern", table, "-o", tmp_path / f"{name}.predicted.csv")
    assert (tmp_path / "kunden.predicted.csv").read_bytes() == (tmp_path / "out.predicted.csv").read_bytes()


@pytest.mark.slow
def test_a_renamed_class_has_the_new_name_in_export_and_fit(run, table, tmp_path):
    labels = {i: "ja" if i < 20 else "nien" for i in range(0, 40, 4)}
    labelled(table, labels)
    with Journal(table.with_name("kunden.labels")) as journal:
        journal.add([Event(user="anna", action="rename", request="r", label="nein", renames="nien")])
    done = run("label", table, "--export", tmp_path / "out.csv")
    assert "10 labels of 40 rows in 'kauf': 5 of 'ja', 5 of 'nein'." in done.stdout
    assert {row["kauf"] for row in rows_of(tmp_path / "out.csv")} == {"ja", "nein", ""}
    found = json.loads(run("fit", table, "--labels", table.with_name("kunden.labels"), "--json").stdout)
    assert found["classes"] == {"ja": 5, "nein": 5}


def test_with_labels_of_one_class_the_next_step_is_to_label_again(run, table, tmp_path):
    labelled(table, {0: "ja", 1: "ja"})
    options = ["--target", "kauf", "--classes", "ja,nein", "--user", "a b"]
    done = run("label", table, *options, "--export", tmp_path / "a.csv")
    assert f"\nNext: mixkern label {table} --target kauf --classes ja --classes nein --user 'a b'\n" in done.stdout
    labelled(table, {2: "nein"})
    done = run("label", table, *options, "--export", tmp_path / "a.csv")
    assert f"\nNext: mixkern fit {table} --labels {table.with_name('kunden.labels')}\n" in done.stdout


def test_a_class_with_one_label_is_noted(run, table):
    labels = {i: "ja" if i < 20 else "nein" for i in range(0, 40, 2)}
    labelled(table, {**labels, 1: "neim"})
    journal = table.with_name("kunden.labels")
    text = (
        "Note: This class has one label, of 21 in column 'kauf': 'neim'. To correct labels: "
        f"mixkern label {table} --journal {journal}\n"
    )
    for command in (["look"], ["fit", "--no-estimate"]):
        assert text in run(*command, table, "--labels", journal).stderr
    labelled(table, {1: "nein"}, user="ben")
    assert "one label" not in run("look", table, "--labels", journal).stderr


def test_a_slip_of_the_table_that_the_journal_corrects_is_not_noted(run, table):
    cells = pd.read_csv(table, sep=";", dtype=str, encoding="cp1252")
    cells["kauf"] = ["ja", "nein"] * 6 + ["neim"] + [None] * 27
    cells.to_csv(table, sep=";", index=False)
    assert "This class has one label, of 13" in run("look", table, "--target", "kauf").stderr
    labelled(table, {12: "nein", 14: "ja"})
    assert "one label" not in run("look", table, "--labels", table.with_name("kunden.labels")).stderr


def test_fit_needs_a_target_or_a_journal(run, table):
    assert "Missing option '--target'" in run("fit", table, code=2).stderr


def test_a_journal_that_is_none(run, table, tmp_path):
    wrong = tmp_path / "wrong.labels"
    wrong.write_text("no journal")
    assert "wrong.labels cannot be read as a journal of labels" in run("fit", table, "--labels", wrong, code=1).stderr


def test_rows_that_were_sorted_and_appended_find_their_labels(run, table, tmp_path):
    labelled(table, {0: "ja", 39: "nein"})
    header, *lines = table.read_bytes().split(b"\n")
    table.write_bytes(b"\n".join([header, b"99,5;Bonn;1,00", *lines[::-1]]))
    run("label", table, "--export", tmp_path / "out.csv")
    found = rows_of(tmp_path / "out.csv")
    assert {row["alter"]: row["kauf"] for row in found if row["kauf"]} == {"20,5": "ja", "59,5": "nein"}


def test_labels_of_rows_that_are_gone_are_counted(run, table, tmp_path):
    labelled(table, {0: "ja", 39: "nein"})
    table.write_bytes(b"\n".join(table.read_bytes().split(b"\n")[:-1]))
    done = run("label", table, "--export", tmp_path / "out.csv")
    assert "1 label is of a row that this table does not have, or has with other cells: 'row 40'" in done.stderr
    assert "1 label of 39 rows" in done.stdout


def test_formulas_are_guarded_in_the_export(run, tmp_path):
    path = tmp_path / "kunden.csv"
    path.write_text("a,b\n" + "".join(f"{i},=cmd{i % 3}\n" for i in range(20)))
    labelled(path, {0: "@x"})
    run("label", path, "--export", tmp_path / "out.csv")
    first = rows_of(tmp_path / "out.csv", ",", "utf-8")[0]
    assert (first["b"], first["kauf"]) == ("'=cmd0", "'@x")
    run("label", path, "--export", tmp_path / "raw.csv", "--no-guard-formulas")
    assert rows_of(tmp_path / "raw.csv", ",", "utf-8")[0]["b"] == "=cmd0"


@pytest.mark.parametrize(("target", "text"), [("umsaz", "Did you mean 'umsatz'?"), (None, "must be named")])
def test_a_target_that_is_a_typo_or_missing(run, table, target, text):
    options = [] if target is None else ["--target", target]
    assert text in run("label", table, *options, "--export", table.with_name("out.csv"), code=1).stderr


def test_another_target_than_that_of_the_journal(run, table):
    labelled(table, {0: "ja"})
    done = run("label", table, "--target", "farbe", "--export", table.with_name("out.csv"), code=1)
    assert "has labels of column 'kauf', but the column is 'farbe'" in done.stderr


# ---------------------------------------------------------------- merge


@pytest.fixture
def typed(run, table):
    """A table of suggested rows with typed labels."""
    path = table.with_name("to_label.csv")
    run("suggest", _with_column(table), "--target", "kauf", "-n", "6", "-o", path)
    lines = rows_of(path)
    for i, line in enumerate(lines):
        line["kauf"] = "ja" if i % 2 else ""
    _write(path, lines)
    return path, lines


def _with_column(table):
    header, *lines = table.read_bytes().split(b"\n")
    table.write_bytes(b"\n".join([header + b";kauf", *(line + b";" for line in lines)]))
    return table


def _write(path, lines):
    with path.open("w", encoding="cp1252", newline="") as file:
        writer = csv.DictWriter(file, lines[0], delimiter=";")
        writer.writeheader()
        writer.writerows(lines)


def test_typed_labels_are_recorded_once(run, table, typed):
    path, lines = typed
    first = run("merge", table, path, "--target", "kauf")
    assert "3 new labels recorded." in first.stdout
    assert "0 new labels recorded." in run("merge", table, path).stdout
    run("label", table, "--export", table.with_name("out.csv"))
    found = {i + 1: row["kauf"] for i, row in enumerate(rows_of(table.with_name("out.csv"))) if row["kauf"]}
    assert found == {int(line["row"]): line["kauf"] for line in lines if line["kauf"]}
    sources = {i + 1: row["label_source"] for i, row in enumerate(rows_of(table.with_name("out.csv"))) if row["kauf"]}
    assert sources == {int(line["row"]): line["label_source"] for line in lines if line["kauf"]}


def test_the_next_command_reads_columns_as_this_one(run, table, tmp_path):
    labelled(table, {0: "ja", 1: "nein", 20: "ja", 21: "nein"})
    _write(table, [{**row, "how": ""} for row in rows_of(table)])
    options = ["--source", "how", "--unlabelled", "offen"]
    done = run("label", table, "--target", "kauf", *options, "--export", tmp_path / "a.csv")
    command = f"mixkern fit {table} --labels {table.with_name('kunden.labels')} --source how --unlabelled offen"
    assert sorted(done.stdout.partition("Next: ")[2].split()) == sorted(command.split())
    assert "from 4 labels (2 'ja' and 2 'nein') and 40 rows" in run(*command.split()[1:], "--no-estimate").stdout


def test_fit_notes_labels_that_it_does_not_use(run, table, tmp_path):
    labelled(table, {0: "ja", 1: "nein", 20: "ja", 21: "nein"})
    run("label", table, "--export", tmp_path / "kunden2.csv")
    table.write_bytes((tmp_path / "kunden2.csv").read_bytes())
    note = f"The labels in kunden.labels are not used. To use them: --labels {tmp_path / 'kunden.labels'}"
    assert note in run("fit", table, "--target", "kauf", "--no-estimate").stderr
    assert "are not used" not in run("fit", table, "--labels", tmp_path / "kunden.labels", "--no-estimate").stderr


def test_label_from_is_merge(run, table, typed):
    path, _ = typed
    assert "3 labels of 40 rows" in run("label", table, "--from", path, "--target", "kauf").stdout


def test_cells_that_a_spreadsheet_has_rewritten_are_the_same(run, table, typed):
    path, lines = typed
    for line in lines:
        line["alter"], line["umsatz"] = line["alter"].rstrip("0") + "00", line["umsatz"].replace(",", ".")
    _write(path, lines)
    assert "3 new labels recorded." in run("merge", table, path, "--target", "kauf").stdout


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"row": "41"},
            "line 2 after the header is '41', but expected is a whole number from 1 to 40",
        ),
        ({"row": "x"}, "the row number in line 2"),
        ({"alter": "0", "stadt": "Rom", "umsatz": "0"}, "are not those of the same rows of kunden.csv"),
    ],
)
def test_rows_that_do_not_match_record_nothing(run, table, typed, change, text):
    path, lines = typed
    lines[1].update(change)
    _write(path, lines)
    assert text in run("merge", table, path, "--target", "kauf", code=1).stderr
    with Journal(table.with_name("kunden.labels")) as journal:
        assert not journal.events()


def test_a_row_number_twice(run, table, typed):
    path, lines = typed
    lines[2]["row"] = lines[1]["row"]
    _write(path, lines)
    assert "more than once" in run("merge", table, path, "--target", "kauf", code=1).stderr


# ---------------------------------------------------------------- suggest


def test_suggest_does_not_overwrite_typed_labels(run, table, typed):
    path, _ = typed
    before = path.read_bytes()
    done = run("suggest", table, "--target", "kauf", "-n", "3", "-o", path, code=1)
    assert "to_label.csv has 3 labels in column 'kauf', which would be lost. Record them: mixkern merge" in done.stderr
    assert path.read_bytes() == before
    labelled(table, {0: "ja", 30: "nein"})
    journal = table.rename(table.with_name("other.table")).with_name("kunden.labels")
    options = ("--labels", journal, "--delimiter", ";", "-o", path)
    done = run("suggest", table.with_name("other.table"), "--target", "kauf", *options, code=1)
    hint = " ".join(done.stderr.split()).partition("Record them: ")[2]
    assert f"--target kauf --journal {journal} --delimiter" in hint


def test_journals_are_not_overwritten(run, table):
    labelled(table, {row: "ja" if row < 20 else "nein" for row in range(10, 30)})
    journal = table.with_name("kunden.labels")
    before = journal.read_bytes()
    for arguments in (
        ("fit", table, "--labels", journal, "-o", journal),
        ("fit", _with_column(table), "--target", "kauf", "-o", journal),
        ("suggest", table, "--labels", journal, "-o", journal),
        ("label", table, "--journal", journal, "--export", journal),
    ):
        assert "would be lost" in run(*arguments, code=2).stderr
    assert journal.read_bytes() == before


def test_a_failed_suggest_leaves_no_earlier_suggestions(run, table):
    path = table.with_name("to_label.csv")
    run("suggest", _with_column(table), "--target", "kauf", "-n", "3", "-o", path)
    full = pd.read_csv(table, sep=";", dtype=str, encoding="cp1252").assign(kauf=["ja", "nein"] * 20)
    full.to_csv(table, sep=";", index=False)
    assert "Every row has a label" in run("suggest", table, "--target", "kauf", "-n", "3", "-o", path, code=1).stderr
    assert not path.exists()


def test_a_failed_suggest_leaves_other_files_alone(run, table):
    path = table.with_name("other.csv")
    path.write_text("a,b\n1,2\n")
    full = pd.read_csv(table, sep=";", dtype=str, encoding="cp1252").assign(kauf=["ja", "nein"] * 20)
    full.to_csv(table, sep=";", index=False)
    run("suggest", table, "--target", "kauf", "-n", "3", "-o", path, code=1)
    assert path.read_text() == "a,b\n1,2\n"


# ---------------------------------------------------------------- the server


@pytest.fixture
def served(script, table):
    """Start the command; return its address, and a function that ends it."""
    running = []

    def start(*options):
        command = [script, "label", str(table), "--target", "kauf", "--no-browser", "--port", "0", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in running:
        process.kill()
        process.communicate()


@contextmanager
def browsing(address):
    """Open an address as a browser does; give a function for further requests."""
    parts = urlsplit(address)
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=SERVED_S)) as connection:

        def ask(method, path, body=None, **headers):
            headers |= {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers | cookie)
            answer = connection.getresponse()
            if "set-cookie" in answer.headers:
                cookie["Cookie"] = answer.headers["set-cookie"].partition(";")[0]
            return answer.read()

        cookie = {}
        ask("GET", f"/?{parts.query}")
        yield ask


@pytest.mark.posix
@pytest.mark.slow
def test_the_first_line_is_the_address(served, table):
    process, address = served()
    assert address.startswith("http://127.0.0.1:")
    assert len(address.partition("?token=")[2]) > 20
    with browsing(address) as ask:
        assert "kunden.csv" in ask("GET", "/").decode()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=SERVED_S)
    assert f"0 labels in {table.with_name('kunden.labels')}. Next: mixkern label {table} --target kauf" in errors
    assert "mixkern fit" not in errors
    assert "Traceback" not in errors


@pytest.mark.slow
def test_the_name_of_a_proxy(served):
    _, address = served("--name", "label.example")
    with browsing(address) as ask:
        assert "kunden.csv" in ask("GET", "/", Host="label.example").decode()
        assert "not known by that name" in ask("GET", "/", Host="other.example").decode()


@pytest.mark.slow
def test_every_person_has_an_address(served):
    process, first = served("--user", "anna", "--user", "ben")
    second = process.stdout.readline().strip()
    assert first.endswith("  anna")
    assert second.endswith("  ben")
    assert first.split()[0] != second.split()[0]


@pytest.mark.posix
def test_other_machines_need_a_password(run, table, tmp_path):
    done = run("label", table, "--target", "kauf", "--host", "0.0.0.0", "--no-browser", code=1)
    assert "so a password is needed" in done.stderr
    secret = tmp_path / "secret.txt"
    secret.write_text("tulip")
    secret.chmod(0o644)
    options = ("--target", "kauf", "--host", "0.0.0.0", "--no-browser", "--password-file", secret)
    assert "Other accounts of this machine can read secret.txt" in run("label", table, *options, code=1).stderr
    secret.chmod(0o600)
    secret.write_text("\n")
    assert "is empty" in run("label", table, *options, code=1).stderr


@pytest.mark.slow
def test_a_port_that_is_taken(run, table, served):
    _, address = served()
    port = address.rpartition(":")[2].partition("/")[0]
    other = table.with_name("other.labels")
    done = run("label", table, "--target", "kauf", "--no-browser", "--port", port, "--journal", other, code=1)
    assert f"Port {port} of 127.0.0.1 cannot be used" in done.stderr


@pytest.mark.slow
def test_the_journal_can_be_read_while_the_server_runs(run, served, table):
    _, address = served()
    with browsing(address) as ask:
        for i, label in ((0, "ja"), (20, "nein")):
            key = json.loads(ask("GET", f"/api/rows/{i}"))["card"]["key"]
            answer = {"id": f"id {i}", "key": key, "action": "label", "label": label, "seconds": 1.5}
            assert json.loads(ask("POST", "/api/answers", {"answers": [answer]}))["saved"] == 1
    run("label", table, "--export", table.with_name("out.csv"))
    found = rows_of(table.with_name("out.csv"))
    assert [row["kauf"] for row in found if row["kauf"]] == ["ja", "nein"]
    run("fit", table, "--labels", table.with_name("kunden.labels"))
    with sqlite3.connect(table.with_name("kunden.labels")) as file:
        assert [row[0] for row in file.execute("SELECT seconds FROM event")] == [1.5, 1.5]


SOURCES = ("random", "suggested", "component")


@pytest.fixture
def journal(table):
    """A journal with labels of ten rows, of all sources."""
    labels = {i: "ja" if i < 20 else "nein" for i in range(0, 40, 4)}
    labelled(table, labels, source=lambda row: SOURCES[row // 4 % 3])
    return table.with_name("kunden.labels")


def test_report_uses_the_labels_of_a_journal_as_fit_does(run, table, journal, tmp_path, monkeypatch):
    given = []

    def write(_model, _X, y, path, *, source, **_options):
        given.append((list(y), list(source)))
        path.write_text("")

    monkeypatch.setattr("mixkern.cli.report.write_model_report", write)
    run("fit", table, "--labels", journal, "--no-estimate")
    done = run("report", tmp_path / "kunden.mixkern", table, "--labels", journal)
    assert "other labels" not in done.stderr
    expected = [("ja" if i < 20 else "nein") if i % 4 == 0 else None for i in range(40)]
    assert given == [(expected, [None if i % 4 else SOURCES[i // 4 % 3] for i in range(40)])]


@pytest.mark.slow
def test_the_estimate_of_a_report_with_a_journal_is_that_of_fit(run, table, journal, tmp_path):
    fitted = json.loads(run("fit", table, "--labels", journal, "--json").stdout)
    run("report", tmp_path / "kunden.mixkern", table, "--labels", journal, "-o", tmp_path / "a.html", "--no-figures")
    page = (tmp_path / "a.html").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    for sentence in fitted["accuracy"]["in_words"]:
        assert sentence in page


@pytest.mark.slow
def test_a_card_names_the_entry_of_the_journal(run, table, journal, tmp_path):
    run("fit", table, "--labels", journal, "--no-estimate")
    model, card = tmp_path / "kunden.mixkern", tmp_path / "a.md"
    assert read_model(model).notes["journal"] == {"name": "kunden.labels", "entry": 10}
    run("report", model, table, "--labels", journal, "-o", card)
    text = card.read_text("utf-8")
    assert "| Labels | kunden.labels up to entry 10 |" in text
    same = (
        "with the same table, the labels of kunden.labels up to entry 10, and the same versions, gives the same model:"
    )
    assert f"This command, {same}" in text
    labelled(table, {0: "ja", 24: "nein"}, user="ben")  # as before
    run("report", model, table, "--labels", journal, "-o", card)
    text = card.read_text("utf-8")
    assert "Warning" not in text
    assert "The journal is at entry 12 by now, so that it may fit another one:" in text


@pytest.mark.slow
def test_files_about_a_model_with_labels_since(run, table, journal, tmp_path):
    fitted = json.loads(run("fit", table, "--labels", journal, "--json").stdout)
    labelled(table, {1: "ja", 2: "ja", 31: "vielleicht", 33: "vielleicht"}, user="ben")
    model, card, page = (tmp_path / name for name in ("kunden.mixkern", "a.md", "a.html"))
    done = run("report", model, table, "--labels", journal, "-o", card)
    assert "The model was fitted on other labels (5 of 'ja', 5 of 'nein') than the table has now" in done.stderr
    run("report", model, table, "--labels", journal, "-o", page, "--no-figures")
    text, source = card.read_text("utf-8"), page.read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert (
        "> **Warning: This model was fitted on other labels.** It was fitted on 10 labels (5 “ja” and 5 “nein”)" in text
    )
    assert '<p class="alert" role="note"><b>This model was fitted on other labels.</b>' in source
    for written in (text, source):
        assert "It does not know the class" in written
        assert all(sentence in written for sentence in fitted["accuracy"]["in_words"])
        assert "never: unknown to the model" in written
        assert "gives the same model" not in written
        assert "With the labels that the table has now, it fits another one:" in written
    assert "Other classes than “ja” and “nein”: it predicts no others, and so not “vielleicht”." in text
    assert "| vielleicht | none | 2 | never: unknown to the model |" in text
    assert "| ja | 5 | 7 |" in text


def test_report_without_the_journal_names_it(run, table, journal, tmp_path):
    run("fit", table, "--labels", journal, "--no-estimate")
    done = run("report", tmp_path / "kunden.mixkern", table, code=1)
    assert "Give the table with the labels, or their journal: --labels" in done.stderr


def test_look_counts_the_labels_of_a_journal(run, table, journal):
    done = run("look", table, "--labels", journal)
    assert "Labels in 'kauf': 10 of 40 rows: 5 of 'ja', 5 of 'nein'." in done.stdout
    assert f"mixkern fit {table} --labels {journal}" in done.stdout


def test_suggested_rows_have_no_label_in_the_journal(run, table, journal, tmp_path):
    out = tmp_path / "out.csv"
    done = run("suggest", table, "--labels", journal, "-n", 30, "-o", out)
    assert {int(row["row"]) - 1 for row in rows_of(out)} == {i for i in range(40) if i % 4}
    assert all(row["kauf"] == "" for row in rows_of(out))
    assert f"mixkern merge {table} {out} --journal {journal}" in done.stdout
    assert "Missing option '--target'" in run("suggest", table, code=2).stderr
