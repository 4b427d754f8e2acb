import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from mixkern import Mixture, MixtureSVC, TableEncoder, datasets
from mixkern.errors import TableError
from mixkern.plot.figure import new_figure
from mixkern.plot.plane import CENTRES, Plane, around_centres, ellipses, grey_components

X, TRUTH = datasets.make_two_moons(n=80, random_state=0)
Y = np.where(np.arange(80) < 12, TRUTH, -1)
for shared in (X, TRUTH, Y):
    shared.flags.writeable = False


def fitted(table, **settings):
    return MixtureSVC(probability=False, random_state=0, **settings).fit(table, Y)


@pytest.fixture(scope="module")
def moons():
    return fitted(X)


def test_encoded_rows_come_back_into_the_units_of_the_table():
    table = X * [1e-3, 1e4] + [500.0, -3.0]
    model = fitted(table)
    plane = Plane.of(model, table)
    np.testing.assert_allclose(plane.own(model.encoder_.transform(table)), table)
    np.testing.assert_array_equal(plane.places, table)


def test_a_mixture_in_the_units_of_the_table_is_the_same_density():
    table = X * [1e-2, 50.0] + [1000.0, -7.0]
    model = fitted(table)
    shown = Plane.of(model, table).mixture(model.mixture_)
    log_scale = np.log(table.std(axis=0)).sum()
    expected = model.mixture_.log_density(model.encoder_.transform(table)) - log_scale
    np.testing.assert_allclose(shown.log_density(table), expected, rtol=1e-6)


def test_models_that_take_numbers_as_they_are_have_one_unit():
    plane = Plane.of(LogisticRegression().fit(X, TRUTH), X)
    assert plane.own(X) is X
    assert plane.like(X).tolist() == X.tolist()


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(X, columns=["length", "width"]),
        pd.DataFrame(X, columns=[7, 8]),
        pl.DataFrame({"length": X[:, 0], "width": X[:, 1]}),
        X,
    ],
    ids=["pandas", "numbered", "polars", "array"],
)
def test_places_become_a_table_of_the_same_type_and_names(table):
    made = Plane.of(fitted(table), table).like(X[:5] + 1)
    assert type(made) is type(table)
    assert list(getattr(made, "columns", [])) == list(getattr(table, "columns", []))
    np.testing.assert_allclose(np.asarray(made), X[:5] + 1)


def test_dates_become_dates_again():
    days = pd.to_datetime("2024-03-01") + pd.to_timedelta(10 * X[:, 0], unit="D")
    table = pd.DataFrame({"day": days, "wait": pd.to_timedelta(X[:, 1], unit="D")})
    with pytest.raises(
        TableError, match=r"'day: weekday' is not continuous\..*encoder=TableEncoder\(continuous=\['day'\]\)"
    ):
        Plane.of(fitted(table), table)
    plane = Plane.of(fitted(table, encoder=TableEncoder(continuous=["day"])), table)
    made = plane.like(plane.places)
    assert abs(made["day"] - table["day"]).max() < pd.Timedelta("1ms")
    assert abs(made["wait"] - table["wait"]).max() < pd.Timedelta("1ms")


def test_rows_with_gaps_are_not_there(moons):
    assert Plane.of(moons, [[np.nan, 1.0], [1.0, 2.0]]).is_there.tolist() == [False, True]


# ---------------------------------------------------------------- components


COVARIANCES = [[[2.0, 0.8], [0.8, 1.0]], [[0.5, 0.0], [0.0, 0.1]]]
PLANE = Mixture([0.7, 0.3], [[0.0, 0.0], [3.0, 1.0]], COVARIANCES)


def test_ellipses_are_at_mahalanobis_distance_one_and_look_as_asked():
    drawn = ellipses(PLANE, linewidth=7)
    assert [each.get_linewidth() for each in drawn] == [7, 7]
    for ellipse, mean, covariance in zip(drawn, PLANE.means, COVARIANCES, strict=True):
        edge = ellipse.get_patch_transform().transform(np.array([[1, 0], [0, 1], [-0.6, 0.8]])) - mean
        np.testing.assert_allclose(np.einsum("ij,ij->i", edge @ np.linalg.inv(covariance), edge), 1)


def test_coordinates_reach_from_each_centre_as_far_as_asked():
    found = around_centres(PLANE, 1, 3.0, n_each=5)
    assert found.shape == (2, 5)
    np.testing.assert_allclose(found[:, 2], PLANE.means[:, 1])
    np.testing.assert_allclose(np.ptp(found, axis=1), 6 * np.sqrt([1.0, 0.1]))


def test_grey_components_have_one_label():
    ax = new_figure().subplots()
    grey_components(PLANE, ax)
    (centres,) = ax.collections
    assert centres.get_offsets().tolist() == PLANE.means.tolist()
    assert ax.get_legend_handles_labels() == ([centres], [CENTRES])
    assert len(ax.patches) == 2
    red, green, blue, _ = ax.patches[0].get_edgecolor()
    assert red == green == blue == pytest.approx(0.5, abs=0.01)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (np.ones((9, 1)), r"two continuous columns, but X has 1\. Fit the model on two columns\.$"),
        (np.ones((9, 3)), r"two continuous columns, but X has 3\. Fit the model on two of them: X\[:, \[0, 1\]\]\.$"),
        (
            pd.DataFrame(np.ones((9, 3)), columns=["a", "b", "c"]),
            r"but X has 3\. Fit the model on two of them: X\[\['a', 'b'\]\]\.$",
        ),
    ],
)
def test_tables_that_are_not_of_two_columns_are_refused(table, sentence, moons):
    with pytest.raises(TableError, match=sentence):
        Plane.of(moons, table)


def test_categories_are_refused():
    table = pd.DataFrame({"length": X[:, 0], "town": np.where(X[:, 1] > 0, "Kassel", "Passau")})
    model = MixtureSVC(probability=False, random_state=0).fit(table, Y)
    with pytest.raises(TableError, match=r"but 'town' is not continuous\. Fit the model on other columns\."):
        Plane.of(model, table)
    with pytest.raises(TableError, match="but 'town' is not continuous"):
        Plane.of(LogisticRegression().fit(X, TRUTH), table)


def test_tables_of_gaps_are_refused(moons):
    with pytest.raises(TableError, match="X has no row with a number in both columns"):
        Plane.of(moons, [[np.nan, 1.0], [1.0, np.nan]])
