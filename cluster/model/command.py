"""`Command`: one process to be started, rendered by pure functions and carried out by a transport."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Command:
    """An argv list (never a shell string), the variables added to a clean environment, a directory."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
