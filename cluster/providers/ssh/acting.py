"""Host commands, run where the host is: by its agent over SSH, or on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.host import Host, Target
from density_study.cluster.providers.ssh.channel import channel

Act = Callable[..., Any]
"""Called with the name of a host command and its arguments."""
UNASKED = "to which the study has no SSH login"
"""Why a host is not queried, in words."""


def act_at(target: Target | None) -> Act:
    """Runs host commands on the machine of an SSH server; without one, on this machine."""
    if target is not None:
        return channel(target).act
    return lambda name, *arguments: HOST_COMMANDS[name](*arguments)


def act_on(host: Host) -> Act | None:
    """Runs host commands on a host. None: nobody can, since another machine's libvirt makes its guests and
    the study has no SSH login."""
    if host.login is None and host.vms is not None and not host.vms.is_here:
        return None
    return act_at(host.target if host.login else None)
