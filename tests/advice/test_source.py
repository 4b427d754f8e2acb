"""Tests of the source of labels: suggested or random."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern.advice.source import LabelSource, label_sources, n_random, random_rows, suggested_labels
from mixkern.errors import LabelError, LabelTypeError, LengthError

WORDS = ["suggested", "random", None, "suggested"]
CODES = np.array([0, 1, 1, -1])


@pytest.mark.parametrize(
    "source",
    [
        WORDS,
        ["suggested", "random", "", "suggested"],
        [" suggested", "random ", "NA", "random"],
        np.array(WORDS, dtype=object),
        np.array(["suggested", "random", "", "random"]),
        pd.Series(WORDS),
        pd.Series(["suggested", "random", np.nan, "random"], index=[3, 1, 2, 0]),
        pd.Series(WORDS, dtype="category"),
        pd.Series(["suggested", "random", pd.NA, "random"], dtype="string"),
        pl.Series("how", WORDS),
        pa.array(WORDS),
        pa.chunked_array([WORDS[:1], WORDS[1:]]),
        [LabelSource.SUGGESTED, LabelSource.RANDOM, None, LabelSource.RANDOM],
    ],
    ids=lambda source: type(source).__name__,
)
def test_the_mask_has_the_labelled_rows_that_were_suggested(source):
    assert suggested_labels(source, CODES).tolist() == [True, False, False, False]


@pytest.mark.parametrize("source", [None, [None] * 4, [np.nan] * 4, [""] * 4, np.full(4, np.nan)])
def test_rows_without_a_record_count_as_random(source):
    assert suggested_labels(source, CODES).tolist() == [False] * 4
    assert label_sources(source, 4).tolist() == [None] * 4


def test_sources_are_members_or_none():
    found = label_sources(pd.Series(WORDS), 4)
    assert found.tolist() == [LabelSource.SUGGESTED, LabelSource.RANDOM, None, LabelSource.SUGGESTED]


def test_an_unknown_word_is_named_with_its_row_and_the_nearest():
    expected = (
        r"^source holds 'sugested' in row 2 \(counted from 1\), but expected is 'suggested', 'random', "
        r"'component' or a gap\. Did you mean 'suggested'\? Use None where it is not recorded\.$"
    )
    with pytest.raises(LabelError, match=expected):
        suggested_labels(["random", "sugested", None, None], CODES)
    with pytest.raises(LabelError, match=r"^Column 'how' holds 1 in row 4 .* or a gap\. Use None"):
        suggested_labels(pd.Series(["random", None, None, 1], name="how"), CODES)
    with pytest.raises(LabelError, match=r"^Column 'my how' holds 'x'") as caught:
        label_sources(pa.array(["x"]), 1, name="my how")
    assert caught.value.on("cli").endswith("If the column has another meaning, name it in --drop.")


def test_another_length_and_what_is_no_column():
    with pytest.raises(LengthError, match=r"X has 4 rows, but source has 2 cells\. Give one cell per row"):
        suggested_labels(WORDS[:2], CODES)
    with pytest.raises(LabelTypeError, match=r"^source must be one column of labels .*, but it is of type str"):
        suggested_labels("random", CODES)
    with pytest.raises(LabelTypeError, match=r"^source must be one column of labels, but it has shape \(4, 2\)"):
        suggested_labels(np.full((4, 2), None), CODES)


@pytest.mark.parametrize("audit", [0, 0.05, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1])
@pytest.mark.parametrize("n", [1, 3, 10])
def test_any_size_of_batch_reaches_the_share(audit, n):
    counts = [n_random(start, n, audit) for start in range(0, 300 * n, n)]
    assert sum(counts) == pytest.approx(300 * n * audit, abs=1)
    assert max(counts) - min(counts) <= 1
    assert 0 <= min(counts) <= max(counts) <= n


def test_float_errors_do_not_count():
    assert [n_random(0, n, 0.2) for n in (5, 10, 15, 35)] == [1, 2, 3, 7]
    assert n_random(0, 100, 0.29) == 29  # 100 * 0.29 is less than 29


def test_random_rows_are_drawn_uniformly_from_those_that_are_left():
    is_left = np.arange(20) % 4 > 0
    random = np.random.RandomState(0)
    drawn = np.concatenate([random_rows(is_left, 3, 0, random) for _ in range(1000)])
    counts = np.bincount(drawn, minlength=20)
    assert (counts[~is_left] == 0).all()
    assert counts[is_left] == pytest.approx(np.full(15, 200), abs=50)  # 4 standard deviations


def test_the_same_seed_draws_other_rows_once_there_are_labels():
    first, again, later = (random_rows(np.full(999, True), 9, n, np.random.RandomState(0)) for n in (0, 0, 1))
    assert first.tolist() == again.tolist()
    assert len({*first.tolist()} & {*later.tolist()}) < 3
