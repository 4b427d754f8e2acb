"""The weight of the second of two classifiers, against Bayes' rule."""

import numpy as np
import pytest

from mixkern.svm.calibration import own_values, slope
from mixkern.svm.gaussian_process import TEMPER
from mixkern.svm.one_vs_one import class_probabilities, pair_values
from mixkern.svm.stacking import stacked_share

RANDOM = np.random.RandomState(0)
CODES = np.repeat([0, 1, 2], 6)
GOOD = np.column_stack([CODES == 0, CODES == 1, CODES == 2]) * 2.0 - 1 + 0.5 * RANDOM.standard_normal((18, 3))
FIRST, SECOND = pair_values(GOOD, 3), RANDOM.standard_normal((18, 3))


def log_likelihood(values, codes, weights=None):
    """Log probability of the labels, one at a time."""
    counts = np.ones(len(codes)) if weights is None else weights
    learned = slope([own_values(values, codes, counts)])
    return sum(
        count * np.log(class_probabilities(row[None], learned, 3)[0, code])
        for row, code, count in zip(values, codes, counts, strict=True)
    )


@pytest.mark.parametrize("prior", [0.2, 0.8])
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1.0, 18)], ids=["equal", "weighted"])
def test_it_is_bayes_rule_with_tempered_likelihoods(prior, weights):
    first, second = (np.exp(TEMPER * log_likelihood(values, CODES, weights)) for values in (FIRST, SECOND))
    expected = prior * second / (prior * second + (1 - prior) * first)
    assert stacked_share(prior, FIRST, SECOND, CODES, weights) == pytest.approx(expected)
    assert stacked_share(1 - prior, SECOND, FIRST, CODES, weights) == pytest.approx(1 - expected)


def test_rows_that_were_never_left_out_do_not_count():
    first, second = FIRST.copy(), SECOND.copy()
    first[4:7] = second[4:7] = np.nan
    kept = np.r_[0:4, 7:18]
    assert stacked_share(0.5, first, second, CODES) == pytest.approx(
        stacked_share(0.5, FIRST[kept], SECOND[kept], CODES[kept])
    )


def test_without_any_left_out_label_it_is_the_prior():
    nothing = np.full((3, 3), np.nan)
    assert stacked_share(0.3, nothing, nothing, np.array([0, 1, 2])) == pytest.approx(0.3)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_pair_values_choose_the_class_with_the_largest_value(n_classes):
    values = RANDOM.standard_normal((50, n_classes))
    pairs = pair_values(values, n_classes)
    probabilities = class_probabilities(pairs, 1.5, n_classes)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), values.argmax(axis=1))
    i = 0
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            np.testing.assert_allclose(pairs[:, i], (values[:, first] - values[:, second]) / 2)
            i += 1
