"""The Laplacian SVM: a classifier that varies little between neighbouring rows."""

from typing import Any

from mixkern.defaults import KernelName
from mixkern.density import Rows
from mixkern.errors import OptionError
from mixkern.estimators.avoiding import Unlabelled
from mixkern.estimators.base import MAX_GRAPH_ROWS, limited
from mixkern.estimators.svc import MixtureSVC
from mixkern.kernels import LaplacianKernel
from mixkern.parts import model_part
from mixkern.svm.decision import values_for
from mixkern.typing import RandomState


@model_part("LaplacianSVC")
class LaplacianSVC(MixtureSVC):
    """Laplacian SVM: a classifier for few labels that uses the neighbour graph of all rows.

    Each row is connected with its nearest neighbours, and decision functions that change along the edges of this graph
    are penalised. The penalty is built into the kernel, which is deformed: a C-SVM with the deformed kernel solves the
    same problem as the Laplacian SVM, and handles several classes and new rows; with more than 100 classes it is a
    least-squares SVM, as in :class:`MixtureSVC`. Any kernel can be deformed; with ``"rwm"``, the mixture is used as
    well as the graph. The defaults differ from those of :class:`MixtureSVC`, because with the graph a local Euclidean
    kernel and a large C were more accurate (docs/estimators.md has the figures).

    Parameters
    ----------
    kernel : {"rbf", "blend", "rwm", "gmm"} or Kernel, default="rbf"
        Kernel to deform; see :class:`MixtureSVC`.
    ratio : float, default=100.0
        Weight of the graph's penalty relative to that of the kernel, gamma_I / gamma_A; 0 is the kernel alone.
    n_neighbors : int, default=7
        Number of neighbours that each row is connected with.
    degree : int, default=1
        Power of the graph's Laplacian.
    max_rows : int, default=5000
        Limit for the rows of the graph, because training time grows with the cube of their number. Of more rows, all
        labelled ones and a random sample of the others are used.
    density : VBMixture, DensitySearch or Mixture, default=None
        As in :class:`MixtureSVC`. With ``kernel="rbf"`` it only fills gaps.
    C : float or "auto", default=100.0
        Regularization parameter: the penalty of an error on a labelled row.
    gamma : float, "scale" or "local", default="local"
        Kernel coefficient: ``"scale"`` is one over the median squared distance between rows, ``"local"`` ten times as
        much, because the graph connects rows that are further away.
    alpha, beta, class_weight, encoder, probability, repair, tol, max_iter, verbose, random_state
        As in :class:`MixtureSVC`.

    Attributes
    ----------
    kernel_ : LaplacianKernel
        The deformed kernel.
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
        max_rows: int = MAX_GRAPH_ROWS,
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
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            density=density,
            C=C,
            gamma=gamma,
            alpha=alpha,
            beta=beta,
            unlabelled=Unlabelled.IGNORE.value,  # the kernel has their graph
            class_weight=class_weight,
            encoder=encoder,
            probability=probability,
            repair=repair,
            tol=tol,
            max_iter=max_iter,
            verbose=verbose,
            random_state=random_state,
        )
        self.ratio = ratio
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.max_rows = max_rows

    def _with_graph(self, kernel: Any, rows: Rows, codes: Any, random: RandomState) -> Any:
        if self.kernel == KernelName.LAP or isinstance(kernel, LaplacianKernel):
            raise OptionError("LaplacianSVC deforms its kernel itself: give the base kernel, such as kernel='rbf'.")
        graph = values_for(kernel, rows[limited(len(rows), codes, self.max_rows, random)])
        return LaplacianKernel(kernel, graph, n_neighbors=self.n_neighbors, degree=self.degree, ratio=self.ratio)
