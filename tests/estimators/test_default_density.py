import pytest

from mixkern.errors import DensityChoiceWarning
from mixkern.estimators.default_density import suited_density, suited_prior
from mixkern.kernels import BlendKernel, RWMKernel


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap", RWMKernel()])
def test_others_want_a_smooth_density(kernel):
    assert suited_prior(kernel) == "typical"


@pytest.mark.parametrize("kernel", ["blend", BlendKernel()])
def test_the_blend_wants_the_likeliest(kernel):
    assert suited_prior(kernel) == "evidence"


def test_few_rows_of_many_columns_have_diagonal_covariances():
    with pytest.warns(DensityChoiceWarning, match="10 rows of 5 continuous columns: too few rows"):
        density = suited_density("evidence", 10, 5, 7)
    assert (str(density.covariance_type), density.precision_prior, density.random_state) == ("diag", "evidence", 7)
    assert str(suited_density("evidence", 12, 5).covariance_type) == "full"
