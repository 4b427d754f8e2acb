"""Export of fitted estimators to ONNX: what their predictions follow from."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from mixkern.density import Mixture
from mixkern.encoding import TableEncoder
from mixkern.estimators.novelty import Novelty
from mixkern.export import OnnxModel, Predicted, Predictor, onnx_model, onnx_path
from mixkern.svm import DecisionFunction


class ExportMixin:
    """Mixin with ``to_onnx``, for estimators with a decision function."""

    encoder_: TableEncoder | None
    mixture_: Mixture
    _decision: DecisionFunction
    _novelty: Novelty
    _predicted: ClassVar[Predicted] = Predicted.CLASSES

    def to_onnx(self, path: str | PathLike[str], *, dtype: str = "float64") -> Path:
        """Write the fitted estimator as an ONNX model, which predicts without Python and mixkern.

        Parameters
        ----------
        path : str or path
            The file, whose name ends with ``.onnx``. It is written whole or not at all.
        dtype : {"float64", "float32"}, default="float64"
            Type of the inputs and outputs that are numbers. With ``"float32"``, cells are rounded to about seven
            digits before they are encoded; in both cases the model computes in float64.

        Returns
        -------
        Path
            The file.

        Notes
        -----
        Each column of the table is an input of shape (N, 1), under its name. docs/deployment.md describes inputs and
        outputs, and what cannot be exported: columns of free text, and kernels that are not of mixkern.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
        >>> with TemporaryDirectory() as folder:
        ...     model.to_onnx(f"{folder}/iris.onnx").name
        'iris.onnx'
        """
        onnx_path(path)  # raises an error before any work is done
        return self.onnx_model(dtype=dtype).write(path)

    def onnx_model(self, *, dtype: str = "float64", metadata: Mapping[str, str] | None = None) -> OnnxModel:
        """Return the ONNX model, with a description of its inputs and outputs; see :meth:`to_onnx`.

        Parameters
        ----------
        dtype : {"float64", "float32"}, default="float64"
            Type of the inputs and outputs that are numbers.
        metadata : dict of str, default=None
            Further facts for the metadata, such as the hash of the model file; names get the prefix ``mixkern.``.
        """
        check_is_fitted(self, "_decision")
        return onnx_model(Predictor(**self._exported_parts()), dtype, metadata)

    def _exported_parts(self) -> dict[str, Any]:
        """Return what predictions follow from, by the names of :class:`~mixkern.export.Predictor`."""
        return {
            "name": type(self).__name__,
            "predicted": self._predicted,
            "encoder": self.encoder_,
            "mixture": self.mixture_,
            "decisions": [self._decision],
            "log_densities": self._novelty.log_densities(self.mixture_),
        }
