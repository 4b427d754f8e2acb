"""Parts of the E-step in NumPy: categories, and the features and responsibilities of factors."""

import numpy as np
from scipy.sparse import csr_array

from mixkern.density import gpu_table
from mixkern.density.block import Block
from mixkern.density.mixture import category_log_densities, category_slots
from mixkern.density.posterior import Posterior
from mixkern.gpu_array import is_cupy
from mixkern.typing import Floats


def parameters_of(posterior: Posterior) -> Floats:  # (k, p)
    """Coefficients of phi(x) in ln rho_nk, where columns are independent."""
    linear = posterior.precisions * posterior.means
    constant = posterior.log_constants - 0.5 * np.einsum("ki,ki->k", linear, posterior.means)
    return np.hstack([-0.5 * posterior.precisions, linear, constant[:, None]])


def features_of(values: Floats) -> Floats:  # (p, n)
    """Give phi(x): squares, then x, then 1."""
    d, n = values.shape
    features = np.empty((2 * d + 1, n))
    np.multiply(values, values, out=features[:d])
    features[d:-1] = values
    features[-1] = 1.0
    return features


def responsibilities(log_rho: Floats, weights: Floats | None) -> tuple[Floats, float]:
    """Turn ln rho_nk (k, n) into weighted responsibilities (10.49), in place, and add up ln sum_k rho_nk."""
    largest = log_rho.max(axis=0)
    log_rho -= largest
    np.exp(log_rho, out=log_rho)
    normalisers = log_rho.sum(axis=0)
    log_normalisers = np.log(normalisers) + largest
    log_rho *= (1.0 if weights is None else weights) / normalisers
    return log_rho, float(log_normalisers.sum() if weights is None else weights @ log_normalisers)


def log_categories(block: Block, posterior: Posterior) -> Floats:  # (k, n)
    """Part of the categories in ln rho_nk."""
    return category_log_densities(block.codes.T, posterior.log_categories, posterior.n_components).T


def category_counts(block: Block, shares: Floats, posterior: Posterior) -> tuple[Floats, ...]:
    """Count categories, each row with its share in each component."""
    if is_cupy(block.codes):
        n_slots = tuple(table.shape[1] for table in posterior.category_concentrations)
        return gpu_table.category_counts(block.codes.T, shares.T, n_slots)
    counts = []
    for codes, table in zip(block.codes, posterior.category_concentrations, strict=True):
        there = np.flatnonzero(~np.isnan(codes))
        slots = category_slots(codes[there], table.shape[1])
        # Sparse: a column may have thousands of categories, of which each row has one.
        is_one = csr_array((np.ones(len(there)), (slots, there)), shape=(table.shape[1], len(codes)))
        counts.append((is_one @ shares.T).T)
    return tuple(counts)
