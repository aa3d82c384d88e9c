"""The daemons of a rendered build as text, for golden files."""

from __future__ import annotations

from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.rendered import Rendered


def commands(rendered: Rendered) -> str:
    return "\n".join(command(each) for each in filter(None, (rendered.prepare, *rendered.daemons)))


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
