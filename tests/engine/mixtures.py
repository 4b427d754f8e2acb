"""Random mixtures and rows for the tests of the engine."""

from dataclasses import dataclass

import numpy as np

from mixkern.engine.dispatch import core

ISAS = core().isas() if core() else []


@dataclass
class Case:
    A: np.ndarray
    shares_A: np.ndarray  # noqa: N815
    B: np.ndarray
    shares_B: np.ndarray  # noqa: N815
    whiteners: np.ndarray

    @property
    def both(self):
        return self.A, self.shares_A, self.B, self.shares_B

    @property
    def one(self):
        return self.A, self.shares_A


def whiteners(random, k, d, *, is_diagonal=False, condition=10.0):
    """Inverse Cholesky factors with a bounded condition number: the metric itself must not eat the digits."""
    sizes = np.exp(random.uniform(0, np.log(condition), (k, d)))
    if is_diagonal:
        return sizes
    found = np.empty((k, d, d))
    for i in range(k):
        rotation = np.linalg.qr(random.standard_normal((d, d)))[0]
        found[i] = np.linalg.cholesky((rotation * sizes[i] ** 2) @ rotation.T)
    return found


def case(seed, n, m, k, d, *, is_diagonal=False, offset=0.0, sharpness=1.0):
    """Rows around an offset; the larger the sharpness, the closer responsibilities are to zero and one."""
    random = np.random.RandomState(seed)
    A, B = (offset + random.standard_normal((size, d)) for size in (n, m))
    logits = [sharpness * random.standard_normal((size, k)) for size in (n, m)]
    shares = [np.exp(x - x.max(axis=1, initial=0, keepdims=True)) for x in logits]
    shares_A, shares_B = (x / x.sum(axis=1, keepdims=True) for x in shares)
    return Case(A, shares_A, B, shares_B, whiteners(random, k, d, is_diagonal=is_diagonal))


def separated(seed, n, k, d, leak=1e-20):
    """Rows that belong to one component each, all but for a leak."""
    found = case(seed, n, max(1, n // 3), k, d)
    random = np.random.RandomState(seed + 1)
    for shares in (found.shares_A, found.shares_B):
        shares[:] = leak
        shares[np.arange(len(shares)), random.randint(k, size=len(shares))] = 1.0
    return found
