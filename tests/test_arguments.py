"""Wrong arguments: the error names the class of the object, not the base class that defines the method."""

import inspect

import numpy as np
import pytest

import mixkern
from mixkern import (
    DensitySearch,
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
)
from mixkern.arguments import named_arguments
from mixkern.errors import ArgumentError, OptionError

ESTIMATORS = (
    DensitySearch,
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    SVCSearch,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
)
X = np.zeros((4, 2))


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_fit_names_the_public_class(kind):
    takes = ["X", "y", *list(inspect.signature(kind.fit).parameters)[3:]]
    text = f"{', '.join(takes[:-1])} and {takes[-1]}"
    with pytest.raises(ArgumentError) as caught:
        kind().fit(X, groups=[1, 2, 3, 4])
    assert str(caught.value) == f"{kind.__name__}.fit has no parameter 'groups'. It takes {text}."


@pytest.mark.parametrize("kind", [DensitySearch, TableEncoder])
def test_sample_weight_where_there_is_none(kind):
    with pytest.raises(ArgumentError, match=rf"^{kind.__name__}\.fit has no parameter 'sample_weight'\. It takes X"):
        kind().fit(X, sample_weight=np.ones(4))


METHODS = ("assess", "decision_function", "explain", "novelty", "predict", "predict_proba", "responsibilities", "score")


@pytest.mark.parametrize("kind", ESTIMATORS[1:6], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", METHODS)
def test_no_message_names_a_class_that_is_not_public(kind, method):
    if not hasattr(kind, method):
        return
    with pytest.raises(TypeError) as caught:
        getattr(kind(), method)(X, nothing=1)
    name = str(caught.value).partition(".")[0]
    assert name == kind.__name__
    assert hasattr(mixkern, name)


def test_typos_and_missing_arguments():
    with pytest.raises(ArgumentError, match=r"no parameter 'sample_weigth'\. Did you mean 'sample_weight'\?"):
        TransductiveSVC().fit(X, [0, 1, -1, -1], sample_weigth=1)
    with pytest.raises(ArgumentError, match=r"^TransductiveSVC\.fit: missing a required argument: 'y'\. It takes X, y"):
        TransductiveSVC().fit(X)
    with pytest.raises(ArgumentError, match=r"^MixtureSVR\.predict: too many positional arguments\. It takes X\.$"):
        MixtureSVR().predict(X, X)


def test_it_is_both_an_error_of_mixkern_and_of_python():
    with pytest.raises(OptionError):
        TransductiveSVC().fit(X, [0, 1, -1, -1], groups=1)
    with pytest.raises(TypeError):
        TransductiveSVC().fit(X, [0, 1, -1, -1], groups=1)


def test_errors_inside_a_method_are_its_own():
    class Broken:
        @named_arguments
        def run(self, X):
            raise TypeError("inside")

    with pytest.raises(TypeError, match=r"^inside$"):
        Broken().run(1)
    assert list(inspect.signature(Broken.run).parameters) == ["self", "X"]
