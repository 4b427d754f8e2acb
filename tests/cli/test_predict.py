"""``mixkern predict``: labels of every row in a table of any format, written whole or not at all."""

import csv
import gzip
import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from mixkern import LaplacianSVC, MixtureSVC, TableEncoder, load, save
from mixkern.cli import table as table_module

ADDED = ["label", "probability", "component", "novelty"]


@pytest.fixture
def assessed(model, people):
    """Predictions of the same model in this process."""
    return load(model).assess(people[["age", "town"]], all_classes=True)


def predicted(path, **options):
    """Read predictions from a file, with all their digits."""
    frame = pd.read_csv(path, dtype=str, **options)
    return frame.assign(**{name: frame[name].map(float) for name in ("probability", "novelty")})


def test_predictions_are_those_of_the_model_bit_for_bit(run, model, table, assessed, tmp_path):
    run("predict", model, table, "-o", tmp_path / "out.csv", "--probabilities")
    found = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert found["label"].tolist() == assessed["label"].tolist()
    assert found["component"].map(int).tolist() == assessed["component"].tolist()
    for name in ("probability", "novelty", "probability_no", "probability_yes"):
        assert found[name].map(float).to_numpy().tobytes() == assessed[name].to_numpy().tobytes(), name
    run("predict", model, table, "-o", tmp_path / "out.parquet", "--probabilities")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "out.parquet")[list(assessed)], assessed, check_exact=True, check_dtype=False
    )


