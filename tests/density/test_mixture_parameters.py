"""Parameters that make no mixture."""

import numpy as np
import pytest

from mixkern.density.mixture import Mixture
from mixkern.errors import MixtureError

NAN = np.nan
VALID = {
    "weights": [0.4, 0.6],
    "means": [[0.0], [1.0]],
    "covariances": [[1.0], [2.0]],
    "covariance_type": "diag",
    "categories": (),
}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"weights": [0.4, 0.5]},
            r"weights must be non-negative and add up to one, but they are \[0.4 0.5\] \(sum 0.9\)",
        ),
        ({"weights": [-0.5, 1.5]}, "weights must be non-negative and add up to one"),
        ({"weights": [[0.4, 0.6]]}, "weights must be non-negative and add up to one"),
        ({"weights": [], "means": np.empty((0, 1)), "covariances": np.empty((0, 1))}, "weights must be non-negative"),
        ({"weights": [0.4, NAN]}, "weights must be finite numbers"),
        ({"means": [[0.0]]}, r"means must have shape \(2, d\), one row per weight, but it is \(1, 1\)"),
        ({"means": [0.0, 1.0]}, r"means must have shape \(2, d\), one row per weight, but it is \(2,\)"),
        ({"means": [[0.0], [np.inf]]}, "means must be finite numbers"),
        (
            {"covariances": [1.0, 2.0]},
            r"covariances must have shape \(2, 1\) for covariance_type='diag', but it is \(2,\)",
        ),
        ({"covariances": [[1.0], [0.0]]}, "covariances must be positive: a component has collapsed in some column"),
        ({"covariances": [[1.0], [-1.0]]}, "covariances must be positive"),
        ({"covariances": [[1.0], [NAN]]}, "covariances must be finite numbers"),
        (
            {"covariances": [[[1.0]], [[0.0]]], "covariance_type": "full"},
            "A covariance matrix is not positive definite: a component has collapsed in some direction. Add a small",
        ),
        (
            {
                "means": np.zeros((2, 2)),
                "covariances": [[[1.0, 0.5], [0.0, 1.0]], np.eye(2)],
                "covariance_type": "full",
            },
            "covariances must be symmetric matrices",
        ),
        (
            {"means": np.zeros((2, 2)), "covariances": [[1.0, 0.5], [0.0, 1.0]], "covariance_type": "tied"},
            "covariances must be symmetric matrices",
        ),
        (
            {"categories": [[[0.5, 0.4], [1, 0]]]},
            "categories must be tables of 2 rows of probabilities, each row adding",
        ),
        ({"categories": [[[1.5, -0.5], [1, 0]]]}, "categories must be tables of 2 rows of probabilities"),
        ({"categories": [[[1.0, 0.0]]]}, "categories must be tables of 2 rows of probabilities"),
        ({"categories": [[0.5, 0.5]]}, "categories must be tables of 2 rows of probabilities"),
        ({"categories": [[[0.5, NAN], [1, 0]]]}, "categories must be finite numbers"),
    ],
)
def test_what_makes_no_mixture(change, text):
    with pytest.raises(MixtureError, match=text):
        Mixture(**{**VALID, **change})
