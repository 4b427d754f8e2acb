"""Parts of columns add up to distances, in the table's own units."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF

from mixkern import LaplacianSVC, Mixture, MixtureSVC, TableEncoder, VBMixture, datasets
from mixkern.errors import KernelError, MixkernWarning
from mixkern.explain.column_contrast import column_names, deviance_parts, in_units
from mixkern.kernels import RBFKernel, RWMKernel

SMALL = VBMixture(n_components=5, max_iter=30)  # learned in a moment
KERNELS = ["blend", "rwm", "gmm", "rbf", "lap"]


@cache
def table(name):
    data = datasets.load(name)
    return data.X, data.few_labels(per_class=10, random_state=0)


@cache
def machine(name, kernel, kind=MixtureSVC):
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)
        return kind(kernel, density=SMALL, probability=False, random_state=0).fit(X, y)


def encoded(model, X):
    values = model.encoder_.transform(X)
    return model.mixture_.conditional_mean(values) if model.kernel in ("rbf", "lap") else values


def exponent_of(model, x, z):
    """What gamma is multiplied with, from the kernel itself; of a blend the mean of its two distances."""
    kernel = getattr(model.kernel_, "base", model.kernel_)
    apart = kernel.pair_terms(x[None], z[None])
    if model.kernel != "blend":
        return apart.exponent(kernel.alpha, kernel.beta)[0, 0]
    weights = np.array([1 - apart.share, apart.share * (1 - apart.membership)])
    distances = [part.exponent(kernel.alpha, kernel.beta)[0, 0] for part in (apart.euclidean, apart)]
    return weights @ distances / weights.sum()


# ---------------------------------------------------------------- beside labelled rows


@pytest.mark.parametrize("name", ["credit_a", pytest.param("heart", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.slow
def test_parts_add_up_to_the_squared_distance(name, kernel):
    X, _ = table(name)
    model = machine(name, kernel)
    some = X.iloc[::30]
    rows = dict(zip(some.index, encoded(model, some), strict=True))
    vectors = dict(zip(model.support_.tolist(), model.support_vectors_, strict=True))
    for n in (None, 3):
        lines = model.explain(some, by="column", n=n, details=True)
        beside_rows = lines[lines["beside"] != "component"]
        for (row, neighbour, _), part in beside_rows.groupby(["row", "number", "beside"])["part"]:
            expected = exponent_of(model, rows[row], vectors[neighbour])
            assert abs(part.sum() - expected) < 1e-12 * max(1, expected)
        np.testing.assert_allclose(
            lines.groupby(["row", "beside"])["part"].sum(), lines.groupby(["row", "beside"])["total"].first()
        )


def test_a_row_is_put_beside_those_that_pull_most():
    X, _ = table("heart")
    model = machine("heart", "blend")
    pulls = model.explain(X, n=None, details=True).query("source == 'neighbour'")
    columns = model.explain(X, by="column", n=1, details=True).drop_duplicates(["row", "beside"])
    for word, most in (("for", "max"), ("against", "min")):
        expected = pulls.loc[getattr(pulls.groupby("row")["pull"], f"idx{most}")()]
        found = columns[columns["beside"] == word]
        assert found["number"].tolist() == expected["neighbour"].tolist()
    components = model.responsibilities(X).argmax(axis=1)
    assert columns[columns["beside"] == "component"]["number"].tolist() == components.tolist()


def test_values_are_those_of_the_table():
    X, _ = table("credit_a")
    model = machine("credit_a", "blend")
    lines = model.explain(X.iloc[::9], by="column", n=None, details=True)
    some = lines[lines["beside"] == "for"]
    for line in some.itertuples():
        for cell, row in ((line.value, line.row), (line.other_value, line.number)):
            expected = X.loc[row, line.column]
            assert pd.isna(cell) if pd.isna(expected) else cell == expected
    numbers = set(model.encoder_.continuous_)
    is_gap = some["value"].isna() | some["other_value"].isna()
    assert (some["filled"] == (is_gap & some["column"].isin(numbers))).all()
    assert some["filled"].any()


def test_the_parts_of_a_blend_are_means_of_those_of_its_distances():
    X, _ = table("heart")
    model = machine("heart", "blend")
    kernel = model.kernel_
    lines = model.explain(X[:30], by="column", details=True).query("beside != 'component'")
    own, plain = kernel.share * (1 - kernel.membership), 1 - kernel.share
    expected = (own * lines["mixture"] + plain * lines["euclidean"]) / (own + plain)
    np.testing.assert_allclose(lines["part"], expected, rtol=0, atol=1e-12)
    assert "mixture" not in machine("heart", "rwm").explain(X[:1], by="column", details=True).columns


def test_columns_have_the_largest_parts_first_and_the_rest_in_one_line():
    X, _ = table("heart")
    model = machine("heart", "rwm")
    lines = model.explain(X[:20], by="column", n=2, details=True)
    whole = model.explain(X[:20], by="column", n=None, details=True)

    assert lines.groupby(["row", "beside"], sort=False)["column"].last().unique().tolist() == ["(others)"]
    assert "(others)" not in set(whole["column"])
    assert set(whole["column"]) == set(X.columns)
    assert whole.groupby(["row", "beside"])["part"].apply(lambda p: p.abs().is_monotonic_decreasing).all()
    assert lines["row"].tolist() == sorted(lines["row"])


def test_nobody_speaks_against_a_row_that_is_far_from_all_others():
    X = np.array([[-1.0], [0.0], [1.0], [200.0], [201.0], [202.0]])
    mixture = Mixture([0.5, 0.5], [[0.0], [201.0]], [[[1.0]], [[1.0]]])
    model = MixtureSVC(RBFKernel(2.0), density=mixture, C=1.0, probability=False).fit(X, [0, 0, 0, 1, 1, 1])
    lines = model.explain([[0.0]], by="column", details=True)

    assert lines["beside"].tolist() == ["for", "component"]
    assert lines["column"].tolist() == ["x0", "x0"]


@pytest.mark.parametrize("base", ["rwm", "rbf"])
def test_a_bent_kernel_has_the_columns_of_its_base(base):
    X, _ = table("heart")
    model = machine("heart", base, LaplacianSVC)
    lines = model.explain(X[:5], by="column", n=None, details=True).query("beside == 'for'")
    rows = encoded(model, X[:5])
    for row, mine in lines.groupby("row"):
        vector = model.support_vectors_[model.support_.tolist().index(mine["number"].iloc[0])]
        assert abs(mine["part"].sum() - exponent_of(model, rows[row], vector)) < 1e-10


@pytest.mark.parametrize(("kernel", "name"), [(RBF(2.0), "RBF"), (RWMKernel(gamma=0.2) + RBFKernel(0.1), "Sum")])
def test_a_kernel_without_a_distance_has_no_columns(kernel, name):
    X, y = table("iris")
    model = MixtureSVC(kernel, probability=False, random_state=0).fit(X, y)
    message = f"^by='column' needs a distance kernel of mixkern, but this is a {name}. Use by='label' or "
    with pytest.raises(KernelError, match=message):
        model.explain(X, by="column", details=True)


# ---------------------------------------------------------------- beside a component


def slow_deviance(mixture, row, k):
    """Twice the log density at the component's peak, less that at the row, of the columns that are there."""
    d = mixture.n_continuous
    there = np.flatnonzero(~np.isnan(row[:d]))
    difference = (row[:d] - mixture.means[k])[there]
    total = difference @ np.linalg.inv(mixture.full_covariances[k][np.ix_(there, there)]) @ difference
    for e, categories in enumerate(mixture.categories):
        if not np.isnan(row[d + e]):
            total += 2 * np.log(categories[k].max() / categories[k][int(row[d + e])])
    return total


