"""Access to the labelling page: tokens, passwords, and what every request and answer is checked for."""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

TOKEN_BYTES = 24
MOST_BYTES = 1 << 20  # of a request
TOO_LARGE = "The request is too large."
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
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


@dataclass(eq=False)
class Access:
    """Who may use the page.

    Parameters
    ----------
    host : str
        Address that the server listens on.
    port : int
        Its port.
    users : iterable of str
        Names of the persons. Without a password each has a token of their own, which is part of their address.
    password : str, default=""
        With one, persons log in with their name, and there are no tokens.
    """

    host: str
    port: int
    users: Iterable[str]
    password: str = ""
    _names: dict[str, str] = field(default_factory=dict, init=False)  # person by token, or by a log-in
    _own_names: tuple[str, ...] = field(default=(), init=False)  # of this machine

    def __post_init__(self) -> None:
        self.users = tuple(self.users)
        if self.host not in LOCAL_HOSTS:
            self._own_names = (socket.gethostname().lower(), socket.getfqdn().lower())
        if not self.password:
            self._names = {secrets.token_urlsafe(TOKEN_BYTES): name for name in self.users}

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers send cookies to all ports of a host."""
        return f"mixkern_{self.port}"

    def addresses(self) -> dict[str, str]:
        """Return the address of each person, with the token; the same for all where there is a password."""
        shown = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        base = f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}/"
        if self.password:
            return dict.fromkeys(self.users, base)
        return {name: f"{base}?token={token}" for token, name in self._names.items()}

    def user_of(self, token: str) -> str | None:
        """Return the person that a token or a log-in belongs to."""
        found = None
        for known, name in list(self._names.items()):  # all of them, so that time tells nothing
            if hmac.compare_digest(known.encode(), token.encode()):
                found = name
        return found

    def log_in(self, user: str, password: str) -> str | None:
        """Return the cookie of a person who knows the password; None for another password or an unknown name."""
        is_right = hmac.compare_digest(password.encode(), self.password.encode())
        if not self.password or not is_right or (self.users and user not in self.users):
            return None
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._names[token] = user
        return token

    def is_known_host(self, name: str) -> bool:
        """Return whether the Host header is one of this server: another page's name may lead here, too.

        >>> local = Access("127.0.0.1", 8000, ["anna"])
        >>> [local.is_known_host(name) for name in ("127.0.0.1:8000", "localhost:8000", "evil.example:8000", "")]
        [True, True, False, False]
        """
        found = _split_host(name)
        if found is None:
            return False
        host, port = found
        if host in LOCAL_HOSTS or host == self.host:
            return port in (self.port, None)
        if self.host in LOCAL_HOSTS:
            return False
        # Behind a proxy the port may be another one.
        return _is_address(host) or host in self._own_names


def _split_host(name: str) -> tuple[str, int | None] | None:
    try:
        parts = urlsplit(f"//{name}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host, port) if host and parts.netloc == name else None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Guard:
    """ASGI middleware: refuse requests of other pages and large ones, and add headers to all answers.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    access : Access
        Which hosts are known.
    """

    def __init__(self, app: Any, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *own]
            await send(message)

        refused = self._refused(scope["method"], headers)
        if refused is not None:
            await _answer(send_guarded, *refused)
            return
        n_bytes = 0

        async def receive_limited() -> MutableMapping[str, Any]:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > MOST_BYTES:
                raise TooLargeError
            return message

        try:
            await self._app(scope, receive_limited, send_guarded)
        except TooLargeError:
            await _answer(send_guarded, 413, TOO_LARGE)

    def _refused(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return why a request is refused."""
        host = headers.get("host", "")
        if not self._access.is_known_host(host):
            return 421, "This server is not known by that name."
        if headers.get("content-length", "0").isdecimal() and int(headers.get("content-length", "0")) > MOST_BYTES:
            return 413, TOO_LARGE
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and _netloc(origin) != host:
            return 403, "The request comes from another page."
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "The request comes from another page."
        return None


class TooLargeError(Exception):
    """A request that is larger than announced or allowed."""


async def _answer(send: Send, status: int, error: str) -> None:
    body = b'{"error": "' + error.encode() + b'"}'
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})
