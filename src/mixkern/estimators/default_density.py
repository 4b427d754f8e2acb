"""Which density to learn where nobody has said anything about it."""

from typing import Any

from mixkern.density import CovarianceType, VBMixture
from mixkern.density.priors import PrecisionPrior
from mixkern.errors import DensityChoiceWarning, hint, warn
from mixkern.estimators.kernel_factory import KernelName
from mixkern.kernels import BlendKernel

MOST_COLUMNS = 500  # of a full covariance: 20 of them take 40 MB, and each row costs a quarter of a million products


def suited_prior(kernel: Any) -> PrecisionPrior:
    """Give the prior of the density that suits a kernel best, by measurement (docs/accuracy.md).

    The blend smooths the metrics by itself, and wants the likeliest density; others want a smooth one.

    >>> suited_prior("blend"), suited_prior("rwm")
    (<PrecisionPrior.EVIDENCE: 'evidence'>, <PrecisionPrior.TYPICAL: 'typical'>)
    """
    is_blend = kernel == KernelName.BLEND or isinstance(kernel, BlendKernel)
    return PrecisionPrior.EVIDENCE if is_blend else PrecisionPrior.TYPICAL


def suited_density(prior: str, n: int, d: int, random_state: Any = None) -> VBMixture:
    """Give the density for n rows of d continuous columns: with diagonal covariances where full ones are too many.

    >>> str(suited_density("typical", n=100, d=3).covariance_type)
    'full'
    """
    kind = CovarianceType.FULL
    if d > 1 and (n < 2 * (d + 1) or d > MOST_COLUMNS):
        kind = CovarianceType.DIAG
        warn(
            f"{n} rows of {d} continuous columns: too {'few rows' if n < 2 * (d + 1) else 'many columns'} for full "
            "covariances, so diagonal ones are used.",
            DensityChoiceWarning,
            hint=hint(
                python="Choose them yourself: density=VBMixture(covariance_type='diag'), or reduce the columns first.",
                cli="Fewer columns may do better: --drop COLUMNS.",
            ),
        )
    return VBMixture(covariance_type=kind, precision_prior=prior, random_state=random_state)
