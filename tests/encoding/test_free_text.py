"""Texts of several words as columns of numbers."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from mixkern import MixtureSVC, TableEncoder, load, prepare_table, save
from mixkern.encoding import CategoricalColumn, TextColumn
from mixkern.encoding.free_text import BLOCK, LONGEST, MOST_COLUMNS, SAMPLE, are_free_texts, joined, shuffled_words
from mixkern.encoding.inference import infer_column
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import ColumnChoiceWarning, TableError, UnusedColumnWarning
from mixkern.explain import Explanation
from mixkern.typing import RandomState

pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")


def word(random, n=6):
    return "".join(random.choice(list("abcdefghijklmnoprstu"), n))


def comments(n, n_topics, seed=0, n_words=8):
    """Texts of words that belong to one of some topics, and of words that belong to none."""
    random = RandomState(seed)
    topics = [[word(random) for _ in range(20)] for _ in range(n_topics)]
    others = [word(random) for _ in range(200)]
    found = []
    for i in range(n):
        words = topics[i % n_topics] if n_topics else others
        found.append(" ".join([*random.choice(words, n_words - 2), *random.choice(others, 2)]))
    return found


def table(n=200, n_topics=2, seed=0):
    return pd.DataFrame({"size": RandomState(seed).randn(n), "comment": comments(n, n_topics, seed)}, dtype=object)


def column_of(texts):
    return TextColumn.fit(raw_columns(pd.DataFrame({"comment": texts}, dtype=object))[0])


# ---------------------------------------------------------------- which texts


@pytest.mark.parametrize(
    ("texts", "is_free"),
    [
        (comments(20, 2), True),
        ([f"Das Paket kam {i} Tage zu spät" for i in range(20)], True),
        ([f"Nachricht über {i}: größer, kälter, später" for i in range(20)], True),
        ([f"k-{17 * i:04d}" for i in range(20)], False),
        ([f"Ann{i} Lee" for i in range(20)], False),
        ([f"{i} 2{i} 3{i} 4{i}" for i in range(20)], False),
        ([f"a b c d {i}" for i in range(20)], False),
        (["short"] * 11 + ["a text of several words"] * 9, False),
        (["short"] * 9 + ["a text of several words"] * 11, True),
        ([], False),
    ],
)
def test_half_of_them_have_three_words_or_more(texts, is_free):
    assert are_free_texts(texts) == is_free


def test_few_or_repeated_texts_are_categories():
    texts = comments(10, 2)
    assert infer_column(raw_columns(pd.DataFrame({"a": texts}))[0]).column_type is CategoricalColumn
    assert infer_column(raw_columns(pd.DataFrame({"a": texts * 3}))[0]).column_type is CategoricalColumn
    assert infer_column(raw_columns(pd.DataFrame({"a": comments(12, 2)}))[0]).column_type is TextColumn
    as_category = pd.DataFrame({"a": comments(12, 2)}, dtype="category")
    assert infer_column(raw_columns(as_category)[0]).column_type is CategoricalColumn


@pytest.mark.parametrize("gap", ["", "?", None])
def test_gaps_do_not_count(gap):
    X = pd.DataFrame({"a": [gap if i % 2 else text for i, text in enumerate(comments(60, 2))]})
    inference = infer_column(raw_columns(X)[0])
    assert inference.column_type is TextColumn
    assert np.isnan(TableEncoder().fit_transform(X)[1::2]).all()


def test_the_choice_is_told_and_can_be_made():
    X = table()
    message = r"'comment': texts of several words, read by their contents; drop them if they are names or addresses"
    with pytest.warns(ColumnChoiceWarning, match=message) as caught:
        TableEncoder().fit(X)
    assert str(caught[0].message).endswith("To leave out 'comment': X.drop(columns=['comment']).")
    assert caught[0].message.on("cli").splitlines()[2:] == [
        "To read 'comment' as categories: --categorical comment",
        "To leave out 'comment': --drop comment",
    ]
    encoder = TableEncoder(categorical=["comment"]).fit(X)
    assert isinstance(encoder.columns_[1], CategoricalColumn)
    assert encoder.categorical_ == ["comment"]


def test_texts_are_learned_from_and_keys_are_not():
    X = table().assign(key=[f"k-{i}" for i in range(200)])
    with pytest.warns(UnusedColumnWarning, match="Not learned from, because nearly all values differ: 'key'"):
        prepared = prepare_table(X)
    assert list(prepared.X) == ["size", "comment"]
    with pytest.warns(UnusedColumnWarning):
        assert list(prepare_table(X, drop="comment").X) == ["size"]


# ---------------------------------------------------------------- how many columns


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("n_topics", "n_columns"), [(2, 2), (3, 2), (5, 4), (8, 7)])
def test_topics_have_a_column_less_than_there_are(n_topics, n_columns, seed):
    """Coordinates are centred, so three topics are the corners of a triangle; there are two columns or more."""
    assert len(column_of(comments(300, n_topics, seed)).columns) == n_columns


@pytest.mark.parametrize("seed", range(3))
def test_texts_with_nothing_in_common_have_few_columns(seed):
    assert len(column_of(comments(300, 0, seed)).columns) == 2


def test_there_are_at_most_ten():
    assert len(column_of(comments(400, 20)).columns) == MOST_COLUMNS


def test_texts_that_differ_in_one_direction_have_one_column():
    """The next direction is that of rounding errors, which must not become z-scores."""
    columns = column_of(["alpha beta gamma"] * 39 + ["alpha beta gamma delta"]).columns
    assert len(columns) == 1
    assert columns[0].deviation > 0.01


@pytest.mark.parametrize("words", ["aa bb cc", "alpha beta gamma", "alpha beta gamma " * 200])
def test_texts_that_differ_in_spaces_or_at_their_end_are_one_value(words):
    X = pd.DataFrame({"a": [f"{words}{' ' * i}{i % 2 if len(words) > LONGEST else ''}" for i in range(40)]})
    with pytest.warns(ColumnChoiceWarning):
        encoded = TableEncoder().fit_transform(X)
    np.testing.assert_array_equal(encoded, np.zeros((40, 1)))


def test_shuffled_texts_have_the_same_words():
    texts = comments(30, 3)
    shuffled = shuffled_words(texts, RandomState(0))
    assert [len(text.split()) for text in shuffled] == [len(text.split()) for text in texts]
    assert sorted(" ".join(shuffled).split()) == sorted(" ".join(texts).split())
    assert shuffled != texts


# ---------------------------------------------------------------- encoded


def literal_vector(text, ngrams, weights):
    """TF-IDF of the n-grams within words, each word between blanks; counts by 1 + log, scaled to length 1."""
    counts = dict.fromkeys(ngrams, 0)
    for each in re.sub(r"\s\s+", " ", text.lower()).split():
        padded = f" {each} "
        for n in (3, 4):
            for i in range(max(len(padded) - n + 1, 1)):
                if padded[i : i + n] in counts:
                    counts[padded[i : i + n]] += 1
    pairs = zip(counts.values(), weights, strict=True)
    values = np.array([(1 + np.log(count)) * weight if count else 0.0 for count, weight in pairs])
    length = np.linalg.norm(values)
    return values / length if length else values


def test_coordinates_are_those_of_the_formula():
    texts = comments(60, 3)
    column = column_of(texts)
    vectors = np.array([literal_vector(text, column.ngrams, column.weights) for text in texts])
    # Inverse document frequency with smoothing, as in scikit-learn.
    document_frequency = (vectors > 0).sum(axis=0)
    np.testing.assert_allclose(column.weights, np.log(61 / (1 + document_frequency)) + 1)
    _, _, rows = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    k = len(column.columns)
    np.testing.assert_allclose(np.abs(column.directions @ rows[:k].T), np.eye(k), atol=1e-6)
    encoded = (
        TableEncoder()
        .fit(pd.DataFrame({"comment": texts}, dtype=object))
        .transform(pd.DataFrame({"comment": texts}, dtype=object))
    )
    coordinates = vectors @ column.directions.T
    np.testing.assert_allclose(encoded, (coordinates - coordinates.mean(axis=0)) / coordinates.std(axis=0), atol=1e-8)


def test_a_text_becomes_several_columns():
    X = table(n_topics=3)
    X.loc[[3, 7], "comment"] = [None, "?"]
    encoder = TableEncoder().fit(X)
    names = ["size", "comment: text 1", "comment: text 2"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.feature_names_in_.tolist() == list(X)
    assert (encoder.n_features_in_, encoder.n_continuous_, encoder.categorical_) == (2, 3, [])
    encoded = encoder.transform(X)
    is_gap = np.isnan(encoded)
    assert np.flatnonzero(is_gap.any(axis=1)).tolist() == [3, 7]
    assert is_gap[[3, 7]].tolist() == [[False, True, True]] * 2
    assert encoder.columns_[1].n_gaps == 2
    # Three topics are three groups: each row is near the mean of its own.
    rows = np.delete(np.arange(200), [3, 7])
    centres = np.array([encoded[rows[rows % 3 == topic], 1:].mean(axis=0) for topic in range(3)])
    nearest = ((encoded[rows, None, 1:] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == rows % 3).mean() > 0.95


def test_texts_do_not_come_back():
    X = table()
    encoder = TableEncoder().fit(X)
    back = encoder.inverse_transform(encoder.transform(X))
    assert list(back) == list(X)
    assert back["comment"].isna().all()
    np.testing.assert_allclose(back["size"], X["size"].astype(float))


@pytest.mark.parametrize(
    "make",
    [pl.DataFrame, pa.table, lambda cells: np.array(list(cells.values()), dtype=object).T],
    ids=["pl", "pa", "np"],
)
def test_tables_of_all_kinds(make):
    cells = {"size": [float(i % 7) + 0.5 for i in range(60)], "comment": comments(60, 2)}
    expected = TableEncoder().fit_transform(pd.DataFrame(cells))
    np.testing.assert_array_equal(TableEncoder().fit_transform(make(cells)), expected)


def test_row_order_does_not_matter():
    X = table()
    order = RandomState(1).permutation(len(X))
    encoder, other = TableEncoder().fit(X), TableEncoder().fit(X.iloc[order])
    assert encoder.columns_[1] == other.columns_[1]
    np.testing.assert_array_equal(encoder.transform(X)[order][:, 1:], other.transform(X.iloc[order])[:, 1:])


def test_blocks_of_rows_are_encoded_like_the_whole_table(monkeypatch):
    X = table()
    encoder = TableEncoder().fit(X)
    whole = encoder.transform(X)
    np.testing.assert_array_equal(np.vstack([encoder.transform(X[:7]), encoder.transform(X[7:])]), whole)
    monkeypatch.setattr("mixkern.encoding.free_text.BLOCK", 33)
    assert BLOCK > 33
    np.testing.assert_array_equal(encoder.transform(X), whole)


def test_unknown_words_empty_and_long_texts():
    X = table()
    encoder = TableEncoder().fit(X)
    few = pd.DataFrame(
        {"size": [0.0] * 4, "comment": ["\u4e16\u754c \u4f60\u597d", "", "x", "x " * LONGEST]}, dtype=object
    )
    encoded = encoder.transform(few)
    assert np.isnan(encoded[:, 1]).tolist() == [False, True, False, False]
    assert encoded[0, 1] == encoded[2, 1] == encoded[3, 1]  # no known n-gram


@pytest.mark.slow
def test_many_texts_are_sampled():
    X = pd.DataFrame({"comment": comments(SAMPLE + 300, 2)}, dtype=object)
    encoder = TableEncoder().fit(X)
    scores = encoder.transform(X)
    assert scores.shape == (SAMPLE + 300, 2)
    assert abs(scores.mean()) < 0.05
    assert abs(scores.std() - 1) < 0.05
    assert encoder.columns_[0].columns[0].n_values == SAMPLE + 300


def test_names_that_the_table_has_already():
    encoder = TableEncoder().fit(table().assign(**{"comment: text 1": 1.5}))
    assert encoder.continuous_ == ["size", "comment: text 1 (2)", "comment: text 2", "comment: text 1"]


def test_described_as_text():
    found = TableEncoder().fit(table()).describe()
    assert found.loc["comment", ["kind", "read_as"]].tolist() == ["text", "text"]
    assert found.index.tolist() == ["size", "comment"]


# ---------------------------------------------------------------- values


def test_columns_are_compared_by_their_content():
    texts = comments(60, 2)
    column = column_of(texts)
    assert column == column_of(texts) == pickle.loads(pickle.dumps(column))
    assert hash(column) == hash(column_of(texts))
    assert column != column_of(comments(60, 3))
    assert column != "comment"
    with pytest.raises(ValueError, match="read-only"):
        column.weights[0] = 0


@pytest.mark.parametrize(
    "wrong", [{"ngrams": ()}, {"weights": np.ones(3)}, {"directions": np.ones((1, 3))}, {"columns": ()}]
)
def test_parts_that_do_not_fit_together(wrong):
    column = column_of(comments(60, 2))
    own = {name: getattr(column, name) for name in ("name", "kind", "ngrams", "weights", "directions", "columns")}
    with pytest.raises(TableError, match="The n-grams of column 'comment' are not valid"):
        TextColumn(**{**own, **wrong})


def test_a_model_of_texts_is_learned_saved_and_explained(tmp_path):
    X = table(120)
    y = np.array(["a", "b"], dtype=object)[np.arange(120) % 2]
    few = np.where(np.arange(120) < 20, y, None)
    model = MixtureSVC(random_state=0).fit(X, few)
    assert model.score(X[20:], y[20:]) > 0.9
    again = load(save(model, tmp_path / "a.mixkern"))
    assert again.encoder_.columns_ == model.encoder_.columns_
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    lines = model.explain(X[:3], by="column")
    assert set(lines["column"]) == {"size", "comment: text 1", "comment: text 2"}
    why = Explanation.of(model, X[:1])
    assert set(why.columns["column"]) == {"size", "comment"}  # one line for all encoded columns of a text
    line = why.columns.set_index("column").loc["comment"]
    assert any(part in X["comment"][0] for part in line["value"].split(", "))
    assert why.columns["for_share"].sum() == pytest.approx(1)
    assert clone(model.encoder_).fit(X).columns_ == model.encoder_.columns_


def test_points_among_texts_are_described_by_parts_of_their_words():
    goods = [f"the delivery number {i} was late again" for i in range(30)]
    bills = [f"a wrong invoice {i}, please correct" for i in range(30)]
    column = column_of(goods + bills)
    values = np.column_stack([each.cells for each in column.derived(*raw_columns(pd.DataFrame({"comment": goods})))])
    means = np.array([values.mean(axis=0), 2 * column_centre(column) - values.mean(axis=0)])
    of_goods, of_bills = column.typical_words(means)
    assert "deliver" in of_goods
    assert "invoi" in of_bills
    assert column.typical_words(np.full((1, len(column.parts)), np.nan)) == [""]


def column_centre(column):
    return np.array([part.origin + part.mean for part in column.parts])


@pytest.mark.parametrize(
    ("ngrams", "parts"),
    [
        (["ervi", "serv", "rvic", "vice", "ice;"], ["service"]),
        (["serv", "ice"], ["serv", "ice"]),
        (["abcd", "bcd", "cde"], ["abcd", "cde"]),
        ([], []),
    ],
)
def test_overlapping_ngrams_are_joined(ngrams, parts):
    assert joined(ngrams) == parts
