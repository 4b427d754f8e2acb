"""Estimators on Dask collections and on the same rows in memory: equal models and predictions."""

import random
import sys
import time
from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from tests.distributed.conftest import LENGTHS, N, in_partitions

from mixkern import (
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
    advise,
    mistaken_labels,
    suggest,
)
from mixkern.density import DensitySearch
from mixkern.distributed import scheduling
from mixkern.errors import (
    ColumnMismatchError,
    DrawnRowsWarning,
    EmptyTableError,
    InfiniteValueError,
    LabelTypeError,
    LengthError,
    MixkernWarning,
    MixtureError,
    NotATableError,
    OptionError,
    PartitionError,
    UnknownColumnError,
)

pytestmark = pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")


@contextmanager
def in_order(seed):
    """Run tasks in threads that take different times, so that they end in another order with each seed."""
    own = random.Random(seed)
    applied = scheduling._applied

    def slowly(*args):
        time.sleep(own.random() * 0.004)
        return applied(*args)

    with pytest.MonkeyPatch.context() as patch, dask.config.set(scheduler="threads", num_workers=1 + seed % 4):
        patch.setattr(scheduling, "_applied", slowly)
        yield


@pytest.fixture(scope="module", name="X")
def rows_in_memory(frame):
    return frame.drop(columns="label")


@pytest.fixture(scope="module", name="X_parts")
def rows_in_partitions(partitions):
    return partitions.drop(columns="label")


@pytest.fixture(scope="module")
def local(X, frame):
    with pytest.warns(MixkernWarning):
        return MixtureSVC(random_state=0).fit(X, frame["label"])


@pytest.fixture(scope="module")
def model(partitions):
    with dask.config.set(scheduler="threads", num_workers=2), pytest.warns(MixkernWarning):
        return MixtureSVC(random_state=0).fit(partitions, "label")


SHORT = (0, 500, 1, 0, 699)


@pytest.fixture(scope="module")
def few(frame):
    """Give some rows, of which all are the first sample of a density."""
    table = frame[["size", "weight", "town", "label"]][:1_200].reset_index(drop=True)
    return table.assign(label=table["label"].where(table.index % 37 > 0, "yes").where(table.index % 41 > 0, "no"))


# ---------------------------------------------------------------- encoder


def test_the_encoder_is_that_of_the_same_rows_in_memory(X, X_parts):
    local, ours = TableEncoder().fit(X), TableEncoder().fit(X_parts)
    assert ours.get_feature_names_out().tolist() == local.get_feature_names_out().tolist()
    assert ours.describe().equals(local.describe()) or np.allclose(
        ours.describe()["mean"], local.describe()["mean"], rtol=1e-14, equal_nan=True
    )
    for one, other in zip(local.encoded_columns_, ours.encoded_columns_, strict=True):
        assert one.n_gaps == other.n_gaps
        assert getattr(one, "categories", ()) == getattr(other, "categories", ())
    encoded = ours.transform(X_parts)
    assert isinstance(encoded, da.Array)
    assert encoded.numblocks[0] == len(LENGTHS)
    assert np.allclose(encoded.compute(), local.transform(X), rtol=0, atol=1e-13, equal_nan=True)


def test_columns_are_named_as_for_frames(X_parts):
    encoder = TableEncoder(categorical=["count"]).fit(X_parts)
    assert "count" in encoder.categorical_
    with pytest.raises(UnknownColumnError):
        TableEncoder(categorical=["amount"]).fit(X_parts)


@pytest.mark.parametrize("few", [0, 16_000])
def test_free_texts_and_numbers_in_texts_are_read_as_in_memory(few, monkeypatch):
    monkeypatch.setattr("mixkern.partitions.FEW_ROWS", few)
    random = np.random.RandomState(0)
    words = ["late", "parcel", "broken", "friendly", "service", "again", "never", "price", "refund", "quick"]
    frame = pd.DataFrame(
        {
            "comment": pd.array([" ".join(random.choice(words, 6)) for _ in range(300)], "string"),
            "price": pd.array([f"{value:.2f}" for value in random.rand(300) * 100], "string"),
            "state": pd.Categorical(random.choice(["a", "b"], 300)),
        }
    )
    parts = in_partitions(frame, (100, 150, 50))
    local, ours = (TableEncoder(continuous=["price"]).fit(each) for each in (frame, parts))
    assert ours.get_feature_names_out().tolist() == local.get_feature_names_out().tolist()
    assert any("text" in name for name in ours.continuous_)
    assert np.allclose(ours.transform(parts).compute(), local.transform(frame), atol=1e-12)


# ---------------------------------------------------------------- density


