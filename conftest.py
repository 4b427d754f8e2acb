"""What every test and doctest may rely on."""

from collections.abc import Iterator

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

mpl.use("Agg")  # no window, wherever the tests run


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Leave no picture open: pyplot remembers them all, and complains from the twentieth on."""
    yield
    plt.close("all")
