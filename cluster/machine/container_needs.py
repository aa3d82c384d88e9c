"""What containers need of this machine: rights, runc, cgroups, free networks, and ways to other machines.

Standard library only: it runs on hosts.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from density_study.cluster.machine import cgroups
from density_study.cluster.machine.containers import run
from density_study.cluster.machine.io_limits import ROOT
from density_study.cluster.model.errors import InputError

_BRIDGE = re.compile("ds([0-9a-f]{12})")
"""The name of a cluster's bridge: `cluster.providers.container.names`."""

MIN_RUNC = (1, 1)
"""The first one that mounts read-only with all that is mounted below (rro)."""
FORWARDS = Path("/proc/sys/net/ipv4/ip_forward")


def check_machine(networks: Sequence[str], limited: bool) -> None:
    """InputError for the first thing that is missing. `networks`: the containers', here and elsewhere;
    `limited`: disks have limits."""
    _check_root("containers need root: they have cgroups, network interfaces and mounts.")
    _check_runc()
    _check_cgroups(limited)
    _check_networks(networks)


def check_routes(networks: Sequence[str], addresses: Sequence[str], forwards: bool) -> None:
    """InputError unless this machine can send packets to the `networks` through the hosts `addresses`, and,
    if it `forwards`, lets the packets of its own containers through."""
    _check_root("routes to the containers of hosts need root.")
    _check_networks(networks)
    for address in addresses:
        if gateway := way_to(address).get("gateway"):
            raise InputError(
                f"this machine reaches {address} by the router {gateway}, which knows no containers.",
                "provider container over SSH",
                "use hosts and a controller on one link (one subnet).",
            )
    if forwards and FORWARDS.read_text().strip() != "1":
        raise InputError(
            "this machine does not forward packets, so nobody could reach its containers.",
            str(FORWARDS),
            "run: sysctl -w net.ipv4.ip_forward=1",
        )


def way_to(address: str) -> dict[str, Any]:
    """The route to another machine, as `ip -json` shows it; its type is local if it is this machine's own."""
    told = run(["ip", "-json", "route", "get", socket.gethostbyname(address)], "")
    if told.returncode != 0:
        raise InputError(
            f"this machine has no route to {address}.",
            "provider container over SSH",
            "check the address of the host.",
        )
    found: dict[str, Any] = json.loads(told.stdout)[0]
    return found


def _check_root(why: str) -> None:
    if os.geteuid() != 0:
        raise InputError(
            why, "provider container", "run the command as root, or use another provider."
        )


def _check_runc() -> None:
    told = run(["runc", "--version"], "").stdout
    found = re.search(r"runc version (\d+)\.(\d+)", told)
    if found is None or tuple(map(int, found.groups())) < MIN_RUNC:
        raise InputError(
            f"runc 1.1 or later is needed; this is {' '.join(told.split()[:3]) or 'unknown'}.",
            "provider container",
            "install runc of Debian 12 or later.",
        )


def _check_cgroups(limited: bool) -> None:
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


def _check_networks(networks: Sequence[str]) -> None:
    """Addresses of another interface, or routes to the same network, would catch the containers' packets."""
    told = run(["ip", "-json", "-4", "route", "show"], "").stdout
    for route in json.loads(told or "[]"):
        if route["dst"] == "default":
            continue
        taken = ipaddress.IPv4Network(route["dst"], strict=False)
        for network in map(ipaddress.IPv4Network, networks):
            if taken.overlaps(network):
                device = route.get("dev", "another route")
                raise InputError(
                    f"this machine reaches {route['dst']} by {device} already.",
                    f"containers.network {network}",
                    _other_network(device),
                    ("containers", "network"),
                )


def _other_network(device: str) -> str:
    """Reap works by the run's journal, so it finds nothing of a run whose folder was deleted."""
    remedy = "name a private network that nothing here uses"
    if build := _BRIDGE.fullmatch(device):
        remedy += (
            ". This one is a cluster's: `study reap` removes what killed runs left. If it finds nothing, "
            "and no study of another user runs here, the folder of the run was deleted. Then, as root: ip "
            f"netns list | grep -o '^study-{build[1]}-[^ ]*' | xargs -r -n 1 ip netns delete; ip link delete "
            f"{device}"
        )
    return f"{remedy}."
