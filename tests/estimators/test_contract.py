"""scikit-learn's checks for estimators: quick variants always, the defaults among the slow tests."""

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
    VBMixture,
)

SMALL = VBMixture(n_components=3, covariance_type="diag", tol=0.1)
QUICK = [
    MixtureSVC(density=SMALL),
    LaplacianSVC(density=SMALL, probability=False),
    TransductiveSVC(density=SMALL, probability=False),
    QuasiNewtonS3VC(density=SMALL, probability=False),
    MixtureSVR(density=SMALL),
    MixtureOneClassSVM(density=SMALL),
    SVCSearch(MixtureSVC(density=SMALL, probability=False), C=[1], gamma=[0.1, 1], cv=2),
]
DEFAULTS = [
    MixtureSVC(),
    MixtureSVC(kernel="rbf"),
    LaplacianSVC(),
    TransductiveSVC(),
    QuasiNewtonS3VC(),
    MixtureSVR(),
    MixtureOneClassSVM(),
    SVCSearch(C=[1, 100], gamma=[0.1, 1], cv=2),
]
allowed = pytest.mark.filterwarnings(
    "ignore::mixkern.errors.ColumnChoiceWarning", "ignore::mixkern.errors.DensityChoiceWarning"
)


def exceptions(estimator):
    """Checks that cannot pass, and why."""
    return {
        "check_classifiers_classes": "-1 means unlabelled, but the check has it as a class",
        "check_sample_weight_equivalence_on_dense_data": "weights are those of labels; every row counts in the density",
    }


@allowed
@parametrize_with_checks(QUICK, expected_failed_checks=exceptions)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@allowed
@parametrize_with_checks(DEFAULTS, expected_failed_checks=exceptions)
def test_scikit_learns_checks_with_defaults(estimator, check):
    check(estimator)
