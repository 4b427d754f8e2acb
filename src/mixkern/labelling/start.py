"""Start the labelling page of a table, from Python or for the command line."""

import getpass
import html
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from mixkern.defaults import AUDIT, OVERLAP
from mixkern.errors import OptionError
from mixkern.imports import optional
from mixkern.labelling.access import Access
from mixkern.labelling.journal import SUFFIX, Journal
from mixkern.labelling.session import LabelSession, checked_user
from mixkern.labelling.table import LabelTable
from mixkern.typing import Objects
from mixkern.validation import FRACTION
from mixkern.web.address import LOCAL, LOCAL_HOSTS, MOST_PORT, Address, check_host, free_port, open_socket
from mixkern.web.server import WebServer
from mixkern.wording import counted

PURPOSE = "The labelling page"


class LabelServer:
    """A labelling page that is being served.

    Parameters
    ----------
    session : LabelSession
        The session; it is started and stopped with the server.
    users : sequence of str
        Names of the persons.
    host, port : str and int
        Where to listen; port 0 is the last one of the journal, or any that is free. A browser keeps answers that were
        not saved for the address of the page, port included.
    password : str, default=""
        Asked for, where it is not empty; needed for hosts other than this machine.
    names : sequence of str, default=()
        Further names under which the server is reached, such as that of a proxy.
    closes : Journal, default=None
        A journal to close when the server stops; by default none, as its owner does it.

    Attributes
    ----------
    addresses : dict
        The address of each person.
    is_local : bool
        Whether only this machine can connect.
    """

    def __init__(
        self,
        session: LabelSession,
        users: Sequence[str],
        *,
        host: str = LOCAL,
        port: int = 0,
        password: str = "",
        names: Sequence[str] = (),
        closes: Journal | None = None,
    ) -> None:
        check_host(host, password, "password")
        persons = list(dict.fromkeys(map(checked_user, users)))
        if not persons:
            raise OptionError("There must be one person or more, but no name is given.")
        for library in ("uvicorn", "starlette"):
            optional(library, purpose=PURPOSE)
        from mixkern.labelling.cards import Cards
        from mixkern.labelling.server import label_app

        self.session, self._journal = session, closes
        listening = open_socket(host, port or _last_port(session, host))
        access = Access(Address(host, listening.getsockname()[1], names), persons, password)
        self.addresses, self.is_local = access.addresses(), host in LOCAL_HOSTS
        session.remember(port=str(access.address.port))
        self._server = WebServer(label_app(Cards(session), access), listening, "mixkern label server")

    @property
    def url(self) -> str:
        """Address of the first person."""
        return next(iter(self.addresses.values()))

    @property
    def y(self) -> Objects:
        """Labels of all rows so far, None where there is none."""
        return self.session.y

    def run(self) -> None:
        """Serve until Ctrl-C, in this thread."""
        self.session.start()
        try:
            self._server.run()
        finally:
            self._close()

    def start(self) -> Self:
        """Serve in a thread of its own."""
        self.session.start()
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop the server; all labels are in the journal, and ``y`` keeps them."""
        self._server.stop()
        self._close()

    def _close(self) -> None:
        self._server.close()
        self.session.stop()
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        n = len(self.session.labels)
        return f"LabelServer({self.url!r}, {counted(n, 'label')} of {counted(len(self.session.table), 'row')})"

    def _repr_html_(self) -> str:
        url = html.escape(self.url, quote=True)
        return f'<p>Label rows: <a href="{url}" target="_blank" rel="noopener">{url}</a></p>'


def label(
    X: Any,
    y: Any = None,
    *,
    target: str = "label",
    classes: Sequence[Any] = (),
    journal: str | Path | None = None,
    users: str | Sequence[str] | None = None,
    port: int = 0,
    browser: bool = True,
    audit: float = AUDIT,
    overlap: float = OVERLAP,
    seed: int = 0,
) -> LabelServer:
    """Label the rows of a table in a browser.

    Rows are suggested one at a time, and every label is written to a file before the page says so. The call returns at
    once: ``y`` of the result has the labels so far.

    Parameters
    ----------
    X : frame or array-like of shape (n, n_columns)
        The table: numbers, categories, gaps.
    y : array-like of shape (n,), default=None
        Labels that there are already; ``None``, NaN or ``pandas.NA`` where there is none.
    target : str, default="label"
        What the labels are called.
    classes : sequence, default=()
        Classes to choose from; others can be added on the page.
    journal : str or Path, default=None
        SQLite file of the labels, which is continued if it exists; by default ``{target}.labels`` in the current
        folder.
    users : str or sequence of str, default=None
        Names of the persons, each with an address of their own; by default the name of the account.
    port : int, default=0
        Port on this machine; 0 is the last one of the journal, or any that is free.
    browser : bool, default=True
        Whether to open the page.
    audit : float, default=0.2
        Share of rows that are drawn at random, so that the accuracy can be estimated.
    overlap : float, default=0.1
        Share of a person's rows that another person has labelled before.
    seed : int, default=0
        Seed of all draws.

    Returns
    -------
    LabelServer
        With ``y``, ``url``, ``addresses`` and ``stop()``; also a context manager.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern import datasets, label
    >>> iris = datasets.load("iris")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = label(iris.X, target="species", journal=f"{folder}/iris.labels", browser=False)
    ...     is_local = page.url.startswith("http://127.0.0.1:")
    ...     y = page.y  # after some rows were labelled
    ...     page.stop()
    >>> is_local, len(y)
    (True, 150)
    """
    FRACTION.check(audit, "audit")
    FRACTION.check(overlap, "overlap")
    table = LabelTable.of(X, y, target=target, classes=classes)
    names = [account()] if users is None else [users] if isinstance(users, str) else list(users)
    path = Path(f"{target}{SUFFIX}") if journal is None else Path(journal)
    journal_file = Journal(path)
    try:
        session = LabelSession(table, journal_file, audit=audit, overlap=overlap, seed=seed)
        server = LabelServer(session, names, port=port, closes=journal_file).start()
    except BaseException:
        journal_file.close()
        raise
    if browser:
        webbrowser.open(server.url)
    return server


def _last_port(session: LabelSession, host: str) -> int:
    """Return the port of the last server of a journal if it is free, else 0."""
    last = session.journal.meta().get("port", "")
    return free_port(host, int(last)) if last.isdecimal() and int(last) <= MOST_PORT else 0


def account() -> str:
    """Return the name of the account, or "me" where there is none."""
    try:
        return checked_user(getpass.getuser())
    except (KeyError, OSError, OptionError):
        return "me"
