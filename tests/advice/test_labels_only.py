"""The rival that knows labels only: it is scikit-learn's own machine."""

import numpy as np
from sklearn.svm import SVC

from mixkern.advice.labels_only import C, predicted


def test_nothing_but_the_kept_rows_is_learned_from():
    random = np.random.RandomState(0)
    numbers, codes = random.standard_normal((30, 2)), np.arange(30) % 3
    kept, out = np.arange(20), np.arange(20, 30)
    expected = SVC(C=C, gamma="scale").fit(numbers[:20], codes[:20]).predict(numbers[20:])
    np.testing.assert_array_equal(predicted(numbers, codes, kept, out), expected)
    np.testing.assert_array_equal(predicted(numbers, np.where(np.arange(30) < 20, codes, 0), kept, out), expected)
