"""``mixkern serve``: answer requests for predictions over HTTP."""

import sys
from contextlib import suppress
from pathlib import Path

import click

from mixkern.cli.option import server_name_option
from mixkern.serving import Limits, ModelServer
from mixkern.serving.start import SHORTEST_TOKEN
from mixkern.web.address import LOCAL, MOST_PORT
from mixkern.web.secret import read_secret
from mixkern.wording import counted

DEFAULT = Limits()
POSITIVE = click.IntRange(min=1)


@click.command("serve")
@click.argument("model", type=click.Path())
@click.option("--port", type=click.IntRange(0, MOST_PORT), default=0, show_default=True, help="Port; 0 is any free.")
@click.option("--host", default=LOCAL, show_default=True, help="Address to listen on; others need a token.")
@click.option("--token-file", type=click.Path(dir_okay=False, path_type=Path), help="File with the token of clients.")
@server_name_option
@click.option("--workers", type=POSITIVE, default=1, show_default=True, help="Processes that predict.")
@click.option("--max-rows", type=POSITIVE, default=DEFAULT.rows, show_default=True, help="Rows of a request.")
@click.option("--max-mib", type=POSITIVE, default=DEFAULT.body_mib, show_default=True, help="MiB of a request.")
@click.option(
    "--max-requests",
    type=POSITIVE,
    default=DEFAULT.requests,
    show_default=True,
    help="Requests that are answered at the same time.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT.seconds,
    show_default=True,
    help="Seconds for a request.",
)
@click.option("--log", metavar="FILE", help="Append a line of JSON for each request; - is standard error.")
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
    """Answer requests for predictions of MODEL over HTTP, as JSON and Arrow.

    The first line that is printed is the address: a page with the columns of the model and an example. POST /predict
    takes rows; /health, /metrics and /model are for machines. Stop the server by Ctrl-C or SIGTERM.

    \b
    Examples:
      mixkern serve churn.mixkern --port 8000
      mixkern serve churn.mixkern --host 0.0.0.0 --token-file token.txt --workers 4 --log requests.jsonl
    """  # noqa: D301
    token = "" if token_file is None else read_secret(token_file, "token", SHORTEST_TOKEN)
    limits = Limits(body_mib=max_mib, rows=max_rows, requests=max_requests, seconds=timeout)
    server = ModelServer(model, host=host, port=port, token=token, workers=workers, limits=limits, names=names, log=log)
    click.echo(server.url)
    sys.stdout.flush()
    facts = server.description.facts
    columns, classes = counted(len(facts["columns"]), "column"), f"{len(facts['classes']):,} classes"
    click.echo(f"Serving {facts['file']}: {columns}, {classes}. Stop by Ctrl-C.", err=True)
    with suppress(KeyboardInterrupt):
        server.run()
