"""The Laplacian SVM: rows that are connected through others get the same label."""

from typing import Any

import numpy as np

from mixkern.errors import OptionError
from mixkern.estimators.base import MOST_ROWS
from mixkern.estimators.kernel_factory import KernelName
from mixkern.estimators.subsample import drawn
from mixkern.estimators.svc import MixtureSVC
from mixkern.kernels import LaplacianKernel
from mixkern.typing import Floats


class LaplacianSVC(MixtureSVC):
    """Classify a table from a handful of labels, along the graph of all its rows.

    Each row is joined with its nearest neighbours, and a function that changes along the edges of this graph is
    costly. libsvm with a kernel bent accordingly *is* the Laplacian SVM, several classes and new rows included. Any
    kernel can be bent: RWM under a Laplacian combines a parametric and a non-parametric view of the same rows.

    Parameters
    ----------
    kernel : {"rbf", "rwm", "gmm"} or Kernel, default="rbf"
        What is bent; see :class:`MixtureSVC`.
    ratio : float, default=100.0
        gamma_I / gamma_A: how much the graph counts against the kernel; 0 is the kernel alone.
    n_neighbors : int, default=7
        Neighbours of each row in the graph.
    degree : int, default=1
        Power of the graph's Laplacian.
    max_rows : int, default=5000
        Rows of the graph: with more, all labelled ones and some others, drawn at random. Time grows with its cube.
    density : VBMixture or Mixture, default=None
        As in :class:`MixtureSVC`. With ``"rbf"`` it only fills gaps.
    C : float or "auto", default=100.0
        What an error on a labelled row costs.
    gamma : float, "scale" or "local", default="local"
        How local the kernel is: ``"scale"`` is one over the median squared distance between rows, ``"local"`` ten times
        as much, because the graph sees to what is further away.
    alpha, beta, class_weight, encoder, probability, repair, tol, max_iter, random_state
        As in :class:`MixtureSVC`.

    Attributes
    ----------
    kernel_ : LaplacianKernel
        The bent kernel.
    classes_, support_, n_support_, mixture_, ...
        As in :class:`MixtureSVC`.

    Examples
    --------
    >>> from mixkern import LaplacianSVC, datasets
    >>> moons = datasets.load("two_moons")
    >>> model = LaplacianSVC().fit(moons.X, moons.few_labels(per_class=4, random_state=0))
    >>> bool(model.score(moons.X, moons.y) > 0.9)
    True
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        ratio: float = 100.0,
        n_neighbors: int = 7,
        degree: int = 1,
        max_rows: int = MOST_ROWS,
        density: Any = None,
        C: float | str = 100.0,
        gamma: float | str = "local",
        alpha: float = 1.0,
        beta: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        encoder: Any = None,
        probability: bool = True,
        repair: str = "auto",
        tol: float = 1e-3,
        max_iter: int = -1,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            density=density,
            C=C,
            gamma=gamma,
            alpha=alpha,
            beta=beta,
            class_weight=class_weight,
            encoder=encoder,
            probability=probability,
            repair=repair,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.ratio = ratio
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.max_rows = max_rows

    def _bent(self, kernel: Any, rows: Floats, codes: Any, random: np.random.RandomState) -> Any:
        if self.kernel == KernelName.LAP or isinstance(kernel, LaplacianKernel):
            raise OptionError("LaplacianSVC bends its kernel itself: give the one to be bent, such as kernel='rbf'.")
        graph = rows[drawn(len(rows), codes, self.max_rows, random)]
        return LaplacianKernel(kernel, graph, n_neighbors=self.n_neighbors, degree=self.degree, ratio=self.ratio)
