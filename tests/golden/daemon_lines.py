"""The daemons of a rendered build as text, for golden files."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.rendered import Rendered


def commands(rendered: Rendered) -> dict[str, str]:
    """By node and name, in their order."""
    daemons = filter(None, (rendered.prepare, *rendered.daemons))
    return {f"{daemon.node}/{daemon.name}.daemon": command(daemon) for daemon in daemons}


def below(folder: object, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{path}": text for path, text in files.items()}


def command(daemon: Daemon) -> str:
    command = daemon.command
    environment = [f"  {key}={value}" for key, value in sorted(command.env.items())]
    lines = [
        f"{daemon.name} on {daemon.node} ({daemon.role})",
        f"  after {', '.join(daemon.starts_after) or 'nothing'}; in {command.cwd}",
        f"  http {daemon.http or 'none'}; log {daemon.log}",
        f"  out {daemon.stdout}; err {daemon.stderr}",
        *environment,
        *(f"  {argument}" for argument in command.argv),
    ]
    return "\n".join(lines) + "\n"
