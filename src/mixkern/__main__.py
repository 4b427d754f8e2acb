"""``python -m mixkern`` and the command ``mixkern``."""

import sys

STOPPED = 130  # the exit code of shells: 128 and the number of the signal


def main() -> None:
    """Run the command line; an error of mixkern is one sentence, not a traceback.

    Importing scikit-learn takes a second, in which Ctrl-C must not print a traceback either.
    """
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(STOPPED)


def _run() -> None:
    """Import the commands and run one; only the extra ``cli`` has the libraries for it."""
    from mixkern.errors import MixkernError
    from mixkern.imports import optional

    try:
        for library in ("click", "rich"):
            optional(library, purpose="The command line")
        from mixkern.cli import cli

        cli(prog_name="mixkern")
    except MixkernError as error:
        sys.exit(f"mixkern: {error}")


if __name__ == "__main__":
    main()
