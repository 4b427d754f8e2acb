"""The deformed kernel in libsvm's dual against the Laplacian SVM of the literature, trained in the primal.

Why they are the same. Let g = K alpha, a function in the kernel's space without its intercept, f = g + b. With
ratio = gamma_i / gamma_a, the primal problem of ``primal.py`` is

    sum xi_i^2 + gamma_a (|g|^2 + ratio g' L g),    xi_i = max(0, 1 - y_i f_i) over labelled rows.

The bracket is the squared norm of g in the space of the deformed kernel k~: that is how k~ is defined. Divided by
2 gamma_a this is a support vector machine with squared slacks,

    1/2 |g|~^2 + C_eff sum xi_i^2,    C_eff = 1 / (2 gamma_a).

Its Lagrangian has a_i = 2 C_eff xi_i, which turns the loss into - sum a_i^2 / (4 C_eff):

    max over a >= 0, y'a = 0 of    sum a_i - 1/2 sum a_i a_j y_i y_j (k~(x_i, x_j) + [i = j] / (2 C_eff)).

No upper limit is left, so libsvm solves it as a hard margin (a C that no a reaches) on K~ + I / (2 C_eff), that is on
K~ + gamma_a I, among labelled rows only. New rows meet k~ without the ridge: f(x) = sum a_i y_i k~(x_i, x) + b.

libsvm keeps kernel values as 32 bit floats. So the two agree to about 1e-7, and no tolerance makes that better.
"""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mixkern import VBMixture, datasets
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel, definiteness
from mixkern.kernels.graph import graph_laplacian
from mixkern.svm import classifier

HARD = 1e8  # far above every coefficient, and tested to be so
BASES = {  # local ones: where they reach far, GMM and RWM are not definite, and the primal problem has no minimum
    "rbf": lambda mixture: RBFKernel(5.0),
    "gmm": lambda mixture: GMMKernel(mixture, 8.0),
    "rwm": lambda mixture: RWMKernel(mixture, 8.0),
}


def _loaded(name):
    """With --import-mode=importlib tests cannot import their neighbours."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


primal = _loaded("primal")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with threadpool_limits(1):  # matrices of a hundred rows: threads only wait for each other
        yield


@pytest.fixture(scope="module", params=[(0, 4, 0.01), (1, 20, 0.1), (2, 10, 1.0)], ids=lambda given: f"seed{given[0]}")
def moons(request):
    seed, n_labels, gamma_a = request.param
    X, codes = datasets.make_two_moons(n=110, random_state=seed)
    random = np.random.RandomState(seed)
    labelled = np.concatenate([random.choice(np.flatnonzero(codes == c), n_labels // 2, replace=False) for c in (0, 1)])
    y = np.zeros(len(X))
    y[labelled] = np.where(codes[labelled] == 0, 1, -1)  # a dual speaks for the first class
    mixture = VBMixture(n_components=6, random_state=seed).fit(X).mixture_
    new = datasets.make_two_moons(n=40, random_state=seed + 100)[0]
    return SimpleNamespace(X=X, codes=codes, y=y, labelled=labelled, mixture=mixture, new=new, gamma_a=gamma_a)


def problem_of(moons, base, ratio):
    L = graph_laplacian(base.distance(moons.X), 7).toarray()
    return primal.Problem(base(moons.X), L, moons.y, moons.gamma_a, ratio * moons.gamma_a)


def trained(kernel, moons):
    """The dual of a hard margin on labelled rows, with the ridge that stands for squared slacks."""
    rows = moons.X[moons.labelled]
    ridge = moons.gamma_a * np.eye(len(rows))
    dual = classifier(kernel(rows) + ridge, moons.codes[moons.labelled], C=HARD, tol=1e-10)
    assert dual.converged
    assert np.abs(dual.coefficients).max() < HARD / 1e3
    return lambda X: dual.decision(kernel(X, rows))[:, 0]


@pytest.mark.parametrize("ratio", [0.01, pytest.param(1.0, marks=pytest.mark.slow), 100.0])
@pytest.mark.parametrize("name", BASES)
def test_the_deformed_kernel_is_the_laplacian_svm(moons, name, ratio):
    base = BASES[name](moons.mixture)
    assert definiteness(base(moons.X)).smallest > -1e-9
    problem = problem_of(moons, base, ratio)
    dual = trained(LaplacianKernel(base, moons.X, ratio=ratio), moons)
    for solve in (primal.newton, primal.conjugate_gradient):
        z = solve(problem)
        np.testing.assert_allclose(dual(moons.X), problem.outputs(z), atol=1e-6)
        np.testing.assert_allclose(dual(moons.new), base(moons.new, moons.X) @ z[1:] + z[0], atol=1e-6)


@pytest.mark.parametrize("name", BASES)
def test_ratio_zero_is_the_base_kernel(moons, name):
    base = BASES[name](moons.mixture)
    kernel, z = LaplacianKernel(base, moons.X, ratio=0.0), primal.newton(problem_of(moons, base, 0.0))
    np.testing.assert_allclose(trained(kernel, moons)(moons.new), trained(base, moons)(moons.new), atol=1e-13)
    np.testing.assert_allclose(trained(base, moons)(moons.new), base(moons.new, moons.X) @ z[1:] + z[0], atol=1e-6)
    np.testing.assert_allclose(z[1:][moons.y == 0], 0, atol=1e-12)  # without a graph, unlabelled rows say nothing


def test_the_power_of_the_laplacian(moons):
    base = RBFKernel(5.0)
    problem = problem_of(moons, base, 10.0)
    squared = primal.Problem(problem.K, problem.L @ problem.L, problem.y, problem.gamma_a, problem.gamma_i)
    dual = trained(LaplacianKernel(base, moons.X, ratio=10.0, degree=2), moons)
    np.testing.assert_allclose(dual(moons.X), squared.outputs(primal.newton(squared)), atol=1e-6)


# ---------------------------------------------------------------- the references themselves


def test_the_gradient_is_the_objectives(moons):
    problem = problem_of(moons, RBFKernel(5.0), 1.0)
    random = np.random.RandomState(0)
    z = random.standard_normal(1 + len(moons.X)) / 10
    for _ in range(5):
        step = 1e-6 * random.standard_normal(len(z))
        slope = (problem.objective(z + step) - problem.objective(z - step)) / 2
        assert slope == pytest.approx(2 * problem.gradient(z) @ step, rel=1e-4)


@pytest.mark.parametrize("ratio", [0.0, 1.0, 100.0])
def test_both_references_find_the_minimum(moons, ratio):
    problem = problem_of(moons, RBFKernel(5.0), ratio)
    exact, close = primal.newton(problem), primal.conjugate_gradient(problem)
    assert np.abs(problem.preconditioned(exact)).max() < 1e-9
    np.testing.assert_allclose(problem.outputs(close), problem.outputs(exact), atol=1e-7)
    random = np.random.RandomState(0)
    for size in (1e-3, 1e-1):
        for _ in range(20):
            assert problem.objective(exact + size * random.standard_normal(len(exact))) > problem.objective(exact)


def test_a_line_search_ends_where_the_line_is_lowest(moons):
    problem = problem_of(moons, RBFKernel(5.0), 1.0)
    random = np.random.RandomState(0)
    for _ in range(5):
        z = random.standard_normal(1 + len(moons.X)) / 10
        direction = -problem.preconditioned(z)
        s = primal.best_step(problem, z, direction)
        lowest = problem.objective(z + s * direction)
        assert all(problem.objective(z + t * direction) >= lowest - 1e-12 for t in s * np.linspace(0, 2, 41))
