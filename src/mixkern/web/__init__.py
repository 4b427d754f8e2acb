"""What the web servers share: their address, secrets, checks of requests, start and stop."""

__all__: list[str] = []