def test_cells_stay_as_they_are(run, model, people, tmp_path):
    lines = ["town,note,age,churn", 'Ulm,"a, ""b""\n[c]",031.50,', ' Kassel ,NA,"1,031.5",maybe', "Ulm,a\tb,,yes"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    run("predict", model, tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    cells = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert list(cells) == ["town", "note", "age", "churn", *ADDED]
    before = pd.read_csv(tmp_path / "in.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(cells[list(before)], before)


def test_a_carriage_return_stays_inside_its_cell(run, model, people, written, tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes(b'age,town,note\n31,Ulm,"a\rb"\n32,Kassel,c\n')
    run("predict", model, path, "-o", tmp_path / "out.csv")
    assert b'"a\rb"' in (tmp_path / "out.csv").read_bytes()
    assert (
        json.loads(run("predict", model, tmp_path / "out.csv", "-o", tmp_path / "2.csv", "--json").stdout)["rows"] == 2
    )


def test_only_the_predictions(run, model, table, assessed):
    done = run("predict", model, table, "--only")
    lines = done.stdout.splitlines()
    assert lines[0] == "row,label,probability,component,novelty"
    assert [line.split(",")[:2] for line in lines[1:]] == [[str(i + 1), x] for i, x in enumerate(assessed["label"])]


def test_summary_in_text_and_json(run, model, table, assessed, tmp_path):
    output = tmp_path / "out.csv"
    found = json.loads(run("predict", model, table, "-o", output, "--json").stdout)
    counts = assessed["label"].value_counts().sort_index().to_dict()
    assert found == {"table": "people.csv", "output": str(output), "rows": 90, "labels": counts, "notes": []}
    text = run("predict", model, table, "-o", output).stdout
    assert text == f"90 rows: {counts['no']} of 'no', {counts['yes']} of 'yes'.\nLabelled table: {output}\n"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_unsure_rows_are_left_empty(run, model, table, assessed, tmp_path, name, monkeypatch):
    output, limit = tmp_path / name, float(assessed["probability"].median())
    monkeypatch.setattr(table_module, "BLOCK", 7)  # some blocks have no label at all
    done = run("predict", model, table, "-o", output, "--abstain", limit)
    found = pd.read_csv(output, dtype=str) if name == "out.csv" else pd.read_parquet(output)
    is_empty = assessed["probability"] < limit
    assert found["label"].isna().tolist() == is_empty.tolist()
    assert found["label"][~is_empty].tolist() == assessed["label"][~is_empty].tolist()
    assert found["probability"].map(float).tolist() == pytest.approx(assessed["probability"].tolist(), rel=1e-12)
    n = int(is_empty.sum())
    assert f". {n} labels left empty: their probability is below {limit:g}.\n" in done.stdout
    found = json.loads(run("predict", model, table, "-o", output, "--abstain", limit, "--json").stdout)
    assert (found["rows"], found["empty"]) == (90, n)
    assert found["labels"] == assessed["label"][~is_empty].value_counts().sort_index().to_dict()


def test_all_rows_may_be_unsure(run, model, table, tmp_path):
    done = run("predict", model, table, "-o", tmp_path / "out.csv", "--abstain", "1")
    assert done.stdout.startswith("90 rows: no label. 90 labels left empty: their probability is below 1.\n")
    assert pd.read_csv(tmp_path / "out.csv")["label"].isna().all()


@pytest.mark.parametrize("wrong", ["0", "1.5", "-0.2", "most"])
def test_a_wrong_limit_is_refused(run, model, table, tmp_path, wrong):
    assert "--abstain" in run("predict", model, table, "-o", tmp_path / "out.csv", "--abstain", wrong, code=2).stderr
    assert not list(tmp_path.glob("out*"))


def test_json_and_the_table_do_not_share_a_stream(run, model, table):
    assert "Name a file for the table: -o FILE." in run("predict", model, table, "--json", code=2).stderr


@pytest.mark.parametrize("n_rows", [1, 7, 45, 90, 91])
@pytest.mark.slow
def test_blocks_change_nothing(run, model, table, tmp_path, monkeypatch, n_rows):
    run("predict", model, table, "-o", tmp_path / "whole.csv")
    monkeypatch.setattr(table_module, "BLOCK", n_rows)
    run("predict", model, table, "-o", tmp_path / "blocks.csv")
    whole, blocks = predicted(tmp_path / "whole.csv"), predicted(tmp_path / "blocks.csv")
    pd.testing.assert_frame_equal(blocks, whole, rtol=1e-12)
    labels = ["age", "town", "churn", "label", "component", "novelty"]
    pd.testing.assert_frame_equal(blocks[labels], whole[labels], check_exact=True)


def test_new_categories_are_noted_once(run, model, people, written, tmp_path, monkeypatch):
    monkeypatch.setattr(table_module, "BLOCK", 20)
    towns = np.array(["Rom", "Oslo", "Paris", "Riga", "Bonn"])[np.arange(90) // 20]
    done = run("predict", model, written(people.assign(town=towns)), "-o", tmp_path / "out.csv")
    assert done.stderr.count("Note:") == 1
    assert "'town': 'Rom' (20)\nLater rows are affected as well.\n" in done.stderr
    done = run("predict", model, written(people.assign(town="Rom")), "--only")
    assert done.stderr.count("Rom") == 1
    assert "Rom" not in done.stdout


def test_columns_in_another_order_and_more_of_them(run, model, people, table, written, tmp_path):
    run("predict", model, table, "-o", tmp_path / "a.csv")
    run("predict", model, written(people.assign(x="z")[["x", "town", "age"]]), "-o", tmp_path / "b.csv")
    a, b = predicted(tmp_path / "a.csv"), predicted(tmp_path / "b.csv")
    pd.testing.assert_frame_equal(a[ADDED], b[ADDED], check_exact=True)
    assert list(b) == ["x", "town", "age", *ADDED]


def test_missing_columns_are_named(run, model, people, written, tmp_path):
    path = written(people.rename(columns={"town": "Towns"}))
    done = run("predict", model, path, "-o", tmp_path / "out.csv", code=1)
    assert done.stderr == (
        "Error: mine.csv lacks 1 column that the model was fitted on: 'town'. Did you mean 'Towns'?\n"
    )
    assert not (tmp_path / "out.csv").exists()


def test_a_table_may_be_predicted_again_and_again(run, model, table, tmp_path):
    last = table
    for i in range(4):
        run("predict", model, last, "-o", tmp_path / f"{i}.csv")
        last = tmp_path / f"{i}.csv"
    frame = pd.read_csv(last)
    expected = ["label", "mixkern_label", "mixkern_label_2", "mixkern_label_3"]
    assert [name for name in frame if "label" in name] == expected
    assert all((frame[name] == frame["label"]).all() for name in expected)


@pytest.mark.parametrize(
    "name", ["out.csv.gz", "out.tsv", "out.TSV.BZ2", "out.csv.xz", "out.parquet", "a folder/out.v1.csv"]
)
def test_forms_of_output(run, model, table, assessed, tmp_path, name):
    (tmp_path / "a folder").mkdir()
    run("predict", model, table, "-o", tmp_path / name)
    if name.endswith("parquet"):
        frame = pd.read_parquet(tmp_path / name)
    else:
        how = {".bz2": "bz2", ".gz": "gzip", ".xz": "xz"}.get((tmp_path / name).suffix.lower())
        frame = pd.read_csv(tmp_path / name, sep="\t" if "tsv" in name.lower() else ",", compression=how)
    assert frame["label"].tolist() == assessed["label"].tolist()


@pytest.mark.parametrize("name", ["out", "out.xlsx", "out.gz", "out.parquet.gz", "csv", "out.csv.zip"])
def test_names_that_do_not_end_like_a_table(run, model, table, tmp_path, name):
    done = run("predict", model, table, "-o", tmp_path / name, code=1)
    assert f"{name!r} does not end like a table: use .csv, .tsv, .parquet or .arrow" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(run, model, table, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    for place in ("file/out.csv", "folder.csv"):
        assert "cannot be written" in run("predict", model, table, "-o", tmp_path / place, code=1).stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder.csv"]


def test_semicolons_commas_and_compression(run, model, people, table, tmp_path):
    people.to_csv(tmp_path / "in.csv", sep=";", decimal=",", index=False)
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress((tmp_path / "in.csv").read_bytes()))
    run("predict", model, table, "-o", tmp_path / "a.csv")
    done = run("predict", model, tmp_path / "in.csv.gz", "-o", tmp_path / "b.csv")
    assert "Note: Decimal commas were found:" in done.stderr
    a = predicted(tmp_path / "a.csv")
    b = pd.read_csv(tmp_path / "b.csv", dtype=str, sep=";")
    for name in ("probability", "novelty"):
        b[name] = b[name].str.replace(",", ".").map(float)
    pd.testing.assert_frame_equal(a[ADDED], b[ADDED], check_exact=True)


def test_what_is_wrong_in_a_later_block_leaves_no_file(run, model, people, tmp_path, monkeypatch):
    monkeypatch.setattr(table_module, "BLOCK", 20)
    (tmp_path / "out.csv").write_text("old")
    for cell, place in (("old", "in.csv, line 72: column 'age'"), ("inf", "the first in row 71 (counted from 1).")):
        cells = people["age"].astype(object)
        cells[70] = cell
        people.assign(age=cells).to_csv(tmp_path / "in.csv", index=False)
        assert place in run("predict", model, tmp_path / "in.csv", "-o", tmp_path / "out.csv", code=1).stderr
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_an_interrupt_leaves_the_old_file(run, model, table, tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("old")
    monkeypatch.setattr(table_module, "BLOCK", 20)
    assess, calls = MixtureSVC.assess, []

    def interrupted(self, X, **options):
        calls.append(len(X))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return assess(self, X, **options)

    monkeypatch.setattr(MixtureSVC, "assess", interrupted)
    done = run("predict", model, table, "-o", tmp_path / "out.csv", code=130)
    assert done.stderr.strip() == "Stopped. No file was changed."
    assert (tmp_path / "out.csv").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_over_the_table_itself(run, model, people, written):
    path = written(people)
    run("predict", model, path, "-o", path)
    assert list(pd.read_csv(path)) == ["age", "town", "churn", *ADDED]


def test_standard_input_and_output(run, model, table):
    by_name = run("predict", model, table)
    by_pipe = run("predict", model, "-", stdin=table.read_bytes())
    assert by_pipe.stdout == by_name.stdout
    assert by_pipe.stderr == ""


# ---------------------------------------------------------------- models that were made in Python


def test_a_model_without_named_columns(run, table, people, tmp_path):
    y = people["churn"].astype(object).where(people["churn"].notna(), None)
    save(MixtureSVC(random_state=0).fit(people[["age", "age"]].fillna(30).to_numpy(), y), tmp_path / "a.mixkern")
    done = run("predict", tmp_path / "a.mixkern", table, code=1)
    assert "that was fitted on a table with named columns. Fit one by: mixkern fit TABLE --target COLUMN" in done.stderr
    save(TableEncoder().fit(people), tmp_path / "b.mixkern")
    assert "is no classifier" in run("predict", tmp_path / "b.mixkern", table, code=1).stderr


@pytest.mark.parametrize("estimator", [MixtureSVC, LaplacianSVC])
@pytest.mark.parametrize("probability", [True, False])
def test_a_model_from_python_with_labels_that_are_numbers(run, people, table, tmp_path, estimator, probability):
    y = np.where(people["churn"].isna(), -1, people["churn"] == "yes").astype(int)
    model = estimator(random_state=0, probability=probability).fit(people[["age", "town"]], y)
    notes = {"gaps": 5, "unlabelled": [["a"]], "target": None}  # not those of mixkern fit
    save(model, tmp_path / "a.mixkern", notes=notes)
    found = json.loads(run("predict", tmp_path / "a.mixkern", table, "-o", tmp_path / "a.csv", "--json").stdout)
    assert sum(found["labels"].values()) == 90
    frame = pd.read_csv(tmp_path / "a.csv")
    assert (frame["label"] == model.predict(people[["age", "town"]])).all()
    assert frame["probability"].isna().all() == (not probability)


def test_files_that_are_no_models(run, table, tmp_path):
    done = run("predict", tmp_path / "no.mixkern", table, code=1)
    assert "there is no such file. This writes a model: mixkern fit TABLE --target COLUMN -o MODEL" in done.stderr
    assert "it is no model. Give the model before the table." in run("predict", table, table, code=1).stderr
    assert "it is a folder" in run("predict", tmp_path, table, code=1).stderr


def test_a_folder_that_does_not_exist(run, model, table, tmp_path):
    done = run("predict", model, table, "-o", tmp_path / "no" / "out.csv", code=1)
    assert f"out.csv cannot be written: there is no folder '{tmp_path / 'no'}'. Create it." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_not_lost_to_its_predictions(run, model, table):
    before = table.read_bytes()
    assert "would be lost" in run("predict", model, table, "--only", "-o", table, code=2).stderr
    assert table.read_bytes() == before


# ---------------------------------------------------------------- written as it was read


@pytest.fixture(scope="module")
def german(run, people, tmp_path_factory):
    """A folder with a German table and its model: semicolons, decimal commas, cp1252, line ends of Windows."""
    folder = tmp_path_factory.mktemp("german")
    frame = people.assign(town=people["town"].replace({"Ulm": "Köln"}), note="x;y")
    text = frame.to_csv(sep=";", decimal=",", index=False, lineterminator="\r\n")
    (folder / "leute.csv").write_bytes(text.encode("cp1252"))
    run("fit", folder / "leute.csv", "--target", "churn", "--no-estimate")
    return folder


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_a_german_table_comes_back_as_one(run, german, tmp_path, encoding):
    text = (german / "leute.csv").read_bytes().decode("cp1252")
    (tmp_path / "in.csv").write_bytes(text.encode(encoding))
    run("predict", german / "leute.mixkern", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    found = (tmp_path / "out.csv").read_bytes().decode(encoding)
    before, after = text.split("\r\n"), found.split("\r\n")
    assert after[0] == f"{before[0]};label;probability;component;novelty"
    assert all(new.startswith(f"{old};") for old, new in zip(before[1:-1], after[1:-1], strict=True))
    assert after[1].count(",") == before[1].count(",") + 2  # probability and novelty have decimal commas
    assert after[-1] == ""


def test_the_end_of_the_name_decides_the_format(run, german, tmp_path):
    arguments = ("predict", german / "leute.mixkern", german / "leute.csv", "-o")
    run(*arguments, tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_bytes().startswith(b"age\ttown\tchurn\tnote\tlabel")
    run(*arguments, tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert [str(kind) for kind in found.schema.types] == [
        *("double", "string", "string", "string", "string", "double", "int64", "double")
    ]
    assert found["age"].null_count == 13
    assert found["churn"].null_count == 60


def test_the_output_in_parquet_can_be_learned_from(run, german, tmp_path):
    run("predict", german / "leute.mixkern", german / "leute.csv", "-o", tmp_path / "out.parquet")
    found = json.loads(run("look", tmp_path / "out.parquet", "--target", "churn", "--json").stdout)
    assert [(column["name"], column["read_as"]) for column in found["columns"]] == [
        ("age", "numbers"),
        ("town", "categories"),
    ]


def test_another_encoding_of_the_output(run, german, tmp_path):
    arguments = ("predict", german / "leute.mixkern", german / "leute.csv", "--output-encoding")
    run(*arguments, "utf-8", "-o", tmp_path / "out.csv")
    assert "Köln" in (tmp_path / "out.csv").read_bytes().decode()
    assert "'ö'" in run(*arguments, "ascii", "-o", tmp_path / "out.csv", code=1).stderr
    assert "There is no encoding 'utf8x'" in run(*arguments, "utf8x", "-o", tmp_path / "out.csv", code=1).stderr


def test_a_class_that_the_encoding_cannot_hold(run, people, tmp_path):
    frame = people.assign(churn=people["churn"].replace({"yes": "Łódź"}))
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "--target", "churn", "--no-estimate")
    frame[["age", "town"]].replace({"Ulm": "Köln"}).to_csv(tmp_path / "in.csv", index=False, encoding="cp1252")
    done = run("predict", tmp_path / "a.mixkern", tmp_path / "in.csv", "-o", tmp_path / "out.csv", code=1)
    assert "cannot be written in cp1252, which has no 'Ł'. Add: --output-encoding utf-8" in done.stderr
    run(
        "predict", tmp_path / "a.mixkern", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--output-encoding", "utf-8"
    )


@pytest.mark.slow
def test_the_model_remembers_how_its_table_is_written(run, people, tmp_path):
    frame = people.assign(town=people["town"].replace({"Ulm": "Žilina"}))
    text = frame.to_csv(sep=":", index=False)
    (tmp_path / "a.csv").write_bytes(text.encode("cp1250"))
    options = ("--encoding", "cp1250", "--delimiter", ":")
    run("fit", tmp_path / "a.csv", "--target", "churn", "--no-estimate", *options)
    for command, more in (
        ("predict", ["-o", tmp_path / "o.csv"]),
        ("explain", ["--row", 1]),
        ("report", ["--no-figures"]),
    ):
        done = run(command, tmp_path / "a.mixkern", tmp_path / "a.csv", *more)
        assert "a.csv was read as cp1250." in done.stderr
    assert (tmp_path / "o.csv").read_bytes().decode("cp1250").startswith("age:town:churn:label:")
    (tmp_path / "b.csv").write_text(frame.to_csv(index=False), "utf-8")  # another dialect, which is detected
    assert "cp1250" not in run("predict", tmp_path / "a.mixkern", tmp_path / "b.csv").stderr


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.slow
def test_a_column_without_a_name_is_not_lost(run, people, tmp_path, name):
    keys = [f"{i:07}" for i in range(90)]
    for cells in (keys, list(range(90))):
        people.assign(**{name: cells})[[name, *people]].to_csv(tmp_path / "in.csv", index=False)
        run("fit", tmp_path / "in.csv", "--target", "churn", "--no-estimate")
        run("predict", tmp_path / "in.mixkern", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
        found = (tmp_path / "out.csv").read_text().splitlines()
        before = (tmp_path / "in.csv").read_text().splitlines()
        assert all(new.startswith(f"{old},") for old, new in zip(before, found, strict=True))
        run("suggest", tmp_path / "in.csv", "--target", "churn", "-n", 3, "-o", tmp_path / "rows.csv")
        head, *rows = (tmp_path / "rows.csv").read_text().splitlines()
        assert head == f"row,label_source,{name},age,town,churn"
        assert {row.split(",")[2] for row in rows} <= set(map(str, cells))


def test_the_index_of_a_parquet_file_is_not_lost(run, model, people, tmp_path):
    people.set_axis([f"k{i}" for i in range(90)]).to_parquet(tmp_path / "in.parquet")
    run("predict", model, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["__index_level_0__"].to_pylist()[3] == "k3"


def test_types_of_a_parquet_file_stay(run, model, people, tmp_path):
    more = pa.table({"n": pa.array([None, *range(89)], pa.int32()), "l": pa.array([[i] for i in range(90)])})
    table = pa.Table.from_pandas(people, preserve_index=False)
    for name in more.column_names:
        table = table.append_column(name, more[name])
    pq.write_table(table, tmp_path / "in.parquet")
    run("predict", model, tmp_path / "in.parquet", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").select(more.column_names).equals(more)


def test_formulas_are_noted_and_guarded(run, model, people, written, tmp_path):
    path = written(people.assign(note="=cmd|' /C calc'!A0", sum=-5.5))
    done = run("predict", model, path, "-o", tmp_path / "out.csv")
    assert "A spreadsheet may take 90 cells for formulas, such as" in done.stderr
    assert ",=cmd|' /C calc'!A0,-5.5," in (tmp_path / "out.csv").read_text()
    done = run("predict", model, path, "-o", tmp_path / "out.csv", "--guard-formulas")
    assert "An apostrophe was written before each." in done.stderr
    assert ",'=cmd|' /C calc'!A0,-5.5," in (tmp_path / "out.csv").read_text()


def test_pandas_is_not_needed(run, model, table, tmp_path, monkeypatch):
    run("predict", model, table, "-o", tmp_path / "a.csv")
    monkeypatch.setitem(sys.modules, "pandas", None)
    run("predict", model, table, "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_an_excel_file(run, people, table, model, tmp_path):
    pytest.importorskip("python_calamine")
    writer = pytest.importorskip("openpyxl")
    book = writer.Workbook()
    book.active.append(list(people))
    for row in people.astype(object).where(people.notna(), None).itertuples(index=False):
        book.active.append(list(row))
    book.create_sheet("Other").append(["a", "b"])
    book.save(tmp_path / "in.xlsx")
    run("predict", model, table, "-o", tmp_path / "a.csv")
    done = run("predict", model, tmp_path / "in.xlsx", "-o", tmp_path / "b.csv")
    assert "in.xlsx has 2 sheets, 'Sheet', 'Other': the first one was read. For another: --sheet 'Other'" in done.stderr
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    done = run("predict", model, tmp_path / "in.xlsx", "--sheet", "Othr", code=1)
    assert "has no sheet 'Othr'. Did you mean 'Other'?" in done.stderr


def test_sources_of_labels_stay_in_the_table(run, model, people, written, tmp_path):
    how = np.where(people["churn"].isna(), None, np.where(np.arange(90) % 2, "random", "suggested"))
    path = written(people.assign(label_source=how))
    run("predict", model, path, "-o", tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found) == [*people, "label_source", "label", "probability", "component", "novelty"]
    assert found["label_source"].isna().sum() == 60
    assert "Row 2 is predicted as" in run("explain", model, path, "--row", 2).stdout


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_of_a_single_column_are_rows(run, tmp_path, end):
    ages = [f"{30 + 4 * (i % 2) + 0.1 * (i % 7):.1f}" for i in range(40)]
    labels = ["no" if i % 2 == 0 else "yes" for i in range(40)]
    training = tmp_path / "training.csv"
    training.write_text("\n".join(["age,churn", *map(",".join, zip(ages, labels, strict=True))]))
    run("fit", training, "--target", "churn", "-o", tmp_path / "a.mixkern", "--no-estimate")
    rows = [ages[0], "", ages[1], "", "", ages[2]]
    (tmp_path / "one.csv").write_bytes(end.join(["age", *rows, "", ""]).encode())
    done = run("predict", tmp_path / "a.mixkern", tmp_path / "one.csv", "-o", tmp_path / "out.csv")
    assert "3 blank lines were read as rows with a gap" in done.stderr
    with (tmp_path / "out.csv").open(newline="") as file:
        header, *found = csv.reader(file)
    assert [row[0] for row in found] == rows
    assert [row[1] for row in found if row[0]] == ["no", "yes", "no"]
    only = run("predict", tmp_path / "a.mixkern", tmp_path / "one.csv", "--only").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in only] == ["1", "2", "3", "4", "5", "6"]
    assert header[0] == "age"
