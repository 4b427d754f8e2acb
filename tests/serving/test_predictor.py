"""Answers to requests: the same as ``assess``, bit by bit, and errors that name column and row."""

import io
import json
import random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pytest

from mixkern import MixtureOneClassSVM, MixtureSVC, datasets
from mixkern.errors import ModelFileError, UnseenCategoryWarning
from mixkern.serving.predictor import Predictor, served_columns
from mixkern.serving.request import ARROW, JSON, Question

TO_ARROW = Question(given=ARROW, wanted=ARROW)


def stream(frame, compression=None):
    """Return a table as the bytes of an Arrow IPC stream."""
    arrow = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, arrow.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(arrow)
    return sink.getvalue()


def asked(predictor, body, status=200, **options):
    answer = predictor.answer(Question(**options), body if isinstance(body, bytes) else json.dumps(body).encode())
    assert answer.status == status, answer.body
    assert answer.media_type == JSON
    return json.loads(answer.body)


def same(found, expected):
    """Compare predictions of all columns, bit by bit."""
    assert list(found) == list(expected.columns)
    for name in expected:
        ours, theirs = found[name], expected[name].tolist()
        assert ours == theirs, name


def test_records_columns_and_arrow_are_predicted_as_by_assess(predictor, model, table, records):
    rows = records(table)
    expected = model.assess(table, all_classes=True)
    of_rows = asked(predictor, rows, all_classes=True)
    same(pd.DataFrame(of_rows["predictions"]).to_dict("list"), expected)
    assert of_rows["notes"] == []
    assert asked(predictor, {"rows": rows}, all_classes=True) == of_rows
    columns = {name: [row[name] for row in rows] for name in table}
    same(asked(predictor, {"columns": columns}, all_classes=True)["predictions"], expected)
    answer = predictor.answer(Question(given=ARROW, wanted=ARROW, all_classes=True), stream(table))
    assert (answer.status, answer.media_type, answer.n_rows) == (200, ARROW, len(table))
    same(pa.ipc.open_stream(answer.body).read_all().to_pydict(), expected)


def test_formats_of_body_and_answer_are_independent(predictor, table, records):
    some = table[:7]
    plain = asked(predictor, records(some))
    assert asked(predictor, stream(some), given=ARROW) == plain
    answer = predictor.answer(Question(wanted=ARROW), json.dumps(records(some)).encode())
    assert pa.ipc.open_stream(answer.body).read_all().to_pylist() == plain["predictions"]


def test_columns_in_another_order_and_others_change_nothing(predictor, table, records):
    rows = records(table[:5])
    mixed = []
    for i, row in enumerate(rows):
        names = list(row)
        random.Random(i).shuffle(names)
        mixed.append({**{name: row[name] for name in names}, "unknown": {"a": [1]}})
    assert asked(predictor, mixed) == asked(predictor, rows)
    arrow = table[:5][list(table)[::-1]].assign(unknown=[[1]] * 5)
    assert asked(predictor, stream(arrow), given=ARROW) == asked(predictor, rows)


def test_a_row_alone_is_predicted_as_among_others(predictor, table, records):
    rows = records(table[:20])
    together = asked(predictor, rows)["predictions"]
    assert [asked(predictor, [row])["predictions"][0] for row in rows] == together


def test_rows_of_gaps_alone(predictor, model, table, records):
    gaps = [dict.fromkeys(table)] * 3
    expected = model.assess(table[:3].assign(**dict.fromkeys(table)))
    same(pd.DataFrame(asked(predictor, gaps)["predictions"]).to_dict("list"), expected)


def test_numbers_and_booleans_are_categories_by_their_text(predictor, table, records):
    (row,) = records(table[5:6])
    texts, booleans = ({**row, "smoker": cell} for cell in ("True", True))
    assert asked(predictor, [texts]) == asked(predictor, [booleans])
    assert asked(predictor, [{**row, "town": 3}]) == asked(predictor, [{**row, "town": 3.0}])


