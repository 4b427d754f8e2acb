"""Read tables and labels for a density: checked rows in inner coordinates."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mixkern.density.block import HOST_ROWS, CodeColumns, Coordinates, InnerRows, n_slots_of
from mixkern.density.common_factor import CommonFactors
from mixkern.density.gpu_table import largest
from mixkern.density.mixture import check_codes
from mixkern.device import gpu_dtype, on_gpu
from mixkern.encoding import encode_labels
from mixkern.encoding.lengths import check_length
from mixkern.encoding.matching import check_columns, keep_columns
from mixkern.encoding.numeric import numeric_rows
from mixkern.errors import EmptyTableError, InfiniteValueError, MixtureError, NotATableError, hint
from mixkern.gpu_array import gpu_floats, is_cupy, is_gpu_array, namespace, on_device, on_host, to_gpu, to_host
from mixkern.partitions import PartitionedValues
from mixkern.typing import Floats

ON_HOST = ("factor", "common")  # kinds of covariance that are fitted on the host
GPU_ROWS = 2**16  # rows of the host from which on a GPU fits them
FEW = 10_000  # rows by which a table is centred before it is put on a GPU
LARGEST = 1e150  # value whose square is still a number


class RowReader:
    """How a density reads tables: numbers, then codes, and labels as one more column of codes."""

    n_categorical: int
    covariance_type: str
    use_labels: bool
    classes_: NDArray[Any]
    _coordinates: Coordinates | CommonFactors
    _code_columns: CodeColumns
    _n_slots: tuple[int, ...]  # of the columns of codes that the inference reads

    @abstractmethod
    def _set_up(self, X: Any, weights: Floats | None, *, is_stream: bool) -> None:
        """Set the coordinates; those of a stream do not assume that a column with one value will keep it."""

    def _check(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._numbers(X, reset=False)
        check_magnitude(rows)
        return rows

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        """Read rows as floats: arrays of CuPy and PyTorch on a GPU as CuPy's, others as NumPy's."""
        if not is_gpu_array(X):
            return numeric_rows(self, X, reset=reset, order="C")
        rows = gpu_floats(X, "X", MixtureError)
        if rows.ndim != 2:
            raise NotATableError(f"X must have two dimensions, rows and columns, but it has shape {rows.shape}.")
        if not rows.size:
            raise EmptyTableError(f"X must have rows and columns, but it has shape {rows.shape}.")
        columns = np.empty((0, rows.shape[1]))
        if reset:
            keep_columns(self, columns)
        else:
            check_columns(self, columns)
        return namespace(rows).ascontiguousarray(rows)

    def _placed(self, values: Any, weights: Any) -> tuple[Any, Any, Floats | None]:
        """Put rows and weights where they are fitted; give an origin, too, that was subtracted from the rows.

        Few rows of a GPU are fitted on the host. Many rows of the host are fitted on a GPU, if one is to be used.
        """
        choice = str(self.covariance_type)
        if is_cupy(values):
            if len(values) <= HOST_ROWS or choice in ON_HOST:
                weights = None if weights is None else to_host(weights, float)
                return to_host(values, float), weights, None
            return values, None if weights is None else on_device(weights, values.dtype), None
        if not on_gpu() or len(values) < GPU_ROWS or choice in ON_HOST:
            return values, weights, None
        d = values.shape[1] - self.n_categorical
        some = values[:: max(1, len(values) // FEW)]
        origin = np.nan_to_num(np.where(np.isnan(some), np.inf, some).min(axis=0), posinf=0.0)
        origin[d:] = 0.0
        dtype = gpu_dtype()
        return to_gpu(values, dtype, origin), None if weights is None else on_device(weights, dtype), origin

    def _read(
        self,
        values: Floats | PartitionedValues,
        y: Any,
        weights: Floats | None,
        *,
        reset: bool,
        is_stream: bool = False,
    ) -> InnerRows:
        d = values.shape[1] - self.n_categorical
        if d < 0:
            raise MixtureError(f"n_categorical is {self.n_categorical}, but X has only {values.shape[1]} columns.")
        if isinstance(values, PartitionedValues):
            rows: InnerRows = values.inner_rows(self)
            return rows
        check_magnitude(values)
        values, weights, origin = self._placed(values, weights)
        if weights is not None and not weights.all():  # rows without weight must not become first centres
            counts = weights > 0
            values, weights = values[counts], weights[counts]
            y = None if y is None else [label for label, is_one in zip(y, to_host(counts), strict=True) if is_one]
        check_codes(values[:, d:])
        if reset:
            self._code_columns = CodeColumns.of(values[:, d:], weights, is_stream=is_stream)
        codes = self._codes(self._code_columns.inner(values[:, d:]), y, reset=reset)
        if reset:
            self._set_up(values[:, :d], weights, is_stream=is_stream)
            self._n_slots = n_slots_of(codes)
        coordinates: Any = self._coordinates
        if origin is not None and reset:
            self._coordinates = coordinates.moved(origin[:d])
        elif origin is not None:
            coordinates = coordinates.moved(-origin[:d])
        inner = coordinates.inner(values[:, :d])
        return InnerRows(inner, codes, weights, self._n_slots, self._coordinates)

    def _label_column(self, values: Floats, y: Any) -> Any:
        """Return the labels, one for each row; ``None`` where they are not used."""
        if not self.use_labels:
            return None
        if y is None:
            raise MixtureError("Labels are to be used, but none are given.", hint=hint(python="Pass them: fit(X, y)."))
        y = on_host(y)
        check_length(len(values), len(encode_labels(y, min_classes=0).codes))
        return np.asarray(y, dtype=object).ravel() if np.ndim(y) > 1 else y

    def _codes(self, codes: Floats, y: Any, *, reset: bool) -> Floats:
        if not self.use_labels:
            return codes
        if reset:
            self.classes_ = encode_labels(y).classes
        column = class_codes(self.classes_, y)[:, None]
        return np.hstack([codes, on_device(column, codes.dtype) if is_cupy(codes) else column])


def check_magnitude(values: Floats) -> None:
    """Raise an error for values whose squares overflow."""
    if is_cupy(values):
        size = largest(values)
        if np.isinf(size):
            raise InfiniteValueError(
                "X contains infinity.",
                hint=hint(python="Replace infinite values by numbers, or by gaps: X[X.isinf()] = float('nan')."),
            )
    else:  # without a copy of absolute values
        size = max(np.fmax.reduce(values, axis=None, initial=0.0), -np.fmin.reduce(values, axis=None, initial=0.0))
    if size > LARGEST:
        raise MixtureError(f"X holds values beyond {LARGEST:g}, whose squares are too large. Rescale its columns.")


def class_codes(classes: NDArray[Any], y: Any) -> Floats:
    """Code labels by given classes; any other label is coded as the slot after the last."""
    # Together, so that a block may have one class only, or none.
    labels = encode_labels([*classes, *y], classes=classes)
    slots = np.full(labels.n_classes + 1, float(len(classes)))
    slots[labels.codes[: len(classes)]] = np.arange(len(classes))
    slots[-1] = np.nan  # code -1: unlabelled
    return slots[labels.codes[len(classes) :]]
