"""Limits of a server: sizes, rows, requests at a time, seconds and connections."""

from dataclasses import asdict, dataclass

from mixkern.defaults import REQUEST_MIB, REQUEST_ROWS, REQUEST_SECONDS, REQUESTS
from mixkern.errors import OptionError
from mixkern.validation import at_least
from mixkern.wording import shown

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What a server accepts; larger requests are refused with an error that names the limit.

    Parameters
    ----------
    body_mib : int, default=8
        Size of a request in MiB.
    rows : int, default=10000
        Rows of a request.
    requests : int, default=100
        Requests for predictions that are read, wait or are computed at the same time.
    seconds : float, default=30
        Time from the first byte of a request to its answer. A worker that takes longer is ended and replaced.
    connections : int, default=1000
        Open connections.

    Examples
    --------
    >>> Limits(rows=500).rows
    500
    """

    body_mib: int = REQUEST_MIB
    rows: int = REQUEST_ROWS
    requests: int = REQUESTS
    seconds: float = REQUEST_SECONDS
    connections: int = 1_000

    def __post_init__(self) -> None:
        for name in ("body_mib", "rows", "requests", "connections"):
            at_least(1).check(getattr(self, name), name)
        if not isinstance(self.seconds, (int, float)) or not 0 < self.seconds < 1e6:
            raise OptionError(f"seconds must be a positive number below a million, but it is {shown(self.seconds)}.")

    @property
    def n_bytes(self) -> int:
        """Size of a request in bytes."""
        return self.body_mib * MIB

    def facts(self) -> dict[str, float]:
        """Return all limits by name."""
        return asdict(self)
