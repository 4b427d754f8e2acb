import numpy as np
import pytest

from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.inference import CHANCE
from mixkern.density.merger import merger_gains
from mixkern.density.posterior import Prior
from mixkern.density.start import _hard_statistics


def prior_of(kind, d):
    return Prior(
        PRECISIONS[kind], 0.3, np.linspace(-0.5, 0.5, d), 0.7, d + 1.5, PRECISIONS[kind].isotropic(0.8, d), 0.6
    )


def deal(X, codes, owners, k, kind):
    return _hard_statistics(X, codes, None, [4], owners, k, is_diagonal=kind.is_diagonal)


def log_evidence(X, codes, owners, k, kind):
    """ln p(X, Z), literally: E[ln p(X, Z | theta)] less the divergence from the prior, which is exact for known Z."""
    prior = prior_of(kind, X.shape[1])
    posterior = prior.posterior(deal(X, codes, owners, k, kind))
    total = -posterior.divergence(prior)
    for x, code, z in zip(X, codes[:, 0], owners, strict=True):
        offset, precision = x - posterior.means[z], posterior.precisions[z]
        square = offset @ precision @ offset if precision.ndim == 2 else precision @ offset**2
        total += posterior.log_constants[z] - 0.5 * square + posterior.log_categories[0][z, int(code)]
    return total


@pytest.mark.parametrize("kind", list(CovarianceType))
@pytest.mark.parametrize("d", [1, 3])
def test_gains_are_differences_of_the_log_evidence(kind, d):
    random = np.random.RandomState(0)
    k, n = 4, 40
    owners = np.append(np.arange(k), random.randint(k, size=n - k))
    X = random.standard_normal((n, d)) + owners[:, None]
    codes = random.randint(4, size=(n, 1)).astype(float)
    before = log_evidence(X, codes, owners, k, kind)
    first, second, gains = merger_gains(deal(X, codes, owners, k, kind), prior_of(kind, d))
    assert len(gains) == 6
    for i, j, gain in zip(first, second, gains, strict=True):
        merged = np.where(owners == j, i, owners)
        merged = merged - (merged > j)
        assert gain == pytest.approx(log_evidence(X, codes, merged, k - 1, kind) - before, abs=1e-8)


def test_halves_of_one_cluster_promise_more_than_two_clusters():
    random = np.random.RandomState(0)
    X = np.r_[random.standard_normal((80, 2)), random.standard_normal((80, 2)) + 8]
    owners = np.r_[random.randint(2, size=80), np.full(80, 2)]
    statistics = deal(X, np.zeros((160, 1)), owners, 3, CovarianceType.FULL)
    first, second, gains = merger_gains(statistics, prior_of(CovarianceType.FULL, 2))
    assert (first[np.argmax(gains)], second[np.argmax(gains)]) == (0, 1)
    assert gains.max() > 0
    assert sorted(gains)[1] < -CHANCE  # such a merger is not even tried
