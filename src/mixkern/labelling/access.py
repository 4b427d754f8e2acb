"""Access to the labelling page: persons, their tokens and cookies, and log-ins by a password."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mixkern.web.address import Address
from mixkern.web.secret import are_equal, new_token


@dataclass(eq=False)
class Access:
    """Who may use the page.

    Parameters
    ----------
    address : Address
        Where the server listens.
    users : iterable of str
        Names of the persons. Without a password each has a token of their own, which is part of their address.
    password : str, default=""
        With one, persons log in with their name, and there are no tokens.
    """

    address: Address
    users: Iterable[str]
    password: str = ""
    _names: dict[str, str] = field(default_factory=dict, init=False)  # person by token, or by a log-in

    def __post_init__(self) -> None:
        self.users = tuple(self.users)
        if not self.password:
            self._names = {new_token(): name for name in self.users}

    @property
    def cookie(self) -> str:
        """Name of the cookie: browsers send cookies to all ports of a host."""
        return f"mixkern_{self.address.port}"

    def addresses(self) -> dict[str, str]:
        """Return the address of each person, with the token; the same for all where there is a password."""
        base = self.address.url
        if self.password:
            return dict.fromkeys(self.users, base)
        return {name: f"{base}?token={token}" for token, name in self._names.items()}

    def user_of(self, token: str) -> str | None:
        """Return the person that a token or a log-in belongs to."""
        found = None
        for known, name in list(self._names.items()):  # all of them, so that time tells nothing
            if are_equal(known, token):
                found = name
        return found

    def log_in(self, user: str, password: str) -> str | None:
        """Return the cookie of a person who knows the password; None for another password or an unknown name."""
        is_right = are_equal(self.password, password)
        if not self.password or not is_right or (self.users and user not in self.users):
            return None
        token = new_token()
        self._names[token] = user
        return token