@pytest.mark.parametrize("name", ["credit_a", "heart", "iris"])
def test_parts_beside_a_component_add_up_to_the_density_lost(name):
    X, _ = table(name)
    model = machine(name, "rwm")
    lines = model.explain(X, by="column", details=True).query("beside == 'component'")
    totals = lines.groupby("row", sort=False)["part"].sum()
    rows = model.encoder_.transform(X)
    components = model.responsibilities(X).argmax(axis=1)

    assert lines.groupby("row", sort=False)["number"].first().tolist() == components.tolist()
    expected = [slow_deviance(model.mixture_, row, k) for row, k in zip(rows, components, strict=True)]
    np.testing.assert_allclose(totals, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_deviance_parts_for_all_kinds_of_covariances(kind):
    random = np.random.RandomState(0)
    root = random.standard_normal((3, 3))
    covariances = {
        "full": np.array([root @ root.T, np.eye(3)]),
        "tied": root @ root.T,
        "diag": np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 0.5]]),
        "spherical": np.array([1.0, 2.0]),
    }[kind]
    mixture = Mixture([0.4, 0.6], random.standard_normal((2, 3)), covariances, kind, [[[0.2, 0.8], [0.9, 0.1]]])
    rows = np.column_stack([random.standard_normal((20, 3)), random.randint(0, 2, 20)])
    rows[::3, 1] = rows[::4, 3] = np.nan
    components = random.randint(0, 2, 20)
    parts = deviance_parts(mixture, rows, components)

    expected = [slow_deviance(mixture, row, k) for row, k in zip(rows, components, strict=True)]
    np.testing.assert_allclose(parts.sum(axis=1), expected, rtol=1e-12)
    assert (parts[np.isnan(rows)] == 0).all()


