"""``mixkern serve``: answer requests for predictions over HTTP."""

import sys
from contextlib import suppress
from pathlib import Path

import click

from mixkern.serving import Limits, ModelServer
from mixkern.serving.start import SHORTEST_TOKEN
from mixkern.web.address import LOCAL_HOSTS
from mixkern.web.secret import read_secret
from mixkern.wording import counted


def serve_command(
    model: str,
    port: int,
    host: str,
    token_file: Path | None,
    names: tuple[str, ...],
    workers: int,
    max_rows: int,
    max_mib: int,
    max_requests: int,
    timeout: float,
    log: str | None,
) -> None:
    """Serve predictions until Ctrl-C or SIGTERM."""
    token = "" if token_file is None else read_secret(token_file, "token", SHORTEST_TOKEN)
    limits = Limits(body_mib=max_mib, rows=max_rows, requests=max_requests, seconds=timeout)
    server = ModelServer(model, host=host, port=port, token=token, workers=workers, limits=limits, names=names, log=log)
    click.echo(server.url)
    sys.stdout.flush()
    facts = server.description.facts
    n_classes = len(facts["classes"])
    columns, classes = counted(len(facts["columns"]), "column"), f"{n_classes:,} class{'es' * (n_classes != 1)}"
    click.echo(f"Serving {facts['file']}: {columns}, {classes}. Stop by Ctrl-C.", err=True)
    if host not in LOCAL_HOSTS:
        click.echo("From other computers, use the name of this computer in place of 'localhost'.", err=True)
    with suppress(KeyboardInterrupt):
        server.run()
