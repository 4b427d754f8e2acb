"""A table to be labelled: its cells as texts, the columns to learn from, and labels that it has already."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding import TableEncoder, prepare_table
from mixkern.encoding.cell import is_gap
from mixkern.encoding.frame import column_labels, opened
from mixkern.encoding.lengths import check_length
from mixkern.errors import LabelError, MixkernWarning
from mixkern.imports import pa, pc
from mixkern.labelling.row_key import DIGEST_BYTES, row_keys
from mixkern.typing import Objects
from mixkern.wording import counted, listing


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A table whose rows are labelled.

    Attributes
    ----------
    name : str
        Name of the table, as it is shown.
    target : str
        Name of the column of labels.
    cells : pyarrow.Table
        All columns but those of labels and their sources, as texts; null is a gap. They are shown to people, and
        identify rows.
    X : pyarrow.Table
        The columns to learn from, typed.
    encoder : TableEncoder or None
        Encoder with the kinds of columns that were given.
    given : sequence of str or None
        Labels that the table has already; None for a row without.
    sources : sequence of str or None
        How each of these rows was chosen, see :class:`mixkern.advice.LabelSource`.
    classes : tuple of str
        Classes to begin with, besides those of ``given``.
    """

    name: str
    target: str
    cells: Any
    X: Any
    encoder: TableEncoder | None
    given: Sequence[str | None]
    sources: Sequence[str | None]
    classes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return int(self.cells.num_rows)

    @cached_property
    def keys(self) -> list[str]:
        """Content key of each row."""
        return row_keys(self.cells)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """Position of each content key."""
        return {key: position for position, key in enumerate(self.keys)}

    @cached_property
    def digest(self) -> str:
        """Digest of the rows in their order, the columns and the first classes, by which a page knows its table."""
        facts = self.keys, self.columns, self.first_classes()
        return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are shown."""
        return list(self.cells.column_names)

    def is_gap(self, column: str, row: int) -> bool:
        """Whether a cell is empty, or was read as a gap, such as NA among numbers.

        >>> import pandas as pd
        >>> table = LabelTable.of(pd.DataFrame({"age": [1.5, None, 2.0]}), target="risk")
        >>> [table.is_gap("age", row) for row in range(3)]
        [False, True, False]
        """
        if not self.cells[column][row].is_valid:
            return True
        return column in self.X.column_names and is_gap(self.X[column][row].as_py())

    def without_gaps(self, column: str) -> Any:
        """Return the texts of a column that is learned from, with null for every gap."""
        return pc.if_else(pc.is_null(self.X[column], nan_is_null=True), None, self.cells[column])

    def first_classes(self) -> list[str]:
        """Return the classes that are given, then those of the labels that the table has."""
        found = sorted({label for label in self.given if label is not None} - set(self.classes))
        return [*self.classes, *found]

    @classmethod
    def of(
        cls, X: Any, y: Any = None, *, target: str, name: str = "table", classes: Sequence[Any] = ()
    ) -> "LabelTable":
        """Prepare a table in memory; see :func:`mixkern.label`.

        >>> import pandas as pd
        >>> table = LabelTable.of(pd.DataFrame({"age": [1.5, 2.0], "sex": ["m", None]}), ["a", None], target="risk")
        >>> table.cells.to_pylist()[1], table.first_classes()
        ({'age': '2', 'sex': None}, ['a'])
        """
        table = arrow_table(X)
        n = table.num_rows
        labels: Objects = np.full(n, None) if y is None else np.asarray(y, dtype=object)
        check_length(n, len(labels))
        given = [None if is_gap(label) else label_text(label) for label in labels.tolist()]
        if target in table.column_names:
            raise LabelError(
                f"X has the column of labels, {target!r}, which must not be learned from. Pass it as y: "
                f"label(X.drop(columns={target!r}), X[{target!r}])."
            )
        with warnings.catch_warnings(action="ignore", category=MixkernWarning):  # the page shows what is not used
            prepared = prepare_table(table)
        return cls(
            name=name,
            target=target,
            cells=text_cells(table),
            X=prepared.X,
            encoder=prepared.encoder,
            given=given,
            sources=[None] * n,
            classes=tuple(map(label_text, classes)),
        )


def text_cells(table: Any) -> Any:
    """Return a pyarrow table with its cells as texts; null is a gap.

    >>> import pyarrow as pa
    >>> text_cells(pa.table({"a": [1.0, 2.5, None], "b": ["x", "", None]})).to_pydict()
    {'a': ['1', '2.5', None], 'b': ['x', None, None]}
    """
    return pa.table([_texts(column) for column in table.columns], names=table.column_names)


def _texts(column: Any) -> Any:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        texts = column.cast(pa.large_string())
        return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.large_string()), texts)
    if pa.types.is_floating(kind):
        numbers = column.cast(pa.float64())
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.large_string()), numbers.cast(pa.large_string()))
    if pa.types.is_integer(kind):
        return column.cast(pa.large_string())
    return pa.chunked_array([pa.array([_text(value) for value in column.to_pylist()], pa.large_string())])


def _text(value: Any) -> str | None:
    return None if is_gap(value) else str(value)


def label_text(label: Any) -> str:
    """Return a label as text: numbers beside gaps are floats in pandas, though they were whole.

    >>> label_text(1.0), label_text("1.0"), label_text(True)
    ('1', '1.0', 'True')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def arrow_table(X: Any) -> Any:
    """Return a frame or an array as a pyarrow table; cells of mixed types become texts.

    >>> arrow_table([[1, "a"], [2, None]]).to_pylist()
    [{'column 1': 1, 'column 2': 'a'}, {'column 1': 2, 'column 2': None}]
    """
    table = opened(X)
    labels = column_labels(table)
    if labels is None:
        names = [f"column {i + 1}" for i in range(table.shape[1])]
        columns = [table[:, i] for i in range(table.shape[1])]
    else:
        if isinstance(table, pa.Table):
            return table
        frame = nw.from_native(table, eager_only=True)
        names, columns = list(map(str, labels)), [frame[:, i] for i in range(len(labels))]
    return pa.table([_arrow_column(column) for column in columns], names=names)


def _arrow_column(values: Any) -> Any:
    try:
        return values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values.tolist())
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):  # cells of several types
        cells = values.to_list() if hasattr(values, "to_list") else values.tolist()
        return pa.array([None if is_gap(cell) else str(cell).encode("utf-8", "replace").decode() for cell in cells])


def unmatched_note(n: int, examples: Sequence[str]) -> str:
    """Return a sentence about labels whose rows are not in the table.

    >>> unmatched_note(2, ["row 5", "row 9"])
    "2 labels are of rows that this table does not have, or has with other cells: 'row 5', 'row 9'. They stay in the
    journal."
    """
    verb = "is of a row" if n == 1 else "are of rows"
    return (
        f"{counted(n, 'label')} {verb} that this table does not have, or has with other cells: {listing(examples)}. "
        f"{'It stays' if n == 1 else 'They stay'} in the journal."
    )
