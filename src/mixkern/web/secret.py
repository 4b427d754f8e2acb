"""Secrets of web servers: new tokens, comparison in constant time, and files with a password or a token."""

import hmac
import secrets
import shlex
import sys
from pathlib import Path

from mixkern.errors import OptionError, hint
from mixkern.wording import counted

TOKEN_BYTES = 24
RIGHTS_OF_OTHERS = 0o077


def new_token() -> str:
    """Return a random text that cannot be guessed, for addresses and headers.

    >>> len(new_token())
    32
    """
    return secrets.token_urlsafe(TOKEN_BYTES)


def are_equal(secret: str, given: str) -> bool:
    """Return whether two secrets are equal, in a time that does not depend on where they differ.

    >>> are_equal("secret", "secret"), are_equal("secret", "sécret")
    (True, False)
    """
    return hmac.compare_digest(secret.encode("utf-8", "replace"), given.encode("utf-8", "replace"))


def read_secret(path: Path, word: str, shortest: int = 1) -> str:
    """Read a secret from its file, which other accounts must not be able to read.

    Parameters
    ----------
    path : Path
        The file; blanks around the secret are left out.
    word : str
        What the secret is called: "password" or "token".
    shortest : int, default=1
        Characters that it must have.
    """
    try:
        secret = path.read_text("utf-8").strip()
        rights = path.stat().st_mode
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{path.name} cannot be read: {error}.") from error
    if not secret:
        raise OptionError(f"{path.name} is empty. Write the {word} into it.")
    if sys.platform != "win32" and rights & RIGHTS_OF_OTHERS:  # there, a file has an access list in place of these bits
        raise OptionError(
            f"Other accounts of this machine can read {path.name}.",
            hint=hint(cli=f"Forbid it: chmod 600 {shlex.quote(str(path))}"),
        )
    if len(secret) < shortest:
        raise OptionError(
            f"The {word} in {path.name} has {counted(len(secret), 'character')}, and {shortest} or more are needed.",
            hint=hint(cli="This writes a random one: openssl rand -hex 24 > FILE"),
        )
    return secret
