"""A table whose columns a model knows, as the commands read it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mixkern.cli.output import Notes
from mixkern.cli.terminal import bytes_bar
from mixkern.cli.training_table import labels_of, opened
from mixkern.encoding.column import Column
from mixkern.errors import ColumnMismatchError, ModelFileError, UnknownColumnError
from mixkern.estimators import MixtureSVC
from mixkern.io import TableFile
from mixkern.storage import ModelFile
from mixkern.wording import counted, listing, nearest

BLOCK = 50_000  # rows at a time


@dataclass(frozen=True, eq=False)
class KnownTable:
    """Rows that a model can read.

    Attributes
    ----------
    file : TableFile
        Where they are.
    columns : dict
        From the name of a column that the model has learned from to what it knows of it.
    target : str
        Name of the column of labels, whether or not this table has one.
    unlabelled : tuple of str
        What stands for no label in it.
    """

    file: TableFile
    columns: dict[str, Column]
    target: str
    unlabelled: tuple[str, ...]

    def blocks(self, on_progress: Callable[[int, int | None], None] | None = None) -> Iterator[tuple[Any, Any]]:
        """Give some rows at a time: as the model reads them, and all columns as the file has them."""
        for typed, cells in self.file.blocks(self.columns, BLOCK, on_progress=on_progress, with_texts=True):
            yield typed[list(self.columns)], cells

    def row(self, position: int) -> Any:
        """Give one row as a frame."""
        n = 0
        for block in self.file.blocks(self.columns, BLOCK):
            n += len(block)
            if position < n:
                return block.loc[[position], list(self.columns)]
        raise UnknownColumnError(f"{self.file.name} has {counted(n, 'row')}, and no row {position + 1}.")

    def labelled(self) -> tuple[Any, Any]:
        """Give all rows and their labels."""
        if self.target not in self.file.columns:
            raise UnknownColumnError(
                f"{self.file.name} has no column {self.target!r}, which the labels were learned from."
                f"{nearest(self.target, self.file.columns)} Give the table with the labels."
            )
        with bytes_bar(f"Reading {self.file.name}") as on_progress:
            frame = self.file.frame(text=(self.target,), kinds=self.columns, on_progress=on_progress)
        return frame[list(self.columns)], labels_of(frame[self.target], self.target, self.unlabelled)


def known_table(path: str, model: ModelFile, notes: Notes, *, gaps: tuple[str, ...] = (), **reading: Any) -> KnownTable:
    """Look at a file, and make sure that it has the columns of a model."""
    machine = model.model
    if not isinstance(machine, MixtureSVC) or machine.encoder_ is None or not hasattr(machine, "feature_names_in_"):
        raise ModelFileError(
            f"The file holds a {type(machine).__name__} that was not fitted on a table with named columns. Fit one "
            "by: mixkern fit TABLE --target COLUMN"
        )
    given = {name: _texts(model.notes.get(name)) for name in ("gaps", "unlabelled")}
    if reading.get("decimal") is None:  # numbers are spelled as they were at fit
        reading["decimal"] = _signs(model.notes.get("decimals"))
    file = opened(path, {**reading, "gaps": (*gaps, *given["gaps"])}, notes)
    columns = {column.name: column for column in machine.encoder_.columns_}
    missing = [name for name in columns if name not in file.columns]
    if missing:
        raise ColumnMismatchError(
            f"{file.name} lacks {counted(len(missing), 'column')} that the model was fitted on: {listing(missing)}."
            f"{nearest(missing[0], set(file.columns) - set(columns))}"
        )
    return KnownTable(file, columns, str(model.notes.get("target", "label")), given["unlabelled"])


def _signs(note: Any) -> dict[str, str]:
    """Give the decimal signs of columns in a model's notes."""
    return {name: sign for name, sign in note.items() if sign in (".", ",")} if isinstance(note, dict) else {}


def _texts(note: Any) -> tuple[str, ...]:
    """Give the texts of a list in a model's notes, which may come from a stranger."""
    return tuple(each for each in note if isinstance(each, str)) if isinstance(note, list) else ()