def test_unknown_categories_are_noted(predictor, model, table, records):
    strange = table[:4].assign(town="Atlantis")
    with pytest.warns(UnseenCategoryWarning):
        expected = model.assess(strange)
    found = asked(predictor, records(strange))
    same(pd.DataFrame(found["predictions"]).to_dict("list"), expected)
    (note,) = found["notes"]
    assert "'town'" in note
    assert "Atlantis" in note
    assert "X." not in note
    answer = predictor.answer(TO_ARROW, stream(strange))
    metadata = pa.ipc.open_stream(answer.body).schema.metadata
    assert json.loads(metadata[b"mixkern_notes"]) == [note]


def test_dates_have_time_zones(predictor, table, records):
    (row,) = records(table[5:6])
    written = ("2023-05-31T12:00:00", "2023-05-31T12:00:00Z", "2023-05-31T14:00:00+02:00", "2023-05-31 12:00")
    first, *others = (asked(predictor, [{**row, "since": date}]) for date in written)
    assert all(other == first for other in others)


def test_abstaining_leaves_labels_out_and_nothing_else(predictor, table, records):
    rows = records(table)
    all_labels = asked(predictor, rows)["predictions"]
    limit = sorted(each["probability"] for each in all_labels)[len(rows) // 2]
    found = asked(predictor, rows, abstain=limit)["predictions"]
    expected = [{**each, "label": each["label"] if each["probability"] >= limit else None} for each in all_labels]
    assert found == expected
    assert 0 < sum(each["label"] is None for each in found) < len(rows)


def test_labels_keep_their_type():
    iris = datasets.load("iris")
    y = np.where(np.arange(150) % 10 == 0, pd.factorize(iris.y)[0], -1)
    found = asked(Predictor(MixtureSVC(random_state=0).fit(iris.X, y), 10), iris.X[:3].to_dict("records"))
    assert [each["label"] for each in found["predictions"]] == [0, 0, 0]


def test_a_model_without_probabilities_and_names():
    iris = datasets.load("iris")
    y = iris.few_labels(per_class=4, random_state=0)
    model = MixtureSVC(probability=False, random_state=0).fit(iris.X.to_numpy(), y)
    predictor = Predictor(model, 10)
    rows = [dict(zip(("x0", "x1", "x2", "x3"), row, strict=True)) for row in iris.X[:2].to_numpy().tolist()]
    found = asked(predictor, rows)
    assert [(each["label"], each["probability"]) for each in found["predictions"]] == [("setosa", None)] * 2
    assert found["notes"] == []
    assert "without them" in asked(predictor, rows, 400, abstain=0.5)["error"]


def test_models_that_are_not_served():
    iris = datasets.load("iris")
    with pytest.raises(ModelFileError, match="a table can be served, but this is a MixtureOneClassSVM"):
        served_columns(MixtureOneClassSVM(random_state=0).fit(iris.X))
    encoded = MixtureSVC(encoder="passthrough", random_state=0).fit(
        iris.X.to_numpy(), iris.few_labels(4, random_state=0)
    )
    with pytest.raises(ModelFileError, match="MixtureSVC for encoded rows"):
        served_columns(encoded)


# ---------------------------------------------------------------- errors


@pytest.fixture
def row(records, table):
    return records(table[5:6])[0]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "The body is no JSON: "),
        (b"{", "The body is no JSON: "),
        (b"\xff\xfe", "The body is no JSON: "),
        (b'[{"age": NaN}]', "The body is no JSON: NaN is no number. Send null for a gap."),
        (b'[{"age": -Infinity}]', "-Infinity is no number"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"age": ' + b"1" * 5000 + b"}]", "The body is no JSON: "),
        (b"[]", "The request has no rows."),
        (b"3", "The body must be a list of rows, or an object with 'rows' or 'columns', but it is a number."),
        (b"null", "but it is null."),
        (b"{}", "but it is an object with []."),
        (b'{"data": []}', "but it is an object with ['data']."),
        (b'{"rows": [], "columns": {}}', "but it is an object with ['rows', 'columns']."),
        (b'{"rows": {}}', "'rows' must be a list, but it is an object."),
        (b'{"columns": []}', "'columns' must be an object, but it is a list."),
        (b"[3]", "A row must be an object with column names, but row 1 (counted from 1) is a number."),
        (b"[{}]", "The request lacks 6 columns that the model was fitted on: 'age', 'town',"),
        (b'{"columns": {}}', "The request lacks 6 columns that the model was fitted on"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bodies_that_are_no_rows(predictor, body, text):
    error = asked(predictor, body, 400)["error"]
    assert text in error
    assert len(error) < 400
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ({"age": "31"}, "Column 'age' must hold a number, but row 2 (counted from 1) holds \"31\"."),
        ({"age": True}, "Column 'age' must hold a number, but row 2 (counted from 1) holds true."),
        ({"age": [1]}, "Column 'age' must hold a number, but row 2 (counted from 1) holds a list."),
        ({"age": 1e999}, "is no number. Send null for a gap."),
        ({"age": 1e308}, "Column 'age' holds numbers up to 1e+308, too large"),
        ({"town": {}}, "Column 'town' must hold a text, a number or a boolean, but row 2 (counted from 1) holds an ob"),
        ({"town": "\ud800"}, "Column 'town' holds a text in row 2 (counted from 1) that is no valid Unicode."),
        ({"since": "31.5.2023"}, "Column 'since' must hold a date as text, such as '2024-05-31'"),
        ({"since": 5}, "row 2 (counted from 1) holds 5."),
        ({"since": "0001-01-01T00:00:00+14:00"}, "Column 'since' must hold a date"),
        ({"wait": "1 h"}, "Column 'wait' must hold a number of seconds, but row 2 (counted from 1) holds \"1 h\"."),
        ({"wait": 1e300}, "Column 'wait' must hold a number of seconds"),
        ({"note": 3}, "Column 'note' must hold a text, but row 2 (counted from 1) holds 3."),
    ],
    ids=str,
)
def test_a_wrong_cell_is_named_with_column_and_row(predictor, row, cells, text):
    error = asked(predictor, [row, {**row, **cells}], 400)["error"]
    assert text in error


