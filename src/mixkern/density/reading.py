"""Read tables and labels for a density: checked rows in inner coordinates."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mixkern.density.block import Coordinates, InnerRows, n_slots_of
from mixkern.density.common_factor import CommonFactors
from mixkern.density.mixture import check_codes
from mixkern.encoding import encode_labels
from mixkern.encoding.lengths import check_length
from mixkern.encoding.numeric import numeric_rows
from mixkern.errors import MixtureError, hint
from mixkern.typing import Floats

LARGEST = 1e150  # value whose square is still a number


class RowReader:
    """How a density reads tables: numbers, then codes, and labels as one more column of codes."""

    n_categorical: int
    use_labels: bool
    classes_: NDArray[Any]
    _coordinates: Coordinates | CommonFactors
    _n_slots: tuple[int, ...]

    @abstractmethod
    def _set_up(self, X: Floats, weights: Floats | None, *, is_stream: bool) -> None:
        """Set the coordinates; those of a stream do not assume that a column with one value will keep it."""

    def _check(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = self._numbers(X, reset=False)
        check_magnitude(rows)
        return rows

    def _numbers(self, X: Any, *, reset: bool) -> Floats:
        return numeric_rows(self, X, reset=reset, order="C")

    def _read(
        self, values: Floats, y: Any, weights: Floats | None, *, reset: bool, is_stream: bool = False
    ) -> InnerRows:
        d = values.shape[1] - self.n_categorical
        if d < 0:
            raise MixtureError(f"n_categorical is {self.n_categorical}, but X has only {values.shape[1]} columns.")
        check_magnitude(values)
        if weights is not None and not weights.all():  # rows without weight must not become first centres
            counts = weights > 0
            values, weights = values[counts], weights[counts]
            y = None if y is None else [label for label, is_one in zip(y, counts, strict=True) if is_one]
        check_codes(values[:, d:])
        codes = self._codes(values[:, d:], y, reset=reset)
        if reset:
            self._set_up(values[:, :d], weights, is_stream=is_stream)
            self._n_slots = n_slots_of(codes)
        inner = self._coordinates.inner(values[:, :d])
        return InnerRows(inner, codes, weights, self._n_slots, self._coordinates)

    def _label_column(self, values: Floats, y: Any) -> Any:
        """Return the labels, one for each row; ``None`` where they are not used."""
        if not self.use_labels:
            return None
        if y is None:
            raise MixtureError("Labels are to be used, but none are given.", hint=hint(python="Pass them: fit(X, y)."))
        check_length(len(values), len(encode_labels(y, min_classes=0).codes))
        return np.asarray(y, dtype=object).ravel() if np.ndim(y) > 1 else y

    def _codes(self, codes: Floats, y: Any, *, reset: bool) -> Floats:
        if not self.use_labels:
            return codes
        if reset:
            self.classes_ = encode_labels(y).classes
        return np.column_stack([codes, class_codes(self.classes_, y)])


def check_magnitude(values: Floats) -> None:
    """Raise an error for values whose squares overflow."""
    if (np.abs(values) > LARGEST).any():
        raise MixtureError(f"X holds values beyond {LARGEST:g}, whose squares are too large. Rescale its columns.")


def class_codes(classes: NDArray[Any], y: Any) -> Floats:
    """Code labels by given classes; any other label is coded as the slot after the last."""
    # Together, so that a block may have one class only, or none.
    labels = encode_labels([*classes, *y], classes=classes)
    slots = np.full(labels.n_classes + 1, float(len(classes)))
    slots[labels.codes[: len(classes)]] = np.arange(len(classes))
    slots[-1] = np.nan  # code -1: unlabelled
    return slots[labels.codes[len(classes) :]]