def test_the_density_of_an_array_is_that_of_the_same_rows_in_memory():
    random = np.random.RandomState(1)
    rows = random.normal(size=(20_000, 3)) + 5 * random.randint(2, size=(20_000, 1))
    rows[::9, 1] = np.nan
    local = VBMixture(random_state=0).fit(rows)
    array = da.from_array(rows, chunks=(3_000, 2))
    ours = VBMixture(random_state=0).fit(array)
    assert ours.n_components_ == local.n_components_
    assert ours.n_iter_ == local.n_iter_
    assert ours.n_samples_seen_ == 20_000
    assert np.abs(ours.mixture_.means - local.mixture_.means).max() < 1e-9
    assert ours.lower_bound_ == pytest.approx(local.lower_bound_, rel=1e-12)
    lazy = ours.predict(array), ours.predict_proba(array), ours.score_samples(array)
    assert all(isinstance(each, da.Array) and each.chunks[0] == array.chunks[0] for each in lazy)
    assert np.array_equal(lazy[0].compute(), local.predict(rows))
    assert np.allclose(lazy[1].compute(), local.predict_proba(rows), atol=1e-12)
    assert np.allclose(lazy[2].compute(), local.score_samples(rows), rtol=1e-12)


@pytest.mark.parametrize("kind", ["common", "factor", "diag", "tied"])
def test_every_family_of_covariances(kind, monkeypatch):
    random = np.random.RandomState(1)
    rows = random.normal(size=(17_000, 2)) @ random.normal(size=(2, 4)) + 0.3 * random.normal(size=(17_000, 4))
    rows[:8_000] += 4
    settings = {"covariance_type": kind, "n_components": 4, "random_state": 0, "max_iter": 60, "tol": 1e-4}
    local, ours = VBMixture(**settings).fit(rows), VBMixture(**settings).fit(da.from_array(rows, chunks=(5_000, 4)))
    assert ours.n_components_ == local.n_components_
    assert np.abs(ours.mixture_.means - local.mixture_.means).max() < 1e-9


def test_a_large_sample_stays_in_its_partitions(monkeypatch):
    random = np.random.RandomState(1)
    rows = random.normal(size=(70_000, 2)) + 5 * random.randint(2, size=(70_000, 1))
    rows[::9, 1] = np.nan
    local = VBMixture(random_state=0).fit(rows)
    monkeypatch.setattr("mixkern.distributed.density.MOST_ROWS", 4_000)
    ours = VBMixture(random_state=0).fit(da.from_array(rows, chunks=(30_000, 2)))
    assert ours.n_iter_ == local.n_iter_
    assert np.abs(ours.mixture_.means - local.mixture_.means).max() < 1e-9


# ---------------------------------------------------------------- classifier


def test_the_classifier_is_that_of_the_same_rows_in_memory(local, model, X, X_parts):
    assert model.mixture_.n_components == local.mixture_.n_components
    assert np.abs(model.mixture_.means - local.mixture_.means).max() < 1e-9
    assert np.array_equal(model.support_, local.support_)
    assert np.array_equal(model.classes_, local.classes_)
    labels, shares = model.predict(X_parts), model.predict_proba(X_parts)
    assert isinstance(labels, da.Array)
    assert isinstance(shares, da.Array)
    assert np.array_equal(labels.compute(), local.predict(X))
    assert np.allclose(shares.compute(), local.predict_proba(X), atol=1e-9)


def test_assessed_rows_keep_their_index_and_partitions(local, model, X, X_parts):
    found, expected = model.assess(X_parts, all_classes=True), local.assess(X, all_classes=True)
    assert isinstance(found, dd.DataFrame)
    assert found.npartitions == len(LENGTHS)
    frame = found.compute()
    assert frame.index.equals(X.index)
    assert list(frame.columns) == list(expected.columns)
    for column in ("label", "component"):
        assert (frame[column].to_numpy() == expected[column].to_numpy()).all()
    assert np.allclose(frame["novelty"], expected["novelty"], atol=1e-12)
    assert np.allclose(model.novelty(X_parts).compute(), local.novelty(X), atol=1e-12)
    assert len(found.get_partition(1)) == LENGTHS[1]


@pytest.mark.slow
def test_densities_are_equal_bit_by_bit_in_ten_orders_of_completion():
    random = np.random.RandomState(1)
    rows = da.from_array(random.normal(size=(16_500, 2)) + 5 * random.randint(2, size=(16_500, 1)), chunks=(1_500, 2))
    found = []
    for seed in range(10):
        with in_order(seed):
            found.append(VBMixture(4, random_state=0, tol=1e-3).fit(rows))
    assert all(other.mixture_ == found[0].mixture_ for other in found)
    assert len({other.lower_bound_ for other in found}) == 1


