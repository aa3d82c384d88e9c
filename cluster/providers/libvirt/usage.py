"""CPU time that hosts gave their guests, as the hosts count it: of the vCPUs' own threads.

A guest's own count is no measure of that. Emulated, it takes the time it waits for a core for its own: no
steal is told to it, so guests of a busy host together count more than the host has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from cluster.model.errors import StudyError
from cluster.providers.libvirt.guests import Guest
from cluster.providers.libvirt.virsh import Virsh
from cluster.providers.provider import VcpuTime

_DOMAIN = re.compile(r"Domain: '(.+)'")
_VCPU = re.compile(r"vcpu\.[0-9]+\.(time|delay)=([0-9]+)")


def guest_times(guests: Iterable[Guest]) -> dict[str, VcpuTime]:
    """By node, since its guest was started. StudyError if libvirt does not tell."""
    by_uri: dict[str, list[Guest]] = defaultdict(list)
    for guest in guests:
        by_uri[guest.vms.uri].append(guest)
    found = {}
    for uri, theirs in by_uri.items():
        told = vcpu_times(Virsh(uri).run("domstats", "--vcpu", *(guest.domain for guest in theirs)))
        for guest in theirs:
            if guest.domain not in told:
                raise StudyError(
                    f"libvirt reports no vCPU times for guest {guest.node.name}.",
                    f"domain {guest.domain} on {uri}",
                    "check that the domain is running there (virsh domstats --vcpu).",
                )
            found[guest.node.name] = told[guest.domain]
    return found


def vcpu_times(text: str) -> dict[str, VcpuTime]:
    """Domain -> all its vCPUs, of what `virsh domstats --vcpu` prints (nanoseconds); none of a domain that
    is off. Pure."""
    found: dict[str, dict[str, float]] = {}
    name = ""
    for line in text.splitlines():
        if domain := _DOMAIN.fullmatch(line.strip()):
            name = domain[1]
        elif vcpu := _VCPU.fullmatch(line.strip()):
            times = found.setdefault(name, {"time": 0.0, "delay": 0.0})
            times[vcpu[1]] += int(vcpu[2]) / 1e9
    return {name: VcpuTime(times["time"], times["delay"]) for name, times in found.items()}
