"""What goes into a file, and what does not."""

import numpy as np
import pytest

from mixkern import MixtureSVC, VBMixture
from mixkern.density import BoundRecorder, CovarianceType
from mixkern.errors import ModelFileError
from mixkern.kernels import LaplacianKernel, RBFKernel
from mixkern.storage.state import state_of, type_name

from .example import answers, numbers, table


def test_plain_values_stay():
    for value in (None, True, 3, 0.5, "text", [1, "a"], (1.0, None)):
        assert state_of(value) == value
        assert type(state_of(value)) is type(value)


def test_numbers_of_numpy_become_pythons():
    assert [type(state_of(value)) for value in (np.int64(1), np.float32(0.5), np.bool_(True))] == [int, float, bool]


def test_keys_keep_their_types():
    assert state_of({False: 1, 2: 0.5, "a": None}) == [(False, 1), (2, 0.5), ("a", None)]


def test_what_only_a_fit_needs_is_left_out(models):
    answers(models["svc"], table())
    state = state_of(models["svc"])
    assert type(state) is MixtureSVC
    assert set(vars(vars(state)["_decision"])) == {"support", "coefficients"}  # its kernel is kernel_
    assert not {"_ascent", "_early"} & set(vars(state.density_))
    assert models["svc"].density_.__dict__.keys() >= {"_ascent", "_early"}  # the model itself keeps it
    density = VBMixture(covariance_type=CovarianceType.DIAG).set_callbacks(BoundRecorder())
    assert not hasattr(state_of(density), "_skl_callbacks")


def test_caches_are_left_out():
    kernel = LaplacianKernel(RBFKernel(), numbers().tolist())
    kernel(numbers())
    assert {"graph", "deformation"} <= set(vars(kernel))
    state = state_of(kernel)
    assert set(vars(state)) == set(kernel.get_params(deep=False))
    assert state.rows.dtype == float


@pytest.mark.parametrize("thing", [object(), {1, 2}, b"bytes", print, np.random.default_rng(0), 1j])
def test_other_things_are_refused_by_name(thing):
    with pytest.raises(ModelFileError, match="the model holds a ") as caught:
        state_of(thing)
    assert type_name(thing) in str(caught.value)
