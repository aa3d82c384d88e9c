"""CPU time of guests as their hosts count it, by the threads of the vCPUs.

A guest's own count is unreliable. An emulated guest sees no steal time and counts time spent waiting for a
core as used, so the guests of a busy host together count more than the host has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.libvirt.guests import Guest, by_uri
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.provider import NodeTime
from density_study.cluster.providers.ssh.channel import on_all

_DOMAIN = re.compile(r"Domain: '(.+)'")
_VCPU = re.compile(r"vcpu\.[0-9]+\.(time|delay)=([0-9]{1,20})")


def guest_times(guests: Iterable[Guest]) -> dict[str, NodeTime]:
    """CPU time by node since its guest was started. StudyError if libvirt does not report it. All hosts are
    queried at once, or those queried last would count seconds more."""
    times = on_all(by_uri(guests), _times_at)
    return {name: time for there in times.values() for name, time in there.items()}


def _times_at(uri: str, here: Sequence[Guest]) -> dict[str, NodeTime]:
    times = vcpu_times(Virsh(uri).run("domstats", "--vcpu", *(guest.domain for guest in here)))
    for guest in here:
        if guest.domain not in times:
            raise StudyError(
                f"libvirt reports no vCPU times for guest {guest.node.name}.",
                f"domain {guest.domain} on {uri}",
                "check that the domain is running there (virsh domstats --vcpu).",
            )
    return {guest.node.name: times[guest.domain] for guest in here}


def vcpu_times(text: str) -> dict[str, NodeTime]:
    """Domain -> total of its vCPUs, from the output of `virsh domstats --vcpu` (nanoseconds). Domains that
    are off are missing. Pure."""
    found: dict[str, dict[str, float]] = {}
    name = ""
    for line in text.splitlines():
        if domain := _DOMAIN.fullmatch(line.strip()):
            name = domain[1]
        elif vcpu := _VCPU.fullmatch(line.strip()):
            times = found.setdefault(name, {"time": 0.0, "delay": 0.0})
            times[vcpu[1]] += int(vcpu[2]) / 1e9
    return {name: NodeTime(times["time"], times["delay"]) for name, times in found.items()}
