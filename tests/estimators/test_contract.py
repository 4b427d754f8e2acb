"""Every machine is an estimator of scikit-learn."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mixkern import (
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TransductiveSVC,
)

MACHINES = [
    MixtureSVC(),
    MixtureSVC(kernel="rbf"),
    LaplacianSVC(),
    TransductiveSVC(),
    QuasiNewtonS3VC(),
    MixtureSVR(),
    MixtureOneClassSVM(),
    SVCSearch(C=[1, 100], gamma=[0.1, 1], cv=2),
]


def exceptions(estimator):
    """What cannot hold, and why."""
    return {
        "check_classifiers_classes": "-1 means unlabelled, but the check has it as a class",
        "check_sample_weight_equivalence_on_dense_data": "weights are those of labels; every row counts in the density",
    }


@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning", "ignore::mixkern.errors.DensityChoiceWarning")
@parametrize_with_checks(MACHINES, expected_failed_checks=exceptions)
def test_keeps_scikit_learns_contract(estimator, check):
    check(estimator)
