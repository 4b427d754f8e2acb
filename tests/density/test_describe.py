import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from mixkern import Mixture, TableEncoder, VBMixture, datasets
from mixkern.density import component_table
from mixkern.errors import MixtureError

PEOPLE = pd.DataFrame(
    {"town": ["Kassel", "Passau", "Ulm", "Kassel"], "age": [20.5, 30.5, 40.5, 70.5]}
)  # deviation 18.7


def test_the_heaviest_comes_first_under_its_own_number():
    table = component_table(Mixture([0.2, 0.5, 0.3], [[0.0], [1.0], [2.0]], [1.0, 1.0, 1.0], "spherical"))
    assert list(table.index) == [1, 2, 0]
    assert table.index.name == "component"
    assert list(table["weight"]) == [0.5, 0.3, 0.2]
    assert list(table.columns) == ["weight", "distinct_1"]


def test_equal_weights_keep_their_order():
    table = component_table(Mixture([0.25] * 4, np.arange(4.0)[:, None], np.ones(4), "spherical"))
    assert list(table.index) == [0, 1, 2, 3]


def test_differences_are_in_deviations_of_the_whole_mixture():
    mixture = Mixture([0.25, 0.75], [[4.0, 1.0], [0.0, 1.5]], [[[1.0, 0.2], [0.2, 2.0]], [[3.0, 0.0], [0.0, 1.0]]])
    X, _ = mixture.sample(400_000, random_state=0)
    table = component_table(mixture).loc[0]
    for text, column, mean in ((table["distinct_1"], 0, 4.0), (table["distinct_2"], 1, 1.0)):
        name, value, score = re.fullmatch(r"(x\d) (\S+) \((\S+)\)", text).groups()
        assert (name, float(value)) == (f"x{column}", mean)
        assert float(score) == pytest.approx((mean - X[:, column].mean()) / X[:, column].std(), abs=0.06)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_every_covariance_type_gives_the_same_words(kind):
    covariances = {"full": [np.eye(2)] * 2, "tied": np.eye(2), "diag": np.ones((2, 2)), "spherical": np.ones(2)}
    table = component_table(Mixture([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], covariances[kind], kind))
    assert table.loc[0, "distinct_1"] == "x0 -1.0 (-0.7)"  # variance 1 within, 1 between
    assert table.loc[0, "distinct_2"] == ""  # x1 has the same mean everywhere


def test_the_largest_difference_comes_first():
    mixture = Mixture([0.5, 0.5], [[0.1, -2.0, 1.0], [0.0, 2.0, -1.0]], np.ones((2, 3)), "diag")
    table = component_table(mixture, n_columns=2)
    assert [text.split()[0] for text in table.loc[0, ["distinct_1", "distinct_2"]]] == ["x1", "x2"]
    assert "distinct_3" not in table


def test_one_component_is_not_distinguished_by_anything():
    assert list(component_table(Mixture([1.0], [[3.0, 4.0]], [1.0], "spherical")).loc[0])[1:] == ["", ""]


def test_the_table_speaks_its_own_language():
    encoder = TableEncoder().fit(PEOPLE)
    centres = encoder.transform(pd.DataFrame({"town": ["Ulm"] * 2, "age": [63.0, 30.0]}))[:, :1]
    tables = [[[0.82, 0.1, 0.05, 0.03], [0.2, 0.6, 0.17, 0.03]]]
    mixture = Mixture([0.3, 0.7], centres, [0.25, 0.25], "spherical", tables)
    table = component_table(mixture, encoder)
    # Age: mean 39.9, variance 0.25 * 18.7^2 + 0.21 * 33^2. Kassel: 0.3 * 82 % + 0.7 * 20 % = 39 %.
    assert list(table.loc[0])[1:] == ["age 63 (+1.3)", "town = Kassel (82 % against 39 %)"]
    assert list(table.loc[1])[1:] == ["age 30 (-0.6)", "town = Passau (60 % against 45 %)"]
    bare = component_table(mixture)
    assert bare.loc[0, "distinct_2"] == "x1 = 0 (82 % against 39 %)"


def test_categories_and_numbers_compete_by_the_same_measure():
    tables = [[[1.0, 0.0], [0.0, 1.0]]]
    mixture = Mixture([0.5, 0.5], [[-0.5], [0.5]], [1.0, 1.0], "spherical", tables)
    # The category differs by 0.5 / sqrt(0.25) = 1 deviation, the number by 0.5 / sqrt(1.25) = 0.4.
    assert list(component_table(mixture).loc[0])[1:] == ["x1 = 0 (100 % against 50 %)", "x0 -0.5 (-0.4)"]