def test_numbers_that_only_python_reads_as_finite(predictor, row):
    body = json.dumps([row]).replace(str(row["age"]), "1e999").encode()
    assert "Column 'age' holds 1 infinite value, the first in row 1" in asked(predictor, body, 400)["error"]


def test_columns_that_are_missing(predictor, row):
    lacking = {name: cell for name, cell in row.items() if name != "age"}
    error = asked(predictor, [lacking], 400)["error"]
    assert error == (
        "The request lacks 1 column that the model was fitted on: 'age'. Add it; cells of unknown values are null."
    )
    error = asked(predictor, [{**lacking, "Age": 3}], 400)["error"]
    assert error.endswith("'age'. Did you mean 'Age'?")
    error = asked(predictor, [row, lacking], 400)["error"]
    assert error == "row 2 (counted from 1) has no column 'age'. Send null for a gap."


def test_columns_of_different_length_and_type(predictor, row):
    columns = {name: [cell] for name, cell in row.items()}
    error = asked(predictor, {"columns": {**columns, "town": ["Ulm", "Ulm"]}}, 400)["error"]
    assert error == "Columns must be of the same length, but 'age' has 1 cell and 'town' 2 cells."
    error = asked(predictor, {"columns": {**columns, "town": "Ulm"}}, 400)["error"]
    assert error == "Column 'town' must be a list of cells, but it is a text."


def test_too_many_rows(model, row, table):
    small = Predictor(model, 5)
    assert asked(small, [row] * 5)
    error = asked(small, [row] * 6, 413)["error"]
    assert error == "The request has 6 rows, and 5 are allowed. Send parts."
    error = asked(small, {"columns": {name: [cell] * 6 for name, cell in row.items()}}, 413)["error"]
    assert "and 5 are allowed" in error
    assert "more than 5 rows" in asked(small, stream(table), 413, given=ARROW)["error"]


def test_memory_that_is_not_there_is_an_answer(model, row, monkeypatch):
    predictor = Predictor(model, 5)

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(predictor, "_assessed", fail)
    assert "not enough memory" in asked(predictor, [row], 503)["error"]


