"""The address of a server, as Hadoop's properties write it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(
    r"(?:https?://)?(?P<host>[\w.-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\])(?::(?P<port>\d{1,5}))?/?"
)
_BARE_IPV6 = re.compile(r"[0-9A-Fa-f.]*(?::[0-9A-Fa-f.]*){2,7}")
_ALL = ("0.0.0.0", "[::]", "[0:0:0:0:0:0:0:0]")


@dataclass(frozen=True)
class ServerAddress:
    """`host`: IPv6 in brackets; empty: not given, since the server listens on all addresses. `port`: None:
    not given."""

    host: str
    port: int | None

    def http(self, host: str, port: int) -> str:
        """host:port, with these where it does not say its own; empty without any host."""
        named = self.host or host
        return f"{named}:{self.port or port}" if named else ""


def server_address(text: str) -> ServerAddress | None:
    """None if the text is not an address."""
    bracketed = f"[{text}]" if _BARE_IPV6.fullmatch(text) else text
    found = _ADDRESS.fullmatch(bracketed)
    if found is None:
        return None
    host, port = found["host"], found["port"]
    return ServerAddress("" if host in _ALL else host, int(port) if port else None)
