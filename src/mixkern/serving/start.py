"""Start the server of a model, from Python or for the command line."""

import shutil
import tempfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self

from mixkern.errors import ModelFileError, OptionError
from mixkern.imports import optional
from mixkern.io import read_model
from mixkern.io.model import file_sha256
from mixkern.serving.limits import Limits
from mixkern.validation import as_path, at_least
from mixkern.web.address import LOCAL, Address, check_host, open_socket
from mixkern.web.server import WebServer

PURPOSE = "Serving a model"
SHORTEST_TOKEN = 16  # characters


class ModelServer:
    """A model whose predictions are served over HTTP.

    The server works on a copy of the model file: it goes on with the same model when the file is replaced.

    Parameters
    ----------
    path : str or Path
        File of a classifier, written by :func:`mixkern.save` or ``mixkern fit``.
    host, port : str and int
        Where to listen; port 0 is any that is free.
    token : str, default=""
        What requests must have, 16 characters or more; needed for hosts other than this machine.
    workers : int, default=1
        Processes that predict.
    limits : Limits, default=None
        What is accepted; ``None`` are the defaults.
    names : sequence of str, default=()
        Further names under which the server is reached, such as that of a proxy.
    log : str or Path, default=None
        File to which a line of JSON is appended for each request; ``"-"`` is standard error, and ``None`` is no log.

    Attributes
    ----------
    url : str
        Address of the server.
    description : ModelDescription
        Facts about the model.

    Examples
    --------
    >>> import json, tempfile, urllib.request
    >>> from mixkern import MixtureSVC, datasets, save
    >>> from mixkern.serving import ModelServer
    >>> iris = datasets.load("iris")
    >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
    >>> rows = iris.X[:2].to_dict("records")
    >>> headers = {"Content-Type": "application/json"}
    >>> with tempfile.TemporaryDirectory() as folder, ModelServer(save(model, f"{folder}/iris.mixkern")) as server:
    ...     request = urllib.request.Request(f"{server.url}predict", json.dumps(rows).encode(), headers)
    ...     found = json.load(urllib.request.urlopen(request))
    >>> [each["label"] for each in found["predictions"]]
    ['setosa', 'setosa']
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        host: str = LOCAL,
        port: int = 0,
        token: str = "",
        workers: int = 1,
        limits: Limits | None = None,
        names: Sequence[str] = (),
        log: str | PathLike[str] | None = None,
    ) -> None:
        check_host(host, token, "token")
        if token and (len(token) < SHORTEST_TOKEN or not token.isprintable()):
            raise OptionError(f"token must have {SHORTEST_TOKEN} printable characters or more.")
        at_least(1).check(workers, "workers")
        for library in ("uvicorn", "starlette", "jinja2", "pyarrow"):
            optional(library, purpose=PURPOSE)
        from mixkern.serving.app import model_app
        from mixkern.serving.description import ModelDescription
        from mixkern.serving.log import RequestLog
        from mixkern.serving.pool import Pool

        source, limits = as_path(path, ModelFileError), limits or Limits()
        self._log = None if log is None else RequestLog(log)
        self._folder = tempfile.TemporaryDirectory(prefix="mixkern-serve-")
        try:
            copy = Path(self._folder.name) / "model.mixkern"
            sha256 = _copied(source, copy)
            self.description = ModelDescription.of(_read(source, copy), source.name, sha256)
            listening = open_socket(host, port)
        except BaseException:
            self._clean()
            raise
        address = Address(host, listening.getsockname()[1], names)
        self.url, self._pool = address.url, Pool(str(copy), limits.rows, workers, self._folder.name)
        app = model_app(self.description, self._pool, limits, address, token, self._log)
        options = {"lifespan": "on", "limit_concurrency": limits.connections}
        self._server = WebServer(app, listening, "mixkern model server", **options)

    @property
    def processes(self) -> list[int]:
        """Numbers of the processes that predict."""
        return self._pool.processes

    def run(self) -> None:
        """Serve until Ctrl-C or SIGTERM, in this thread."""
        try:
            self._server.run()
        finally:
            self._close()

    def start(self) -> Self:
        """Serve in a thread of its own."""
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop the server and its processes."""
        self._server.stop()
        self._close()

    def _close(self) -> None:
        self._server.close()
        self._clean()

    def _clean(self) -> None:
        """Remove the copy of the model, and close the log."""
        self._folder.cleanup()
        if self._log is not None:
            self._log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"ModelServer({self.url!r}, {self.description.name!r})"


def _copied(source: Path, copy: Path) -> str:
    """Copy a file, and return the SHA-256 of the copy."""
    try:
        shutil.copyfile(source, copy)
    except OSError:
        read_model(source)  # raises the error, with the next step
        raise
    return file_sha256(copy)


def _read(source: Path, copy: Path) -> Any:
    """Read the copy of a model file; an error names the file itself."""
    try:
        return read_model(copy)
    except ModelFileError:
        read_model(source)
        raise