@pytest.mark.slow
def test_models_are_equal_bit_by_bit_in_ten_orders_of_completion(model, partitions):
    for seed in range(10):
        with in_order(seed), pytest.warns(MixkernWarning):
            other = MixtureSVC(random_state=0).fit(partitions, "label")
        assert other.mixture_ == model.mixture_
        assert np.array_equal(other.dual_coef_, model.dual_coef_)
        assert np.array_equal(other.support_vectors_, model.support_vectors_, equal_nan=True)


@pytest.mark.slow
def test_labels_may_be_a_column_of_the_collection_or_in_memory(few):
    parts = in_partitions(few, SHORT)
    models = [MixtureSVC(random_state=0).fit(parts, "label")]
    models += [MixtureSVC(random_state=0).fit(parts.drop(columns="label"), y) for y in (parts["label"], few["label"])]
    for other in models[1:]:
        assert other.mixture_ == models[0].mixture_
        assert np.array_equal(other.dual_coef_, models[0].dual_coef_)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [float, "Int64", "category", object])
def test_types_of_labels(dtype):
    random = np.random.RandomState(0)
    rows = pd.DataFrame({"a": random.normal(size=400), "b": random.normal(size=400)})
    y = pd.Series([0, 1, None, None] * 100, dtype="Int64").astype(dtype)
    if dtype is object:
        y = pd.Series(["no", "yes", None, "?"] * 100, dtype=object)
    local = MixtureSVC(random_state=0).fit(rows, y)
    parts = in_partitions(rows.assign(y=y), (150, 250))
    ours = MixtureSVC(random_state=0).fit(parts, "y")
    assert ours.classes_.tolist() == local.classes_.tolist()
    assert ours.classes_.dtype == local.classes_.dtype
    assert ours.predict(parts.drop(columns="y")).compute().tolist() == np.asarray(local.predict(rows)).tolist()


def test_minus_one_marks_rows_without_a_label():
    random = np.random.RandomState(0)
    rows = random.normal(size=(300, 2))
    y = np.array([0, 1, -1] * 100)
    local = MixtureSVC(random_state=0).fit(rows, y)
    array = da.from_array(rows, chunks=(100, 2))
    ours = MixtureSVC(random_state=0).fit(array, da.from_array(y, chunks=100))
    assert ours.n_labels_.tolist() == local.n_labels_.tolist()
    assert np.array_equal(ours.predict(array).compute(), local.predict(rows))


def test_further_rows_without_labels(few):
    head, tail = in_partitions(few[:800], (300, 500)), in_partitions(few[800:], (400,))
    both = MixtureSVC(random_state=0).fit(
        head.drop(columns="label"), head["label"], X_unlabelled=tail.drop(columns="label")
    )
    assert both.density_.n_samples_seen_ == len(few)
    assert both.n_labels_.sum() == few["label"][:800].notna().sum()


def test_regression(few):
    rows = few.drop(columns="label")
    y = few["weight"].where(few.index % 20 == 0)
    parts = in_partitions(rows, SHORT)
    local = MixtureSVR(random_state=0).fit(rows, y)
    ours = MixtureSVR(random_state=0).fit(in_partitions(rows.assign(y=y), SHORT), "y")
    assert np.allclose(ours.predict(parts).compute(), local.predict(rows), atol=1e-9)


def test_one_class(X):
    few = X[["size", "weight"]][:400]
    parts = in_partitions(few, (100, 300))
    local, ours = MixtureOneClassSVM(random_state=0).fit(few), MixtureOneClassSVM(random_state=0).fit(parts)
    assert np.array_equal(ours.support_, local.support_)
    assert np.array_equal(ours.predict(parts).compute(), local.predict(few))
    assert np.allclose(ours.score_samples(parts).compute(), local.score_samples(few))


def test_the_boundary_of_one_class_comes_from_drawn_rows(X):
    parts = in_partitions(X[["size", "weight"]][:1_000], (500, 500))
    with pytest.warns(DrawnRowsWarning, match="drawn at random"):
        model = MixtureOneClassSVM(max_rows=200, random_state=0).fit(parts)
    assert len(model.support_) <= 200
    assert model.support_.max() > 200


@pytest.mark.slow
def test_suggestions(few, monkeypatch):
    parts = in_partitions(few, SHORT)
    rows = suggest(few.drop(columns="label"), 10, few["label"], random_state=0)
    assert suggest(parts, 10, "label", random_state=0).tolist() == rows.tolist()
    monkeypatch.setattr(sys.modules["mixkern.advice.suggest"], "MAX_DRAWN", 100)
    fewer = suggest(parts, 10, "label", random_state=0)
    assert len(set(fewer)) == 10
    assert few["label"].iloc[fewer].isna().all()


