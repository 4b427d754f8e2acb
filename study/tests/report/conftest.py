"""A small study with a strange name in it, and no figures that take long."""

import matplotlib.pyplot as plt
import pytest

from mixkern_study import KERNELS, Result, Store
from mixkern_study.plot.paper import PaperFigure
from mixkern_study.report import content

STRANGE = "A & B <c>"


@pytest.fixture(scope="package")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("study") / "paper.sqlite")
    store.add(
        Result(
            experiment=experiment,
            data_set=data_set,
            fold=fold,
            repeat=0,
            method=method,
            reading=reading,
            accuracy=0.6 + 0.05 * KERNELS.index(method) + fold / 100,
            n_labelled=12,
            n_support=9,
            smallest_eigenvalue=-0.5 if method == "rwm" else float("nan"),
            negative_mass=0.1 if method == "rwm" else float("nan"),
        )
        for experiment in (1, 2)
        for data_set in ("iris", "wine", STRANGE)
        for fold in range(5)
        for method in KERNELS
        for reading in ("expected_error", "optimistic", "ceiling")
    )
    return store


@pytest.fixture(scope="module")
def few_figures():
    """Stand in for the paper's figures, which take a minute."""

    def draw():
        figure, ax = plt.subplots(figsize=(3, 2))
        ax.plot([0, 1], [1, 0])
        return figure

    small = PaperFigure(
        name="small", number="99", title="A small & plain one", caption="It shows <nothing>.", draw=draw
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "paper_figures", lambda: {"small": small})
        yield
