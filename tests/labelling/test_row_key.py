"""Content keys: laws of rows that are equal, moved, appended, or full of separators."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.labelling.row_key import DIGEST_BYTES, ESCAPE, GAP, SEPARATOR, row_keys

# Short texts of the signs that keys are built from, so that confusions would be found.
CELL = st.none() | st.text(st.sampled_from([SEPARATOR, ESCAPE, "g", "s", "e", "a", "#", "2", "é"]), max_size=3)


def tables(n_columns=2, max_size=12):
    return st.lists(st.tuples(*[CELL] * n_columns), min_size=1, max_size=max_size)


def keys_of(rows, n_columns=2):
    columns = [pa.array([row[at] for row in rows], pa.large_string()) for at in range(n_columns)]
    return row_keys(pa.table(columns, names=[f"c{at}" for at in range(n_columns)]))


def digests(keys):
    return [key.partition("#")[0] for key in keys]


@given(tables())
@settings(deadline=None)
def test_rows_have_the_same_digest_where_they_are_equal_and_only_there(rows):
    found = digests(keys_of(rows))
    assert all((found[i] == found[j]) == (rows[i] == rows[j]) for i in range(len(rows)) for j in range(i))


@given(tables())
@settings(deadline=None)
def test_equal_rows_are_numbered(rows):
    keys = keys_of(rows)
    assert len(set(keys)) == len(rows)
    for at, row in enumerate(rows):
        ordinal = rows[: at + 1].count(row)
        assert keys[at].partition("#")[2] == ("" if ordinal == 1 else f"{ordinal}")


@given(tables(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_rows_does_not_matter(rows, random):
    moved = random.sample(rows, len(rows))
    assert sorted(zip(digests(keys_of(rows)), rows, strict=True), key=repr) == sorted(
        zip(digests(keys_of(moved)), moved, strict=True), key=repr
    )
    assert set(keys_of(rows)) == set(keys_of(moved))


@given(tables(), tables())
@settings(deadline=None)
def test_appended_rows_do_not_change_the_keys_of_others(rows, more):
    assert keys_of([*rows, *more])[: len(rows)] == keys_of(rows)


@given(st.tuples(CELL, CELL, CELL), st.tuples(CELL, CELL, CELL))
@settings(deadline=None)
def test_cells_are_never_confused(first, second):
    one, other = digests(keys_of([first, second], 3))
    assert (one == other) == (first == second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((f"a{SEPARATOR}", "b"), ("a", f"{SEPARATOR}b")),
        ((f"a{SEPARATOR}b", ""), ("a", "b")),
        (("", None), (None, "")),
        (("", ""), (None, None)),
        ((None, "a"), (GAP, "a")),
        ((ESCAPE, "g"), (None, "g")),
        ((f"{ESCAPE}s", "a"), (SEPARATOR, "a")),
        ((f"{ESCAPE}e", "a"), (ESCAPE, "a")),
        (("a", "b"), ("b", "a")),
    ],
)
def test_separators_gaps_and_empty_texts_are_told_apart(first, second):
    assert len(set(digests(keys_of([first, second])))) == 2


def test_a_key_is_a_short_word():
    assert keys_of([("a", "b")])[0].isalnum()
    assert len(keys_of([("a" * 100_000, "b")])[0]) == 2 * DIGEST_BYTES


def test_keys_do_not_change_between_versions():
    # A journal is read by later versions: with other keys it would find none of its rows.
    expected = ["09bdce50647a0a2845e54101", "09bdce50647a0a2845e54101#2", "654da4697bbfef8c84027b77"]
    assert keys_of([("51,7", None), ("51,7", None), ("", "m")]) == expected


def test_a_table_without_rows_has_no_keys():
    assert row_keys(pa.table({"a": pa.array([], pa.large_string())})) == []
