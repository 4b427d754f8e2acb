"""Rows of a density in partitions: coordinates, growing samples, and passes that add up sufficient statistics.

A small sample is brought together and fitted in memory. A pass over a larger one, or over all rows, computes the
statistics of each partition where it is, by the same code as in memory, and adds them up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixkern.density.block import CodeColumns, Coordinates, InnerRows
from mixkern.density.expectation import RemoteBlocks, block_statistics, is_expandable
from mixkern.density.expectation import total as added
from mixkern.density.factor import FactorPosterior
from mixkern.density.factor_expectation import FactorExpectation
from mixkern.density.posterior import Posterior
from mixkern.density.reading import check_magnitude
from mixkern.density.settings import CovarianceChoice
from mixkern.density.start import RemoteRows, blocks_of
from mixkern.density.statistics import Statistics
from mixkern.distributed.scheduling import total
from mixkern.distributed.values import DaskValues, PartArguments, Reader, located
from mixkern.errors import MixtureError, OptionError, hint
from mixkern.partitions import FEW_ROWS
from mixkern.typing import Floats, Positions

MOST_ROWS = 2**18  # of a sample that is brought together
MOST_CELLS = 2**24  # of such a sample: 128 MiB


def inner_rows(values: DaskValues, density: Any) -> InnerRows:
    """Return the rows as the inference of a density takes them, and set the density's coordinates."""
    if density.use_labels:
        raise MixtureError(
            "A density with use_labels needs all rows in memory, but X is a Dask collection.",
            hint=hint(python="Leave it out: VBMixture(use_labels=False)."),
        )
    if not density.progressive and len(values) > FEW_ROWS:
        raise OptionError(
            "A density of a Dask collection starts on a sample, but progressive is False.",
            hint=hint(python="Leave it out: VBMixture(progressive=True)."),
        )
    if len(values) <= FEW_ROWS:
        return density._read(values[np.arange(len(values))], None, None, reset=True)  # noqa: SLF001
    d = values.shape[1] - density.n_categorical
    facts = values.facts()
    low = np.where(np.isfinite(facts.moments.low), facts.moments.low, 0.0)
    check_magnitude(np.stack([low, np.where(np.isfinite(facts.high), facts.high, 0.0)]))
    if not facts.are_codes[d:].all():
        raise MixtureError("Category codes must be whole numbers from 0 on, NaN where they are missing.")
    first = {name: getattr(facts.moments, name)[:d] for name in ("counts", "low", "means", "squares")}
    is_common = density.covariance_type == CovarianceChoice.COMMON
    density._set_up(values.continuous(d) if is_common else replace(facts.moments, **first), None, is_stream=False)  # noqa: SLF001
    columns = CodeColumns.of_extremes(facts.moments.low[d:], facts.high[d:], facts.moments.counts[d:])
    density._code_columns = columns  # noqa: SLF001
    density._n_slots = tuple(int(code) + 2 for code in np.maximum(facts.high[d:], -1.0)[list(columns.varying)])  # noqa: SLF001
    return DaskRows.of(values, InnerReader(values.reader, density._coordinates, d, density._n_slots, columns))  # noqa: SLF001


@dataclass(frozen=True)
class InnerReader:
    """How a worker turns a partition into rows in inner coordinates."""

    reader: Reader
    coordinates: Any
    d: int
    n_slots: tuple[int, ...]
    code_columns: CodeColumns

    def rows(self, values: Floats) -> InnerRows:
        """Return numbers and codes as rows in inner coordinates."""
        inner, codes = self.coordinates.inner(values[:, : self.d]), self.code_columns.inner(values[:, self.d :])
        return InnerRows(inner, codes, None, self.n_slots, self.coordinates)

    def __call__(self, part: Any, own: "MaskedArguments") -> InnerRows:
        """Return the rows of a partition, or those of a sample in it."""
        values = self.reader(part, own.all_rows)
        return self.rows(values if own.mask is None else values[np.unpackbits(own.mask, count=len(values)) == 1])


@dataclass(frozen=True)
class MaskedArguments:
    """What is needed for one partition: all its rows, and a bit for each that is in the sample."""

    all_rows: PartArguments
    mask: Any = None


