"""``python -m mixkern`` and the command ``mixkern``."""

import sys

from mixkern.errors import MixkernError
from mixkern.optional import optional


def main() -> None:
    """Run the command line; an error of ours is one sentence, not a traceback."""
    try:
        for library in ("click", "rich"):
            optional(library, purpose="The command line")
        from mixkern.cli import cli

        cli(prog_name="mixkern")
    except MixkernError as error:
        sys.exit(f"mixkern: {error}")


if __name__ == "__main__":
    main()
