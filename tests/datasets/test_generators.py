"""Generators against their formulas, and against what the published copies of the sets measure."""

import numpy as np
import pytest
from scipy.stats import ks_1samp, multivariate_normal

from mixkern import datasets

MAKERS = [getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")]
MANY = 200_000

# (class, rows of it, means, [10 %, 50 % and 90 % quantile] of both coordinates), measured on the published copies:
# Clouds and Concentric of the ELENA project, and the two moons of Melacci's LapSVM package.
PUBLISHED = {
    datasets.make_clouds: [
        (0, 2500, (0.9932, 1.0164), [(-0.187, -0.184), (1.090, 1.026), (2.173, 2.187)]),
        (1, 2500, (-0.0085, 0.0285), [(-1.266, -1.223), (-0.029, 0.008), (1.282, 1.314)]),
    ],
    datasets.make_concentric: [
        (0, 921, (0.4994, 0.4955), [(0.291, 0.293), (0.496, 0.489), (0.704, 0.705)]),
        (1, 1579, (0.4997, 0.4990), [(0.113, 0.112), (0.503, 0.511), (0.885, 0.875)]),
    ],
    datasets.make_two_moons: [
        (0, 211, (0.0778, 0.5808), [(-1.074, 0.100), (0.246, 0.598), (1.068, 0.963)]),
        (1, 189, (1.1839, -0.1388), [(0.082, -0.489), (1.327, -0.184), (2.174, 0.298)]),
    ],
}


@pytest.mark.parametrize("make", PUBLISHED, ids=lambda make: make.__name__)
def test_a_generator_agrees_with_the_published_copy(make):
    X, y = make(n=MANY, random_state=0)
    for label, rows, means, quantiles in PUBLISHED[make]:
        mine = X[y == label]
        error = mine.std(axis=0) / np.sqrt(rows)
        assert (np.abs(mine.mean(axis=0) - means) < 4 * error).all()
        for share, values in zip((0.1, 0.5, 0.9), quantiles, strict=True):
            below = (mine < values).mean(axis=0)
            assert (np.abs(below - share) < 4 * np.sqrt(share * (1 - share) / rows)).all()


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_every_generator_keeps_the_common_contract(make):
    X, y = make(random_state=5)
    again = make(random_state=5)
    assert X.shape == (len(y), 2)
    assert np.isfinite(X).all()
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])
    assert not np.array_equal(X, make(random_state=6)[0])
    assert make(n=101, random_state=0)[0].shape == (101, 2)
    assert np.any(np.diff(y) < 0), "rows are shuffled"


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_noise_adds_its_variance(make):
    quiet, _ = make(n=MANY, noise=0.0, random_state=1)
    loud, _ = make(n=MANY, noise=0.5, random_state=1)
    np.testing.assert_allclose(loud.var(axis=0), quiet.var(axis=0) + 0.25, rtol=0.02)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_bad_arguments_are_explained(make):
    with pytest.raises(ValueError, match=r"n must be a whole number, \d or more, but it is 1\."):
        make(n=1)
    with pytest.raises(ValueError, match=r"noise must be a number, 0 or more, but it is -1\."):
        make(noise=-1)


@pytest.mark.parametrize(
    ("make", "counts"),
    [
        (datasets.make_two_moons, [400, 400]),
        (datasets.make_clouds, [2500, 2500]),
        (datasets.make_concentric, [921, 1579]),
        (datasets.make_ripley, [625, 625]),
        (datasets.make_two_rings, [400, 400]),
        (datasets.make_cross, [400, 400]),
        (datasets.make_three_moons, [300, 300, 300]),
        (datasets.make_adidas, [300, 300, 300]),
        (datasets.make_five_processes, [400, 400, 200]),
    ],
)
def test_class_sizes_are_exact(make, counts):
    assert np.bincount(make(random_state=0)[1]).tolist() == counts


def clouds_density(X):
    """DESIGN's formula, literally: the density of each class."""
    parts = [
        (0.25, (0, 0), np.diag([0.2**2, 0.2**2])),
        (0.25, (0, 2), np.diag([0.2**2, 0.2**2])),
        (0.50, (2, 1), np.diag([0.2**2, 1.0])),
    ]
    class_0 = sum(weight * multivariate_normal(mean, covariance).pdf(X) for weight, mean, covariance in parts)
    return np.column_stack([class_0, multivariate_normal((0, 0), np.eye(2)).pdf(X)])


def test_clouds_has_its_bayes_error():
    X, y = datasets.make_clouds(n=MANY, random_state=0)
    error = 100 * np.mean(clouds_density(X).argmax(axis=1) != y)
    assert error == pytest.approx(9.65, abs=0.3)