@dataclass(frozen=True, eq=False)
class DaskRows(RemoteRows):
    """Rows of a density in partitions, or a large sample of them."""

    source: DaskValues | None = None
    reader: InnerReader | None = None
    positions: Positions | None = None  # of a sample; None for all rows
    gathered: tuple[Positions, InnerRows] | None = None  # a sample in memory: sorted positions, and their rows

    @classmethod
    def of(cls, source: DaskValues, reader: InnerReader) -> "DaskRows":
        """Return all rows of a table."""
        nothing = np.empty((0, 0))
        return cls(nothing, nothing, None, reader.n_slots, reader.coordinates, source, reader)

    @property
    def _own_source(self) -> DaskValues:
        assert self.source is not None, "rows come from a table"
        return self.source

    @property
    def _own_reader(self) -> InnerReader:
        assert self.reader is not None, "rows are read"
        return self.reader

    def __len__(self) -> int:
        return len(self._own_source) if self.positions is None else len(self.positions)

    def prepared(self, samples: Sequence[Positions]) -> "DaskRows":
        """Read the largest sample that is brought together: it contains all smaller ones."""
        width = self._own_source.shape[1]
        small = [each for each in samples if len(each) <= MOST_ROWS and len(each) * width <= MOST_CELLS]
        if not small:
            return self
        positions = small[-1]
        order = np.argsort(positions)
        return replace(self, gathered=(positions[order], self._in_memory(positions[order])))

    def take(self, positions: Positions) -> Any:
        """Return some of the rows: in memory where they are few."""
        if self.gathered is not None:
            known, rows = self.gathered
            at = np.minimum(np.searchsorted(known, positions), len(known) - 1)
            if (known[at] == positions).all():
                return rows.take(at)
        width = self._own_source.shape[1]
        if len(positions) <= MOST_ROWS and len(positions) * width <= MOST_CELLS:
            return self._in_memory(positions)
        return replace(self, positions=positions, gathered=None)

    def _in_memory(self, positions: Positions) -> InnerRows:
        return self._own_reader.rows(self._own_source[positions])

    @property
    def log_volume(self) -> float:
        """Excess of a bound in the coordinates of the rows."""
        if not isinstance(self.coordinates, Coordinates):
            return 0.0  # common factors: the bound is that of the factors
        facts, d = self._own_source.facts(), self._own_reader.d
        counts = self.coordinates.inner_counts(facts.moments.counts[:d])
        if self.positions is None:
            return self.coordinates.volume_of(counts)
        if (counts == len(self._own_source)).all():  # no gaps
            return self.coordinates.volume_of(np.full(len(counts), float(len(self))))
        return float(total("volume", self._own_source.parts, _log_volume, self._own_reader, self._own_arguments()))

    def _own_arguments(self) -> list[MaskedArguments]:
        """Return what each partition needs to read its rows of the sample."""
        source = self._own_source
        if self.positions is None:
            return [MaskedArguments(each) for each in source.own]
        masks = [np.zeros(n, dtype=bool) for n in source.lengths]
        for i, at in located(self.positions, source.lengths)[0].items():
            masks[i][at] = True
        return [MaskedArguments(each, np.packbits(mask)) for each, mask in zip(source.own, masks, strict=True)]

    def remote_blocks(self) -> RemoteBlocks:
        """Return the rows as the E-step takes them."""
        return _DaskBlocks(self._own_source.parts, self._own_reader, self._own_arguments(), len(self))


class _DaskBlocks(RemoteBlocks):
    """The E-step of rows in partitions: one pass."""

    def __init__(self, parts: Sequence[Any], reader: InnerReader, own: list[MaskedArguments], n_rows: int) -> None:
        self.parts = parts
        self.reader = reader
        self.own = own
        self.n_rows = float(n_rows)
        self._largest: float | None = None

    def statistics(self, posterior: Posterior) -> Statistics:
        """Give the statistics of all rows."""
        expand = isinstance(posterior, FactorPosterior) and is_expandable(posterior, self._largest_sq_norm())
        found: Statistics = total("density", self.parts, _statistics, (self.reader, posterior, expand), self.own)
        return found

    def _largest_sq_norm(self) -> float:
        """Give the largest squared distance of a row from the centre, by which factors choose their equations."""
        if self._largest is None:
            self._largest = total("extent", self.parts, _extent, self.reader, self.own).value
        return self._largest


@dataclass(frozen=True)
class _Largest:
    """A number of which the larger one is kept."""

    value: float

    def __add__(self, other: "_Largest") -> "_Largest":
        return _Largest(max(self.value, other.value))


def _extent(part: Any, reader: InnerReader, own: MaskedArguments) -> _Largest:
    rows = reader(part, own)
    return _Largest(float(np.nansum(rows.X**2, axis=1).max(initial=0.0)))


def _log_volume(part: Any, reader: InnerReader, own: MaskedArguments) -> float | None:
    rows = reader(part, own)
    return rows.log_volume if len(rows) else None


def _statistics(part: Any, shared: tuple[InnerReader, Posterior, bool], own: MaskedArguments) -> Statistics | None:
    """E-step of one partition, by one thread: Dask runs as many tasks as there are threads."""
    reader, posterior, expand = shared
    rows = reader(part, own)
    if not len(rows):
        return None
    table = blocks_of(rows, posterior.precision, posterior.n_components, posterior.n_factors)
    if isinstance(posterior, FactorPosterior):
        return added(map(FactorExpectation(posterior, expand=expand), table))
    return added(block_statistics(block, posterior) for block in table)
