"""Start and stop of a web server: in this thread until Ctrl-C, or in a thread of its own."""

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread, current_thread, main_thread
from typing import Any

from mixkern.imports import optional

STOP_S = 10.0  # for open requests when the server stops
OPEN_S = 2  # for connections


class WebServer:
    """An ASGI application that is served on a socket by uvicorn.

    Parameters
    ----------
    app : ASGI application
        What is served.
    listening : socket
        From :func:`~mixkern.web.address.open_socket`; it is closed with the server.
    name : str
        Name of the thread.
    **options
        Further settings of uvicorn.
    """

    def __init__(self, app: Any, listening: socket.socket, name: str, **options: Any) -> None:
        uvicorn = optional("uvicorn", purpose="A web server")
        self._socket, self._name = listening, name
        own = {"lifespan": "off", "timeout_graceful_shutdown": OPEN_S} | options
        config = uvicorn.Config(app, log_level="error", access_log=False, ws="none", server_header=False, **own)
        self._server = uvicorn.Server(config)
        self._thread: Thread | None = None

    def run(self) -> None:
        """Serve until Ctrl-C or SIGTERM, in this thread; both raise KeyboardInterrupt at the end."""
        with _sigterm_as_ctrl_c():
            self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Serve in a thread of its own."""
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True, name=self._name)
        self._thread.start()

    def stop(self) -> None:
        """Stop the server, and close its socket; again, it does nothing."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(STOP_S)
        self.close()

    def close(self) -> None:
        """Close the socket."""
        with suppress(OSError):
            self._socket.close()


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt, so that it ends a server as Ctrl-C does; only the main thread can."""
    if current_thread() is not main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