def test_a_new_category_is_as_surprising_as_other_ones():
    mixture = Mixture([1.0], np.zeros((1, 0)), np.zeros((1, 0, 0)), categories=[[[0.7, 0.2, 0.1]]])
    parts = deviance_parts(mixture, np.array([[2.0], [9.0]]), np.array([0, 0]))
    np.testing.assert_allclose(parts[:, 0], 2 * np.log(7.0))


def test_cells_come_back_as_they_were_and_gaps_as_none():
    day = pd.Timestamp("2024-03-01")
    table = pd.DataFrame(
        {
            "when": [day, pd.NaT, day + pd.Timedelta(days=3)],
            "town": ["Kassel", None, "Passau"],
            "size": [0.1, 1e9 + 0.3, None],
            "tiny": [1e-300, 2e-300, 0.0],
        }
    )
    encoder = TableEncoder().fit(table)
    cells = in_units(encoder, encoder.transform(table))
    names = list(encoder.get_feature_names_out())

    assert cells[:, names.index("size")].tolist() == [0.1, 1e9 + 0.3, None]
    assert cells[:, names.index("town")].tolist() == ["Kassel", None, "Passau"]
    assert cells[:, names.index("when")].tolist() == [day, None, day + pd.Timedelta(days=3)]
    np.testing.assert_allclose(cells[:, names.index("tiny")].astype(float), table["tiny"], rtol=1e-9, atol=1e-310)


def test_decoded_numbers_have_no_digits_of_their_own():
    values = np.round(np.random.RandomState(0).uniform(0, 90, 200), 1)
    encoder = TableEncoder().fit(values[:, None])

    assert in_units(encoder, encoder.transform(values[:, None]))[:, 0].tolist() == values.tolist()


def test_rows_that_came_encoded_stay_so():
    rows = np.array([[1.5, np.nan], [0.0, 2.0]])

    assert in_units(None, rows).tolist() == [[1.5, None], [0.0, 2.0]]


def test_columns_without_names_are_numbered():
    X = np.random.RandomState(0).standard_normal((30, 2))
    y = np.arange(30) % 2
    raw = MixtureSVC(encoder="passthrough", random_state=0)

    assert column_names(raw.fit(X, y)) == ["x0", "x1"]
    assert column_names(raw.fit(pd.DataFrame(X, columns=["a", "b"]), y)) == ["a", "b"]
    assert column_names(MixtureSVC(random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)) == ["a", "b"]
