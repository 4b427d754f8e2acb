"""Parts that do not fit together are found before anybody predicts with them."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from mixkern import Mixture
from mixkern.errors import ModelFileError
from mixkern.kernels import RBFKernel, RWMKernel
from mixkern.storage.verify import check_sound


def changed(model, **parts):
    other = copy(model)
    vars(other).update(parts)
    return other


def test_fitted_models_are_sound(models):
    for model in models.values():
        before = set(vars(model))
        check_sound(model)
        assert set(vars(model)) == before


@pytest.mark.parametrize(
    ("name", "part", "what"),
    [
        ("n_features_in_", 5, "number of columns"),
        ("feature_names_in_", np.array(["a"], dtype=object), "names of columns"),
        ("support_", np.arange(2), "support vectors and mixture"),
        ("dual_coef_", np.zeros((3, 1)), "support vectors and coefficients"),
        ("intercept_", np.zeros(2), "coefficients"),
        ("classes_", np.array(["a", "b"], dtype=object), "support vectors and classes"),
        ("n_support_", np.zeros(4, dtype=int), "support vectors and classes"),
        ("mixture_", Mixture([1.0], [[0.0]], [[[1.0]]]), "encoder and mixture"),
    ],
)
def test_shapes_must_agree(models, name, part, what):
    with pytest.raises(ModelFileError, match=f"do not fit together: .*{what}"):
        check_sound(changed(models["svc"], **{name: part}))


@pytest.mark.parametrize("part", [{"support": np.zeros((2, 4))}, {"coefficients": np.zeros((1, 3))}])
def test_the_decision_function_has_a_coefficient_for_each_row(models, part):
    decision = replace(vars(models["svc"])["_decision"], **part)
    with pytest.raises(ModelFileError, match="do not fit together: rows and coefficients"):
        check_sound(changed(models["svc"], _decision=decision))


def test_the_density_is_that_of_the_mixture(models):
    mixture = models["svc"].mixture_
    other = replace(mixture, means=mixture.means + 1)
    with pytest.raises(ModelFileError, match="density and mixture"):
        check_sound(changed(models["svc"], mixture_=other))


def test_novelty_has_the_columns_of_the_mixture(models):
    novelty = replace(vars(models["svc"])["_novelty"], rows=np.zeros((2, 1)))
    with pytest.raises(ModelFileError, match="training rows and mixture"):
        check_sound(changed(models["svc"], _novelty=novelty))


@pytest.mark.parametrize("order", [[0, 1, 2, 2], [3, 2, 1, 0], [], [0, 1, 2, 9]])
def test_the_order_of_columns(models, order):
    with pytest.raises(ModelFileError, match="order of columns"):
        check_sound(changed(models["encoder"], _order=order))


def test_columns_have_names_of_their_own(models):
    encoder = models["encoder"]
    twice = (encoder.columns_[0], *encoder.columns_[:3])
    with pytest.raises(ModelFileError, match="order of columns"):
        check_sound(changed(encoder, columns_=twice))


@pytest.mark.parametrize("kernel", [RBFKernel(n_categorical=0), RBFKernel(gamma="x"), RWMKernel()])
def test_a_kernel_that_cannot_read_the_rows_is_found_by_trying(models, kernel):
    decision = replace(vars(models["svc"])["_decision"], kernel=kernel)
    with pytest.raises(Exception, match=r"codes|gamma|no mixture|features|gaps|NaN"):
        check_sound(changed(models["svc"], _decision=decision, kernel_=kernel))


def test_an_unfitted_model_is_not_sound(models):
    model = changed(models["svc"])
    del vars(model)["mixture_"]
    with pytest.raises(AttributeError):
        check_sound(model)
