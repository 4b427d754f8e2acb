"""``python -m mixkern`` and the command ``mixkern``.

Exit codes::

    0    success
    1    an error in a file or in the data, or an extra that is not installed
    2    an error in the command, such as an unknown option
    130  stopped by Ctrl-C, as in shells
"""

import signal
import sys

from mixkern.errors import MixkernError
from mixkern.imports import STOPPED, exit_on_interrupt, optional


def main() -> None:
    """Run the command line.

    Importing a command takes a second; Ctrl-C prints no traceback during that time either, nor while Python shuts down.
    """
    try:
        exit_on_interrupt()
        _run()
    except KeyboardInterrupt:
        sys.exit(STOPPED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has ended, and its exit code holds


def _run() -> None:
    """Import and run a command; print an error if the extra ``cli`` is not installed."""
    try:
        for library in ("click", "rich"):
            optional(library, purpose="The command line")
        from mixkern.cli import cli

        cli(prog_name="mixkern")
    except MixkernError as error:
        sys.exit(f"mixkern: {error.on('cli')}")


if __name__ == "__main__":
    main()