@pytest.mark.slow
def test_advice_on_unlabelled_rows(frame, partitions, X):
    with pytest.warns(MixkernWarning):
        local, ours = advise(X, frame["label"]), advise(partitions, "label")
    assert ours.verdict == local.verdict
    assert ours.estimate == pytest.approx(local.estimate)
    assert ours.n_rows == N


# ---------------------------------------------------------------- errors


def test_arguments_that_need_rows_in_memory(X_parts, partitions, X):
    with pytest.raises(OptionError, match="sample_weight is for tables in memory"):
        MixtureSVC().fit(partitions, "label", sample_weight=2.0)
    with pytest.raises(OptionError, match="warm_start is for tables in memory"):
        VBMixture(warm_start=True).fit(X_parts)
    with pytest.raises(OptionError, match="starts on a sample, but progressive is False"):
        VBMixture(progressive=False).fit(X_parts[["size", "weight"]])
    with pytest.raises(MixtureError, match="use_labels needs all rows in memory"):
        VBMixture(use_labels=True).fit(X_parts[["size", "weight"]], partitions["label"])
    with pytest.raises(MixtureError, match="DensitySearch compares densities of rows in memory"):
        MixtureSVC(density=DensitySearch()).fit(partitions[["size", "label"]], "label")
    with pytest.raises(NotATableError, match="X is a table in memory"):
        MixtureSVC().fit(X, partitions["label"])


def test_labels_that_are_no_column_of_the_collection(X_parts, partitions):
    with pytest.raises(UnknownColumnError, match="X has no column 'lable', which y names"):
        MixtureSVC().fit(partitions, "lable")
    with pytest.raises(LabelTypeError, match="a collection with several"):
        MixtureSVC().fit(X_parts, partitions[["label"]])
    with pytest.raises(LengthError, match="X has 7 partitions, but y has 2"):
        MixtureSVC().fit(X_parts, partitions["label"].partitions[:2])
    array = da.zeros((6, 2), chunks=(3, 2))
    with pytest.raises(LengthError, match=r"Partition 2 .*X has 3 rows, but y has 2 labels"):
        MixtureSVC().fit(array, da.zeros(5, chunks=(3,)))


def test_tables_without_rows_and_other_collections():
    with pytest.raises(EmptyTableError, match="its partitions have 0 sample"):
        TableEncoder().fit(in_partitions(pd.DataFrame({"a": [1.0]}), (0, 0)))
    with pytest.raises(NotATableError, match="two dimensions"):
        VBMixture().fit(da.zeros(5))


@pytest.mark.slow
def test_a_table_of_one_sample_is_that_in_memory_bit_by_bit(few):
    rows, y = few.drop(columns="label"), few["label"]
    rows["size"] = rows["size"].round(2)  # some rows are as near to one centre as to another
    local, ours = MixtureSVC(random_state=0).fit(rows, y), MixtureSVC(random_state=0).fit(in_partitions(rows, SHORT), y)
    assert ours.mixture_ == local.mixture_
    assert ours.encoder_.columns_ == local.encoder_.columns_
    assert np.array_equal(ours.dual_coef_, local.dual_coef_)


def test_estimators_that_need_rows_in_memory(few, model, X_parts):
    parts = in_partitions(few, SHORT)
    for fit in (
        lambda: TransductiveSVC().fit(parts.drop(columns="label"), few["label"]),
        lambda: model.explain(X_parts),
        lambda: mistaken_labels(parts, few["label"]),
    ):
        with pytest.raises(NotATableError, match=r"Dask collection, and this needs its rows in memory.*compute\(\)"):
            fit()


def test_errors_name_their_partition():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.inf], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(InfiniteValueError, match=r"Partition 2 .*'a' holds an infinite value, the first in row 1"):
        TableEncoder().fit(in_partitions(frame, (2, 1)))


def test_other_errors_are_one_sentence():
    def read(number):
        if number:
            raise OSError(f"cannot read file-{number}.parquet")
        return pd.DataFrame({"a": [1.0]})

    with pytest.raises(PartitionError, match=r"^The pass 'columns' .* has failed: cannot read file-1\.parquet\.$"):
        TableEncoder().fit(dd.from_map(read, [0, 1], meta=pd.DataFrame({"a": [1.0]})))


def test_columns_are_compared_before_anything_is_computed(model, X_parts):
    with pytest.raises(ColumnMismatchError, match="weight"):
        model.predict(X_parts.drop(columns="weight"))
