"""Checks of all requests: hosts, other pages, sizes; headers of all answers; errors as JSON, without a traceback."""

import asyncio
import json
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from mixkern.web.address import Address
from mixkern.wording import shortened

MOST_BYTES = 1 << 20  # of a request, where no other limit is given
TOO_LARGE = "The request is too large."
STOPPED = "The server is being stopped."
OTHER_PAGE = "The request comes from another page"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_log = logging.getLogger("mixkern.web")


class TooLargeError(Exception):
    """A request that is larger than announced or allowed."""


class Guard:
    """ASGI middleware: refuse requests of other pages and large ones, and add headers to all answers.

    An error of the application is answered by status 500, and logged in one line.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    address : Address
        Which hosts are known.
    most_bytes : int, default=1 MiB
        Size of a request.
    """

    def __init__(self, app: Any, address: Address, most_bytes: int = MOST_BYTES) -> None:
        self._app, self._address, self._most_bytes = app, address, most_bytes
        self._too_large = too_large(most_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        is_started = False

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal is_started
            if message["type"] == "http.response.start":
                is_started = True
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *own]
            await send(message)

        refused = self._refused(scope["method"], headers)
        if refused is not None:
            await _answer(send_guarded, *refused)
            return
        try:
            await self._app(scope, self._limited(receive), send_guarded)
        except ClientDisconnect:
            return
        except (Exception, asyncio.CancelledError) as error:
            status, text = self._failed(error)
            if not is_started:
                await _answer(send_guarded, status, text)

    def _failed(self, error: BaseException) -> tuple[int, str]:
        """Return status and text for an error of the application; log it where it was not expected."""
        if isinstance(error, TooLargeError):
            return 413, self._too_large
        if isinstance(error, asyncio.CancelledError):  # uvicorn stops, and would log a traceback
            return 503, STOPPED
        _log.error("mixkern: a request failed: %s", in_one_line(error))
        return 500, failure(error)

    def _limited(self, receive: Receive) -> Receive:
        """Return a receiver that raises an error once a body is too large."""
        n_bytes = 0

        async def receive_limited() -> MutableMapping[str, Any]:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > self._most_bytes:
                raise TooLargeError
            return message

        return receive_limited

    def _refused(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return why a request is refused."""
        host, length = headers.get("host", ""), headers.get("content-length", "0")
        if not self._address.is_known_host(host):
            return 421, (
                f"This server is not known by that name: the Host header is {shortened(host, 80)!r}. Use a name of its "
                "own, or give it this name when it is started."
            )
        if length.isdecimal() and (len(length) > 18 or int(length) > self._most_bytes):
            return 413, self._too_large
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != host:
            return 403, (
                f"{OTHER_PAGE}: its Origin is {shortened(origin, 80)!r}, and a page of the Host "
                f"{shortened(host, 80)!r} is expected. A proxy must pass both headers on as they are."
            )
        site = headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none"):
            return 403, f"{OTHER_PAGE}: Sec-Fetch-Site is {shortened(site)!r}, and 'same-origin' is expected."
        return None


def too_large(most_bytes: int) -> str:
    """Return the message for a request that is too large.

    >>> too_large(1 << 20), too_large(2000)
    ('The request is too large: 1 MiB are allowed.', 'The request is too large: 2,000 bytes are allowed.')
    """
    size = f"{most_bytes:,} bytes" if most_bytes % (1 << 20) else f"{most_bytes >> 20:,} MiB"
    return f"{TOO_LARGE[:-1]}: {size} are allowed."


def error_handlers(most_bytes: int = MOST_BYTES) -> dict[Any, Any]:
    """Return the exception handlers of a Starlette application: each error as JSON."""

    def refuse_large(_request: Request, _error: Exception) -> Response:
        return JSONResponse({"error": too_large(most_bytes)}, status_code=413)

    return {HTTPException: _refuse_http, TooLargeError: refuse_large, Exception: _refuse_unknown}


def in_one_line(error: BaseException) -> str:
    """Return the type of an error and where it was raised; not its text, which may hold cells of a table."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{place}"


def failure(error: BaseException) -> str:
    """Return the message for an error that was not expected."""
    return f"The server failed: {type(error).__name__}."


def _refuse_unknown(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": failure(error)}, status_code=500)


def _refuse_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # Starlette passes no other
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=error.headers)


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


async def _answer(send: Send, status: int, error: str) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