def test_ripley_is_like_the_packaged_set():
    data = datasets.load("ripley")
    X, y = datasets.make_ripley(n=MANY, random_state=0)
    for label in (0, 1):
        mine, theirs = X[y == label], data.X[data.y == label].to_numpy()
        np.testing.assert_allclose(theirs.mean(axis=0), mine.mean(axis=0), atol=4 * mine.std() / np.sqrt(len(theirs)))
        np.testing.assert_allclose(np.cov(theirs.T), np.cov(mine.T), atol=0.02)


def test_concentric_is_evenly_filled():
    X, y = datasets.make_concentric(n=20_000, random_state=0)
    radius = np.hypot(*(X - 0.5).T)
    assert radius[y == 0].max() < 0.3 < radius[y == 1].min()
    assert radius.max() < 0.5
    # evenly in area means evenly in the squared radius
    for label, inner, outer in ((0, 0.0, 0.3), (1, 0.3, 0.5)):
        share = (radius[y == label] ** 2 - inner**2) / (outer**2 - inner**2)
        assert ks_1samp(share, lambda u: u).pvalue > 0.01


def test_two_rings_has_the_papers_covariances():
    X, y = datasets.make_two_rings(n=MANY, random_state=0)
    np.testing.assert_allclose(np.cov(X[y == 0].T), 0.07 * np.eye(2), atol=0.002)
    np.testing.assert_allclose(np.cov(X[y == 1].T), 1.93 * np.eye(2), atol=0.03)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.02)


def test_two_moons_follows_its_curves():
    X, y = datasets.make_two_moons(n=2000, noise=0.0, random_state=0)
    upper, lower = X[y == 0], X[y == 1]
    np.testing.assert_allclose((upper[:, 0] / 1.10) ** 2 + (upper[:, 1] / 0.95) ** 2, 1)
    np.testing.assert_allclose(((lower[:, 0] - 1.13) / 1.10) ** 2 + ((lower[:, 1] - 0.43) / 0.92) ** 2, 1)
    assert upper[:, 1].min() >= 0
    assert lower[:, 1].max() <= 0.43


def test_cross_is_two_bars_at_right_angles():
    X, y = datasets.make_cross(n=MANY, random_state=0)
    first, second = np.cov(X[y == 0].T), np.cov(X[y == 1].T)
    np.testing.assert_allclose(np.linalg.eigvalsh(first), [0.15**2, 1], rtol=0.02)
    np.testing.assert_allclose(first[0, 1], -second[0, 1], rtol=0.03)


def test_three_moons_are_arcs_of_radius_one():
    X, y = datasets.make_three_moons(n=MANY, random_state=0)
    for label, centre in enumerate([(0.0, 0.0), (1.25, 0.4), (2.5, 0.0)]):
        offsets = X[y == label] - centre
        # E|bead + noise|^2 = 1 + 2 * 0.12^2
        assert np.mean(np.sum(offsets**2, axis=1)) == pytest.approx(1 + 2 * 0.12**2, abs=0.01)
        assert np.sign(offsets[:, 1].mean()) == (-1 if label == 1 else 1)


def test_adidas_is_three_parallel_stripes_of_growing_length():
    X, y = datasets.make_adidas(n=MANY, random_state=0)
    values, vectors = zip(*(np.linalg.eigh(np.cov(X[y == label].T)) for label in range(3)), strict=True)
    np.testing.assert_allclose(np.sqrt(values), [(0.12, 0.35), (0.12, 0.6), (0.12, 0.85)], rtol=0.02)
    axes = [np.abs(each[:, 1] @ [np.cos(np.deg2rad(115)), np.sin(np.deg2rad(115))]) for each in vectors]
    np.testing.assert_allclose(axes, 1, atol=1e-3)


def test_five_processes_belong_to_three_classes():
    X, y = datasets.make_five_processes(n=MANY, random_state=0)
    centres = [[(-2.2, 1.6), (1.9, -1.6)], [(-1.8, -1.5), (2.2, 1.5)], [(0.0, 0.0)]]
    for label, expected in enumerate(centres):
        mine = X[y == label]
        owner = np.argmin([np.sum((mine - centre) ** 2, axis=1) for centre in expected], axis=0)
        for i, centre in enumerate(expected):
            np.testing.assert_allclose(mine[owner == i].mean(axis=0), centre, atol=0.03)
            assert np.mean(owner == i) == pytest.approx(1 / len(expected), abs=0.01)
