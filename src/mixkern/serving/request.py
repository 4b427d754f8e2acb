"""What a request for predictions asks for: formats by its headers, options by its query, and errors with a status."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from mixkern.errors import MixkernError
from mixkern.wording import joined, nearest, shortened

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
FORMATS = (JSON, ARROW)
OPTIONS = ("all_classes", "abstain")
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class RequestError(MixkernError, ValueError):
    """A request that is refused: a text, and the status of HTTP."""

    def __init__(self, text: str, status: int = 400, *, row: int | None = None) -> None:
        super().__init__(text, row=row)
        self.status = status


@dataclass(frozen=True)
class Question:
    """A request for predictions, without its body.

    Attributes
    ----------
    given, wanted : str
        Formats of the body and of the answer: ``JSON`` or ``ARROW``.
    all_classes : bool
        Whether the answer has the probabilities of all classes.
    abstain : float or None
        Probability below which the answer has no label.
    """

    given: str = JSON
    wanted: str = JSON
    all_classes: bool = False
    abstain: float | None = None

    @classmethod
    def of(cls, headers: Mapping[str, str], query: Mapping[str, str]) -> Self:
        """Read headers and query; raise an error for formats and options that there are not."""
        given = _given(headers)
        unknown = [name for name in query if name not in OPTIONS]
        if unknown:
            raise RequestError(
                f"There is no option {shortened(unknown[0])!r}.{nearest(unknown[0], OPTIONS)} Options are "
                f"{joined(OPTIONS)}."
            )
        return cls(given, _wanted(headers.get("accept", ""), given), _is_on(query), _threshold(query))

    def facts(self) -> dict[str, Any]:
        """Return all fields by name."""
        return asdict(self)


def _given(headers: Mapping[str, str]) -> str:
    """Return the format of the body."""
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError("The body must not be compressed: send it without Content-Encoding.", 415)
    name = headers.get("content-type", "")
    given = name.partition(";")[0].strip().lower()
    if given not in FORMATS:
        raise RequestError(f"Content-Type must be {JSON} or {ARROW}, but it is {shortened(name)!r}.", 415)
    return given


def _wanted(accept: str, given: str) -> str:
    """Return the format of the answer: the best one that is accepted, that of the request among equal ones.

    >>> _wanted("", ARROW) == _wanted("*/*", ARROW) == _wanted(f"text/html, {ARROW}", JSON) == ARROW
    True
    >>> _wanted(f"{ARROW};q=0.5, application/*", ARROW) == JSON
    True
    """
    if not accept.strip():
        return given
    shares: dict[str, float] = {}
    for part in accept.lower().split(","):
        name, *parameters = (each.strip() for each in part.split(";"))
        shares[name] = next((_quality(each[2:]) for each in parameters if each.startswith("q=")), 1.0)
    of_formats = {each: shares.get(each, shares.get("application/*", shares.get("*/*", 0.0))) for each in FORMATS}
    best = max(of_formats.values())
    if best <= 0:
        raise RequestError(f"Accept must allow {JSON} or {ARROW}, but it is {shortened(accept)!r}.", 406)
    return given if of_formats[given] == best else next(each for each in FORMATS if of_formats[each] == best)


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _is_on(query: Mapping[str, str]) -> bool:
    text = query.get("all_classes", "false")
    if text.lower() not in BOOLEANS:
        raise RequestError(f"all_classes must be true or false, but it is {shortened(text)!r}.")
    return BOOLEANS[text.lower()]


def _threshold(query: Mapping[str, str]) -> float | None:
    text = query.get("abstain")
    if text is None:
        return None
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise RequestError(f"abstain must be a probability from 0 to 1, but it is {shortened(text)!r}.")
    return found
