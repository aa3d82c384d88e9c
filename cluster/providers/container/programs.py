"""What containers need of this machine: programs, rights, cgroups, and a free network."""

from __future__ import annotations

import ipaddress
import json
import os
import re

from density_study.cluster.machine.io_limits import ROOT
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.providers.container import cgroups
from density_study.cluster.providers.container.container import network_of
from density_study.cluster.providers.container.making import run
from density_study.cluster.providers.ssh.programs import HERE, Need, Requirements, check_programs

_NEEDS = (Need("runc", "runc"), Need("ip", "iproute2"), Need("nsenter", "util-linux"))
MIN_RUNC = (1, 1)
"""The first one that mounts read-only with all that is mounted below (rro)."""


def check_machine(host: Host) -> None:
    """InputError for the first thing that is missing."""
    check_programs([Requirements(HERE, None, _NEEDS)])
    if os.geteuid() != 0:
        raise InputError(
            "containers need root: they have cgroups, network interfaces and mounts.",
            "provider container",
            "run the command as root, or use provider local.",
        )
    _check_runc()
    _check_cgroups(host)
    _check_network(host)


def _check_runc() -> None:
    told = run(["runc", "--version"], "").stdout
    found = re.search(r"runc version (\d+)\.(\d+)", told)
    if found is None or tuple(map(int, found.groups())) < MIN_RUNC:
        raise InputError(
            f"runc 1.1 or later is needed; this is {' '.join(told.split()[:3]) or 'unknown'}.",
            "provider container",
            "install runc of Debian 12 or later.",
        )


def _check_cgroups(host: Host) -> None:
    limited = any(disk.limits for disk in host.disks)
    io = ("blkio",) if cgroups.version() == 1 else ("io",)
    needed = (*cgroups.NEEDED, "cpuset", *(io if limited else ()))
    if missing := cgroups.missing(needed):
        raise InputError(
            f"this machine has no cgroup controller {', '.join(missing)}.",
            f"{ROOT}",
            "mount the controllers (cgroup version 1), or enable them in the kernel's command line, for "
            "example cgroup_enable=memory.",
        )
    if not os.access(ROOT, os.W_OK):
        raise InputError(
            "this user cannot make cgroups.",
            f"{ROOT}",
            "run the command outside of a container that has them read-only.",
        )


def _check_network(host: Host) -> None:
    """Addresses of another interface, or routes to the same network, would catch the containers' packets."""
    network = ipaddress.IPv4Network(network_of(host).network)
    told = run(["ip", "-json", "-4", "route", "show"], "").stdout
    for route in json.loads(told or "[]"):
        if route["dst"] == "default":
            continue
        if ipaddress.IPv4Network(route["dst"], strict=False).overlaps(network):
            raise InputError(
                f"this machine reaches {route['dst']} by {route.get('dev', 'another route')} already.",
                f"containers.network {network}",
                "name a private network that nothing here uses; `study reap` removes what killed runs left.",
                ("containers", "network"),
            )
