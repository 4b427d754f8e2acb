"""Names and defaults of parameters that commands have as options: light to import, for help and errors in options."""

from enum import StrEnum

AUDIT = 0.2  # share of rows to label that are drawn at random
OVERLAP = 0.1  # share of a person's rows that another one has labelled before
STANDARD_OUTPUT = "-"  # as the name of a file
REQUEST_MIB, REQUEST_ROWS, REQUEST_SECONDS = 8, 10_000, 30.0  # limits of a request for predictions
REQUESTS = 100  # that are answered at the same time


class KernelName(StrEnum):
    """Names of kernels."""

    BLEND = "blend"
    RWM = "rwm"
    GMM = "gmm"
    RBF = "rbf"
    LAP = "lap"


class DType(StrEnum):
    """Types of numbers in inputs and outputs of exported models."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
