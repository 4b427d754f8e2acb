import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

from mixkern import Mixture, VBMixture
from mixkern.density import Rows
from mixkern.errors import ExportError
from mixkern.export.density import row_tensors
from mixkern.export.kernel import check_kernel, decision_values, gaussian_terms
from mixkern.kernels import BlendKernel, GMMKernel, RBFKernel, RWMKernel
from mixkern.svm import DecisionFunction


def mixture_of(d, random, k=4, categories=()):
    A = random.randn(k, d, d) * 0.5
    covariances = A @ np.swapaxes(A, 1, 2) + 0.05 * np.eye(d)
    return Mixture(random.dirichlet(np.ones(k)), 2 * random.randn(k, d), covariances, "full", categories)


def decision_of(kernel, support, random, q=3):
    return DecisionFunction(kernel, support, 10 * random.randn(len(support), q), random.randn(q))


def exported(computed, decision, mixture, X):
    d = mixture.n_continuous
    inputs = {"numbers": X[:, :d]} if d else {}
    if mixture.categories:
        inputs["codes"] = np.where(np.isnan(X[:, d:]), -1, X[:, d:]).astype(np.int64)

    def make(graph, numbers=None, codes=None):
        return [decision_values(graph, decision, row_tensors(graph, mixture, numbers, codes))]

    return computed(make, **inputs)[0]


def kernels_of(mixture):
    e = len(mixture.categories)
    return [
        RWMKernel(mixture, 0.3, alpha=0.7, beta=0.2),
        GMMKernel(mixture, 0.3),
        RBFKernel(0.2, n_categorical=e, beta=0.5),
        BlendKernel(mixture, 0.3, share=0.6),
        BlendKernel(mixture, 0.3, share=1.0, membership=0.0, pooling=0.0),
        BlendKernel(mixture, 0.3, share=0.0),
    ]


@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("has_categories", [False, True])
def test_decision_values_are_those_of_the_functions(computed, at, has_categories):
    random = np.random.RandomState(at)
    tables = [random.dirichlet(np.ones(size), 4) for size in (2, 5)] if has_categories else ()
    mixture = mixture_of(3, random, categories=tables)
    kernel = kernels_of(mixture)[at]
    X = mixture.sample(53, random)[0]
    X[random.rand(*X.shape) < 0.2] = np.nan
    support = X[:17] if not isinstance(kernel, RBFKernel) else Rows(X[:17], mixture).filled
    decision = decision_of(kernel, support, random)
    expected = decision(Rows(X, mixture))
    found = exported(computed, decision, mixture, X)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(decision.coefficients).sum(axis=0).max())


@pytest.mark.parametrize("kind", [RWMKernel, BlendKernel])
def test_categories_alone(computed, kind):
    random = np.random.RandomState(0)
    mixture = Mixture([0.4, 0.6], np.empty((2, 0)), np.empty((2, 0, 0)), "full", [random.dirichlet(np.ones(3), 2)] * 2)
    X = np.array([[0.0, 1.0], [2.0, np.nan], [np.nan, np.nan], [5.0, 0.0]])
    decision = decision_of(kind(mixture), X[:3], random)
    np.testing.assert_allclose(exported(computed, decision, mixture, X), decision(Rows(X, mixture)), atol=1e-12)


def test_wide_tables_of_common_factors(computed):
    random = np.random.RandomState(1)
    factors = random.randn(200, 3) + 3 * (np.arange(200) % 2)[:, None]
    X = factors @ random.randn(3, 70) + 0.3 * random.randn(200, 70)
    for kind in ("common", "factor"):
        mixture = VBMixture(covariance_type=kind, random_state=0).fit(X).mixture_
        decision = decision_of(BlendKernel(mixture, 0.02), X[:20], random)
        np.testing.assert_allclose(exported(computed, decision, mixture, X), decision(Rows(X, mixture)), atol=1e-9)


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
def test_near_rows_and_rows_far_from_the_origin(computed, gap):
    random = np.random.RandomState(2)
    near = mixture_of(3, random)
    mixture = Mixture(near.weights, near.means + 1000, near.covariances)
    X = mixture.sample(30, random)[0]
    decision = decision_of(RWMKernel(mixture, 0.5), X, random)
    moved = X + gap * random.randn(*X.shape)
    np.testing.assert_allclose(exported(computed, decision, mixture, moved), decision(Rows(moved, mixture)), atol=1e-9)


def test_terms_of_a_blend():
    mixture = mixture_of(2, np.random.RandomState(3))
    own, plain = gaussian_terms(BlendKernel(mixture, share=0.6, membership=0.5), 2)
    assert (own.share, plain.share) == (pytest.approx(0.3), pytest.approx(0.4))
    assert own.weights is None
    assert plain.metric.shape == (1, 2)


class NearestKernel(RWMKernel):
    def _component_weights(self, rows):
        weights = rows.responsibilities
        return (weights == weights.max(axis=1, keepdims=True)).astype(float)


@pytest.mark.parametrize("kernel", [Matern(), NearestKernel(), RBFKernel() + RBFKernel()])
def test_other_kernels_are_refused(kernel):
    with pytest.raises(ExportError, match=rf"kernel {type(kernel).__name__} cannot be exported.*Or predict in Python"):
        check_kernel(kernel)