# ---------------------------------------------------------------- streams of Arrow


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_buffers_are_refused(predictor, table, compression):
    error = asked(predictor, stream(table, compression), 415, given=ARROW)["error"]
    assert error == "The buffers of the Arrow stream are compressed. Write them without compression."


def test_compressed_dictionaries_are_refused(predictor, table):
    arrow = pa.Table.from_pandas(table[:0], preserve_index=False)
    arrow = arrow.set_column(1, "town", pa.array([], pa.string()).dictionary_encode())
    towns = pa.DictionaryArray.from_arrays(pa.array([0] * 3), pa.array(["Ulm" * 1000]))
    whole = pa.Table.from_pandas(table[:3], preserve_index=False).set_column(1, "town", towns)
    assert asked(predictor, stream(whole), given=ARROW)["predictions"]
    assert "compressed" in asked(predictor, stream(whole, "zstd"), 415, given=ARROW)["error"]


def test_types_of_arrow_that_hold_the_same_are_the_same(predictor, table):
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    plain = asked(predictor, stream(arrow), given=ARROW)
    town = arrow["town"].dictionary_encode()
    assert asked(predictor, stream(arrow.set_column(1, "town", town)), given=ARROW) == plain
    assert (
        asked(predictor, stream(arrow.set_column(1, "town", arrow["town"].cast("large_string"))), given=ARROW) == plain
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda body: b"", "no Arrow IPC stream that can be read"),
        (lambda body: b"garbage" * 99, "no Arrow IPC stream that can be read"),
        (lambda body: body[: len(body) // 2], "no Arrow IPC stream that can be read"),
        (lambda body: b"[]", "no Arrow IPC stream that can be read"),
    ],
    ids=["empty", "garbage", "cut", "json"],
)
def test_bodies_that_are_no_stream(predictor, table, change, text):
    assert text in asked(predictor, change(stream(table)), 400, given=ARROW)["error"]


def test_a_file_of_arrow_in_place_of_a_stream(predictor, table):
    arrow, sink = pa.Table.from_pandas(table[:3], preserve_index=False), io.BytesIO()
    with pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    assert asked(predictor, sink.getvalue(), 400, given=ARROW)["error"] == (
        "The body is an Arrow file, but an Arrow IPC stream is expected. With pyarrow, write it by "
        "pyarrow.ipc.new_stream in place of new_file."
    )


def test_columns_of_a_stream(predictor, table):
    assert "lacks 1 column" in asked(predictor, stream(table.drop(columns="age")), 400, given=ARROW)["error"]
    double = pa.Table.from_pandas(table, preserve_index=False)
    double = double.append_column("age", double["age"])
    assert "more than one column is called 'age'" in asked(predictor, stream(double), 400, given=ARROW)["error"]
    assert "no rows" in asked(predictor, stream(table[:0]), 400, given=ARROW)["error"]
    texts = table.assign(age="old")
    assert (
        "Column 'age' is a column of numbers, but row 1" in asked(predictor, stream(texts), 400, given=ARROW)["error"]
    )
    lists = table[:2].assign(town=[["a"], ["b"]])
    assert "Column 'town' holds" in asked(predictor, stream(lists), 400, given=ARROW)["error"]


def test_a_claim_of_many_rows_without_buffers_is_counted_first(predictor, table):
    n = 10_000_000
    nulls = pa.table({name: pa.nulls(n) for name in table})
    body = stream(nulls)
    assert len(body) < 5_000
    assert "more than 1,000 rows" in asked(predictor, body, 413, given=ARROW)["error"]


def test_damaged_streams_are_answered(predictor, table):
    """Single bytes are changed: each answer is predictions or an error, and never an exception."""
    body, generator = stream(table[:20]), random.Random(0)
    statuses = set()
    for _ in range(300):
        damaged = bytearray(body)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        statuses.add(predictor.answer(TO_ARROW, bytes(damaged)).status)
    assert statuses <= {200, 400, 413, 415}
    assert {200, 400} <= statuses