def test_room_for_later_categories_distinguishes_nothing():
    encoder = TableEncoder().fit(pd.DataFrame({"town": ["Kassel", "Passau"]}))
    mixture = Mixture([0.5, 0.5], np.zeros((2, 0)), np.ones(2), "spherical", [[[0.3, 0.3, 0.4], [0.4, 0.6, 0.0]]])
    assert component_table(mixture, encoder).loc[0, "distinct_1"] == ""


def test_a_category_that_never_occurs_is_no_division_by_zero():
    mixture = Mixture([0.5, 0.5], np.zeros((2, 0)), np.ones(2), "spherical", [[[1.0, 0.0], [1.0, 0.0]]])
    assert list(component_table(mixture)["distinct_1"]) == ["", ""]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.to_datetime(["2020-01-01", "2020-03-01"]), "2020-01-01"),
        (pd.to_datetime(["2020-01-01 10:00", "2020-01-01 13:00"]), "2020-01-01 10:00"),
        (pd.to_timedelta([10, 30], unit="D"), "10 days"),
        (pd.to_timedelta([2.5, 8.5], unit="h"), "2.5 hours"),
        (pd.to_timedelta([90, 95], unit="s"), "90.0 seconds"),
        ([1116.4, 2500.0], "1116"),
        ([0.0123, 0.0145], "0.0123"),
        ([-0.04, 7.0], "0.0"),
        ([1e9, 5e9], "1e+09"),
        ([1e-9, 5e-9], "1e-09"),
        ([1e9 + 0.001, 1e9 + 0.005], "1000000000.001"),
    ],
)
def test_numbers_are_as_exact_as_their_spread_makes_sensible(values, expected):
    frame = pd.DataFrame({"it": values})
    encoder = TableEncoder(continuous="it").fit(frame)
    mixture = Mixture([0.5, 0.5], encoder.transform(frame), [0.1, 0.1], "spherical")
    assert component_table(mixture, encoder).loc[0, "distinct_1"] == f"it {expected} (-1.0)"


def test_a_fitted_density_of_a_real_table():
    data = datasets.load("iris")
    encoder = TableEncoder().fit(data.X)
    density = VBMixture(random_state=0).fit(encoder.transform(data.X))
    table = component_table(density.mixture_, encoder)
    assert table["weight"].sum() == pytest.approx(1)
    (setosa,) = table.index[table["weight"].sub(1 / 3).abs() < 0.01]
    assert table.loc[setosa, "distinct_1"] == "petal_length 1.5 (-1.3)"


@pytest.mark.parametrize("n_columns", [0, -1, 2.0, True, "three"])
def test_n_columns_is_a_count(n_columns):
    mixture = Mixture([1.0], [[0.0]], [1.0], "spherical")
    with pytest.raises(MixtureError, match="n_columns must be a whole number, 1 or more, but it is"):
        component_table(mixture, n_columns=n_columns)


def test_an_encoder_of_another_table():
    sentence = (
        "The encoder gives 1 continuous and 1 categorical columns, but the mixture has 2 and 0. Fit it to rows of "
        "this encoder: VBMixture(n_categorical=1).fit(encoder.transform(X))."
    )
    with pytest.raises(MixtureError, match=re.escape(sentence)):
        component_table(Mixture([1.0], [[0.0, 0.0]], [1.0], "spherical"), TableEncoder().fit(PEOPLE))


def test_an_encoder_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        component_table(Mixture([1.0], [[0.0]], [1.0], "spherical"), TableEncoder())


def test_an_estimator_is_not_its_mixture():
    with pytest.raises(MixtureError, match=r"Expected a Mixture, but got a VBMixture. Fit one: VBMixture\(\).fit\(X\)"):
        component_table(VBMixture())
    fitted = VBMixture(random_state=0).fit([[0.0], [1.0], [2.0]])
    with pytest.raises(MixtureError, match=r"Pass its mixture: density.mixture_"):
        component_table(fitted)


@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")
def test_texts_are_described_once_and_by_parts_of_words():
    notes = [f"the delivery {i} was late" if i % 2 else f"a wrong invoice {i} came" for i in range(60)]
    encoder = TableEncoder().fit(pd.DataFrame({"size": np.arange(60.0), "note": notes}))
    values = encoder.transform(pd.DataFrame({"size": np.arange(60.0), "note": notes}))
    means = [values[1::2].mean(axis=0), values[::2].mean(axis=0)]
    table = component_table(Mixture([0.5, 0.5], means, np.ones_like(means), "diag"), encoder)
    first, second = table["distinct_1"]
    assert first.startswith("note with ")
    assert "deliver" in first
    assert "invoice" in second
    assert not table["distinct_2"].str.startswith("note").any()
