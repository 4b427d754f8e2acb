from typing import Any

from numpy.typing import NDArray

_Array = NDArray[Any]
_Side = tuple[_Array, _Array, _Array | None, _Array | None, _Array | None]

def isas() -> list[str]: ...
def matrix(
    a: _Side,
    b: _Side | None,
    whiteners: _Array,
    norms: _Array,
    centre: _Array,
    per_sq_distance: float,
    per_sq_count: float,
    is_kernel: bool,
    out: _Array,
    tile: int,
    chunk: int,
    n_threads: int,
    isa: str | None,
) -> None: ...
def times(
    a: _Side,
    b: _Side,
    whiteners: _Array,
    norms: _Array,
    centre: _Array,
    per_sq_distance: float,
    per_sq_count: float,
    values: _Array,
    out: _Array,
    tile: int,
    chunk: int,
    n_threads: int,
    isa: str | None,
) -> None: ...
def density(
    rows: _Array,
    means: _Array,
    whiteners: _Array,
    constants: _Array,
    offsets: _Array | None,
    weights: _Array | None,
    log_joint: _Array | None,
    shares: _Array | None,
    log_density: _Array | None,
    filled: _Array | None,
    counts: _Array | None,
    sums: _Array | None,
    squares: _Array | None,
    n_threads: int,
    isa: str | None,
) -> float: ...
