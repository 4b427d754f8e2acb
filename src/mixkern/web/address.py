"""Where a web server listens: its address, and the names in the Host header that are its own."""

import ipaddress
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mixkern.errors import OptionError
from mixkern.wording import shown

LOCAL = "127.0.0.1"
LOCAL_HOSTS = (LOCAL, "localhost", "::1")
MOST_PORT = 65535
BACKLOG = 256  # connections that wait to be accepted


@dataclass(eq=False)
class Address:
    """Where a server listens.

    Parameters
    ----------
    host : str
        Address that the server listens on.
    port : int
        Its port.
    names : iterable of str, default=()
        Further names under which it is reached, such as that of a proxy.
    """

    host: str
    port: int
    names: Iterable[str] = ()
    _own_names: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self._own_names = tuple(name.lower() for name in self.names)
        if self.host not in LOCAL_HOSTS:
            self._own_names += (socket.gethostname().lower(), socket.getfqdn().lower())

    @property
    def url(self) -> str:
        """Address for a browser on this machine, with a slash at the end.

        >>> Address("::1", 8000).url, Address("0.0.0.0", 8000).url
        ('http://[::1]:8000/', 'http://localhost:8000/')
        """
        name = "localhost" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}/"

    def is_known_host(self, name: str) -> bool:
        """Return whether the Host header is one of this server: another page's name may lead here, too.

        >>> local = Address("127.0.0.1", 8000)
        >>> [local.is_known_host(name) for name in ("127.0.0.1:8000", "localhost:8000", "evil.example:8000", "")]
        [True, True, False, False]
        """
        found = _split_host(name)
        if found is None:
            return False
        host, port = found
        if host in LOCAL_HOSTS or host == self.host:
            return port in (self.port, None)
        if host in self._own_names:  # behind a proxy the port may be another one
            return True
        return self.host not in LOCAL_HOSTS and _is_address(host)


def check_host(host: str, secret: str, word: str) -> None:
    """Raise an error for a server without a secret that other machines could reach.

    Parameters
    ----------
    host : str
        Address to listen on.
    secret : str
        What a request must have; empty for none.
    word : str
        What the secret is called: "password" or "token".
    """
    if host not in LOCAL_HOSTS and not secret:
        raise OptionError(f"Other machines can reach {host}, so a {word} is needed. Give one, or listen on {LOCAL}.")


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any that is free."""
    if not isinstance(port, int) or not 0 <= port <= MOST_PORT:
        raise OptionError(f"port must be a whole number from 0 to {MOST_PORT}, but it is {shown(port)}.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise OptionError(
            f"Port {port} of {host} cannot be used: {error.strerror or error}. Choose another port, or 0 for any."
        ) from error


def free_port(host: str, port: int) -> int:
    """Return a port if it is free, else 0, which is any that is."""
    try:
        open_socket(host, port).close()
    except OptionError:
        return 0
    return port


def _split_host(name: str) -> tuple[str, int | None] | None:
    try:
        parts = urlsplit(f"//{name}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    return (host, port) if host and parts.netloc == name else None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
