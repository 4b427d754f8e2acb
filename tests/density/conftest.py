"""What the density's tests share: the literal formulas, priors of every kind, statistics of given responsibilities."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.factor_statistics import FactorStatistics
from mixkern.density.mixture import Mixture
from mixkern.density.posterior import Prior
from mixkern.density.statistics import Statistics
from mixkern.threads import ThreadPool

KINDS = ["full", "tied", "diag", "spherical"]  # factors have tests of their own, test_factor*.py


@pytest.fixture(scope="session")
def literal():
    """The module of slow formulas; with --import-mode=importlib tests cannot import their neighbours."""
    spec = importlib.util.spec_from_file_location("literal", Path(__file__).with_name("literal.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def pool():
    with ThreadPool(2) as executor:
        yield executor


@pytest.fixture(scope="session")
def make_prior():
    def make(kind, d, *, alpha0=0.7, beta0=1.3, m0=0.2, inverse=None, nu0=None, category=0.8):
        precision = PRECISIONS[CovarianceType(kind)]
        if inverse is None:
            inverse = precision.isotropic(1.7, d)
            if precision.covariance_type in ("full", "tied"):
                inverse = inverse + 0.3 * np.ones((d, d))
            elif precision.covariance_type == "diag":
                inverse = inverse + 0.1 * np.arange(d)
        return Prior(
            precision=precision,
            concentration=alpha0,
            mean=np.full(d, float(m0)),
            mean_precision=beta0,
            degrees=d + 0.5 if nu0 is None else nu0,
            inverse_scale=inverse,
            category_concentration=category,
        )

    return make


@pytest.fixture(scope="session")
def statistics_of():
    """Statistics of rows without gaps, given responsibilities (n, k)."""

    def statistics(X, shares, *, is_diagonal, codes=None, n_slots=(), origin=0.0):
        k, d = shares.shape[1], X.shape[1]
        origins = np.full((k, d), float(origin))
        squares = [np.einsum("n,ni,nj->ij", shares[:, j], X - origins[j], X - origins[j]) for j in range(k)]
        tables = [np.zeros((k, n)) for n in n_slots]
        for e, table in enumerate(tables):
            for n, code in enumerate(codes[:, e]):
                if not np.isnan(code):
                    table[:, int(code)] += shares[n]
        return Statistics(
            counts=shares.sum(axis=0),
            sums=np.stack([shares[:, j] @ (X - origins[j]) for j in range(k)]),
            squares=np.array([np.diagonal(each) for each in squares]) if is_diagonal else np.array(squares),
            origins=origins,
            category_counts=tuple(tables),
            log_normaliser=0.0,
        )

    return statistics


@pytest.fixture(scope="session")
def factor_statistics_of(statistics_of):
    """Statistics of rows without gaps, given responsibilities (n, k) and factors (k, n, q) of unit covariance."""

    def statistics(X, shares, factors, **categories):
        k, _, q = factors.shape
        plain = statistics_of(X, shares, is_diagonal=True, **categories)
        squares = [(factors[j] * shares[:, j, None]).T @ factors[j] + shares[:, j].sum() * np.eye(q) for j in range(k)]
        return FactorStatistics(
            **{name: getattr(plain, name) for name in Statistics.__dataclass_fields__},
            factor_sums=np.array([shares[:, j] @ factors[j] for j in range(k)]).reshape(k, q),
            factor_squares=np.array(squares).reshape(k, q, q),
            products=np.array([X.T @ (factors[j] * shares[:, j, None]) for j in range(k)]).reshape(k, X.shape[1], q),
            relevances=np.tile(np.linspace(1.5, 0.5, q), (k, 1)),
            log_pivots=np.zeros((k, q)),
            most_factors=max(X.shape[1] - 1, 0),
        )

    return statistics


@pytest.fixture(scope="session")
def make_mixture():
    """A random mixture of any kind, and a generator that goes on."""

    def make(kind, k, d, n_categories=(), seed=0):
        random = np.random.default_rng(seed)
        factors = random.normal(size=(k, d, d)) + 1.5 * np.eye(d)
        covariances = {
            "full": factors @ np.swapaxes(factors, 1, 2),
            "tied": factors[0] @ factors[0].T,
            "diag": random.uniform(0.3, 2, (k, d)),
            "spherical": random.uniform(0.3, 2, k),
            "factor": random.uniform(0.3, 2, (k, d)),
            "common": random.uniform(0.3, 2, d),
        }[kind]
        loadings = factors[:, :, :2] if kind in ("factor", "common") else None
        tables = [random.dirichlet(np.ones(n), size=k) for n in n_categories]
        weights, means = random.dirichlet(np.ones(k)), random.normal(size=(k, d)) * 2
        if kind == "common":  # all in the space of the first component's factors
            means = means[:1] + means[:, :2] @ loadings[0].T
            loadings = loadings[0] @ random.normal(size=(k, loadings.shape[2], loadings.shape[2]))
        return Mixture(weights, means, covariances, kind, tables, loadings)

    return make
