"""The choice among covariance families."""

import numpy as np
import pytest

from mixkern.density import VBMixture
from mixkern.density.block import Coordinates
from mixkern.density.covariance import CovarianceType
from mixkern.density.settings import MOST_COLUMNS, families_of
from mixkern.errors import InterruptedWarning, MixtureError, OptionError


def rows(kind, n=300, seed=0):
    """Rows of three clusters with covariances of a kind."""
    random = np.random.default_rng(seed)
    d = 2 if kind == "diag" else 12 if kind == "factor" else 4
    X = np.empty((n, d))
    shared = random.normal(size=(d, d))
    for j in range(3):
        m = n // 3
        noise = random.normal(size=(m, d))
        if kind == "factor":
            part = random.normal(size=(m, 2)) @ random.normal(size=(2, d)) + 0.3 * noise
        elif kind == "diag":
            part = noise * random.uniform(0.2, 2, d)
        else:
            part = noise @ (shared if kind == "tied" else random.normal(size=(d, d)))
        X[j * m : (j + 1) * m] = part + 6 * random.normal(size=d)
    return X


def kinds(density, n, d):
    coordinates = Coordinates(np.zeros(d), np.ones(d))
    return [str(family.kind) for family in families_of(density, n, coordinates)]


@pytest.mark.parametrize(("kind", "n"), [("full", 300), ("tied", 120), ("diag", 1500), ("factor", 300)])
def test_the_family_that_the_rows_come_from_is_chosen(kind, n):
    X = rows(kind, n)
    density = VBMixture(8, covariance_type="auto", random_state=0, precision_prior="evidence").fit(X)
    assert density.covariance_type_ == kind == density.mixture_.covariance_type
    alone = VBMixture(8, covariance_type=kind, random_state=0, precision_prior="evidence").fit(X)
    assert alone.covariance_type_ == kind
    # Nothing is lost by the choice.
    assert density.n_components_ == alone.n_components_
    assert density.lower_bound_ == pytest.approx(alone.lower_bound_, rel=1e-4)
    np.testing.assert_allclose(density.mixture_.means, alone.mixture_.means, rtol=0.01)


def test_families_that_cannot_win_are_left_out():
    density = VBMixture(covariance_type="auto")
    assert kinds(density, 1000, 2) == ["full", "tied", "diag"]
    assert kinds(density, 1000, 10) == ["full", "tied", "factor"]
    assert kinds(density, 20, 10) == ["factor"]  # too few rows for matrices
    assert kinds(density, 10**6, MOST_COLUMNS + 1) == ["factor"]
    assert kinds(density, 100, 1) == ["diag"]
    assert kinds(density, 100, 0) == ["diag"]
    assert kinds(VBMixture(covariance_type="tied"), 1000, 10) == ["tied"]


def test_priors_decide_which_families_are_possible():
    assert kinds(VBMixture(covariance_type="auto", precision_prior=np.eye(4)), 1000, 4) == ["full", "tied"]
    assert kinds(VBMixture(covariance_type="auto", degrees_of_freedom_prior=1.5), 1000, 4) == ["factor"]
    with pytest.raises(MixtureError, match="precision_prior must be a positive number"):
        families_of(VBMixture(covariance_type="auto", precision_prior=-1.0), 100, Coordinates(np.zeros(3), np.ones(3)))
    text = "one of 'full', 'tied', 'diag', 'spherical', 'factor', 'common', 'auto', but it is 'automatic'"
    with pytest.raises(OptionError, match=text):
        VBMixture(covariance_type="automatic").fit(rows("full"))


def test_more_starts_are_those_of_the_chosen_family():
    X = rows("factor")
    density, alone = (
        VBMixture(6, covariance_type=kind, n_init=3, random_state=0, precision_prior="evidence").fit(X)
        for kind in ("auto", "factor")
    )
    assert density.lower_bound_ == pytest.approx(alone.lower_bound_, rel=1e-4)


def test_a_fit_goes_on_with_the_chosen_family():
    X = rows("factor")
    density = VBMixture(6, covariance_type="auto", random_state=0, precision_prior="evidence", warm_start=True).fit(X)
    before = density.lower_bound_
    density.fit(X)
    assert density.covariance_type_ == "factor"
    assert density.lower_bound_ >= before - 1e-4 * abs(before)
    stream = VBMixture(6, covariance_type="auto", random_state=0, precision_prior="evidence")
    stream.partial_fit(X[::2]).partial_fit(X[1::2])
    assert stream.covariance_type_ == "factor"
    assert stream.n_samples_seen_ == len(X)


def test_a_stop_during_the_comparison():
    class Stops:
        max_propagation_depth = None
        n = 0

        def setup(self, estimator, context):
            pass

        on_fit_task_begin = teardown = setup

        def on_fit_task_end(self, estimator, context):
            self.n += 1
            return self.n == 3

    with pytest.warns(InterruptedWarning):
        density = VBMixture(5, covariance_type="auto", random_state=0).set_callbacks(Stops()).fit(rows("full"))
    assert density.covariance_type_ == CovarianceType.FULL
    assert density.n_iter_ == 3


def test_large_tables_are_chosen_on_a_sample(monkeypatch):
    monkeypatch.setattr("mixkern.density.progressive.FIRST_SAMPLE", 450)
    X = rows("factor", 3000)[np.random.default_rng(0).permutation(3000)]
    density = VBMixture(6, covariance_type="auto", random_state=0, precision_prior="evidence").fit(X)
    assert density.covariance_type_ == "factor"
    assert density.n_components_ == 3
